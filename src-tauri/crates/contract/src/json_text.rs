//! Results of tools that came as JSON text. A number of such a text may have more digits than a
//! program keeps. A text whose numbers would change stays a text; its value is then read only to
//! find members in it. Must not know tools.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::arguments::{check_numbers, numbers};

/// Whether each number of a JSON text is written again as it is, here and in the window.
pub fn keeps_digits(json: &str) -> bool {
    let is_same = |number: &str| {
        let again = serde_json::from_str::<Value>(number).map(|value| value.to_string());
        again.is_ok_and(|again| again == number)
    };
    check_numbers(json).is_ok() && numbers(json).all(is_same)
}

/// Returns the value of a JSON text, or the text itself if a number would become another number.
pub fn value_or_text(json: &[u8]) -> serde_json::Result<Value> {
    let value = serde_json::from_slice(json)?;
    Ok(match std::str::from_utf8(json) {
        Ok(text) if check_numbers(text).is_err() => Value::String(text.to_owned()),
        _ => value,
    })
}

/// Returns a result as its members can be found in it: a text that holds a JSON object or a list is
/// read.
pub fn members_of(result: &Value) -> Cow<'_, Value> {
    let read = |text: &str| {
        text.trim_start()
            .starts_with(['{', '['])
            .then(|| serde_json::from_str::<Value>(text).ok())
            .flatten()
    };
    result.as_str().and_then(read).map_or(Cow::Borrowed(result), Cow::Owned)
}

/// Returns the result of a server as one value: its structured content, and the texts and other
/// parts beside it that say something else.
pub fn with_parts(structured: Value, parts: Vec<Value>) -> Value {
    if parts.is_empty() {
        return structured;
    }
    json!({"structuredContent": structured, "content": parts})
}

/// Returns the structured content of a result that has other parts beside it.
pub fn structured_part(result: &Value) -> Option<&Value> {
    let members = result.as_object().filter(|members| members.len() == 2)?;
    members.get("content")?.as_array()?;
    members.get("structuredContent")
}

/// Returns a result as the text that a model reads: a text as it came, all else as JSON.
pub fn shown(result: &Value) -> Cow<'_, str> {
    match result {
        Value::String(text) if !text.trim().is_empty() => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// As `shown`, laid out for a person.
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
    fn only_a_text_whose_numbers_stay_becomes_a_value() {
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
    fn members_are_found_in_a_text_and_a_model_reads_it_as_it_came() {
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
