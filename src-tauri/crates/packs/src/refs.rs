//! Finds `#/schemas/Name` references, and makes a schema self-contained.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The beginning of every reference.
pub(crate) const PREFIX: &str = "#/schemas/";

/// Returns the name of the schema that a reference points to, or none if the reference has another
/// form.
pub(crate) fn name_of(reference: &str) -> Option<&str> {
    reference
        .strip_prefix(PREFIX)
        .filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// Collects all `$ref` texts below a value, with their JSON pointers.
pub(crate) fn references(value: &Value, pointer: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let below = crate::fault::join(pointer, name);
                match member {
                    Value::String(text) if name == "$ref" => found.push((below, text.clone())),
                    _ => references(member, &below, found),
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                references(item, &format!("{pointer}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns a schema as one document. The schemas that it refers to are included under `$defs`.
pub(crate) fn bundle(schemas: &BTreeMap<String, Value>, name: &str) -> Option<Value> {
    let mut root = schemas.get(name)?.clone();
    let mut followed = BTreeSet::from([name.to_owned()]);
    while let Some(next) = only_reference(&root) {
        if !followed.insert(next.clone()) {
            return None;
        }
        root = schemas.get(&next)?.clone();
    }
    let mut defs = Map::new();
    let mut todo = names_below(&root);
    while let Some(name) = todo.pop() {
        if defs.contains_key(&name) {
            continue;
        }
        let mut schema = schemas.get(&name)?.clone();
        todo.extend(names_below(&schema));
        redirect(&mut schema);
        defs.insert(name, schema);
    }
    redirect(&mut root);
    if let (Value::Object(members), false) = (&mut root, defs.is_empty()) {
        members.insert("$defs".to_owned(), Value::Object(defs));
    }
    Some(root)
}

fn only_reference(schema: &Value) -> Option<String> {
    let members = schema.as_object().filter(|m| m.len() == 1)?;
    name_of(members.get("$ref")?.as_str()?).map(str::to_owned)
}

fn names_below(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    references(schema, "", &mut found);
    found.iter().filter_map(|(_, text)| name_of(text).map(str::to_owned)).collect()
}

fn redirect(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match member {
                    Value::String(text) if name == "$ref" => {
                        if let Some(target) = name_of(text) {
                            *text = format!("#/$defs/{target}");
                        }
                    }
                    _ => redirect(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redirect),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_bundled_schema_contains_everything_that_it_refers_to() {
        let schemas = BTreeMap::from([
            ("Alias".to_owned(), json!({"$ref": "#/schemas/Cart"})),
            (
                "Cart".to_owned(),
                json!({"type": "object", "properties": {"lines": {"items": {"$ref": "#/schemas/Line"}}}}),
            ),
            (
                "Line".to_owned(),
                json!({"properties": {"day": {"$ref": "#/schemas/Day"}, "next": {"$ref": "#/schemas/Line"}}}),
            ),
            ("Day".to_owned(), json!({"type": "string"})),
        ]);
        let bundled = bundle(&schemas, "Alias").unwrap();
        assert_eq!(bundled["properties"]["lines"]["items"]["$ref"], "#/$defs/Line");
        assert_eq!(
            bundled["$defs"].as_object().unwrap().keys().collect::<Vec<_>>(),
            ["Day", "Line"]
        );
        assert!(jsonschema::options().offline().build(&bundled).is_ok());
        assert!(!jsonschema::is_valid(&bundled, &json!({"lines": [{"day": 3}]})));
    }
}
