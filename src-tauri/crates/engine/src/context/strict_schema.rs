//! Adapts a schema to strict model providers, which refuse a whole request because of a list
//! without items or an unknown type. The adapted schema accepts more than the original. Arguments
//! are still checked against the tool's original schema.

use serde_json::{Map, Value, json};

/// Keywords whose values are data instead of schemas.
const DATA: [&str; 5] = ["enum", "const", "default", "example", "examples"];
/// Keywords whose values map names to schemas.
const MAPS: [&str; 5] =
    ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
const KINDS: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// Adapts a schema and the schemas within it.
pub(super) fn fit(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            drop_misfits(members);
            complete(members);
            for (name, part) in members.iter_mut() {
                match part {
                    _ if DATA.contains(&name.as_str()) => {}
                    Value::Object(fields) if MAPS.contains(&name.as_str()) => {
                        fields.values_mut().for_each(fit_field);
                    }
                    part => fit(part),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(fit),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn fit_field(field: &mut Value) {
    if field.is_object() { fit(field) } else { *field = json!({}) }
}

/// Removes members without meaning for a model, and keywords whose values have a wrong type.
fn drop_misfits(members: &mut Map<String, Value>) {
    members.retain(|name, value| match name.as_str() {
        "const" | "default" | "example" => true,
        "$schema" | "$comment" => false,
        "required" | "examples" => value.is_array(),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "title" | "description" => value.is_string(),
        "type" => {
            if let Value::Array(kinds) = value {
                kinds.retain(is_kind);
            }
            is_kind(value) || value.as_array().is_some_and(|kinds| !kinds.is_empty())
        }
        _ => !value.is_null(),
    });
}

fn is_kind(value: &Value) -> bool {
    value.as_str().is_some_and(|kind| KINDS.contains(&kind))
}

/// Adds missing members: the properties of an object, the properties that it requires, and the
/// items of a list.
fn complete(members: &mut Map<String, Value>) {
    let is = |kind: &str| match members.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|known| known == kind),
        known => known.is_some_and(|known| known == kind),
    };
    let (is_object, is_list) = (is("object"), is("array"));
    if is_object {
        let required = members.get("required").and_then(Value::as_array).cloned();
        let properties = members.entry("properties").or_insert_with(|| json!({}));
        if !properties.is_object() {
            *properties = json!({});
        }
        for name in required.iter().flatten().filter_map(Value::as_str) {
            if properties.get(name).is_none() {
                properties[name] = json!({});
            }
        }
    }
    match members.get_mut("items") {
        // A list of schemas by position, as in earlier drafts.
        Some(items @ Value::Array(_)) => {
            let places = items.take();
            let is_empty = places.as_array().is_none_or(Vec::is_empty);
            *items = if is_empty { json!({}) } else { json!({ "anyOf": places }) };
        }
        Some(items @ Value::Bool(_)) => *items = json!({}),
        None if is_list => drop(members.insert("items".into(), json!({}))),
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_adapted_to_strict_providers() {
        let of = |field: Value| json!({"type": "object", "properties": {"a": field}});
        let table = [
            (json!({"type": "array"}), json!({"type": "array", "items": {}})),
            (json!({"type": ["array", "null"]}), json!({"type": ["array", "null"], "items": {}})),
            (
                json!({"type": "array", "items": {"type": "array"}}),
                json!({"type": "array", "items": {"type": "array", "items": {}}}),
            ),
            (
                json!({"type": "array", "items": [{"type": "number"}, {"type": "string"}]}),
                json!({"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "string"}]}}),
            ),
            (
                json!({"type": "array", "prefixItems": [{"type": "number"}], "items": false}),
                json!({"type": "array", "prefixItems": [{"type": "number"}], "items": {}}),
            ),
            (json!({"type": "any", "description": "x"}), json!({"description": "x"})),
            (json!({"type": ["string", "date"]}), json!({"type": ["string"]})),
            (json!({"type": null, "enum": []}), json!({})),
            (
                json!({"type": "string", "required": true, "description": null, "default": null}),
                json!({"type": "string", "default": null}),
            ),
            (json!(true), json!({})),
            (
                json!({"type": "object", "required": ["b"]}),
                json!({"type": "object", "required": ["b"], "properties": {"b": {}}}),
            ),
            (
                json!({"type": "object", "properties": {"type": {"type": "array"}, "required": {"type": "string"}}}),
                json!({"type": "object", "properties": {"type": {"type": "array", "items": {}}, "required": {"type": "string"}}}),
            ),
            (
                json!({"anyOf": [{"type": "array"}, {"required": ["x"]}], "enum": [{"type": "array"}]}),
                json!({"anyOf": [{"type": "array", "items": {}}, {"required": ["x"]}], "enum": [{"type": "array"}]}),
            ),
        ];
        for (field, expected) in table {
            let mut schema = of(field.clone());
            fit(&mut schema);
            assert_eq!(schema, of(expected), "{field}");
        }
        let mut schema =
            json!({"$schema": "x", "type": "object", "$defs": {"l": {"type": "array"}}});
        fit(&mut schema);
        let defs = json!({"l": {"type": "array", "items": {}}});
        assert_eq!(schema, json!({"type": "object", "$defs": defs, "properties": {}}));
    }
}
