//! Defines the types for reading a message: the reader, the matched intents, and the meaning. Other
//! files extend the reader with the steps of reading.

use chrono::NaiveDate;
use language::Language;

use super::{book::Book, goal::Goal, handbook, social::Social, state::State};

/// Reads one message in the state of the conversation.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) book: &'a Book,
    pub(super) state: &'a State,
    pub(super) today: NaiveDate,
}

/// The meaning of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Meaning {
    pub(super) goals: Vec<Goal>,
    /// The answer if the message has no goal.
    pub(super) talk: Option<Talk>,
    pub(super) lang: Option<Language>,
}

/// A message that leads to no call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Talk {
    Social(Social),
    /// A question about the product.
    Handbook(handbook::Answer),
    /// A request that a pack declines, with the pack's explanation.
    Cannot {
        pack: usize,
        index: usize,
    },
    /// The user withdrew the pending request.
    Dropped,
    /// The answer to an open question was not understood, so the question is asked again.
    AskAgain,
    /// The user asks for the rest of a list.
    More,
    /// The message was not understood, among other reasons because of these words.
    NotUnderstood(Vec<String>),
}

/// An intent found in a clause.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub(super) tool: usize,
    pub(super) intent: usize,
    pub(super) score: i32,
    pub(super) used: Vec<usize>,
    /// Whether a phrase matched, and not only names or dates.
    pub(super) strong: bool,
}
