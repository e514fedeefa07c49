//! A metric query in words: a part for each member, so that a person can read the query and change a
//! part of it. The parts say the whole query. The texts are keys of the catalogues. This module must
//! not know results.

use contract::{
    GivenName, Param, SourceName, Text,
    metric_query::{AsOf, GroupBy, MetricQuery, PartKind, QueryPart},
    text,
};

use crate::{
    Catalog, Problem, SourceModel,
    resolve::{primary, resolve_names},
};

mod conditions;
mod figures;
mod groups;
mod names;
mod periods;
mod whole;

/// The depth of conditions and queries inside each other from which on they stand as they are
/// written. Texts inside of texts would become too deep for readers of JSON.
const DEEPEST: usize = 5;

/// A metric query in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paraphrase {
    /// The source that the query begins with.
    pub source: SourceName,
    /// The parts of the query, in the order in which a person reads them.
    pub parts: Vec<QueryPart>,
}

/// Returns a metric query at a moment in words.
pub fn paraphrase(
    query: &MetricQuery,
    catalog: &Catalog,
    as_of: &AsOf,
) -> Result<Paraphrase, Problem> {
    let as_of = query.as_of.as_ref().unwrap_or(as_of);
    let resolved = resolve_names(query, catalog, as_of)?;
    let source = &catalog.sources[primary(&resolved, catalog)?];
    let parts = Words { catalog, source, depth: 0 }.parts(query, &resolved);
    Ok(Paraphrase { source: source.name().clone(), parts })
}

/// The words of a query over one source.
#[derive(Clone, Copy)]
struct Words<'a> {
    catalog: &'a Catalog,
    source: &'a SourceModel,
    /// The number of conditions and queries around this one.
    depth: usize,
}

impl Words<'_> {
    /// Returns the parts of a query. `written` has its relative periods, `resolved` its names and days.
    fn parts(&self, written: &MetricQuery, resolved: &MetricQuery) -> Vec<QueryPart> {
        let mut parts = self.shown(resolved);
        for (at, group) in resolved.by.iter().enumerate() {
            let kind = match group.by {
                GroupBy::Time(_) => PartKind::Grain,
                GroupBy::Dimension(_) | GroupBy::Define(_) => PartKind::Dimension,
            };
            parts.push(part(kind, format!("/by/{at}"), self.group(group)));
        }
        for (at, condition) in resolved.conditions.iter().enumerate() {
            parts.push(part(PartKind::Filter, format!("/where/{at}"), self.condition(condition)));
        }
        parts.extend(self.period_parts(written, resolved));
        parts.extend(self.whole(resolved));
        parts
    }

    /// Returns the parts about single rows, what explains a change, and figures.
    fn shown(&self, query: &MetricQuery) -> Vec<QueryPart> {
        let mut parts = Vec::new();
        if query.rows {
            parts.push(part(PartKind::Measure, "/rows", text!("single rows")));
        }
        if !query.columns.is_empty() {
            let columns = list(query.columns.iter().map(|name| self.column(name)));
            parts.push(part(PartKind::Option, "/columns", text!("columns: {columns}", columns)));
        }
        if let Some(explain) = &query.explain {
            let words = text!(
                "what explains the change of {measure}, by {names}",
                measure = self.measure(&explain.measure),
                names = list(explain.by.iter().map(|name| self.dimension(name)))
            );
            parts.push(part(PartKind::Measure, "/explain", words));
        }
        for (at, used) in query.measures.iter().enumerate() {
            parts.push(part(PartKind::Measure, format!("/measures/{at}"), self.figure(used)));
        }
        parts
    }

    /// Returns a query that stands inside of another one, in one line. Its source is said if it is
    /// another one.
    fn sentence(&self, query: &MetricQuery) -> Text {
        let place = query.source.as_ref().and_then(|name| self.catalog.place(name).ok());
        let source = place.map_or(self.source, |place| &self.catalog.sources[place]);
        let is_said =
            |part: &QueryPart| part.kind != PartKind::Source || source.name() != self.source.name();
        let parts = Words { source, ..*self }.parts(query, query).into_iter().filter(is_said);
        Text::listed(parts.map(|part| Param::Text(part.text)), " · ")
    }

    /// Returns the words for what stands inside. None if it is too deep.
    fn deeper(&self) -> Option<Self> {
        let depth = self.depth + 1;
        (depth <= DEEPEST).then_some(Self { depth, ..*self })
    }
}

fn part(kind: PartKind, at: impl Into<String>, text: Text) -> QueryPart {
    QueryPart { kind, at: at.into(), text }
}

/// Returns a list with commas.
fn list(values: impl IntoIterator<Item = Param>) -> Text {
    Text::listed(values, ", ")
}

/// Returns a name or a value as it is.
fn as_is(text: impl Into<String>) -> Param {
    Param::Name(GivenName::of(text))
}

/// Returns a text with the name that a person gave to it.
fn with_name(name: Option<&String>, words: Text) -> Text {
    match name {
        Some(name) => text!("{name} = {words}", name = as_is(name), words),
        None => words,
    }
}

#[cfg(test)]
mod tests;
