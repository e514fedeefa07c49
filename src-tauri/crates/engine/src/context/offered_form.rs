//! Shortens what models get where a manifest says so in the member `x-offered` of a schema. In a schema
//! of arguments it is a shorter form, so that what two tools share is told once. In a schema of results,
//! `false` leaves a member out, such as the proof of a figure. Arguments and results are still checked
//! against the whole schema, and people and programs get whole results.

use std::sync::Arc;

use serde_json::{Map, Value};

/// The member of a schema that has its form for models.
const OFFERED: &str = "x-offered";
/// The member with the schemas that others refer to, and the beginning of such references.
const DEFINITIONS: &str = "$defs";
const REFERENCE: &str = "#/$defs/";
/// The greatest nesting of results in which members are left out.
const DEPTH: usize = 3;

/// Returns the form of a schema for models.
pub(crate) fn offered_form(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if replace(&mut schema) {
        drop_unused(&mut schema);
    }
    schema
}

/// Replaces schemas by their forms for models. Returns whether there were any.
fn replace(value: &mut Value) -> bool {
    if let Some(form) = value.get_mut(OFFERED).map(Value::take) {
        *value = form;
        return true;
    }
    let parts: Vec<&mut Value> = match value {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(list) => list.iter_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    // All parts are visited, also after the first form.
    let found: Vec<bool> = parts.into_iter().map(replace).collect();
    found.contains(&true)
}

/// Returns a result without the members that are not for models.
pub(crate) fn offered_result(schema: &Value, result: &Arc<Value>) -> Arc<Value> {
    let mut shorter = Value::clone(result);
    if leave_out(schema, schema, &mut shorter, DEPTH) {
        Arc::new(shorter)
    } else {
        Arc::clone(result)
    }
}

/// Removes members that are not for models. Returns whether there were any.
fn leave_out(root: &Value, schema: &Value, value: &mut Value, depth: usize) -> bool {
    let Some(members) = value.as_object_mut().filter(|_| depth > 0) else { return false };
    let mut any = false;
    for (name, part) in properties(root, schema) {
        if part.get(OFFERED) == Some(&Value::Bool(false)) {
            any |= members.remove(name).is_some();
        } else if let Some(member) = members.get_mut(name) {
            any |= leave_out(root, part, member, depth - 1);
        }
    }
    any
}

/// Returns the members that a schema describes, also if it refers to another schema.
fn properties<'a>(
    root: &'a Value,
    schema: &'a Value,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    let described = target.unwrap_or(schema).get("properties").and_then(Value::as_object);
    described.into_iter().flatten()
}

/// Drops definitions that nothing refers to any more.
fn drop_unused(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    let Some(Value::Object(mut defined)) = members.remove(DEFINITIONS) else { return };
    let mut names = Vec::new();
    members.values().for_each(|part| add_names(part, &mut names));
    let mut used = Map::new();
    while let Some(name) = names.pop() {
        if let Some(definition) = defined.remove(&name) {
            add_names(&definition, &mut names);
            used.insert(name, definition);
        }
    }
    if !used.is_empty() {
        members.insert(DEFINITIONS.to_owned(), Value::Object(used));
    }
}

/// Adds the names of the definitions that a schema refers to.
fn add_names(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str);
            let name = reference.and_then(|reference| reference.strip_prefix(REFERENCE));
            names.extend(name.and_then(|name| name.split('/').next()).map(str::to_owned));
            members.values().for_each(|part| add_names(part, names));
        }
        Value::Array(list) => list.iter().for_each(|part| add_names(part, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_offered_in_the_shorter_form_without_definitions_that_are_not_used() {
        let short = json!({"type": "object", "description": "As in another tool"});
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {"$ref": "#/$defs/Query", "x-offered": short},
                "source": {"$ref": "#/$defs/Source"},
            },
            "$defs": {
                "Query": {"type": "object", "properties": {"by": {"$ref": "#/$defs/By"}}},
                "By": {"type": "array"},
                "Source": {"$ref": "#/$defs/Name"},
                "Name": {"type": "string"},
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {"query": short, "source": {"$ref": "#/$defs/Source"}},
            "$defs": {"Source": {"$ref": "#/$defs/Name"}, "Name": {"type": "string"}},
        });
        assert_eq!(offered_form(&schema), expected);
    }

    #[test]
    fn members_of_a_result_that_are_not_for_models_are_left_out() {
        let result = json!({"type": "object", "properties": {"rows": {}, "sql": {"type": "string", "x-offered": false}}});
        let schema = json!({
            "properties": {"chart": {}, "result": {"$ref": "#/$defs/Result"}},
            "$defs": {"Result": result},
        });
        let figures = json!({"rows": [[1]], "sql": "SELECT 1"});
        let whole = Arc::new(json!({"chart": null, "result": figures}));
        let shorter = offered_result(&schema, &whole);
        assert_eq!(*shorter, json!({"chart": null, "result": {"rows": [[1]]}}));
        assert!(Arc::ptr_eq(&offered_result(&json!({}), &whole), &whole));
    }

    #[test]
    fn a_schema_without_a_shorter_form_is_not_changed() {
        let schema = json!({"type": "object", "$defs": {"Unused": {"type": "string"}}});
        assert_eq!(offered_form(&schema), schema);
    }
}
