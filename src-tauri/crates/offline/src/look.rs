//! Finds the thing that a goal is about: by words, by a list position, inside another thing, or
//! among all things of a kind. A write gets a thing only if the words match no other thing;
//! otherwise the user is asked.

use contract::manifest::{Find, Ranking, SlotKind, Thing, ThingSource};
use serde_json::{Map, Value, json};

use super::{
    facts::Position,
    goal::{Doubt, Goal, Listing, Outcome, Planned, Why},
    history::End,
    plan::{Found, Run, is_partial, list_in_result},
    ranking, resume,
    state::SourceOf,
    things, values,
};

/// The thing to find, and the tool that finds it.
pub(super) struct Looking<'a> {
    pub(super) pack: usize,
    pub(super) thing: &'a str,
    pub(super) described: &'a Thing,
    pub(super) source: &'a ThingSource,
    pub(super) tool: usize,
    pub(super) goal: &'a Goal,
    pub(super) for_write: bool,
}

/// Returns the words of an item's name, which is its first text.
fn name_words(described: &Thing, item: &Value) -> Vec<String> {
    let mut found = Vec::new();
    described
        .words
        .first()
        .into_iter()
        .for_each(|pointer| values::texts(item, pointer, &mut found));
    found.iter().flat_map(|text| super::book::folded_words(text)).collect()
}

impl Run<'_> {
    /// Finds a thing like `find`, but takes the best of several matches, which is sufficient for a
    /// read.
    pub(super) fn find_any(&self, pack: usize, thing: &str, goal: &Goal, for_write: bool) -> Found {
        match self.find_one(pack, thing, goal, for_write) {
            Found::Done(Outcome::Ask {
                listing,
                why: Why::Several | Why::SomeUnusable(_) | Why::Confirm,
            }) if !goal.target.groups.is_empty() => match listing.items.into_iter().next() {
                Some(item) => Found::One(item),
                None => Found::Calls(Vec::new()),
            },
            found => found,
        }
    }

    /// Finds the only thing that a goal is about.
    pub(super) fn find_one(&self, pack: usize, thing: &str, goal: &Goal, for_write: bool) -> Found {
        if let Some((_, item)) = goal.chosen.iter().rev().find(|(kind, _)| kind == thing) {
            return Found::One(item.clone());
        }
        let Some(described) = self.book.packs[pack].thing(thing) else {
            return Found::Done(Outcome::Nothing {
                thing: thing.to_owned(),
                words: goal.target.words(),
            });
        };
        if let Some(listing) = resume::cut_list(goal, pack, thing) {
            return Found::Done(Outcome::Ask { listing, why: Why::Several });
        }
        if let Some(place) = goal.target.places.first()
            && let Some(listing) = self.list_of_place(pack, thing, described)
        {
            return if goal.target.open {
                Found::Done(Outcome::Ask { listing: listing.clone(), why: Why::Several })
            } else {
                self.find_at_place(listing, *place)
            };
        }
        let Some((source, tool, find)) = described.sources.iter().find_map(|source| {
            Some((source, self.book.tool_by_id(pack, &source.tool)?, source.find.as_ref()?))
        }) else {
            return Found::Done(Outcome::Nothing {
                thing: thing.to_owned(),
                words: goal.target.words(),
            });
        };
        let looking = Looking { pack, thing, described, source, tool, goal, for_write };
        match find {
            Find::Words { parameter } => self.find_by_words(&looking, parameter),
            Find::All => self.find_in_whole_list(&looking),
            Find::Thing { parameter, thing: parent, field } => {
                self.find_in_parent(&looking, parameter, parent, field)
            }
        }
    }

    /// Returns the list of this kind to which a position refers. Returns none if the things are
    /// lines of a whole, such as a cart, and a newer list of another kind was shown.
    fn list_of_place(&self, pack: usize, thing: &str, described: &Thing) -> Option<&Listing> {
        let is_line = described.sources.iter().any(|source| matches!(source.find, Some(Find::All)));
        let newer = self.state.newest_list(pack).is_some_and(|newest| newest.thing != thing);
        self.state.list_of_thing(pack, thing).filter(|_| !(is_line && newer))
    }

    fn find_at_place(&self, listing: &Listing, place: Position) -> Found {
        match listing.item_at(place) {
            Some(item) => Found::One(item.clone()),
            None => Found::Done(Outcome::Ask {
                listing: listing.clone(),
                why: Why::OutOfRange(listing.place_number(place)),
            }),
        }
    }

    /// Finds a thing by a search with the user's words, or among the shown things.
    fn find_by_words(&self, looking: &Looking<'_>, parameter: &str) -> Found {
        let words = looking.goal.target.words();
        let pack = &self.book.packs[looking.pack];
        let shown = self.shown_things(looking.pack, looking.thing);
        if (words.is_empty() || looking.goal.target.open)
            && let Some(place) = looking.goal.target.places.first()
        {
            // A number without a list does not refer to the thing that was last mentioned.
            let why = if let Position::Nth(place) = place {
                Why::OutOfRange(*place as usize)
            } else {
                Why::Several
            };
            return Found::Done(question_outcome(
                looking.pack,
                looking.thing,
                Vec::new(),
                why,
                false,
            ));
        }
        if let Some(ranking) = self.ranking_of(looking)
            && words.is_empty()
            && !shown.is_empty()
            && !self.is_list_partial(looking.pack, looking.thing)
        {
            let mut items = shown;
            ranking::sort(&mut items, ranking);
            let place = looking.goal.target.rank.unwrap_or(0);
            return items
                .into_iter()
                .nth(place)
                .map_or_else(|| self.nothing_found(looking, &words), Found::One);
        }
        if words.is_empty() && looking.goal.target.all && looking.for_write && shown.len() != 1 {
            // "Add them all" names no particular thing.
            return Found::Done(self.ask_about_shown(
                looking.pack,
                looking.thing,
                shown,
                Why::Several,
            ));
        }
        if words.is_empty() {
            return match (self.state.focus_of(looking.pack, looking.thing), &shown[..]) {
                (Some(item), _) => Found::One(item.clone()),
                (None, [only]) => Found::One(only.clone()),
                (None, _) => Found::Done(self.ask_about_shown(
                    looking.pack,
                    looking.thing,
                    shown,
                    Why::Several,
                )),
            };
        }
        if !shown.is_empty() && self.ranking_of(looking).is_none() {
            let items: Vec<Vec<String>> =
                shown.iter().map(|item| things::words_of(looking.described, item)).collect();
            let found = things::filter_best_matches(pack, &items, &words);
            let only_described = words.iter().all(|word| {
                pack.is_attribute(pack.canonical_word(word)) || word.parse::<u32>().is_ok()
            });
            if found.hits == words.len() && (found.best.len() == 1 || only_described) {
                let best: Vec<Value> = found.best.iter().map(|&i| shown[i].clone()).collect();
                return self.choose_item(
                    looking,
                    best,
                    Why::Several,
                    self.is_list_partial(looking.pack, looking.thing),
                );
            }
        }
        if let Some(item) = self.state.focus_of(looking.pack, looking.thing)
            && words.iter().all(|word| {
                !pack.is_vocabulary(word)
                    && (pack.is_attribute(pack.canonical_word(word)) || word.parse::<u32>().is_ok())
            })
        {
            return Found::One(item.clone());
        }
        let describes = |word: &String| pack.is_attribute(pack.canonical_word(word));
        if looking.goal.target.pronoun && words.iter().all(describes) {
            // Handles "does it come in red" when no thing was mentioned before.
            let why = Why::Several;
            return Found::Done(self.ask_about_shown(looking.pack, looking.thing, shown, why));
        }
        self.search_by_words(looking, parameter, &words)
    }

    /// Searches for a thing. If nothing is found, searches again with only the words that name the
    /// kind of thing.
    fn search_by_words(&self, looking: &Looking<'_>, parameter: &str, words: &[String]) -> Found {
        let pack = &self.book.packs[looking.pack];
        let described = |word: &String| {
            pack.is_attribute(pack.canonical_word(word)) || word.parse::<u32>().is_ok()
        };
        let plain: Vec<String> = words.iter().filter(|word| !described(word)).cloned().collect();
        let fewer: Vec<String> =
            words.iter().filter(|word| pack.is_vocabulary(word)).cloned().collect();
        let mut tried: Vec<Vec<String>> = Vec::new();
        for attempt in [words.to_vec(), plain, fewer] {
            if attempt.is_empty() || tried.contains(&attempt) || tried.len() == 2 {
                continue;
            }
            let mut args = Map::new();
            let ranking = self.ranking_of(looking);
            ranking.into_iter().for_each(|ranking| ranking::set_arguments(ranking, &mut args));
            values::set(&mut args, parameter, json!(attempt.join(" ")));
            let Some(done) = self.result_of_call(looking.tool, &args) else {
                return Found::Calls(vec![Planned { tool: looking.tool, args }]);
            };
            let value = match &done.end {
                End::Ok(value) => value,
                End::Failed(failure) => {
                    return Found::Done(Outcome::Failed { failure: failure.clone() });
                }
            };
            let items = list_in_result(value, looking.source);
            if let Some(ranking) = ranking
                && !items.is_empty()
            {
                if is_partial(looking.source, value) {
                    return Found::Done(Outcome::Doubt(Doubt::Unranked));
                }
                return self.choose_by_rank(looking, ranking, items, words, attempt == words);
            }
            if !items.is_empty() {
                return self.choose_among_found(
                    looking,
                    items,
                    words,
                    attempt == words,
                    is_partial(looking.source, value),
                );
            }
            tried.push(attempt);
        }
        Found::Done(Outcome::Nothing { thing: looking.thing.to_owned(), words: words.to_vec() })
    }

    /// Returns the order from which a thing is chosen.
    fn ranking_of<'a>(&self, looking: &Looking<'a>) -> Option<&'a Ranking> {
        let ranked =
            looking.goal.ranking.as_ref().filter(|ranked| ranked.thing == looking.thing)?;
        let several = self.book.tools[looking.goal.tool].intents[looking.goal.intent].several;
        let is_meant = !several || looking.goal.target.rank.is_some();
        looking.described.rankings.get(ranked.index).filter(|_| is_meant)
    }

    /// Chooses the thing at its position in the order: among all things found by the words
    /// `as_said`, or otherwise among the things that match the most words.
    fn choose_by_rank(
        &self,
        looking: &Looking<'_>,
        ranking: &Ranking,
        mut items: Vec<Value>,
        words: &[String],
        as_said: bool,
    ) -> Found {
        if !as_said {
            let pack = &self.book.packs[looking.pack];
            let known: Vec<Vec<String>> =
                items.iter().map(|item| things::words_of(looking.described, item)).collect();
            let best = things::filter_best_matches(pack, &known, words).best;
            items = best.into_iter().map(|i| items[i].clone()).collect();
        }
        ranking::sort(&mut items, ranking);
        let place = looking.goal.target.rank.unwrap_or(0);
        items.into_iter().nth(place).map_or_else(|| self.nothing_found(looking, words), Found::One)
    }

    fn nothing_found(&self, looking: &Looking<'_>, words: &[String]) -> Found {
        Found::Done(Outcome::Nothing { thing: looking.thing.to_owned(), words: words.to_vec() })
    }

    fn choose_among_found(
        &self,
        looking: &Looking<'_>,
        items: Vec<Value>,
        words: &[String],
        as_said: bool,
        partial: bool,
    ) -> Found {
        let pack = &self.book.packs[looking.pack];
        let known: Vec<Vec<String>> =
            items.iter().map(|item| things::words_of(looking.described, item)).collect();
        let named: Vec<usize> = (0..items.len())
            .filter(|&i| {
                things::is_named_in_full(pack, &name_words(looking.described, &items[i]), words)
            })
            .collect();
        if let [only] = named[..] {
            return Found::One(items[only].clone());
        }
        let found = things::filter_best_matches(pack, &known, words);
        let best: Vec<Value> = found.best.iter().map(|&i| items[i].clone()).collect();
        let essential = words.iter().filter(|word| {
            !pack.is_attribute(pack.canonical_word(word)) && word.parse::<u32>().is_err()
        });
        let fits =
            |word: &&String| found.best.iter().any(|&i| things::fits_item(pack, word, &known[i]));
        let missing: Vec<String> = essential.filter(|word| !fits(word)).cloned().collect();
        // If neither the pack nor any of the things knows a word, another thing is meant.
        let strange: Vec<String> =
            missing.iter().filter(|word| !things::is_known(pack, word)).cloned().collect();
        if !strange.is_empty() && (best.len() > 1 || !looking.for_write) {
            let why = if best.len() > 1 { Why::NoneFits(strange) } else { Why::Confirm };
            return Found::Done(question_outcome(looking.pack, looking.thing, best, why, partial));
        }
        let sure = as_said && missing.is_empty();
        self.choose_item(looking, best, if sure { Why::Several } else { Why::Confirm }, partial)
    }

    /// Chooses one of the items. `partial` says whether there may be further items.
    fn choose_item(
        &self,
        looking: &Looking<'_>,
        mut items: Vec<Value>,
        why: Why,
        partial: bool,
    ) -> Found {
        if items.len() == 1 && (why == Why::Several || !looking.for_write) {
            return Found::One(items.remove(0));
        }
        let why = if items.len() > 1 && why == Why::Confirm { Why::Several } else { why };
        Found::Done(question_outcome(looking.pack, looking.thing, items, why, partial))
    }

    /// Finds a thing in a list that is always read as a whole, such as the lines of a cart.
    fn find_in_whole_list(&self, looking: &Looking<'_>) -> Found {
        let ask = |items, why| {
            Found::Done(question_outcome(looking.pack, looking.thing, items, why, false))
        };
        let args = Map::new();
        let Some(done) = self.result_of_call(looking.tool, &args) else {
            return Found::Calls(vec![Planned { tool: looking.tool, args }]);
        };
        let value = match &done.end {
            End::Ok(value) => value,
            End::Failed(failure) => {
                return Found::Done(Outcome::Failed { failure: failure.clone() });
            }
        };
        let items = list_in_result(value, looking.source);
        let words = looking.goal.target.words();
        if items.is_empty() {
            return Found::Done(Outcome::Nothing { thing: looking.thing.to_owned(), words });
        }
        let target = &looking.goal.target;
        if target.open {
            return ask(items, Why::Several);
        }
        if let Some(place) = target.places.first() {
            // The position refers to another list that was shown before. The item from that list is
            // looked up in this list.
            let shown = self.state.newest_list(looking.pack);
            let index = match place {
                Position::Nth(place) => (*place as usize).checked_sub(1),
                Position::Last => shown.map(|list| list.shown_items().len().saturating_sub(1)),
            };
            let Some(listing) = shown else {
                return ask(items, Why::Several);
            };
            let meant = index.and_then(|i| listing.shown_items().get(i));
            let same: Vec<Value> = items
                .iter()
                .filter(|item| {
                    meant.is_some_and(|meant| self.is_part_of(looking.described, item, meant))
                })
                .cloned()
                .collect();
            return if same.len() == 1 {
                self.choose_item(looking, same, Why::Several, false)
            } else {
                ask(items, Why::Several)
            };
        }
        if words.is_empty() {
            // Without "it" or a number ("change to 3"), no item is named, so the user is asked to
            // choose.
            let points = target.pronoun || self.has_quantity(looking.goal);
            if (target.all || !points) && (items.len() > 1 || looking.for_write) {
                let why = if items.len() == 1 { Why::Confirm } else { Why::Several };
                return ask(items, why);
            }
            let newest = self
                .state
                .focus
                .iter()
                .find(|(pack, ..)| *pack == looking.pack)
                .map(|(.., item)| item);
            let same: Vec<Value> = items
                .iter()
                .filter(|item| {
                    newest.is_some_and(|seen| self.is_part_of(looking.described, item, seen))
                })
                .cloned()
                .collect();
            return match (&same[..], &items[..]) {
                ([only], _) | ([], [only]) if newest.is_none() || !same.is_empty() => {
                    Found::One(only.clone())
                }
                _ => ask(items, Why::Several),
            };
        }
        let pack = &self.book.packs[looking.pack];
        let known: Vec<Vec<String>> =
            items.iter().map(|item| self.words_of_item(looking, item)).collect();
        let found = things::filter_best_matches(pack, &known, &words);
        if found.hits == 0 {
            return ask(items, Why::NoneFits(words));
        }
        let best: Vec<Value> = found.best.iter().map(|&i| items[i].clone()).collect();
        self.choose_item(
            looking,
            best,
            if found.missing.is_empty() { Why::Several } else { Why::Confirm },
            false,
        )
    }

    /// Returns an item's own words and the words of the earlier shown thing to which the item
    /// belongs.
    fn words_of_item(&self, looking: &Looking<'_>, item: &Value) -> Vec<String> {
        let mut words = things::words_of(looking.described, item);
        for done in self.state.calls.iter().chain(self.done) {
            let (Some(value), tool) = (done.successful_result(), &self.book.tools[done.tool])
            else {
                continue;
            };
            if tool.pack != looking.pack
                || tool.is_write()
                || !self.is_part_of(looking.described, item, value)
            {
                continue;
            }
            for thing in self.book.packs[tool.pack].offline.things.values() {
                if thing
                    .source_of(self.book, tool.pack, done.tool)
                    .is_some_and(|source| source.list.is_empty() && !source.or_self)
                {
                    words.extend(things::words_of(thing, value));
                }
            }
        }
        words
    }

    fn has_quantity(&self, goal: &Goal) -> bool {
        self.book.tools[goal.tool].slots.iter().any(|slot| {
            matches!(slot.kind, SlotKind::Quantity) && goal.args.contains_key(&slot.parameter)
        })
    }

    fn is_part_of(&self, described: &Thing, item: &Value, whole: &Value) -> bool {
        item.pointer(&described.id)
            .and_then(values::as_text)
            .is_some_and(|id| values::contains(whole, &id))
    }

    /// Asks the user to choose among the items of the shown list.
    pub(super) fn ask_about_shown(
        &self,
        pack: usize,
        thing: &str,
        items: Vec<Value>,
        why: Why,
    ) -> Outcome {
        question_outcome(pack, thing, items, why, self.is_list_partial(pack, thing))
    }

    fn is_list_partial(&self, pack: usize, thing: &str) -> bool {
        self.state.list_of_thing(pack, thing).is_some_and(|listing| listing.partial)
    }
}

pub(super) fn question_outcome(
    pack: usize,
    thing: &str,
    items: Vec<Value>,
    why: Why,
    partial: bool,
) -> Outcome {
    let mut listing = Listing::new(pack, thing, items);
    listing.partial = partial;
    Outcome::Ask { listing, why }
}
