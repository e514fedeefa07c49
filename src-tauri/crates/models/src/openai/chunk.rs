//! One `data:` line of a chat-completions stream (or a whole answer), read into borrowed text.
//! It owns what servers are known to send in odd shapes; it does not know what the pieces add up to.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A chunk, a complete answer or an error object: the fields tell which.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

/// The first choice carries the answer; others are never asked for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    /// In place of `delta` when the server does not stream.
    #[serde(borrow, default)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Loose<'a>,
}

/// What came since the last chunk.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallPart<'a>>>,
}

/// A piece of a tool call.
#[derive(Debug, Default, Deserialize)]
pub(super) struct CallPart<'a> {
    #[serde(borrow, default)]
    pub(super) index: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) id: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionPart<'a>>,
}

/// Name and arguments, or a piece of them.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionPart<'a> {
    #[serde(borrow, default)]
    pub(super) name: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Loose<'a>,
}

/// Token counts; everything else in the object is the provider's own business.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct WireUsage {
    #[serde(default)]
    pub(super) prompt_tokens: Option<f64>,
    #[serde(default)]
    pub(super) completion_tokens: Option<f64>,
}

/// A value that should be text but is not always. The common case borrows and allocates nothing.
#[derive(Debug, Default)]
pub(super) enum Loose<'a> {
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Other(Value),
}

impl Loose<'_> {
    /// The text, empty when it is anything else.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Absent | Self::Other(_) => "",
        }
    }

    /// A number, also when written as text.
    pub(super) fn number(&self) -> Option<u64> {
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
    fn plain_text_is_borrowed_and_escaped_text_owned() {
        assert!(matches!(content("\"hello\""), Loose::Text(Cow::Borrowed("hello"))), "no copy for the common case");
        assert!(matches!(content(r#""a\nb""#), Loose::Text(Cow::Owned(_))));
        assert!(matches!(content("null"), Loose::Absent));
    }

    #[test]
    fn odd_shapes_do_not_fail() {
        for json in ["1", "-1", "1.5", "true", "[1,{}]", "{\"a\":1}"] {
            assert!(matches!(content(json), Loose::Other(_)), "{json}");
        }
        assert_eq!(content("\"3\"").number(), Some(3));
        assert_eq!(content("3").number(), Some(3));
    }
}
