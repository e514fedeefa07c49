//! Decides what models on other computers get of sources: all, only figures of groups, or nothing, as
//! the setting of each source says. Few rows, and a group of few rows, count as rows. It must not know
//! how figures are computed.

use std::collections::BTreeSet;

use analytics::Catalog;
use contract::{
    AgentError, ModelAccess, SourceName,
    definitions::{Calculation, Definitions, DimensionKind},
    metric_query::{Group, GroupBy, MeasureParams, MeasureUse, MetricQuery},
    sources::ColumnUse,
    text,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    Inner,
    asking::{Page, names_in},
    comparing::whole,
    describing::Described,
    used::{Part, catalog_of, parts_of, used_sources},
};

/// The fewest rows of a group whose figures may leave this computer.
const SMALLEST_GROUP: u64 = 10;
/// The most groups that are counted, and the most bytes of their counts.
const COUNTED: Page = Page { rows: 10_000, bytes: 8 << 20 };
/// The beginning of the names of counts in a query.
const COUNT: &str = "counted_";

impl Inner {
    /// Returns why the result of a metric query must stay on this computer, if it must.
    pub(super) async fn why_result_stays(
        &self,
        query: &MetricQuery,
        cancel: &CancellationToken,
    ) -> Result<Option<AgentError>, AgentError> {
        let described = self.sources_of(query)?;
        if described.iter().all(|one| one.source.models_get == ModelAccess::All) {
            return Ok(None);
        }
        let catalog = catalog_of(&described);
        let query = analytics::resolve(query, &catalog, &self.now_here())?.query;
        let used = used_sources(&query, &catalog);
        let used: Vec<&Described> =
            described.iter().filter(|one| used.contains(&one.source.name)).collect();
        let joined = analytics::joined_sources(&query, &catalog);
        let why = |one: &&Described| {
            why_query_stays(one, &query).or_else(|| why_name_stays(one, &joined))
        };
        if let Some(why) = used.iter().find_map(why) {
            return Ok(Some(why));
        }
        let gives_groups = |one: &&&Described| one.source.models_get == ModelAccess::Aggregates;
        let limited: Vec<&SourceName> =
            used.iter().filter(gives_groups).map(|one| &one.source.name).collect();
        let Some(source) = limited.first() else { return Ok(None) };
        for counting in counting_queries(&query, &catalog, &limited) {
            if self.has_small_group(counting, cancel).await? {
                return Ok(Some(stays_here(text!(
                    "A group of this answer has fewer than {count} rows of {source}. Groups so small stay on this computer.",
                    count = SMALLEST_GROUP,
                    source
                ))
                .hint("Ask for fewer groups, a longer period or fewer conditions.")));
            }
        }
        Ok(None)
    }

    /// Returns why the result of a SELECT must stay on this computer, if it must. A SELECT can return
    /// rows in any form.
    pub(super) fn why_select_stays(&self, sql: &str) -> Result<Option<AgentError>, AgentError> {
        for name in names_in(sql, self.storage.names()) {
            let why = match self.storage.read(&name)?.models_get {
                ModelAccess::All => continue,
                ModelAccess::Aggregates => only_groups(&name),
                ModelAccess::Nothing => nothing_leaves(&name),
            };
            return Ok(Some(why));
        }
        Ok(None)
    }

    /// Whether a group of a counting query has few rows. Too many groups are not counted: some of them
    /// are small.
    async fn has_small_group(
        &self,
        query: MetricQuery,
        cancel: &CancellationToken,
    ) -> Result<bool, AgentError> {
        let params = MeasureParams { query, cursor: None };
        let (_, result) = self.measure(params, COUNTED, cancel.clone()).await?;
        let is_count = |name: &str| name.starts_with(COUNT) && is_value(name);
        let counts: Vec<usize> = (0..result.columns.len())
            .filter(|at| result.columns.get(*at).is_some_and(|column| is_count(&column.name)))
            .collect();
        let is_small = |value: &Value| (1..SMALLEST_GROUP).contains(&whole(value));
        let has_small =
            |row: &Vec<Value>| counts.iter().filter_map(|at| row.get(*at)).any(is_small);
        Ok(counts.is_empty() || result.more.is_some() || result.rows.iter().any(has_small))
    }
}

/// Whether a column of a comparison has values, and not their change.
fn is_value(name: &str) -> bool {
    !name.ends_with("_change") && !name.ends_with("_growth")
}

/// Returns why the result of a query must stay here, as far as the query itself says it.
fn why_query_stays(described: &Described, query: &MetricQuery) -> Option<AgentError> {
    let name = &described.source.name;
    match described.source.models_get {
        ModelAccess::All => None,
        ModelAccess::Nothing => Some(nothing_leaves(name)),
        ModelAccess::Aggregates if query.rows => Some(only_groups(name)),
        ModelAccess::Aggregates => grouped_id(query, described).map(|id| {
            stays_here(text!(
                "{id} names single items of {source}, so that its groups stay on this computer.",
                id,
                source = name
            ))
            .hint("Group by something that several rows share.")
        }),
    }
}

/// Returns why a dimension that rows of another source have from this one must stay here: it shows
/// single rows.
fn why_name_stays(described: &Described, joined: &BTreeSet<SourceName>) -> Option<AgentError> {
    let name = &described.source.name;
    let is_limited = described.source.models_get == ModelAccess::Aggregates;
    (is_limited && joined.contains(name)).then(|| only_groups(name))
}

/// Returns an identifier that a query groups by.
fn grouped_id(query: &MetricQuery, described: &Described) -> Option<String> {
    let is_id = |column: &str| {
        let found = described.columns().iter().find(|one| one.name == column);
        found.is_some_and(|column| column.usage == ColumnUse::Id)
    };
    let explained = query.explain.iter().flat_map(|explain| explain.by.iter().cloned());
    let groups = query.by.iter().map(|group| group.by.clone());
    groups.chain(explained.map(GroupBy::Dimension)).find_map(|by| {
        let column = column_of(&described.definitions, &by)?;
        is_id(&column).then_some(column)
    })
}

/// Returns the column whose values a group shows.
fn column_of(definitions: &Definitions, by: &GroupBy) -> Option<String> {
    let kind = match by {
        GroupBy::Time(_) => return None,
        GroupBy::Define(kind) => kind,
        GroupBy::Dimension(name) => match definitions.dimensions.get(name) {
            Some(found) => &found.kind,
            // A dimension without a definition is the name of a column.
            None => return Some(name.clone()),
        },
    };
    match kind {
        DimensionKind::Column(column) => Some(column.clone()),
        DimensionKind::Split(split) => Some(split.of.clone()),
        DimensionKind::First(first) => Some(first.of.clone()),
        // Their values are names of groups, ranges, yes and no.
        DimensionKind::When(_) | DimensionKind::Groups(_) | DimensionKind::Bins(_) => None,
        // The other source decides about its dimensions.
        DimensionKind::Lookup(_) => None,
    }
}

/// Returns the queries that count the rows behind each figure of a query: by the same groups, in the
/// same periods, with the same conditions, also those inside of measures.
fn counting_queries(
    query: &MetricQuery,
    catalog: &Catalog,
    limited: &[&SourceName],
) -> Vec<MetricQuery> {
    let is_limited = |part: &Part| {
        let source = part.source.as_ref().or(query.source.as_ref());
        source.is_some_and(|source| limited.contains(&source))
    };
    let mut parts = parts_of(query, catalog);
    // Groups without measures have rows, too.
    parts.insert(0, Part { source: None, conditions: Vec::new() });
    parts.retain(is_limited);
    let counts: Vec<MeasureUse> =
        parts.iter().enumerate().map(|(at, part)| count_of(part, at)).collect();
    let with = |mut measures: Vec<MeasureUse>, by: Vec<Group>| {
        measures.extend(counts.iter().cloned());
        MetricQuery {
            measures,
            by,
            order: Vec::new(),
            limit: None,
            top: None,
            totals: false,
            pivot: None,
            fill: false,
            then: None,
            explain: None,
            ..query.clone()
        }
    };
    match &query.explain {
        Some(explain) => {
            let explained = || vec![MeasureUse::named(explain.measure.clone())];
            let by = explain.by.iter().map(|name| vec![Group::dimension(name.clone())]);
            by.map(|by| with(explained(), by)).collect()
        }
        // The figures themselves stay in the query, because amounts are grouped by currency, too.
        None => {
            let totals = query.totals.then(|| with(query.measures.clone(), Vec::new()));
            let groups = with(query.measures.clone(), query.by.clone());
            [Some(groups), totals].into_iter().flatten().collect()
        }
    }
}

fn count_of(part: &Part, number: usize) -> MeasureUse {
    let (measure, calculation) = match &part.source {
        Some(source) => (Some(format!("{source}.rows")), None),
        None => (None, Some(Calculation::Count("rows".to_owned()))),
    };
    MeasureUse {
        measure,
        calculation,
        name: Some(format!("{COUNT}{number}")),
        conditions: part.conditions.clone(),
        ..MeasureUse::default()
    }
}

/// Returns why nothing of a source leaves this computer.
pub(super) fn nothing_leaves(source: &SourceName) -> AgentError {
    stays_here(text!("The data of {source} stay on this computer.", source))
        .hint("Choose a model on this computer. What models elsewhere get is set on the page of the source.")
}

fn only_groups(source: &SourceName) -> AgentError {
    stays_here(text!(
        "Rows of {source} stay on this computer. Models elsewhere get figures of groups.",
        source
    ))
    .hint("Ask for figures by groups, with a metric query.")
}

fn stays_here(message: impl Into<contract::Text>) -> AgentError {
    AgentError::invalid(message).reason("stays_here")
}
