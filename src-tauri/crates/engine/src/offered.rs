//! The schema of a tool's arguments as model endpoints take it: an object, and no alternatives at the top, where they refuse the whole
//! request. What the whole schema asks for beyond that is checked when the arguments come.

use serde_json::{Map, Value, json};

/// Words at the top that endpoints refuse.
const REFUSED: [&str; 6] = ["anyOf", "oneOf", "allOf", "not", "enum", "$ref"];
/// References and alternatives within each other that are followed.
const DEPTH: usize = 5;

/// What a model is shown of a schema.
pub(crate) fn offered(schema: &Value) -> Value {
    let plain = schema.get("type").is_some_and(|kind| kind == "object") && REFUSED.iter().all(|word| schema.get(word).is_none());
    if plain {
        return schema.clone();
    }
    let mut found = Found::default();
    gather(schema, schema, true, DEPTH, &mut found);
    let mut members = schema.as_object().cloned().unwrap_or_default();
    REFUSED.iter().for_each(|word| drop(members.remove(*word)));
    found.required.retain(|name| found.properties.contains_key(name));
    members.insert("type".into(), json!("object"));
    members.insert("properties".into(), Value::Object(found.properties));
    members.insert("required".into(), json!(found.required));
    Value::Object(members)
}

#[derive(Default)]
struct Found {
    properties: Map<String, Value>,
    required: Vec<String>,
}

/// The parameters of a schema and of its alternatives. `always`: whatever is chosen, this part holds.
fn gather(root: &Value, schema: &Value, always: bool, depth: usize, found: &mut Found) {
    if depth == 0 {
        return;
    }
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        match found.properties.get_mut(name) {
            None => drop(found.properties.insert(name.clone(), field.clone())),
            Some(known) if known == field => {}
            Some(known) => *known = either(known.take(), field.clone()),
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).filter(|_| always);
    for name in required {
        if !found.required.iter().any(|known| known == name) {
            found.required.push(name.to_owned());
        }
    }
    let referred = schema.get("$ref").and_then(Value::as_str).and_then(|place| root.pointer(place.strip_prefix('#')?));
    referred.into_iter().for_each(|part| gather(root, part, always, depth - 1, found));
    for (word, always) in [("allOf", always), ("anyOf", false), ("oneOf", false)] {
        for part in schema.get(word).and_then(Value::as_array).into_iter().flatten() {
            gather(root, part, always, depth - 1, found);
        }
    }
}

/// Below the top alternatives are fine.
fn either(known: Value, other: Value) -> Value {
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
    fn an_object_stays_as_it_is() {
        let schema = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["a"]});
        assert_eq!(offered(&schema), schema);
    }

    #[test]
    fn alternatives_at_the_top_become_parameters() {
        let either_id = json!({"type": "object", "additionalProperties": false, "anyOf": [{"required": ["id"]}, {"required": ["no"]}],
            "properties": {"id": {"type": "integer"}, "no": {"type": "string"}}});
        let shown = json!({"type": "object", "additionalProperties": false, "required": [],
            "properties": {"id": {"type": "integer"}, "no": {"type": "string"}}});
        assert_eq!(offered(&either_id), shown);

        let kinds = json!({"oneOf": [{"$ref": "#/$defs/mail"}, {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "call"}, "to": {"type": "string"}}},
            {"properties": {"kind": {"const": "note"}}}],
            "allOf": [{"required": ["urgent", "missing"], "properties": {"urgent": {"type": "boolean"}}}],
            "$defs": {"mail": {"type": "object", "properties": {"kind": {"const": "mail"}, "to": {"type": "string"}}, "required": ["to"]}}});
        let shown = offered(&kinds);
        assert_eq!(shown["type"], "object");
        assert_eq!(shown["required"], json!(["urgent"]), "what only one of them requires is required of none");
        let kind = json!({"anyOf": [{"const": "mail"}, {"const": "call"}, {"const": "note"}]});
        assert_eq!(shown["properties"], json!({"kind": kind, "to": {"type": "string"}, "urgent": {"type": "boolean"}}));
        assert!(shown.get("oneOf").is_none() && shown.get("allOf").is_none() && shown.get("$defs").is_some());
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}], "properties": {"x": {}}}}});
        assert_eq!(offered(&schema)["properties"], json!({"x": {}}));
        assert_eq!(offered(&json!(true)), json!({"type": "object", "properties": {}, "required": []}));
    }
}
