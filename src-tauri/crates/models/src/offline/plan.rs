//! From a goal to its next step: which call is missing, what must be asked, or what came of it. A write is planned only
//! when exactly one usable thing is meant. Steps are found by looking at the results there are, so nothing is remembered.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use contract::manifest::{Find, SlotKind, Thing, ThingSource};
use serde_json::{Map, Value, json};

use super::{
    book::{Book, Tool},
    facts::Place,
    goal::{Goal, Listing, Outcome, Planned, Step, Target, Why},
    history::{Done, End},
    resume,
    state::{SourceOf, State},
    template, things, values,
};

/// How long a result answers follow-ups.
const FRESH_MINUTES: i64 = 15;

/// One turn being planned.
pub(super) struct Run<'a> {
    pub(super) book: &'a Book,
    pub(super) state: &'a State,
    /// The calls of this turn so far.
    pub(super) done: &'a [Done],
    /// Names of the tools offered; `None` when an earlier turn is planned again.
    pub(super) offered: Option<HashSet<&'a str>>,
    pub(super) now: DateTime<Utc>,
}

/// What looking for a thing leads to.
enum Found {
    One(Value),
    Calls(Vec<Planned>),
    Done(Outcome),
}

impl Run<'_> {
    /// The next step of every goal. While an earlier change in its pack is not finished, a later goal may look things up
    /// that the change cannot touch, and nothing else.
    pub(super) fn steps(&self, goals: &[Goal]) -> Vec<Step> {
        let mut steps = Vec::with_capacity(goals.len());
        let mut changing: HashSet<usize> = HashSet::new();
        let mut writes: Vec<usize> = Vec::new();
        for goal in goals {
            let tool = &self.book.tools[goal.tool];
            let waits = changing.contains(&tool.pack);
            if waits && !tool.writes() {
                steps.push(Step::Calls(Vec::new()));
                continue;
            }
            let earlier = writes.iter().filter(|&&write| write == goal.tool).count();
            let mut step = self.step(goal, earlier);
            if let Step::Calls(calls) = &mut step
                && waits
            {
                calls.retain(|call| !self.book.tools[call.tool].writes() && !call.args.is_empty());
            }
            if tool.writes() {
                writes.push(goal.tool);
                if matches!(step, Step::Calls(_)) {
                    changing.insert(tool.pack);
                }
            }
            steps.push(step);
        }
        steps
    }

    fn step(&self, goal: &Goal, earlier_writes: usize) -> Step {
        if let Some(doubt) = &goal.doubt {
            return Step::Done(Outcome::Doubt(doubt.clone()));
        }
        let tool = &self.book.tools[goal.tool];
        // A change that was made, refused or edited in this turn is not proposed a second time.
        if tool.writes()
            && let Some(done) = self.done.iter().filter(|done| done.tool == goal.tool).nth(earlier_writes)
        {
            return Step::Done(outcome(done));
        }
        let Some((slot, thing, field)) = tool.thing() else {
            return self.call(goal, goal.args.clone());
        };
        if tool.intents[goal.intent].intent.several {
            return self.several(goal, tool, thing, &slot.parameter, field);
        }
        match self.find(tool.pack, thing, goal, tool.writes()) {
            Found::One(item) => {
                let Some(value) = item.pointer(field).filter(|value| !value.is_null()) else {
                    return Step::Done(Outcome::Nothing { thing: thing.to_owned(), words: goal.target.words() });
                };
                let mut args = goal.args.clone();
                values::set(&mut args, &slot.parameter, value.clone());
                self.call(goal, args)
            }
            Found::Calls(calls) => self.planned(calls),
            Found::Done(outcome) => Step::Done(outcome),
        }
    }

    /// One call each for at least two things.
    fn several(&self, goal: &Goal, tool: &Tool, thing: &str, parameter: &str, field: &str) -> Step {
        let mut items: Vec<Value> = Vec::new();
        let mut calls = Vec::new();
        for target in self.targets(tool.pack, thing, &goal.target) {
            let single = Goal { target, ..goal.clone() };
            match self.find_some(tool.pack, thing, &single, false) {
                Found::One(item) => items.push(item),
                Found::Calls(more) => calls.extend(more),
                Found::Done(outcome) => return Step::Done(outcome),
            }
        }
        if !calls.is_empty() {
            return self.planned(calls);
        }
        items.dedup();
        items.truncate(3);
        if items.len() < 2 {
            return Step::Done(self.ask(tool.pack, thing, self.shown(tool.pack, thing), Why::Several));
        }
        let mut results = Vec::new();
        for item in &items {
            let mut args = goal.args.clone();
            values::set(&mut args, parameter, item.pointer(field).cloned().unwrap_or(Value::Null));
            match self.result(goal.tool, &args) {
                Some(done) => match &done.end {
                    End::Ok(value) => results.push((**value).clone()),
                    End::Failed(failure) => return Step::Done(Outcome::Failed { failure: failure.clone() }),
                },
                None => calls.push(Planned { tool: goal.tool, args }),
            }
        }
        if calls.is_empty() { Step::Done(Outcome::Answer { args: goal.args.clone(), results, as_of: false }) } else { self.planned(calls) }
    }

    /// The single things that a request for several means.
    fn targets(&self, pack: usize, thing: &str, target: &Target) -> Vec<Target> {
        let shown = self.shown(pack, thing).len();
        let one = |place| Target { places: vec![place], ..Target::default() };
        if let Some(count) = target.first {
            return (1..=count).map(|place| one(Place::Nth(place))).collect();
        }
        let mut targets: Vec<Target> = target.places.iter().map(|place| one(*place)).collect();
        targets.extend(target.groups.iter().map(|words| Target { groups: vec![words.clone()], ..Target::default() }));
        if targets.len() < 2 && (target.all || target.pronoun || targets.is_empty()) && shown >= 2 {
            return (1..=u32::try_from(shown.min(3)).unwrap_or(3)).map(|place| one(Place::Nth(place))).collect();
        }
        targets
    }

    fn shown(&self, pack: usize, thing: &str) -> Vec<Value> {
        self.state.listing.as_ref().filter(|listing| listing.pack == pack && listing.thing == thing).map(|listing| listing.items.clone()).unwrap_or_default()
    }

    /// Makes the call, or reads its result.
    fn call(&self, goal: &Goal, args: Map<String, Value>) -> Step {
        if let Some(done) = self.result(goal.tool, &args) {
            return Step::Done(outcome(done));
        }
        if goal.may_reuse && let Some(value) = self.fresh(goal.tool, &args) {
            return Step::Done(Outcome::Answer { args, results: vec![value], as_of: true });
        }
        self.planned(vec![Planned { tool: goal.tool, args }])
    }

    fn planned(&self, calls: Vec<Planned>) -> Step {
        let Some(offered) = &self.offered else { return Step::Calls(calls) };
        if offered.is_empty() {
            return Step::Done(Outcome::Unfinished);
        }
        if calls.iter().any(|call| !offered.contains(self.book.tools[call.tool].spec.model_name.as_str())) {
            return Step::Done(Outcome::NotOffered);
        }
        Step::Calls(calls)
    }

    fn result(&self, tool: usize, args: &Map<String, Value>) -> Option<&Done> {
        self.done.iter().find(|done| done.tool == tool && done.args == *args)
    }

    /// An earlier result of the same call that still holds.
    fn fresh(&self, tool: usize, args: &Map<String, Value>) -> Option<Value> {
        let pointer = self.book.tools[tool].as_of.as_ref()?;
        let done = self.state.last_call(tool).filter(|done| done.args == *args)?;
        let value = done.ok()?;
        let at = DateTime::parse_from_rfc3339(value.pointer(pointer)?.as_str()?).ok()?;
        let age = self.now.signed_duration_since(at).num_minutes();
        (0..=FRESH_MINUTES).contains(&age).then(|| value.clone())
    }

    /// Like `find`, but takes the best of several: good enough to read about.
    fn find_some(&self, pack: usize, thing: &str, goal: &Goal, for_write: bool) -> Found {
        match self.find(pack, thing, goal, for_write) {
            Found::Done(Outcome::Ask { listing, why: Why::Several | Why::Confirm }) if !goal.target.groups.is_empty() => match listing.items.into_iter().next() {
                Some(item) => Found::One(item),
                None => Found::Calls(Vec::new()),
            },
            found => found,
        }
    }

    /// The one thing that a goal means.
    fn find(&self, pack: usize, thing: &str, goal: &Goal, for_write: bool) -> Found {
        if let Some((_, item)) = goal.chosen.iter().rev().find(|(kind, _)| kind == thing) {
            return Found::One(item.clone());
        }
        let Some(described) = self.book.packs[pack].thing(thing) else {
            return Found::Done(Outcome::Nothing { thing: thing.to_owned(), words: goal.target.words() });
        };
        if let Some(listing) = resume::cut_list(goal, pack, thing) {
            return Found::Done(Outcome::Ask { listing, why: Why::Several });
        }
        if let Some(place) = goal.target.places.first()
            && let Some(listing) = self.state.listing.as_ref().filter(|listing| listing.pack == pack && listing.thing == thing)
        {
            return self.at_place(listing, *place);
        }
        let Some((source, tool, find)) = described.sources.iter().find_map(|source| Some((source, self.book.tool_by_id(pack, &source.tool)?, source.find.as_ref()?))) else {
            return Found::Done(Outcome::Nothing { thing: thing.to_owned(), words: goal.target.words() });
        };
        let looking = Looking { pack, thing, described, source, tool, goal, for_write };
        match find {
            Find::Words { parameter } => self.by_words(&looking, parameter),
            Find::All => self.among_all(&looking),
            Find::Thing { parameter, thing: parent, field } => self.within(&looking, parameter, parent, field),
        }
    }

    fn at_place(&self, listing: &Listing, place: Place) -> Found {
        let index = match place {
            Place::Nth(place) => place as usize,
            Place::Last => listing.items.len(),
        };
        match index.checked_sub(1).and_then(|i| listing.items.get(i)) {
            Some(item) => Found::One(item.clone()),
            None => Found::Done(Outcome::Ask { listing: listing.clone(), why: Why::OutOfRange(index) }),
        }
    }

    /// Found by a search with the user's words, or among what was shown.
    fn by_words(&self, looking: &Looking<'_>, parameter: &str) -> Found {
        let words = looking.goal.target.words();
        let pack = &self.book.packs[looking.pack];
        let shown = self.shown(looking.pack, looking.thing);
        if words.is_empty() {
            return match (self.state.focused(looking.pack, looking.thing), &shown[..]) {
                (Some(item), _) => Found::One(item.clone()),
                (None, [only]) => Found::One(only.clone()),
                (None, _) => Found::Done(self.ask(looking.pack, looking.thing, shown, Why::Several)),
            };
        }
        if !shown.is_empty() {
            let items: Vec<Vec<String>> = shown.iter().map(|item| things::words_of(looking.described, item)).collect();
            let found = things::narrow(pack, &items, &words);
            let only_described = words.iter().all(|word| pack.is_attribute(pack.canonical(word)) || word.parse::<u32>().is_ok());
            if found.hits == words.len() && (found.best.len() == 1 || only_described) {
                let best: Vec<Value> = found.best.iter().map(|&i| shown[i].clone()).collect();
                return self.one_of(looking, best, Why::Several);
            }
        }
        if let Some(item) = self.state.focused(looking.pack, looking.thing)
            && words.iter().all(|word| !pack.is_vocabulary(word) && (pack.is_attribute(pack.canonical(word)) || word.parse::<u32>().is_ok()))
        {
            return Found::One(item.clone());
        }
        self.search(looking, parameter, &words)
    }

    /// Searches; when nothing is found, once more with the words that name the kind of thing.
    fn search(&self, looking: &Looking<'_>, parameter: &str, words: &[String]) -> Found {
        let pack = &self.book.packs[looking.pack];
        let described = |word: &String| pack.is_attribute(pack.canonical(word)) || word.parse::<u32>().is_ok();
        let plain: Vec<String> = words.iter().filter(|word| !described(word)).cloned().collect();
        let fewer: Vec<String> = words.iter().filter(|word| pack.is_vocabulary(word)).cloned().collect();
        let mut tried: Vec<Vec<String>> = Vec::new();
        for attempt in [words.to_vec(), plain, fewer] {
            if attempt.is_empty() || tried.contains(&attempt) || tried.len() == 2 {
                continue;
            }
            let mut args = Map::new();
            values::set(&mut args, parameter, json!(attempt.join(" ")));
            let Some(done) = self.result(looking.tool, &args) else {
                return Found::Calls(vec![Planned { tool: looking.tool, args }]);
            };
            let value = match &done.end {
                End::Ok(value) => value,
                End::Failed(failure) => return Found::Done(Outcome::Failed { failure: failure.clone() }),
            };
            let items = list(value, looking.source);
            if !items.is_empty() {
                return self.among_found(looking, items, words, attempt == words);
            }
            tried.push(attempt);
        }
        Found::Done(Outcome::Nothing { thing: looking.thing.to_owned(), words: words.to_vec() })
    }

    fn among_found(&self, looking: &Looking<'_>, items: Vec<Value>, words: &[String], as_said: bool) -> Found {
        let pack = &self.book.packs[looking.pack];
        let known: Vec<Vec<String>> = items.iter().map(|item| things::words_of(looking.described, item)).collect();
        let named: Vec<usize> = (0..items.len()).filter(|&i| things::is_named_in_full(pack, &name_words(looking.described, &items[i]), words)).collect();
        if let [only] = named[..] {
            return Found::One(items[only].clone());
        }
        let found = things::narrow(pack, &known, words);
        let best: Vec<Value> = found.best.iter().map(|&i| items[i].clone()).collect();
        let essential = words.iter().filter(|word| !pack.is_attribute(pack.canonical(word)) && word.parse::<u32>().is_err());
        let sure = as_said && essential.into_iter().all(|word| found.best.iter().any(|&i| things::fits(pack, word, &known[i])));
        self.one_of(looking, best, if sure { Why::Several } else { Why::Confirm })
    }

    fn one_of(&self, looking: &Looking<'_>, mut items: Vec<Value>, why: Why) -> Found {
        if items.len() == 1 && (why == Why::Several || !looking.for_write) {
            return Found::One(items.remove(0));
        }
        let why = if items.len() > 1 && why == Why::Confirm { Why::Several } else { why };
        Found::Done(self.ask(looking.pack, looking.thing, items, why))
    }

    /// Found in a list that is asked for as a whole, such as the lines of a cart.
    fn among_all(&self, looking: &Looking<'_>) -> Found {
        let args = Map::new();
        let Some(done) = self.result(looking.tool, &args) else {
            return Found::Calls(vec![Planned { tool: looking.tool, args }]);
        };
        let value = match &done.end {
            End::Ok(value) => value,
            End::Failed(failure) => return Found::Done(Outcome::Failed { failure: failure.clone() }),
        };
        let items = list(value, looking.source);
        let words = looking.goal.target.words();
        if items.is_empty() {
            return Found::Done(Outcome::Nothing { thing: looking.thing.to_owned(), words });
        }
        let target = &looking.goal.target;
        if let Some(place) = target.places.first() {
            // A place in another list that was shown before: the same item, looked up here.
            let shown = self.state.listing.as_ref().filter(|listing| listing.pack == looking.pack);
            let index = match place {
                Place::Nth(place) => (*place as usize).checked_sub(1),
                Place::Last => shown.map(|listing| listing.items.len().saturating_sub(1)),
            };
            let Some(listing) = shown else { return Found::Done(self.ask(looking.pack, looking.thing, items, Why::Several)) };
            let meant = index.and_then(|i| listing.items.get(i));
            let same: Vec<Value> = items.iter().filter(|item| meant.is_some_and(|meant| self.is_part_of(looking.described, item, meant))).cloned().collect();
            return if same.len() == 1 { self.one_of(looking, same, Why::Several) } else { Found::Done(self.ask(looking.pack, looking.thing, items, Why::Several)) };
        }
        if words.is_empty() {
            // Without "it" or a number ("change to 3") nothing says which one: the user chooses.
            let points = target.pronoun || self.counts(looking.goal);
            if (target.all || !points) && (items.len() > 1 || looking.for_write) {
                let why = if items.len() == 1 { Why::Confirm } else { Why::Several };
                return Found::Done(self.ask(looking.pack, looking.thing, items, why));
            }
            let newest = self.state.focus.iter().find(|(pack, ..)| *pack == looking.pack).map(|(.., item)| item);
            let same: Vec<Value> = items.iter().filter(|item| newest.is_some_and(|seen| self.is_part_of(looking.described, item, seen))).cloned().collect();
            return match (&same[..], &items[..]) {
                ([only], _) | ([], [only]) if newest.is_none() || !same.is_empty() => Found::One(only.clone()),
                _ => Found::Done(self.ask(looking.pack, looking.thing, items, Why::Several)),
            };
        }
        let pack = &self.book.packs[looking.pack];
        let known: Vec<Vec<String>> = items.iter().map(|item| self.all_words(looking, item)).collect();
        let found = things::narrow(pack, &known, &words);
        if found.hits == 0 {
            return Found::Done(self.ask(looking.pack, looking.thing, items, Why::NoneFits(words)));
        }
        let best: Vec<Value> = found.best.iter().map(|&i| items[i].clone()).collect();
        self.one_of(looking, best, if found.missing.is_empty() { Why::Several } else { Why::Confirm })
    }

    /// An item's own words and those of a thing seen earlier that it belongs to.
    fn all_words(&self, looking: &Looking<'_>, item: &Value) -> Vec<String> {
        let mut words = things::words_of(looking.described, item);
        for done in self.state.calls.iter().chain(self.done) {
            let (Some(value), tool) = (done.ok(), &self.book.tools[done.tool]) else { continue };
            if tool.pack != looking.pack || tool.writes() || !self.is_part_of(looking.described, item, value) {
                continue;
            }
            for thing in self.book.packs[tool.pack].offline.things.values() {
                if thing.source_of(self.book, tool.pack, done.tool).is_some_and(|source| source.list.is_empty() && !source.or_self) {
                    words.extend(things::words_of(thing, value));
                }
            }
        }
        words
    }

    fn counts(&self, goal: &Goal) -> bool {
        self.book.tools[goal.tool].slots.iter().any(|slot| matches!(slot.kind, SlotKind::Quantity) && goal.args.contains_key(&slot.parameter))
    }

    fn is_part_of(&self, described: &Thing, item: &Value, whole: &Value) -> bool {
        item.pointer(&described.id).and_then(values::as_text).is_some_and(|id| values::contains(whole, &id))
    }

    /// Found inside another thing that is found first: a variant of a product.
    fn within(&self, looking: &Looking<'_>, parameter: &str, parent: &str, field: &str) -> Found {
        let target = &looking.goal.target;
        let pack = &self.book.packs[looking.pack];
        let shown = self.shown(looking.pack, looking.thing);
        let words = target.words();
        if target.pronoun && words.is_empty() && !target.points() {
            let newest = self.state.focus.iter().find(|(pack, ..)| *pack == looking.pack);
            if let Some((_, _, item)) = newest.filter(|(_, thing, _)| thing == looking.thing) {
                return Found::One(item.clone());
            }
        }
        let only_described = !words.is_empty() && words.iter().all(|word| pack.is_attribute(pack.canonical(word)) || word.parse::<u32>().is_ok());
        if only_described && !shown.is_empty() && !target.points() {
            return self.usable(looking, shown, &words);
        }
        let item = match self.find(looking.pack, parent, looking.goal, looking.for_write) {
            Found::One(item) => item,
            other => return other,
        };
        let mut args = Map::new();
        values::set(&mut args, parameter, item.pointer(field).cloned().unwrap_or(Value::Null));
        let Some(done) = self.result(looking.tool, &args) else {
            return Found::Calls(vec![Planned { tool: looking.tool, args }]);
        };
        let value = match &done.end {
            End::Ok(value) => value,
            End::Failed(failure) => return Found::Done(Outcome::Failed { failure: failure.clone() }),
        };
        let parent_words = pack.thing(parent).map(|parent| things::words_of(parent, &item)).unwrap_or_default();
        let parent_words: Vec<String> = parent_words.into_iter().chain(pack.thing(parent).map(|parent| things::words_of(parent, value)).unwrap_or_default()).collect();
        let own = list(value, looking.source);
        let own_words: Vec<Vec<String>> = own.iter().map(|item| things::words_of(looking.described, item)).collect();
        // Words about the parent say nothing about its parts, unless a part has them too ("black").
        let telling: Vec<String> =
            words.into_iter().filter(|word| own_words.iter().any(|own| things::fits(pack, word, own)) || (is_describing(pack, word) && !things::fits(pack, word, &parent_words))).collect();
        self.usable(looking, own, &telling)
    }

    /// Narrows to what fits the words and can be had.
    fn usable(&self, looking: &Looking<'_>, items: Vec<Value>, words: &[String]) -> Found {
        let pack = &self.book.packs[looking.pack];
        if items.is_empty() {
            return Found::Done(Outcome::Nothing { thing: looking.thing.to_owned(), words: words.to_vec() });
        }
        let known: Vec<Vec<String>> = items.iter().map(|item| things::words_of(looking.described, item)).collect();
        let found = things::narrow(pack, &known, words);
        let usable = |item: &&Value| !looking.for_write || template::holds(looking.described.usable.as_deref(), item);
        let can_be_had: Vec<Value> = items.iter().filter(usable).cloned().collect();
        if can_be_had.is_empty() {
            return Found::Done(Outcome::Unusable { thing: looking.thing.to_owned(), items });
        }
        if found.hits < words.len() {
            let best: Vec<Value> = found.best.iter().map(|&i| items[i].clone()).filter(|item| usable(&item)).collect();
            let offer = if found.hits == 0 || best.is_empty() { can_be_had } else { best };
            let missing = if found.missing.is_empty() { words.to_vec() } else { found.missing };
            return Found::Done(self.ask(looking.pack, looking.thing, offer, Why::NoneFits(missing)));
        }
        let meant: Vec<Value> = found.best.iter().map(|&i| items[i].clone()).collect();
        let left: Vec<Value> = meant.iter().filter(usable).cloned().collect();
        match &left[..] {
            [] => Found::Done(self.ask(looking.pack, looking.thing, can_be_had, Why::Unusable(meant))),
            [only] => Found::One(only.clone()),
            _ => Found::Done(self.ask(looking.pack, looking.thing, left, Why::Several)),
        }
    }

    fn ask(&self, pack: usize, thing: &str, items: Vec<Value>, why: Why) -> Outcome {
        Outcome::Ask { listing: Listing { pack, thing: thing.to_owned(), items }, why }
    }
}

struct Looking<'a> {
    pack: usize,
    thing: &'a str,
    described: &'a Thing,
    source: &'a ThingSource,
    tool: usize,
    goal: &'a Goal,
    for_write: bool,
}

fn is_describing(pack: &super::book::Pack, word: &str) -> bool {
    pack.is_attribute(pack.canonical(word)) || word.parse::<u32>().is_ok()
}

/// The first text of a thing is its name.
fn name_words(described: &Thing, item: &Value) -> Vec<String> {
    let mut found = Vec::new();
    described.words.first().into_iter().for_each(|pointer| values::texts(item, pointer, &mut found));
    found.iter().flat_map(|text| super::book::folded_words(text)).collect()
}

fn outcome(done: &Done) -> Outcome {
    match &done.end {
        End::Ok(value) => Outcome::Answer { args: done.args.clone(), results: vec![(**value).clone()], as_of: false },
        End::Failed(failure) => Outcome::Failed { failure: failure.clone() },
    }
}

/// The things in a result.
pub(super) fn list(value: &Value, source: &ThingSource) -> Vec<Value> {
    let items = value.pointer(&source.list);
    match items {
        Some(Value::Array(items)) if !items.is_empty() => items.clone(),
        Some(Value::Object(_)) if source.list.is_empty() => vec![value.clone()],
        _ if source.or_self => vec![value.clone()],
        _ => Vec::new(),
    }
}
