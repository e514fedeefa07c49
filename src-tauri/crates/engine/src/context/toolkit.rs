//! Layer 1 of the prompt: the toolkit reference. The reference has one section per tool, created
//! from the manifest: purpose, input, output, when to use the tool and when not. The text is cached
//! by a hash of the tools' definitions.

use std::{collections::HashMap, sync::Arc};

use contract::{ToolSpec, manifest::Latency};
use parking_lot::Mutex;
use serde_json::Value;

use crate::canonical::sha256_hex;

/// The most cached references.
const LISTS: usize = 64;

/// Cached references by the hash of their tools.
#[derive(Default)]
pub(crate) struct Toolkits(Mutex<HashMap<String, Arc<str>>>);

impl Toolkits {
    /// Returns the reference of these tools. A changed manifest changes the hash.
    pub(crate) fn of(&self, tools: &[&ToolSpec]) -> Arc<str> {
        if tools.is_empty() {
            return Arc::from("");
        }
        let key: String = tools
            .iter()
            .map(|tool| format!("{} {}\n", tool.model_name, tool.definition_hash))
            .collect();
        let key = sha256_hex(key.as_bytes());
        let mut kept = self.0.lock();
        if kept.len() >= LISTS {
            kept.clear();
        }
        Arc::clone(kept.entry(key).or_insert_with(|| Arc::from(reference_text(tools))))
    }
}

fn reference_text(tools: &[&ToolSpec]) -> String {
    let mut text = "# Available tools".to_owned();
    for tool in tools {
        text.push_str(&format!("\n\n## {}\nPurpose: {}", tool.model_name, tool.description.trim()));
        if tool.latency == Latency::Slow {
            text.push_str("\nIt is slow and works on live data: when in doubt, do not call it.");
        }
        text.push_str(&format!("\nInput:{}", input_text(&tool.input_schema)));
        text.push_str(&format!("\nOutput: {}", output_text(&tool.output_schema)));
        for (head, cases) in
            [("Use when:", &tool.use_when), ("Do not use when:", &tool.do_not_use_when)]
        {
            if !cases.is_empty() {
                text.push_str(&format!("\n{head}"));
                cases.iter().for_each(|case| text.push_str(&format!("\n- {case}")));
            }
        }
    }
    text
}

fn input_text(schema: &Value) -> String {
    let Some(fields) =
        schema.get("properties").and_then(Value::as_object).filter(|fields| !fields.is_empty())
    else {
        return " No parameters required.".to_owned();
    };
    let required = |name: &str| {
        schema
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|list| list.iter().any(|known| known == name))
    };
    let line = |(name, field): (&String, &Value)| {
        let field = resolve_reference(schema, field);
        let need = match field.get("default") {
            _ if required(name) => "required".to_owned(),
            Some(default) if !default.is_null() => format!("default {default}"),
            Some(_) | None => "default None (optional)".to_owned(),
        };
        let meaning = field
            .get("description")
            .and_then(Value::as_str)
            .map(|text| format!(": {text}"))
            .unwrap_or_default();
        format!("\n- {name} ({}, {need}){meaning}", type_text(schema, field))
    };
    fields.iter().map(line).collect()
}

fn output_text(schema: &Value) -> String {
    if let Some(text) = schema.get("description").and_then(Value::as_str) {
        return text.to_owned();
    }
    let fields: Vec<&str> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    if fields.is_empty() {
        "A JSON value.".to_owned()
    } else {
        format!("An object with {}.", fields.join(", "))
    }
}

/// Resolves the references of a schema. Stops after eight steps, so that circular references end.
fn resolve_reference<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..8 {
        let Some(pointer) = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| reference.strip_prefix('#'))
        else {
            return schema;
        };
        let Some(next) = root.pointer(pointer) else { return schema };
        schema = next;
    }
    schema
}

fn type_text(root: &Value, schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        return format!("one of {}", values.join(", "));
    }
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect()
        }
        _ => vec!["value"],
    };
    let word = |name: &str| match name {
        "string" if schema.get("format").and_then(Value::as_str) == Some("date") => {
            "date YYYY-MM-DD".to_owned()
        }
        "string" => "text".to_owned(),
        "integer" => "whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => schema.get("items").map_or_else(
            || "list".to_owned(),
            |items| format!("list of {}", type_text(root, resolve_reference(root, items))),
        ),
        other => other.to_owned(),
    };
    names.into_iter().map(word).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_tool_reference_lists_each_field_with_type_requirement_and_description() {
        let schema = json!({
            "type": "object", "required": ["account_id"],
            "properties": {
                "account_id": {"type": "string", "description": "The account."},
                "days": {"type": "integer", "default": 30},
                "from": {"$ref": "#/$defs/Day"},
                "sizes": {"type": "array", "items": {"enum": ["S", "M"]}}
            },
            "$defs": {"Day": {"type": "string", "format": "date"}}
        });
        let text = input_text(&schema);
        for line in [
            "- account_id (text, required): The account.",
            "- days (whole number, default 30)",
            "- from (date YYYY-MM-DD, default None (optional))",
            "- sizes (list of one of \"S\", \"M\", default None (optional))",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        assert_eq!(input_text(&json!({"type": "object"})), " No parameters required.");
    }
}
