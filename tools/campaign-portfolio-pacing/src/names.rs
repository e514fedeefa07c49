//! Shortens names for display: removes a beginning that all names of a list share.

/// Characters at which a common beginning may end.
const SEPARATORS: [char; 8] = ['-', '_', '|', ':', '/', '·', '–', '—'];

/// Removes the shared beginning from names, up to its last separator.
pub(crate) fn without_common_prefix(names: &[&str]) -> Vec<String> {
    let length = common(names);
    let ok = length > 0 && names.iter().all(|name| !name[length..].trim().is_empty());
    names
        .iter()
        .map(|name| if ok { name[length..].trim().to_owned() } else { (*name).to_owned() })
        .collect()
}

/// Returns the length of the shared beginning in bytes, including its last separator.
fn common(names: &[&str]) -> usize {
    let [first, others @ ..] = names else { return 0 };
    if others.is_empty() {
        return 0;
    }
    let mut separator = 0;
    for (at, c) in first.char_indices() {
        let end = at + c.len_utf8();
        if !others.iter().all(|name| name.get(at..end) == first.get(at..end)) {
            break;
        }
        if SEPARATORS.contains(&c) {
            separator = end;
        }
    }
    separator
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_prefix_of_names_is_removed_if_it_ends_in_a_separator() {
        let cases: [(&[&str], &[&str]); 6] = [
            (&["Fern (EU) - Spring", "Fern (EU) - Autumn"], &["Spring", "Autumn"]),
            (&["Spring", "Sprint"], &["Spring", "Sprint"]),
            (&["A_b_1", "A_b_2"], &["1", "2"]),
            (&["only - one"], &["only - one"]),
            (&["a - ", "a - b"], &["a - ", "a - b"]),
            (&["Räv|Å", "Räv|Ä"], &["Å", "Ä"]),
        ];
        for (names, shown) in cases {
            assert_eq!(without_common_prefix(names), shown);
        }
    }
}
