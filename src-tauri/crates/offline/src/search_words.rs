//! Chooses the words of a search: the words that describe the wanted thing, in the spelling of the
//! pack's data. The search itself is a call of the tool.

use contract::manifest::SlotKind;
use language::{Token, fold};
use serde_json::{Map, Value, json};

use super::{
    facts::Facts,
    goal::{Doubt, Goal},
    reader::Reader,
    things, values,
};

/// Sets the search words if the tool takes search words.
pub(super) fn set_search_words(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    taken: &[usize],
    goal: &mut Goal,
) {
    let Some(slot) =
        reader.book.tools[goal.tool].slots.iter().find(|slot| matches!(slot.kind, SlotKind::Words))
    else {
        return;
    };
    let pack = reader.book.pack_of(goal.tool);
    // Arguments of a change keep their spelling.
    let writes = reader.book.tools[goal.tool].is_write();
    let words: Vec<String> = facts
        .unused_content_words(tokens, taken, reader.book.tools[goal.tool].pack)
        .into_iter()
        .filter(|&i| tokens[i].part || !pack.is_ignored(&tokens[i].norm))
        .map(|i| if writes { tokens[i].raw.clone() } else { query_word(pack, &tokens[i]) })
        .take(6)
        .collect();
    if writes && !words.is_empty() {
        goal.args.insert(slot.parameter.clone(), json!(words.join(" ")));
    } else if !words.is_empty() {
        // Handles "do you have it in large" when no thing was mentioned before.
        let describes = |word: &String| pack.is_attribute(pack.canonical_word(&fold(word)));
        if facts.pronoun
            && words.iter().all(describes)
            && reader.state.last_args(goal.tool).is_none()
        {
            goal.doubt = Some(Doubt::Missing(slot.parameter.clone()));
            return;
        }
        let words = complete_description(reader, goal.tool, &slot.parameter, words);
        goal.args.insert(slot.parameter.clone(), json!(words.join(" ")));
    }
}

/// Completes a search that only contains a description, such as "the grey ones" or "and in 43?",
/// with the kind of thing that was last searched for.
pub(super) fn complete_description(
    reader: &Reader<'_>,
    tool: usize,
    parameter: &str,
    words: Vec<String>,
) -> Vec<String> {
    let pack = reader.book.pack_of(tool);
    let describes = |word: &str| {
        pack.is_attribute(pack.canonical_word(&fold(word))) || word.parse::<u32>().is_ok()
    };
    let earlier = reader
        .state
        .last_args(tool)
        .and_then(|args| values::get(args, parameter))
        .and_then(Value::as_str);
    let Some(earlier) = earlier.filter(|_| words.iter().all(|word| describes(word))) else {
        return words;
    };
    let number = |word: &str| word.parse::<u32>().is_ok();
    let kept = earlier
        .split(' ')
        .filter(|old| !describes(old) || !words.iter().any(|new| number(new) == number(old)));
    words.iter().cloned().chain(kept.map(str::to_owned)).collect()
}

/// Returns a word of a query. Number words above one become digits, as in product descriptions:
/// "two person".
fn query_word(pack: &super::book::Pack, token: &Token) -> String {
    match language::numbers::cardinal(&token.norm).filter(|number| *number > 1) {
        Some(number) => number.to_string(),
        None => search_word(pack, token),
    }
}

/// Returns a search word with its diacritics, unless the word was corrected.
pub(super) fn search_word(pack: &super::book::Pack, token: &Token) -> String {
    let word = typed_word(pack, token);
    let typed = token.raw.to_lowercase();
    if fold(&typed) == word && typed.chars().all(char::is_alphanumeric) {
        typed
    } else {
        word.to_owned()
    }
}

/// Returns a word as typed, or the pack's word to which it was corrected.
pub(super) fn typed_word<'a>(pack: &super::book::Pack, token: &'a Token) -> &'a str {
    let of_the_field = pack.is_vocabulary(&token.norm)
        || pack.is_attribute(pack.canonical_word(&token.norm))
        || pack.canonical_word(&token.norm) != token.norm;
    if of_the_field { &token.norm } else { &token.fold }
}

/// Whether a search has the same subject as the last search: its words only describe or repeat the
/// subject, or there are no words. Limits of one subject do not apply to another.
pub(super) fn has_same_subject(
    reader: &Reader<'_>,
    goal: &Goal,
    earlier: &Map<String, Value>,
) -> bool {
    let Some(slot) =
        reader.book.tools[goal.tool].slots.iter().find(|slot| matches!(slot.kind, SlotKind::Words))
    else {
        return true;
    };
    let words = |args: &Map<String, Value>| -> Vec<String> {
        values::get(args, &slot.parameter)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .split(' ')
            .map(fold)
            .filter(|word| !word.is_empty())
            .collect()
    };
    let (pack, known) = (reader.book.pack_of(goal.tool), words(earlier));
    let describes =
        |word: &String| pack.is_attribute(pack.canonical_word(word)) || word.parse::<u32>().is_ok();
    let wanted = words(&goal.args);
    wanted.iter().all(describes)
        || wanted.iter().any(|word| !describes(word) && things::fits_item(pack, word, &known))
}
