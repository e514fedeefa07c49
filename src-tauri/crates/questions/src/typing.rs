//! Help while a question is typed: what may follow, and which words no reading will use.

use std::ops::Range;

use analytics::{Catalog, SourceModel};
use contract::definitions::Synonyms;
use serde::{Deserialize, Serialize};

use crate::{
    Names,
    lexicon::Lexicon,
    meaning::Meaning,
    names::{Named, SourceNames},
    tokens::{Kind, Token, tokens},
};

/// The most completions.
const MOST: usize = 8;
/// The most words of a name that are typed before it is completed.
const MOST_WORDS: usize = 4;
/// The words of operations that are offered after a figure, by the names that they are said with.
const OPERATIONS: [&str; 10] =
    ["by", "top", "in", "not", "versus", "sorted", "share", "average", "per", "running"];
/// The periods that are offered, by the names that they are said with.
const PERIODS: [&str; 12] = [
    "previous_month",
    "this_month",
    "previous_week",
    "this_week",
    "previous_day",
    "this_day",
    "previous_quarter",
    "this_quarter",
    "previous_year",
    "this_year",
    "to_date_month",
    "to_date_year",
];
/// The grains that are offered after a word that groups.
const GRAINS: [&str; 6] = ["day", "week", "month", "quarter", "year", "weekday"];

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletionKind {
    /// A measure.
    Measure,
    /// A dimension.
    Dimension,
    /// A value of a dimension.
    Value,
    /// A period.
    Period,
    /// An operation.
    Operation,
}

/// Words that may follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The words.
    pub insert: String,
    /// The bytes of the text that they take the place of.
    pub replace: Range<usize>,
    /// The kind.
    pub kind: CompletionKind,
    /// The dimension of a value, or the source of a name.
    pub of: Option<String>,
}

/// The place in a sentence, by the word before it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// Before the first word.
    Begin,
    /// After a word that groups.
    Group,
    /// After a word before a period or value.
    Inside,
    /// After a dimension.
    Dimension(String),
    /// After a measure, a value or a period.
    Behind,
    /// After any other word.
    Other,
}

/// All that completions are made with.
pub(crate) struct Typing<'a> {
    pub lexicon: &'a Lexicon,
    pub names: &'a Names,
    pub catalog: &'a Catalog,
    pub language: &'a str,
}

impl Typing<'_> {
    /// Returns what may follow at a place of a text.
    pub fn complete(&self, text: &str, cursor: usize) -> Vec<Completion> {
        let mut cursor = cursor.min(text.len());
        while !text.is_char_boundary(cursor) {
            cursor -= 1;
        }
        let before = text.get(..cursor).unwrap_or_default();
        let all = tokens(before);
        let is_typing =
            all.last().is_some_and(|last| last.range.end == cursor && last.kind != Kind::Sign);
        let sources = self.sources(&all);
        let mut found = Vec::new();
        if is_typing {
            // The longest name that begins with the words typed so far comes first.
            for words in (1..=MOST_WORDS.min(all.len())).rev() {
                let (done, typed) = all.split_at(all.len() - words);
                if typed.iter().any(|token| token.kind == Kind::Sign) {
                    continue;
                }
                let prefix = typed.iter().map(|token| token.fold.as_str()).collect::<String>();
                let start = typed.first().map_or(cursor, |token| token.range.start);
                let place = self.place(done, &sources);
                self.add(&mut found, &place, &sources, &prefix, start..cursor);
            }
        } else {
            let place = self.place(&all, &sources);
            self.add(&mut found, &place, &sources, "", cursor..cursor);
        }
        found.truncate(MOST);
        found
    }

    /// Returns the sources, those that the text names things of first.
    fn sources(&self, typed: &[Token]) -> Vec<(&SourceModel, &SourceNames)> {
        let mut all: Vec<(usize, &SourceModel, &SourceNames)> = Vec::new();
        for (source, names) in self.catalog.sources.iter().zip(&self.names.sources) {
            let spans = [1, 2, 3].into_iter().flat_map(|size| typed.windows(size));
            let hits = spans.filter(|span| {
                let words: Vec<&str> = span.iter().map(|token| token.fold.as_str()).collect();
                words.concat() == names.source || !names.find(&words, self.lexicon).is_empty()
            });
            all.push((hits.count(), source, names));
        }
        let most = all.iter().map(|(count, ..)| *count).max().unwrap_or_default();
        // Once names of a source are typed, others are not in question.
        let mut kept: Vec<_> = all.into_iter().filter(|(count, ..)| *count == most).collect();
        kept.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
        kept.into_iter().map(|(_, source, names)| (source, names)).collect()
    }

    /// Returns the place after some words.
    fn place(&self, typed: &[Token], sources: &[(&SourceModel, &SourceNames)]) -> Place {
        let Some(last) = typed.last() else { return Place::Begin };
        for size in (1..=MOST_WORDS.min(typed.len())).rev() {
            let span = &typed[typed.len() - size..];
            let words: Vec<&str> = span.iter().map(|token| token.fold.as_str()).collect();
            let hits = sources.iter().flat_map(|(_, names)| names.find(&words, self.lexicon));
            let mut is_other = false;
            for hit in hits {
                if let Named::Dimension(name) = hit.named {
                    return Place::Dimension(name);
                }
                is_other = true;
            }
            if is_other {
                return Place::Behind;
            }
        }
        let phrases = self.lexicon.phrases_at(typed, typed.len() - 1);
        let meanings: Vec<&Meaning> = phrases.iter().flat_map(|(_, all)| all.iter()).collect();
        let is = |fits: fn(&Meaning) -> bool| meanings.iter().any(|meaning| fits(meaning));
        if is(|m| matches!(m, Meaning::By | Meaning::Per)) {
            Place::Group
        } else if is(|m| {
            matches!(m, Meaning::In | Meaning::Relative(_) | Meaning::Not | Meaning::Versus)
        }) {
            Place::Inside
        } else if is(Meaning::is_period) || last.kind == Kind::Number {
            Place::Behind
        } else if self.lexicon.is_empty_word(&last.fold) || is(|m| matches!(m, Meaning::Rank(_))) {
            Place::Begin
        } else {
            Place::Other
        }
    }

    /// Adds the words that fit a place and begin with a prefix.
    fn add(
        &self,
        found: &mut Vec<Completion>,
        place: &Place,
        sources: &[(&SourceModel, &SourceNames)],
        prefix: &str,
        replace: Range<usize>,
    ) {
        use CompletionKind::{Dimension, Measure, Operation, Period, Value};
        let order: &[CompletionKind] = match place {
            Place::Begin => &[Measure, Dimension, Operation, Value, Period],
            Place::Group => &[Dimension, Period, Measure, Value],
            Place::Inside => &[Period, Value, Dimension, Measure],
            Place::Dimension(_) => &[Value, Operation, Period, Measure],
            Place::Behind => &[Operation, Period, Dimension, Value, Measure],
            Place::Other => &[Measure, Dimension, Value, Period, Operation],
        };
        // Without a letter, only what is most likely is offered.
        let shown = match (prefix.is_empty(), place) {
            (true, Place::Other) => 0,
            (true, _) => 2,
            (false, _) => order.len(),
        };
        for kind in order.iter().take(shown) {
            let words: Vec<(String, Option<String>)> = match kind {
                Measure => self.measures(sources),
                Dimension => self.dimensions(sources),
                Value => self.values(place, sources, prefix),
                Period if *place == Place::Group => self.said(&GRAINS),
                Period => self.said(&PERIODS),
                Operation => self.said(&OPERATIONS),
            };
            for (insert, of) in words {
                let key = crate::tokens::name_words(&insert).concat();
                let is_new = |own: &Completion| own.insert != insert;
                if key.starts_with(prefix) && key != prefix && found.iter().all(is_new) {
                    found.push(Completion { insert, replace: replace.clone(), kind: *kind, of });
                }
            }
        }
    }

    fn measures(&self, sources: &[(&SourceModel, &SourceNames)]) -> Vec<(String, Option<String>)> {
        let mut words = Vec::new();
        for (source, _) in sources {
            let main = crate::central::main_measure(source, self.lexicon);
            let mut own: Vec<_> = source.definitions.measures.iter().collect();
            own.sort_by_key(|(name, _)| Some(*name) != main.as_ref());
            for (name, measure) in own {
                let title = measure.title.get(self.language).cloned();
                let shown = title.unwrap_or_else(|| self.shown(name, &measure.synonyms));
                words.push((shown, Some(source.name().to_string())));
            }
        }
        words
    }

    fn dimensions(
        &self,
        sources: &[(&SourceModel, &SourceNames)],
    ) -> Vec<(String, Option<String>)> {
        let mut words = Vec::new();
        for (source, _) in sources {
            for (name, dimension) in &source.definitions.dimensions {
                let shown = self.shown(name, &dimension.synonyms);
                words.push((shown, Some(source.name().to_string())));
            }
        }
        words
    }

    /// Returns a name as people write it: by its first synonym in another language than English.
    fn shown(&self, name: &str, synonyms: &Synonyms) -> String {
        let own = synonyms.get(self.language).filter(|_| self.language != "en");
        let own = own.and_then(|own| own.first()).cloned();
        own.unwrap_or_else(|| name.replace('_', " "))
    }

    fn values(
        &self,
        place: &Place,
        sources: &[(&SourceModel, &SourceNames)],
        prefix: &str,
    ) -> Vec<(String, Option<String>)> {
        let of = if let Place::Dimension(name) = place { Some(name.as_str()) } else { None };
        let found = sources.iter().flat_map(|(_, names)| names.values_like(prefix, of, MOST));
        found.map(|(dimension, value)| (value, Some(dimension))).collect()
    }

    fn said(&self, keys: &[&str]) -> Vec<(String, Option<String>)> {
        let words = self.lexicon.words_of(self.language).or_else(|| self.lexicon.words_of("en"));
        let found = keys.iter().filter_map(|key| words?.get(*key).cloned());
        found.map(|word| (word, None)).collect()
    }
}
