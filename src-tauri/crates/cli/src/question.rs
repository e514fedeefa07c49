//! Asks a server's question on a terminal: a form, field by field, or an address to visit. The
//! server's texts are shown as plain text with hidden characters escaped. The host validates the
//! answer again.

use contract::{QuestionAnswer, QuestionKind, ServerQuestion};
use serde_json::{Map, Number, Value};

use crate::keys::Keys;
use crate::out::{Out, Tone};
use crate::visible::escape_invisible;

/// The input that declines the question.
const DECLINE: &str = "!";

/// The kind of value that a field takes.
#[derive(Debug, PartialEq)]
enum Kind {
    Text,
    Whole,
    Number,
    YesNo,
    /// A choice of values with their labels. With `many`, several values may be chosen.
    Choice {
        options: Vec<(Value, String)>,
        many: bool,
    },
}

struct Field<'a> {
    name: &'a str,
    label: &'a str,
    hint: &'a str,
    kind: Kind,
    required: bool,
    default: Option<&'a Value>,
}

/// Asks the user. The end of input declines the question.
pub(crate) async fn ask(out: Out, keys: &mut Keys, question: &ServerQuestion) -> QuestionAnswer {
    out.print_note("");
    out.print_note(out.colour_text(
        Tone::Strong,
        &format!(
            "{} (pack {}) asks you:",
            escape_invisible(&question.server),
            escape_invisible(question.pack.as_str())
        ),
    ));
    for line in question.message.lines() {
        out.print_note(format!("  {}", escape_invisible(line)));
    }
    match &question.asks {
        QuestionKind::Form { schema } => {
            out.print_note(out.colour_text(
                Tone::Quiet,
                "Your answer goes to this server. Give it no password and no key. ! declines.",
            ));
            keys.discard_pending_input();
            fill_form(out, keys, schema).await.map_or(QuestionAnswer::Decline, |values| {
                QuestionAnswer::Accept { values: Some(values) }
            })
        }
        QuestionKind::Url { url } => {
            out.print_note(format!("  {}", escape_invisible(url)));
            out.print_note(out.colour_text(Tone::Quiet, "Open this address in a browser only if you know where it leads. What you do there is between you and that page."));
            keys.discard_pending_input();
            out.print_question("Tell the server that you go there? [y/N] ");
            match keys.read_line().await.as_deref().and_then(yes_no) {
                Some(true) => QuestionAnswer::Accept { values: None },
                Some(false) | None => QuestionAnswer::Decline,
            }
        }
    }
}

/// Asks for the values of a form. Returns None if the user declines.
async fn fill_form(out: Out, keys: &mut Keys, schema: &Value) -> Option<Value> {
    let mut values = Map::new();
    for field in list_fields(schema) {
        if let Kind::Choice { options, .. } = &field.kind {
            for (at, (_, label)) in options.iter().enumerate() {
                out.print_note(format!("    {} {}", at + 1, escape_invisible(label)));
            }
        }
        loop {
            out.print_question(&field_prompt(&field));
            let line = keys.read_line().await?;
            if line.trim() == DECLINE {
                return None;
            }
            match parse_field_value(&field, line.trim()) {
                Ok(Some(value)) => drop(values.insert(field.name.to_owned(), value)),
                Ok(None) => {}
                Err(what) => {
                    out.print_note(what);
                    continue;
                }
            }
            break;
        }
    }
    Some(Value::Object(values))
}

fn list_fields(schema: &Value) -> Vec<Field<'_>> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, one)| read_field(name, one, required.contains(&name.as_str()))).collect()
}

/// Reads a form field from its schema. A field of an unsupported type is asked for as text.
fn read_field<'a>(name: &'a str, schema: &'a Value, required: bool) -> Field<'a> {
    let many = schema["type"] == "array";
    let options = list_options(if many { &schema["items"] } else { schema });
    let kind = match schema["type"].as_str() {
        _ if many || !options.is_empty() => Kind::Choice { options, many },
        Some("boolean") => Kind::YesNo,
        Some("integer") => Kind::Whole,
        Some("number") => Kind::Number,
        _ => Kind::Text,
    };
    let words = |member: &str| schema[member].as_str();
    Field {
        name,
        label: words("title").unwrap_or(name),
        hint: words("description").unwrap_or_default(),
        kind,
        required,
        default: schema.get("default"),
    }
}

fn list_options(schema: &Value) -> Vec<(Value, String)> {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(values) = schema["enum"].as_array() {
        let name = |at: usize, value| {
            schema["enumNames"][at].as_str().map_or_else(|| plain(value), str::to_owned)
        };
        return values
            .iter()
            .enumerate()
            .map(|(at, value)| (value.clone(), name(at, value)))
            .collect();
    }
    let titled =
        schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()).into_iter().flatten();
    let titled = titled.filter_map(|one| Some((one.get("const")?, one)));
    titled
        .map(|(value, one)| {
            (value.clone(), one["title"].as_str().map_or_else(|| plain(value), str::to_owned))
        })
        .collect()
}

/// Returns the prompt of a field: its name, its kind of value, and the meaning of an empty line.
fn field_prompt(field: &Field<'_>) -> String {
    let kind = match &field.kind {
        Kind::Text => "text",
        Kind::Whole => "whole number",
        Kind::Number => "number",
        Kind::YesNo => "y or n",
        Kind::Choice { many: false, .. } => "one of the numbers above",
        Kind::Choice { many: true, .. } => "numbers from above, with commas between",
    };
    let enter = match (field.default, field.required) {
        (Some(default), _) => {
            format!("; Enter: {}", escape_invisible(&format_value(field, default)))
        }
        (None, true) => String::new(),
        (None, false) => "; Enter: no answer".into(),
    };
    let hint = if field.hint.is_empty() {
        String::new()
    } else {
        format!(" - {}", escape_invisible(field.hint))
    };
    format!("  {}{hint} ({kind}{enter}): ", escape_invisible(field.label))
}

/// Formats a value for the user.
fn format_value(field: &Field<'_>, value: &Value) -> String {
    match (&field.kind, value) {
        (Kind::YesNo, Value::Bool(yes)) => if *yes { "y" } else { "n" }.into(),
        (Kind::Choice { options, .. }, Value::Array(values)) => {
            let label = |value: &Value| {
                options
                    .iter()
                    .find(|(one, _)| one == value)
                    .map_or_else(|| value.to_string(), |(_, label)| label.clone())
            };
            values.iter().map(label).collect::<Vec<_>>().join(", ")
        }
        (Kind::Choice { options, .. }, value) => options
            .iter()
            .find(|(one, _)| one == value)
            .map_or_else(|| value.to_string(), |(_, label)| label.clone()),
        (_, Value::String(text)) => text.clone(),
        (_, value) => value.to_string(),
    }
}

/// Parses a line for a field. Returns the value, None for an empty line, or the error.
fn parse_field_value(field: &Field<'_>, line: &str) -> Result<Option<Value>, &'static str> {
    if line.is_empty() {
        return match (field.default, field.required) {
            (Some(default), _) => Ok(Some(default.clone())),
            (None, true) => Err("    This needs a value. ! declines the whole question."),
            (None, false) => Ok(None),
        };
    }
    let value = match &field.kind {
        Kind::Text => Value::from(line),
        Kind::Whole => {
            Value::from(line.parse::<i64>().map_err(|_| "    Type a whole number, such as 12.")?)
        }
        Kind::Number => {
            let number = line
                .parse()
                .ok()
                .and_then(Number::from_f64)
                .ok_or("    Type a number, such as 12.5.")?;
            line.parse::<i64>().map_or(Value::Number(number), Value::from)
        }
        Kind::YesNo => Value::from(yes_no(line).ok_or("    Type y or n.")?),
        Kind::Choice { options, many: false } => parse_choices(options, line)?,
        Kind::Choice { options, many: true } => line
            .split(',')
            .map(|one| parse_choices(options, one.trim()))
            .collect::<Result<Vec<_>, _>>()?
            .into(),
    };
    Ok(Some(value))
}

/// Finds a choice by its number or its text.
fn parse_choices(options: &[(Value, String)], line: &str) -> Result<Value, &'static str> {
    let by_number =
        line.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
    let found = options.iter().find(|(value, label)| label == line || value == line).or(by_number);
    found.map(|(value, _)| value.clone()).ok_or("    Choose from the list above, by number.")
}

fn yes_no(line: &str) -> Option<bool> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" | "j" | "ja" | "true" => Some(true),
        "n" | "no" | "nej" | "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse_value(
        schema: &Value,
        required: bool,
        line: &str,
    ) -> Result<Option<Value>, &'static str> {
        parse_field_value(&read_field("f", schema, required), line)
    }

    #[test]
    fn an_entered_line_becomes_a_value_of_the_fields_type() {
        assert_eq!(parse_value(&json!({"type": "string"}), true, "Ada"), Ok(Some(json!("Ada"))));
        assert_eq!(parse_value(&json!({"type": "integer"}), true, "12"), Ok(Some(json!(12))));
        assert_eq!(parse_value(&json!({"type": "number"}), true, "1.5"), Ok(Some(json!(1.5))));
        assert_eq!(parse_value(&json!({"type": "number"}), true, "2"), Ok(Some(json!(2))));
        assert_eq!(parse_value(&json!({"type": "boolean"}), true, "Yes"), Ok(Some(json!(true))));
        for (schema, line) in [
            (json!({"type": "integer"}), "1.5"),
            (json!({"type": "number"}), "NaN"),
            (json!({"type": "boolean"}), "maybe"),
        ] {
            assert!(parse_value(&schema, true, line).is_err(), "{line}");
        }
    }

    #[test]
    fn options_are_chosen_by_number_or_by_name() {
        let plain = json!({"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]});
        assert_eq!(parse_value(&plain, true, "2"), Ok(Some(json!("b"))));
        assert_eq!(parse_value(&plain, true, "First"), Ok(Some(json!("a"))));
        assert!(parse_value(&plain, true, "3").is_err() && parse_value(&plain, true, "0").is_err());
        let many = json!({"type": "array", "items": {"anyOf": [{"const": "x", "title": "Ex"}, {"const": "y", "title": "Why"}]}});
        assert_eq!(parse_value(&many, true, "1, Why"), Ok(Some(json!(["x", "y"]))));
    }

    #[test]
    fn enter_selects_the_default_or_leaves_out_an_optional_field() {
        assert_eq!(parse_value(&json!({"type": "string"}), false, ""), Ok(None));
        assert!(parse_value(&json!({"type": "string"}), true, "").is_err());
        let schema = json!({"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"], "default": "b", "description": "Which?"});
        assert_eq!(parse_value(&schema, true, ""), Ok(Some(json!("b"))));
        assert_eq!(
            field_prompt(&read_field("f", &schema, true)),
            "  f - Which? (one of the numbers above; Enter: Second): "
        );
    }
}
