//! Conditions in words.

use contract::{
    Param, Text,
    metric_query::{Bounds, Condition, MetricQuery, Scalar, Test},
    text,
};
use serde_json::json;

use super::{Words, as_is, figures::text_of, list};

impl Words<'_> {
    /// Returns conditions that all hold.
    pub fn conditions(&self, conditions: &[Condition]) -> Text {
        let each = conditions.iter().map(|condition| Param::Text(self.condition(condition)));
        Text::listed(each, "; ")
    }

    /// Returns a condition.
    pub fn condition(&self, condition: &Condition) -> Text {
        match (condition, self.deeper()) {
            (Condition::Is { name, test: Test::OneOf(values) }, _) => {
                let name_of = self.result_column(name);
                text!("{name}: {values}", name = name_of, values = self.named_values(name, values))
            }
            (Condition::Is { name, test: Test::NoneOf(values) }, _) => {
                let name_of = self.result_column(name);
                text!(
                    "{name}: not {values}",
                    name = name_of,
                    values = self.named_values(name, values)
                )
            }
            (Condition::Is { name, test }, _) => self.test(self.result_column(name), test),
            (Condition::And(parts), Some(inner)) => {
                text!("all of these: ({conditions})", conditions = inner.conditions(parts))
            }
            (Condition::Or(parts), Some(inner)) => {
                text!("one of these: ({conditions})", conditions = inner.conditions(parts))
            }
            (Condition::Not(part), Some(inner)) => {
                text!("not ({condition})", condition = inner.condition(part))
            }
            (_, None) => text_of(as_is(json!(condition).to_string())),
        }
    }

    /// Returns values as their dimension names them.
    fn named_values(&self, dimension: &str, values: &[Scalar]) -> Text {
        list(values.iter().map(|value| match value {
            Scalar::Text(text) => {
                let named = self.source.value_name(dimension, text);
                named.map_or_else(|| scalar(value), Param::Name)
            }
            Scalar::Null | Scalar::Flag(_) | Scalar::Number(_) => scalar(value),
        }))
    }

    /// Returns a test of a value.
    pub fn test(&self, name: Param, test: &Test) -> Text {
        match test {
            Test::OneOf(values) => text!("{name}: {values}", name, values = scalars(values)),
            Test::NoneOf(values) => text!("{name}: not {values}", name, values = scalars(values)),
            Test::Contains(texts) => text!("{name} contains {texts}", name, texts = any_of(texts)),
            Test::NotContains(texts) => {
                text!("{name} does not contain {texts}", name, texts = any_of(texts))
            }
            Test::Starts(texts) => text!("{name} begins with {texts}", name, texts = any_of(texts)),
            Test::Ends(texts) => text!("{name} ends with {texts}", name, texts = any_of(texts)),
            Test::Bounds(within) => text!("{name} {bounds}", name, bounds = bounds(within)),
            Test::Empty(true) => text!("{name} is empty", name),
            Test::Empty(false) => text!("{name} is not empty", name),
            Test::In(query) => text!("{name} is among ({query})", name, query = self.inner(query)),
            Test::NotIn(query) => {
                text!("{name} is not among ({query})", name, query = self.inner(query))
            }
        }
    }

    fn inner(&self, query: &MetricQuery) -> Text {
        match self.deeper() {
            Some(inner) => inner.sentence(query),
            None => text_of(as_is(json!(query).to_string())),
        }
    }
}

/// Returns texts of which one is meant.
fn any_of(texts: &[String]) -> Text {
    Text::listed(texts.iter().map(|text| Param::Text(quoted(text))), " / ")
}

fn quoted(text: &str) -> Text {
    text!("“{text}”", text = as_is(text))
}

fn scalars(values: &[Scalar]) -> Text {
    list(values.iter().map(scalar))
}

/// Returns a value. Digits stay as they are written, because a number may be a name.
pub(super) fn scalar(value: &Scalar) -> Param {
    match value {
        Scalar::Null => Param::Text(text!("(empty)")),
        Scalar::Flag(true) => Param::Text(text!("Yes")),
        Scalar::Flag(false) => Param::Text(text!("No")),
        Scalar::Number(number) => as_is(number.to_string()),
        // A value that could be read as several, or as none.
        Scalar::Text(text) if text.trim() != text || text.is_empty() || text.contains(", ") => {
            Param::Text(quoted(text))
        }
        Scalar::Text(text) => as_is(text),
    }
}

fn bounds(bounds: &Bounds) -> Text {
    let signs =
        [(">", &bounds.above), ("≥", &bounds.from), ("<", &bounds.below), ("≤", &bounds.to)];
    let each = signs.into_iter().filter_map(|(sign, bound)| {
        let value = scalar(bound.as_ref()?);
        Some(Param::Text(text!("{sign} {value}", sign = as_is(sign), value)))
    });
    list(each)
}
