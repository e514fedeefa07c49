//! Imports files with delivery rows and campaigns in one transaction. If a file has an error, none
//! of its rows is stored unless the user chose to skip the rejected lines. A cancelled import
//! changes nothing, and the earlier data stays in use until the end.

mod budgets;
mod cells;
mod check;
mod columns;
mod fields;
mod file;
mod layouts;
mod lines;
mod mapped;
mod schema;
mod store;
mod survey;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use contract::{
    AgentError, ImportError, ImportNote, ImportProblem,
    data::{ImportOptions, ImportProgress},
};
use rusqlite::{Connection, TransactionBehavior};
use serde::Serialize;
use tabular::{Decisions, Memory};

use crate::db::{self, Dataset, database_error};

pub(crate) use budgets::{entries, set_entry};
pub use columns::FileKind;
pub(crate) use survey::{survey, survey_head};

/// The highest number of errors that are kept. Further errors are only counted.
pub const MAX_ERRORS: usize = 200;

/// The result of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileReport {
    pub file: String,
    /// The kind of file. None if the header is unknown.
    pub kind: Option<FileKind>,
    pub rows_read: u64,
    /// The number of stored rows. 0 if the file has errors.
    pub rows_stored: u64,
    /// The number of stored rows that replaced a row with the same key.
    pub rows_replaced: u64,
    /// The columns of the file that are not used.
    pub ignored_columns: Vec<String>,
    /// Whether the file was read with the mapping that a person made for an earlier file with the
    /// same columns.
    pub is_remembered: bool,
    /// Whether bytes that are no characters of the file's encoding were replaced.
    pub is_malformed: bool,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    pub files: Vec<FileReport>,
    pub rows_read: u64,
    pub rows_stored: u64,
    pub rows_replaced: u64,
    /// The first errors, at most `MAX_ERRORS`; `error_count` is the total.
    pub errors: Vec<ImportError>,
    pub error_count: u64,
    pub cancelled: bool,
    /// Whether this import replaced the sample as the active data set.
    pub sample_replaced: bool,
}

impl ImportReport {
    /// Returns notes for the user about the result.
    pub fn notes(&self) -> Vec<ImportNote> {
        let without_delivery =
            self.files.iter().all(|f| f.kind != Some(FileKind::Delivery) || f.rows_stored == 0);
        let budgets_only = !self.sample_replaced && self.rows_stored > 0 && without_delivery;
        let is_remembered = self.files.iter().any(|f| f.is_remembered && f.rows_stored > 0);
        let is_malformed = self.files.iter().any(|f| f.is_malformed);
        let all = [
            (is_malformed, ImportNote::CharactersReplaced),
            (is_remembered, ImportNote::LayoutRemembered),
            (self.sample_replaced, ImportNote::SampleReplaced),
            (budgets_only, ImportNote::BudgetsOnly),
        ];
        all.into_iter().filter_map(|(holds, note)| holds.then_some(note)).collect()
    }
}

/// The errors of an import so far.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    list: Vec<ImportError>,
    total: u64,
}

impl Errors {
    pub(crate) fn add(&mut self, file: &str, line: u64, column: &str, problem: ImportProblem) {
        self.total += 1;
        if self.list.len() < MAX_ERRORS {
            self.list.push(ImportError {
                file: file.to_owned(),
                line,
                column: column.to_owned(),
                problem,
            });
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }
}

/// Why a file was not read to its end.
pub(crate) enum Stop {
    Cancelled,
    Failed(AgentError),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(database_error(&error))
    }
}

/// The progress, cancel flag and errors of a running import.
pub(crate) struct Job<'a> {
    pub(crate) progress: ImportProgress,
    pub(crate) errors: Errors,
    pub(crate) on_progress: &'a mut dyn FnMut(&ImportProgress),
    pub(crate) options: &'a ImportOptions,
    pub(crate) memory: &'a Memory,
    /// The columns of the files with stored rows, and the decisions about them.
    pub(crate) read: Vec<(String, Decisions)>,
    /// The number of errors of earlier files.
    errors_before_file: u64,
    cancel: &'a AtomicBool,
}

impl Job<'_> {
    /// Whether no line of the current file was rejected so far.
    pub(crate) fn file_is_clean(&self) -> bool {
        self.errors.total() == self.errors_before_file
    }

    /// Reports the progress. Fails if the import was cancelled.
    pub(crate) fn report_progress(&mut self) -> Result<(), Stop> {
        self.progress.error_count = self.errors.total();
        (self.on_progress)(&self.progress);
        if self.cancel.load(Ordering::Relaxed) { Err(Stop::Cancelled) } else { Ok(()) }
    }
}

/// Imports the files into the database.
pub(crate) fn import(
    db: &mut Connection,
    paths: &[PathBuf],
    options: &ImportOptions,
    memory: &Memory,
    on_progress: &mut dyn FnMut(&ImportProgress),
    cancel: &AtomicBool,
) -> Result<ImportReport, AgentError> {
    let total_bytes = paths.iter().filter_map(|p| fs::metadata(p).ok()).map(|m| m.len()).sum();
    let progress = ImportProgress { total_bytes, ..ImportProgress::default() };
    let mut job = Job {
        progress,
        errors: Errors::default(),
        on_progress,
        options,
        memory,
        read: Vec::new(),
        errors_before_file: 0,
        cancel,
    };
    let was = db::active(db)?;
    let mut transaction = db
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|e| database_error(&e))?;
    let mut files = Vec::new();
    for path in paths {
        match one_file(&mut transaction, path, &mut job) {
            Ok(report) => files.push(report),
            Err(Stop::Cancelled) => return Ok(cancelled(job)),
            Err(Stop::Failed(error)) => return Err(error),
        }
    }
    let sample_replaced = was == Dataset::Sample && db::has_imported_rows(&transaction)?;
    if sample_replaced {
        db::set_active(&transaction, Dataset::Imported)?;
    }
    // The last opportunity to cancel.
    if job.report_progress().is_err() {
        return Ok(cancelled(job));
    }
    transaction.commit().map_err(|e| database_error(&e))?;
    for (columns, decisions) in &job.read {
        // The rows are already stored. If this fails, a person only has to map the next file again.
        let _ = memory.remember(columns, decisions);
    }
    Ok(report(job, files, sample_replaced))
}

fn one_file(
    transaction: &mut rusqlite::Transaction<'_>,
    path: &Path,
    job: &mut Job<'_>,
) -> Result<FileReport, Stop> {
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
    let size = fs::metadata(path).map(|m| m.len()).unwrap_or(0);
    let (before_bytes, before_rows, before_errors) =
        (job.progress.done_bytes, job.progress.rows_stored, job.errors.total());
    let read_before = job.read.len();
    job.errors_before_file = before_errors;
    job.progress.file.clone_from(&name);
    job.report_progress()?;
    let mut savepoint = transaction.savepoint()?;
    let mut report = file::read(&savepoint, path, &name, job)?;
    if job.errors.total() > before_errors && !job.options.skip_rejected {
        savepoint.rollback()?;
        job.read.truncate(read_before);
        (report.rows_stored, report.rows_replaced) = (0, 0);
        job.progress.rows_stored = before_rows;
    }
    savepoint.commit()?;
    job.progress.done_bytes = before_bytes + size;
    job.report_progress()?;
    Ok(report)
}

fn cancelled(job: Job<'_>) -> ImportReport {
    ImportReport {
        rows_read: job.progress.rows_read,
        errors: job.errors.list,
        error_count: job.errors.total,
        cancelled: true,
        ..ImportReport::default()
    }
}

fn report(job: Job<'_>, files: Vec<FileReport>, sample_replaced: bool) -> ImportReport {
    let sum = |of: fn(&FileReport) -> u64| files.iter().map(of).sum::<u64>();
    ImportReport {
        rows_read: sum(|f| f.rows_read),
        rows_stored: sum(|f| f.rows_stored),
        rows_replaced: sum(|f| f.rows_replaced),
        errors: job.errors.list,
        error_count: job.errors.total,
        sample_replaced,
        files,
        ..ImportReport::default()
    }
}
