//! Handles the keyword `nullable`, which in OpenAPI means that a value may be null. Servers that
//! generate schemas from OpenAPI use it, but it is not part of JSON Schema.

use std::borrow::Cow;

use serde_json::{Value, json};

const WORD: &str = "nullable";

/// Whether a schema declares its value as `nullable`.
pub(crate) fn is_said(schema: &Value) -> bool {
    schema.get(WORD) == Some(&Value::Bool(true))
}

/// Returns a schema in which `nullable` is expressed with keywords of JSON Schema.
pub(crate) fn written_out(schema: &Value) -> Cow<'_, Value> {
    if !has(schema) {
        return Cow::Borrowed(schema);
    }
    let mut written = schema.clone();
    write_out(&mut written);
    Cow::Owned(written)
}

fn has(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => is_said(schema) || members.values().any(has),
        Value::Array(all) => all.iter().any(has),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn write_out(schema: &mut Value) {
    let may_be_null = is_said(schema);
    match schema {
        Value::Object(members) => {
            if may_be_null {
                match members.get_mut("type") {
                    Some(kind @ Value::String(_)) => *kind = json!([kind.take(), "null"]),
                    Some(Value::Array(kinds)) if !kinds.contains(&json!("null")) => {
                        kinds.push(json!("null"));
                    }
                    _ => {}
                }
                if let Some(Value::Array(values)) = members.get_mut("enum")
                    && !values.contains(&Value::Null)
                {
                    values.push(Value::Null);
                }
            }
            members.values_mut().for_each(write_out);
        }
        Value::Array(all) => all.iter_mut().for_each(write_out),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nullable_keyword_of_openapi_permits_null() {
        let schema = json!({"type": "object", "properties": {
            "parent": {"type": "string", "nullable": true}, "kind": {"type": "string", "enum": ["a"], "nullable": true},
            "list": {"type": "array", "items": {"type": ["integer"], "nullable": true}}, "name": {"type": "string", "nullable": false},
            "nullable": {"type": "string"}}});
        let fits = |value: Value| jsonschema::is_valid(&written_out(&schema), &value);
        for value in [
            json!({"parent": null}),
            json!({"parent": "x", "kind": null}),
            json!({"kind": "a", "list": [1, null]}),
            json!({"nullable": "x"}),
        ] {
            assert!(fits(value.clone()), "{value}");
        }
        for value in [json!({"name": null}), json!({"nullable": null}), json!({"kind": "b"})] {
            assert!(!fits(value.clone()), "{value}");
        }
        assert!(matches!(written_out(&json!({"type": "string"})), Cow::Borrowed(_)));
    }
}
