//! Chooses the newest items that a model sees, by limits on messages and tokens. Summaries are
//! handled elsewhere.

use std::sync::Arc;

use contract::{Item, ItemBody};

/// Estimates the tokens of a text for any model: one token per four characters, rounded up.
pub(crate) fn tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

/// Returns the text of a user's or the assistant's message. Returns None for other items, which are
/// not counted.
pub(crate) fn message(item: &Item) -> Option<&str> {
    match &item.body {
        ItemBody::UserMessage { text } | ItemBody::AssistantText { text, .. } => Some(text),
        ItemBody::ToolCall { .. }
        | ItemBody::ToolResult { .. }
        | ItemBody::Approval { .. }
        | ItemBody::Redaction { .. }
        | ItemBody::Summary { .. }
        | ItemBody::Notice { .. } => None,
    }
}

/// Returns the number of messages and the number of their tokens.
pub(crate) fn measure<'a>(items: impl IntoIterator<Item = &'a Arc<Item>>) -> (u64, u64) {
    items
        .into_iter()
        .filter_map(|item| message(item))
        .fold((0, 0), |(count, sum), text| (count + 1, sum + tokens(text)))
}

/// Returns the index of the first of the newest messages that are within the limits. Counts back
/// from the newest message and stops at the first message that exceeds a limit. The result is the
/// index of a user's message, so that no tool result is separated from its call. A token limit of 0
/// means no limit.
pub(crate) fn start(items: &[Arc<Item>], most_messages: u32, most_tokens: u32) -> usize {
    let (mut count, mut sum) = (0u64, 0u64);
    let mut start = items.len();
    for (index, item) in items.iter().enumerate().rev() {
        if let Some(text) = message(item) {
            count += 1;
            sum += tokens(text);
        }
        if count > u64::from(most_messages) || (most_tokens > 0 && sum > u64::from(most_tokens)) {
            break;
        }
        if matches!(item.body, ItemBody::UserMessage { .. }) {
            start = index;
        }
    }
    start
}
