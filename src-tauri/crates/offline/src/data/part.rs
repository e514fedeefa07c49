//! A question about a source, as a part of a message. It must not know who answers it.

use std::ops::Range;

use contract::metric_query::{Condition, MetricQuery};
use questions::Outcome;

/// A question about a source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// The text that the places of the outcome refer to.
    pub(crate) text: String,
    /// The bytes of the question in the text.
    pub(crate) at: Range<usize>,
    /// The readings.
    pub(crate) outcome: Outcome,
    /// Whether it goes on from the question before it.
    pub(crate) goes_on: bool,
}

impl Part {
    /// Returns words of the text.
    pub(crate) fn words(&self, at: &Range<usize>) -> &str {
        self.text.get(at.clone()).unwrap_or_default()
    }
}

/// Whether two queries are the same but for the order of their conditions.
pub(super) fn is_same(one: &MetricQuery, other: &MetricQuery) -> bool {
    let sorted = |query: &MetricQuery| {
        let mut query = query.clone();
        let key = |condition: &Condition| serde_json::to_string(condition).unwrap_or_default();
        query.conditions.sort_by_key(key);
        query
    };
    sorted(one) == sorted(other)
}
