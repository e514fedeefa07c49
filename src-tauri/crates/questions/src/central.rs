//! The measure and the dimension that say most about a source. Questions that name none are about them.

use analytics::{SourceModel, propose_board};
use chrono::NaiveDate;
use contract::{
    definitions::{Calculation, CurrencyOf, DimensionKind, Measure, PacingName, Unit},
    sources::ColumnKind,
};

use crate::{
    lexicon::Lexicon,
    meaning::Meaning,
    tokens::{name_words, tokens},
};

/// Returns the measure that says most about a source: one that the vocabulary names, one with the name of
/// the source, an amount that contains the others, or else the first figure of its first board.
pub(crate) fn main_measure(source: &SourceModel, lexicon: &Lexicon) -> Option<String> {
    main_choices(source, lexicon).into_iter().next()
}

/// Returns the measures that a question without one may be about, the likely first. Several of them are
/// amounts of money of which none is plainly the main one.
pub(crate) fn main_choices(source: &SourceModel, lexicon: &Lexicon) -> Vec<String> {
    let measures = &source.definitions.measures;
    let named = lexicon.main.iter().find_map(|concept| measure_of(source, lexicon, concept, true));
    let plans = plans_of(source, lexicon);
    let own = name_words(source.name().as_str()).concat();
    let is_own = |name: &&String| name_words(name).concat() == own && !plans.contains(name);
    let plain = named.or_else(|| measures.keys().find(is_own).cloned());
    if let Some(plain) = plain {
        return vec![plain];
    }
    let amounts = measures.iter().filter(|(name, one)| is_money(one) && !plans.contains(name));
    let mut amounts: Vec<String> = amounts.map(|(name, _)| name.clone()).collect();
    if let Some(total) = total_of(source, lexicon, &amounts) {
        return vec![total];
    }
    let board = propose_board(&source.definitions, &[], None, NaiveDate::default());
    let tiles = board.tiles.iter().filter_map(|tile| tile.query.measures.first());
    let names: Vec<String> = tiles.filter_map(|used| used.measure.clone()).collect();
    let first = names.iter().find(|name| !plans.contains(name)).or(names.first()).cloned();
    if amounts.len() < 2 || source.definitions.pacing.is_some() {
        return first.into_iter().collect();
    }
    amounts.sort_by_key(|name| first.as_ref() != Some(name));
    amounts
}

/// Returns the measures of what is planned. They are there to compare the other ones with.
fn plans_of(source: &SourceModel, lexicon: &Lexicon) -> Vec<String> {
    let plans = lexicon.planned.iter();
    plans.filter_map(|concept| measure_of(source, lexicon, concept, true)).collect()
}

/// Returns the one of some measures whose name says that it contains the others: "total price".
pub(crate) fn total_of(
    source: &SourceModel,
    lexicon: &Lexicon,
    measures: &[String],
) -> Option<String> {
    let is_total = |name: &&String, word: &String| {
        let own = source.definitions.measures.get(*name);
        let synonyms = own.into_iter().flat_map(|own| own.synonyms.values().flatten());
        let mut all = synonyms.map(String::as_str).chain([name.as_str()]);
        all.any(|name| name_words(name).concat() == *word)
    };
    let mut words = lexicon.totals.iter();
    words.find_map(|word| measures.iter().find(|name| is_total(name, word)).cloned())
}

/// Whether a measure is a sum of money.
pub(crate) fn is_money(measure: &Measure) -> bool {
    measure.unit == Some(Unit::Money) && matches!(measure.calculation, Calculation::Sum(_))
}

/// Returns the figures by which things may be the best or the worst, the likely first: the main ones, ratios
/// of which it is known which values are good, amounts, and then others that add up.
pub(crate) fn figures_of(source: &SourceModel, lexicon: &Lexicon) -> Vec<String> {
    let plans = plans_of(source, lexicon);
    let main = main_measure(source, lexicon);
    let mains = lexicon.main.iter();
    let mains: Vec<String> =
        mains.filter_map(|concept| measure_of(source, lexicon, concept, true)).collect();
    let place = |name: &String, measure: &Measure| match &measure.calculation {
        _ if main.as_ref() == Some(name) => Some(0),
        _ if plans.contains(name) => None,
        _ if mains.contains(name) => Some(1),
        Calculation::Ratio(_) => measure.better.map(|_| 1),
        Calculation::Sum(_) if is_money(measure) => Some(2),
        Calculation::Sum(_) | Calculation::Count(_) | Calculation::Distinct(_) => Some(3),
        Calculation::Average(_)
        | Calculation::Weighted(_)
        | Calculation::Last(_)
        | Calculation::Least(_)
        | Calculation::Greatest(_)
        | Calculation::Median(_)
        | Calculation::Percentile(_)
        | Calculation::Single(_)
        | Calculation::Plus(_)
        | Calculation::Minus(_)
        | Calculation::Of(_) => None,
    };
    let all = source.definitions.measures.iter();
    let mut all: Vec<(usize, &String)> =
        all.filter_map(|(name, one)| Some((place(name, one)?, name))).collect();
    all.sort();
    all.into_iter().map(|(_, name)| name.clone()).collect()
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

/// Whether a name of a measure has a word with a meaning, such as "left" in "days left".
pub(crate) fn has_word(
    name: &str,
    measure: &Measure,
    lexicon: &Lexicon,
    meaning: &Meaning,
) -> bool {
    let synonyms = measure.synonyms.values().flatten();
    let all = synonyms.chain(measure.title.values()).map(String::as_str).chain([name]);
    all.map(|name| tokens(&name.replace('_', " "))).any(|words| {
        (0..words.len()).any(|at| {
            let phrases = lexicon.phrases_at(&words, at);
            phrases.iter().any(|(_, meanings)| meanings.contains(meaning))
        })
    })
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

/// The column of computed sources with what will be.
const OUTLOOK: &str = "projection";
/// The column of computed sources with the verdict.
const VERDICT: &str = "status";

/// Returns the dimension that judges things, if a source has one: only a computed source does.
pub(crate) fn verdict_of(source: &SourceModel) -> Option<String> {
    source.definitions.pacing.as_ref()?;
    let is_verdict =
        |kind: &DimensionKind| matches!(kind, DimensionKind::Column(column) if column == VERDICT);
    let mut dimensions = source.definitions.dimensions.iter();
    dimensions.find(|(_, one)| is_verdict(&one.kind)).map(|(name, _)| name.clone())
}

/// Returns the figure of a computed source for what will be.
pub(crate) fn outlook_of(source: &SourceModel) -> Option<String> {
    source.definitions.pacing.as_ref()?;
    let calculation = Calculation::Sum(OUTLOOK.to_owned());
    let mut measures = source.definitions.measures.iter();
    measures.find(|(_, one)| one.calculation == calculation).map(|(name, _)| name.clone())
}

/// Returns the figures that stand beside a verdict.
pub(crate) fn judged_figures(source: &SourceModel, lexicon: &Lexicon) -> Vec<String> {
    let measures = &source.definitions.measures;
    lexicon.judged.iter().filter(|name| measures.contains_key(*name)).cloned().collect()
}

/// Returns the thing of a computed source that a verdict is about: the smallest one of some dimensions, or
/// else the largest one that there is. Its name stands for an id. None: no verdict is about that.
pub(crate) fn judged_thing(source: &SourceModel, named: &[String]) -> Option<String> {
    let pacing = source.definitions.pacing.as_ref()?;
    let things: Vec<&str> = pacing.by.iter().map(|by| by.name.as_str()).collect();
    let is_key = |by: &PacingName| by.delivery.is_some() && by.plan.is_some();
    let last_key = pacing.by.iter().rposition(is_key)?;
    let is_id_of = |id: usize, at: usize| things[id] == format!("{}_id", things[at]);
    // A thing smaller than all budgets has no verdict, but the name of a thing with one has it.
    let is_name_of_key = |at: usize| at == last_key + 1 && is_id_of(last_key, at);
    let is_judged =
        |at: &usize| *at <= last_key || pacing.by[*at].plan.is_some() || is_name_of_key(*at);
    let is_named = |at: &usize| named.iter().any(|name| name == things[*at]);
    let smallest = (0..things.len()).rev().find(is_named);
    let largest = (0..things.len()).find(|at| !is_currency(source, things[*at]));
    let found = if named.is_empty() { largest } else { smallest }?;
    // The name of an id stands behind it.
    let name = Some(found + 1).filter(|at| *at < things.len() && is_id_of(found, *at));
    let mut likely = name.into_iter().chain([found]);
    likely.find(is_judged).map(|at| things[at].to_owned())
}

/// Whether a dimension has things of a computed source.
pub(crate) fn is_thing(source: &SourceModel, name: &str) -> bool {
    let pacing = source.definitions.pacing.as_ref();
    pacing.is_some_and(|pacing| pacing.by.iter().any(|by| by.name == name))
}

/// Returns the dimension with the currencies of amounts.
pub(crate) fn currency_of(source: &SourceModel) -> Option<String> {
    let mut dimensions = source.definitions.dimensions.iter();
    let is_own = |kind: &DimensionKind| matches!(kind, DimensionKind::Column(column) if is_currency(source, column));
    dimensions.find(|(_, one)| is_own(&one.kind)).map(|(name, _)| name.clone())
}

/// Returns the name of the things that verdicts are about if a question names none. An id has a name behind it.
pub(crate) fn judged_level(source: &SourceModel) -> Option<String> {
    let pacing = source.definitions.pacing.as_ref()?;
    let is_name = |name: &&str| pacing.level == format!("{name}_id");
    let mut names = pacing.by.iter().map(|by| by.name.as_str());
    Some(names.find(is_name).unwrap_or(&pacing.level).to_owned())
}

/// Whether a column has the currencies of amounts.
fn is_currency(source: &SourceModel, name: &str) -> bool {
    let mut measures = source.definitions.measures.values();
    measures
        .any(|one| matches!(&one.currency, Some(CurrencyOf::Column { column }) if column == name))
}
