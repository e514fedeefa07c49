//! A question while it is read over one source: its tokens, the phrases of the lexicon in it, and
//! today. It must not know names of the source.

use std::cell::OnceCell;

use analytics::{Catalog, SourceModel, resolve};
use chrono::NaiveDate;
use contract::metric_query::{AsOf, MeasureUse, MetricQuery, Period};

use crate::{central, lexicon::Lexicon, meaning::Meaning, tokens::Token};

/// The tokens and phrases of a question.
pub(crate) struct Scan<'a> {
    /// The tokens.
    pub tokens: &'a [Token],
    /// The lexicon.
    pub lexicon: &'a Lexicon,
    /// The source that is read.
    pub source: &'a SourceModel,
    /// All sources.
    pub catalog: &'a Catalog,
    /// The moment of the question.
    pub as_of: &'a AsOf,
    /// The phrases that begin at each token.
    phrases: Vec<Vec<(usize, &'a [Meaning])>>,
    /// The measure that says most about the source, once it is asked for.
    main: OnceCell<Option<String>>,
    /// Whether a choice says which measure that is.
    is_chosen: bool,
}

impl<'a> Scan<'a> {
    /// Creates the scan of a question over a source.
    pub fn new(
        tokens: &'a [Token],
        lexicon: &'a Lexicon,
        source: &'a SourceModel,
        catalog: &'a Catalog,
        as_of: &'a AsOf,
    ) -> Self {
        let phrases = (0..tokens.len()).map(|at| lexicon.phrases_at(tokens, at)).collect();
        Self {
            tokens,
            lexicon,
            source,
            catalog,
            as_of,
            phrases,
            main: OnceCell::new(),
            is_chosen: false,
        }
    }

    /// Returns the scan of the same question if it is about one of several measures that it may mean.
    pub fn about(&self, measure: String) -> Self {
        let main = OnceCell::from(Some(measure));
        let phrases = self.phrases.clone();
        Self { phrases, main, is_chosen: true, ..*self }
    }

    /// Whether the question is read about one of several measures that it may mean.
    pub fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    /// Returns the phrases that begin at a token: their lengths and meanings, the shortest first.
    pub fn phrases_at(&self, at: usize) -> &[(usize, &'a [Meaning])] {
        self.phrases.get(at).map_or(&[], Vec::as_slice)
    }

    /// Returns the longest phrase at a token with a meaning that fits, and what was found in it.
    pub fn phrase<T>(&self, at: usize, fits: impl Fn(&Meaning) -> Option<T>) -> Option<(usize, T)> {
        let found = self.phrases_at(at).iter().rev();
        found.clone().find_map(|(len, meanings)| Some((at + len, meanings.iter().find_map(&fits)?)))
    }

    /// Returns the end of the longest phrase at a token that has a meaning.
    pub fn end_of(&self, at: usize, meaning: &Meaning) -> Option<usize> {
        self.phrase(at, |found| (found == meaning).then_some(())).map(|(end, ())| end)
    }

    /// Returns the place after words without meaning.
    pub fn skip_empty(&self, mut at: usize) -> usize {
        while self.tokens.get(at).is_some_and(|token| self.lexicon.is_empty_word(&token.fold)) {
            at += 1;
        }
        at
    }

    /// Returns the measure that says most about the source.
    pub fn main_measure(&self) -> Option<String> {
        self.main.get_or_init(|| central::main_measure(self.source, self.lexicon)).clone()
    }

    /// Whether the text says what will be. "Will you" is only polite.
    pub fn is_about_the_future(&self) -> bool {
        (0..self.tokens.len()).any(|at| {
            let end = self.end_of(at, &Meaning::Will);
            end.is_some_and(|end| self.end_of(at, &Meaning::Filler).is_none_or(|all| all <= end))
        })
    }

    /// Returns today's day.
    pub fn today(&self) -> NaiveDate {
        self.as_of.moment.date()
    }

    /// Returns the first and last day of a period by the calendar of the source.
    pub fn days_of(&self, period: &Period) -> Option<(NaiveDate, NaiveDate)> {
        if let Period::Range { from, to } = period {
            return Some(((*from)?, (*to)?));
        }
        let query = MetricQuery {
            source: Some(self.source.name().clone()),
            measures: vec![MeasureUse::named("rows")],
            period: Some(period.clone()),
            ..MetricQuery::default()
        };
        match resolve(&query, self.catalog, self.as_of).ok()?.query.period? {
            Period::Range { from, to } => Some((from?, to?)),
            _ => None,
        }
    }
}
