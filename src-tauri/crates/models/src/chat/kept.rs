//! Members of an answer that this program does not know, such as `reasoning_content`,
//! `reasoning_details` and `extra_content`. Servers refuse the next request without them, so they
//! are collected from the pieces of an answer and are sent back with the answer. The module does
//! not know their meaning.

use engine::ports::Message;
use serde_json::{Map, Value, json};

use crate::wire::own_data;

/// Members by their names.
pub(super) type Members = Map<String, Value>;

/// Members that contain a name. A later piece repeats such a member; other texts arrive in pieces.
const NAMES: [&str; 7] = ["type", "id", "format", "name", "role", "model", "provider"];

/// How many parts at the end of a list may still grow.
const OPEN_PARTS: usize = 64;
/// The maximum number of bytes of these members, which is more than any real answer has. The
/// members are stored and sent with each message.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Adds the members of a later piece: texts are appended, lists and objects are joined, and other
/// values are replaced.
pub(super) fn merge(into: &mut Members, more: Members) {
    for (name, more) in more {
        match into.get_mut(&name) {
            _ if more.is_null() => {}
            None => drop(into.insert(name, more)),
            Some(known) => merge_value(known, more, NAMES.contains(&name.as_str())),
        }
    }
}

fn merge_value(known: &mut Value, more: Value, is_name: bool) {
    match (known, more) {
        (Value::String(known), Value::String(more)) if !is_name => known.push_str(&more),
        (Value::Object(known), Value::Object(more)) => merge(known, more),
        (Value::Array(known), Value::Array(more)) => {
            more.into_iter().for_each(|part| merge_part(known, part));
        }
        (known, more) => *known = more,
    }
}

/// Adds a part of a list to the part with the same index and type, if there is one.
fn merge_part(list: &mut Vec<Value>, part: Value) {
    let index = part.get("index").filter(|index| !index.is_null());
    let kind = part.get("type");
    let fits = |known: &Value| {
        index.is_some()
            && known.get("index") == index
            && kind.is_none_or(|kind| known.get("type").is_none_or(|known| known == kind))
    };
    // Servers send the pieces of only a few parts at a time.
    let first = list.len().saturating_sub(OPEN_PARTS);
    match list[first..].iter().rposition(fits) {
        Some(at) => merge_value(&mut list[first + at], part, false),
        None => list.push(part),
    }
}

/// Adds parts of the content that are not text, such as the thoughts of Mistral's models. The
/// pieces of one part are consecutive.
pub(super) fn merge_content(into: &mut Members, part: &Value) {
    let Value::Array(list) = into.entry("content").or_insert_with(|| Value::Array(Vec::new()))
    else {
        return;
    };
    match list.last_mut().filter(|last| last.get("type") == part.get("type")) {
        Some(last) => merge_value(last, part.clone(), false),
        None => list.push(part.clone()),
    }
}

/// Returns the data that is sent back with a message and its calls, if there is any.
pub(super) fn seal(maker: &str, message: Members, calls: Vec<Members>) -> Option<Value> {
    if message.is_empty() && calls.iter().all(Members::is_empty) {
        return None;
    }
    let value = |members: Members| match members.is_empty() {
        true => Value::Null,
        false => Value::Object(members),
    };
    let calls: Vec<Value> = calls.into_iter().map(value).collect();
    let data = json!({"message": value(message), "calls": calls});
    let bytes = data.to_string().len();
    if bytes > MOST_BYTES {
        tracing::warn!(maker, bytes, "members of an answer are too long and do not go back");
        return None;
    }
    Some(data)
}

/// The members that are sent back with a message to the maker that sent them.
#[derive(Default)]
pub(super) struct Back<'a>(Option<&'a Value>);

impl<'a> Back<'a> {
    pub(super) fn of(message: &'a Message, maker: &str) -> Self {
        match message {
            Message::Assistant { opaque, .. } => Self(own_data(opaque.as_ref(), maker)),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => Self(None),
        }
    }

    pub(super) fn message(&self) -> Members {
        members(self.0.and_then(|data| data.get("message")))
    }

    pub(super) fn call(&self, at: usize) -> Members {
        members(self.0.and_then(|data| data.get("calls")?.get(at)))
    }
}

fn members(value: Option<&Value>) -> Members {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(pieces: &[Value]) -> Value {
        let mut all = Members::new();
        for piece in pieces {
            merge(&mut all, members(Some(piece)));
        }
        Value::Object(all)
    }

    #[test]
    fn streamed_members_are_merged_into_those_of_a_whole_answer() {
        let table = [
            (
                vec![
                    json!({"reasoning_content": "Let "}),
                    json!({"reasoning_content": null}),
                    json!({"reasoning_content": "me\n"}),
                ],
                json!({"reasoning_content": "Let me\n"}),
            ),
            (
                vec![
                    json!({"reasoning_details": [{"type": "reasoning.text", "text": "a", "format": "f-v1", "index": 0}]}),
                    json!({"reasoning_details": [{"type": "reasoning.text", "text": "b", "format": "f-v1", "index": 0}]}),
                    json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "index": 0}, {"signature": "s", "index": 0, "type": "reasoning.text"}]}),
                ],
                json!({"reasoning_details": [
                    {"type": "reasoning.text", "text": "ab", "format": "f-v1", "index": 0, "signature": "s"},
                    {"type": "reasoning.encrypted", "data": "x", "index": 0}]}),
            ),
            (
                vec![
                    json!({"extra_content": {"google": {"thought_signature": "E"}}}),
                    json!({"extra_content": {"google": {"n": 1}}}),
                    json!({"extra_content": {"google": {"n": 2.5}}}),
                ],
                json!({"extra_content": {"google": {"thought_signature": "E", "n": 2.5}}}),
            ),
            (
                vec![
                    json!({"annotations": [{"url": "a"}]}),
                    json!({"annotations": [{"url": "a"}]}),
                ],
                json!({"annotations": [{"url": "a"}, {"url": "a"}]}),
            ),
            (vec![json!({"done": false}), json!({"done": true})], json!({"done": true})),
        ];
        for (pieces, whole) in table {
            assert_eq!(merged(&pieces), whole);
        }
    }

    #[test]
    fn members_of_many_parts_are_merged_and_too_long_members_are_not_sent_back() {
        let part = |at: usize| json!({"parts": [{"index": at, "text": "a"}]});
        let pieces: Vec<Value> = (0..20_000).flat_map(|at| [part(at), part(at)]).collect();
        let whole = merged(&pieces);
        assert_eq!(whole["parts"].as_array().unwrap().len(), 20_000);
        assert!(whole["parts"].as_array().unwrap().iter().all(|part| part["text"] == "aa"));
        assert!(seal("m", members(Some(&whole)), Vec::new()).is_some());
        let long = json!({"reasoning": "a".repeat(MOST_BYTES)});
        assert_eq!(seal("m", members(Some(&long)), Vec::new()), None);
    }
}
