//! The measure and the dimension that say most about a source. Questions that name none are about them.

use analytics::{SourceModel, propose_board};
use chrono::NaiveDate;
use contract::{definitions::DimensionKind, sources::ColumnKind};

use crate::{lexicon::Lexicon, tokens::name_words};

/// Returns the measure that says most about a source: one that the vocabulary names, one with the name of
/// the source, or else the first figure of its first board.
pub(crate) fn main_measure(source: &SourceModel, lexicon: &Lexicon) -> Option<String> {
    let named = lexicon.main.iter().find_map(|concept| measure_of(source, lexicon, concept, true));
    // Planned amounts are there to compare the other ones with.
    let plans = lexicon.planned.iter();
    let plans: Vec<String> =
        plans.filter_map(|concept| measure_of(source, lexicon, concept, true)).collect();
    let proposed = || {
        let board = propose_board(&source.definitions, &[], None, NaiveDate::default());
        let tiles = board.tiles.iter().filter_map(|tile| tile.query.measures.first());
        let names: Vec<String> = tiles.filter_map(|used| used.measure.clone()).collect();
        names.iter().find(|name| !plans.contains(name)).or(names.first()).cloned()
    };
    let own = name_words(source.name().as_str()).concat();
    let is_own = |name: &&String| name_words(name).concat() == own && !plans.contains(name);
    let named = named.or_else(|| source.definitions.measures.keys().find(is_own).cloned());
    named.or_else(proposed)
}

/// Returns the measure that means something of the trade: by its name, or by the last word of it, unless
/// two measures have that.
pub(crate) fn measure_of(
    source: &SourceModel,
    lexicon: &Lexicon,
    concept: &str,
    is_whole: bool,
) -> Option<String> {
    let own = || vec![name_words(concept).concat()];
    let keys = lexicon.concepts.get(concept).cloned().unwrap_or_else(own);
    let measures = &source.definitions.measures;
    let names = |name: &String| {
        let measure = &measures[name];
        let synonyms = measure.synonyms.values().flatten().map(String::as_str);
        let all = [name.as_str()].into_iter().chain(synonyms);
        all.map(name_words).collect::<Vec<_>>()
    };
    let has = |name: &&String| names(name).iter().any(|words| keys.contains(&words.concat()));
    let ends = |name: &&String| {
        names(name).iter().any(|words| words.last().is_some_and(|last| keys.contains(last)))
    };
    let mut partial = measures.keys().filter(ends);
    let only = partial.next().filter(|_| !is_whole && partial.next().is_none());
    measures.keys().find(has).or(only).cloned()
}

/// Returns the dimension that says most about a source: the one that a row is about, or else the first
/// column of texts in the order of the table.
pub(crate) fn main_dimension(source: &SourceModel) -> Option<String> {
    let definitions = &source.definitions;
    let column_of = |name: &String| match &definitions.dimensions[name].kind {
        DimensionKind::Column(column) => Some(column.clone()),
        DimensionKind::When(_)
        | DimensionKind::Groups(_)
        | DimensionKind::Split(_)
        | DimensionKind::Bins(_)
        | DimensionKind::First(_)
        | DimensionKind::Lookup(_) => None,
    };
    let place = |name: &&String| {
        let column = column_of(name)?;
        let place = source.columns.iter().position(|own| own.name == column)?;
        let is_text = source.columns[place].kind == ColumnKind::Text;
        is_text.then_some(place)
    };
    let is_constant =
        |name: &&String| place(name).is_some_and(|place| source.columns[place].constant.is_some());
    let mut names: Vec<&String> = definitions.dimensions.keys().collect();
    names.retain(|name| place(name).is_some() && !is_constant(name));
    let keyed = names.iter().filter(|name| definitions.dimensions[**name].key.is_some());
    let first = keyed.min_by_key(|name| place(name));
    first.or_else(|| names.iter().min_by_key(|name| place(name))).map(|name| (*name).clone())
}
