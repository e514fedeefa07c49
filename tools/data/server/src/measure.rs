//! Computes metric queries for both processes: the catalogue of the sources of a call, the compiled
//! query, and the finished result with its pages.

use std::{collections::BTreeSet, sync::Arc};

use analytics::{Catalog, Compiled, Dialect, Problem, Resolved, SourceModel, TableColumn, finish};
use contract::{
    AgentError,
    definitions::Definitions,
    metric_query::DataResult,
    sources::{AskMeasure, AskedSource, StoredColumn},
    text,
};

use crate::{
    DataError,
    answer::{self, Place},
    kept::{Kept, Table, page_of_rows},
};

/// The maximum number of rows of a metric query.
pub const MOST_ROWS: u64 = 200_000;

/// A metric query that is ready to run.
pub struct Ready {
    resolved: Resolved,
    compiled: Compiled,
}

impl Ready {
    /// Resolves and compiles the query of a call.
    pub fn new(ask: &AskMeasure, catalog: &Catalog, dialect: Dialect) -> Result<Self, DataError> {
        let as_of = ask.query.as_of.as_ref().ok_or_else(|| {
            DataError::Arguments("the query does not say the moment that it refers to".to_owned())
        })?;
        let resolved = analytics::resolve(&ask.query, catalog, as_of).map_err(told)?;
        let compiled = analytics::compile(&resolved, catalog, dialect).map_err(told)?;
        Ok(Self { resolved, compiled })
    }

    /// Returns the SELECT.
    pub fn sql(&self) -> &str {
        &self.compiled.sql
    }

    /// Returns the hash of the query.
    pub fn hash(&self) -> &str {
        &self.resolved.hash
    }

    /// Makes the result from the rows of the database.
    pub fn finish(&self, table: &Table, sources: &[AskedSource]) -> Result<DataResult, DataError> {
        let rows = table.page(0, MOST_ROWS, u64::MAX)?.rows;
        let mut result = finish(&self.compiled, &self.resolved, rows).map_err(told)?;
        result.data_version = answer::version_of(sources);
        if table.is_cut {
            result.notes.push(text!(
                "The result has more rows; only the first {count} are shown.",
                count = table.rows
            ));
        }
        Ok(result)
    }
}

fn told(problem: Problem) -> DataError {
    AgentError::from(problem).into()
}

/// Describes a source for the compiler.
pub fn model_of(
    source: &AskedSource,
    table: Vec<String>,
    floats: &BTreeSet<String>,
) -> SourceModel {
    let own = source.definitions.clone();
    let mut definitions = own.unwrap_or_else(|| Definitions::new(source.name.clone()));
    definitions.source = source.name.clone();
    let column = |column: &StoredColumn| TableColumn {
        name: column.name.clone(),
        kind: column.kind,
        scale: column.scale,
        constant: column.constant.clone(),
        is_float: floats.contains(&column.name),
    };
    let columns = source.columns.iter().map(column).collect();
    SourceModel {
        table,
        covered: source.covered,
        exports: source.exports.clone(),
        approved: source.approved.iter().cloned().collect(),
        ..SourceModel::new(definitions, columns)
    }
}

/// Returns a page of a result. The whole result is computed if it is not cached.
pub fn page(
    ask: &AskMeasure,
    key: &str,
    kept: &Kept<DataResult>,
    compute: impl FnOnce() -> Result<DataResult, DataError>,
) -> Result<DataResult, DataError> {
    let place = Place::read(ask.cursor.as_deref(), key)?;
    let whole = match kept.find(key) {
        Some(whole) => whole,
        None => {
            let whole = Arc::new(compute()?);
            let bytes = (whole.rows.len() + whole.totals.len())
                * whole.columns.len().max(1)
                * BYTES_OF_CELL;
            kept.keep(key.to_owned(), whole.clone(), bytes);
            whole
        }
    };
    let page = page_of_rows(&whole.rows, place.offset, ask.limits.rows, ask.limits.bytes);
    let rest = DataResult {
        columns: whole.columns.clone(),
        rows: page.rows,
        totals: whole.totals.clone(),
        row_count: whole.row_count,
        more: page.next.map(|next| format!("{key}:{next}")),
        query: whole.query.clone(),
        sql: whole.sql.clone(),
        definitions: whole.definitions.clone(),
        definition_state: whole.definition_state,
        data_version: whole.data_version.clone(),
        notes: whole.notes.clone(),
        // The host knows how the query was written, and records it.
        asked: None,
        record: None,
        engine: whole.engine,
    };
    Ok(rest)
}

/// The approximate size of a cell in memory, in bytes.
const BYTES_OF_CELL: usize = 64;
