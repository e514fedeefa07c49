//! The body of a record: its members, how it is built from a draft, how it is parsed and checked,
//! and commitments.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike as _, NaiveDate, Utc};
use contract::{Text, text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::canon;
use crate::tree::Hash;

/// The maximum number of bytes of a body. A long value belongs outside the body, which then
/// contains only the value's hash (a commitment).
pub(crate) const MAX_BODY: usize = 1 << 20;
/// The maximum number of bytes of a value behind a commitment.
pub(crate) const MAX_VALUE: usize = 32 << 20;

/// A body with its members. Parsing refuses members that version 1 does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    pub(crate) v: u64,
    pub(crate) seq: u64,
    pub(crate) at: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<String>,
    pub(crate) fields: Map<String, Value>,
    /// The names of members with the hex of their commitments.
    pub(crate) commitments: BTreeMap<String, String>,
    /// The hex of the previous record's leaf, or 64 zeros in the first record.
    pub(crate) prev: String,
}

impl Body {
    /// Returns the text of a plain member.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }
}

/// A value behind a commitment, with the data that proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reveal {
    pub(crate) member: String,
    pub(crate) salt: Hash,
    /// The canonical text of the value.
    pub(crate) value: String,
}

impl Reveal {
    /// Computes `SHA-256(0x02 || salt || JCS(pointer) || JCS(value))`.
    pub(crate) fn commitment(&self) -> Option<Hash> {
        let pointer = Value::String(format!(
            "/commitments/{}",
            self.member.replace('~', "~0").replace('/', "~1")
        ));
        let pointer = canon::canonical(&pointer).ok()?;
        Some(
            Sha256::new()
                .chain_update([2u8])
                .chain_update(self.salt)
                .chain_update(pointer)
                .chain_update(&self.value)
                .finalize()
                .into(),
        )
    }
}

/// Writes an instant in the form used in bodies: UTC, with milliseconds.
pub(crate) fn instant(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Parses an instant in exactly the form used in bodies.
pub(crate) fn parse_instant(text: &str) -> Option<DateTime<Utc>> {
    // The text is parsed by hand, because verification parses an instant for each record, and a
    // general parser would take much of the time.
    let bytes: &[u8; 24] = text.as_bytes().try_into().ok()?;
    let frame = bytes
        .iter()
        .zip(b"0000-00-00T00:00:00.000Z")
        .all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form });
    if !frame {
        return None;
    }
    let number = |from: usize, to: usize| {
        bytes[from..to].iter().fold(0u32, |n, byte| n * 10 + u32::from(byte - b'0'))
    };
    let date =
        NaiveDate::from_ymd_opt(i32::try_from(number(0, 4)).ok()?, number(5, 7), number(8, 10))?;
    let time =
        date.and_hms_milli_opt(number(11, 13), number(14, 16), number(17, 19), number(20, 23))?;
    (date.year() >= 1).then(|| time.and_utc())
}

/// Parses a body strictly: canonical bytes, known members, allowed numbers.
pub(crate) fn parse(bytes: &[u8]) -> Result<Body, Text> {
    if bytes.len() > MAX_BODY {
        return Err("its body is too long".into());
    }
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| text!("its body is not JSON ({error})", error))?;
    canon::check_body(&value).map_err(|error| {
        Text::from(format!("its body holds a value that is not allowed: {error}"))
    })?;
    let again = canon::canonical(&value).map_err(|error| Text::from(error.to_string()))?;
    if again != bytes {
        return Err("its body is not in canonical form".into());
    }
    if ["session", "turn"].iter().any(|name| value.get(name).is_some_and(Value::is_null)) {
        return Err("a member is null that has to be absent".into());
    }
    let body: Body = serde_json::from_value(value).map_err(|error| {
        let error = files::fault::without_values(&error.to_string());
        Text::from(format!("its body is not a version 1 record ({error})"))
    })?;
    if body.v != 1 {
        return Err(format!("its body has version {}, not 1", body.v).into());
    }
    if parse_instant(&body.at).is_none() {
        return Err("its time is not written as the format says".into());
    }
    let kind_ok =
        !body.kind.is_empty() && body.kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if !kind_ok {
        return Err("its type is not a type name".into());
    }
    if body.commitments.values().any(|c| crate::hex::decode32(c).is_none()) {
        return Err("a commitment is not a hash".into());
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_utc_instants_with_milliseconds_are_parsed() {
        let good = "2026-03-04T05:06:07.008Z";
        assert_eq!(instant(parse_instant(good).unwrap()), good);
        for bad in [
            "2026-03-04T05:06:07Z",
            "2026-03-04T05:06:60.000Z",
            "2026-02-30T05:06:07.008Z",
            "2026-03-04T05:06:07.0080Z",
            "0000-01-01T00:00:00.000Z",
            "",
        ] {
            assert_eq!(parse_instant(bad), None, "{bad}");
        }
    }
}
