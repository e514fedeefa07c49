//! What a manifest must fulfil beyond its shape. The checks read plain JSON rather than the typed manifest, so that they
//! all run even when the shape is wrong somewhere: a missing member is the schema's business, not theirs.

mod agent;
mod calls;
mod conversation;
mod entities;
mod languages;
mod preview;
mod schemas;
mod security;
mod servers;
mod tools;

use std::path::Path;

use serde_json::Value;

use crate::fault::Faults;

/// What the checks look at.
pub(crate) struct Subject<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) manifest: &'a Value,
}

impl<'a> Subject<'a> {
    /// The tool entries with their JSON pointers.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (String, &'a Value)> + use<'a> {
        list(self.manifest.pointer("/tools/tools")).enumerate().map(|(i, tool)| (format!("/tools/tools/{i}"), tool))
    }

    /// A named schema of the pack.
    pub(crate) fn schema(&self, reference: &str) -> Option<&'a Value> {
        let mut schema = self.manifest.get("schemas")?.get(crate::refs::name_of(reference)?)?;
        // A schema may be another name for one more; a circle ends the walk.
        for _ in 0..16 {
            match schema.get("$ref").and_then(Value::as_str).and_then(crate::refs::name_of) {
                Some(next) => schema = self.manifest.get("schemas")?.get(next)?,
                None => return Some(schema),
            }
        }
        None
    }

    /// The names of a tool's parameters, when its input schema is there.
    pub(crate) fn parameters(&self, tool: &Value) -> Option<Vec<&'a str>> {
        let schema = self.schema(text(tool, "input_schema_ref")?)?;
        Some(schema.get("properties").and_then(Value::as_object).map(|p| p.keys().map(String::as_str).collect()).unwrap_or_default())
    }
}

/// Runs every check. Faults keep a pack out; warnings are for its author.
pub(crate) fn run_checks(subject: &Subject<'_>, faults: &mut Faults, warnings: &mut Faults) {
    schemas::check(subject, faults);
    tools::check(subject, faults);
    agent::check(subject, faults);
    preview::check(subject, faults, warnings);
    security::check(subject, faults);
    servers::check(subject, faults);
    conversation::check(subject, faults);
    entities::check(subject, faults);
    languages::check(subject, faults);
}

/// The items of a list; nothing when there is none.
pub(crate) fn list(value: Option<&Value>) -> std::slice::Iter<'_, Value> {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().iter()
}

/// A text member.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}
