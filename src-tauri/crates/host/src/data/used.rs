//! Finds what a resolved metric query uses: the sources, and the rows behind each figure. Pure: it asks
//! nothing.

use std::collections::BTreeSet;

use analytics::{Catalog, SourceModel, TableColumn};
use contract::{
    SourceName,
    definitions::Calculation,
    metric_query::{Condition, MeasureUse, MetricQuery, Test},
};

use super::describing::Described;

/// The depth at which a measure made of measures is taken for a circle.
const MAX_DEPTH: usize = 16;

/// Describes sources for the resolver of queries.
pub(super) fn catalog_of(described: &[Described]) -> Catalog {
    Catalog::of(described.iter().map(model_of).collect())
}

/// Describes a source for the resolver, without the columns that others decide.
pub(super) fn model_of(described: &Described) -> SourceModel {
    let mut definitions = described.definitions.clone();
    definitions.source = described.source.name.clone();
    SourceModel::new(definitions, described.columns().iter().map(TableColumn::from).collect())
}

/// Returns the sources that the figures of a resolved query come from.
pub(super) fn used_sources(query: &MetricQuery, catalog: &Catalog) -> BTreeSet<SourceName> {
    let mut used: BTreeSet<SourceName> = query.source.iter().cloned().collect();
    for part in parts_of(query, catalog) {
        used.extend(part.source);
    }
    used.extend(analytics::joined_sources(query, catalog));
    if query.in_currency.is_some() {
        let rates = catalog.sources.iter().filter_map(|one| one.definitions.rates.as_ref());
        used.extend(rates.map(|rates| rates.source.clone()));
    }
    let own = query.measures.iter().flat_map(|used| &used.conditions);
    for condition in query.conditions.iter().chain(own) {
        for inner in inner_queries(condition) {
            used.extend(used_sources(inner, catalog));
        }
        // A condition may be about a measure that is not shown.
        let measures = names_in(condition).into_iter().map(MeasureUse::named).collect();
        let shown =
            MetricQuery { source: query.source.clone(), measures, ..MetricQuery::default() };
        used.extend(parts_of(&shown, catalog).into_iter().filter_map(|part| part.source));
    }
    used
}

fn names_in(condition: &Condition) -> Vec<&str> {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.iter().flat_map(names_in).collect(),
        Condition::Not(part) => names_in(part),
        Condition::Is { name, .. } => vec![name],
    }
}

fn inner_queries(condition: &Condition) -> Vec<&MetricQuery> {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().flat_map(inner_queries).collect()
        }
        Condition::Not(part) => inner_queries(part),
        Condition::Is { test: Test::In(query) | Test::NotIn(query), .. } => vec![query.as_ref()],
        Condition::Is { .. } => Vec::new(),
    }
}

/// The rows behind a figure: those of a source that fulfil conditions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// The source. None: that of the query.
    pub(super) source: Option<SourceName>,
    pub(super) conditions: Vec<Condition>,
}

/// Returns the parts of the figures of a query, each once.
pub(super) fn parts_of(query: &MetricQuery, catalog: &Catalog) -> Vec<Part> {
    let mut parts = Vec::new();
    let of_source = |name: &SourceName| catalog.sources.iter().find(|one| one.name() == name);
    let Some(primary) = query.source.as_ref().and_then(of_source) else { return parts };
    let walk = Walk { primary, catalog };
    for used in &query.measures {
        match (&used.measure, &used.calculation) {
            (Some(name), _) => walk.measure(name, None, &used.conditions, 0, &mut parts),
            (None, Some(own)) => walk.calculation(own, None, &used.conditions, 0, &mut parts),
            (None, None) => {}
        }
    }
    if let Some(explain) = &query.explain {
        walk.measure(&explain.measure, None, &[], 0, &mut parts);
    }
    parts
}

/// Follows measures to the rows that they are made of.
struct Walk<'a> {
    primary: &'a SourceModel,
    catalog: &'a Catalog,
}

impl Walk<'_> {
    fn measure(
        &self,
        name: &str,
        within: Option<&SourceModel>,
        conditions: &[Condition],
        depth: usize,
        parts: &mut Vec<Part>,
    ) {
        let here = within.unwrap_or(self.primary);
        let other = name.split_once('.').filter(|_| !here.definitions.measures.contains_key(name));
        let (owner, own) = match other {
            Some((source, own)) => {
                let found = self.catalog.sources.iter().find(|one| one.name().as_str() == source);
                (found.unwrap_or(here), own)
            }
            None => (here, name),
        };
        let mut all = conditions.to_vec();
        match owner.definitions.measures.get(own) {
            Some(measure) => {
                all.extend(measure.conditions.iter().cloned());
                self.calculation(&measure.calculation, Some(owner), &all, depth + 1, parts);
            }
            None => self.add(owner, all, parts),
        }
    }

    fn calculation(
        &self,
        calculation: &Calculation,
        within: Option<&SourceModel>,
        conditions: &[Condition],
        depth: usize,
        parts: &mut Vec<Part>,
    ) {
        let names: Vec<&String> = match calculation {
            Calculation::Ratio(pair) | Calculation::Minus(pair) => pair.iter().collect(),
            Calculation::Plus(names) => names.iter().collect(),
            Calculation::Of(name) => vec![name],
            _ => Vec::new(),
        };
        if names.is_empty() || depth > MAX_DEPTH {
            return self.add(within.unwrap_or(self.primary), conditions.to_vec(), parts);
        }
        for name in names {
            self.measure(name, within, conditions, depth, parts);
        }
    }

    fn add(&self, owner: &SourceModel, conditions: Vec<Condition>, parts: &mut Vec<Part>) {
        let is_own = owner.name() == self.primary.name();
        let source = (!is_own).then(|| owner.name().clone());
        let part = Part { source, conditions };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
}
