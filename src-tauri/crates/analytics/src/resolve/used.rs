//! The definitions that a query uses.

use std::collections::{BTreeMap, BTreeSet};

use contract::{
    SourceName,
    definitions::{Calculation, DimensionKind, Lookup, Measure},
    metric_query::{Condition, GroupBy, MetricQuery, Test},
    text,
};

use super::primary;
use crate::{Catalog, Problem, SourceModel, definitions::approval_hash};

/// The depth at which a measure made of measures is taken for a circle.
const MAX_DEPTH: usize = 16;

/// Returns the hash of each definition that a query uses, by `SOURCE.NAME`.
pub(super) fn used_definitions(
    query: &MetricQuery,
    catalog: &Catalog,
) -> Result<BTreeMap<String, String>, Problem> {
    let source = &catalog.sources[primary(query, catalog)?];
    let mut hashes = BTreeMap::new();
    for (name, measure) in used_measures(query, catalog)? {
        let (owner, own_name) = owner(&name, source, catalog)?;
        add(&mut hashes, owner, own_name)?;
        add(&mut hashes, owner, "spread")?;
        add_computed(&mut hashes, owner, catalog)?;
        add_dimensions(&mut hashes, owner, dimensions_of_measure(&measure))?;
        if owner.name() != source.name() {
            let join = format!("join:{}", owner.name());
            if source.definitions.joins.contains_key(owner.name().as_str()) {
                add(&mut hashes, source, &join)?;
            }
        }
    }
    add(&mut hashes, source, "spread")?;
    add_computed(&mut hashes, source, catalog)?;
    add_dimensions(&mut hashes, source, dimensions_of(query))?;
    for (owner, lookup) in lookups_of(query, catalog)? {
        add(&mut hashes, owner, &format!("join:{}", lookup.source))?;
        add(&mut hashes, &catalog.sources[catalog.place(&lookup.source)?], &lookup.of)?;
    }
    if query.in_currency.is_some() && source.definitions.rates.is_some() {
        add(&mut hashes, source, "rates")?;
    }
    Ok(hashes)
}

/// Adds what the rows of a computed source are made of.
fn add_computed(
    hashes: &mut BTreeMap<String, String>,
    source: &SourceModel,
    catalog: &Catalog,
) -> Result<(), Problem> {
    let Some(pacing) = &source.definitions.pacing else { return Ok(()) };
    add(hashes, source, "pacing")?;
    let delivery = &catalog.sources[catalog.place(&pacing.delivery.source)?];
    let plan = &catalog.sources[catalog.place(&pacing.plan.source)?];
    add(hashes, plan, "spread")?;
    add_dimensions(
        hashes,
        delivery,
        pacing.by.iter().filter_map(|by| by.delivery.clone()).collect(),
    )?;
    add_dimensions(hashes, plan, pacing.by.iter().filter_map(|by| by.plan.clone()).collect())
}

/// Returns the names that a query groups by and has conditions on.
fn dimensions_of(query: &MetricQuery) -> Vec<String> {
    let mut names: Vec<String> = query
        .by
        .iter()
        .filter_map(|group| match &group.by {
            GroupBy::Dimension(name) => Some(name.clone()),
            GroupBy::Time(_) | GroupBy::Define(_) => None,
        })
        .chain(query.explain.iter().flat_map(|explain| explain.by.clone()))
        .chain(query.compare.iter().flat_map(|compare| compare.values.keys().cloned()))
        .collect();
    let measure_conditions = query.measures.iter().flat_map(|used| &used.conditions);
    for condition in query.conditions.iter().chain(measure_conditions) {
        names_in(condition, &mut names);
    }
    for group in &query.by {
        if let GroupBy::Define(DimensionKind::When(condition)) = &group.by {
            names_in(condition, &mut names);
        }
    }
    let own = query.measures.iter().filter_map(|used| used.calculation.as_ref());
    names.extend(own.flat_map(dimensions_of_calculation));
    names
}

/// Returns the dimensions that a measure is computed with.
fn dimensions_of_measure(measure: &Measure) -> Vec<String> {
    let mut names = dimensions_of_calculation(&measure.calculation);
    measure.conditions.iter().for_each(|condition| names_in(condition, &mut names));
    names
}

fn dimensions_of_calculation(calculation: &Calculation) -> Vec<String> {
    match calculation {
        Calculation::Distinct(name) => vec![name.clone()],
        Calculation::Last(last) => last.per.clone(),
        _ => Vec::new(),
    }
}

/// Adds the defined dimensions among some names, with those that they are made of.
fn add_dimensions(
    hashes: &mut BTreeMap<String, String>,
    source: &SourceModel,
    mut next: Vec<String>,
) -> Result<(), Problem> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    while let Some(name) = next.pop() {
        let Some(dimension) = source.definitions.dimensions.get(&name) else { continue };
        if seen.insert(name.clone()) {
            add(hashes, source, &name)?;
            if let DimensionKind::When(condition) = &dimension.kind {
                names_in(condition, &mut next);
            }
        }
    }
    Ok(())
}

/// Returns the dimensions of other sources that a query uses, also inside of measures, each with the
/// source that joins it.
pub(crate) fn lookups_of<'c>(
    query: &MetricQuery,
    catalog: &'c Catalog,
) -> Result<Vec<(&'c SourceModel, Lookup)>, Problem> {
    let first = &catalog.sources[primary(query, catalog)?];
    let mut found: Vec<(&SourceModel, Lookup)> = Vec::new();
    for group in &query.by {
        if let GroupBy::Define(DimensionKind::Lookup(lookup)) = &group.by {
            found.push((first, lookup.clone()));
        }
    }
    let mut add = |source: &'c SourceModel, names: Vec<String>| {
        found.extend(lookups_among(names, source).into_iter().map(|lookup| (source, lookup)));
    };
    add(first, dimensions_of(query));
    for (name, measure) in used_measures(query, catalog)? {
        add(owner(&name, first, catalog)?.0, dimensions_of_measure(&measure));
    }
    Ok(found)
}

/// Returns the dimensions of other sources among some names, and in the conditions of these.
fn lookups_among(mut next: Vec<String>, source: &SourceModel) -> Vec<Lookup> {
    let mut found = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    while let Some(name) = next.pop() {
        let Ok(dimension) = source.dimension(&name) else { continue };
        match dimension.kind {
            DimensionKind::Lookup(lookup) => found.push(lookup),
            DimensionKind::When(condition) if seen.insert(name) => names_in(&condition, &mut next),
            _ => {}
        }
    }
    found
}

/// Returns the sources that dimensions of a resolved query come from, beside its own, and those that
/// computed sources are made of.
pub fn joined_sources(query: &MetricQuery, catalog: &Catalog) -> BTreeSet<SourceName> {
    // A query with a fault is refused when it is compiled.
    let lookups = lookups_of(query, catalog).unwrap_or_default();
    let mut found: BTreeSet<SourceName> =
        lookups.into_iter().map(|(_, lookup)| lookup.source).collect();
    let source = primary(query, catalog).map(|place| &catalog.sources[place]).ok();
    let owners = used_measures(query, catalog).unwrap_or_default().into_iter();
    let owners = owners.filter_map(|(name, _)| owner(&name, source?, catalog).ok().map(|(o, _)| o));
    for computed in owners.collect::<Vec<_>>().into_iter().chain(source) {
        found.extend(computed.computed_from().into_iter().cloned());
    }
    found
}

fn add(
    hashes: &mut BTreeMap<String, String>,
    source: &SourceModel,
    name: &str,
) -> Result<(), Problem> {
    // The count of rows has no definition.
    if let Some(hash) = approval_hash(&source.definitions, name)? {
        hashes.insert(format!("{}.{name}", source.name()), hash);
    }
    Ok(())
}

fn names_in(condition: &Condition, names: &mut Vec<String>) {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| names_in(part, names));
        }
        Condition::Not(part) => names_in(part, names),
        Condition::Is { name, test } => {
            names.push(name.clone());
            if let Test::In(query) | Test::NotIn(query) = test {
                let groups = query.by.iter().filter_map(|group| match &group.by {
                    GroupBy::Dimension(name) => Some(name.clone()),
                    GroupBy::Time(_) | GroupBy::Define(_) => None,
                });
                names.extend(groups);
                query.conditions.iter().for_each(|inner| names_in(inner, names));
            }
        }
    }
}

/// Returns the source that owns a measure, and the measure's own name.
pub(crate) fn owner<'a, 'n>(
    name: &'n str,
    primary: &'a SourceModel,
    catalog: &'a Catalog,
) -> Result<(&'a SourceModel, &'n str), Problem> {
    if primary.definitions.measures.contains_key(name) {
        return Ok((primary, name));
    }
    match name.split_once('.') {
        Some((source, own)) => match catalog.place(&source.into()) {
            Ok(place) => Ok((&catalog.sources[place], own)),
            Err(problem) => Err(problem),
        },
        None => Ok((primary, name)),
    }
}

/// Returns the measures that a query uses, directly and inside of others, by name.
pub(super) fn used_measures(
    query: &MetricQuery,
    catalog: &Catalog,
) -> Result<Vec<(String, Measure)>, Problem> {
    let source = &catalog.sources[primary(query, catalog)?];
    let mut found = Vec::new();
    for used in &query.measures {
        match (&used.measure, &used.calculation) {
            (Some(name), _) => collect(name, source, catalog, 0, &mut found)?,
            (None, Some(own)) => {
                for name in parts_of(own) {
                    collect(name, source, catalog, 0, &mut found)?;
                }
            }
            (None, None) => {}
        }
    }
    if let Some(explain) = &query.explain {
        collect(&explain.measure, source, catalog, 0, &mut found)?;
    }
    for condition in &query.conditions {
        let mut names = Vec::new();
        names_in(condition, &mut names);
        for name in names.iter().filter(|name| source.definitions.measures.contains_key(*name)) {
            if !source.definitions.dimensions.contains_key(name) {
                collect(name, source, catalog, 0, &mut found)?;
            }
        }
    }
    Ok(found)
}

fn collect(
    name: &str,
    primary: &SourceModel,
    catalog: &Catalog,
    depth: usize,
    found: &mut Vec<(String, Measure)>,
) -> Result<(), Problem> {
    if depth > MAX_DEPTH {
        return Err(Problem::new(text!("The measure {name} is defined by itself.", name)));
    }
    if found.iter().any(|(known, _)| known == name) {
        return Ok(());
    }
    let (source, own_name) = owner(name, primary, catalog)?;
    let measure = source.measure(own_name)?;
    let prefix = (source.name() != primary.name()).then(|| source.name().clone());
    for part in parts_of(&measure.calculation) {
        let part = match &prefix {
            Some(prefix) if !part.contains('.') => format!("{prefix}.{part}"),
            _ => part.to_owned(),
        };
        collect(&part, primary, catalog, depth + 1, found)?;
    }
    found.push((name.to_owned(), measure));
    Ok(())
}

/// Returns the measures that a calculation is made of.
pub fn parts_of(calculation: &Calculation) -> Vec<&str> {
    match calculation {
        Calculation::Ratio(pair) | Calculation::Minus(pair) => {
            pair.iter().map(String::as_str).collect()
        }
        Calculation::Plus(names) => names.iter().map(String::as_str).collect(),
        Calculation::Of(name) => vec![name],
        Calculation::Sum(_)
        | Calculation::Count(_)
        | Calculation::Distinct(_)
        | Calculation::Average(_)
        | Calculation::Weighted(_)
        | Calculation::Last(_)
        | Calculation::Least(_)
        | Calculation::Greatest(_)
        | Calculation::Median(_)
        | Calculation::Percentile(_)
        | Calculation::Single(_) => Vec::new(),
    }
}
