//! Small functions to read JSON values that different shops write in different ways.

use serde_json::{Number, Value};

/// Returns a text or number as text, 2.0 as "2". Returns None for a blank text and for other
/// values.
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string().trim_end_matches(".0").to_owned()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the first of several members that is a text or number.
pub fn first(value: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| text(&value[*name]))
}

/// Returns a number, also from a text.
pub fn number(value: &Value) -> Option<f64> {
    value
        .as_f64()
        .or_else(|| value.as_str()?.trim().parse().ok())
        .filter(|number| number.is_finite())
}

/// Returns a number for display; a whole number has no fraction.
pub fn numeral(value: &Value) -> Option<Number> {
    let number = number(value)?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "only whole numbers within the range of exact floats"
    )]
    let whole = (number.fract() == 0.0 && number.abs() < 9.0e15).then_some(number as i64);
    whole.map_or_else(|| Number::from_f64(number), |whole| Some(Number::from(whole)))
}
