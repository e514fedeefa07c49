//! Parses which tools of a list a person means. Must not know what a tool does.

use std::collections::BTreeSet;

/// Returns the tools that a line names by their numbers, by ranges of numbers, or by their names.
/// The error is the first word that matches no tool.
pub(super) fn choose_tools<'a>(line: &str, names: &[&'a str]) -> Result<BTreeSet<&'a str>, String> {
    let words = line.split(|sign: char| sign == ',' || sign.is_whitespace());
    let mut chosen = BTreeSet::new();
    for word in words.filter(|word| !word.is_empty()) {
        chosen.extend(find_tools(word, names).ok_or_else(|| word.to_owned())?);
    }
    Ok(chosen)
}

/// A number always means a position in the list, even if a tool has that name.
fn find_tools<'n, 'a>(word: &str, names: &'n [&'a str]) -> Option<&'n [&'a str]> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) if first <= last => names.get(first.checked_sub(1)?..last),
        (Ok(_), Ok(_)) => None,
        _ => {
            let at = names.iter().position(|name| *name == word)?;
            names.get(at..=at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_chosen_by_number_range_or_name_and_an_unknown_word_is_reported() {
        let names = ["list", "read-all", "write", "find"];
        let chosen = |line: &str| choose_tools(line, &names).map(Vec::from_iter);
        assert!(chosen(" ").unwrap().is_empty());
        for (line, tools) in [
            ("1, 4", vec!["find", "list"]),
            ("1-2 find", vec!["find", "list", "read-all"]),
            ("read-all,read-all", vec!["read-all"]),
        ] {
            assert_eq!(chosen(line).unwrap(), tools, "{line}");
        }
        for (line, word) in [
            ("5", "5"),
            ("0", "0"),
            ("1 0-2", "0-2"),
            ("3-2", "3-2"),
            ("2-9", "2-9"),
            ("list all", "all"),
        ] {
            assert_eq!(chosen(line).unwrap_err(), word, "{line}");
        }
    }
}
