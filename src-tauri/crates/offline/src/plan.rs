//! Finds the next step of a goal: a missing call, a question to the user, or the outcome. A write
//! is planned only if exactly one available thing is meant. Steps are derived from the existing
//! results, so nothing is stored between calls of the model.

use std::{collections::HashSet, sync::Arc};

use contract::manifest::{Find, ThingSource};
use serde_json::{Map, Value};

use super::{
    book::{Book, Tool},
    facts::Position,
    goal::{Doubt, Goal, Outcome, Planned, Step, Target, Why},
    history::{Done, End},
    state::{SourceOf, State},
    things, values,
};

/// The planning of a turn.
pub(super) struct Run<'a> {
    pub(super) book: &'a Book,
    pub(super) state: &'a State,
    /// The calls of this turn so far.
    pub(super) done: &'a [Done],
    /// The names of the offered tools. None while an earlier turn is replayed.
    pub(super) offered: Option<HashSet<&'a str>>,
}

/// The result of finding a thing.
pub(super) enum Found {
    One(Value),
    Calls(Vec<Planned>),
    Done(Outcome),
}

impl Run<'_> {
    /// Returns the next step of every goal. While an earlier change in the same pack is unfinished,
    /// a later goal may only read data that the change cannot affect. Changes of the same kind are
    /// proposed together.
    pub(super) fn plan_steps(&self, goals: &[Goal]) -> Vec<Step> {
        let mut steps = Vec::with_capacity(goals.len());
        let mut changing: Vec<(usize, usize)> = Vec::new();
        let mut writes: Vec<usize> = Vec::new();
        for goal in goals {
            let tool = &self.book.tools[goal.tool];
            let waits = changing.iter().any(|(pack, by)| *pack == tool.pack && *by != goal.tool);
            if waits && !tool.is_write() {
                steps.push(Step::Calls(Vec::new()));
                continue;
            }
            let earlier = writes.iter().filter(|&&write| write == goal.tool).count();
            let mut step = self.plan_step(goal, earlier);
            if let Step::Calls(calls) = &mut step
                && waits
            {
                calls
                    .retain(|call| !self.book.tools[call.tool].is_write() && !call.args.is_empty());
            }
            if tool.is_write() {
                writes.push(goal.tool);
                if matches!(step, Step::Calls(_)) {
                    changing.push((tool.pack, goal.tool));
                }
            }
            steps.push(step);
        }
        self.hold_back_changes(goals, &mut steps);
        self.keep_one_question(&mut steps);
        steps
    }

    /// Holds back a change while the thing of another change of the same kind is not found yet. If
    /// a change were proposed alone, the user might see no other change.
    fn hold_back_changes(&self, goals: &[Goal], steps: &mut [Step]) {
        let looks = |step: &Step| matches!(step, Step::Calls(calls) if calls.iter().any(|call| !self.book.tools[call.tool].is_write()));
        let looking: HashSet<usize> = goals
            .iter()
            .zip(&*steps)
            .filter(|(_, step)| looks(step))
            .map(|(goal, _)| goal.tool)
            .collect();
        for (goal, step) in goals.iter().zip(steps) {
            if let Step::Calls(calls) = step
                && looking.contains(&goal.tool)
            {
                calls.retain(|call| !self.book.tools[call.tool].is_write());
            }
        }
    }

    /// Keeps only the first question, and plans no changes while a question is open. The other
    /// goals continue after the answer.
    fn keep_one_question(&self, steps: &mut [Step]) {
        let asks = |step: &Step| {
            matches!(
                step,
                Step::Done(
                    Outcome::Ask { .. } | Outcome::Doubt(Doubt::Quantity | Doubt::Missing(_))
                )
            )
        };
        let Some(first) = steps.iter().position(asks) else { return };
        for (_, step) in steps.iter_mut().enumerate().filter(|(at, _)| *at != first) {
            let changes = matches!(step, Step::Calls(calls) if calls.is_empty() || calls.iter().any(|call| self.book.tools[call.tool].is_write()));
            if changes || asks(step) {
                *step = Step::Done(Outcome::Later);
            }
        }
    }

    fn plan_step(&self, goal: &Goal, earlier_writes: usize) -> Step {
        if let Some(doubt) = &goal.doubt {
            return Step::Done(Outcome::Doubt(doubt.clone()));
        }
        let tool = &self.book.tools[goal.tool];
        // A change that was made, refused or edited in this turn is not proposed again.
        if tool.is_write()
            && let Some(done) =
                self.done.iter().filter(|done| done.tool == goal.tool).nth(earlier_writes)
        {
            return Step::Done(outcome_of(done));
        }
        let Some((slot, thing, field)) = tool.thing() else {
            return self.check_found(goal, self.plan_call(goal, goal.args.clone()));
        };
        if tool.intents[goal.intent].several {
            return self.plan_calls(goal, tool, thing, &slot.parameter, field);
        }
        match self.find_one(tool.pack, thing, goal, tool.is_write()) {
            Found::One(item) => {
                let Some(value) = item.pointer(field).filter(|value| !value.is_null()) else {
                    return Step::Done(Outcome::Nothing {
                        thing: thing.to_owned(),
                        words: goal.target.words(),
                    });
                };
                let mut args = goal.args.clone();
                values::set(&mut args, &slot.parameter, value.clone());
                self.plan_call(goal, args)
            }
            Found::Calls(calls) => self.check_offered(calls),
            Found::Done(outcome) => Step::Done(outcome),
        }
    }

    /// Plans a call for each of several things.
    fn plan_calls(
        &self,
        goal: &Goal,
        tool: &Tool,
        thing: &str,
        parameter: &str,
        field: &str,
    ) -> Step {
        let mut items: Vec<Value> = Vec::new();
        let mut calls = Vec::new();
        let targets = match goal.ranking.as_ref().and_then(|ranked| ranked.count) {
            // Handles "compare the two cheapest lamps".
            Some(count @ 2..) => {
                let at = |rank| Target { rank: Some(rank), ..goal.target.clone() };
                (0..count.min(3) as usize).map(at).collect()
            }
            Some(_) | None => self.split_target(tool.pack, thing, &goal.target),
        };
        for target in targets {
            let single = Goal { target, ..goal.clone() };
            match self.find_any(tool.pack, thing, &single, false) {
                Found::One(item) => items.push(item),
                Found::Calls(more) => calls.extend(more),
                Found::Done(outcome) => return Step::Done(outcome),
            }
        }
        if !calls.is_empty() {
            return self.check_offered(calls);
        }
        items.dedup();
        items.truncate(3);
        if items.len() < 2 {
            return Step::Done(self.ask_about_shown(
                tool.pack,
                thing,
                self.shown_things(tool.pack, thing),
                Why::Several,
            ));
        }
        let mut results: Vec<Arc<Value>> = Vec::new();
        for item in &items {
            let mut args = goal.args.clone();
            values::set(&mut args, parameter, item.pointer(field).cloned().unwrap_or(Value::Null));
            match self.result_of_call(goal.tool, &args) {
                Some(done) => match &done.end {
                    End::Ok(value) => results.push(Arc::clone(value)),
                    End::Failed(failure) => {
                        return Step::Done(Outcome::Failed { failure: failure.clone() });
                    }
                },
                None => calls.push(Planned { tool: goal.tool, args }),
            }
        }
        if calls.is_empty() {
            Step::Done(Outcome::Answer { args: goal.args.clone(), results })
        } else {
            self.check_offered(calls)
        }
    }

    /// Splits a request for several things into a target for each thing.
    fn split_target(&self, pack: usize, thing: &str, target: &Target) -> Vec<Target> {
        let shown = self.shown_things(pack, thing).len();
        let one = |place| Target { places: vec![place], ..Target::default() };
        if let Some(count) = target.first {
            return (1..=count).map(|place| one(Position::Nth(place))).collect();
        }
        let mut targets: Vec<Target> = target.places.iter().map(|place| one(*place)).collect();
        targets.extend(
            target
                .groups
                .iter()
                .map(|words| Target { groups: vec![words.clone()], ..Target::default() }),
        );
        if targets.len() < 2 && (target.all || target.pronoun || targets.is_empty()) && shown >= 2 {
            return (1..=u32::try_from(shown.min(3)).unwrap_or(3))
                .map(|place| one(Position::Nth(place)))
                .collect();
        }
        targets
    }

    pub(super) fn shown_things(&self, pack: usize, thing: &str) -> Vec<Value> {
        self.state
            .list_of_thing(pack, thing)
            .map(|listing| listing.items.clone())
            .unwrap_or_default()
    }

    /// Plans the call, or returns the outcome if the call was already made.
    fn plan_call(&self, goal: &Goal, args: Map<String, Value>) -> Step {
        if let Some(done) = self.result_of_call(goal.tool, &args) {
            return Step::Done(outcome_of(done));
        }
        self.check_offered(vec![Planned { tool: goal.tool, args }])
    }

    /// Sorts and filters the result of a search as the goal requests. If a search matched only a
    /// colour or size and knows none of the other words, its result is treated as empty.
    fn check_found(&self, goal: &Goal, step: Step) -> Step {
        let Step::Done(Outcome::Answer { args, results }) = step else { return step };
        if let Some((thing, words, false)) = self.book.strange_words(goal.tool, &args, &results)
            && !words.is_empty()
        {
            return Step::Done(Outcome::Nothing { thing, words });
        }
        let pack = self.book.tools[goal.tool].pack;
        let found = self.book.packs[pack].offline.things.values().find_map(|thing| {
            let source = thing.source_of(self.book, pack, goal.tool)?;
            matches!(source.find, Some(Find::Words { .. })).then_some((thing, source))
        });
        let (Some((thing, source)), [result]) = (found, &results[..]) else {
            return Step::Done(Outcome::Answer { args, results });
        };
        Step::Done(match self.book.sort_and_filter(goal, source, thing, result) {
            Some(result) => Outcome::Answer { args, results: vec![result] },
            None => Outcome::Doubt(Doubt::Unranked),
        })
    }

    fn check_offered(&self, calls: Vec<Planned>) -> Step {
        let Some(offered) = &self.offered else { return Step::Calls(calls) };
        if offered.is_empty() {
            return Step::Done(Outcome::Unfinished);
        }
        if calls
            .iter()
            .any(|call| !offered.contains(self.book.tools[call.tool].spec.model_name.as_str()))
        {
            return Step::Done(Outcome::NotOffered);
        }
        Step::Calls(calls)
    }

    pub(super) fn result_of_call(&self, tool: usize, args: &Map<String, Value>) -> Option<&Done> {
        self.done.iter().find(|done| done.tool == tool && done.args == *args)
    }
}

impl Book {
    /// Returns the kind of thing that a search has found, the search words that neither the pack
    /// nor any found thing knows, and whether another word names the kind of thing. Returns none if
    /// the call is not a search or found nothing.
    pub(super) fn strange_words(
        &self,
        tool: usize,
        args: &Map<String, Value>,
        results: &[Arc<Value>],
    ) -> Option<(String, Vec<String>, bool)> {
        let pack = &self.packs[self.tools[tool].pack];
        pack.offline.things.iter().find_map(|(name, thing)| {
            let source = thing.source_of(self, self.tools[tool].pack, tool)?;
            let Some(Find::Words { parameter }) = &source.find else { return None };
            let query = values::get(args, parameter)?.as_str()?;
            let items = list_in_result(results.first()?, source);
            let (strange, names) = things::words_without_item(pack, thing, query, &items);
            (!items.is_empty()).then(|| (name.clone(), strange, names))
        })
    }
}

fn outcome_of(done: &Done) -> Outcome {
    match &done.end {
        End::Ok(value) => {
            Outcome::Answer { args: done.args.clone(), results: vec![Arc::clone(value)] }
        }
        End::Failed(failure) => Outcome::Failed { failure: failure.clone() },
    }
}

/// Returns the list of things in a result.
pub(super) fn list_in_result(value: &Value, source: &ThingSource) -> Vec<Value> {
    let items = value.pointer(&source.list);
    match items {
        Some(Value::Array(items)) if !items.is_empty() => items.clone(),
        Some(Value::Object(_)) if source.list.is_empty() => vec![value.clone()],
        _ if source.or_self => vec![value.clone()],
        _ => Vec::new(),
    }
}

/// Whether there may be more things than the result lists. A search returns only its first results,
/// unless the result gives a total.
pub(super) fn is_partial(source: &ThingSource, result: &Value) -> bool {
    let total = source.total.as_ref().and_then(|pointer| result.pointer(pointer)?.as_u64());
    matches!(source.find, Some(Find::Words { .. }))
        && total.is_none_or(|total| total > list_in_result(result, source).len() as u64)
}
