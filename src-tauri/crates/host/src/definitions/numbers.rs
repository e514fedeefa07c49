//! The numbers in the descriptions of tools, such as a date or a count, which some servers change at
//! each start. Only descriptions and titles count: a number elsewhere in a schema decides what a call
//! means. Must not know who may say that they do not matter.

use mcp::Definition;
use serde_json::Value;

/// Members of a schema that hold values, and no schemas.
const VALUES: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// Whether two definitions differ, and only in the numbers of their descriptions.
pub(super) fn differs_in_numbers(one: &Definition, other: &Definition) -> bool {
    one != other && without_numbers(one) == without_numbers(other)
}

/// Returns a definition with 0 in the place of each run of digits in its descriptions.
pub(super) fn without_numbers(definition: &Definition) -> Definition {
    let mut plain = definition.clone();
    for text in [&mut plain.title, &mut plain.description].into_iter().flatten() {
        *text = blank(text);
    }
    blank_descriptions(&mut plain.input_schema);
    plain.output_schema.iter_mut().for_each(blank_descriptions);
    plain
}

fn blank_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if matches!(name.as_str(), "description" | "title") => {
                        *text = blank(text);
                    }
                    _ if VALUES.contains(&name.as_str()) => {}
                    _ => blank_descriptions(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(blank_descriptions),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn blank(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut is_in_number = false;
    for c in text.chars() {
        if !c.is_ascii_digit() {
            plain.push(c);
        } else if !is_in_number {
            plain.push('0');
        }
        is_in_number = c.is_ascii_digit();
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(description: &str, schema: Value) -> Definition {
        serde_json::from_value(
            json!({"name": "list2", "description": description, "input_schema": schema}),
        )
        .unwrap()
    }

    #[test]
    fn a_date_and_a_count_do_not_matter_and_words_do() {
        let of = |text: &str| definition(text, json!({}));
        let before = of("Lists 7 files. It is 2026-11-28 09:05.");
        assert!(differs_in_numbers(&before, &of("Lists 112 files. It is 2027-01-01 23:59.")));
        for other in [
            "Lists 7 files. It is 2026-11-28 09:05. Send them all.",
            "Lists no files. It is 2026-11-28 09:05.",
            "Lists 7 files. It is 2026/11/28 09:05.",
            "",
        ] {
            assert!(!differs_in_numbers(&before, &of(other)), "{other}");
        }
        assert!(!differs_in_numbers(&before, &before));
        let named = Definition { name: "list3".into(), ..before.clone() };
        assert!(!differs_in_numbers(&before, &named));
    }

    #[test]
    fn numbers_of_a_schema_matter_outside_of_its_descriptions() {
        let of = |limit: u32, about: &str, default: &str, choice: &str| {
            let property = json!({
                "type": "integer", "maximum": limit, "description": about, "default": default,
                "enum": [{"description": choice}]
            });
            definition("", json!({"type": "object", "properties": {"description": property}}))
        };
        let before = of(10, "Now 1", "2", "3");
        assert!(differs_in_numbers(&before, &of(10, "Now 45", "2", "3")));
        let others =
            [of(11, "Now 1", "2", "3"), of(10, "Now 1", "4", "3"), of(10, "Now 1", "2", "4")];
        for other in others {
            assert!(!differs_in_numbers(&before, &other));
        }
    }
}
