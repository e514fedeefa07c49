//! Finds the parts of a result that a question is about, such as the variants "in size 44" of a
//! product. The module works on JSON results only.

use contract::manifest::{Find, Thing, ThingSource};
use serde_json::{Map, Value};

use super::{
    book::{Book, folded_words},
    goal::Goal,
    plan::list_in_result,
    state::SourceOf,
    things,
};

/// The words by which a question describes parts of a result, and the parts that match all of the
/// words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AskedParts {
    /// The words as typed.
    pub(super) words: String,
    pub(super) items: Vec<Value>,
}

impl Book {
    /// Returns the parts of a result that a question about one thing describes. Returns none if the
    /// question describes no parts or the result has none.
    pub(super) fn find_asked_parts(&self, goal: &Goal, result: &Value) -> Option<AskedParts> {
        let tool = &self.tools[goal.tool];
        let (_, parent, _) = tool.thing().filter(|_| !tool.is_write())?;
        if tool.intents[goal.intent].several {
            return None;
        }
        let pack = self.pack_of(goal.tool);
        let (described, source) = self.parts_of(goal.tool, parent)?;
        let items = list_in_result(result, source);
        let known: Vec<Vec<String>> =
            items.iter().map(|item| things::words_of(described, item)).collect();
        let whole = pack.thing(parent).map(|parent| things::words_of(parent, result))?;
        // A number that all parts have is that of the thing.
        let is_of_all = |word: &String| {
            known.len() > 1
                && !pack.describes(word)
                && known.iter().all(|own| things::fits_item(pack, word, own))
        };
        let tells = |word: &String| {
            (!is_of_all(word) && known.iter().any(|own| things::fits_item(pack, word, own)))
                || (pack.describes(word) && !things::fits_item(pack, word, &whole))
        };
        let words: Vec<String> = goal.target.words().into_iter().filter(tells).collect();
        if words.is_empty() || items.is_empty() {
            return None;
        }
        let fits = |own: &Vec<String>| words.iter().all(|word| things::fits_item(pack, word, own));
        let items = items.into_iter().zip(&known).filter(|(_, own)| fits(own));
        Some(AskedParts {
            items: items.map(|(item, _)| item).collect(),
            words: spell_as_typed(goal, &words),
        })
    }

    /// Returns the words of a question about a single thing that match neither the thing nor a part
    /// of it, such as "trek" in "how much are the Ridge Shell and the Ridge Trek" if only one was
    /// found.
    pub(super) fn find_words_without_thing(
        &self,
        goal: &Goal,
        args: &Map<String, Value>,
        result: &Value,
    ) -> Vec<String> {
        let tool = &self.tools[goal.tool];
        let pack = self.pack_of(goal.tool);
        let described = tool.thing().filter(|_| !tool.is_write());
        let Some(thing) = described.and_then(|(_, thing, _)| pack.thing(thing)) else {
            return Vec::new();
        };
        if tool.intents[goal.intent].several {
            return Vec::new();
        }
        let mut known = things::words_of(thing, result);
        if let Some((described, source)) =
            tool.thing().and_then(|(_, thing, _)| self.parts_of(goal.tool, thing))
        {
            let parts = list_in_result(result, source);
            known.extend(parts.iter().flat_map(|part| things::words_of(described, part)));
        }
        // A thing may be found by its id or number, which are no words that describe it.
        let named = words_in(result).into_iter();
        let is_number = |word: &String| word.chars().any(|letter| letter.is_ascii_digit());
        let sent = args.values().flat_map(words_in);
        let sent: Vec<String> = sent.chain(named.filter(is_number)).collect();
        let is_missing = |word: &String| {
            !sent.contains(word)
                && !pack.describes(word)
                && !pack.is_vocabulary(word)
                && !things::fits_item(pack, word, &known)
        };
        let missing: Vec<String> = goal.target.words().into_iter().filter(is_missing).collect();
        missing.iter().map(|word| spell_as_typed(goal, std::slice::from_ref(word))).collect()
    }

    /// Returns the kind of thing that a tool's result lists as parts of another thing.
    fn parts_of(&self, tool: usize, parent: &str) -> Option<(&Thing, &ThingSource)> {
        let pack = self.tools[tool].pack;
        self.packs[pack].offline.things.values().find_map(|thing| {
            let source = thing.source_of(self, pack, tool)?;
            let is_part =
                |find: &Find| matches!(find, Find::Thing { thing, .. } if thing == parent);
            source.find.as_ref().is_some_and(is_part).then_some((thing, source))
        })
    }
}

/// Returns the folded words of an argument or a result.
fn words_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => folded_words(text),
        Value::Number(number) => vec![number.to_string()],
        Value::Array(values) => values.iter().flat_map(words_in).collect(),
        Value::Object(members) => members.values().flat_map(words_in).collect(),
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

/// Returns words of a target as typed.
fn spell_as_typed(goal: &Goal, words: &[String]) -> String {
    let folded = goal.target.words();
    let typed = |word: &String| {
        let at = folded.iter().position(|own| own == word)?;
        goal.target.said.get(at).filter(|_| goal.target.said.len() == folded.len()).cloned()
    };
    let spelled: Vec<String> =
        words.iter().map(|word| typed(word).unwrap_or_else(|| word.clone())).collect();
    spelled.join(" ")
}
