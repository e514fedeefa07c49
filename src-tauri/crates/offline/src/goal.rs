//! The user's goals, which the planner follows from the message to the last call, and their
//! outcomes. Plain data; knows no wording.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{facts::Position, history::Failure};

/// One request: the tool, its known arguments, and the things it is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Goal {
    pub(super) tool: usize,
    pub(super) intent: usize,
    pub(super) args: Map<String, Value>,
    pub(super) target: Target,
    /// The things chosen so far, with their kinds.
    pub(super) chosen: Vec<(String, Value)>,
    /// A reason, found before any call, why the goal is impossible or unclear.
    pub(super) doubt: Option<Doubt>,
    /// Whether the result of an earlier call may answer, because the arguments are the same.
    pub(super) may_reuse: bool,
    /// The message names what the goal is about.
    pub(super) is_named: bool,
    /// Words that the plan does not use. They are reported below the answer.
    pub(super) unused: Vec<String>,
    /// The order of the found things.
    pub(super) ranking: Option<Ranked>,
    /// Attributes that found things must not have alone, as they were typed.
    pub(super) excluded: Vec<String>,
    /// How many of a thing a question is about: "what do two of them cost".
    pub(super) count: Option<u32>,
}

impl Goal {
    /// Whether words of the message are left without which the question is another one.
    pub(super) fn has_unused_words(&self) -> bool {
        matches!(self.doubt, Some(Doubt::Unused(_) | Doubt::UnknownName(_)))
    }
}

/// An order that the message asks for, and how many things of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) thing: String,
    /// The index among the orders of the thing.
    pub(super) index: usize,
    pub(super) count: Option<u32>,
}

/// How the user names the things meant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Target {
    pub(super) places: Vec<Position>,
    /// Whether only one of the places is meant and it is unclear which.
    pub(super) open: bool,
    pub(super) first: Option<u32>,
    pub(super) pronoun: bool,
    pub(super) all: bool,
    /// Folded words and sizes; one group for each named thing.
    pub(super) groups: Vec<Vec<String>>,
    /// The same words as the user typed them.
    pub(super) said: Vec<String>,
    /// The place in the order of the goal, counted from 0.
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

/// Why the user must say more before any call is made.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Doubt {
    /// A name that no table knows.
    UnknownName(String),
    /// A quantity that is impossible, such as "1.5", "-2" or "0".
    Quantity,
    /// A change that contains a "not".
    Negated,
    /// A required slot that the user has not named.
    Missing(String),
    /// Words that would change the question if they were left out.
    Unused(Vec<String>),
    /// An order of things of which the search has not found all.
    Unranked,
}

/// A list of things of one kind that was found for the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Listing {
    pub(super) pack: usize,
    pub(super) thing: String,
    pub(super) items: Vec<Value>,
    /// How many of the items the text showed.
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

    /// Notes how many items the text showed.
    pub(super) fn set_shown_count(&mut self, count: usize) {
        self.shown = self.items.len().min(count);
    }

    /// Returns the item at a place. Cards beside the text number all items, so an item that the
    /// text did not show can be meant, too.
    pub(super) fn item_at(&self, place: Position) -> Option<&Value> {
        self.items.get(self.place_number(place).checked_sub(1)?)
    }

    /// Returns the number of a place in this list, counted from 1.
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

    /// Returns the items that the text showed. "The last" means the last of these, and a question
    /// is about these only.
    pub(super) fn shown_items(&self) -> &[Value] {
        &self.items[..self.shown.min(self.items.len())]
    }
}

/// Why the user is asked to choose.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Why {
    Several,
    /// No item fits these words. The list shows the existing items.
    NoneFits(Vec<String>),
    /// Several items are meant, and these of them are not available.
    SomeUnusable(Vec<Value>),
    /// The item that is meant is not available.
    Unusable(Vec<Value>),
    OutOfRange(usize),
    /// Only one item fits, and it is not certain that it is meant.
    Confirm,
}

/// The result of a goal in this turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The results of the goal's calls, with their arguments.
    Answer {
        args: Map<String, Value>,
        results: Vec<Arc<Value>>,
        as_of: bool,
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
    /// The turn may make no more calls.
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
