//! Asks the query process about tables that an import compares: a staged file, and the rows of a
//! source. This module must not know what follows from the answers.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use contract::{
    AgentError, SourceName,
    metric_query::DataResult,
    sources::{
        AskLimits, AskQuery, AskedPlace, AskedSource, ColumnUse, DaySpan, PartRef, StoredColumn,
    },
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    Inner,
    importer::StagedPart,
    replacing,
    storage::{State, Table, stored_columns},
};

/// The time limit of the queries that compare a file with its source.
pub(super) const COMPARE: Duration = Duration::from_secs(600);

impl Inner {
    /// Returns the folder of a staged part.
    pub(super) fn folder_of(&self, part: &StagedPart) -> PathBuf {
        part.path.parent().unwrap_or(Path::new("/")).to_owned()
    }

    /// Runs a SELECT over a staged part as table `file`, and over a source as table `before`.
    pub(super) async fn ask_file(
        &self,
        folder: &Path,
        part: &StagedPart,
        before: Option<(&SourceName, &State)>,
        sql: &str,
    ) -> Result<Vec<Value>, AgentError> {
        let file = asked_parts("file", folder, part.part.columns.clone(), vec![part.part.clone()]);
        let mut sources = vec![file];
        if let Some((name, state)) = before {
            let folder = self.storage.parts(name);
            let columns = stored_columns(&state.columns);
            sources.push(asked_parts("before", &folder, columns, state.parts.clone()));
        }
        self.ask_rows(sql, sources).await
    }

    async fn ask_rows(
        &self,
        sql: &str,
        sources: Vec<AskedSource>,
    ) -> Result<Vec<Value>, AgentError> {
        let limits = AskLimits {
            millis: u64::try_from(COMPARE.as_millis()).unwrap_or(u64::MAX),
            ..AskLimits::default()
        };
        let query = AskQuery { sql: sql.to_owned(), sources, limits, cursor: None };
        let cancel = CancellationToken::new();
        let result: DataResult = self.processes.ask("data.query", &query, COMPARE, cancel).await?;
        Ok(result.rows.into_iter().map(Value::Array).collect())
    }

    /// Returns the number of rows in a table, excluding replaced rows, and their days.
    pub(super) async fn measure_table(
        &self,
        name: &SourceName,
        table: &Table,
    ) -> Result<(u64, Option<DaySpan>), AgentError> {
        let time = table.columns.iter().find(|column| column.usage == ColumnUse::Time);
        let sql = replacing::size_query(time.map(|column| column.name.as_str()));
        let folder = self.storage.parts(name);
        let columns = stored_columns(&table.columns);
        let source = asked_parts("before", &folder, columns, table.parts.clone());
        Ok(replacing::read_size(&self.ask_rows(&sql, vec![source]).await?))
    }
}

/// Returns a table in parts, without definitions.
pub(super) fn asked_parts(
    name: &str,
    folder: &Path,
    columns: Vec<StoredColumn>,
    parts: Vec<PartRef>,
) -> AskedSource {
    AskedSource {
        name: name.into(),
        columns,
        place: AskedPlace::Parts { folder: folder.display().to_string(), parts },
        definitions: None,
        approved: Vec::new(),
        covered: None,
        exports: Vec::new(),
        version: None,
    }
}
