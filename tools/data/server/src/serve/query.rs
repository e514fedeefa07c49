//! `data.query`: one SELECT that a person, a program or a model wrote.

use std::sync::Arc;

use contract::{
    definitions::DefinitionState,
    metric_query::DataResult,
    sources::{AskQuery, AskedSource},
};

use super::Asker;
use crate::{
    DataError,
    answer::{self, Place},
    check,
    kept::{MOST_ROWS, Table},
    stop::Stop,
};

impl Asker {
    /// Answers a query in SQL.
    pub fn query(&self, ask: &AskQuery, stop: &Stop) -> Result<DataResult, DataError> {
        let query = answer::hash_of(&ask.sql);
        let key = key_of(&query, &ask.sources);
        let place = Place::read(ask.cursor.as_deref(), &key)?;
        let (table, notes) = match (self.kept.find(&key), place.offset) {
            (Some(table), _) => (table, Vec::new()),
            // Rows of a query without an order may come in another order, so a page cannot be
            // computed again.
            (None, 1..) => return Err(DataError::ResultGone),
            (None, 0) => {
                let (mut link, notes) = self.connect(&ask.sources)?;
                let names: Vec<&str> =
                    ask.sources.iter().map(|source| source.name.as_str()).collect();
                check::duckdb::check(&mut link, &ask.sql, &names, stop)?;
                let table = Arc::new(Table::collect(link.ask(&ask.sql, stop)?, MOST_ROWS)?);
                self.kept.keep(key.clone(), table.clone(), table.bytes);
                (table, notes)
            }
        };
        let result = DataResult {
            columns: answer::plain_columns(&table.columns),
            query,
            sql: ask.sql.clone(),
            definition_state: DefinitionState::WrittenByModel,
            data_version: answer::version_of(&ask.sources),
            notes,
            ..DataResult::default()
        };
        answer::fill(result, &table, &key, place, &ask.limits)
    }

    /// Answers a query in SQL without a kept result of it.
    pub(super) fn query_again(&self, ask: &AskQuery, stop: &Stop) -> Result<DataResult, DataError> {
        self.kept.forget(&key_of(&answer::hash_of(&ask.sql), &ask.sources));
        self.query(ask, stop)
    }
}

/// Returns the key of a result: its query, and the sources with their rows and definitions.
pub(super) fn key_of(query: &str, sources: &[AskedSource]) -> String {
    let sources = serde_json::to_string(sources).unwrap_or_default();
    answer::hash_of(&format!("{query}\n{sources}"))
}
