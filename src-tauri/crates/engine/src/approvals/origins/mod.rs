//! Determines the origins of a proposal's values: the person typed or chose them, the host or the
//! tool's definition fixes them, the assistant chose them, or only outside content contains them.
//! The approval window marks values from outside. `policy` does not use the origins.

mod choices;
mod content;
mod edits;
mod identifiers;
mod naming;
mod questions;
mod readings;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use contract::{
    Approval, ApprovalStatus, Item, ItemBody, OutsideValue, ToolSpec, UntrustedContent,
};
use serde_json::Value;

pub(crate) use self::edits::changed_values;
use self::{choices::Choices, content::Content, readings::exact_number, words::Words};
use crate::{
    budget::metering::today,
    canonical::canonical,
    tools::{outgoing::Outgoing, typed_arguments::ITEMS},
    turn::{context::TurnContext, kind::TurnKind},
};

/// The most values of an argument that are marked individually.
const MARKED: usize = 20;
/// How deep the references and branches of a schema are followed, and how many parts are examined.
const REFERENCES: usize = 5;
const PARTS: usize = 200;
/// The number of consecutive words that a text must share with outside content to be a repetition.
const REPEATED: usize = 4;

/// The values of a proposal that do not come from the person.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Origins {
    pub(crate) from_outside: Vec<OutsideValue>,
    pub(crate) by_assistant: Vec<String>,
}

/// A value of the arguments, or the name of a member that is not in the tool's definition.
struct Leaf {
    /// The JSON Pointer of the value.
    path: String,
    /// The nearest member name above the value.
    name: String,
    value: Value,
}

/// The origin of a value.
enum Origin {
    /// From the person, the host or the definition.
    Own,
    Assistant,
    Outside(Option<UntrustedContent>),
}

/// Determines the origins of a proposal's values. `before` is the replaced proposal: equal values
/// keep their origin, and other values were typed by the person who edited the proposal.
pub(crate) async fn find_origins(
    context: &TurnContext,
    spec: &ToolSpec,
    outgoing: &Outgoing,
    before: Option<&Approval>,
) -> Origins {
    if context.kind == TurnKind::Direct || !context.sources.is_any() {
        return Origins::default();
    }
    let leaves = leaves_of(&read_back(&outgoing.arguments), spec);
    if let Some(before) = before {
        return edits::kept_origins(&leaves, spec, before);
    }
    let items = match context.run() {
        // A caller of the run contract is not the person.
        Some(_) => Vec::new(),
        None => messages(context).await,
    };
    let search = Search::new(context, spec, outgoing, &items);
    let mut origins = Origins::default();
    for leaf in &leaves {
        match search.origin(leaf) {
            Origin::Own => {}
            Origin::Assistant => origins.by_assistant.push(leaf.path.clone()),
            Origin::Outside(passage) => {
                origins.from_outside.push(OutsideValue { path: leaf.path.clone(), passage });
            }
        }
    }
    origins.with_few_marks()
}

impl Origins {
    /// Marks an argument as a whole if it has many values to mark.
    fn with_few_marks(self) -> Self {
        let whole = |path, value: OutsideValue| OutsideValue { path, ..value };
        Self {
            from_outside: few_marks(self.from_outside, |value| &value.path, whole),
            by_assistant: few_marks(self.by_assistant, |path| path, |path, _| path),
        }
    }
}

async fn messages(context: &TurnContext) -> Vec<Item> {
    let items = context.world().store.items_before(&context.session, None, ITEMS).await;
    items.unwrap_or_else(|error| {
        tracing::warn!(%error, "the messages of the conversation could not be read");
        Vec::new()
    })
}

/// The data for determining the origins of a proposal's values.
struct Search<'a> {
    spec: &'a ToolSpec,
    /// The requested values, before the call was adapted to its server.
    asked: BTreeSet<String>,
    words: Words,
    choices: Choices,
    content: Content,
    today: NaiveDate,
}

impl<'a> Search<'a> {
    fn new(context: &TurnContext, spec: &'a ToolSpec, outgoing: &Outgoing, items: &[Item]) -> Self {
        let today = today(context.world());
        let mut messages: Vec<&str> =
            items.iter().filter_map(|item| typed_in(&item.body)).collect();
        if context.run().is_none() {
            messages.push(&context.question);
        }
        let is_of_this_server = |tool: &contract::ToolId| {
            context.specs.iter().any(|other| {
                other.is_named(tool)
                    && other.pack == spec.pack
                    && other.target.server() == spec.target.server()
            })
        };
        let asked = leaves_of(&read_back(&outgoing.asked), spec);
        Self {
            spec,
            asked: asked.iter().map(|leaf| text_of(&leaf.value)).collect(),
            words: Words::new(&messages, today),
            choices: Choices::of(items, is_of_this_server),
            content: Content::new(context.sources.content()),
            today,
        }
    }

    fn origin(&self, leaf: &Leaf) -> Origin {
        let text = text_of(&leaf.value);
        if text.is_empty() || is_fixed(self.spec, leaf) || self.is_typed(&text) {
            return Origin::Own;
        }
        if leaf.value.is_boolean() {
            // The content cannot be shown to contain the value.
            return Origin::Assistant;
        }
        let loose = || self.choices.loose_form(&leaf.name, &text);
        if self.choices.hold(&leaf.name, &text)
            || loose().is_some_and(|form| self.words.hold_loosely(&form))
        {
            return Origin::Own;
        }
        if let Some(passage) = self.find_outside(&leaf.name, &text) {
            return Origin::Outside(Some(passage));
        }
        if self.words.hold_each_word(&text) {
            return Origin::Own;
        }
        if !self.content.is_whole() {
            return Origin::Outside(None);
        }
        // The host sets values that were not requested.
        if self.asked.contains(&text) { Origin::Assistant } else { Origin::Own }
    }

    fn is_typed(&self, text: &str) -> bool {
        self.words.hold_text(text)
            || exact_number(text).is_some_and(|number| self.words.hold_number(number))
            || day(text).is_some_and(|day| self.words.hold_day(day))
            || moment(text).is_some_and(|moment| self.words.hold_moment(moment))
    }

    /// Returns the passage of the content that contains a value or a part of it.
    fn find_outside(&self, name: &str, text: &str) -> Option<UntrustedContent> {
        if let Some(number) = text.parse().ok().filter(|number: &f64| number.is_finite()) {
            return self.content.find_number(&content::plain(text), number);
        }
        let whole = self.content.find_text(text);
        let whole = whole.or_else(|| self.content.find_day(day(text)?, self.today));
        whole.or_else(|| {
            pieces(text)
                .into_iter()
                .filter(|piece| self.content.may_hold(piece))
                .filter(|piece| !self.is_typed(piece) && !self.choices.hold(name, piece))
                .find_map(|piece| self.content.find_text(&piece))
        })
    }
}

/// Returns the text of an item that a person typed: a message, or the reason of a rejection.
fn typed_in(body: &ItemBody) -> Option<&str> {
    match body {
        ItemBody::UserMessage { text } => Some(text),
        ItemBody::Approval { status: ApprovalStatus::Rejected, reason, .. } => reason.as_deref(),
        _ => None,
    }
}

/// Whether the value is set by the host or by the tool's accepted definition.
fn is_fixed(spec: &ToolSpec, leaf: &Leaf) -> bool {
    let mut steps = leaf.path.split('/').skip(1).map(unescape);
    let first = steps.next().unwrap_or_default();
    if spec.caller_owned.iter().any(|parameter| parameter.name == first) {
        return true;
    }
    spec.is_description_accepted
        && nodes(&spec.input_schema, &leaf.path).iter().any(|schema| {
            let only = schema["enum"].as_array().filter(|all| all.len() == 1);
            [schema.get("const"), schema.get("default"), only.and_then(|all| all.first())]
                .into_iter()
                .flatten()
                .any(|fixed| canonical(fixed) == canonical(&leaf.value))
        })
}

/// Returns the parts of a text that indicate its origin: paths, addresses, names with digits, and
/// sequences of words.
fn pieces(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_sign = |c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '@');
    let tells = |part: &&str| {
        let inner = |c: char| c.is_ascii_digit() || matches!(c, '@' | '.' | '_');
        part.chars().count() > 3 && part.contains(inner)
    };
    let parts = words.iter().flat_map(|word| word.split(is_sign));
    let parts = parts.map(|part| part.trim_matches(|c: char| !c.is_alphanumeric())).filter(tells);
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '\\');
    let paths = words
        .iter()
        .map(|word| word.trim_matches(is_edge))
        .filter(|word| word.chars().count() > 3 && word.contains(['/', '\\']));
    let rows = words.windows(REPEATED).map(|row| row.join(" "));
    parts.chain(paths).map(str::to_owned).chain(rows).collect()
}

/// Reads a day in the format used in calls.
fn day(text: &str) -> Option<NaiveDate> {
    text.parse().ok()
}

/// Reads a date and time in the format used in calls.
fn moment(text: &str) -> Option<NaiveDateTime> {
    let is_local = |format| NaiveDateTime::parse_from_str(text, format).ok();
    let zoned = || DateTime::parse_from_rfc3339(text).ok().map(|moment| moment.naive_local());
    ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"]
        .into_iter()
        .find_map(is_local)
        .or_else(zoned)
}

/// Returns the parts of a schema that describe the value at a path.
fn nodes<'a>(schema: &'a Value, path: &str) -> Vec<&'a Value> {
    let mut found = Vec::new();
    add_branches(schema, schema, REFERENCES, &mut found);
    for step in path.split('/').skip(1).map(unescape) {
        let mut inner = Vec::new();
        for part in found {
            let member = part.get("properties").and_then(|members| members.get(&step));
            let entry = || part.get("items").filter(|_| step.parse::<usize>().is_ok());
            if let Some(part) = member.or_else(entry) {
                add_branches(schema, part, REFERENCES, &mut inner);
            }
        }
        found = inner;
    }
    found
}

/// Adds a part of a schema, with its references and branches.
fn add_branches<'a>(whole: &'a Value, part: &'a Value, depth: usize, found: &mut Vec<&'a Value>) {
    if depth == 0 || found.len() == PARTS {
        return;
    }
    found.push(part);
    let place = part.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix('#'));
    let branches =
        ["allOf", "anyOf", "oneOf"].iter().filter_map(|name| part.get(*name)?.as_array());
    for inner in place.and_then(|at| whole.pointer(at)).into_iter().chain(branches.flatten()) {
        add_branches(whole, inner, depth - 1, found);
    }
}

/// Returns the argument that a path leads into.
fn argument_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Returns the arguments as parsed from their canonical text, which is what the window shows.
fn read_back(arguments: &Value) -> Value {
    serde_json::from_str(&canonical(arguments)).unwrap_or_default()
}

fn leaves_of(arguments: &Value, spec: &ToolSpec) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    collect(arguments, &spec.full_input_schema.to_string(), (String::new(), ""), &mut leaves);
    leaves
}

fn collect(value: &Value, known: &str, (path, name): (String, &str), found: &mut Vec<Leaf>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                let step = member.replace('~', "~0").replace('/', "~1");
                let path = format!("{path}/{step}");
                if !known.contains(&Value::from(member.as_str()).to_string()) {
                    let value = Value::from(member.as_str());
                    found.push(Leaf { path: path.clone(), name: member.clone(), value });
                }
                collect(value, known, (path, member.as_str()), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                collect(value, known, (format!("{path}/{index}"), name), found);
            }
        }
        value => found.push(Leaf { path, name: name.to_owned(), value: value.clone() }),
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// Combines the marks of an argument if there are many of them.
fn few_marks<T>(
    all: Vec<T>,
    path: impl Fn(&T) -> &String,
    joined: impl Fn(String, T) -> T,
) -> Vec<T> {
    let argument = |mark: &T| argument_of(path(mark)).to_owned();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for mark in &all {
        *counts.entry(argument(mark)).or_default() += 1;
    }
    let mut seen = BTreeSet::new();
    let mut few = Vec::new();
    for mark in all {
        let name = argument(&mark);
        if counts.get(&name).is_some_and(|count| *count > MARKED) {
            if seen.insert(name.clone()) {
                few.push(joined(format!("/{name}"), mark));
            }
        } else {
            few.push(mark);
        }
    }
    few
}
