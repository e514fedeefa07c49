//! Words in the form of the search index: lower case, without diacritics, split at everything
//! except letters and digits.

/// Returns a text in lower case, without the diacritics of Swedish and neighbouring languages.
pub fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(plain).collect()
}

fn plain(c: char) -> char {
    match c {
        'à'..='æ' | 'ā' => 'a',
        'ç' => 'c',
        'è'..='ë' | 'ē' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' | 'ø' | 'ō' => 'o',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    }
}

/// Returns the folded words of a text. A decimal point or comma between digits does not split a
/// word.
pub fn words(text: &str) -> Vec<String> {
    let folded: Vec<char> = fold(text).chars().collect();
    let mut out = Vec::new();
    let mut word = String::new();
    for (at, c) in folded.iter().enumerate() {
        let inner = matches!(c, '.' | ',')
            && at
                .checked_sub(1)
                .and_then(|before| folded.get(before))
                .is_some_and(char::is_ascii_digit)
            && folded.get(at + 1).is_some_and(char::is_ascii_digit);
        if c.is_alphanumeric() {
            word.push(*c);
        } else if inner {
            word.push('.');
        } else if !word.is_empty() {
            out.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

/// Formats öre as kronor with two decimals.
pub fn money(ore: i64) -> String {
    format!("{}{}.{:02}", if ore < 0 { "-" } else { "" }, ore.abs() / 100, ore.abs() % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_folded_and_split_into_words() {
        assert_eq!(words("Svarta löparskor, stl 42!"), ["svarta", "loparskor", "stl", "42"]);
        assert_eq!(words("0,75 l FJS-TR1001"), ["0.75", "l", "fjs", "tr1001"]);
    }

    #[test]
    fn amounts_are_formatted_with_two_decimals() {
        assert_eq!(
            (money(129_900), money(5), money(-250)),
            ("1299.00".to_owned(), "0.05".to_owned(), "-2.50".to_owned())
        );
    }
}
