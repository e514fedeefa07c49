//! Small functions to read JSON from shops that write data in different ways.

pub(crate) use crate::shop::read::{first, text};

/// Cuts a text to a maximum number of characters.
pub(crate) fn truncate_text(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Cuts a text to a maximum number of characters, and adds "..." to a text that was cut.
pub(crate) fn shorten_with_dots(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        format!("{}...", truncate_text(text, most))
    }
}
