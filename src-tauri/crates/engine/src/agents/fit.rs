//! Finds the points at which a conversation that is too long for its model may be shortened. Only
//! whole turns are omitted. Stored items do not change.

use contract::{AgentError, Reason};

use crate::ports::Message;

/// The error reason for a conversation that is longer than the model can read.
pub(crate) const TOO_LONG: &str = Reason::ProviderTooLong.name();

/// Returns the end index of each earlier turn. Earlier turns directly follow the prompt.
pub(crate) fn turn_ends(messages: &[Message], earlier: usize) -> Vec<usize> {
    let end = (1 + earlier).min(messages.len());
    let begins = |at: &usize| matches!(messages[*at], Message::User { .. });
    (2..end).filter(begins).chain((end > 1).then_some(end)).collect()
}

pub(crate) fn is_too_long(error: &AgentError) -> bool {
    error.has_reason(Reason::ProviderTooLong)
}
