//! Describes tools in a form that every provider accepts, for a server that refused the full
//! descriptions: short descriptions, and schemas with types, properties and items only. Arguments
//! are still checked against the whole schema. The module knows no wire.

use serde_json::{Map, Value, json};

/// The maximum number of characters of a description that every provider accepts.
const MOST_CHARS: usize = 1_000;
/// The maximum nesting depth that is followed, and the maximum number of parts of one schema.
const DEPTH: usize = 8;
const MOST_PARTS: usize = 500;

/// Simplifies the tools in a list, whose schemas are under `member`.
pub(crate) fn simplify_tools(tools: Option<&mut Value>, member: &str) {
    for tool in tools.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(description) = tool.get_mut("description") {
            *description = json!(plain_text(description.as_str().unwrap_or_default()));
        }
        if let Some(schema) = tool.get_mut(member) {
            *schema = plain_schema(schema);
        }
    }
}

/// Returns the beginning of a description, up to the maximum length.
pub(crate) fn plain_text(text: &str) -> &str {
    text.char_indices().nth(MOST_CHARS).map_or(text, |(at, _)| &text[..at])
}

/// Returns a schema, excluding the keywords that some providers refuse.
pub(crate) fn plain_schema(schema: &Value) -> Value {
    Plain { root: schema, left: MOST_PARTS }.of(schema, DEPTH)
}

struct Plain<'a> {
    root: &'a Value,
    /// How many more parts may be described.
    left: usize,
}

impl<'a> Plain<'a> {
    fn of(&mut self, schema: &'a Value, depth: usize) -> Value {
        if depth == 0 || self.left == 0 {
            return json!({"type": "string"});
        }
        self.left -= 1;
        if let Some(part) = self.meant_part(schema) {
            return self.of(part, depth - 1);
        }
        let mut out = Map::new();
        if let Some(text) = schema.get("description").and_then(Value::as_str) {
            out.insert("description".into(), json!(plain_text(text)));
        }
        let fields = schema.get("properties").and_then(Value::as_object);
        let kind = kind(schema).unwrap_or(if fields.is_some() { "object" } else { "string" });
        out.insert("type".into(), json!(kind));
        match kind {
            "object" => {
                let fields = fields.into_iter().flatten();
                let fields: Map<String, Value> =
                    fields.map(|(name, field)| (name.clone(), self.of(field, depth - 1))).collect();
                let required = schema.get("required").and_then(Value::as_array);
                let is_field =
                    |name: &&Value| name.as_str().is_some_and(|n| fields.contains_key(n));
                let required: Vec<&Value> =
                    required.into_iter().flatten().filter(is_field).collect();
                if !required.is_empty() {
                    out.insert("required".into(), json!(required));
                }
                out.insert("properties".into(), Value::Object(fields));
            }
            "array" => {
                let items = schema.get("items").filter(|items| items.is_object());
                let items =
                    items.map_or(json!({"type": "string"}), |items| self.of(items, depth - 1));
                out.insert("items".into(), items);
            }
            "string" => {
                let values = schema.get("enum").and_then(Value::as_array);
                if let Some(values) = values.filter(|values| values.iter().all(Value::is_string)) {
                    out.insert("enum".into(), json!(values));
                }
            }
            _ => {}
        }
        Value::Object(out)
    }

    /// Returns the part that a reference refers to, or the first alternative of a schema without a
    /// type.
    fn meant_part(&self, schema: &'a Value) -> Option<&'a Value> {
        let place =
            schema.get("$ref").and_then(Value::as_str).and_then(|place| place.strip_prefix('#'));
        let referred = place.and_then(|place| self.root.pointer(place));
        if referred.is_some() || kind(schema).is_some() {
            return referred;
        }
        let choices =
            ["anyOf", "oneOf", "allOf"].iter().filter_map(|word| schema.get(*word)?.as_array());
        choices.flatten().find(|part| part.get("type").is_none_or(|kind| kind != "null"))
    }
}

/// Returns the type of a schema, or the first type if there are several.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_schema_keeps_only_keywords_that_every_provider_accepts() {
        let schema = json!({"type": "object", "additionalProperties": false, "$defs": {"d": {"type": "integer", "exclusiveMinimum": true}},
            "required": ["a", "gone"], "properties": {
                "a": {"type": ["string", "null"], "format": "uri", "pattern": "^(?!x)", "enum": ["x", "y"], "description": "d"},
                "b": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/d"}}]},
                "c": {"const": "x"}, "d": {"properties": {"e": {"type": "number", "default": 1}}},
                "f": {"$ref": "#/properties/f"}}});
        let shown = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string", "enum": ["x", "y"], "description": "d"},
            "b": {"type": "array", "items": {"type": "integer"}},
            "c": {"type": "string"},
            "d": {"type": "object", "properties": {"e": {"type": "number"}}},
            "f": {"type": "string"}}});
        assert_eq!(plain_schema(&schema), shown);
        let mut tools =
            json!([{"name": "a", "description": "å".repeat(2_000), "input_schema": schema}]);
        simplify_tools(Some(&mut tools), "input_schema");
        assert_eq!(tools[0]["description"].as_str().unwrap().chars().count(), MOST_CHARS);
        assert_eq!(tools[0]["input_schema"], shown);
    }

    #[test]
    fn a_recursive_schema_is_expanded_to_a_limited_size() {
        let fields: Map<String, Value> =
            (0..20).map(|at| (format!("f{at}"), json!({"$ref": "#"}))).collect();
        let schema = json!({"type": "object", "properties": fields});
        assert!(plain_schema(&schema).to_string().matches("type").count() < 2 * 20 * MOST_PARTS);
    }
}
