//! Searches for words that neither a pack nor what it has shown knows. Such a search is a guess: it takes
//! a message only if no source is asked, and an empty result says that the message was not understood.

use contract::manifest::{Find, SlotKind, Thing};
use language::fold;

use super::{
    book::Book,
    goal::{Goal, Outcome, Why},
    plan::list_in_result,
    state::{SourceOf, State},
    things, values,
};

/// The most words that are named.
const NAMED: usize = 3;

/// Returns the words that a goal searches for and that its pack does not know. Empty: the goal searches
/// for nothing, changes something, or refers to what was shown.
pub(super) fn unknown_words(book: &Book, state: &State, goal: &Goal) -> Vec<String> {
    let tool = &book.tools[goal.tool];
    let target = &goal.target;
    if tool.is_write() || target.is_place() || target.pronoun || !searches_by_words(book, tool.pack)
    {
        return Vec::new();
    }
    let pack = &book.packs[tool.pack];
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let is_known = |word: &str| {
        is_number(word) || things::is_known(pack, word) || is_shown(book, state, tool.pack, word)
    };
    let mut words = searched_words(book, goal);
    words.retain(|word| !is_known(&fold(word)));
    words
}

/// Whether a change is about things of which neither the pack nor what it has shown knows a word.
pub(super) fn is_foreign(book: &Book, state: &State, goal: &Goal) -> bool {
    let (tool, target) = (&book.tools[goal.tool], &goal.target);
    let words = target.words();
    let is_known = |word: &String| {
        let word = fold(word);
        things::is_known(&book.packs[tool.pack], &word) || is_shown(book, state, tool.pack, &word)
    };
    let is_said = !words.is_empty() && !target.is_place() && !target.pronoun;
    tool.is_write() && is_said && !words.iter().any(is_known)
}

/// Whether a goal searches only for words that its pack does not know.
pub(super) fn is_guess(book: &Book, state: &State, goal: &Goal) -> bool {
    let unknown = unknown_words(book, state, goal);
    !unknown.is_empty() && unknown.len() == searched_words(book, goal).len()
}

/// Returns the words of goals that only guessed and found nothing. None: a goal is of another kind.
pub(super) fn not_found(
    book: &Book,
    state: &State,
    outcomes: &[(Goal, Outcome)],
) -> Option<Vec<String>> {
    let is_empty = |(goal, outcome): &(Goal, Outcome)| {
        is_guess(book, state, goal) && found_nothing(book, goal, outcome)
    };
    if outcomes.is_empty() || !outcomes.iter().all(is_empty) {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    for word in outcomes.iter().flat_map(|(goal, _)| searched_words(book, goal)) {
        if words.len() < NAMED && !words.contains(&word) {
            words.push(word);
        }
    }
    Some(words)
}

fn found_nothing(book: &Book, goal: &Goal, outcome: &Outcome) -> bool {
    let (tool, pack) = (goal.tool, book.tools[goal.tool].pack);
    match outcome {
        Outcome::Nothing { .. } | Outcome::Ask { why: Why::NoneFits(_), .. } => true,
        Outcome::Answer { results, .. } => {
            let mut things = book.packs[pack].offline.things.values();
            let source = things.find_map(|thing| thing.source_of(book, pack, tool));
            let is_empty =
                |source| results.iter().all(|result| list_in_result(result, source).is_empty());
            source.is_some_and(is_empty)
        }
        Outcome::Failed { .. }
        | Outcome::Ask { .. }
        | Outcome::Doubt(_)
        | Outcome::Unusable { .. }
        | Outcome::Later
        | Outcome::NotOffered
        | Outcome::Unfinished => false,
    }
}

/// Returns the words that a goal searches for.
fn searched_words(book: &Book, goal: &Goal) -> Vec<String> {
    let mut words = goal.target.words();
    let slots = book.tools[goal.tool].slots.iter();
    for slot in slots.filter(|slot| matches!(slot.kind, SlotKind::Words)) {
        let query = values::get(&goal.args, &slot.parameter).and_then(serde_json::Value::as_str);
        words.extend(query.unwrap_or_default().split_whitespace().map(str::to_owned));
    }
    words
}

/// Whether a pack has things that are found by words of any kind.
pub(super) fn searches_by_words(book: &Book, pack: usize) -> bool {
    let mut sources = book.packs[pack].offline.things.values().flat_map(|thing| &thing.sources);
    sources.any(|source| matches!(source.find, Some(Find::Words { .. })))
}

/// Whether a list that a pack has shown has a word.
fn is_shown(book: &Book, state: &State, pack: usize, word: &str) -> bool {
    let own = &book.packs[pack];
    let mut listings = state.listings.iter().filter(|listing| listing.pack == pack);
    listings.any(|listing| {
        let has_word = |thing: &Thing| {
            let mut items = listing.items.iter();
            items.any(|item| things::fits_item(own, word, &things::words_of(thing, item)))
        };
        own.thing(&listing.thing).is_some_and(has_word)
    })
}
