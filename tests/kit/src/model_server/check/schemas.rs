//! The schemas of tool arguments that endpoints refuse: the top level must be an object without
//! alternatives, lists need the type of their elements, and required members must exist.

use serde_json::Value;

const UNSUPPORTED: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];

/// Returns all problems of a schema.
pub(super) fn problems(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        found.push("is no schema of type object".to_owned());
    }
    found.extend(
        UNSUPPORTED
            .iter()
            .filter(|word| schema.get(word).is_some())
            .map(|word| format!("has `{word}` at the top level")),
    );
    within(schema, &mut found);
    found
}

fn within(schema: &Value, found: &mut Vec<String>) {
    let Some(members) = schema.as_object() else { return };
    let is_list = members.get("type").is_some_and(|kind| {
        kind == "array"
            || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "array"))
    });
    if is_list && !members.contains_key("items") {
        found.push("has a list without `items`".to_owned());
    }
    let properties = members.get("properties").and_then(Value::as_object);
    for name in members
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        if properties.is_none_or(|properties| !properties.contains_key(name)) {
            found.push(format!("requires `{name}`, which it does not have"));
        }
    }
    properties.into_iter().flatten().for_each(|(_, schema)| within(schema, found));
    members.get("items").into_iter().for_each(|schema| within(schema, found));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_that_providers_refuse_are_reported() {
        for (schema, count) in [
            (json!({"type": "object"}), 0),
            (
                json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}, "required": ["a"]}),
                0,
            ),
            (json!({}), 1),
            (
                json!({"type": "object", "anyOf": [{"required": ["a"]}], "properties": {"a": {"type": "string"}}}),
                1,
            ),
            (json!({"type": "object", "properties": {"a": {"type": "array"}}}), 1),
            (json!({"type": "object", "properties": {"a": {"type": ["array", "null"]}}}), 1),
            (
                json!({"type": "object", "properties": {"a": {"type": "object", "required": ["b"]}}}),
                1,
            ),
        ] {
            assert_eq!(problems(&schema).len(), count, "{schema}");
        }
    }
}
