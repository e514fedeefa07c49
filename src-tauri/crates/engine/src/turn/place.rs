//! Where a tool call belongs.

/// Where a tool call belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The call is part of a conversation, which stores its items.
    Conversation,
    /// The call is made for a conversation that does not store its items.
    Beside,
    /// The call belongs to no conversation: a person or program called the tool by its id.
    Outside,
    /// No call is made: a person asks how a model's call would be decided.
    Trial,
}

impl Place {
    pub(crate) fn keeps_items(self) -> bool {
        self == Self::Conversation
    }
}
