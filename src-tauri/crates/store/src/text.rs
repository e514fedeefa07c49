//! Writes instants and enum values in columns, and folds titles for search.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::error::DbError;

/// Returns an instant in RFC 3339 with nine decimals, so that text order equals time order and no
/// digit is lost.
pub(crate) fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Nanos, true)
}

pub(crate) fn read_instant(text: &str) -> Result<DateTime<Utc>, DbError> {
    match DateTime::parse_from_rfc3339(text) {
        Ok(at) => Ok(at.with_timezone(&Utc)),
        Err(_) => Err(DbError::Refused(format!("a stored time cannot be read: {text}"))),
    }
}

pub(crate) fn read_optional_instant(text: Option<&str>) -> Result<Option<DateTime<Utc>>, DbError> {
    text.map(read_instant).transpose()
}

/// Returns an enum value as the word used on the wire.
pub(crate) fn enum_to_text(value: &impl Serialize) -> Result<String, DbError> {
    match serde_json::to_value(value)? {
        Value::String(word) => Ok(word),
        other => Err(DbError::Refused(format!("not a word: {other}"))),
    }
}

pub(crate) fn read_word<T: DeserializeOwned>(word: &str) -> Result<T, DbError> {
    Ok(serde_json::from_value(Value::String(word.to_owned()))?)
}

/// Converts to lower case by Unicode's rules. SQLite does this for ASCII only.
pub(crate) fn fold(text: &str) -> String {
    text.to_lowercase()
}
