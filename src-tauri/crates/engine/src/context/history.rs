//! Converts stored items to messages for a model, in which every call is followed by exactly one
//! result. `memory` chooses the items.

use std::{collections::HashMap, sync::Arc};

use contract::{CallId, Item, ItemBody, NoticeLevel, ToolOutcome, ToolSpec};
use serde_json::{Value, json};

use crate::{
    context::{egress::EgressSession, offered_form::offered_result, results::ResultStore},
    ports::{Message, ModelCall, Opaque, Outbound},
};

/// The number of characters of an earlier turn's result that a language model sees.
pub(crate) const OLD_RESULT_CHARS: usize = 4_000;

/// The text that replaces the answer of a failed turn. The real error is not sent to a model,
/// because it names servers and keys.
pub(crate) const NO_ANSWER: &str = "(No answer: it failed.)";

/// The text that replaces the answer of a turn that was stopped.
pub(crate) const STOPPED_ANSWER: &str = "(No answer: it was stopped.)";

/// The notices of turns that ended without a complete answer.
const STOPPED: [&str; 3] = ["turn_cancelled", "turn_interrupted", "message_not_answered"];

/// The text that introduces a summary in the prompt.
const REMEMBERED: &str = include_str!("../../prompts/remembered.md");

/// Returns a summary as inserted into the prompt.
pub(crate) fn summary_text(summary: &str) -> String {
    format!("{}\n{summary}", REMEMBERED.trim_end())
}

/// Returns the messages for `items`, which are in ascending order. The full text of shortened
/// results is added to `kept`.
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
            ItemBody::AssistantText { text, kept, .. } => {
                let text = words.stored_text(items[index].id.as_str(), text);
                let opaque = kept.as_deref().and_then(|kept| Opaque::from_kept(&[Some(kept)]));
                let opaque = words.without_secrets(opaque);
                out.push(Message::Assistant { text, calls: Vec::new(), opaque });
            }
            ItemBody::ToolCall { .. } => {
                index = push_calls(items, index, &results, (specs, &mut *kept, words), &mut out)
            }
            // A failed turn is sent as its question and a short note instead of an empty answer.
            // The same applies to a turn that was stopped before it answered.
            ItemBody::Notice { level: NoticeLevel::Error, .. } => {
                push_note(&mut out, NO_ANSWER, words)
            }
            ItemBody::Notice { code, .. } if STOPPED.contains(&code.as_str()) => {
                if matches!(out.last(), Some(Message::User { .. } | Message::Tool { .. })) {
                    push_note(&mut out, STOPPED_ANSWER, words);
                }
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

/// Adds a note of the host instead of an answer.
fn push_note(out: &mut Vec<Message>, note: &str, words: &EgressSession) {
    let text = words.redact_name(note);
    out.push(Message::Assistant { text, calls: Vec::new(), opaque: None });
}

/// Joins adjacent calls into one assistant message, followed by their results. Returns the last
/// index used.
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
    let mut keeps = Vec::new();
    for item in &run {
        let ItemBody::ToolCall { call, tool, arguments, kept: back, .. } = &item.body else {
            continue;
        };
        keeps.push(back.as_deref());
        let spec = specs
            .iter()
            .find(|spec| spec.id == *tool)
            .or_else(|| specs.iter().find(|spec| spec.is_named(tool)));
        let name = spec.map_or_else(|| tool.0.replace('.', "_"), |spec| spec.model_name.clone());
        let name = words.redact_name(&name);
        calls.push(ModelCall {
            id: call.clone(),
            name: name.clone(),
            arguments: words.stored_arguments(call.as_str(), arguments),
        });
        let (content, data) = match results.get(call) {
            Some(ItemBody::ToolResult { outcome, data, error, summary, .. }) => {
                let whole = || Arc::new(result_value(*outcome, data, error.as_ref().map(|e| json!(e.clone().in_english())), summary));
                let schema = spec.filter(|_| !words.reads_values()).map(|spec| &spec.output_schema);
                let whole = || match schema {
                    Some(schema) => offered_result(schema, &whole()),
                    None => whole(),
                };
                let handle = kept.is_readable().then_some(call);
                let (content, value, is_cut) = words.stored_result(call, whole, &|text| shorten_text(text, OLD_RESULT_CHARS, handle));
                if is_cut {
                    kept.keep(call, whole());
                }
                (content, value)
            }
            _ => words.redact_value(json!({"error": {"reason": "no_result", "message": "This call has no result yet."}})),
        };
        answers.push(Message::Tool { call: call.clone(), name, content, data });
    }
    let opaque = words.without_secrets(Opaque::from_kept(&keeps));
    out.push(Message::Assistant { text: Outbound::default(), calls, opaque });
    out.extend(answers);
    first + run.len() - 1
}

/// Returns a result as sent to a model.
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

/// Shortens a long text to its beginning and end, with a note on how much is missing. `readable` is
/// the call whose complete result the model can read with the tool. Returns None if the text is
/// short enough.
pub fn shorten_text(text: &str, limit: usize, readable: Option<&CallId>) -> Option<String> {
    // A text has at most as many characters as bytes.
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
