//! A goal of the user, which the planner carries from understanding to the last call, and its
//! outcome. Plain data of the conversation; knows no wording.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{history::Failure, places::Place};

/// One request: a tool, what is known of its arguments, and what it is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Goal {
    pub(super) tool: usize,
    pub(super) intent: usize,
    pub(super) args: Map<String, Value>,
    pub(super) target: Target,
    /// Things chosen so far, by kind.
    pub(super) chosen: Vec<(String, Value)>,
    /// Known to be impossible or unclear before anything runs.
    pub(super) doubt: Option<Doubt>,
    /// The arguments are those of an earlier call, so its result may still answer.
    pub(super) may_reuse: bool,
    /// The message names what the goal is about.
    pub(super) is_named: bool,
    /// Words that the plan does not use. They are reported below the answer.
    pub(super) unused: Vec<String>,
}

/// How the user names the things meant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Target {
    pub(super) places: Vec<Place>,
    /// One of the places is meant, and nobody knows which.
    pub(super) open: bool,
    pub(super) first: Option<u32>,
    pub(super) pronoun: bool,
    pub(super) all: bool,
    /// Words and sizes, folded; one group per thing named.
    pub(super) groups: Vec<Vec<String>>,
    /// The same words as they were typed.
    pub(super) said: Vec<String>,
}

impl Target {
    pub(super) fn words(&self) -> Vec<String> {
        self.groups.iter().flatten().cloned().collect()
    }
    pub(super) fn points(&self) -> bool {
        !self.places.is_empty() || self.first.is_some()
    }
}

/// Why nothing can be done before the user says more.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Doubt {
    /// A name that no table knows.
    UnknownName(String),
    /// "1.5", "-2", "0".
    Quantity,
    /// A change with a "not" in it.
    Negated,
    /// A slot that must be said.
    Missing(String),
    /// Words that would change the question if they were left out.
    Unused(Vec<String>),
}

/// Things of one kind that were found for the user, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Listing {
    pub(super) pack: usize,
    pub(super) thing: String,
    pub(super) items: Vec<Value>,
    /// How many of them the text showed.
    shown: usize,
    /// There may be others: a search brings only its first ones.
    pub(super) partial: bool,
    /// The newest answer showed it, and "more" goes on with it.
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

    /// Keeps how many the text showed.
    pub(super) fn showed(&mut self, count: usize) {
        self.shown = self.items.len().min(count);
    }

    /// The item at a place. Beside a text there may be cards, which number all there is.
    pub(super) fn at(&self, place: Place) -> Option<&Value> {
        self.items.get(self.index(place).checked_sub(1)?)
    }

    /// Returns the number of a place in this list, counted from 1.
    pub(super) fn index(&self, place: Place) -> usize {
        match place {
            Place::Nth(place) => place as usize,
            Place::Last => self.shown().len(),
        }
    }

    /// The items that the text did not show.
    pub(super) fn rest(&self) -> &[Value] {
        &self.items[self.shown().len()..]
    }

    /// The items that the text showed: their end is "the last", and a question is about these
    /// alone.
    pub(super) fn shown(&self) -> &[Value] {
        &self.items[..self.shown.min(self.items.len())]
    }
}

/// Why a choice is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Why {
    Several,
    /// No item fits these words; the list shows what there is.
    NoneFits(Vec<String>),
    /// Several are meant; these of them cannot be had now.
    SomeUnusable(Vec<Value>),
    /// The one meant cannot be had now.
    Unusable(Vec<Value>),
    OutOfRange(usize),
    /// Only one fits, and not surely.
    Confirm,
}

/// The outcome of a goal in this turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The results of its calls, with the arguments.
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
    /// The goal is not clear or not possible as said.
    Doubt(Doubt),
    /// All of the kind are out.
    Unusable {
        thing: String,
        items: Vec<Value>,
    },
    /// It waits until the question of another goal is answered.
    Later,
    /// The tool is not among those offered.
    NotOffered,
    /// The turn has no calls left.
    Unfinished,
}

/// The next step of a goal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Calls(Vec<Planned>),
    Done(Outcome),
}

/// A call to be made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Planned {
    pub(super) tool: usize,
    pub(super) args: Map<String, Value>,
}
