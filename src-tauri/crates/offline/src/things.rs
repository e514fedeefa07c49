//! Decides which of several things the user's words mean. The module works on JSON items and the
//! manifest's description of the thing.

use contract::manifest::Thing;
use language::{fold, same_word};
use serde_json::Value;

use super::{
    book::{Pack, folded_words},
    values,
    words::{ORDERS, UNITS},
};

/// The items that match the user's words.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Narrowed {
    /// The indices of the items that match best, in order.
    pub(super) best: Vec<usize>,
    /// The number of the user's words that the best items match.
    pub(super) hits: usize,
    /// Words that match no item.
    pub(super) missing: Vec<String>,
}

/// Returns the folded words of an item.
pub(super) fn words_of(thing: &Thing, item: &Value) -> Vec<String> {
    let mut found = Vec::new();
    thing.words.iter().for_each(|pointer| values::texts(item, pointer, &mut found));
    found.iter().flat_map(|text| folded_words(text)).collect()
}

/// Whether a word of the user matches one of an item's words.
pub(super) fn fits_item(pack: &Pack, word: &str, words: &[String]) -> bool {
    let meant = pack.canonical_word(word);
    words.iter().any(|known| {
        same_word(word, known)
            || same_word(meant, known)
            || same_word(meant, pack.canonical_word(known))
    })
}

/// Returns the items that match the most words.
pub(super) fn filter_best_matches(
    pack: &Pack,
    items: &[Vec<String>],
    words: &[String],
) -> Narrowed {
    let counts: Vec<usize> = items
        .iter()
        .map(|item| words.iter().filter(|word| fits_item(pack, word, item)).count())
        .collect();
    let hits = counts.iter().copied().max().unwrap_or(0);
    let best = (0..items.len()).filter(|&i| counts[i] == hits).collect();
    let missing = words
        .iter()
        .filter(|word| !items.iter().any(|item| fits_item(pack, word, item)))
        .cloned()
        .collect();
    Narrowed { best, hits, missing }
}

/// Whether a word belongs to the pack: a word of its subject area, an attribute, or a synonym.
pub(super) fn is_known(pack: &Pack, word: &str) -> bool {
    let meant = pack.canonical_word(word);
    meant != word || pack.is_vocabulary(word) || pack.is_attribute(meant)
}

/// Returns the search words that neither the pack nor any of the found items knows, and whether
/// another word names the kind of thing.
pub(super) fn words_without_item(
    pack: &Pack,
    thing: &Thing,
    query: &str,
    items: &[Value],
) -> (Vec<String>, bool) {
    let known: Vec<Vec<String>> = items.iter().map(|item| words_of(thing, item)).collect();
    let words: Vec<&str> = query.split(' ').filter(|word| word.chars().count() > 1).collect();
    let fits = |word: &str| known.iter().any(|item| fits_item(pack, word, item));
    let is_strange = |word: &&&str| {
        let folded = fold(word);
        let is_order = ORDERS.contains(&folded.as_str()) || UNITS.contains(&folded.as_str());
        folded.parse::<f64>().is_err() && !is_order && !is_known(pack, &folded) && !fits(&folded)
    };
    let names = |word: &&&str| {
        let folded = fold(word);
        let describes = pack.is_attribute(pack.canonical_word(&folded));
        folded.parse::<f64>().is_err() && !describes && !is_strange(word)
    };
    let is_absent = |word: &&&str| {
        word.parse::<u32>().is_ok_and(|number| !items.iter().any(|item| has_number(item, number)))
    };
    let unmatched = words.iter().filter(|word| is_strange(word) || is_absent(word));
    (unmatched.map(|word| (*word).to_owned()).collect(), words.iter().any(|word| names(&word)))
}

/// Whether a text of an item contains the number, such as a size, or a range that includes it
/// ("36-45").
fn has_number(item: &Value, number: u32) -> bool {
    match item {
        Value::String(text) => {
            let words = folded_words(text);
            let numbers: Vec<Option<u32>> = words.iter().map(|word| word.parse().ok()).collect();
            let is_range = |low: u32, high: u32| {
                ["-", "–"].iter().any(|dash| text.contains(&format!("{low}{dash}{high}")))
                    && (low..=high).contains(&number)
            };
            numbers.contains(&Some(number))
                || numbers.windows(2).any(|pair| match pair {
                    [Some(low), Some(high)] => is_range(*low, *high),
                    _ => false,
                })
        }
        Value::Array(items) => items.iter().any(|item| has_number(item, number)),
        Value::Object(members) => members.values().any(|item| has_number(item, number)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether the user's words contain all words of an item's name.
pub(super) fn is_named_in_full(pack: &Pack, item: &[String], words: &[String]) -> bool {
    item.len() >= 2
        && item.iter().all(|known| {
            words
                .iter()
                .any(|word| same_word(word, known) || same_word(pack.canonical_word(word), known))
        })
}
