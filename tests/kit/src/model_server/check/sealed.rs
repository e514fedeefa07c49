//! Opaque data that a server wants back unchanged: signatures of thoughts, encrypted reasoning.
//! Remembers the data in the server's replies, and finds requests that lost some of them or send
//! them to another wire.

use serde_json::Value;

use super::{Wire, list, text};

/// The data sent so far.
#[derive(Default)]
pub struct Sealed {
    given: Vec<(Wire, String)>,
    /// The data that the next request must contain if it has the results of the newest calls.
    owed: Option<(Wire, Vec<String>)>,
}

impl Sealed {
    /// Checks a request before it is answered. `results` says whether the request ends with results
    /// of calls.
    pub fn violations_of(&mut self, wire: Wire, body: &Value, results: bool) -> Vec<String> {
        let body = body.to_string();
        let mut found = Vec::new();
        if self.given.iter().any(|(from, seal)| *from != wire && body.contains(seal.as_str())) {
            found.push("a signature of another provider was brought here".to_owned());
        }
        if let Some((from, seals)) = self.owed.take()
            && from == wire
            && results
        {
            found.extend(seals.iter().filter(|seal| !body.contains(seal.as_str())).map(|seal| {
                let beginning: String = seal.chars().take(12).collect();
                format!("the signature `{beginning}` was not brought back")
            }));
        }
        found
    }

    /// Records the data in the events of a reply.
    pub fn given(&mut self, wire: Wire, events: &[Value]) {
        let (seals, calls) = match wire {
            Wire::Chat => (Vec::new(), false),
            Wire::Anthropic => anthropic(events),
            Wire::Gemini => gemini(events),
            Wire::Responses => responses(events),
        };
        self.given.extend(seals.iter().map(|seal| (wire, seal.clone())));
        self.owed = calls.then_some((wire, seals));
    }
}

fn anthropic(events: &[Value]) -> (Vec<String>, bool) {
    let mut seals: Vec<String> = Vec::new();
    let mut calls = false;
    for event in events {
        match text(event, "type") {
            // The message begins again, so the first attempt does not count.
            "message_start" => seals.clear(),
            "content_block_start" => {
                match event.pointer("/content_block/type").and_then(Value::as_str) {
                    Some("thinking") => seals.push(String::new()),
                    Some("redacted_thinking") => seals.push(
                        event
                            .pointer("/content_block/data")
                            .and_then(Value::as_str)
                            .unwrap_or_default()
                            .to_owned(),
                    ),
                    Some("tool_use") => calls = true,
                    Some(_) | None => {}
                }
            }
            "content_block_delta" => {
                if let (Some(more), Some(seal)) =
                    (event.pointer("/delta/signature").and_then(Value::as_str), seals.last_mut())
                {
                    seal.push_str(more);
                }
            }
            _ => {}
        }
    }
    seals.retain(|seal| !seal.is_empty());
    (seals, calls)
}

fn gemini(events: &[Value]) -> (Vec<String>, bool) {
    let contents = events.iter().filter_map(|event| event.pointer("/candidates/0/content"));
    let calls: Vec<&Value> = contents
        .flat_map(|content| list(content, "parts"))
        .filter(|part| part.get("functionCall").is_some())
        .collect();
    let seals = calls
        .iter()
        .map(|part| text(part, "thoughtSignature").to_owned())
        .filter(|seal| !seal.is_empty())
        .collect();
    (seals, !calls.is_empty())
}

fn responses(events: &[Value]) -> (Vec<String>, bool) {
    let items: Vec<&Value> = events
        .iter()
        .filter(|event| text(event, "type") == "response.output_item.done")
        .filter_map(|event| event.get("item"))
        .collect();
    let calls = items.iter().any(|item| text(item, "type") == "function_call");
    let seals = items
        .iter()
        .map(|item| text(item, "encrypted_content").to_owned())
        .filter(|seal| !seal.is_empty())
        .collect();
    (seals, calls)
}
