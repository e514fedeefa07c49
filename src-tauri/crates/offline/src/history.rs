//! Reads the turns of the conversation from the messages, with their calls and results. The turns
//! are not interpreted.

use std::sync::Arc;

use contract::ToolOutcome;
use engine::ports::Message;
use serde_json::{Map, Value};

use super::book::Book;

/// A user message with its calls and the text of the answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    pub(super) user: String,
    pub(super) calls: Vec<Done>,
    /// The text of the newest answer to the message.
    pub(super) said: String,
}

/// A call with its result.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) tool: usize,
    pub(super) args: Map<String, Value>,
    pub(super) end: End,
}

/// The way in which a call ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    Ok(Arc<Value>),
    Failed(Failure),
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) outcome: ToolOutcome,
    /// The error message, which is safe to show.
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// The user's reason for a rejection.
    pub(super) reason: Option<String>,
    pub(super) code: Option<String>,
}

impl Done {
    pub(super) fn successful_result(&self) -> Option<&Value> {
        match &self.end {
            End::Ok(value) => Some(value),
            End::Failed(_) => None,
        }
    }
}

/// Returns a message without the specialists that it addresses with `@`. The specialists are
/// already chosen, so their names are not words of the question.
fn remove_addresses(text: &str, book: &Book) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some(at) = rest.find('@') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        kept.push_str(before);
        let begins_word = kept.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
        match book.match_specialist(after).filter(|_| begins_word) {
            Some(length) => rest = &after[length..],
            None => {
                kept.push('@');
                rest = after;
            }
        }
    }
    kept.push_str(rest);
    kept.trim().to_owned()
}

/// Returns the turns of a conversation, oldest first.
pub(super) fn read_turns(messages: &[Message], book: &Book) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut open: Vec<(contract::CallId, usize, Map<String, Value>)> = Vec::new();
    for message in messages {
        match message {
            Message::System { .. } => {}
            Message::User { text } => {
                turns.push(Turn { user: remove_addresses(text, book), ..Turn::default() })
            }
            Message::Assistant { text, calls, .. } => {
                if let Some(turn) = turns.last_mut().filter(|_| !text.is_empty()) {
                    turn.said = text.to_string();
                }
                open = calls
                    .iter()
                    .filter_map(|call| {
                        let tool = book.tool_by_model_name(&call.name)?;
                        let args = serde_json::from_str::<Map<String, Value>>(&call.arguments)
                            .unwrap_or_default();
                        Some((call.id.clone(), tool, args))
                    })
                    .collect();
            }
            Message::Tool { call, content, data, .. } => {
                if let Some(index) = open.iter().position(|(id, ..)| id == call)
                    && let Some(turn) = turns.last_mut()
                {
                    let (_, tool, args) = open.remove(index);
                    turn.calls.push(Done { tool, args, end: call_end(data.shared(), content) });
                }
            }
        }
    }
    turns
}

/// Returns the number of calls in the conversation. The id of the next call is made from this
/// number.
pub(super) fn count_calls(messages: &[Message]) -> usize {
    messages
        .iter()
        .map(|message| match message {
            Message::Assistant { calls, .. } => calls.len(),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => 0,
        })
        .sum()
}

/// Whether any call of the conversation is of a tool whose name fits.
pub(super) fn any_call(messages: &[Message], fits: impl Fn(&str) -> bool) -> bool {
    messages.iter().any(|message| match message {
        Message::Assistant { calls, .. } => calls.iter().any(|call| fits(&call.name)),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => false,
    })
}

fn call_end(data: &Arc<Value>, content: &str) -> End {
    if let Some(failure) = read_failure(data) {
        return End::Failed(failure);
    }
    if !data.is_null() {
        return End::Ok(Arc::clone(data));
    }
    match serde_json::Deserializer::from_str(content).into_iter::<Value>().next() {
        Some(Ok(value)) => {
            read_failure(&value).map_or_else(|| End::Ok(Arc::new(value)), End::Failed)
        }
        _ => End::Ok(Arc::clone(data)),
    }
}

/// Returns the failure in a result of the form `{"outcome": ..., "error": {...}}`.
fn read_failure(data: &Value) -> Option<Failure> {
    let error = data.get("error").filter(|error| error.is_object())?;
    let outcome = data
        .get("outcome")
        .and_then(|outcome| serde_json::from_value(outcome.clone()).ok())
        .unwrap_or(ToolOutcome::Error);
    let text = |value: Option<&Value>| {
        value.and_then(Value::as_str).map(str::to_owned).filter(|text| !text.is_empty())
    };
    let rejection = text(error.get("message")).filter(|_| outcome == ToolOutcome::Rejected);
    Some(Failure {
        outcome,
        message: text(error.get("message")).unwrap_or_default(),
        hint: text(error.pointer("/details/hint")),
        // The host writes the first sentence of a rejection, and the rest is the user's reason.
        reason: rejection
            .and_then(|said| said.split_once(". ").map(|(_, words)| words.trim().to_owned()))
            .filter(|words| !words.is_empty()),
        code: text(error.get("code")),
    })
}
