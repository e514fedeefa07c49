//! `data.measure`: metric queries over tables of a database, which groups and filters.

use std::collections::BTreeSet;

use analytics::{Catalog, Dialect};
use contract::{
    metric_query::DataResult,
    sources::{AskMeasure, AskedSource},
};

use super::{
    answers::key_of,
    connect::{Databases, Place},
    describe,
};
use crate::{
    DataError,
    kept::Table,
    link::Link,
    measure::{self, MOST_ROWS, Ready, model_of},
    stop::Stop,
};

impl Databases {
    /// Computes a metric query.
    pub fn measure(&self, ask: &AskMeasure, stop: &Stop) -> Result<DataResult, DataError> {
        let place = self.place_of(&ask.sources)?;
        let mut link = self.connect(&place, ask.limits.millis, stop)?;
        let sources = ask
            .sources
            .iter()
            .map(|source| model(&mut link, source, stop))
            .collect::<Result<_, DataError>>()
            .map_err(DataError::of_table)?;
        let dialect = if place.is_postgres() { Dialect::Postgres } else { Dialect::Standard };
        let ready = Ready::new(ask, &Catalog::of(sources), dialect)?;
        let key = key_of(ready.hash(), &ask.sources)?;
        if ask.cursor.is_none() {
            // The rows of now may be others than those that are kept.
            self.measured.forget(&key);
        }
        measure::page(ask, &key, &self.measured, || {
            let rows = link.ask(ready.sql(), stop).map_err(DataError::of_table)?;
            let table = Table::collect(rows, MOST_ROWS)?;
            ready.finish(&table, &ask.sources)
        })
    }
}

fn model(
    link: &mut Link,
    source: &AskedSource,
    stop: &Stop,
) -> Result<analytics::SourceModel, DataError> {
    let place = Place::of(&source.place)?;
    let columns = describe::columns(link, &place, stop)?;
    let floats: BTreeSet<String> = columns
        .iter()
        .filter(|column| column.is_float)
        .map(|column| column.column.name.clone())
        .collect();
    let mut source = source.clone();
    if source.columns.is_empty() {
        source.columns = columns.into_iter().map(|column| column.column).collect();
    }
    Ok(model_of(&source, place.table, &floats))
}
