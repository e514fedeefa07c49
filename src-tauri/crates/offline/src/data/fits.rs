//! How well a message fits the sources, and how well it fits the packs: the words that are left over,
//! and whether it names anything. Both are measured in the same way, so that they can be compared.

use language::{TokenKind, fold};
use questions::{Assumed, Declined, Outcome, Reading, Span, SpanMeaning};

use super::part::Part;
use crate::{
    book::Book,
    goal::{Doubt, Goal},
    guesses,
    handbook::{self, Answer},
    pattern::word_indices,
    reader::{Meaning, Talk},
    state::State,
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
    /// Whether it names a value with a word that is no small one, and that no pack uses for its own things.
    pub(super) names_value: bool,
    /// Whether it goes on from the question before it.
    pub(super) goes_on: bool,
    /// Whether it asks for something that no query says.
    pub(super) declines: bool,
    /// Whether a reading assumes another budget or rate.
    pub(super) assumes: bool,
    /// Whether it tells to change an amount of a source.
    pub(super) tells: bool,
    /// Whether a reading compares with a period that the message does not name.
    pub(super) guesses_change: bool,
    /// The number of words that no reading uses. A question that no query says is understood.
    pub(super) left: usize,
}

/// How well a message fits the packs, small talk and the handbook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PackFit {
    /// Whether an intent matches, or a section of the handbook.
    pub(super) answers: bool,
    /// Whether a section of the handbook would answer a message that goes on with "and", and asks for no way
    /// to do something.
    pub(super) is_section: bool,
    /// Whether a change is asked for.
    pub(super) writes: bool,
    /// Whether the intents use all words.
    pub(super) is_full: bool,
    /// Whether a change is about things of which the pack knows no word.
    pub(super) is_foreign: bool,
    /// Whether the packs would refuse, because of words that they do not use.
    pub(super) refuses: bool,
    /// The number of words that no answer uses.
    pub(super) left: usize,
}

/// How much a message is for a side. Of two sides that leave the same number of words, the lower wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Claim {
    /// A question about a source that it names.
    NamedData,
    /// A request to a pack, or a question about the product.
    Request,
    /// A question about a source that no query says.
    DeclinedData,
    /// Small talk, or a request that a pack declines.
    Talk,
    /// A question about a source that it does not name.
    UnnamedData,
}

impl DataFit {
    /// Returns how well parts of a message fit.
    pub(super) fn of(book: &Book, parts: &[Part]) -> Self {
        let uses_all = |part: &Part| matches!(part.outcome, Outcome::One(_) | Outcome::Several(_));
        let readings = || parts.iter().flat_map(readings_of);
        Self {
            is_none: parts.iter().all(|part| matches!(part.outcome, Outcome::None)),
            is_full: !parts.is_empty() && parts.iter().all(uses_all) && readings().all(says),
            names: readings().any(names),
            names_value: parts.iter().any(|part| names_value(book, part)),
            goes_on: parts.iter().any(|part| part.goes_on),
            declines: parts.iter().any(declines),
            assumes: readings().any(|one| !one.query.what_if.is_empty()),
            tells: parts.iter().any(tells_to_change),
            guesses_change: readings().any(|one| one.assumed.contains(&Assumed::Comparison)),
            left: parts.iter().map(words_left).sum(),
        }
    }

    /// Returns how much the message is for the sources. `is_after_data`: the message before it was.
    pub(super) fn claim(&self, is_after_data: bool) -> Claim {
        if self.names || self.names_value {
            return Claim::NamedData;
        }
        // A pack may do what no query says, also after a question about a source.
        if self.declines {
            return Claim::DeclinedData;
        }
        // A follow-up without a name is about the question before it, and not about an older one.
        if self.goes_on && is_after_data { Claim::NamedData } else { Claim::UnnamedData }
    }

    /// Returns the folded words that no reading uses.
    pub(super) fn words_left(parts: &[Part]) -> Vec<String> {
        let words = parts.iter().flat_map(|part| match &part.outcome {
            // The reader knows an operation that it declines.
            Outcome::One(_) | Outcome::Several(_) | Outcome::Declined { .. } => Vec::new(),
            Outcome::Partly { without, .. } => without.iter().map(|at| part.words(at)).collect(),
            Outcome::None => vec![part.words(&part.at)],
        });
        words.flat_map(language::tokens).map(|token| token.fold).collect()
    }
}

impl PackFit {
    /// Returns how well the meaning of a message fits.
    pub(super) fn of(book: &Book, state: &State, meaning: &Meaning, message: &str) -> Self {
        let goals = &meaning.goals;
        if goals.is_empty() {
            let left = meaning.talk.as_ref().map_or(usize::MAX, |talk| left_by_talk(talk, message));
            let answers = matches!(meaning.talk, Some(Talk::Handbook(_))) && left != usize::MAX;
            let is_section = answers && goes_on(message) && !handbook::asks_how(message);
            return Self { answers, left, is_section, ..Self::default() };
        }
        let refuses = goals.iter().any(Goal::has_unused_words);
        let unused: usize = goals.iter().flat_map(unused_words).map(|words| count(words)).sum();
        let guessed = |goal: &Goal| guesses::unknown_words(book, state, goal).len();
        let guessed: usize = goals.iter().map(guessed).sum();
        Self {
            answers: !refuses,
            is_section: false,
            writes: goals.iter().any(|goal| book.tools[goal.tool].is_write()),
            is_full: !refuses && unused == 0,
            is_foreign: goals.iter().all(|goal| guesses::is_foreign(book, state, goal)),
            refuses,
            left: (unused + guessed).max(usize::from(refuses)),
        }
    }

    /// Returns how much the message is for the packs.
    pub(super) fn claim(&self) -> Claim {
        if self.answers { Claim::Request } else { Claim::Talk }
    }
}

/// Whether a message begins with a word that adds it to the one before.
fn goes_on(message: &str) -> bool {
    let tokens = language::tokens(message);
    tokens.first().is_some_and(|first| first.any(&["and", "och", "but", "men"]))
}

/// Returns the number of words that talk leaves over: all of them, if it only says that a message was not
/// understood.
fn left_by_talk(talk: &Talk, message: &str) -> usize {
    match talk {
        Talk::AskAgain | Talk::NotUnderstood(_) | Talk::Handbook(Answer::Missing { .. }) => {
            usize::MAX
        }
        Talk::Handbook(Answer::Section(section)) => {
            let tokens = language::tokens(message);
            handbook::words_left(&tokens, &word_indices(&tokens), *section)
        }
        Talk::Handbook(Answer::Between(_) | Answer::Request { .. })
        | Talk::Social(_)
        | Talk::Cannot { .. }
        | Talk::Dropped
        | Talk::More => 0,
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

fn tells_to_change(part: &Part) -> bool {
    matches!(part.outcome, Outcome::Declined { by: Declined::Instruction, .. })
}

/// Whether any part of the text has a meaning.
fn says(reading: &Reading) -> bool {
    reading.spans.iter().any(|span| span.means != SpanMeaning::LeftOut)
}

/// Whether a reading names a measure or a source.
pub(super) fn names(reading: &Reading) -> bool {
    let is_name = |span: &Span| matches!(span.means, SpanMeaning::Measure(_) | SpanMeaning::Source);
    reading.spans.iter().any(is_name)
}

/// Whether a reading names things and nothing else, as the answer to a name that was not found.
pub(super) fn names_only_things(reading: &Reading) -> bool {
    let is_value = |span: &Span| matches!(span.means, SpanMeaning::Value { .. });
    let is_thing = |span: &Span| matches!(span.means, SpanMeaning::Dimension(_)) || is_value(span);
    reading.spans.iter().all(is_thing) && reading.spans.iter().any(is_value)
}

/// Whether a part names a value, and not only with numbers, small words such as "no", and words that a
/// pack uses for its own things.
fn names_value(book: &Book, part: &Part) -> bool {
    let is_own = |word: &str| {
        let word = fold(word);
        let is_number = word.chars().all(|letter| letter.is_ascii_digit());
        let is_of_pack = || book.packs.iter().any(|pack| pack.is_vocabulary(&word));
        !is_number && !language::is_stop_word(&word) && !is_of_pack()
    };
    let names_own = |span: &Span| {
        let mut words = part.words(&span.at).split_whitespace();
        matches!(span.means, SpanMeaning::Value { .. }) && words.any(is_own)
    };
    readings_of(part).into_iter().any(|reading| reading.spans.iter().any(names_own))
}

fn words_left(part: &Part) -> usize {
    match &part.outcome {
        Outcome::One(_) | Outcome::Several(_) | Outcome::Declined { .. } => 0,
        Outcome::Partly { without, .. } => {
            // The packs do not count small words either.
            without.iter().map(|at| count_telling(part.words(at))).sum::<usize>().max(1)
        }
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

/// Returns the number of words that say something alone.
fn count_telling(words: &str) -> usize {
    let tokens = language::tokens(words);
    let words = tokens.iter().filter(|token| token.kind != TokenKind::Punct);
    words.filter(|token| !language::is_stop_word(&token.fold)).count()
}

fn count(words: &str) -> usize {
    words.split_whitespace().count()
}
