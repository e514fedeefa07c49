//! Replays the conversation: understands and plans every earlier turn again with its results, and
//! then the newest turn. The result is the next calls or an answer.

use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use contract::manifest::{Find, Thing};
use engine::ports::{ModelRequest, Purpose};
use language::Language;
use serde_json::Value;

use super::{
    book::Book,
    goal::{Goal, Listing, Outcome, Planned, Step},
    history::{self, Turn},
    plan::{Run, is_partial, list_in_result},
    reader::{Meaning, Talk},
    reply::{Reply, SHOWN, Speaker},
    social::Social,
    state::{Pending, State},
    understand::understand,
};

/// The most calls in a round.
const CALLS_A_ROUND: usize = 3;

/// The most earlier turns that are replayed.
const TURNS: usize = 24;

/// The next move of the model.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Move {
    Calls(Vec<Planned>),
    Say(Said),
}

/// An answer, with the goals and outcomes that it is based on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) reply: Reply,
    pub(super) outcomes: Vec<(Goal, Outcome)>,
    pub(super) talk: Option<Talk>,
}

/// The understanding of a request: the state before it, the newest turn so far, and the meaning of
/// its message.
pub(super) struct Understanding {
    pub(super) state: State,
    pub(super) current: Turn,
    pub(super) meaning: Meaning,
    now: DateTime<Utc>,
}

/// Replays the conversation up to its newest message.
pub(super) fn replay_conversation(book: &Book, request: &ModelRequest) -> Understanding {
    let now = request.now.unwrap_or(DateTime::<Utc>::UNIX_EPOCH);
    let today = local_day(now, &request.time_zone);
    let mut turns = history::read_turns(&request.messages, book);
    let current = turns.pop().unwrap_or_default();
    let mut state = State::default();
    let old = turns.len().saturating_sub(TURNS);
    for turn in turns.drain(..).skip(old) {
        replay_turn(book, &mut state, turn, today, now);
    }
    let meaning = understand(&current.user, &state, book, today);
    Understanding { state, current, meaning, now }
}

/// Returns the next move for a request.
pub(super) fn plan_next_move(book: &Book, request: &ModelRequest) -> Move {
    let Understanding { state, current, mut meaning, now } = replay_conversation(book, request);
    let foreign = keep_goals_of_specialist(book, request, &mut meaning);
    let offered = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    let run = Run { book, state: &state, done: &current.calls, offered: Some(offered), now };
    let steps = if foreign {
        meaning.goals.iter().map(|_| Step::Done(Outcome::NotOffered)).collect()
    } else {
        run.plan_steps(&meaning.goals)
    };
    let mut calls: Vec<Planned> = Vec::new();
    for call in steps.iter().flat_map(|step| match step {
        Step::Calls(calls) => calls.as_slice(),
        Step::Done(_) => &[],
    }) {
        if !calls.contains(call) {
            calls.push(call.clone());
        }
    }
    calls.truncate(CALLS_A_ROUND);
    if !calls.is_empty() && !request.tools.is_empty() {
        return Move::Calls(calls);
    }
    let spoken = message_language(&meaning).or(state.lang);
    let lang =
        messages::Language::of_tag(spoken.map_or(request.locale.as_str(), |lang| lang.tag()));
    Move::Say(build_answer(book, &state, meaning, steps, lang))
}

/// Returns the language of a message. An English greeting is not sufficient, because people greet
/// in English in other languages, too.
fn message_language(meaning: &Meaning) -> Option<Language> {
    let greets = meaning.talk == Some(Talk::Social(Social::Greeting));
    meaning.lang.filter(|lang| !(greets && *lang == Language::En))
}

/// Keeps only the goals that the asked specialist has tools for. Returns true if no goal is left.
fn keep_goals_of_specialist(book: &Book, request: &ModelRequest, meaning: &mut Meaning) -> bool {
    let Purpose::Part { tools } = &request.purpose else { return false };
    let mine = |goal: &Goal| tools.contains(&book.tools[goal.tool].spec.model_name);
    let any = meaning.goals.iter().any(mine);
    if any {
        meaning.goals.retain(mine);
    }
    !any && !meaning.goals.is_empty()
}

fn build_answer(
    book: &Book,
    state: &State,
    meaning: Meaning,
    steps: Vec<Step>,
    lang: messages::Language,
) -> Said {
    let speaker = Speaker { book, lang };
    let outcomes = pair_outcomes(meaning.goals, steps);
    let reply = match &meaning.talk {
        Some(Talk::More) => speaker.show_more(state.list_to_continue()),
        Some(talk) => {
            let asked = state
                .pending
                .as_ref()
                .map(|pending| (pending.goal.clone(), repeat_question(pending)));
            speaker.answer_talk(talk, asked.as_ref().map(|(goal, outcome)| (goal, outcome)))
        }
        None => speaker.answer_all(&outcomes),
    };
    Said { reply, outcomes, talk: meaning.talk }
}

fn repeat_question(pending: &Pending) -> Outcome {
    match &pending.goal.doubt {
        Some(doubt) => Outcome::Doubt(doubt.clone()),
        None => Outcome::Ask { listing: pending.listing.clone(), why: super::goal::Why::Several },
    }
}

fn pair_outcomes(goals: Vec<Goal>, steps: Vec<Step>) -> Vec<(Goal, Outcome)> {
    goals
        .into_iter()
        .zip(steps)
        .map(|(goal, step)| match step {
            Step::Done(outcome) => (goal, outcome),
            Step::Calls(_) => (goal, Outcome::Unfinished),
        })
        .collect()
}

/// Updates the state with a finished turn.
fn replay_turn(book: &Book, state: &mut State, turn: Turn, today: NaiveDate, now: DateTime<Utc>) {
    let meaning = understand(&turn.user, state, book, today);
    let steps =
        Run { book, state, done: &turn.calls, offered: None, now }.plan_steps(&meaning.goals);
    state.lang = message_language(&meaning).or(state.lang);
    let outcomes = pair_outcomes(meaning.goals, steps);
    let later: Vec<Goal> = outcomes
        .iter()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Later))
        .map(|(goal, _)| resolve_place(book, state, goal.clone()))
        .collect();
    let Turn { calls, said, .. } = turn;
    state.add_calls(calls, book);
    if matches!(meaning.talk, Some(Talk::More)) {
        state.note_more_shown(count_shown_lines(&said));
    }
    if !outcomes.is_empty() {
        state.stop_continuing_lists();
    }
    let keeps = matches!(meaning.talk, Some(Talk::Social(_) | Talk::AskAgain | Talk::More));
    if !keeps {
        state.pending = None;
    }
    for (goal, outcome) in outcomes {
        finish_goal(book, state, goal, outcome, count_shown_lines(&said));
    }
    if let Some(pending) = &mut state.pending
        && !keeps
    {
        pending.later = later;
    }
}

/// Resolves the list position in a waiting goal. The list shown with the earlier question may
/// replace the list that the position refers to.
fn resolve_place(book: &Book, state: &State, mut goal: Goal) -> Goal {
    let pack = book.tools[goal.tool].pack;
    let mut name = book.tools[goal.tool].thing().map(|(_, thing, _)| thing);
    while let (Some(kind), Some(place), false) =
        (name, goal.target.places.first().copied(), goal.target.open)
    {
        if let Some(item) =
            state.list_of_thing(pack, kind).and_then(|listing| listing.item_at(place))
        {
            goal.chosen.push((kind.to_owned(), item.clone()));
            goal.target.places.clear();
        }
        let sources = book.packs[pack].thing(kind).map_or(&[][..], |thing| &thing.sources);
        name = sources.iter().find_map(|source| match &source.find {
            Some(Find::Thing { thing, .. }) => Some(thing.as_str()),
            Some(Find::Words { .. } | Find::All) | None => None,
        });
    }
    goal
}

/// Returns the number of lines in the longest numbered list of a text. Without a list, returns the
/// number of lines that a question shows.
fn count_shown_lines(said: &str) -> usize {
    let number =
        |line: &str| line.trim_start().split_once(". ").and_then(|(number, _)| number.parse().ok());
    said.lines().filter_map(number).max().unwrap_or(SHOWN)
}

/// Updates the state with a finished goal.
fn finish_goal(book: &Book, state: &mut State, goal: Goal, outcome: Outcome, lines: usize) {
    let pack = book.tools[goal.tool].pack;
    match outcome {
        Outcome::Answer { results, .. } => {
            state.last = Some((goal.tool, goal.intent));
            if let [_, _, ..] = results[..] {
                note_compared_things(book, state, pack, goal.tool, &results);
            }
            for result in &results {
                note_shown_list(book, state, pack, goal.tool, result, lines);
            }
        }
        Outcome::Ask { mut listing, .. } => {
            listing.set_shown_count(lines);
            if !listing.items.is_empty() {
                state.store_list(book, listing.clone());
            }
            state.pending = Some(Pending { goal: clear_places(goal), listing, later: Vec::new() });
        }
        Outcome::Doubt(_) => {
            state.pending = Some(Pending { goal, listing: Listing::default(), later: Vec::new() })
        }
        Outcome::Later
        | Outcome::Failed { .. }
        | Outcome::Nothing { .. }
        | Outcome::Unusable { .. }
        | Outcome::NotOffered
        | Outcome::Unfinished => {}
    }
}

/// Returns a goal with an open question, without the list positions that were already resolved.
fn clear_places(mut goal: Goal) -> Goal {
    goal.target.places.clear();
    goal.target.first = None;
    goal.chosen.retain(|(kind, _)| !kind.ends_with('*'));
    goal
}

/// Records compared things. They form a list, but "it" refers to none of them, and "more" does not
/// continue the list.
fn note_compared_things(
    book: &Book,
    state: &mut State,
    pack: usize,
    tool: usize,
    results: &[Arc<Value>],
) {
    let whole = |thing: &Thing| {
        thing.sources.iter().any(|source| {
            book.tool_by_id(pack, &source.tool) == Some(tool) && source.list.is_empty()
        })
    };
    if let Some((name, _)) = book.packs[pack].offline.things.iter().find(|(_, thing)| whole(thing))
    {
        let mut listing =
            Listing::new(pack, name, results.iter().map(|result| (**result).clone()).collect());
        listing.newest = false;
        state.clear_focus(pack);
        state.store_list(book, listing);
    }
}

/// Records a list that an answer showed. The parts of a thing form a list only if the user asked
/// for them.
fn note_shown_list(
    book: &Book,
    state: &mut State,
    pack: usize,
    tool: usize,
    result: &Value,
    lines: usize,
) {
    for (name, thing) in &book.packs[pack].offline.things {
        for source in thing.sources.iter().filter(|source| {
            book.tool_by_id(pack, &source.tool) == Some(tool)
                && !source.list.is_empty()
                && !source.or_self
        }) {
            let items = list_in_result(result, source);
            if let [only] = &items[..] {
                state.set_focus(pack, name, only.clone());
            }
            if !items.is_empty() {
                let mut listing = Listing::new(pack, name, items);
                listing.partial = is_partial(source, result);
                listing.set_shown_count(lines);
                state.store_list(book, listing);
            }
        }
    }
}

pub(super) fn local_day(now: DateTime<Utc>, zone: &str) -> NaiveDate {
    match zone.parse::<chrono_tz::Tz>() {
        Ok(zone) => now.with_timezone(&zone).date_naive(),
        Err(_) => now.date_naive(),
    }
}
