//! Determines which of the shown things a person chose: by position ("the second one"), by name, by
//! the words of a shown line, by "both", by "it" if there is only one thing, or by a yes. A choice
//! covers values that identify a thing, such as its number, and no other values of the thing. If it
//! is not certain which thing is meant, no value is chosen.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use contract::{
    Item, ItemBody, ToolId, ToolOutcome, TurnId,
    json_text::{members_of, structured_part},
};
use language::{
    message::{MessageWords, read_option},
    yes_no::{Reply, read_reply},
};
use serde_json::Value;

use super::{
    content::plain,
    identifiers::{Id, compact, is_digits, is_mixed},
    naming::{
        Entry, NAME, PROPER, named, named_in_line, names, one_with_all, split, telling_words,
    },
    questions::last_question,
    words::{Said, form, form_like},
};
use crate::tools::typed_arguments::holds;

/// The greatest depth of a list within a result, and the most entries that are examined.
const DEPTH: usize = 6;
const ENTRIES: usize = 200;
/// The most things for which "all" or "the last" is accepted.
const ALL: usize = 12;

/// A list of things.
struct List<'a> {
    entries: Vec<Entry<'a>>,
    /// The members whose values distinguish the entries.
    keys: Vec<&'a str>,
    /// The index of the result that contains the list.
    result: usize,
    /// The arguments of the call that returned the list.
    asked: Vec<String>,
}

impl List<'_> {
    fn id(&self, member: &str, value: String) -> Id {
        Id { member: member.to_owned(), value, has_others: self.entries.len() > 1 }
    }
}

/// A turn: the message, the things that the tools listed, and the answer.
#[derive(Default)]
struct Round<'a> {
    question: &'a str,
    lists: Vec<List<'a>>,
    answer: &'a str,
}

/// The choice made by the newest message with a choice.
#[derive(Default, Debug)]
pub(super) struct Choices {
    ids: Vec<Id>,
    /// The chosen lines of an answer. Each line begins with a name.
    lines: Vec<String>,
    /// The question that a yes agreed to.
    agreed: Said,
    /// All listed identifiers with letters and digits, chosen or not.
    listed: Vec<Id>,
}

impl Choices {
    /// Reads the items of a conversation, oldest first. Things are listed by the results of tools
    /// that `lists_things` names.
    pub(super) fn of(items: &[Item], lists_things: impl Fn(&ToolId) -> bool) -> Self {
        let results = items.iter().map(|item| match &item.body {
            ItemBody::ToolResult { tool, data, outcome: ToolOutcome::Ok, .. }
                if lists_things(tool) =>
            {
                // A text within a result may come from another person, such as the body of a mail,
                // so the structured content is preferred.
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
            // A yes applies only to its own turn.
            newest.agreed = Said::default();
            let choices = chosen_in(round, shown, last, &newest);
            if !choices.is_empty() {
                newest = choices;
            }
        }
        newest.listed = rounds.iter().flat_map(|round| &round.lists).flat_map(ids_of).collect();
        newest
    }

    /// Returns the form in which a person may have typed an identifier, which is the value of the
    /// argument `name`. Returns none if the lists contain another identifier of this form: "cs1002"
    /// for "CS-1002".
    pub(super) fn loose_form(&self, name: &str, text: &str) -> Option<String> {
        let wanted = compact(text);
        let mut alike = self.listed.iter().filter(|id| compact(&id.value) == wanted);
        let is_one = alike.clone().all(|id| id.value == text);
        (is_one && alike.any(|id| id.identifies(name))).then_some(wanted)
    }

    /// Whether the list comes from a call about a chosen thing.
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
            self.ids.push(list.id(key, text.clone()));
            // A name is accepted if the person saw it.
            if text.contains(' ') && text.chars().count() <= NAME && holds(&answer, &plain(&text)) {
                self.lines.push(text);
            }
        }
    }
}

/// Returns the identifiers of a list that have letters and digits.
fn ids_of(list: &List<'_>) -> Vec<Id> {
    let of = |entry: &Entry<'_>, key: &str| {
        let text = entry.get(key).and_then(scalar).filter(|text| is_mixed(text))?;
        Some(list.id(key, text))
    };
    list.entries
        .iter()
        .flat_map(|entry| list.keys.iter().filter_map(|key| of(entry, key)))
        .collect()
}

/// Groups items by turn. `results` contains the result of each item that lists things.
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
            // A list with other values between its objects is not a list of things, because its
            // positions would differ from the positions that a person sees.
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

/// Returns the members that have a different value in each entry.
fn keys_of<'a>(entries: &[Entry<'a>]) -> Vec<&'a str> {
    let is_key = |name: &&String| {
        let values: Option<BTreeSet<String>> =
            entries.iter().map(|entry| entry.get(*name).and_then(scalar)).collect();
        values.is_some_and(|values| values.len() == entries.len())
    };
    let Some(first) = entries.first() else { return Vec::new() };
    first.keys().filter(is_key).map(String::as_str).collect()
}

/// Returns the choice that the message of a round makes among the previously shown things and the
/// things that its own calls returned. `before` is the choice of an earlier message.
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
        && let Some(shown) = shown.or(last)
    {
        choose_last_or_all(round.question, shown, &mut choices);
    }
    if choices.is_empty()
        && let Some(shown) = shown
    {
        choose_by_name(round.question, shown, &mut choices);
    }
    if choices.is_empty()
        && let Some(shown) = shown.or(last)
    {
        choose_by_line(round.question, shown, &mut choices);
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
        // The person has not seen these things. A word of the message chooses among them only if
        // the call was about a chosen thing, for example its sizes.
        let is_asked_about = choices.are_asked_about(list) || before.are_asked_about(list);
        let mut entries =
            named(round.question, &list.entries, if is_asked_about { 1 } else { PROPER });
        if entries.is_empty() && is_asked_about {
            entries.extend(only_entry(list));
        }
        entries.into_iter().for_each(|entry| choices.add(list, entry, round.answer));
    }
    choices
}

fn only_entry<'a>(list: &List<'a>) -> Option<Entry<'a>> {
    match list.entries.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// Chooses by position in the list of the answer. If the answer has no list, the order of the
/// result is used.
fn choose_by_place(question: &str, shown: &Round<'_>, choices: &mut Choices) {
    let mut places = MessageWords::of(question).places();
    places.extend(read_option(question));
    let lines = list_lines(shown.answer);
    for place in places {
        let Some(index) = place.checked_sub(1) else { continue };
        if lines.len() > 1 {
            let Some(line) = lines.get(index) else { continue };
            choose_line(line, shown, choices);
        } else if let Some(list) = shown_list(shown)
            && let Some(entry) = list.entries.get(index)
        {
            choices.add(list, entry, shown.answer);
        }
    }
}

/// Chooses the last of the things in the answer, or all of them: "both", "add them".
fn choose_last_or_all(question: &str, shown: &Round<'_>, choices: &mut Choices) {
    let words = MessageWords::of(question);
    let chosen = |count: usize| match count {
        1..=ALL if words.is_last() => count - 1..count,
        1..=ALL if words.means_all(count) => 0..count,
        _ => 0..0,
    };
    let lines = list_lines(shown.answer);
    if lines.len() > 1 {
        lines[chosen(lines.len())].iter().for_each(|line| choose_line(line, shown, choices));
    } else if let Some(list) = shown_list(shown) {
        let answer = [plain(shown.answer)];
        let mut seen = list.entries.clone();
        seen.retain(|entry| is_named_in(&answer, entry));
        let seen = if seen.is_empty() { &list.entries } else { &seen };
        seen[chosen(seen.len())].iter().for_each(|entry| choices.add(list, entry, shown.answer));
    }
}

/// Chooses the things that a message names.
fn choose_by_name(question: &str, shown: &Round<'_>, choices: &mut Choices) {
    let answer = [plain(shown.answer)];
    for list in shown_lists(shown) {
        let shows = |entry: &Entry<'_>| is_named_in(&answer, entry);
        // If the answer names any entries, a word of the message refers to one of them.
        let is_seen = |entry: &Entry<'_>| shows(entry) || !list.entries.iter().any(&shows);
        let mut entries = named(question, &list.entries, 1);
        entries.retain(is_seen);
        if entries.is_empty() {
            entries = named(question, &list.entries, PROPER);
        }
        entries.into_iter().for_each(|entry| choices.add(list, entry, shown.answer));
    }
}

/// Chooses the thing in the line of the answer that contains most words of a message: "orange, in
/// M". Other values in the line are not chosen.
fn choose_by_line(question: &str, shown: &Round<'_>, choices: &mut Choices) {
    let lines = list_lines(shown.answer);
    let said = telling_words(question);
    let shared = lines.iter().map(|line| {
        let words = split(&plain(line));
        words.into_iter().filter(|word| said.contains(word)).collect()
    });
    if lines.len() > 1
        && let Some(at) = one_with_all(shared.collect())
    {
        choose_thing_of(&lines[at], shown, choices);
    }
}

fn choose_line(line: &str, shown: &Round<'_>, choices: &mut Choices) {
    choose_thing_of(line, shown, choices);
    choices.lines.push(line.to_owned());
}

fn choose_thing_of(line: &str, shown: &Round<'_>, choices: &mut Choices) {
    for list in &shown.lists {
        if let Some(entry) = named_in_line(line, &list.entries) {
            choices.add(list, entry, shown.answer);
        }
    }
}

/// Returns the lists that the answer shows, which are the lists with entries named in the answer.
/// If the answer names no entries, the window shows the things, and the list is certain only if a
/// single result contains all of them.
fn shown_lists<'r, 'a>(shown: &'r Round<'a>) -> Vec<&'r List<'a>> {
    let answer = [plain(shown.answer)];
    let is_shown = |list: &&List<'a>| list.entries.iter().any(|entry| is_named_in(&answer, entry));
    let lists: Vec<&List<'a>> = shown.lists.iter().filter(is_shown).collect();
    let is_of_one = shown.lists.windows(2).all(|two| two[0].result == two[1].result);
    if lists.is_empty() && is_of_one { shown.lists.iter().collect() } else { lists }
}

/// Returns the list in which positions are counted: the shown list with most entries named in the
/// answer, or the longest.
fn shown_list<'r, 'a>(shown: &'r Round<'a>) -> Option<&'r List<'a>> {
    let answer = [plain(shown.answer)];
    let is_named = |entry: &&Entry<'a>| is_named_in(&answer, entry);
    shown_lists(shown)
        .into_iter()
        .max_by_key(|list| (list.entries.iter().filter(is_named).count(), list.entries.len()))
}

/// Whether an answer has a name of an entry that is distinctive enough not to occur by chance.
fn is_named_in(answer: &[String], entry: &Entry<'_>) -> bool {
    names(entry).any(|name| (name.contains(' ') || is_mixed(&name)) && holds(answer, &name))
}

/// Returns the list lines in an answer: lines with a number or a bullet, or rows of a table.
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
        // The rows above the separator line are the column headings.
        lines = rows.skip_while(|row| !is_rule(row)).skip(1).map(str::to_owned).collect();
    }
    let bare = |line: String| line.trim_matches(['|', ' ', '*', '_', '`']).to_owned();
    lines.into_iter().map(bare).collect()
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
