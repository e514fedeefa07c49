//! Keeps the replaced values of a turn, in memory only, and restores them. A placeholder that a
//! model invents, or remembers from elsewhere, restores nothing.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use contract::RedactionCount;
use serde_json::Value;

use crate::{
    Kind, Placeholder,
    placeholder::{PlaceholderMatch, placeholders, read},
};

/// Placeholders with their values, and the number of removed secrets. Secrets are never restored.
#[derive(Clone, Default)]
pub struct Replaced {
    values: BTreeMap<Placeholder, Arc<str>>,
    secrets: u32,
}

impl std::fmt::Debug for Replaced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replaced")
            .field("placeholders", &self.values.len())
            .field("secrets", &self.secrets)
            .finish()
    }
}

impl Replaced {
    pub(crate) fn add(&mut self, placeholder: Placeholder, value: &str) {
        self.values.entry(placeholder).or_insert_with(|| Arc::from(value));
    }

    pub(crate) fn add_secrets(&mut self, count: usize) {
        self.secrets = self.secrets.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Adds the values of another text.
    pub fn merge(&mut self, other: &Self) {
        self.values.extend(
            other.values.iter().map(|(placeholder, value)| (*placeholder, Arc::clone(value))),
        );
        self.secrets = self.secrets.saturating_add(other.secrets);
    }

    /// Whether no value was replaced.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.secrets == 0
    }

    /// Whether a placeholder stands for a value.
    pub(crate) fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Returns how many different values of each kind were replaced, and the number of removed
    /// secrets.
    pub fn counts(&self) -> Vec<RedactionCount> {
        let mut counts: BTreeMap<Kind, u32> = BTreeMap::new();
        if self.secrets > 0 {
            counts.insert(Kind::Secret, self.secrets);
        }
        for placeholder in self.values.keys() {
            *counts.entry(placeholder.kind).or_default() += 1;
        }
        counts.into_iter().map(|(kind, count)| RedactionCount { kind, count }).collect()
    }

    /// Returns the value of a placeholder.
    pub(crate) fn value(&self, placeholder: Placeholder) -> Option<&str> {
        self.values.get(&placeholder).map(AsRef::as_ref)
    }

    /// Replaces the placeholders of a text by their values. Restored values are not searched for
    /// placeholders.
    pub fn restore<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = String::new();
        let mut done = 0;
        for (range, placeholder) in placeholders(text) {
            if let Some(value) = self.value(placeholder) {
                out.push_str(&text[done..range.start]);
                out.push_str(value);
                done = range.end;
            }
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// Restores the arguments of a call as a model wrote them. Values are inserted into the strings
    /// of the parsed JSON, so a quotation mark in a value does not change the structure. Text that
    /// is not JSON is restored as text.
    pub fn restore_arguments(&self, text: String) -> String {
        if self.values.is_empty() {
            return text;
        }
        match serde_json::from_str::<Value>(&text) {
            Ok(value) => {
                let restored = self.restore_value(value.clone());
                if restored == value { text } else { restored.to_string() }
            }
            Err(_) => self.restore(&text).into_owned(),
        }
    }

    /// Restores the texts and names of a value.
    pub fn restore_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.restore(&text).into_owned()),
            Value::Array(list) => {
                Value::Array(list.into_iter().map(|value| self.restore_value(value)).collect())
            }
            Value::Object(map) => Value::Object(
                map.into_iter()
                    .map(|(name, value)| {
                        (self.restore(&name).into_owned(), self.restore_value(value))
                    })
                    .collect(),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    /// Reads the placeholder, or the beginning of one, at the start of a text.
    pub(crate) fn read_placeholder_at(text: &str) -> PlaceholderMatch {
        read(text)
    }
}
