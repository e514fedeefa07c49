//! Normalises the arguments of a tool call, so that the values are the same everywhere: in the
//! window, the hash, the log, the request and every program that reads JSON numbers as doubles.
//! Only this file parses arguments from text and refuses numbers that would change.

use serde_json::{Map, Number, Value, json};

use crate::{AgentError, Text, text};

/// The most bytes of a call's arguments as JSON text. Longer arguments could not be shown to a
/// person or recorded.
pub const ARGUMENT_BYTES: usize = 256 * 1024;

/// The largest integer that every JSON reader keeps (2^53 - 1).
pub const LARGEST_INTEGER: u64 = 9_007_199_254_740_991;

const HINT: &str =
    "Send a long number as text if the tool takes text; otherwise send one with at most 15 digits.";

/// Parses arguments from JSON text. Returns an error for text that is too long, is not JSON, or
/// contains a number that would not keep its value.
pub fn parse(text: &str) -> Result<Value, AgentError> {
    check_length(text.len())?;
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    let value = serde_json::from_str::<Value>(text)
        .map_err(|e| invalid("The arguments are not a JSON object.", "", &e.to_string()))?;
    check_numbers(text)?;
    normalize_numbers(value)
}

/// Returns an error if JSON text contains a number that changes when it is read and written again.
pub fn check_numbers(json: &str) -> Result<(), AgentError> {
    inexact_number(json).map_or(Ok(()), |number| Err(inexact("", number)))
}

/// Returns the values with normalised numbers: whole numbers without a decimal point, and no
/// negative zero. Returns an error with the pointer of a number that some readers would change.
pub fn normalize_numbers(value: Value) -> Result<Value, AgentError> {
    exact_at(value, &mut String::new())
}

/// Normalises the numbers. Returns an error for arguments that are too long to be shown and
/// recorded.
pub fn normalize_and_check_length(value: Value) -> Result<Value, AgentError> {
    let value = normalize_numbers(value)?;
    check_length(value.to_string().len())?;
    Ok(value)
}

/// Returns the first number that some readers would change.
fn inexact_number(json: &str) -> Option<&str> {
    numbers(json).find(|number| !is_exact(number))
}

/// Returns the numbers of a JSON text as they are written.
pub(crate) fn numbers(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
            rest = &rest[start..];
            if let Some(inside) = rest.strip_prefix('"') {
                rest = after_string(inside);
                continue;
            }
            let end = rest
                .find(|c: char| !(c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E')))
                .unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            rest = after;
            return Some(number);
        }
    })
}

/// Parses a number. Returns None if the text is not a number or the number would change.
pub fn number(text: &str) -> Option<Number> {
    let double = text.parse::<f64>().ok().filter(|double| is_same(text, *double))?;
    plain(&Number::from_f64(double)?)
}

/// Whether a number in a JSON text keeps its value when it is read and written.
fn is_exact(number: &str) -> bool {
    // The JSON reader does not always return the nearest double.
    serde_json::from_str::<f64>(number).is_ok_and(|double| is_same(number, double))
}

/// Whether the double, written as decimal, equals this number.
fn is_same(number: &str, double: f64) -> bool {
    is_small(double)
        && matches!((decimal(number), decimal(&format!("{double:e}"))), (Some(one), Some(other)) if one == other)
}

fn exact_at(value: Value, place: &mut String) -> Result<Value, AgentError> {
    let length = place.len();
    let mut inside = |name: &str, value: Value| {
        place.push('/');
        place.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let done = exact_at(value, place);
        place.truncate(length);
        done
    };
    match value {
        Value::Number(number) => {
            plain(&number).map(Value::Number).ok_or_else(|| inexact(place, &number.to_string()))
        }
        Value::Array(list) => {
            list.into_iter().enumerate().map(|(at, value)| inside(&at.to_string(), value)).collect()
        }
        Value::Object(members) => {
            let members: Result<Map<String, Value>, AgentError> = members
                .into_iter()
                .map(|(name, value)| inside(&name, value).map(|value| (name, value)))
                .collect();
            members.map(Value::Object)
        }
        other @ (Value::Null | Value::Bool(_) | Value::String(_)) => Ok(other),
    }
}

/// Returns the number in normal form, or none if it is not exact.
fn plain(number: &Number) -> Option<Number> {
    if number.is_i64() || number.is_u64() {
        return number
            .as_i64()
            .filter(|whole| whole.unsigned_abs() <= LARGEST_INTEGER)
            .map(Number::from);
    }
    let double = number.as_f64().filter(|_| is_exact(&number.to_string()))?;
    if double.fract() == 0.0 {
        return Some(Number::from(double as i64));
    }
    Some(number.clone())
}

fn is_small(double: f64) -> bool {
    let largest = LARGEST_INTEGER as f64;
    double.abs() <= largest
}

/// Returns the text after a string. `text` begins after the string's opening quote.
fn after_string(text: &str) -> &str {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

/// Splits a decimal number into sign, significant digits and power of ten. Zero has neither sign
/// nor digits.
fn decimal(number: &str) -> Option<(bool, String, i64)> {
    let (negative, number) = number
        .strip_prefix('-')
        .map_or((false, number.trim_start_matches('+')), |rest| (true, rest));
    let (digits, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Some((false, String::new(), 0));
    }
    let dropped = i64::try_from(all.len() - all.trim_end_matches('0').len()).ok()?;
    let fraction = i64::try_from(fraction.len()).ok()?;
    let power = power.parse::<i64>().ok()?.checked_sub(fraction)?.checked_add(dropped)?;
    Some((negative, significant.to_owned(), power))
}

fn check_length(bytes: usize) -> Result<(), AgentError> {
    if bytes <= ARGUMENT_BYTES {
        return Ok(());
    }
    let (kib, most) = (bytes.div_ceil(1024), ARGUMENT_BYTES / 1024);
    let error = invalid(
        text!(
            "The arguments have {kib} KiB; at most {most} KiB can be shown and recorded.",
            kib,
            most
        ),
        "",
        "is too long",
    );
    Err(error.hint("Send less in one call."))
}

fn inexact(place: &str, number: &str) -> AgentError {
    // A number may be as long as the whole text, so it is cut.
    let shown = if number.len() <= 60 {
        number.to_owned()
    } else {
        format!("{}…", number.chars().take(60).collect::<String>())
    };
    invalid(
        text!("The number {shown} cannot be sent exactly as it is written.", shown),
        place,
        "is a number that not every program keeps",
    )
    .hint(HINT)
}

fn invalid(message: impl Into<Text>, place: &str, problem: &str) -> AgentError {
    AgentError::invalid(message)
        .reason("invalid_arguments")
        .with("validation", json!([{"path": place, "problem": problem}]))
}
