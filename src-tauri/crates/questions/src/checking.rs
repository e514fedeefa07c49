//! Finds the words of a text that no reading uses, for help while typing.

use std::ops::Range;

use contract::metric_query::MetricQuery;

use crate::{
    follow_up::Shown,
    outcome::Outcome,
    reading::{Asked, joined, short_tokens},
    tokens::{Kind, Token},
};

impl Asked<'_> {
    /// Returns the words of a text that no reading will use.
    pub fn unused(&self, text: &str, previous: Option<&MetricQuery>) -> Vec<Range<usize>> {
        let shown = Shown::default();
        let left = |outcome: Outcome, at: &Range<usize>| match outcome {
            Outcome::One(_) | Outcome::Several(_) => Vec::new(),
            Outcome::Partly { without, .. } => without,
            Outcome::Declined { at, .. } => vec![at],
            Outcome::None => self.unknown_words(text.get(at.clone()).unwrap_or_default(), at.start),
        };
        if let Some(previous) = previous {
            let found = self.read_follow_up(text, previous, &shown);
            if !found.kept.is_empty() {
                return left(found.outcome, &(0..text.len()));
            }
        }
        let parts = self.read_parts(text).into_iter();
        parts.flat_map(|(at, outcome)| left(outcome, &at)).collect()
    }

    /// Returns the words that neither the lexicon nor a source knows.
    fn unknown_words(&self, text: &str, from: usize) -> Vec<Range<usize>> {
        let Some(tokens) = short_tokens(text) else { return Vec::new() };
        let is_known = |token: &Token| {
            let word = [token.fold.as_str()];
            self.lexicon.knows(&token.fold)
                || self.names.sources.iter().any(|names| names.knows(&word, self.lexicon))
        };
        let words = tokens.iter().filter(|token| token.kind == Kind::Word && !is_known(token));
        joined(words.map(|token| from + token.range.start..from + token.range.end).collect())
    }
}
