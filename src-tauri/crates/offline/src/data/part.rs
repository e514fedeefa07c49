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

    /// Returns the words that no reading uses.
    pub(crate) fn words_left_over(&self) -> Vec<String> {
        match &self.outcome {
            Outcome::Partly { without, .. } => {
                without.iter().map(|at| self.words(at).to_owned()).collect()
            }
            Outcome::One(_) | Outcome::Several(_) | Outcome::Declined { .. } | Outcome::None => {
                Vec::new()
            }
        }
    }

    /// Leaves over words of an earlier question, which are written behind the text.
    pub(super) fn leave_over(&mut self, words: &[String]) {
        let (mut left, nearest) = match &self.outcome {
            Outcome::One(reading) => (Vec::new(), reading.clone()),
            Outcome::Partly { without, nearest } => (without.clone(), nearest.clone()),
            Outcome::Several(readings) => match readings.first() {
                Some(first) => (Vec::new(), Box::new(first.clone())),
                None => return,
            },
            Outcome::Declined { .. } | Outcome::None => return,
        };
        let typed: Vec<&str> = left.iter().map(|at| self.words(at)).collect();
        let new: Vec<&String> =
            words.iter().filter(|word| !typed.contains(&word.as_str())).collect();
        for word in new {
            let start = self.text.len() + 1;
            self.text = format!("{} {word}", self.text);
            left.push(start..self.text.len());
        }
        self.outcome = Outcome::Partly { without: left, nearest };
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
