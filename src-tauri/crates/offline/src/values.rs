//! Provides helpers for JSON values: dotted paths, numbers in texts, and texts at pointers with
//! `*`.

use contract::amounts;
use serde_json::{Map, Value};

/// Sets a value at a dotted path such as `filters.maxPrice`.
pub(super) fn set(args: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            args.insert(path.to_owned(), value);
        }
        Some((head, rest)) => {
            let inner = args.entry(head).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}

pub(super) fn get<'a>(args: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    match path.split_once('.') {
        None => args.get(path),
        Some((head, rest)) => get(args.get(head)?.as_object()?, rest),
    }
}

/// Returns a number, also from a text ("1299.00") or an amount ("1 299,00 kr").
pub(super) fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().or_else(|| {
            amounts::read(text).map(|value| value as f64 / 10_f64.powi(amounts::PLACES as i32))
        }),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the text of a string or number.
pub(super) fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Collects the texts at a pointer. `*` stands for every element of a list or object.
pub(super) fn texts(value: &Value, pointer: &str, out: &mut Vec<String>) {
    let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
    if pointer.is_empty() {
        match value {
            Value::Array(items) => items.iter().for_each(|item| texts(item, "", out)),
            Value::Object(members) => members.values().for_each(|member| texts(member, "", out)),
            Value::Null | Value::Bool(_) => {}
            Value::Number(_) | Value::String(_) => out.extend(as_text(value)),
        }
        return;
    }
    let (head, rest) = pointer.split_once('/').unwrap_or((pointer, ""));
    match value {
        Value::Array(items) if head == "*" => items.iter().for_each(|item| texts(item, rest, out)),
        Value::Object(members) if head == "*" => {
            members.values().for_each(|member| texts(member, rest, out))
        }
        Value::Array(items) => head
            .parse::<usize>()
            .ok()
            .and_then(|i| items.get(i))
            .into_iter()
            .for_each(|item| texts(item, rest, out)),
        Value::Object(members) => {
            members.get(head).into_iter().for_each(|member| texts(member, rest, out))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether the text occurs as a whole value anywhere in a JSON value.
pub(super) fn contains(value: &Value, wanted: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| contains(item, wanted)),
        Value::Object(members) => members.values().any(|member| contains(member, wanted)),
        Value::Null | Value::Bool(_) => false,
        Value::Number(_) | Value::String(_) => as_text(value).is_some_and(|text| text == wanted),
    }
}
