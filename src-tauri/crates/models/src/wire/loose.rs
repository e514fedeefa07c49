//! A JSON value that should be text. Servers send different values in place of an empty text. The
//! module knows no fields.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A value that should be text but sometimes is not. The common case borrows and does not allocate.
#[derive(Debug, Default)]
pub(crate) enum Loose<'a> {
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Other(Value),
}

impl Loose<'_> {
    /// Returns the text, or an empty text for any other value.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Absent | Self::Other(_) => "",
        }
    }

    /// Returns a number of tokens, in whatever format the server wrote it.
    pub(crate) fn token_count(&self) -> Option<u64> {
        let number = match self {
            Self::Absent => None,
            Self::Text(text) => text.trim().parse::<f64>().ok(),
            Self::Other(value) => value.as_f64(),
        };
        number.map(super::clamp_token_count)
    }

    /// Returns a number, even if it is written as text.
    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Self::Absent => None,
            Self::Text(text) => text.parse().ok(),
            Self::Other(value) => value.as_u64(),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }
    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text)))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Loose::Absent)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Loose::Other(Value::Bool(value)))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Loose::Other(value.into()))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Loose::Other(value.into()))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Loose::Other(value.into()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(seq)).map(Loose::Other)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(map)).map(Loose::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(json: &str) -> Loose<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn text_without_escapes_is_borrowed_and_escaped_text_is_copied() {
        assert!(
            matches!(content("\"hello\""), Loose::Text(Cow::Borrowed("hello"))),
            "no copy for the common case"
        );
        assert!(matches!(content(r#""a\nb""#), Loose::Text(Cow::Owned(_))));
        assert!(matches!(content("null"), Loose::Absent));
    }

    #[test]
    fn values_of_unexpected_types_are_read_without_an_error() {
        for json in ["1", "-1", "1.5", "true", "[1,{}]", "{\"a\":1}"] {
            assert!(matches!(content(json), Loose::Other(_)), "{json}");
        }
        assert_eq!(content("\"3\"").number(), Some(3));
        assert_eq!(content("3").number(), Some(3));
    }
}
