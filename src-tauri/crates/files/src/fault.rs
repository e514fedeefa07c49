//! Describes an error in the text of a file. A value in the file may be a key, so the description
//! repeats no value. It contains only the kind of the error, what is expected, and the shortened
//! names of fields.

/// The maximum number of characters of a description.
const MOST: usize = 200;
/// The maximum number of characters of a field's name.
const MOST_OF_NAME: usize = 40;
/// The beginnings of messages that quote the name of a field.
const NAMES: [&str; 4] = ["unknown field", "missing field", "duplicate field", "duplicate key"];

/// Removes what a parser's message quotes from the file. Parsers based on `serde` put the quoted
/// text before `, expected`, in one of several kinds of quotes.
pub fn without_values(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let (given, expected) = match line.rfind(", expected ") {
        Some(at) => line.split_at(at),
        None => (line, ""),
    };
    let given = if NAMES.iter().any(|start| given.starts_with(start)) {
        with_short_name(given)
    } else {
        without_quoted(given)
    };
    let whole = given + expected;
    match whole.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &whole[..at]),
        None => whole,
    }
}

/// Returns the line and the column of a byte, both counted from 1.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (line, before[start..].chars().count() + 1)
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '`' | '\'' | '“' | '”' | '‘' | '’')
}

/// Shortens the text between the first and the last quote, and escapes invisible characters.
fn with_short_name(text: &str) -> String {
    let Some((before, rest)) = text.split_once(is_quote) else { return text.to_owned() };
    let (name, _) = rest.rsplit_once(is_quote).unwrap_or((rest, ""));
    let quote = &text[before.len()..text.len() - rest.len()];
    let after = &rest[name.len()..];
    let is_short = name.chars().nth(MOST_OF_NAME).is_none();
    let shown: String = name.chars().take(MOST_OF_NAME).flat_map(char::escape_debug).collect();
    let cut = if is_short { "" } else { "…" };
    format!("{before}{quote}{shown}{cut}{after}")
}

/// Replaces everything from the first to the last quote.
fn without_quoted(text: &str) -> String {
    match (text.find(is_quote), text.rfind(is_quote)) {
        (Some(first), Some(last)) if first < last => {
            let after = text[last..].chars().next().map_or(0, char::len_utf8);
            format!("{}…{}", &text[..first], &text[last + after..])
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_description_contains_no_value_of_the_file() {
        for (said, kept) in [
            ("invalid type: string \"sk-1\", expected u64", "invalid type: string …, expected u64"),
            (
                "invalid type: string \"a, expected b\", expected a map",
                "invalid type: string …, expected a map",
            ),
            (
                "unknown variant `sk-1`, expected `deny` or `ask`",
                "unknown variant …, expected `deny` or `ask`",
            ),
            ("invalid value: integer `5`, expected u8", "invalid value: integer …, expected u8"),
            ("unknown field `spend`, expected `day`", "unknown field `spend`, expected `day`"),
            ("missing field `id`", "missing field `id`"),
            ("unknown field `a\u{1b}[2J\u{202e}b`", "unknown field `a\\u{1b}[2J\\u{202e}b`"),
            ("unknown field `a\nb`, expected `day`", "unknown field `a"),
            ("the address 'https://u:p@x' is not one", "the address … is not one"),
            ("key must be a string", "key must be a string"),
            ("TOML parse error\n1 | key = \"sk-1", "TOML parse error"),
        ] {
            assert_eq!(without_values(said), kept, "{said}");
        }
        assert_eq!(without_values(&"x".repeat(500)).chars().count(), MOST + 1);
        let long = format!("unknown field `{}`, expected `day`", "x".repeat(60));
        let short = format!("unknown field `{}…`, expected `day`", "x".repeat(40));
        assert_eq!(without_values(&long), short);
    }

    #[test]
    fn line_and_column_numbers_start_at_1() {
        assert_eq!(line_and_column("", 0), (1, 1));
        assert_eq!(line_and_column("å = 1\nb", 3), (1, 3));
        assert_eq!(line_and_column("a\nbc", 4), (2, 3));
        assert_eq!(line_and_column("a", 9), (1, 2));
    }
}
