//! Writes into an export of records what somebody needs who computes its figures again without this
//! app: for each figure its question, definitions and data version, statements for the database
//! library and the rows that they give; and the files with the rows that the figures used, by hash.
//! A figure that cannot be written is named with the cause. This module must not know what else an
//! export has.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use contract::{
    AgentError, AuditRecordView, RecordType, Text,
    metric_query::{DataVersion, MetricQuery},
    sources::{AskProve, AskedPlace, AskedSource, Proved},
    text,
};
use serde::Serialize;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::{
    COMPARE, Inner, Sources,
    checking::{Recorded, gone, read_record},
    hashes::hash_file,
    processes::QUERIES,
    retention::files_of_parts,
};

/// The folder of the figures in an export, and its content.
const FOLDER: &str = "data";
const PARTS: &str = "parts";
const FIGURES: &str = "figures";
const LIST: &str = "figures.jsonl";
const MEGABYTE: u64 = 1_000_000;
/// The tools whose results are figures.
const TOOLS: [&str; 4] = ["data.measure", "data.query", "data.chart", "data.explain_change"];

/// The figures that were written, and those that were not.
#[derive(Debug, Default)]
pub(crate) struct WrittenFigures {
    /// The number of figures that can be computed again.
    pub(crate) figures: u64,
    /// The figures that cannot, with the cause.
    pub(crate) left_out: Vec<Text>,
    /// The files and folders.
    pub(crate) files: Vec<String>,
}

/// A line of the list.
#[derive(Serialize)]
struct Line<'a> {
    /// The number of the record.
    record: u64,
    /// The metric query, with its moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<&'a MetricQuery>,
    /// The SQL that gave the figures.
    sql: &'a str,
    /// The hash of the question, and of each definition.
    query_hash: &'a str,
    definitions: &'a std::collections::BTreeMap<String, String>,
    data_version: &'a DataVersion,
    /// The sources as they were: columns, definitions, and parts with their hashes.
    sources: &'a [AskedSource],
    /// The SHA-256 of the file with the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    csv: Option<String>,
    /// Why the figures cannot be computed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<&'a str>,
}

/// The figures of an export while they are written.
struct Writing<'a> {
    inner: &'a Inner,
    folder: PathBuf,
    /// The files of parts that were copied, and the bytes for which there is room.
    copied: BTreeSet<String>,
    room: u64,
    lines: String,
    written: WrittenFigures,
}

impl Sources {
    /// Writes the figures of records into the folder of their export.
    pub(crate) async fn write_figures(
        &self,
        export: &Path,
        records: &[AuditRecordView],
    ) -> Result<WrittenFigures, AgentError> {
        let Ok(inner) = self.opened() else { return Ok(WrittenFigures::default()) };
        let mut writing = Writing {
            inner,
            folder: export.join(FOLDER),
            copied: BTreeSet::new(),
            room: inner.export_bytes,
            lines: String::new(),
            written: WrittenFigures::default(),
        };
        for record in records {
            match read_record(record) {
                Some(recorded) => writing.add(record.seq, &recorded).await?,
                None if is_figure(record) => writing.leave_out(record.seq, &not_kept()),
                None => {}
            }
        }
        writing.end()
    }
}

/// Whether a record is about figures, which it may not have.
fn is_figure(record: &AuditRecordView) -> bool {
    let is_tool = |tool: &str| TOOLS.iter().any(|known| tool.rsplit('/').next() == Some(*known));
    match record.record_type {
        RecordType::FigureComputed => true,
        RecordType::ToolOutcome => {
            record.tool.as_deref().is_some_and(is_tool) && record.revealed.contains_key("result")
        }
        _ => false,
    }
}

impl Writing<'_> {
    /// Writes one figure, or why it cannot be written.
    async fn add(&mut self, record: u64, recorded: &Recorded) -> Result<(), AgentError> {
        let sources = match self.inner.sources_at(recorded) {
            Ok(sources) => sources,
            Err(why) => {
                self.add_line(record, recorded, &[], Err(&why));
                return Ok(());
            }
        };
        let shown: Vec<AskedSource> = sources.iter().cloned().map(in_export).collect();
        match self.prove(record, recorded, sources).await {
            Ok(csv) => self.add_line(record, recorded, &shown, Ok(csv)),
            Err(Failure::Figure(why)) => self.add_line(record, recorded, &shown, Err(&why)),
            Err(Failure::Export(error)) => return Err(error),
        }
        Ok(())
    }

    /// Copies the parts of a figure, and writes its statements and rows. Returns the hash of the file
    /// with the rows.
    async fn prove(
        &mut self,
        record: u64,
        recorded: &Recorded,
        sources: Vec<AskedSource>,
    ) -> Result<String, Failure> {
        let parts = self.missing_parts(&sources);
        let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
        if bytes > self.room {
            return Err(Failure::Figure(too_large(bytes, self.inner.export_bytes)));
        }
        let file = format!("{record}.csv");
        let ask = AskProve {
            figure: recorded.ask(sources),
            folder: PARTS.to_owned(),
            file: file.clone(),
        };
        let cancel = CancellationToken::new();
        let asked = self.inner.processes.ask("data.prove", &ask, COMPARE, cancel).await;
        let proved: Proved = asked.map_err(|error| Failure::Figure(error.text()))?;
        let csv = self.inner.storage.take_export(QUERIES, &file).map_err(Failure::Export)?;
        if !proved.verified.equal {
            let _ = fs::remove_file(&csv);
            return Err(Failure::Figure(other_figures(&proved)));
        }
        let script = script(record, &file, &proved.statements);
        let folder = self.folder.clone();
        let copied: Vec<String> = parts.iter().map(|part| part.file.clone()).collect();
        let hash = spawn_blocking(move || write_figure(&folder, record, &csv, &script, &parts))
            .await
            .map_err(io::Error::other)
            .and_then(|written| written)
            .map_err(|error| Failure::Export(not_written(&error)))?
            .ok_or_else(|| Failure::Figure(gone()))?;
        self.copied.extend(copied);
        self.room = self.room.saturating_sub(bytes);
        Ok(hash)
    }

    /// Returns the files that a figure needs and the export does not have yet.
    fn missing_parts(&self, sources: &[AskedSource]) -> Vec<PartFile> {
        let mut found = Vec::new();
        for source in sources {
            let AskedPlace::Parts { folder, parts } = &source.place else { continue };
            for file in files_of_parts(parts) {
                let path = Path::new(folder).join(file);
                let bytes = fs::metadata(&path).map_or(0, |data| data.len());
                if !self.copied.contains(file) {
                    found.push(PartFile { file: file.to_owned(), path, bytes });
                }
            }
        }
        found.sort_by(|one, other| one.file.cmp(&other.file));
        found.dedup_by(|one, other| one.file == other.file);
        found
    }

    fn add_line(
        &mut self,
        record: u64,
        recorded: &Recorded,
        sources: &[AskedSource],
        end: Result<String, &Text>,
    ) {
        let result = &recorded.result;
        let left_out = end.as_ref().err().map(|why| why.to_string());
        let line = Line {
            record,
            query: recorded.query.as_ref(),
            sql: &result.sql,
            query_hash: &result.query,
            definitions: &result.definitions,
            data_version: &result.data_version,
            sources,
            csv: end.as_ref().ok().cloned(),
            left_out: left_out.as_deref(),
        };
        self.lines.push_str(&serde_json::to_string(&line).unwrap_or_default());
        self.lines.push('\n');
        match end {
            Ok(_) => self.written.figures += 1,
            Err(why) => self.leave_out(record, why),
        }
    }

    fn leave_out(&mut self, record: u64, why: &Text) {
        self.written.left_out.push(text!("Record {record}: {why}", record, why = why.clone()));
    }

    fn end(mut self) -> Result<WrittenFigures, AgentError> {
        if !self.lines.is_empty() {
            let write = || {
                fs::create_dir_all(&self.folder)?;
                files::write(&self.folder.join(LIST), self.lines.as_bytes())
            };
            write().map_err(|error| not_written(&error))?;
            self.written.files.push(format!("{FOLDER}/"));
        }
        Ok(self.written)
    }
}

/// Why a figure was not written.
enum Failure {
    /// The cause concerns this figure.
    Figure(Text),
    /// The export cannot be written.
    Export(AgentError),
}

/// A file of a part.
struct PartFile {
    file: String,
    path: PathBuf,
    bytes: u64,
}

/// Returns a source whose parts are in the export.
fn in_export(mut source: AskedSource) -> AskedSource {
    if let AskedPlace::Parts { folder, .. } = &mut source.place {
        PARTS.clone_into(folder);
    }
    source
}

fn script(record: u64, file: &str, statements: &[String]) -> String {
    let mut script = format!(
        "-- The figures of record {record}. In the folder {FOLDER} of the export, this writes {file},\n\
         -- which has the bytes of {FIGURES}/{file}: duckdb < {FIGURES}/{record}.sql\n"
    );
    for statement in statements {
        script.push_str(statement);
        script.push_str(";\n");
    }
    script
}

/// Writes the files of a figure. Returns the hash of the rows. None if a part was removed or changed
/// since it was verified.
fn write_figure(
    folder: &Path,
    record: u64,
    csv: &Path,
    script: &str,
    parts: &[PartFile],
) -> io::Result<Option<String>> {
    let (figures, to) = (folder.join(FIGURES), folder.join(PARTS));
    fs::create_dir_all(&figures)?;
    fs::create_dir_all(&to)?;
    for part in parts {
        let copy = to.join(&part.file);
        match files::copy(&part.path, &copy) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            copied => copied?,
        };
        // A part has the name of its hash.
        if !part.file.starts_with(&hash_file(&copy)?) {
            fs::remove_file(&copy)?;
            return Ok(None);
        }
    }
    let rows = figures.join(format!("{record}.csv"));
    files::copy(csv, &rows)?;
    fs::remove_file(csv)?;
    files::write(&figures.join(format!("{record}.sql")), script.as_bytes())?;
    hash_file(&rows).map(Some)
}

fn not_kept() -> Text {
    "Its figures were erased, or are too large for the log.".into()
}

fn too_large(bytes: u64, most: u64) -> Text {
    text!(
        "The rows that it used take {size} MB, and an export has at most {most} MB of rows.",
        size = bytes.div_ceil(MEGABYTE),
        most = most.div_ceil(MEGABYTE)
    )
}

fn other_figures(proved: &Proved) -> Text {
    if proved.verified.is_intact() {
        "The same question over the same rows gives other figures now.".into()
    } else {
        "The stored rows of that time were changed. The figures prove nothing.".into()
    }
}

fn not_written(error: &io::Error) -> AgentError {
    AgentError::internal(
        "export_failed",
        text!("The figures of the export could not be written: {error}.", error),
    )
    .hint("Check that the folder is writable and has space left.")
}
