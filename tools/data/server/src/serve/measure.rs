//! `data.measure`: metric queries over parts.

use std::collections::BTreeSet;

use analytics::{Catalog, Dialect};
use contract::{metric_query::DataResult, sources::AskMeasure};

use super::{Asker, query::key_of};
use crate::{
    DataError,
    kept::Table,
    measure::{self, MOST_ROWS, Ready, model_of},
    stop::Stop,
};

impl Asker {
    /// Computes a metric query.
    pub fn measure(&self, ask: &AskMeasure, stop: &Stop) -> Result<DataResult, DataError> {
        let (ready, key) = prepare(ask)?;
        measure::page(ask, &key, &self.measured, || {
            let (mut link, notes) = self.connect(&ask.sources)?;
            let table = Table::collect(link.ask(ready.sql(), stop)?, MOST_ROWS)?;
            let mut result = ready.finish(&table, &ask.sources)?;
            result.notes.extend(notes);
            Ok(result)
        })
    }

    /// Computes a metric query without a kept result of it.
    pub(super) fn measure_again(
        &self,
        ask: &AskMeasure,
        stop: &Stop,
    ) -> Result<DataResult, DataError> {
        self.measured.forget(&prepare(ask)?.1);
        self.measure(ask, stop)
    }
}

/// Compiles the query of a call. Also returns the key of its result.
fn prepare(ask: &AskMeasure) -> Result<(Ready, String), DataError> {
    let model = |source| {
        let source: &contract::sources::AskedSource = source;
        model_of(source, vec![source.name.to_string()], &BTreeSet::new())
    };
    let catalog = Catalog::of(ask.sources.iter().map(model).collect());
    let ready = Ready::new(ask, &catalog, Dialect::DuckDb)?;
    let key = key_of(ready.hash(), &ask.sources);
    Ok((ready, key))
}
