//! Conditions on rows, and on values of a result.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Number, Value};
use ts_rs::TS;

use super::MetricQuery;

/// A condition. It is written as `{"campaign": ["A", "B"]}`, `{"spend": {">": 100}}`, `{"and": [...]}`,
/// `{"or": [...]}` or `{"not": {...}}`.
#[derive(Clone, Debug, PartialEq, Eq, TS)]
#[ts(type = "Record<string, unknown>")]
pub enum Condition {
    /// All hold.
    And(Vec<Condition>),
    /// One of them holds.
    Or(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// A dimension, column or measure passes a test.
    Is {
        /// The dimension, column or measure.
        name: String,
        /// The test.
        test: Test,
    },
}

/// A test of a value. An empty value passes no test but `Empty(true)` and a list with null.
#[derive(Clone, Debug, PartialEq, Eq, TS)]
#[ts(type = "unknown")]
pub enum Test {
    /// It is one of these: `["A", "B"]`, or a single value. Null is the empty value.
    OneOf(Vec<Scalar>),
    /// It is none of these: `{"not": ["A"]}`. The empty value passes, too, unless null is listed.
    NoneOf(Vec<Scalar>),
    /// It contains one of these, in any case of letters: `{"contains": "x"}`.
    Contains(Vec<String>),
    /// It contains none of these: `{"not_contains": "x"}`. The empty value passes, too.
    NotContains(Vec<String>),
    /// It begins with one of these, in any case of letters: `{"starts": "x"}`.
    Starts(Vec<String>),
    /// It ends with one of these, in any case of letters: `{"ends": "x"}`.
    Ends(Vec<String>),
    /// It lies between bounds: `{">": 1, "<=": 2}`.
    Bounds(Bounds),
    /// It is empty, or it is not: `{"empty": true}`.
    Empty(bool),
    /// It is among the values of the only dimension of another query: `{"in": {...}}`.
    In(Box<MetricQuery>),
    /// It is not among them: `{"not_in": {...}}`. The empty value passes, too.
    NotIn(Box<MetricQuery>),
}

/// Bounds of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// It is greater.
    pub above: Option<Scalar>,
    /// It is greater or equal.
    pub from: Option<Scalar>,
    /// It is less.
    pub below: Option<Scalar>,
    /// It is less or equal.
    pub to: Option<Scalar>,
}

/// A value to compare with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(untagged)]
pub enum Scalar {
    /// The empty value.
    Null,
    /// Yes or no.
    Flag(bool),
    /// A number, with the digits that were written.
    Number(#[ts(type = "number")] Number),
    /// A text, day or moment.
    Text(String),
}

impl Condition {
    /// Creates a condition that a value is one of some texts.
    pub fn one_of(name: impl Into<String>, values: impl IntoIterator<Item = String>) -> Self {
        let values = values.into_iter().map(Scalar::Text).collect();
        Self::Is { name: name.into(), test: Test::OneOf(values) }
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::And(parts) => map.serialize_entry("and", parts)?,
            Self::Or(parts) => map.serialize_entry("or", parts)?,
            Self::Not(part) => map.serialize_entry("not", part)?,
            Self::Is { name, test } => map.serialize_entry(name, test)?,
        }
        map.end()
    }
}

impl Serialize for Test {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn one<S: Serializer, T: Serialize + ?Sized>(
            serializer: S,
            name: &str,
            value: &T,
        ) -> Result<S::Ok, S::Error> {
            BTreeMap::from([(name, value)]).serialize(serializer)
        }
        match self {
            Self::OneOf(values) => values.serialize(serializer),
            Self::NoneOf(values) => one(serializer, "not", values),
            Self::Contains(texts) => one(serializer, "contains", texts),
            Self::NotContains(texts) => one(serializer, "not_contains", texts),
            Self::Starts(texts) => one(serializer, "starts", texts),
            Self::Ends(texts) => one(serializer, "ends", texts),
            Self::Empty(is_empty) => one(serializer, "empty", is_empty),
            Self::In(query) => one(serializer, "in", query),
            Self::NotIn(query) => one(serializer, "not_in", query),
            Self::Bounds(bounds) => {
                let members = [
                    (">", &bounds.above),
                    (">=", &bounds.from),
                    ("<", &bounds.below),
                    ("<=", &bounds.to),
                ];
                let members =
                    members.into_iter().filter_map(|(sign, at)| Some((sign, at.as_ref()?)));
                members.collect::<BTreeMap<_, _>>().serialize(serializer)
            }
        }
    }
}

impl JsonSchema for Condition {
    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "{\"campaign\": [\"A\", \"B\"]}, {\"campaign\": {\"contains\": \"x\"}} \
                (also not_contains, starts, ends, not, empty), {\"spend\": {\">\": 100}} (also >=, <, <=), \
                {\"campaign\": {\"in\": METRIC_QUERY}} (also not_in), {\"and\": [...]}, {\"or\": [...]}, {\"not\": {...}}"
        })
    }
}

impl JsonSchema for Test {
    fn schema_name() -> Cow<'static, str> {
        "Test".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "[\"A\", \"B\"], {\"contains\": \"x\"}, {\"not\": [\"A\"]}, {\">\": 100}"
        })
    }
}

impl From<&Scalar> for Value {
    fn from(scalar: &Scalar) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Flag(flag) => Self::Bool(*flag),
            Scalar::Number(number) => Self::Number(number.clone()),
            Scalar::Text(text) => Self::String(text.clone()),
        }
    }
}
