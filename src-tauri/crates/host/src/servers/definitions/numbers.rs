//! The numbers in the descriptions of tools, such as a date or a count, which some servers change
//! at each start. Only numbers in descriptions and titles may change: a number elsewhere in a
//! schema decides the meaning of a call, and a long or growing number may carry a message. Must not
//! know who may allow such changes.

use mcp::Definition;
use serde_json::Value;

/// Members of a schema that contain values and not schemas.
const VALUES: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// The maximum number of digits of a number, and the maximum number of digits by which numbers may
/// grow. Longer numbers could carry a message.
const LONGEST: usize = 20;
const GROWTH: usize = 4;

/// Whether a definition differs from the accepted definition only in the numbers of its
/// descriptions.
pub(super) fn differs_in_numbers(accepted: &Definition, now: &Definition) -> bool {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    accepted != now
        && blank(accepted, &mut before) == blank(now, &mut after)
        && before.iter().zip(after).all(|(before, after)| after <= before + GROWTH)
}

/// Returns a definition with each number in its descriptions replaced with 0.
pub(super) fn without_numbers(definition: &Definition) -> Definition {
    blank(definition, &mut Vec::new())
}

/// Returns a definition with its numbers replaced, and adds the numbers' lengths to `lengths`.
fn blank(definition: &Definition, lengths: &mut Vec<usize>) -> Definition {
    let mut plain = definition.clone();
    for text in [&mut plain.title, &mut plain.description].into_iter().flatten() {
        *text = blank_text(text, lengths);
    }
    blank_descriptions(&mut plain.input_schema, lengths);
    if let Some(schema) = &mut plain.output_schema {
        blank_descriptions(schema, lengths);
    }
    plain
}

fn blank_descriptions(schema: &mut Value, lengths: &mut Vec<usize>) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if matches!(name.as_str(), "description" | "title") => {
                        *text = blank_text(text, lengths);
                    }
                    _ if VALUES.contains(&name.as_str()) => {}
                    _ => blank_descriptions(value, lengths),
                }
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| blank_descriptions(item, lengths));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn blank_text(text: &str, lengths: &mut Vec<usize>) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        plain.push_str(before);
        plain.push_str(if number.len() > LONGEST { number } else { "0" });
        lengths.push(number.len());
        rest = after;
    }
    plain.push_str(rest);
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
    fn changed_dates_and_counts_in_a_description_are_ignored_but_changed_words_are_not() {
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
    fn a_number_that_becomes_much_longer_counts_as_a_change() {
        let of = |text: &str| definition(text, json!({"description": text}));
        let before = of("Lists 7 files.");
        assert!(differs_in_numbers(&before, &of("Lists 12345 files.")));
        assert!(differs_in_numbers(&of("Lists 12345678 files."), &before), "it may get shorter");
        assert!(!differs_in_numbers(&before, &of("Lists 123456 files.")));
        let long = |digit: &str| of(&format!("Lists {} files.", digit.repeat(LONGEST + 1)));
        assert!(!differs_in_numbers(&long("1"), &long("2")));
        assert_ne!(without_numbers(&long("1")), without_numbers(&long("2")));
    }

    #[test]
    fn changed_numbers_in_a_schema_are_ignored_only_inside_descriptions() {
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
