//! Replays the conversation: understands and plans every earlier turn again with its results, and
//! then the newest turn. The result is the next calls or an answer.

use std::{collections::HashSet, sync::Arc};

use chrono::{DateTime, NaiveDate, Utc};
use contract::{
    manifest::{Find, Thing},
    metric_query::AsOf,
};
use engine::ports::{ModelRequest, Purpose};
use language::Language;
use serde_json::Value;

use super::{
    book::Book,
    data::{Asking, Ear, Heard, KnownSources, Part, PartEnd, PartStep, Teller, moment},
    goal::{Goal, Listing, Outcome, Planned, Step},
    guesses,
    history::{self, Turn},
    plan::{Run, is_partial, list_in_result},
    reader::{Meaning, Talk},
    reply::{Reply, SHOWN, Speaker},
    social::Social,
    state::{Pending, State},
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
    /// Whether the reply has data that must stay on this computer, which no call returned.
    pub(super) is_local: bool,
}

/// The packs, sources and time that messages of a conversation are understood with.
struct Scene<'a> {
    book: &'a Book,
    known: Option<&'a KnownSources>,
    today: NaiveDate,
    as_of: AsOf,
}

impl<'a> Scene<'a> {
    fn new(book: &'a Book, known: Option<&'a KnownSources>, request: &ModelRequest) -> Self {
        let now = request.now.unwrap_or(DateTime::<Utc>::UNIX_EPOCH);
        let today = local_day(now, &request.time_zone);
        Self { book, known, today, as_of: moment(now, &request.time_zone) }
    }

    fn hear(&self, message: &str, state: &State) -> Heard {
        let Self { book, known, today, .. } = *self;
        Ear { book, state, today, known, as_of: &self.as_of }.hear(message)
    }
}

/// The understanding of a request: the state before it, the newest turn so far, and the meaning of
/// its message.
pub(super) struct Understanding<'a> {
    pub(super) state: State,
    pub(super) current: Turn,
    pub(super) heard: Heard,
    scene: Scene<'a>,
}

/// Replays the conversation up to its newest message.
pub(super) fn replay_conversation<'a>(
    book: &'a Book,
    known: Option<&'a KnownSources>,
    request: &ModelRequest,
) -> Understanding<'a> {
    let scene = Scene::new(book, known, request);
    let mut turns = history::read_turns(&request.messages, book);
    let current = turns.pop().unwrap_or_default();
    let mut state = State::default();
    let old = turns.len().saturating_sub(TURNS);
    for turn in turns.drain(..).skip(old) {
        replay_turn(&scene, &mut state, turn);
    }
    let heard = scene.hear(&current.user, &state);
    Understanding { state, current, heard, scene }
}

/// Returns the next move for a request.
pub(super) fn plan_next_move(
    book: &Book,
    known: Option<&KnownSources>,
    request: &ModelRequest,
) -> Move {
    let Understanding { state, current, mut heard, scene } =
        replay_conversation(book, known, request);
    let foreign = keep_goals_of_specialist(book, request, &mut heard);
    let offered: HashSet<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    let asked = plan_questions(&scene, &heard, &current, &offered, foreign);
    let run = Run { book, state: &state, done: &current.calls, offered: Some(offered) };
    let goals = &heard.meaning.goals;
    let steps = if foreign {
        goals.iter().map(|_| Step::Done(Outcome::NotOffered)).collect()
    } else {
        run.plan_steps(goals)
    };
    let calls = calls_of(&asked, &steps, heard.begins_with_data);
    if !calls.is_empty() && !request.tools.is_empty() {
        return Move::Calls(calls);
    }
    let spoken = message_language(&heard.meaning).or(state.lang);
    let lang =
        messages::Language::of_tag(spoken.map_or(request.locale.as_str(), |lang| lang.tag()));
    let needed = heard.tools(book);
    let mut said = build_answer(&scene, &state, heard, steps, asked, lang);
    if let (true, Purpose::Part { tools }) = (foreign, &request.purpose) {
        said.reply = Speaker { book, lang }.name_specialists(&needed, tools);
    }
    Move::Say(said)
}

/// Returns the next step of each question about a source. If another specialist was asked, it has none
/// of their tools.
fn plan_questions(
    scene: &Scene<'_>,
    heard: &Heard,
    current: &Turn,
    offered: &HashSet<&str>,
    foreign: bool,
) -> Vec<PartStep> {
    let Some(tools) = scene.book.data else { return Vec::new() };
    let none = HashSet::new();
    let offered = if foreign { &none } else { offered };
    let asking = Asking { book: scene.book, tools, done: &current.calls, offered: Some(offered) };
    let step = |part: &Part| {
        let step = asking.step(part);
        let is_of_others = foreign && step == PartStep::Done(PartEnd::Unfinished);
        if is_of_others { PartStep::Done(PartEnd::NotOffered) } else { step }
    };
    heard.parts.iter().map(step).collect()
}

/// Returns the calls of the next round, in the order of the message.
fn calls_of(asked: &[PartStep], steps: &[Step], begins_with_data: bool) -> Vec<Planned> {
    let of_data = asked.iter().flat_map(|step| match step {
        PartStep::Calls(calls) => calls.as_slice(),
        PartStep::Done(_) => &[],
    });
    let of_packs = steps.iter().flat_map(|step| match step {
        Step::Calls(calls) => calls.as_slice(),
        Step::Done(_) => &[],
    });
    let all: Vec<&Planned> = if begins_with_data {
        of_data.chain(of_packs).collect()
    } else {
        of_packs.chain(of_data).collect()
    };
    let mut calls: Vec<Planned> = Vec::new();
    for call in all {
        if !calls.contains(call) {
            calls.push(call.clone());
        }
    }
    calls.truncate(CALLS_A_ROUND);
    calls
}

/// Returns the language of a message. An English greeting is not sufficient, because people greet
/// in English in other languages, too.
fn message_language(meaning: &Meaning) -> Option<Language> {
    let greets = meaning.talk == Some(Talk::Social(Social::Greeting));
    meaning.lang.filter(|lang| !(greets && *lang == Language::En))
}

/// Keeps only the goals and questions that the asked specialist has tools for. Returns true if none is
/// left.
fn keep_goals_of_specialist(book: &Book, request: &ModelRequest, heard: &mut Heard) -> bool {
    let Purpose::Part { tools } = &request.purpose else { return false };
    let has = |tool: usize| tools.contains(&book.tools[tool].spec.model_name);
    let is_empty = heard.parts.is_empty() && heard.meaning.goals.is_empty();
    let has_data = !heard.parts.is_empty() && book.data.is_some_and(|tools| has(tools.measure));
    let any = has_data || heard.meaning.goals.iter().any(|goal| has(goal.tool));
    if any {
        heard.meaning.goals.retain(|goal| has(goal.tool));
        if !has_data {
            heard.parts.clear();
        }
    }
    !any && !is_empty
}

fn build_answer(
    scene: &Scene<'_>,
    state: &State,
    heard: Heard,
    steps: Vec<Step>,
    asked: Vec<PartStep>,
    lang: messages::Language,
) -> Said {
    let speaker = Speaker { book: scene.book, lang };
    let Heard { meaning, parts, begins_with_data } = heard;
    let outcomes = pair_outcomes(meaning.goals, steps);
    // A search that knows none of its words, beside sources, may have been meant for them.
    let guessed = || {
        let words = scene.known.and_then(|_| guesses::not_found(scene.book, state, &outcomes))?;
        Some(Talk::NotUnderstood(words))
    };
    let talk = meaning.talk.or_else(guessed);
    let of_packs = match &talk {
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
    let ends: Vec<PartEnd> = asked.into_iter().map(end_of).collect();
    let teller = scene.known.map(|known| Teller { speaker, known, as_of: &scene.as_of });
    let is_local = teller.as_ref().is_some_and(|teller| teller.names_local_values(&parts));
    let of_data = teller.map(|teller| teller.tell(&parts, &ends)).unwrap_or_default();
    let (first, last) = if begins_with_data { (of_data, of_packs) } else { (of_packs, of_data) };
    Said { reply: first.and(last), outcomes, talk, is_local }
}

fn end_of(step: PartStep) -> PartEnd {
    match step {
        PartStep::Done(end) => end,
        PartStep::Calls(_) => PartEnd::Unfinished,
    }
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
fn replay_turn(scene: &Scene<'_>, state: &mut State, turn: Turn) {
    let book = scene.book;
    let Heard { meaning, parts, .. } = scene.hear(&turn.user, state);
    note_question(book, state, &parts, &turn);
    let steps = Run { book, state, done: &turn.calls, offered: None }.plan_steps(&meaning.goals);
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
    let keeps = matches!(
        meaning.talk,
        Some(Talk::Social(_) | Talk::Handbook(_) | Talk::AskAgain | Talk::More)
    );
    if !keeps {
        state.pending = None;
    }
    // A message that was not understood leaves no question open.
    let is_guess = scene.known.is_some() && guesses::not_found(book, state, &outcomes).is_some();
    for (goal, outcome) in outcomes.into_iter().filter(|_| !is_guess) {
        finish_goal(book, state, goal, outcome, count_shown_lines(&said));
    }
    if let Some(pending) = &mut state.pending
        && !keeps
    {
        pending.later = later;
    }
}

/// Records the question about a source that the next message may go on from.
fn note_question(book: &Book, state: &mut State, parts: &[Part], turn: &Turn) {
    let Some(tools) = book.data else { return };
    let asking = Asking { book, tools, done: &turn.calls, offered: None };
    let asked = asking.previous(parts);
    state.is_after_data = asked.is_some() || !parts.is_empty();
    if let Some(asked) = asked {
        state.asked = asked;
    }
    if let Some(last) = parts.last() {
        let is_answered = !turn.calls.is_empty();
        state.open_words = if is_answered { Vec::new() } else { last.words_left_over() };
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
