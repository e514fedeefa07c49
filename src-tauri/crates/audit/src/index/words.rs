//! The words under which a record is found: its names, and the texts and numbers of its revealed
//! values. The same record and values always give the same words, because an erasure must specify
//! the words that it removes.

use serde_json::{Map, Value};

/// Plain members whose texts are names that people look for.
const NAMES: [&str; 10] =
    ["tool", "agent", "model", "status", "setting", "pack", "server", "code", "reason", "action"];
/// The maximum number of bytes of a record that are indexed. Longer values are found by their
/// beginning.
const MOST: usize = 256 << 10;
/// The maximum depth up to which texts that contain JSON are parsed.
const DEPTH: usize = 32;

/// Returns the words of a record with these values, which are in the order of their members.
pub(super) fn of_record(
    fields: &Map<String, Value>,
    session: Option<&str>,
    reveals: &[(String, String)],
) -> String {
    let mut words = String::new();
    for text in NAMES.iter().filter_map(|name| fields.get(*name)?.as_str()) {
        push(text, &mut words);
    }
    if let Some(session) = session {
        push(session, &mut words);
    }
    for (_, value) in reveals {
        match serde_json::from_str(value) {
            Ok(value) => flatten(&value, DEPTH, &mut words),
            Err(_) => push(value, &mut words),
        }
    }
    words
}

/// Returns the words for the names of a record in the column of names. The words do not depend on
/// values, but an erasure must specify them, too.
pub(super) fn of_names(ids: impl IntoIterator<Item = i64>) -> String {
    ids.into_iter().map(of_name).collect::<Vec<_>>().join(" ")
}

/// Returns the word for one name. Its first character is for private use, so that hardly any text
/// contains the same word and causes additional records to be read.
pub(super) fn of_name(id: i64) -> String {
    format!("\u{e000}{id}")
}

fn push(text: &str, words: &mut String) {
    let left = MOST.saturating_sub(words.len());
    let end = text.floor_char_boundary(left);
    if end > 0 {
        words.push_str(&text[..end]);
        words.push('\n');
    }
}

fn flatten(value: &Value, depth: usize, words: &mut String) {
    if depth == 0 || words.len() >= MOST {
        return;
    }
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => push(&number.to_string(), words),
        Value::String(text) => {
            let inner = text
                .starts_with(['{', '['])
                .then(|| serde_json::from_str::<Value>(text).ok())
                .flatten();
            match inner {
                Some(inner) => flatten(&inner, depth - 1, words),
                None => push(text, words),
            }
        }
        Value::Array(list) => list.iter().for_each(|one| flatten(one, depth - 1, words)),
        Value::Object(members) => {
            members.values().for_each(|one| flatten(one, depth - 1, words));
        }
    }
}
