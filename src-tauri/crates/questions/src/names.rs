//! The index of the names of one source: its measures, dimensions, columns and the values of its
//! dimensions. A look-up costs the same for ten values and for a hundred thousand. It must not know
//! what operations are.

use std::collections::{BTreeMap, HashMap};

use analytics::{Catalog, SourceModel};
use contract::{
    definitions::{Calculation, DimensionKind, Synonyms},
    sources::ColumnKind,
};

use crate::{
    lexicon::Lexicon,
    tokens::{Kind, Token, name_words},
};

mod amounts;
mod flags;
mod segments;
mod sides;
mod spelling;
mod states;

pub(crate) use flags::HOLDS;
pub(crate) use segments::ends_with;
pub(crate) use sides::side_of;
use spelling::Spelling;
use states::StateNames;

/// The most words of a name that are looked up together.
pub(crate) const LONGEST_NAME: usize = 10;
/// The length of a base that two different forms must share.
const LONG_BASE: usize = 6;
/// The most values that a part of a name leads to.
const MOST_OF_PART: usize = 40;

/// The thing that a name names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A measure.
    Measure(String),
    /// A dimension or column.
    Dimension(String),
    /// A value of a dimension.
    Value {
        /// The dimension.
        dimension: String,
        /// The value.
        value: String,
    },
}

/// How a name was found, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// By its own name.
    Own,
    /// By a synonym, a title or a heading.
    Synonym,
    /// By a form of its name.
    Form,
    /// By a word of the trade that means the same.
    Vocabulary,
    /// By the heading of a column that has no definition.
    Column,
}

/// A name that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The thing.
    pub named: Named,
    /// How it was found.
    pub how: How,
}

/// Values that have a word in common.
#[derive(Clone, Debug, Default)]
struct Part {
    values: Vec<usize>,
    count: usize,
}

impl Part {
    /// Adds the place of a value. A value may have a part twice.
    fn add(&mut self, place: usize) {
        if self.values.last() == Some(&place) {
            return;
        }
        self.count += 1;
        if self.values.len() < MOST_OF_PART {
            self.values.push(place);
        }
    }
}

/// The values of a dimension that contain some words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartHit {
    /// The dimension.
    pub dimension: String,
    /// The only value, or none if there are several.
    pub value: Option<String>,
}

/// The names of one source.
#[derive(Debug)]
pub(crate) struct SourceNames {
    /// Names by their words in folded form, without spaces.
    exact: HashMap<String, Vec<Hit>>,
    /// Names of measures and dimensions by the base of their last word.
    forms: HashMap<String, Vec<Named>>,
    values: Vec<(usize, String)>,
    /// The places of values by their words in folded form, sorted.
    by_words: Vec<(String, usize)>,
    dimensions: Vec<String>,
    parts: HashMap<String, Part>,
    /// Values by their segments.
    segments: HashMap<String, Part>,
    spelling: Spelling,
    states: StateNames,
    /// Measures by general words for amounts that nothing has as a name.
    amounts: HashMap<String, Vec<String>>,
    /// The values that say that the name of their dimension holds, by dimension.
    pub flags: HashMap<String, String>,
    /// The own name of the source, as a key.
    pub source: String,
    /// The number of words of the source's name.
    pub source_words: usize,
}

impl SourceNames {
    /// Creates the index of a source. `values` are those of its dimensions.
    pub fn new(
        source: &SourceModel,
        catalog: &Catalog,
        values: &BTreeMap<String, Vec<String>>,
        lexicon: &Lexicon,
    ) -> Self {
        let words = name_words(source.name().as_str());
        let mut names = Self {
            exact: HashMap::new(),
            forms: HashMap::new(),
            values: Vec::new(),
            by_words: Vec::new(),
            dimensions: Vec::new(),
            parts: HashMap::new(),
            segments: HashMap::new(),
            spelling: Spelling::default(),
            states: StateNames::default(),
            amounts: HashMap::new(),
            flags: flags::flags_of(source, values, lexicon),
            source: words.concat(),
            source_words: words.len(),
        };
        names.add_measures(source, lexicon);
        names.add_dimensions(source, lexicon);
        let is_joined =
            |other: &&SourceModel| source.definitions.joins.contains_key(other.name().as_str());
        for other in catalog.sources.iter().filter(is_joined) {
            names.add_joined(source, other);
        }
        for (dimension, values) in values {
            // A state has the names that its dimension gives it, and no parts of its own one.
            let own = source.definitions.dimensions.get(dimension);
            let is_whole = own.is_some_and(|own| !own.values.is_empty());
            names.add_values(dimension, values, is_whole, lexicon);
        }
        // Rows that no measure counts have the name of the source.
        for word in lexicon.words_for_rows(&names.source) {
            if names.is_left(&word) {
                let rows = Named::Measure("rows".to_owned());
                names.add_key(&word, &rows, How::Synonym);
                names.add_forms(std::slice::from_ref(&word), &rows, lexicon);
                names.spelling.add_all(std::slice::from_ref(&word));
            }
        }
        names.amounts = amounts::words_for_amounts(source, lexicon);
        names.amounts.retain(|word, _| names.exact.get(word).is_none_or(Vec::is_empty));
        names.spelling.sort();
        names.by_words.sort();
        names
    }

    fn add_measures(&mut self, source: &SourceModel, lexicon: &Lexicon) {
        for (name, measure) in &source.definitions.measures {
            let own = Named::Measure(name.clone());
            let mut others: Vec<&str> = synonyms(&measure.synonyms).collect();
            others.extend(measure.title.values().map(String::as_str));
            if let Calculation::Sum(column) = &measure.calculation {
                others.push(column);
            }
            self.add_named(name, &others, &own, lexicon);
            self.add_part_of_number(name, &others, &own, lexicon);
            // The things that a measure counts can be ranked, too: "top customers".
            if let Calculation::Distinct(of) = &measure.calculation {
                let counted = Named::Dimension(of.clone());
                for written in [name.as_str()].into_iter().chain(others) {
                    self.add_key(&name_words(written).concat(), &counted, How::Column);
                }
            }
        }
    }

    /// Adds the name of a part of another number without the words before it: "of which returned".
    fn add_part_of_number(
        &mut self,
        name: &str,
        others: &[&str],
        named: &Named,
        lexicon: &Lexicon,
    ) {
        for written in [name].into_iter().chain(others.iter().copied()) {
            let words = name_words(written);
            let rest = lexicon.parts.iter().find_map(|lead| words.strip_prefix(lead.as_slice()));
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                self.add_key(&rest.concat(), named, How::Synonym);
                self.add_forms(rest, named, lexicon);
                self.spelling.add_all(rest);
            }
        }
    }

    /// Adds the measures of a source that stand beside those of this one, unless it has such names itself.
    fn add_joined(&mut self, source: &SourceModel, other: &SourceModel) {
        for (name, measure) in &other.definitions.measures {
            if source.definitions.measures.contains_key(name) {
                continue;
            }
            let named = Named::Measure(format!("{}.{name}", other.name()));
            let synonyms = synonyms(&measure.synonyms);
            let titles = measure.title.values().map(String::as_str);
            for written in [name.as_str()].into_iter().chain(synonyms).chain(titles) {
                let words = name_words(written);
                if !self.exact.contains_key(&words.concat()) {
                    self.add_key(&words.concat(), &named, How::Column);
                    self.spelling.add_all(&words);
                }
            }
        }
    }

    fn add_dimensions(&mut self, source: &SourceModel, lexicon: &Lexicon) {
        let definitions = &source.definitions;
        let mut columns: Vec<&str> =
            definitions.time.iter().map(|time| time.column.as_str()).collect();
        for (name, dimension) in &definitions.dimensions {
            let mut others: Vec<&str> = synonyms(&dimension.synonyms).collect();
            if let DimensionKind::Column(column) = &dimension.kind {
                others.push(column);
                columns.push(column);
            }
            columns.extend(dimension.key.as_deref());
            self.add_named(name, &others, &Named::Dimension(name.clone()), lexicon);
            // A person says "ligger efter" for a value such as "behind".
            for (value, names) in &dimension.values {
                let named = Named::Value { dimension: name.clone(), value: value.clone() };
                for written in synonyms(names) {
                    let words = name_words(written);
                    self.add_key(&words.concat(), &named, How::Synonym);
                    self.states.add(&words, &named, lexicon);
                    self.spelling.add_all(&words);
                }
            }
            if self.flags.contains_key(name) {
                let named = Named::Dimension(name.clone());
                others.iter().for_each(|one| self.states.add(&name_words(one), &named, lexicon));
            }
        }
        for column in &source.columns {
            let is_text = matches!(column.kind, ColumnKind::Text | ColumnKind::Flag);
            if is_text && !columns.contains(&column.name.as_str()) {
                let own = Named::Dimension(column.name.clone());
                let words = name_words(&column.name);
                self.add_key(&words.concat(), &own, How::Column);
                // "customer_id" names customers.
                if let [thing @ .., id] = words.as_slice()
                    && id == "id"
                    && !thing.is_empty()
                    && !self.exact.contains_key(&thing.concat())
                    // The id of a row is no thing besides it.
                    && !self.source.starts_with(&thing.concat())
                {
                    self.add_key(&thing.concat(), &own, How::Column);
                }
            }
        }
    }

    /// Adds a measure or dimension with its other names, and the words of the trade for it.
    fn add_named(&mut self, name: &str, others: &[&str], named: &Named, lexicon: &Lexicon) {
        let mut keys = vec![(name_words(name), How::Own)];
        keys.extend(others.iter().map(|other| (name_words(other), How::Synonym)));
        let own: Vec<String> = keys.iter().map(|(words, _)| words.concat()).collect();
        for (words, how) in &keys {
            self.add_key(&words.concat(), named, *how);
            self.add_forms(words, named, lexicon);
            self.spelling.add_all(words);
        }
        let fits = |concept: &&Vec<String>| own.iter().any(|key| concept.contains(key));
        for key in lexicon.concepts.values().filter(fits).flatten() {
            self.add_key(key, named, How::Vocabulary);
            self.spelling.add_all(std::slice::from_ref(key));
        }
    }

    fn add_key(&mut self, key: &str, named: &Named, how: How) {
        if key.is_empty() {
            return;
        }
        let hits = self.exact.entry(key.to_owned()).or_default();
        match hits.iter_mut().find(|hit| hit.named == *named) {
            Some(hit) => hit.how = hit.how.min(how),
            None => hits.push(Hit { named: named.clone(), how }),
        }
    }

    fn add_forms(&mut self, words: &[String], named: &Named, lexicon: &Lexicon) {
        let Some((last, before)) = words.split_last() else { return };
        let before = before.concat();
        for base in lexicon.bases(last).into_iter().filter(|base| base.len() >= 4) {
            let entry = self.forms.entry(format!("{before}{base}")).or_default();
            if !entry.contains(named) {
                entry.push(named.clone());
            }
        }
    }

    fn add_values(
        &mut self,
        dimension: &str,
        values: &[String],
        is_whole: bool,
        lexicon: &Lexicon,
    ) {
        let at = self.dimensions.len();
        self.dimensions.push(dimension.to_owned());
        for value in values {
            let words = name_words(value);
            let named = Named::Value { dimension: dimension.to_owned(), value: value.clone() };
            self.add_key(&words.concat(), &named, How::Own);
            let key = words.concat();
            let fits = |concept: &&Vec<String>| concept.contains(&key);
            for other in lexicon.concepts.values().filter(fits).flatten() {
                self.add_key(other, &named, How::Vocabulary);
            }
            self.spelling.add_all(&words);
            let place = self.values.len();
            self.by_words.push((key, place));
            self.values.push((at, value.clone()));
            if is_whole {
                continue;
            }
            self.add_segments(value, place);
            self.add_words(&words, place, lexicon);
        }
    }

    /// Whether nothing has a word as its name. The name of a column with ids of rows does not count.
    fn is_left(&self, word: &str) -> bool {
        let hits = self.exact.get(word).into_iter().flatten();
        hits.filter(|hit| hit.how != How::Column).count() == 0
    }

    /// Returns the measures that a general word for an amount may mean.
    pub fn amounts(&self, word: &str) -> &[String] {
        self.amounts.get(word).map_or(&[], Vec::as_slice)
    }

    /// Returns the things with a name, for the words of a span in folded form.
    pub fn find(&self, words: &[&str], lexicon: &Lexicon) -> Vec<Hit> {
        let key = words.concat();
        let mut found: Vec<Hit> = self.exact.get(&key).cloned().unwrap_or_default();
        // A heading without a definition leaves room for forms of names that are defined.
        if found.iter().any(|hit| hit.how != How::Column) {
            return found;
        }
        let Some((last, before)) = words.split_last() else { return found };
        let before = before.concat();
        for (at, base) in lexicon.bases(last).iter().enumerate() {
            let key = format!("{before}{base}");
            // A value has no forms but that of the owner: "Bluebell's".
            let is_owner = at > 0 && last.strip_suffix('s') == Some(base.as_str());
            let exact = self.exact.get(&key).into_iter().flatten();
            let exact = exact.filter(|hit| is_owner || !matches!(hit.named, Named::Value { .. }));
            // Two words that only share a beginning are forms of one word if it is long.
            let is_long = at == 0 || base.len() >= LONG_BASE;
            let forms = self.forms.get(&key).into_iter().flatten().filter(|_| is_long);
            let named = exact.map(|hit| &hit.named).chain(forms);
            for named in named {
                if !found.iter().any(|hit| hit.named == *named) {
                    found.push(Hit { named: named.clone(), how: How::Form });
                }
            }
        }
        found
    }

    /// Whether words name something, or are a part of a value.
    pub fn knows(&self, words: &[&str], lexicon: &Lexicon) -> bool {
        !self.find(words, lexicon).is_empty() || self.parts.contains_key(&words.concat())
    }

    /// Returns values whose words begin with some letters, with their dimensions.
    pub fn values_like(
        &self,
        prefix: &str,
        of: Option<&str>,
        most: usize,
    ) -> Vec<(String, String)> {
        let from = self.by_words.partition_point(|(words, _)| words.as_str() < prefix);
        let like = self.by_words[from..].iter().take_while(|(words, _)| words.starts_with(prefix));
        let named = like.filter_map(|(_, place)| {
            let (dimension, value) = self.values.get(*place)?;
            Some((self.dimensions.get(*dimension)?.clone(), value.clone()))
        });
        named.filter(|(dimension, _)| of.is_none_or(|of| of == dimension)).take(most).collect()
    }

    /// Returns the nearest words of names for a misspelled word. A word of the lexicon or of a language
    /// has none.
    pub fn corrections(&self, token: &Token, lexicon: &Lexicon) -> Vec<String> {
        let is_word = token.kind != Kind::Word
            || lexicon.knows(&token.fold)
            || crate::words::is_frequent(&token.fold)
            || self.parts.contains_key(&token.fold)
            || !self.find(&[token.fold.as_str()], lexicon).is_empty()
            || self.split(&token.fold, lexicon).is_some();
        if is_word { Vec::new() } else { self.spelling.nearest(&token.fold) }
    }

    /// Returns both parts of a compound such as "kampanjkostnad", if both are known.
    pub fn split<'l>(&self, word: &str, lexicon: &'l Lexicon) -> Option<(FirstPart<'l>, Vec<Hit>)> {
        let places = word.char_indices().map(|(at, _)| at).filter(|at| *at >= 3);
        for at in places {
            let (first, second) = word.split_at(at);
            if second.len() < 3 {
                break;
            }
            let measures = self.find(&[second], lexicon);
            let measures: Vec<Hit> = measures.into_iter().filter(is_member).collect();
            if measures.is_empty() {
                continue;
            }
            if let Some(meaning) = lexicon.first_part(first) {
                return Some((FirstPart::Meaning(meaning), measures));
            }
            for link in &lexicon.links {
                let Some(stem) = first.strip_suffix(link.as_str()) else { continue };
                let hits: Vec<Hit> =
                    self.find(&[stem], lexicon).into_iter().filter(is_member).collect();
                if !hits.is_empty() {
                    return Some((FirstPart::Names(hits), measures));
                }
            }
        }
        None
    }
}

/// The first part of a compound.
pub(crate) enum FirstPart<'l> {
    /// A word of the lexicon.
    Meaning(&'l crate::meaning::Meaning),
    /// Names of the source.
    Names(Vec<Hit>),
}

fn is_member(hit: &Hit) -> bool {
    !matches!(hit.named, Named::Value { .. })
}

fn synonyms(synonyms: &Synonyms) -> impl Iterator<Item = &str> {
    synonyms.values().flatten().map(String::as_str)
}
