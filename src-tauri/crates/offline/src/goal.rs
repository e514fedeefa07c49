//! Defines the user's goals and their outcomes, which the planner follows from the message to the
//! last call. The types contain only data.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{facts::Position, history::Failure};

/// A request: the tool, its known arguments, and the things that the request is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Goal {
    pub(super) tool: usize,
    pub(super) intent: usize,
    pub(super) args: Map<String, Value>,
    pub(super) target: Target,
    /// The things chosen so far, with their kinds.
    pub(super) chosen: Vec<(String, Value)>,
    /// The reason why the goal is impossible or unclear, if found before any call.
    pub(super) doubt: Option<Doubt>,
    /// Whether the message names the subject of the goal.
    pub(super) is_named: bool,
    /// Words that the plan does not use. These words are reported below the answer.
    pub(super) unused: Vec<String>,
    /// The sort order of the found things.
    pub(super) ranking: Option<Ranked>,
    /// The excluded attributes, as typed. A thing is excluded if it has no other attributes.
    pub(super) excluded: Vec<String>,
    /// The number of pieces that a question is about: "what do two of them cost".
    pub(super) count: Option<u32>,
}

impl Goal {
    /// Whether unused words of the message would change the question.
    pub(super) fn has_unused_words(&self) -> bool {
        matches!(self.doubt, Some(Doubt::Unused(_) | Doubt::UnknownName(_)))
    }
}

/// A requested order, and the number of things to take in that order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) thing: String,
    /// The index among the sort orders of the thing.
    pub(super) index: usize,
    pub(super) count: Option<u32>,
}

/// How the user refers to things.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Target {
    pub(super) places: Vec<Position>,
    /// Whether only one of the list positions is meant and it is unclear which.
    pub(super) open: bool,
    pub(super) first: Option<u32>,
    pub(super) pronoun: bool,
    pub(super) all: bool,
    /// Folded words and sizes, with a group for each named thing.
    pub(super) groups: Vec<Vec<String>>,
    /// The same words as typed.
    pub(super) said: Vec<String>,
    /// The position in the sort order of the goal, counted from 0.
    pub(super) rank: Option<usize>,
}

impl Target {
    pub(super) fn words(&self) -> Vec<String> {
        self.groups.iter().flatten().cloned().collect()
    }
    pub(super) fn is_place(&self) -> bool {
        !self.places.is_empty() || self.first.is_some()
    }
}

/// The reason why the user must give more information before any call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Doubt {
    /// A name that is in no table.
    UnknownName(String),
    /// A quantity that is impossible, such as "1.5", "-2" or "0".
    Quantity,
    /// A change whose message contains a negation.
    Negated,
    /// A required slot without a value.
    Missing(String),
    /// Unused words whose omission would change the question.
    Unused(Vec<String>),
    /// A sort order of things that the search has not found completely.
    Unranked,
}

/// A list of things of the same kind that was found for the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Listing {
    pub(super) pack: usize,
    pub(super) thing: String,
    pub(super) items: Vec<Value>,
    /// The number of items that the text showed.
    shown: usize,
    /// Whether there may be more items, because a search returns only its first results.
    pub(super) partial: bool,
    /// Whether the newest answer showed the list, so that "more" continues it.
    pub(super) newest: bool,
}

impl Listing {
    pub(super) fn new(pack: usize, thing: &str, items: Vec<Value>) -> Self {
        Self {
            pack,
            thing: thing.to_owned(),
            shown: items.len(),
            items,
            partial: false,
            newest: true,
        }
    }

    /// Sets the number of items that the text showed.
    pub(super) fn set_shown_count(&mut self, count: usize) {
        self.shown = self.items.len().min(count);
    }

    /// Returns the item at a position. Cards beside the text number all items, so the user can also
    /// refer to items that the text did not show.
    pub(super) fn item_at(&self, place: Position) -> Option<&Value> {
        self.items.get(self.place_number(place).checked_sub(1)?)
    }

    /// Returns the number of a position in this list, counted from 1.
    pub(super) fn place_number(&self, place: Position) -> usize {
        match place {
            Position::Nth(place) => place as usize,
            Position::Last => self.shown_items().len(),
        }
    }

    /// Returns the items that the text did not show.
    pub(super) fn hidden_items(&self) -> &[Value] {
        &self.items[self.shown_items().len()..]
    }

    /// Returns the items that the text showed. "The last" means the last shown item, and a question
    /// is about shown items only.
    pub(super) fn shown_items(&self) -> &[Value] {
        &self.items[..self.shown.min(self.items.len())]
    }
}

/// The reason why the user is asked to choose.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Why {
    Several,
    /// No item matches these words. The list shows the existing items.
    NoneFits(Vec<String>),
    /// Several items are meant, and the given items are not available.
    SomeUnusable(Vec<Value>),
    /// The item that is meant is not available.
    Unusable(Vec<Value>),
    OutOfRange(usize),
    /// Only one item matches, and the user must confirm it.
    Confirm,
}

/// The result of a goal in this turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The results of the goal's calls, with the calls' arguments.
    Answer {
        args: Map<String, Value>,
        results: Vec<Arc<Value>>,
    },
    Failed {
        failure: Failure,
    },
    Ask {
        listing: Listing,
        why: Why,
    },
    /// No thing of this kind was found.
    Nothing {
        thing: String,
        words: Vec<String>,
    },
    /// The goal is unclear or impossible as stated.
    Doubt(Doubt),
    /// All things of the kind are unavailable.
    Unusable {
        thing: String,
        items: Vec<Value>,
    },
    /// The goal waits until the question about another goal is answered.
    Later,
    /// The tool is not among the offered tools.
    NotOffered,
    /// The turn has reached its limit of calls.
    Unfinished,
}

/// The next step of a goal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Calls(Vec<Planned>),
    Done(Outcome),
}

/// A call that is planned.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Planned {
    pub(super) tool: usize,
    pub(super) args: Map<String, Value>,
}
