//! Escapes foreign text for a terminal, so that it cannot move the cursor, change colours, or hide
//! or reorder text.

use std::fmt::Write as _;

/// Escapes every character that is not plainly visible as `\u{...}`. Used for approvals and single
/// lines.
pub(crate) fn escape_invisible(text: &str) -> String {
    escape_chars(text, |c| c.is_control() || is_hidden(c))
}

/// Escapes characters that could deceive the reader or control the terminal, and keeps line breaks,
/// tabs and joined emoji. Used for answers.
pub(crate) fn escape_prose(text: &str) -> String {
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

/// Whether a character changes the display order of other characters.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character takes no space, or looks like an ordinary space.
fn is_hidden(c: char) -> bool {
    is_bidi_control(c)
        || matches!(c,
            '\u{00a0}' | '\u{00ad}' | '\u{034f}' | '\u{0600}'..='\u{0605}' | '\u{06dd}' | '\u{070f}' | '\u{115f}' | '\u{1160}' | '\u{1680}'
            | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{202f}'
            | '\u{205f}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_proposal_stays_hidden() {
        assert_eq!(
            escape_invisible("pay\u{202e}001\u{200b} \u{1b}[2J"),
            "pay\\u{202e}001\\u{200b} \\u{1b}[2J"
        );
        assert_eq!(escape_invisible("two\nlines\u{a0}åäö"), "two\\u{a}lines\\u{a0}åäö");
        assert_eq!(escape_invisible("tag \u{e0041}"), "tag \\u{e0041}");
    }

    #[test]
    fn an_answer_keeps_its_lines_and_cannot_steer_the_terminal() {
        assert_eq!(escape_prose("a\n\tb \u{1b}]0;x\u{7}"), "a\n\tb \\u{1b}]0;x\\u{7}");
        assert_eq!(escape_prose("👩\u{200d}🚀 ok\r"), "👩\u{200d}🚀 ok\\u{d}");
    }
}
