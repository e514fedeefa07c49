//! The number of columns that characters take on a terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns the number of columns of a text.
pub(crate) fn text_width(text: &str) -> usize {
    text.width()
}

/// Returns the number of columns of a character: 0 for combining marks, 2 for wide characters,
/// otherwise 1.
pub(crate) fn char_width(c: char) -> usize {
    c.width().unwrap_or(1)
}

/// Returns the number of columns of the widest text.
pub(crate) fn widest_text<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(text_width).max().unwrap_or_default()
}

/// Pads a text with spaces to this number of columns. The width in a format string counts
/// characters instead of columns.
pub(crate) fn pad_text(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text_width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combining_marks_take_no_column_and_wide_characters_take_two() {
        let table = [
            ("Åsa", 3),
            ("A\u{30a}sa", 3),
            ("−17.4%", 6),
            ("…", 1),
            ("─", 1),
            ("1\u{202f}234", 5),
            ("東京", 4),
            ("ﾃｽﾄ", 3),
            ("ｆｕｌｌ", 8),
            ("한국", 4),
            ("👍", 2),
            ("✅ ok", 5),
            ("ก\u{e34}น", 2),
            ("", 0),
            // A skin colour modifies the hand before it and takes no columns.
            ("👍\u{1f3fd}", 2),
        ];
        for (text, columns) in table {
            assert_eq!(text_width(text), columns, "{text}");
        }
    }

    #[test]
    fn a_column_is_padded_by_the_width_that_a_terminal_shows() {
        assert_eq!(pad_text("東京", 6), "東京  ");
        assert_eq!(pad_text("shop", 6), "shop  ");
        assert_eq!(pad_text("too long", 3), "too long");
    }
}
