//! Searches and changes the texts in JSON values. Texts at the same position in the elements of a
//! list are also searched as a joined text, because a secret may be split over them. Every other
//! change considers one text at a time.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Range,
};

use serde_json::{Map, Number, Value};

use crate::exact::{Exact, insert_marks};

impl Exact {
    /// Whether the texts or member names of a value contain a secret.
    pub fn value_contains_secret(&self, value: &Value) -> bool {
        !self.is_empty() && contains_secret(self, value)
    }

    /// Replaces secrets in the texts and member names of a value. It also finds a secret that is
    /// split over several texts of a list.
    pub fn scrub_value(&self, value: &mut Value) {
        if self.value_contains_secret(value) {
            scrub(self, value);
        }
    }
}

impl Exact {
    /// Returns a JSON text, such as the arguments of a call, without secrets. A text that is not
    /// JSON is searched as it is.
    pub fn scrub_json(&self, text: String) -> String {
        if self.is_empty() {
            return text;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(&text) else {
            return self.redact_secrets(&text).into_owned();
        };
        let is_found = self.value_contains_secret(&value);
        if is_found {
            scrub(self, &mut value);
        }
        // A member that is written twice occurs twice in the text but only once in the parsed
        // value.
        if is_found || self.contains_secret(&text) { value.to_string() } else { text }
    }
}

/// Whether a value contains a secret. Searches at least as thoroughly as [`scrub`], without
/// changing anything.
fn contains_secret(exact: &Exact, value: &Value) -> bool {
    let (mut texts, mut names) = (HashMap::new(), HashSet::new());
    collect_texts(value, &mut String::new(), &mut texts, &mut names);
    names.into_iter().any(|name| exact.contains_secret(name))
        || texts.into_values().any(|text| exact.contains_secret(&text))
}

/// Collects all member names, and the texts by their position. Texts at the same position are
/// joined.
fn collect_texts<'a>(
    value: &'a Value,
    place: &mut String,
    texts: &mut HashMap<String, String>,
    names: &mut HashSet<&'a str>,
) {
    match value {
        Value::String(text) => match texts.get_mut(place.as_str()) {
            Some(all) => all.push_str(text),
            None => drop(texts.insert(place.clone(), text.clone())),
        },
        Value::Array(list) => {
            place.push('*');
            list.iter().for_each(|value| collect_texts(value, place, texts, names));
            place.pop();
        }
        Value::Object(map) => {
            for (name, value) in map {
                names.insert(name);
                let length = place.len();
                place.push('/');
                place.push_str(name);
                collect_texts(value, place, texts, names);
                place.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Replaces the secrets in a value.
fn scrub(exact: &Exact, value: &mut Value) {
    let mut leaves: BTreeMap<String, Vec<&mut String>> = BTreeMap::new();
    collect_leaves(value, &mut String::new(), &mut leaves);
    for list in leaves.into_values() {
        scrub_parts(exact, list);
    }
    names(exact, value);
}

/// Collects the texts to change by their position. All elements of a list have the same position.
fn collect_leaves<'a>(
    value: &'a mut Value,
    place: &mut String,
    leaves: &mut BTreeMap<String, Vec<&'a mut String>>,
) {
    match value {
        Value::String(text) => match leaves.get_mut(place.as_str()) {
            Some(list) => list.push(text),
            None => drop(leaves.insert(place.clone(), vec![text])),
        },
        Value::Array(list) => {
            place.push('*');
            list.iter_mut().for_each(|value| collect_leaves(value, place, leaves));
            place.pop();
        }
        Value::Object(map) => {
            for (name, value) in map {
                let length = place.len();
                place.push('/');
                place.push_str(name);
                collect_leaves(value, place, leaves);
                place.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn scrub_parts(exact: &Exact, parts: Vec<&mut String>) {
    let whole: String = parts.iter().map(|part| part.as_str()).collect();
    let spans = exact.spans(&whole);
    if spans.is_empty() {
        return;
    }
    let (mut start, mut next) = (0, 0);
    for part in parts {
        let end = start + part.len();
        let mut inside: Vec<Range<usize>> = Vec::new();
        while let Some(span) = spans.get(next).filter(|span| span.start < end) {
            inside.push(span.start.max(start) - start..span.end.min(end) - start);
            if span.end > end {
                break;
            }
            next += 1;
        }
        if !inside.is_empty() {
            *part = insert_marks(part, &inside);
        }
        start = end;
    }
}

fn names(exact: &Exact, value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| names(exact, value)),
        Value::Object(map) => {
            map.values_mut().for_each(|value| names(exact, value));
            if map.keys().any(|name| !exact.spans(name).is_empty()) {
                *map = std::mem::take(map)
                    .into_iter()
                    .map(|(name, value)| (exact.redact_secrets(&name).into_owned(), value))
                    .collect();
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) => {}
    }
}

/// A leaf of a value, with the name of its member.
pub(crate) enum Leaf<'a> {
    Text(&'a str),
    Number(&'a Number),
}

/// Returns a copy of the value in which every text, number and name is replaced by the result of
/// `change`, or None if `change` replaced nothing.
pub(crate) fn map_leaves(
    value: &Value,
    name: &str,
    change: &mut impl FnMut(Leaf<'_>, &str) -> Option<String>,
) -> Option<Value> {
    match value {
        Value::String(text) => change(Leaf::Text(text), name).map(Value::String),
        Value::Number(number) => change(Leaf::Number(number), name).map(Value::String),
        Value::Array(list) => {
            let mut out = None;
            for (at, value) in list.iter().enumerate() {
                if let Some(new) = map_leaves(value, name, change) {
                    out.get_or_insert_with(|| list.clone())[at] = new;
                }
            }
            out.map(Value::Array)
        }
        Value::Object(map) => {
            let mut news = Vec::with_capacity(map.len());
            for (name, value) in map {
                let inner = map_leaves(value, name, change);
                news.push((change(Leaf::Text(name), ""), inner));
            }
            let any = news.iter().any(|(name, value)| name.is_some() || value.is_some());
            any.then(|| {
                let mut out = Map::new();
                for ((name, value), (new_name, new)) in map.iter().zip(news) {
                    out.insert(
                        new_name.unwrap_or_else(|| name.clone()),
                        new.unwrap_or_else(|| value.clone()),
                    );
                }
                Value::Object(out)
            })
        }
        Value::Null | Value::Bool(_) => None,
    }
}
