//! Gives checks access to a manifest as plain JSON: its tools, schemas and members, even if its
//! shape is wrong.

use std::path::Path;

use serde_json::Value;

use crate::refs;

/// A manifest to check.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) manifest: &'a Value,
    /// Whether the manifest was created by the host, so that its programs are not files of a pack.
    pub(crate) is_made_by_host: bool,
}

impl<'a> Subject<'a> {
    /// Returns the tool entries with their JSON pointers.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (String, &'a Value)> + use<'a> {
        list(self.manifest.pointer("/tools/tools"))
            .enumerate()
            .map(|(i, tool)| (format!("/tools/tools/{i}"), tool))
    }

    /// Returns the schema of the pack that a reference names.
    pub(crate) fn schema(&self, reference: &str) -> Option<&'a Value> {
        let mut schema = self.manifest.get("schemas")?.get(refs::name_of(reference)?)?;
        // A schema may refer to another schema. The limit stops at cycles.
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

/// Iterates over a list, or over no elements if there is no list.
pub(crate) fn list(value: Option<&Value>) -> std::slice::Iter<'_, Value> {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().iter()
}

/// Returns a text member.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}
