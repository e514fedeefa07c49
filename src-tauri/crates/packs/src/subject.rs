//! A manifest as plain JSON, for checks: access to its tools, schemas and members, whether or not its
//! shape is right.

use std::path::Path;

use serde_json::Value;

use crate::refs;

/// A manifest that is checked.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) manifest: &'a Value,
    /// Whether the host has made the manifest, whose programs are then no files of a pack.
    pub(crate) is_made_by_host: bool,
}

impl<'a> Subject<'a> {
    /// Returns the tool entries with their JSON pointers.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (String, &'a Value)> + use<'a> {
        list(self.manifest.pointer("/tools/tools"))
            .enumerate()
            .map(|(i, tool)| (format!("/tools/tools/{i}"), tool))
    }

    /// Returns a named schema of the pack.
    pub(crate) fn schema(&self, reference: &str) -> Option<&'a Value> {
        let mut schema = self.manifest.get("schemas")?.get(refs::name_of(reference)?)?;
        // A schema may refer to another one. The limit ends a cycle.
        for _ in 0..16 {
            match schema.get("$ref").and_then(Value::as_str).and_then(refs::name_of) {
                Some(next) => schema = self.manifest.get("schemas")?.get(next)?,
                None => return Some(schema),
            }
        }
        None
    }

    /// Returns the names of a tool's parameters, or None without an input schema.
    pub(crate) fn parameters(&self, tool: &Value) -> Option<Vec<&'a str>> {
        let schema = self.schema(text(tool, "input_schema_ref")?)?;
        Some(
            schema
                .get("properties")
                .and_then(Value::as_object)
                .map(|p| p.keys().map(String::as_str).collect())
                .unwrap_or_default(),
        )
    }
}

/// Returns a member that exists and is not `null`.
pub(crate) fn present<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|v| !v.is_null())
}

/// Iterates over a list, or over nothing if there is none.
pub(crate) fn list(value: Option<&Value>) -> std::slice::Iter<'_, Value> {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().iter()
}

/// Returns a text member.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}
