//! Finds a thing inside another thing, such as a variant of a product, and keeps the available
//! items. `look` first finds the other thing.

use serde_json::{Map, Value};

use super::{
    goal::{Outcome, Planned, Why},
    history::End,
    look::{Looking, question_outcome},
    plan::{Found, Run, list_in_result},
    template, things, values,
};

impl Run<'_> {
    /// Finds a thing inside another thing, such as a variant of a product. The other thing is found
    /// first.
    pub(super) fn find_in_parent(
        &self,
        looking: &Looking<'_>,
        parameter: &str,
        parent: &str,
        field: &str,
    ) -> Found {
        let target = &looking.goal.target;
        let pack = &self.book.packs[looking.pack];
        let shown = self.shown_things(looking.pack, looking.thing);
        let words = target.words();
        if target.pronoun && words.is_empty() && !target.is_place() && !target.all {
            let newest = self.state.focus.iter().find(|(pack, ..)| *pack == looking.pack);
            if let Some((_, _, item)) = newest.filter(|(_, thing, _)| thing == looking.thing) {
                return Found::One(item.clone());
            }
        }
        let only_described = !words.is_empty() && words.iter().all(|word| pack.describes(word));
        if only_described && !shown.is_empty() && !target.is_place() {
            return self.keep_available(looking, shown, &words);
        }
        let item = match self.find_one(looking.pack, parent, looking.goal, looking.for_write) {
            Found::One(item) => item,
            other => return other,
        };
        let mut args = Map::new();
        values::set(&mut args, parameter, item.pointer(field).cloned().unwrap_or(Value::Null));
        let Some(done) = self.result_of_call(looking.tool, &args) else {
            return Found::Calls(vec![Planned { tool: looking.tool, args }]);
        };
        let value = match &done.end {
            End::Ok(value) => value,
            End::Failed(failure) => {
                return Found::Done(Outcome::Failed { failure: failure.clone() });
            }
        };
        let parent_words =
            pack.thing(parent).map(|parent| things::words_of(parent, &item)).unwrap_or_default();
        let parent_words: Vec<String> = parent_words
            .into_iter()
            .chain(
                pack.thing(parent)
                    .map(|parent| things::words_of(parent, value))
                    .unwrap_or_default(),
            )
            .collect();
        let own = list_in_result(value, looking.source);
        let own_words: Vec<Vec<String>> =
            own.iter().map(|item| things::words_of(looking.described, item)).collect();
        // Words about the parent do not select among its parts, unless a part has the same word
        // ("black").
        let telling: Vec<String> = words
            .into_iter()
            .filter(|word| {
                own_words.iter().any(|own| things::fits_item(pack, word, own))
                    || (pack.describes(word) && !things::fits_item(pack, word, &parent_words))
            })
            .collect();
        self.keep_available(looking, own, &telling)
    }

    /// Keeps the items that match the words and are available.
    fn keep_available(&self, looking: &Looking<'_>, items: Vec<Value>, words: &[String]) -> Found {
        let pack = &self.book.packs[looking.pack];
        if items.is_empty() {
            return Found::Done(Outcome::Nothing {
                thing: looking.thing.to_owned(),
                words: words.to_vec(),
            });
        }
        let known: Vec<Vec<String>> =
            items.iter().map(|item| things::words_of(looking.described, item)).collect();
        let found = things::filter_best_matches(pack, &known, words);
        let usable = |item: &&Value| {
            !looking.for_write
                || template::evaluate_condition(looking.described.usable.as_deref(), item)
        };
        let can_be_had: Vec<Value> = items.iter().filter(usable).cloned().collect();
        if can_be_had.is_empty() {
            return Found::Done(Outcome::Unusable { thing: looking.thing.to_owned(), items });
        }
        if found.hits < words.len() {
            let best: Vec<Value> =
                found.best.iter().map(|&i| items[i].clone()).filter(|item| usable(&item)).collect();
            let offer = if found.hits == 0 || best.is_empty() { can_be_had } else { best };
            let missing = if found.missing.is_empty() { words.to_vec() } else { found.missing };
            return Found::Done(question_outcome(
                looking.pack,
                looking.thing,
                offer,
                Why::NoneFits(missing),
                false,
            ));
        }
        let meant: Vec<Value> = found.best.iter().map(|&i| items[i].clone()).collect();
        let (left, gone): (Vec<Value>, Vec<Value>) =
            meant.iter().cloned().partition(|item| usable(&item));
        match &left[..] {
            [] => Found::Done(question_outcome(
                looking.pack,
                looking.thing,
                can_be_had,
                Why::Unusable(meant),
                false,
            )),
            [only] => Found::One(only.clone()),
            _ => Found::Done(question_outcome(
                looking.pack,
                looking.thing,
                left,
                if gone.is_empty() { Why::Several } else { Why::SomeUnusable(gone) },
                false,
            )),
        }
    }
}
