//! How well a message fits the sources, and how well it fits the packs: the words that are left over,
//! and whether it names anything. It decides nothing.

use questions::{Assumed, Declined, Outcome, Reading, Span, SpanMeaning};

use super::part::Part;
use crate::{
    book::Book,
    goal::{Doubt, Goal},
    reader::Meaning,
};

/// How well a message fits the sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DataFit {
    /// Whether it is about no source.
    pub(super) is_none: bool,
    /// Whether a reading uses all words.
    pub(super) is_full: bool,
    /// Whether it names a measure or a source.
    pub(super) names: bool,
    /// Whether it goes on from the question before it.
    pub(super) goes_on: bool,
    /// Whether it asks for something that no query says.
    pub(super) declines: bool,
    /// Whether a reading compares with a period that the message does not name.
    pub(super) guesses_change: bool,
    /// The number of words that no reading uses.
    pub(super) left: usize,
}

/// How well a message fits the packs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PackFit {
    /// Whether an intent matches.
    pub(super) has_goals: bool,
    /// Whether a change is asked for.
    pub(super) writes: bool,
    /// Whether the intents use all words.
    pub(super) is_full: bool,
    /// Whether the packs would refuse, because of words that they do not use.
    pub(super) refuses: bool,
    /// The number of words that no intent uses.
    pub(super) left: usize,
}

impl DataFit {
    /// Returns how well parts of a message fit.
    pub(super) fn of(parts: &[Part]) -> Self {
        let uses_all = |part: &Part| matches!(part.outcome, Outcome::One(_) | Outcome::Several(_));
        let readings = || parts.iter().flat_map(readings_of);
        Self {
            is_none: parts.iter().all(|part| matches!(part.outcome, Outcome::None)),
            is_full: !parts.is_empty() && parts.iter().all(uses_all) && readings().all(says),
            names: readings().any(names),
            goes_on: parts.iter().any(|part| part.goes_on),
            declines: parts.iter().any(declines),
            guesses_change: readings().any(|one| one.assumed.contains(&Assumed::Comparison)),
            left: parts.iter().map(words_left).sum(),
        }
    }
}

impl PackFit {
    /// Returns how well the meaning of a message fits.
    pub(super) fn of(book: &Book, meaning: &Meaning) -> Self {
        let goals = &meaning.goals;
        let refuses = goals.iter().any(Goal::has_unused_words);
        let left = goals.iter().flat_map(unused_words).map(|words| count(words)).sum();
        Self {
            has_goals: !goals.is_empty(),
            writes: goals.iter().any(|goal| book.tools[goal.tool].is_write()),
            is_full: !goals.is_empty() && !refuses && left == 0,
            refuses,
            left,
        }
    }
}

/// Returns the readings of a part, the nearest one if no reading uses all words.
pub(super) fn readings_of(part: &Part) -> Vec<&Reading> {
    match &part.outcome {
        Outcome::One(reading) => vec![&**reading],
        Outcome::Several(readings) => readings.iter().collect(),
        Outcome::Partly { nearest, .. } => vec![&**nearest],
        Outcome::Declined { .. } | Outcome::None => Vec::new(),
    }
}

/// Whether a part names an operation that no query says. A text that is too long may be about anything.
fn declines(part: &Part) -> bool {
    matches!(part.outcome, Outcome::Declined { by, .. } if by != Declined::Length)
}

/// Whether any part of the text has a meaning.
fn says(reading: &Reading) -> bool {
    reading.spans.iter().any(|span| span.means != SpanMeaning::LeftOut)
}

fn names(reading: &Reading) -> bool {
    let is_name = |span: &Span| matches!(span.means, SpanMeaning::Measure(_) | SpanMeaning::Source);
    reading.spans.iter().any(is_name)
}

fn words_left(part: &Part) -> usize {
    match &part.outcome {
        Outcome::One(_) | Outcome::Several(_) => 0,
        Outcome::Partly { without, .. } => {
            without.iter().map(|at| count(part.words(at))).sum::<usize>().max(1)
        }
        Outcome::Declined { at, .. } => count(part.words(at)).max(1),
        Outcome::None => count(part.words(&part.at)),
    }
}

fn unused_words(goal: &Goal) -> &[String] {
    match &goal.doubt {
        Some(Doubt::Unused(words)) => words,
        Some(Doubt::UnknownName(name)) => std::slice::from_ref(name),
        Some(Doubt::Quantity | Doubt::Negated | Doubt::Missing(_) | Doubt::Unranked) | None => {
            &goal.unused
        }
    }
}

fn count(words: &str) -> usize {
    words.split_whitespace().count()
}
