//! Writes all rows of a result as a Parquet file. The rows come page by page from the process that
//! answers the question. The query process, which has the database library, writes the file into its
//! own folder, and the host moves the file out of the reach of the process. This module must not
//! know the format.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Write as _},
    path::Path,
};

use contract::{
    AgentError, ExportParams, ExportResponse,
    definitions::DefinitionState,
    metric_query::{DataResult, MeasureParams},
    sources::{AskExport, AskLimits, Exported},
};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{
    COMPARE, Inner, Sources,
    asking::{Asked, Page},
    processes::{QUERIES, odd_answer},
};
use crate::log::current_caller;

/// The file with the rows, in a staging folder.
const ROWS: &str = "rows.jsonl";
/// The number of rows of a page.
const PAGE: u64 = 10_000;

impl Sources {
    /// Computes figures for a person and writes all rows as a Parquet file.
    pub(crate) async fn export(&self, params: ExportParams) -> Result<ExportResponse, AgentError> {
        let inner = self.opened()?;
        let staged = inner.storage.stage()?;
        let rows = staged.path().join(ROWS);
        let result = inner.collect_rows(params, &rows).await?;
        let file = format!("export-{}.parquet", inner.next_number());
        let ask = AskExport {
            rows: rows.display().to_string(),
            columns: result.columns.clone(),
            about: tell_about(&result),
            file: file.clone(),
            limits: AskLimits {
                millis: u64::try_from(COMPARE.as_millis()).unwrap_or(u64::MAX),
                ..AskLimits::default()
            },
        };
        let cancel = CancellationToken::new();
        let exported: Exported = inner.processes.ask("data.export", &ask, COMPARE, cancel).await?;
        let file = inner.storage.take_export(QUERIES, &file)?;
        if exported.rows != result.row_count {
            return Err(odd_answer(&"the file has another number of rows"));
        }
        Ok(ExportResponse { file: file.display().to_string(), result })
    }
}

impl Inner {
    /// Writes the rows of all pages into a file, one JSON object per line. Returns the result without
    /// its rows.
    async fn collect_rows(
        &self,
        params: ExportParams,
        path: &Path,
    ) -> Result<DataResult, AgentError> {
        let mut asked = match params {
            ExportParams::Query(query) => Asked::Query(query),
            ExportParams::Sql(sql) => Asked::Sql(sql),
        };
        let written = |error: io::Error| self.storage.unusable(path, &error);
        let mut file = BufWriter::new(files::create(path).map_err(written)?);
        let (mut whole, mut count) = (None, 0);
        let mut cursor = None;
        loop {
            let (again, mut page) = self.ask_page(asked, cursor.clone()).await?;
            asked = again;
            if whole.is_none() {
                self.record_figure(&asked, &page, &current_caller()).await?;
            }
            write_page(&mut file, &page).map_err(written)?;
            count += page.rows.len() as u64;
            let next = page.more.take().filter(|next| {
                let is_stuck = page.rows.is_empty() || cursor.as_ref() == Some(next);
                !is_stuck
            });
            page.rows.clear();
            let result = whole.get_or_insert(page);
            if next.is_none() {
                file.flush().map_err(written)?;
                result.row_count = count;
                return Ok(result.clone());
            }
            cursor = next;
        }
    }

    /// Asks for a page of a result. Also returns the question with the moment that relative periods
    /// refer to, so that all pages are of the same result.
    async fn ask_page(
        &self,
        asked: Asked,
        cursor: Option<String>,
    ) -> Result<(Asked, DataResult), AgentError> {
        let page = Page { rows: PAGE, bytes: AskLimits::default().bytes };
        let cancel = CancellationToken::new();
        match asked {
            Asked::Query(query) => {
                self.measure(MeasureParams { query: *query, cursor }, page, cancel).await
            }
            Asked::Sql(sql) => {
                let mut result = self.query(&sql, cursor, page, cancel).await?;
                // A person wrote the SELECT, so that it needs no approval.
                result.definition_state = DefinitionState::Approved;
                Ok((Asked::Sql(sql), result))
            }
        }
    }
}

/// Returns what proves the figures, for the file.
fn tell_about(result: &DataResult) -> BTreeMap<String, String> {
    let version = serde_json::to_value(&result.data_version).unwrap_or_default();
    let version = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
    let entries = [("query", &result.query), ("sql", &result.sql), ("data_version", &version)];
    entries.map(|(key, value)| (format!("countersign.{key}"), value.clone())).into()
}

/// Writes each row as a JSON object of texts, so that no reader rounds a number.
fn write_page(file: &mut BufWriter<File>, page: &DataResult) -> io::Result<()> {
    for row in &page.rows {
        let cells: Map<String, Value> = row
            .iter()
            .enumerate()
            .filter(|(_, cell)| !cell.is_null())
            .map(|(at, cell)| {
                let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
                (at.to_string(), Value::String(text))
            })
            .collect();
        serde_json::to_writer(&mut *file, &cells)?;
        file.write_all(b"\n")?;
    }
    Ok(())
}
