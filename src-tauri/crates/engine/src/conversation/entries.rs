//! Converts stored items to the entries that a summariser reads: one per message, with its speaker.
//! Tool calls are included with their outcome.

use std::sync::Arc;

use contract::{Item, ItemBody, NoticeLevel};

use crate::context::history::NO_ANSWER;

/// The most characters of a message that a summariser reads.
const MOST: usize = 4_000;

/// A message with its speaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) role: &'static str,
    pub(crate) text: String,
}

/// Returns the messages in these items.
pub(crate) fn entries<'a>(items: impl IntoIterator<Item = &'a Arc<Item>>) -> Vec<Entry> {
    let entry = |role, text: &str| Some(Entry { role, text: clip(text) });
    items
        .into_iter()
        .filter_map(|item| match &item.body {
            ItemBody::UserMessage { text } => entry("user", text),
            ItemBody::AssistantText { text, .. } => entry("assistant", text),
            ItemBody::ToolResult { tool, summary, .. } => {
                entry("tool", &format!("{tool}: {summary}"))
            }
            ItemBody::Notice { level: NoticeLevel::Error, .. } => entry("note", NO_ANSWER),
            ItemBody::Notice { .. }
            | ItemBody::ToolCall { .. }
            | ItemBody::Approval { .. }
            | ItemBody::Redaction { .. }
            | ItemBody::Summary { .. } => None,
        })
        .collect()
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
