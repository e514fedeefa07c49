//! The things that a person chose of those that a conversation showed: by place ("the second one"),
//! by name, by "it" if there is one thing, or by a yes to a question. A choice covers what identifies
//! a thing, such as its number, and no other value that is said of it. If it is not certain which
//! thing is meant, no value is chosen.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use contract::{
    Item, ItemBody, ToolId, ToolOutcome, TurnId,
    json_text::{members_of, structured_part},
};
use language::{
    fold, is_filler,
    message::{MessageWords, read_option},
    numbers::cardinal,
    yes_no::{Reply, read_reply},
};
use serde_json::{Map, Value};

use super::{
    content::plain,
    identifiers::{Id, is_digits, is_mixed},
    questions::last_question,
    words::{Said, form, form_like},
};
use crate::tools::typed_arguments::holds;

/// The longest text that is a name, in characters.
const NAME: usize = 80;
/// The fewest words of a name that chooses a thing which the person has not seen.
const PROPER: usize = 2;
/// How deep in a result a list may be, and the most entries that are looked at.
const DEPTH: usize = 6;
const ENTRIES: usize = 200;

type Entry<'a> = &'a Map<String, Value>;

/// One list of things.
struct List<'a> {
    entries: Vec<Entry<'a>>,
    /// The members that tell the entries apart.
    keys: Vec<&'a str>,
    /// The place of the result that has the list.
    result: usize,
    /// The arguments of the call that returned the list.
    asked: Vec<String>,
}

/// One turn: what was asked, what the tools listed, and what was answered.
#[derive(Default)]
struct Round<'a> {
    question: &'a str,
    lists: Vec<List<'a>>,
    answer: &'a str,
}

/// The choice of the newest message that made one.
#[derive(Default, Debug)]
pub(super) struct Choices {
    ids: Vec<Id>,
    /// The lines of an answer that were chosen. Each begins with a name.
    lines: Vec<String>,
    /// The question that a yes agreed to.
    agreed: Said,
}

impl Choices {
    /// Reads the items of a conversation, oldest first. Things are listed by the results of tools
    /// that `lists_things` names.
    pub(super) fn of(items: &[Item], lists_things: impl Fn(&ToolId) -> bool) -> Self {
        let results = items.iter().map(|item| match &item.body {
            ItemBody::ToolResult { tool, data, outcome: ToolOutcome::Ok, .. }
                if lists_things(tool) =>
            {
                // A text within a result may be a stranger's, such as the body of a mail.
                members_of(structured_part(data).unwrap_or(data))
            }
            _ => Cow::Owned(Value::Null),
        });
        let results: Vec<Cow<'_, Value>> = results.collect();
        let rounds = rounds(items, &results);
        let mut newest = Self::default();
        for (at, round) in rounds.iter().enumerate() {
            let mut before = rounds[..at].iter().rev();
            let last = before.clone().next();
            let shown = before.find(|round| !round.lists.is_empty());
            // A yes is for what its own turn does.
            newest.agreed = Said::default();
            let choices = chosen_in(round, shown, last, &newest);
            if !choices.is_empty() {
                newest = choices;
            }
        }
        newest
    }

    /// Whether a call asked about a chosen thing.
    fn are_asked_about(&self, list: &List<'_>) -> bool {
        let is_asked = |id: &Id| list.asked.iter().any(|text| form(text) == form(&id.value));
        self.ids.iter().any(is_asked)
    }

    fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.lines.is_empty() && self.agreed.is_empty()
    }

    /// Whether a text, the value of the argument `name`, identifies a chosen thing.
    pub(super) fn hold(&self, name: &str, text: &str) -> bool {
        let wanted = form(text);
        if wanted.is_empty() {
            return false;
        }
        let is_id = |id: &Id| form(&id.value) == wanted && id.identifies(name);
        let in_line = |line: &String| {
            let line = form_like(text, line);
            !is_digits(&wanted)
                && wanted.chars().count() <= NAME
                && line.starts_with(&wanted)
                && holds(&[line], &wanted)
        };
        self.ids.iter().any(is_id) || self.lines.iter().any(in_line) || self.agreed.hold_text(text)
    }

    fn add(&mut self, list: &List<'_>, entry: Entry<'_>, answer: &str) {
        let answer = [plain(answer)];
        for key in &list.keys {
            let Some(text) = entry.get(*key).and_then(scalar) else { continue };
            self.ids.push(Id {
                member: (*key).to_owned(),
                value: text.clone(),
                has_others: list.entries.len() > 1,
            });
            // A name counts if the person saw it.
            if text.contains(' ') && text.chars().count() <= NAME && holds(&answer, &plain(&text)) {
                self.lines.push(text);
            }
        }
    }
}

/// Groups items by turn. `results` has the result of each item that lists things.
fn rounds<'a>(items: &'a [Item], results: &'a [Cow<'a, Value>]) -> Vec<Round<'a>> {
    let mut rounds: Vec<(&TurnId, Round<'_>)> = Vec::new();
    let mut calls: BTreeMap<&str, &Value> = BTreeMap::new();
    for (at, (item, result)) in items.iter().zip(results).enumerate() {
        if rounds.last().is_none_or(|(turn, _)| **turn != item.turn) {
            rounds.push((&item.turn, Round::default()));
        }
        let Some((_, round)) = rounds.last_mut() else { continue };
        match &item.body {
            ItemBody::UserMessage { text } => round.question = text,
            ItemBody::AssistantText { text, .. } => round.answer = text,
            ItemBody::ToolCall { call, arguments, .. } => {
                calls.insert(call.as_str(), arguments);
            }
            ItemBody::ToolResult { call, .. } => {
                let asked = calls.get(call.as_str()).and_then(|asked| asked.as_object());
                let asked = asked.into_iter().flat_map(|asked| asked.values().filter_map(scalar));
                let asked = (at, asked.collect::<Vec<_>>());
                find_lists(result, DEPTH, &asked, &mut round.lists);
            }
            _ => {}
        }
    }
    rounds.into_iter().map(|(_, round)| round).collect()
}

fn find_lists<'a>(
    value: &'a Value,
    depth: usize,
    of: &(usize, Vec<String>),
    found: &mut Vec<List<'a>>,
) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Array(all) => {
            let entries: Vec<Entry<'a>> =
                all.iter().take(ENTRIES).filter_map(Value::as_object).collect();
            if !entries.is_empty() && entries.len() == all.len() {
                let (keys, (result, asked)) = (keys_of(&entries), of.clone());
                found.push(List { entries, keys, result, asked });
            }
            all.iter().take(ENTRIES).for_each(|value| find_lists(value, depth - 1, of, found));
        }
        Value::Object(members) => {
            members.values().for_each(|value| find_lists(value, depth - 1, of, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the members that each entry has with a value of its own.
fn keys_of<'a>(entries: &[Entry<'a>]) -> Vec<&'a str> {
    let is_key = |name: &&String| {
        let values: Option<BTreeSet<String>> =
            entries.iter().map(|entry| entry.get(*name).and_then(scalar)).collect();
        values.is_some_and(|values| values.len() == entries.len())
    };
    let Some(first) = entries.first() else { return Vec::new() };
    first.keys().filter(is_key).map(String::as_str).collect()
}

/// Returns what the message of a round chose of the things that were shown before, and of those that
/// its own calls returned. `before` is the choice of an earlier message.
fn chosen_in(
    round: &Round<'_>,
    shown: Option<&Round<'_>>,
    last: Option<&Round<'_>>,
    before: &Choices,
) -> Choices {
    let mut choices = Choices::default();
    if let Some(last) = last
        && read_reply(round.question) == Reply::Yes
    {
        choices.agreed = Said::of(last_question(last.answer).as_deref());
    }
    if let Some(shown) = shown.or(last) {
        choose_by_place(round.question, shown, &mut choices);
    }
    if choices.is_empty()
        && let Some(shown) = shown
    {
        let answer = [plain(shown.answer)];
        let shown_lists = shown_lists(shown);
        for list in &shown_lists {
            let shows = |entry: &Entry<'_>| is_named_in(&answer, entry);
            // The word of a message means what the answer said, if the answer named anything.
            let is_seen = |entry: &Entry<'_>| shows(entry) || !list.entries.iter().any(&shows);
            let by_word = named(round.question, list, 1).filter(is_seen);
            if let Some(entry) = by_word.or(named(round.question, list, PROPER)) {
                choices.add(list, entry, shown.answer);
            }
        }
    }
    if choices.is_empty()
        && let Some(shown) = shown
        && let [only] = shown.lists.as_slice()
        && let Some(entry) = only_entry(only)
        && MessageWords::of(round.question).is_pointing()
    {
        choices.add(only, entry, shown.answer);
    }
    for list in &round.lists {
        // The person had not seen these things: a word of the message chooses one only if the call
        // asked about a chosen thing, such as for its sizes.
        let entry = match choices.are_asked_about(list) || before.are_asked_about(list) {
            true => named(round.question, list, 1).or(only_entry(list)),
            false => named(round.question, list, PROPER),
        };
        if let Some(entry) = entry {
            choices.add(list, entry, round.answer);
        }
    }
    choices
}

fn only_entry<'a>(list: &List<'a>) -> Option<Entry<'a>> {
    match list.entries.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// Chooses by place. The list is that of the answer; if the answer has none, the things are in the
/// order of the result.
fn choose_by_place(question: &str, shown: &Round<'_>, choices: &mut Choices) {
    let mut places = MessageWords::of(question).places();
    places.extend(read_option(question));
    let lines = list_lines(shown.answer);
    for place in places {
        let Some(index) = place.checked_sub(1) else { continue };
        if lines.len() > 1 {
            let Some(line) = lines.get(index) else { continue };
            for list in &shown.lists {
                if let Some(entry) = named_in_line(line, list) {
                    choices.add(list, entry, shown.answer);
                }
            }
            choices.lines.push(line.clone());
        } else if let Some(list) = shown_list(shown)
            && let Some(entry) = list.entries.get(index)
        {
            choices.add(list, entry, shown.answer);
        }
    }
}

/// Returns the lists that the answer shows: those of which it names entries. If it names none, the
/// window shows the things, and it is certain which only if one result has them all.
fn shown_lists<'r, 'a>(shown: &'r Round<'a>) -> Vec<&'r List<'a>> {
    let answer = [plain(shown.answer)];
    let is_shown = |list: &&List<'a>| list.entries.iter().any(|entry| is_named_in(&answer, entry));
    let lists: Vec<&List<'a>> = shown.lists.iter().filter(is_shown).collect();
    let is_of_one = shown.lists.windows(2).all(|two| two[0].result == two[1].result);
    if lists.is_empty() && is_of_one { shown.lists.iter().collect() } else { lists }
}

/// Returns the list in which places are counted: the shown one of which the answer names most, or
/// the longest.
fn shown_list<'r, 'a>(shown: &'r Round<'a>) -> Option<&'r List<'a>> {
    let answer = [plain(shown.answer)];
    let is_named = |entry: &&Entry<'a>| is_named_in(&answer, entry);
    shown_lists(shown)
        .into_iter()
        .max_by_key(|list| (list.entries.iter().filter(is_named).count(), list.entries.len()))
}

/// Whether an answer has a name of an entry that no other text would have.
fn is_named_in(answer: &[String], entry: &Entry<'_>) -> bool {
    names(entry).any(|name| (name.contains(' ') || is_mixed(&name)) && holds(answer, &name))
}

/// Returns the points of a list in an answer: lines with a number or a sign, or rows of a table.
fn list_lines(answer: &str) -> Vec<String> {
    let point = |line: &str| {
        let line = line.trim();
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = rest.len() < line.len() && rest.starts_with(['.', ')']);
        let text = match (numbered, line.strip_prefix(['-', '*', '•'])) {
            (true, _) => &rest[1..],
            (false, Some(text)) if text.starts_with(' ') => text,
            (false, _) => return None,
        };
        Some(text.to_owned())
    };
    let mut lines: Vec<String> = answer.lines().filter_map(point).collect();
    if lines.is_empty() {
        let rows = answer.lines().map(str::trim).filter(|line| line.starts_with('|'));
        let is_rule = |row: &&str| row.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
        lines = rows.skip_while(|row| !is_rule(row)).skip(1).map(str::to_owned).collect();
    }
    let bare = |line: String| line.trim_matches(['|', ' ', '*', '_', '`']).to_owned();
    lines.into_iter().map(bare).collect()
}

/// Returns the one entry of which a line has the longest name.
fn named_in_line<'a>(line: &str, list: &List<'a>) -> Option<Entry<'a>> {
    let line = [plain(line)];
    let length = |entry: &Entry<'a>| {
        names(entry).filter(|name| holds(&line, name)).map(|name| name.len()).max().unwrap_or(0)
    };
    one_with_most(&list.entries, length)
}

/// Returns the one entry that a message names. If the message has whole names of entries, it is the
/// one with most of them. Otherwise it is the only one with any word of the message. Names of fewer
/// words than `least` do not count.
fn named<'a>(message: &str, list: &List<'a>, least: usize) -> Option<Entry<'a>> {
    let said: Vec<String> = split(&plain(message));
    let whole = |entry: &Entry<'a>| -> BTreeSet<usize> {
        let is_name =
            |name: &Vec<String>| name.len() >= least && name.iter().any(|word| tells(word));
        let names = names(entry).map(|name| split(&name)).filter(is_name);
        names.flat_map(|name| places_of(&said, &name)).collect()
    };
    let covered: Vec<BTreeSet<usize>> = list.entries.iter().map(whole).collect();
    if covered.iter().any(|places| !places.is_empty()) {
        let most = |at: &usize| {
            covered.iter().enumerate().all(|(other, places)| {
                other == *at || covered[*at].is_superset(places) && covered[*at] != *places
            })
        };
        return (0..covered.len()).find(most).map(|at| list.entries[at]);
    }
    if least > 1 {
        return None;
    }
    let said: BTreeSet<String> = said.into_iter().filter(|word| tells(word)).collect();
    let words = |entry: &Entry<'a>| -> BTreeSet<String> {
        names(entry).flat_map(|name| split(&name)).filter(|word| said.contains(word)).collect()
    };
    let mut shared: Vec<BTreeSet<String>> = list.entries.iter().map(words).collect();
    if let [first, rest @ ..] = shared.as_slice()
        && !rest.is_empty()
    {
        let common: BTreeSet<String> =
            first.iter().filter(|word| rest.iter().all(|r| r.contains(*word))).cloned().collect();
        shared.iter_mut().for_each(|words| words.retain(|word| !common.contains(word)));
    }
    let mut with_words = (0..shared.len()).filter(|at| !shared[*at].is_empty());
    with_words.next().filter(|_| with_words.next().is_none()).map(|at| list.entries[at])
}

fn one_with_most<'a>(entries: &[Entry<'a>], of: impl Fn(&Entry<'a>) -> usize) -> Option<Entry<'a>> {
    let most = entries.iter().map(&of).max().filter(|most| *most > 0)?;
    let mut best = entries.iter().filter(|entry| of(entry) == most);
    best.next().filter(|_| best.next().is_none()).copied()
}

/// Returns the short texts of an entry, as they are compared.
fn names<'a>(entry: &Entry<'a>) -> impl Iterator<Item = String> + use<'a> {
    let texts = entry.values().filter_map(|value| match value {
        Value::String(text) if text.chars().count() <= NAME => Some(plain(text)),
        _ => None,
    });
    texts.filter(|text| !text.is_empty())
}

/// Returns the places at which a text has all words of a name in a row.
fn places_of(said: &[String], name: &[String]) -> Vec<usize> {
    let starts = said.windows(name.len().max(1)).enumerate().filter(|(_, words)| *words == name);
    starts.flat_map(|(at, words)| at..at + words.len()).collect()
}

/// Whether a word tells one thing from another.
fn tells(word: &str) -> bool {
    let is_number = word.chars().all(|c| c.is_ascii_digit());
    (is_number || word.chars().count() > 2) && !is_filler(word) && cardinal(word).is_none()
}

fn split(text: &str) -> Vec<String> {
    let trimmed = |word: &str| fold(word.trim_matches(|c: char| !c.is_alphanumeric()));
    text.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect()
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
