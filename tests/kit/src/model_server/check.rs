//! Finds requests that strict providers refuse, for each wire. This module reads bodies and knows
//! nothing of scripts or sockets.

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod schemas;
mod sealed;

use std::collections::BTreeSet;

use serde_json::Value;

pub(super) use sealed::Sealed;

/// The wires that the server supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

impl Wire {
    /// Returns the last part of the conversation, for which a reply may wait.
    pub(super) fn last(self, body: &Value) -> Value {
        let list = match self {
            Self::Chat | Self::Anthropic => "/messages",
            Self::Responses => "/input",
            Self::Gemini => "/contents",
        };
        body.pointer(list)
            .and_then(Value::as_array)
            .and_then(|messages| messages.last())
            .cloned()
            .unwrap_or_default()
    }
}

/// Returns all violations of a request; empty if there are none.
pub fn violations_of(wire: Wire, body: &Value) -> Vec<String> {
    let mut found = match wire {
        Wire::Chat => chat::violations_of(body),
        Wire::Responses => responses::violations_of(body),
        Wire::Anthropic => anthropic::violations_of(body),
        Wire::Gemini => gemini::violations_of(body),
    };
    if wire != Wire::Gemini && body.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        found.push("the request names no model".to_owned());
    }
    found
}

/// The calls and results of a conversation in order. They must pair up: every call is answered
/// exactly once before any other message follows, and only calls are answered.
#[derive(Default)]
struct Pairing {
    open: BTreeSet<String>,
    known: BTreeSet<String>,
}

impl Pairing {
    fn call(&mut self, id: &str, found: &mut Vec<String>) {
        if id.is_empty() || id.len() > 64 || !self.known.insert(id.to_owned()) {
            found.push(format!("the call id `{id}` is empty, too long or used twice"));
        }
        self.open.insert(id.to_owned());
    }

    fn result(&mut self, id: &str, found: &mut Vec<String>) {
        if !self.open.remove(id) {
            found.push(format!("a result for `{id}`, which no open call has"));
        }
    }

    /// Reports calls without a result, before any other message follows.
    fn require_answered(&mut self, before: &str, found: &mut Vec<String>) {
        if !self.open.is_empty() {
            let open: Vec<&str> = self.open.iter().map(String::as_str).collect();
            found.push(format!("calls without a result before {before}: {}", open.join(", ")));
            self.open.clear();
        }
    }
}

/// Checks tools by name and schema, for every wire.
fn tools<'a>(tools: impl Iterator<Item = (&'a str, Option<&'a Value>)>, found: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    for (name, schema) in tools {
        if !is_safe_name(name) {
            found.push(format!("`{name}` is not a tool that models accept"));
        }
        if !names.insert(name) {
            found.push(format!("the tool `{name}` is offered twice"));
        }
        match schema.filter(|schema| schema.is_object()) {
            None => found.push(format!("the tool `{name}` has no parameter schema")),
            Some(schema) => found.extend(
                schemas::problems(schema)
                    .into_iter()
                    .map(|problem| format!("the schema of the tool `{name}` {problem}")),
            ),
        }
    }
    if names.is_empty() {
        found.push("`tools` is present but empty".to_owned());
    }
}

fn is_safe_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
