//! Which of the newest items a model sees: so many messages, and so many tokens of them. Knows
//! nothing of summaries.

use std::sync::Arc;

use contract::{Item, ItemBody};

/// An estimate that holds for every model: a token is four characters, rounded up.
pub(crate) fn tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

/// The text of a message: what a user or the assistant said. Nothing else is counted.
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

/// How many messages there are and how many tokens they have.
pub(crate) fn measure<'a>(items: impl IntoIterator<Item = &'a Arc<Item>>) -> (u64, u64) {
    items
        .into_iter()
        .filter_map(|item| message(item))
        .fold((0, 0), |(count, sum), text| (count + 1, sum + tokens(text)))
}

/// Where the newest messages begin that fit: the walk goes back from the newest and stops at the
/// first that does not fit. It begins with a user's message, so that no result stands without its
/// call. 0 tokens = no bound.
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
