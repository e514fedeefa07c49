//! Determines which things of a list are named in a message or a line of an answer, by whole names
//! or by words.

use std::collections::BTreeSet;

use language::{fold, is_filler, numbers::cardinal};
use serde_json::{Map, Value};

use super::content::plain;
use crate::tools::typed_arguments::holds;

/// The most characters of a name.
pub(super) const NAME: usize = 80;
/// The fewest words of a name that can choose a thing which the person has not seen.
pub(super) const PROPER: usize = 2;
/// Words before a size.
const SIZES: [&str; 4] = ["size", "storlek", "storleken", "stl"];

/// A thing in a list.
pub(super) type Entry<'a> = &'a Map<String, Value>;

/// Returns the only entry with the longest name in a line.
pub(super) fn named_in_line<'a>(line: &str, all: &[Entry<'a>]) -> Option<Entry<'a>> {
    let line = [plain(line)];
    let length = |entry: &Entry<'a>| {
        names(entry).filter(|name| holds(&line, name)).map(|name| name.len()).max().unwrap_or(0)
    };
    one_with_most(all, length)
}

/// Returns the entries that a message names. If the message contains whole names, these are the
/// entries with the longest names. Otherwise it is the entry that matches more words of the message
/// than any other. Names with fewer than `least` words are ignored.
pub(super) fn named<'a>(message: &str, all: &[Entry<'a>], least: usize) -> Vec<Entry<'a>> {
    let said: Vec<String> = split(&plain(message));
    let telling = telling_words(message);
    let marked = marked_words(message);
    let whole = |entry: &Entry<'a>| -> BTreeSet<usize> {
        let is_name = |name: &Vec<String>| {
            let is_marked = matches!(name.as_slice(), [only] if marked.contains(only));
            (name.len() >= least || is_marked) && name.iter().any(|word| telling.contains(word))
        };
        let names = names(entry).map(|name| split(&name)).filter(is_name);
        names.flat_map(|name| places_of(&said, &name)).collect()
    };
    let covered: Vec<BTreeSet<usize>> = all.iter().map(whole).collect();
    let most = covered.iter().map(BTreeSet::len).max().unwrap_or_default();
    if most > 0 {
        // Beside a longer name, a single word is a property and not a name.
        let counts = |at: &usize| covered[*at].len() >= most.min(PROPER);
        return apart(&covered).filter(counts).map(|at| all[at]).collect();
    }
    if least > 1 {
        return Vec::new();
    }
    let words = |entry: &Entry<'a>| -> BTreeSet<String> {
        names(entry).flat_map(|name| split(&name)).filter(|word| telling.contains(word)).collect()
    };
    let best = one_with_all(all.iter().map(words).collect());
    best.map(|at| all[at]).into_iter().collect()
}

/// Returns the sets that are not part of another set, and that share nothing with any set that is
/// not part of them.
fn apart(sets: &[BTreeSet<usize>]) -> impl Iterator<Item = usize> {
    let is_within = |set: &BTreeSet<usize>, other: &BTreeSet<usize>| {
        set.is_subset(other) && set.len() < other.len()
    };
    (0..sets.len()).filter(move |at| {
        let set = &sets[*at];
        let mut others = sets.iter().enumerate().filter(|(other, _)| other != at);
        !set.is_empty() && others.all(|(_, other)| set.is_disjoint(other) || is_within(other, set))
    })
}

/// Returns the only set that strictly contains each other set. Members that all sets share are
/// ignored.
pub(super) fn one_with_all(mut sets: Vec<BTreeSet<String>>) -> Option<usize> {
    if let [first, rest @ ..] = sets.as_slice()
        && !rest.is_empty()
    {
        let common: BTreeSet<String> =
            first.iter().filter(|word| rest.iter().all(|r| r.contains(*word))).cloned().collect();
        sets.iter_mut().for_each(|words| words.retain(|word| !common.contains(word)));
    }
    let has_all = |at: &usize| {
        let mut others = sets.iter().enumerate().filter(|(other, _)| other != at);
        !sets[*at].is_empty()
            && others.all(|(_, other)| other.is_subset(&sets[*at]) && other.len() < sets[*at].len())
    };
    (0..sets.len()).find(has_all)
}

/// Returns the words of a message that distinguish things, including sizes: "M", "size m".
pub(super) fn telling_words(message: &str) -> BTreeSet<String> {
    let words: Vec<&str> = message.split_whitespace().collect();
    let is_loud = !message.contains(char::is_lowercase);
    let is_size = |at: &usize| {
        let word = words[*at].trim_matches(|c: char| !c.is_alphanumeric());
        let before = at.checked_sub(1).map(|before| split(&plain(words[before])));
        let follows = before.is_some_and(|word| word.iter().any(|w| SIZES.contains(&w.as_str())));
        let is_upper = !is_loud && !is_filler(&fold(word)) && word.chars().all(char::is_uppercase);
        !word.is_empty() && word.len() < 5 && (follows || is_upper)
    };
    let sizes = (0..words.len()).filter(is_size).flat_map(|at| split(&plain(words[at])));
    split(&plain(message)).into_iter().filter(|word| tells(word)).chain(sizes).collect()
}

/// Returns the words that a message marks as names: "#general", "@anna", `"alpine"`.
fn marked_words(message: &str) -> BTreeSet<String> {
    let is_marked = |word: &&str| {
        let first = word.chars().next().unwrap_or_default();
        let last = word.trim_end_matches(['.', ',', '!', '?']).chars().last().unwrap_or_default();
        matches!(first, '#' | '@')
            || matches!(
                (first, last),
                ('"', '"') | ('“', '”') | ('”', '”') | ('`', '`') | ('«', '»')
            )
    };
    message.split_whitespace().filter(is_marked).flat_map(|word| split(&plain(word))).collect()
}

fn one_with_most<'a>(entries: &[Entry<'a>], of: impl Fn(&Entry<'a>) -> usize) -> Option<Entry<'a>> {
    let most = entries.iter().map(&of).max().filter(|most| *most > 0)?;
    let mut best = entries.iter().filter(|entry| of(entry) == most);
    best.next().filter(|_| best.next().is_none()).copied()
}

/// Returns the short texts of an entry in the form used for comparison.
pub(super) fn names<'a>(entry: &Entry<'a>) -> impl Iterator<Item = String> + use<'a> {
    let texts = entry.values().filter_map(|value| match value {
        Value::String(text) if text.chars().count() <= NAME => Some(plain(text)),
        _ => None,
    });
    texts.filter(|text| !text.is_empty())
}

/// Returns the positions at which a text contains all words of a name in sequence.
fn places_of(said: &[String], name: &[String]) -> Vec<usize> {
    let starts = said.windows(name.len().max(1)).enumerate().filter(|(_, words)| *words == name);
    starts.flat_map(|(at, words)| at..at + words.len()).collect()
}

/// Whether a word can distinguish things.
fn tells(word: &str) -> bool {
    let is_number = word.chars().all(|c| c.is_ascii_digit());
    (is_number || word.chars().count() > 2) && !is_filler(word) && cardinal(word).is_none()
}

pub(super) fn split(text: &str) -> Vec<String> {
    let trimmed = |word: &str| fold(word.trim_matches(|c: char| !c.is_alphanumeric()));
    text.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect()
}
