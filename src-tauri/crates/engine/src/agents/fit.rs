//! Where a conversation may be shortened that is longer than its model can read: at whole turns.
//! Stored items are not touched.

use contract::{AgentError, Reason};

use crate::ports::Message;

/// The reason of a refusal because a conversation is too long.
pub(crate) const TOO_LONG: &str = Reason::ProviderTooLong.name();

/// Where each of the earlier turns, which stand behind the prompt, ends.
pub(crate) fn turn_ends(messages: &[Message], earlier: usize) -> Vec<usize> {
    let end = (1 + earlier).min(messages.len());
    let begins = |at: &usize| matches!(messages[*at], Message::User { .. });
    (2..end).filter(begins).chain((end > 1).then_some(end)).collect()
}

pub(crate) fn is_too_long(error: &AgentError) -> bool {
    error.has_reason(Reason::ProviderTooLong)
}
