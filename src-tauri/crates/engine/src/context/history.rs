//! Stored items as a model's messages: with every call followed by exactly one result.
//! Which items these are, `conversation` says.

use std::{collections::HashMap, sync::Arc};

use contract::{CallId, Item, ItemBody, NoticeLevel, ToolOutcome, ToolSpec};
use serde_json::{Value, json};

use crate::{
    context::egress::EgressSession,
    ports::{Message, ModelCall, Outbound},
    tools::results::ResultStore,
};

/// Characters of an earlier turn's result that a language model still sees.
pub(crate) const OLD_RESULT_CHARS: usize = 4_000;

/// Stands for the answer of a turn that failed. Why it failed names servers and keys, which are
/// nobody's words.
pub(crate) const NO_ANSWER: &str = "(No answer: it failed.)";

/// Said before a summary.
const REMEMBERED: &str = include_str!("../../prompts/remembered.md");

/// A summary as it stands in the prompt.
pub(crate) fn remembered(summary: &str) -> String {
    format!("{}\n{summary}", REMEMBERED.trim_end())
}

/// Messages for `items` (ascending). Results that are cut stay whole in `kept`.
pub(crate) fn messages(
    items: &[Arc<Item>],
    specs: &[ToolSpec],
    kept: &mut ResultStore,
    words: &EgressSession,
) -> Vec<Message> {
    let results: HashMap<&CallId, &ItemBody> = items
        .iter()
        .filter_map(|item| match &item.body {
            body @ ItemBody::ToolResult { call, .. } => Some((call, body)),
            _ => None,
        })
        .collect();
    let mut out: Vec<Message> = Vec::new();
    let mut index = 0;
    while index < items.len() {
        match &items[index].body {
            ItemBody::UserMessage { text } => {
                out.push(Message::User { text: words.stored_text(items[index].id.as_str(), text) })
            }
            ItemBody::AssistantText { text, .. } => {
                let text = words.stored_text(items[index].id.as_str(), text);
                out.push(Message::Assistant { text, calls: Vec::new(), opaque: None });
            }
            ItemBody::ToolCall { .. } => {
                index = push_calls(items, index, &results, (specs, &mut *kept, words), &mut out)
            }
            // A turn that failed is its question and a short note, never an empty answer.
            ItemBody::Notice { level: NoticeLevel::Error, .. } => {
                out.push(Message::Assistant {
                    text: words.name(NO_ANSWER),
                    calls: Vec::new(),
                    opaque: None,
                });
            }
            ItemBody::ToolResult { .. }
            | ItemBody::Approval { .. }
            | ItemBody::Redaction { .. }
            | ItemBody::Summary { .. }
            | ItemBody::Notice { .. } => {}
        }
        index += 1;
    }
    out
}

/// Puts a run of neighbouring calls into one assistant message with their results behind it.
/// Returns the last index used.
fn push_calls(
    items: &[Arc<Item>],
    first: usize,
    results: &HashMap<&CallId, &ItemBody>,
    (specs, kept, words): (&[ToolSpec], &mut ResultStore, &EgressSession),
    out: &mut Vec<Message>,
) -> usize {
    let run: Vec<&Arc<Item>> = items[first..]
        .iter()
        .take_while(|item| matches!(item.body, ItemBody::ToolCall { .. }))
        .collect();
    let mut calls = Vec::new();
    let mut answers = Vec::new();
    for item in &run {
        let ItemBody::ToolCall { call, tool, arguments, .. } = &item.body else { continue };
        let spec = specs
            .iter()
            .find(|spec| spec.id == *tool)
            .or_else(|| specs.iter().find(|spec| spec.is_named(tool)));
        let name = spec.map_or_else(|| tool.0.replace('.', "_"), |spec| spec.model_name.clone());
        let name = words.name(&name);
        calls.push(ModelCall {
            id: call.clone(),
            name: name.clone(),
            arguments: words.stored_arguments(call.as_str(), arguments),
        });
        let (content, data) = match results.get(call) {
            Some(ItemBody::ToolResult { outcome, data, error, summary, .. }) => {
                let whole = || Arc::new(result_value(*outcome, data, error.as_ref().map(|e| json!(e.clone().in_english())), summary));
                let handle = kept.is_readable().then_some(call);
                let (content, value, is_cut) = words.stored_result(call, whole, &|text| cap(text, OLD_RESULT_CHARS, handle));
                if is_cut {
                    kept.keep(call, whole());
                }
                (content, value)
            }
            _ => words.value(json!({"error": {"reason": "no_result", "message": "This call has no result yet."}})),
        };
        answers.push(Message::Tool { call: call.clone(), name, content, data });
    }
    out.push(Message::Assistant { text: Outbound::default(), calls, opaque: None });
    out.extend(answers);
    first + run.len() - 1
}

/// Returns a result in the form that a model gets.
pub fn result_value(
    outcome: ToolOutcome,
    data: &Value,
    error: Option<Value>,
    summary: &str,
) -> Value {
    match (outcome, error) {
        (ToolOutcome::Ok, _) => data.clone(),
        (_, Some(error)) => json!({"outcome": outcome, "error": error}),
        (_, None) => json!({"outcome": outcome, "error": {"message": summary}}),
    }
}

/// Long text as its head and tail, saying how much is missing and how to get at it: by the call,
/// where it can be read on. Nothing: it is short enough.
pub fn cap(text: &str, limit: usize, readable: Option<&CallId>) -> Option<String> {
    // So many bytes have at most so many characters.
    let characters = if text.len() <= limit { return None } else { text.chars().count() };
    if characters <= limit {
        return None;
    }
    let at = |nth: usize| text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (&text[..at(limit * 3 / 4)], &text[at(characters - limit / 8)..]);
    let mut cut = json!({"truncated": true, "characters": characters, "head": head, "tail": tail,
        "note": "The whole result is shown to the user. To see more of it, narrow the request."});
    if let Some(call) = readable {
        cut["handle"] = json!(call);
        cut["note"] = json!(
            "The whole result is kept and shown to the user. To see more of it, call read_result with this handle, or narrow the request."
        );
    }
    Some(cut.to_string())
}
