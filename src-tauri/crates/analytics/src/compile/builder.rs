//! A statement under construction: its sources, dimensions, parts and base figures.

use contract::{Text, metric_query::MetricQuery};

use super::{
    Ctes, Purpose,
    currency::Currencies,
    formulas::Base,
    model::{Dim, Part, PartKey, Ranking, Side},
    row_scope::RowScope,
};
use crate::{
    Catalog, Dialect, Problem, SourceModel,
    resolve::{DayBounds, bounds_of, primary},
};

/// A statement under construction.
pub(crate) struct Builder<'a> {
    /// The database.
    pub dialect: Dialect,
    /// All sources.
    pub catalog: &'a Catalog,
    /// The query.
    pub query: &'a MetricQuery,
    /// The source that the query begins with.
    pub primary: usize,
    /// The steps so far.
    pub ctes: Ctes,
    /// The dimensions of the result.
    pub dims: Vec<Dim>,
    /// The parts.
    pub parts: Vec<Part>,
    /// The base figures.
    pub bases: Vec<Base>,
    /// The sums over other rows, in SQL.
    pub windows: Vec<String>,
    /// The currencies of amounts.
    pub currencies: Currencies,
    /// The first groups by a measure, if only they are asked for.
    pub ranking: Option<Ranking>,
    /// The number of days before the period that windows need.
    pub wide_from: Option<chrono::NaiveDate>,
    /// The number of sources that measures come from.
    pub sources: Vec<usize>,
    /// Notes for a person.
    pub notes: Vec<Text>,
    /// Whether this is the whole statement, not a query inside of another one.
    pub is_outer: bool,
    /// Counts that only notes need.
    pub counts: Vec<Count>,
    /// The part, the number of values in SQL and the column of each figure that does not add up.
    pub singles: Vec<(usize, String, String)>,
}

/// A count of rows that only a note needs.
pub(crate) struct Count {
    /// The name of its column.
    pub name: String,
    /// The query.
    pub sql: String,
    /// The purpose.
    pub purpose: Purpose,
}

impl<'a> Builder<'a> {
    /// Returns the source that the query begins with.
    pub fn source(&self) -> &'a SourceModel {
        &self.catalog.sources[self.primary]
    }

    /// Returns the place of the part with some rows.
    pub fn part(&mut self, key: PartKey) -> usize {
        if let Some(place) = self.parts.iter().position(|part| part.key == key) {
            return place;
        }
        self.parts.push(Part { key, joins: Vec::new(), is_needed: false });
        self.parts.len() - 1
    }

    /// Returns the rows of a part.
    pub fn scope(&mut self, part: usize) -> RowScope<'_> {
        let source = self.parts[part].key.source;
        RowScope {
            dialect: self.dialect,
            catalog: self.catalog,
            source: &self.catalog.sources[source],
            primary: &self.catalog.sources[self.primary],
            ctes: &mut self.ctes,
            joins: &mut self.parts[part].joins,
        }
    }

    /// Adds a base figure, unless the same one is there. Returns its number.
    pub fn base(&mut self, base: Base) -> usize {
        if let Some(place) = self.bases.iter().position(|known| *known == base) {
            return place;
        }
        self.bases.push(base);
        self.bases.len() - 1
    }

    /// Returns the days of a side.
    pub fn bounds(&self, side: Side) -> DayBounds {
        let compared = self.query.compare.as_ref().and_then(|compare| compare.period.as_ref());
        match (side, compared) {
            (Side::Before, Some(period)) => bounds_of(Some(period)),
            (Side::Before | Side::Now, _) => bounds_of(self.query.period.as_ref()),
        }
    }
}

/// Starts a statement.
pub(crate) fn new_builder<'a>(
    query: &'a MetricQuery,
    catalog: &'a Catalog,
    dialect: Dialect,
) -> Result<Builder<'a>, Problem> {
    Ok(Builder {
        dialect,
        catalog,
        query,
        primary: primary(query, catalog)?,
        ctes: Ctes::default(),
        dims: Vec::new(),
        parts: Vec::new(),
        bases: Vec::new(),
        windows: Vec::new(),
        currencies: Currencies::default(),
        ranking: None,
        wide_from: None,
        sources: Vec::new(),
        notes: Vec::new(),
        is_outer: false,
        counts: Vec::new(),
        singles: Vec::new(),
    })
}
