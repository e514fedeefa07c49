//! Creates the title of a conversation from its first message.

const TITLE_CHARS: usize = 60;

/// Returns the first line of a message, shortened to the length of a title.
pub(crate) fn title_of(text: &str) -> String {
    let line = text.lines().next().unwrap_or(text).trim();
    if line.chars().count() <= TITLE_CHARS {
        return line.to_owned();
    }
    let cut: String = line.chars().take(TITLE_CHARS - 1).collect();
    format!("{}…", cut.trim_end())
}
