//! Reads questions in words as metric queries over definitions, without a language model. It is general
//! for every source: words of a language are data, names come from the catalog and its values, and no
//! rule knows the subject of a source. Pure: it opens nothing and asks nobody.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::{collections::BTreeMap, ops::Range, sync::LazyLock};

use analytics::Catalog;
use contract::{
    SourceName,
    metric_query::{AsOf, MetricQuery},
};

mod candidates;
mod central;
mod checking;
mod choices;
mod compose;
mod cover;
mod edges;
mod families;
mod follow_up;
mod items;
mod lexicon;
mod meaning;
mod names;
mod numbers;
mod outcome;
mod parts;
mod periods;
mod reading;
mod saying;
mod scan;
mod suggesting;
mod things;
mod tokens;
mod typing;
mod words;

use lexicon::Lexicon;
use names::SourceNames;
use reading::Asked;
use saying::Saying;
use typing::Typing;

pub use follow_up::{FollowUp, Kept, Shown};
pub use outcome::{Assumed, Correction, Declined, Form, Outcome, Reading, Span, SpanMeaning, View};
pub use typing::{Completion, CompletionKind};

/// The values of dimensions, by source and dimension.
pub type Values = BTreeMap<SourceName, BTreeMap<String, Vec<String>>>;

/// Reads questions.
#[derive(Debug)]
pub struct Reader {
    lexicon: Lexicon,
}

/// The index of the names in a catalog. It must be made again when the catalog or the values change.
#[derive(Debug, Default)]
pub struct Names {
    /// In the order of the catalog.
    sources: Vec<SourceNames>,
}

impl Reader {
    /// Creates a reader. Fails if a file of the lexicon is wrong, which tests exclude.
    pub fn new() -> Result<Self, serde_json::Error> {
        Ok(Self { lexicon: Lexicon::new()? })
    }

    /// Returns the reader that all share. Fails as `new` does.
    pub fn shared() -> Result<&'static Self, &'static serde_json::Error> {
        static SHARED: LazyLock<Result<Reader, serde_json::Error>> = LazyLock::new(Reader::new);
        SHARED.as_ref()
    }

    /// Makes the index of the names in a catalog.
    pub fn names(&self, catalog: &Catalog, values: &Values) -> Names {
        let none = BTreeMap::new();
        let names = |source: &analytics::SourceModel| {
            let values = values.get(source.name()).unwrap_or(&none);
            SourceNames::new(source, catalog, values, &self.lexicon)
        };
        Names { sources: catalog.sources.iter().map(names).collect() }
    }

    /// Reads a question.
    pub fn read(&self, text: &str, names: &Names, catalog: &Catalog, as_of: &AsOf) -> Outcome {
        Asked { lexicon: &self.lexicon, names, catalog, as_of }.read(text)
    }

    /// Reads each question of a text, by its bytes in the text. A text with one question has one part.
    pub fn read_parts(
        &self,
        text: &str,
        names: &Names,
        catalog: &Catalog,
        as_of: &AsOf,
    ) -> Vec<(Range<usize>, Outcome)> {
        Asked { lexicon: &self.lexicon, names, catalog, as_of }.read_parts(text)
    }

    /// Returns the words that may follow at a place of a text, the likely ones first.
    pub fn complete(
        &self,
        text: &str,
        cursor: usize,
        names: &Names,
        catalog: &Catalog,
        language: &str,
    ) -> Vec<Completion> {
        Typing { lexicon: &self.lexicon, names, catalog, language }.complete(text, cursor)
    }

    /// Returns the words of a text that no reading will use, by their bytes. `previous` is the earlier
    /// query that the text may go on from.
    pub fn check(
        &self,
        text: &str,
        previous: Option<&MetricQuery>,
        names: &Names,
        catalog: &Catalog,
        as_of: &AsOf,
    ) -> Vec<Range<usize>> {
        Asked { lexicon: &self.lexicon, names, catalog, as_of }.unused(text, previous)
    }

    /// Says a query in words of a language (`en` or `sv`) that are read as the same query. None if the
    /// query has a member that no question asks for, or its source is not in the catalog.
    pub fn say(&self, query: &MetricQuery, catalog: &Catalog, language: &str) -> Option<String> {
        let words = self.lexicon.words_of(language)?;
        let mut sources = catalog.sources.iter();
        let source = sources.find(|source| Some(source.name()) == query.source.as_ref())?;
        Saying { words, source, language }.say(query)
    }

    /// Reads a question that may go on from an earlier one. `previous` is the earlier query with its
    /// source, `shown` the names of the rows of its result.
    pub fn read_follow_up(
        &self,
        text: &str,
        before: (&MetricQuery, &Shown),
        names: &Names,
        catalog: &Catalog,
        as_of: &AsOf,
    ) -> FollowUp {
        let asked = Asked { lexicon: &self.lexicon, names, catalog, as_of };
        asked.read_follow_up(text, before.0, before.1)
    }
}
