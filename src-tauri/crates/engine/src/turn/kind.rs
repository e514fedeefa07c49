//! Defines the kinds of turns.

/// The kind of a turn, which determines where its tool calls belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnKind {
    /// The call is part of a conversation, which stores its items.
    Conversation,
    /// The call is made for a conversation that does not store its items.
    Unsaved,
    /// The call belongs to no conversation: a person or program called the tool by its id.
    Direct,
    /// No call is made: a person checks how a model's call would be decided.
    Trial,
}

impl TurnKind {
    pub(crate) fn keeps_items(self) -> bool {
        self == Self::Conversation
    }
}
