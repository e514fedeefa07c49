//! Canonical JSON (RFC 8785, JCS), and the limits of values in a body: no floats, no integers that
//! a double cannot represent, no deep nesting.

use serde::Serialize;
use serde_json::{Map, Number, Value};

/// The largest integer that every JSON parser keeps exactly (2^53 - 1).
pub(crate) const MAX_SAFE: u64 = 9_007_199_254_740_991;
/// The maximum depth of lists and objects in a body.
pub(crate) const MAX_DEPTH: usize = 64;
/// The maximum depth in a plain member. The body adds its own levels.
const MAX_FIELD_DEPTH: usize = MAX_DEPTH - 4;

/// Why a value cannot be written into a body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanonError {
    /// The member is a number with decimals, which has no canonical form here.
    #[error("{0} is a number with decimals; write it as text")]
    Float(String),
    /// The member is an integer outside ±2^53, which other readers would round.
    #[error("{0} is an integer beyond 2^53; write it as text")]
    TooLarge(String),
    /// The member has more levels than allowed in a record.
    #[error("{0} is nested too deeply")]
    TooDeep(String),
    /// The serialiser refused the value, with its own message.
    #[error("the value has no canonical form: {0}")]
    NoForm(String),
}

/// Returns the canonical bytes of a JSON value, or of a value that can be serialised to JSON.
pub fn canonical(value: &impl Serialize) -> Result<Vec<u8>, CanonError> {
    serde_json_canonicalizer::to_vec(value).map_err(|error| CanonError::NoForm(error.to_string()))
}

/// Returns the canonical text of a JSON value.
pub(crate) fn canonical_text(value: &Value) -> Result<String, CanonError> {
    serde_json_canonicalizer::to_string(value)
        .map_err(|error| CanonError::NoForm(error.to_string()))
}

/// Whether a body may contain the number. Returns None for a float.
fn is_safe(number: &Number) -> Option<bool> {
    if let Some(n) = number.as_u64() {
        return Some(n <= MAX_SAFE);
    }
    number.as_i64().map(|n| n.unsigned_abs() <= MAX_SAFE)
}

/// Checks for floats, large integers and deep nesting. An error names the member.
pub(crate) fn check_plain(at: &str, value: &Value) -> Result<(), CanonError> {
    check(value, MAX_FIELD_DEPTH).map_err(|fault| fault.with_outer_member(at))
}

/// Checks a whole body after parsing.
pub(crate) fn check_body(value: &Value) -> Result<(), CanonError> {
    check(value, MAX_DEPTH)
}

impl CanonError {
    /// Adds the name of the outer member to the error's path.
    fn with_outer_member(self, outer: &str) -> Self {
        match self {
            Self::Float(at) => Self::Float(format!("{outer}{at}")),
            Self::TooLarge(at) => Self::TooLarge(format!("{outer}{at}")),
            Self::TooDeep(at) => Self::TooDeep(format!("{outer}{at}")),
            Self::NoForm(why) => Self::NoForm(why),
        }
    }
}

fn check(value: &Value, depth: usize) -> Result<(), CanonError> {
    if depth == 0 {
        return Err(CanonError::TooDeep(String::new()));
    }
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Number(number) => match is_safe(number) {
            Some(true) => Ok(()),
            Some(false) => Err(CanonError::TooLarge(String::new())),
            None => Err(CanonError::Float(String::new())),
        },
        Value::Array(list) => list.iter().enumerate().try_for_each(|(i, v)| {
            check(v, depth - 1).map_err(|fault| fault.with_outer_member(&format!("/{i}")))
        }),
        Value::Object(map) => map.iter().try_for_each(|(k, v)| {
            check(v, depth - 1).map_err(|fault| fault.with_outer_member(&format!("/{k}")))
        }),
    }
}

/// Prepares a value for a commitment. Integers that JCS would round become text, so that they keep
/// all digits.
pub(crate) fn keep_integers(value: &Value) -> Value {
    match value {
        Value::Number(number) if is_safe(number) == Some(false) => {
            Value::String(number.to_string())
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) => value.clone(),
        Value::Array(list) => Value::Array(list.iter().map(keep_integers).collect()),
        Value::Object(map) => Value::Object(
            map.iter().map(|(k, v)| (k.clone(), keep_integers(v))).collect::<Map<_, _>>(),
        ),
    }
}
