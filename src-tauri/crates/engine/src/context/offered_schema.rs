//! Simplifies the JSON schema of a tool's arguments to the form that model providers accept: an
//! object without alternatives at the top level. Otherwise providers refuse the whole request.
//! Arguments are still checked against the full schema.

use serde_json::{Map, Value, json};

use super::strict_schema;

/// Schema keywords that providers refuse at the top level.
const REFUSED: [&str; 6] = ["anyOf", "oneOf", "allOf", "not", "enum", "$ref"];
/// The greatest nesting of references and alternatives that is followed, and the most that are
/// followed in total.
const DEPTH: usize = 5;
const PARTS: usize = 200;
/// The most bytes that replace references.
const COPIED: usize = 256 * 1024;

/// Returns a schema as sent to a model.
pub(crate) fn schema_for_model(schema: &Value) -> Value {
    let mut schema = as_object(schema);
    strict_schema::fit(&mut schema);
    schema
}

/// Returns a schema as an object without alternatives at the top.
fn as_object(schema: &Value) -> Value {
    let plain = schema.get("type").is_some_and(|kind| kind == "object")
        && REFUSED.iter().all(|word| schema.get(word).is_none());
    if plain {
        return schema.clone();
    }
    let mut found = FlattenedSchema::default();
    collect_parameters(schema, schema, true, DEPTH, &mut found);
    let mut members = schema.as_object().cloned().unwrap_or_default();
    REFUSED.iter().for_each(|word| drop(members.remove(*word)));
    found.required.retain(|name| found.properties.contains_key(name));
    let mut left = COPIED;
    for field in found.properties.values_mut() {
        resolve_removed_references(schema, field, DEPTH, &mut left);
    }
    members.insert("type".into(), json!("object"));
    members.insert("properties".into(), Value::Object(found.properties));
    members.insert("required".into(), json!(found.required));
    Value::Object(members)
}

#[derive(Default)]
struct FlattenedSchema {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// The number of subschemas visited.
    parts: usize,
}

/// Replaces references to removed parts of the schema by those parts. A reference that is nested
/// too deep, or that exceeds the bytes `left`, is replaced by a schema that accepts any value.
fn resolve_removed_references(root: &Value, value: &mut Value, depth: usize, left: &mut usize) {
    match value {
        Value::Object(members) => {
            let place = members
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|place| place.strip_prefix('#'));
            let gone = place.filter(|place| {
                place.is_empty()
                    || REFUSED.iter().any(|word| place.trim_start_matches('/').starts_with(word))
            });
            if let Some(place) = gone {
                let part = root.pointer(place).filter(|_| depth > 0 && !place.is_empty());
                let part = part.filter(|part| has_room(part, left)).cloned();
                *value = part.unwrap_or_else(|| json!({}));
                if depth > 0 {
                    resolve_removed_references(root, value, depth - 1, left);
                }
                return;
            }
            for value in members.values_mut() {
                resolve_removed_references(root, value, depth, left);
            }
        }
        Value::Array(list) => {
            list.iter_mut().for_each(|value| resolve_removed_references(root, value, depth, left))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Subtracts the bytes of a part from `left`. If too few bytes are left, returns false and sets
/// `left` to zero.
fn has_room(part: &Value, left: &mut usize) -> bool {
    let own = 1 + part.as_str().map_or(0, str::len);
    let enough = own <= *left;
    *left = left.saturating_sub(own);
    enough
        && match part {
            Value::Array(list) => list.iter().all(|value| has_room(value, left)),
            Value::Object(members) => members.iter().all(|(name, value)| {
                *left = left.saturating_sub(name.len());
                has_room(value, left)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
}

/// Collects the parameters of a schema and of its alternatives. `always` says whether this part of
/// the schema applies in every alternative, so that its required parameters stay required.
fn collect_parameters(
    root: &Value,
    schema: &Value,
    always: bool,
    depth: usize,
    found: &mut FlattenedSchema,
) {
    if depth == 0 || found.parts >= PARTS {
        return;
    }
    found.parts += 1;
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        match found.properties.get_mut(name) {
            None => drop(found.properties.insert(name.clone(), field.clone())),
            Some(known) if known == field => {}
            Some(known) => *known = join_alternatives(known.take(), field.clone()),
        }
    }
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|_| always);
    for name in required {
        if !found.required.iter().any(|known| known == name) {
            found.required.push(name.to_owned());
        }
    }
    let referred = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|place| root.pointer(place.strip_prefix('#')?));
    referred.into_iter().for_each(|part| collect_parameters(root, part, always, depth - 1, found));
    for (word, always) in [("allOf", always), ("anyOf", false), ("oneOf", false)] {
        for part in schema.get(word).and_then(Value::as_array).into_iter().flatten() {
            collect_parameters(root, part, always, depth - 1, found);
        }
    }
}

/// Joins two schemas of a parameter as alternatives, which providers accept below the top level.
fn join_alternatives(known: Value, other: Value) -> Value {
    match known.get("anyOf").and_then(Value::as_array) {
        Some(list) if known.as_object().is_some_and(|members| members.len() == 1) => {
            let mut list = list.clone();
            if !list.contains(&other) {
                list.push(other);
            }
            json!({"anyOf": list})
        }
        _ => json!({"anyOf": [known, other]}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_schema_is_offered_unchanged() {
        let schema = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["a"]});
        assert_eq!(schema_for_model(&schema), schema);
    }

    #[test]
    fn every_offered_object_schema_has_properties() {
        let table = [
            (json!({"type": "object"}), json!({"type": "object", "properties": {}})),
            (
                json!({"type": "object", "properties": {"type": {"type": "object"}, "enum": {"type": ["object", "null"]}}}),
                json!({"type": "object", "properties": {
                    "type": {"type": "object", "properties": {}},
                    "enum": {"type": ["object", "null"], "properties": {}}}}),
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "additionalProperties": true}, "default": [{"type": "object"}]}}}),
                json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "additionalProperties": true, "properties": {}}, "default": [{"type": "object"}]}}}),
            ),
        ];
        for (schema, shown) in table {
            assert_eq!(schema_for_model(&schema), shown);
        }
    }

    #[test]
    fn top_level_any_of_and_one_of_are_merged_into_properties() {
        let either_id = json!({"type": "object", "additionalProperties": false, "anyOf": [{"required": ["id"]}, {"required": ["no"]}],
            "properties": {"id": {"type": "integer"}, "no": {"type": "string"}}});
        let shown = json!({"type": "object", "additionalProperties": false, "required": [],
            "properties": {"id": {"type": "integer"}, "no": {"type": "string"}}});
        assert_eq!(schema_for_model(&either_id), shown);

        let kinds = json!({"oneOf": [{"$ref": "#/$defs/mail"}, {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "call"}, "to": {"type": "string"}}},
            {"properties": {"kind": {"const": "note"}}}],
            "allOf": [{"required": ["urgent", "missing"], "properties": {"urgent": {"type": "boolean"}}}],
            "$defs": {"mail": {"type": "object", "properties": {"kind": {"const": "mail"}, "to": {"type": "string"}}, "required": ["to"]}}});
        let shown = schema_for_model(&kinds);
        assert_eq!(shown["type"], "object");
        assert_eq!(
            shown["required"],
            json!(["urgent"]),
            "what only one of them requires is required of none"
        );
        let kind = json!({"anyOf": [{"const": "mail"}, {"const": "call"}, {"const": "note"}]});
        assert_eq!(
            shown["properties"],
            json!({"kind": kind, "to": {"type": "string"}, "urgent": {"type": "boolean"}})
        );
        assert!(
            shown.get("oneOf").is_none()
                && shown.get("allOf").is_none()
                && shown.get("$defs").is_some()
        );
    }

    #[test]
    fn a_reference_to_a_removed_schema_location_is_replaced_by_its_target() {
        let schema = json!({"anyOf": [
            {"properties": {"home": {"type": "object", "properties": {"street": {"type": "string"}}}}},
            {"properties": {"work": {"$ref": "#/anyOf/0/properties/home"}, "list": {"type": "array", "items": {"$ref": "#/anyOf/0/properties/home"}},
                "self": {"$ref": "#"}, "loop": {"$ref": "#/anyOf/1/properties/loop"}, "kept": {"$ref": "#/$defs/k"}}}],
            "$defs": {"k": {"type": "integer"}}});
        let shown = schema_for_model(&schema);
        let (fields, home) = (
            &shown["properties"],
            json!({"type": "object", "properties": {"street": {"type": "string"}}}),
        );
        assert_eq!((&fields["work"], &fields["list"]["items"]), (&home, &home));
        assert_eq!(
            (&fields["self"], &fields["loop"], &fields["kept"]),
            (&json!({}), &json!({}), &json!({"$ref": "#/$defs/k"}))
        );
    }

    #[test]
    fn a_schema_with_exponentially_many_references_stays_small() {
        let fields = |text: &str| -> Map<String, Value> {
            let field = json!({"$ref": "#/anyOf/0", "description": text});
            (0..40).map(|at| (format!("p{at}"), field.clone())).collect()
        };
        for text in ["", &"long ".repeat(1_000)] {
            let schema = json!({"anyOf": [{"type": "object", "properties": fields(text)}]});
            let shown = schema_for_model(&schema);
            assert_eq!(shown["properties"].as_object().map(Map::len), Some(40));
            assert!(shown.to_string().len() < 8 * COPIED);
        }
    }

    #[test]
    fn a_recursive_schema_is_converted_without_endless_recursion() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}], "properties": {"x": {}}}}});
        assert_eq!(schema_for_model(&schema)["properties"], json!({"x": {}}));
        let many: Vec<Value> = (0..2_000).map(|_| json!({"$ref": "#"})).collect();
        assert_eq!(
            schema_for_model(&json!({"anyOf": many, "properties": {"y": {"type": "string"}}}))["properties"],
            json!({"y": {"type": "string"}})
        );
        assert_eq!(
            schema_for_model(&json!(true)),
            json!({"type": "object", "properties": {}, "required": []})
        );
    }
}
