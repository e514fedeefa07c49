//! Handles tool results that arrived as JSON text. A number in such a text may have more digits
//! than a program keeps. If a number would change, the result stays a text and is parsed only to
//! find its members. This module does not depend on tools.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::arguments::{check_numbers, numbers};

/// Whether each number of a JSON text keeps its digits when it is read and written again, here and
/// in the window.
pub fn keeps_digits(json: &str) -> bool {
    let is_same = |number: &str| {
        let again = serde_json::from_str::<Value>(number).map(|value| value.to_string());
        again.is_ok_and(|again| again == number)
    };
    check_numbers(json).is_ok() && numbers(json).all(is_same)
}

/// Returns the value of a JSON text, or the text itself if a number would change.
pub fn value_or_text(json: &[u8]) -> serde_json::Result<Value> {
    let value = serde_json::from_slice(json)?;
    Ok(match std::str::from_utf8(json) {
        Ok(text) if check_numbers(text).is_err() => Value::String(text.to_owned()),
        _ => value,
    })
}

/// Returns a result in which members can be found. A text that contains a JSON object or list is
/// parsed.
pub fn members_of(result: &Value) -> Cow<'_, Value> {
    let read = |text: &str| {
        text.trim_start()
            .starts_with(['{', '['])
            .then(|| serde_json::from_str::<Value>(text).ok())
            .flatten()
    };
    result.as_str().and_then(read).map_or(Cow::Borrowed(result), Cow::Owned)
}

/// Returns the result of a server as a single value: the structured content, and the texts and
/// other parts with further content.
pub fn with_parts(structured: Value, parts: Vec<Value>) -> Value {
    if parts.is_empty() {
        return structured;
    }
    json!({"structuredContent": structured, "content": parts})
}

/// Returns the structured content of a result that also has other parts.
pub fn structured_part(result: &Value) -> Option<&Value> {
    let members = result.as_object().filter(|members| members.len() == 2)?;
    members.get("content")?.as_array()?;
    members.get("structuredContent")
}

/// Returns a result as text for a model: a text unchanged, and any other value as JSON.
pub fn shown(result: &Value) -> Cow<'_, str> {
    match result {
        Value::String(text) if !text.trim().is_empty() => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Returns a result as text, formatted for a person.
pub fn laid_out(result: &Value) -> Cow<'_, str> {
    match result {
        Value::String(text) if !text.trim().is_empty() => Cow::Borrowed(text),
        other => {
            Cow::Owned(serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_text_becomes_a_value_only_if_no_number_loses_digits() {
        for kept in [r#"{"a":1.5,"b":[-3,0]}"#, r#"{"id": "1.10 and 1e5"}"#, "[]"] {
            assert!(keeps_digits(kept), "{kept}");
        }
        let long = "123456789012345678901234567890";
        for changed in ["1.10", "[1e5]", r#"{"id": 9007199254740993}"#, "-0", long] {
            assert!(!keeps_digits(changed), "{changed}");
        }
        assert_eq!(value_or_text(br#"{"price": 1.10}"#).unwrap(), json!({"price": 1.1}));
        let text = format!(r#"{{"id": {long}}}"#);
        assert_eq!(value_or_text(text.as_bytes()).unwrap(), json!(text));
        assert!(value_or_text(b"{").is_err());
    }

    #[test]
    fn members_of_json_text_are_readable_and_the_model_gets_the_original_text() {
        let text = json!("{\"a\": 1.10}\n");
        assert_eq!(*members_of(&text), json!({"a": 1.1}));
        assert_eq!(*members_of(&json!("1.10")), json!("1.10"));
        assert_eq!(shown(&text), "{\"a\": 1.10}\n");
        assert_eq!(
            (shown(&json!("")), shown(&json!({"a": 1}))),
            ("\"\"".into(), r#"{"a":1}"#.into())
        );
    }
}
