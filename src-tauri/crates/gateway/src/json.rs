//! Small readers of JSON whose makers differ in how they write things.

pub(crate) use crate::shop::read::{first, text};

/// At most so many characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// The same, with "..." behind what was cut.
pub(crate) fn cut_with_dots(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { format!("{}...", cut(text, most)) }
}
