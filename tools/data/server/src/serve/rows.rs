//! `data.rows`: stored rows of one source, a page at a time.

use std::sync::Arc;

use contract::{metric_query::DataResult, sources::AskRows};

use super::Asker;
use crate::{
    DataError,
    answer::{self, Place},
    kept::Table,
    sql::{identifier, identifiers},
    stop::Stop,
};

impl Asker {
    /// Returns stored rows.
    pub fn rows(&self, ask: &AskRows, stop: &Stop) -> Result<DataResult, DataError> {
        let sources = std::slice::from_ref(&ask.source);
        let (mut link, notes) = self.connect(sources)?;
        let sql = rows_query(ask);
        let table = Arc::new(Table::collect(link.ask(&sql, stop)?, ask.limits.rows)?);
        let name = identifier(ask.source.name.as_str());
        let count = link.row(&format!("SELECT count(*) FROM {name}"), stop)?;
        let count: u64 =
            count.into_iter().flatten().next().and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut columns = answer::plain_columns(&table.columns);
        if let Some(definitions) = &ask.source.definitions {
            analytics::describe_rows(definitions, &mut columns);
        }
        let result = DataResult {
            columns,
            query: answer::hash_of(&sql),
            sql,
            data_version: answer::version_of(sources),
            notes,
            ..DataResult::default()
        };
        let mut result = answer::fill(result, &table, "", Place { offset: 0 }, &ask.limits)?;
        let end = ask.offset + result.rows.len() as u64;
        result.more = (end < count).then(|| end.to_string());
        result.row_count = count;
        Ok(result)
    }
}

/// Writes the query of a page. Rows with equal cells in the order are in the order of all columns.
fn rows_query(ask: &AskRows) -> String {
    let all = ask.source.columns.iter().map(|column| column.name.as_str());
    let columns = if ask.columns.is_empty() {
        identifiers(all.clone())
    } else {
        identifiers(ask.columns.iter().map(String::as_str))
    };
    let columns = if columns.is_empty() { "*".to_owned() } else { columns };
    let order = ask.order.as_ref().map_or_else(String::new, |order| {
        let direction = if order.descending { "DESC" } else { "ASC" };
        let rest = all
            .filter(|name| *name != order.by)
            .map(|name| format!(", {} ASC NULLS LAST", identifier(name)));
        let rest: String = rest.collect();
        format!(" ORDER BY {} {direction} NULLS LAST{rest}", identifier(&order.by))
    });
    format!(
        "SELECT {columns} FROM {}{order} LIMIT {} OFFSET {}",
        identifier(ask.source.name.as_str()),
        ask.limits.rows,
        ask.offset
    )
}
