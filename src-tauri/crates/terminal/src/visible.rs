//! Escapes foreign text for a terminal, so that it cannot move the cursor, change colours, or hide
//! or reorder text.

use std::fmt::Write as _;

use contract::hidden::{is_bidi_control, is_hidden};

/// Escapes every character that is not plainly visible as `\u{...}`. Used for approvals and single
/// lines.
pub fn escape_invisible(text: &str) -> String {
    escape_chars(text, is_hidden)
}

/// Escapes characters that could deceive the reader or control the terminal, and keeps line breaks,
/// tabs and joined emoji. Used for answers.
pub fn escape_prose(text: &str) -> String {
    escape_chars(text, |c| (c.is_control() && !matches!(c, '\n' | '\t')) || is_bidi_control(c))
}

fn escape_chars(text: &str, unsafe_char: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if unsafe_char(c) {
            // Writing to a String cannot fail.
            let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_of_a_proposal_are_escaped() {
        assert_eq!(
            escape_invisible("pay\u{202e}001\u{200b} \u{1b}[2J"),
            "pay\\u{202e}001\\u{200b} \\u{1b}[2J"
        );
        assert_eq!(escape_invisible("two\nlines\u{a0}åäö"), "two\\u{a}lines\\u{a0}åäö");
        assert_eq!(escape_invisible("tag \u{e0041}"), "tag \\u{e0041}");
        for (first, last) in contract::hidden::HIDDEN {
            for c in [first, last].into_iter().filter_map(char::from_u32) {
                assert_eq!(escape_invisible(&c.to_string()), format!("\\u{{{:x}}}", u32::from(c)));
            }
        }
    }

    #[test]
    fn an_answer_keeps_its_lines_and_its_control_characters_are_escaped() {
        assert_eq!(escape_prose("a\n\tb \u{1b}]0;x\u{7}"), "a\n\tb \\u{1b}]0;x\\u{7}");
        assert_eq!(escape_prose("👩\u{200d}🚀 ok\r"), "👩\u{200d}🚀 ok\\u{d}");
    }
}
