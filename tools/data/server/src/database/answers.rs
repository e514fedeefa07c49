//! `data.query` and `data.rows` over a table of a database.

use std::sync::Arc;

use contract::{
    definitions::DefinitionState,
    metric_query::DataResult,
    sources::{AskQuery, AskRows, AskedSource, ColumnKind, StoredColumn},
};

use super::connect::{Databases, Place};
use crate::{
    DataError,
    answer::{self, Place as PagePlace},
    check::postgres::{Table as NamedTable, rewrite},
    kept::Table,
    sql::identifier,
    stop::Stop,
};

/// The most rows of a query, which the library holds at once.
pub use contract::sources::DATABASE_ROWS as MOST_ROWS;

impl Databases {
    /// Answers a query in SQL.
    pub fn query(&self, ask: &AskQuery, stop: &Stop) -> Result<DataResult, DataError> {
        let query = answer::hash_of(&ask.sql);
        let key = key_of(&query, &ask.sources)?;
        let page = PagePlace::read(ask.cursor.as_deref(), &key)?;
        let (table, sql) = match (self.kept.find(&key), page.offset) {
            (Some(table), _) => (table, ask.sql.clone()),
            // The rows of now may be others.
            (None, 1..) => return Err(DataError::ResultGone),
            (None, 0) => {
                let place = self.place_of(&ask.sources)?;
                let names = named_tables(&ask.sources)?;
                let sql = rewrite(&ask.sql, &names, MOST_ROWS)?;
                let mut link = self.connect(&place, ask.limits.millis, stop)?;
                let table = Arc::new(Table::collect(link.ask(&sql, stop)?, MOST_ROWS)?);
                self.kept.keep(key.clone(), table.clone(), table.bytes);
                (table, sql)
            }
        };
        let result = DataResult {
            columns: answer::plain_columns(&table.columns),
            query,
            sql,
            definition_state: DefinitionState::WrittenByModel,
            data_version: answer::version_of(&ask.sources),
            ..DataResult::default()
        };
        answer::fill(result, &table, &key, page, &ask.limits)
    }

    /// Returns rows of the table.
    pub fn rows(&self, ask: &AskRows, stop: &Stop) -> Result<DataResult, DataError> {
        let sources = std::slice::from_ref(&ask.source);
        let place = self.place_of(sources)?;
        let mut link = self.connect(&place, ask.limits.millis, stop)?;
        let sql = rows_query(ask, &place);
        let rows = link.ask(&sql, stop).map_err(DataError::of_table)?;
        let table = Arc::new(Table::collect(rows, ask.limits.rows)?);
        let mut columns = answer::plain_columns(&table.columns);
        if let Some(definitions) = &ask.source.definitions {
            analytics::describe_rows(definitions, &mut columns);
        }
        let result = DataResult {
            columns,
            query: answer::hash_of(&sql),
            sql,
            data_version: answer::version_of(sources),
            ..DataResult::default()
        };
        let mut result = answer::fill(result, &table, "", PagePlace { offset: 0 }, &ask.limits)?;
        let taken = result.rows.len() as u64;
        // Nobody counts a large table for a page of it. A page can also be cut because its rows are
        // long.
        let is_cut = result.more.is_some() || taken == ask.limits.rows;
        result.more = is_cut.then(|| (ask.offset + taken).to_string());
        result.row_count = ask.offset + taken;
        Ok(result)
    }

    /// Returns the place of the sources of a call, which are tables of one database.
    pub(super) fn place_of<'a>(&self, sources: &'a [AskedSource]) -> Result<Place<'a>, DataError> {
        let first =
            sources.first().ok_or_else(|| DataError::Arguments("no source is named".to_owned()))?;
        Place::of(&first.place)
    }
}

/// Returns the key of a result. It has no password.
pub(super) fn key_of(query: &str, sources: &[AskedSource]) -> Result<String, DataError> {
    let places: Vec<String> = sources
        .iter()
        .map(|source| Ok(format!("{} {}", source.name, Place::of(&source.place)?.shown())))
        .collect::<Result<_, DataError>>()?;
    Ok(answer::hash_of(&format!("{query}\n{}", places.join("\n"))))
}

fn named_tables(sources: &[AskedSource]) -> Result<Vec<NamedTable>, DataError> {
    sources
        .iter()
        .map(|source| {
            let parts = Place::of(&source.place)?.table;
            Ok(NamedTable { name: source.name.to_string(), parts })
        })
        .collect()
}

/// Writes the name of a table.
pub(super) fn table_name(place: &Place<'_>) -> String {
    place.table.iter().map(|part| identifier(part)).collect::<Vec<_>>().join(".")
}

fn rows_query(ask: &AskRows, place: &Place<'_>) -> String {
    let known = &ask.source.columns;
    let wanted: Vec<&str> = if ask.columns.is_empty() {
        known.iter().map(|column| column.name.as_str()).collect()
    } else {
        ask.columns.iter().map(String::as_str).collect()
    };
    let cells: Vec<String> = wanted
        .iter()
        .map(|name| {
            let cell = identifier(name);
            let kind = known.iter().find(|column| column.name == *name).map(|column| column.kind);
            // Types that a result cannot have, such as those of documents, are described as text.
            match kind {
                Some(ColumnKind::Text) if place.is_postgres() => {
                    format!("CAST({cell} AS text) AS {cell}")
                }
                _ => cell,
            }
        })
        .collect();
    let cells = if cells.is_empty() { "*".to_owned() } else { cells.join(", ") };
    let order = ask.order.as_ref().map_or_else(String::new, |order| {
        let direction = if order.descending { "DESC" } else { "ASC" };
        let rest: String = known
            .iter()
            .filter(|column| column.name != order.by)
            .map(|column| format!(", {} ASC NULLS LAST", order_cell(place, known, &column.name)))
            .collect();
        format!(" ORDER BY {} {direction} NULLS LAST{rest}", order_cell(place, known, &order.by))
    });
    format!(
        "SELECT {cells} FROM {}{order} LIMIT {} OFFSET {}",
        table_name(place),
        ask.limits.rows,
        ask.offset
    )
}

/// Writes a cell by which rows are sorted. Texts are sorted by their bytes, as in DuckDB.
fn order_cell(place: &Place<'_>, known: &[StoredColumn], name: &str) -> String {
    let cell = identifier(name);
    let kind = known.iter().find(|column| column.name == name).map(|column| column.kind);
    match kind {
        Some(ColumnKind::Text) if place.is_postgres() => {
            format!("CAST({cell} AS text) COLLATE \"C\"")
        }
        _ => cell,
    }
}
