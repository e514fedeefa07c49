//! Which dimensions name the same thing, and which thing belongs to which: a name and its id, a campaign
//! of an account. It must not know words of any language.

use analytics::{Catalog, SourceModel};
use contract::{
    SourceName,
    definitions::{Calculation, DimensionKind, Pacing},
};

use crate::tokens::name_words;

/// The last word of the name of an id.
const ID: &str = "id";

/// Whether two dimensions of a source name the same thing, such as an account and its id.
pub(crate) fn are_one(source: &SourceModel, one: &str, other: &str) -> bool {
    if one == other || thing(one) == thing(other) {
        return true;
    }
    let dimensions = &source.definitions.dimensions;
    let column = |name: &str| match dimensions.get(name).map(|own| &own.kind) {
        Some(DimensionKind::Column(column)) => column.clone(),
        _ => name.to_owned(),
    };
    let key = |name: &str| dimensions.get(name).and_then(|own| own.key.clone());
    key(one).is_some_and(|key| key == column(other))
        || key(other).is_some_and(|key| key == column(one))
}

/// Returns the words of the thing that a dimension names.
fn thing(name: &str) -> Vec<String> {
    let mut words = name_words(name);
    if words.len() > 1 && words.last().is_some_and(|last| last == ID) {
        words.pop();
    }
    words
}

/// Returns the computed source that a source belongs to, as itself, its delivery or its plan.
fn pacing_of<'a>(
    catalog: &'a Catalog,
    source: &SourceName,
) -> Option<(&'a SourceModel, &'a Pacing)> {
    catalog.sources.iter().find_map(|own| {
        let pacing = own.definitions.pacing.as_ref()?;
        let all = [own.name(), &pacing.delivery.source, &pacing.plan.source];
        all.contains(&source).then_some((own, pacing))
    })
}

/// Returns the places of the other sources that are about the same things: the computed one first, then
/// what was delivered and what is planned.
pub(crate) fn relatives(catalog: &Catalog, source: &SourceName) -> Vec<usize> {
    let Some((own, pacing)) = pacing_of(catalog, source) else { return Vec::new() };
    let all = [own.name(), &pacing.delivery.source, &pacing.plan.source];
    let places = all.into_iter().filter(|name| *name != source);
    places.filter_map(|name| catalog.sources.iter().position(|own| own.name() == name)).collect()
}

/// Whether a thing is a part of another one, such as a campaign of an account.
pub(crate) fn is_part_of(catalog: &Catalog, source: &SourceName, part: &str, whole: &str) -> bool {
    let Some((_, pacing)) = pacing_of(catalog, source) else { return false };
    let place = |name: &str| pacing.by.iter().position(|by| thing(&by.name) == thing(name));
    let (Some(part), Some(whole)) = (place(part), place(whole)) else { return false };
    whole < part
}

/// The columns of computed sources that stand on one day of each budget, so that times have no part of them.
const UNDIVIDED: [&str; 6] =
    ["daily_rate", "needed_per_day", "projection", "days_left", "run_out_day", "days_early"];

/// Whether a measure of a computed source is about a whole plan, and not about a day of it.
pub(crate) fn is_undivided(source: &SourceModel, measure: &str) -> bool {
    let column = match source.definitions.measures.get(measure).map(|own| &own.calculation) {
        Some(
            Calculation::Sum(column) | Calculation::Least(column) | Calculation::Greatest(column),
        ) => column,
        Some(_) | None => return false,
    };
    source.definitions.pacing.is_some() && UNDIVIDED.contains(&column.as_str())
}
