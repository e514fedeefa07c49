//! Types for sources: the tables that a person connected, and the parameters, results and questions
//! of imports. The module `definitions` describes the meaning of columns, and the module
//! `metric_query` describes queries for figures.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{SourceName, Text};

mod asking;
mod decisions;
mod job;
mod profile;
mod proof;
mod report;

pub use asking::{
    AskDescribe, AskExport, AskLimits, AskMeasure, AskQuery, AskRows, AskedPlace, AskedSource,
    Described, Exported, ExportedDays, Password, RowOrder,
};
pub use decisions::{ColumnChoice, DateOrder, ImportDecisions, ImportMode, NumberSign};
pub use job::{
    Exclusion, IMPORT_MEMORY, ImportEvent, ImportJob, ImportLimits, JOB_FILE, PART_FILE,
    PROCESS_MEMORY, PartRef, StoredColumn, TEXT_BYTES,
};
pub use profile::{
    AskProfile, ColumnProfile, ProfileBasis, SourceProfile, TextLengths, ValueCount, ValueRange,
};
pub use proof::{
    AskProve, AskVerify, DATABASE_ROWS, Proved, RESULT_BYTES, RESULT_ROWS, Verified, VerifiedPart,
};
pub use report::{
    ColumnKind, ColumnSum, ColumnUse, DaySpan, FILE_QUESTIONS, FileFormat, FileTotal, FoundColumn,
    ImportQuestion, LeftOut, QuestionChoice, RejectedRows, SheetFound, TableReport, TotalCheck,
};

/// A table that a person connected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SourceView {
    /// The name, which is also the name of the table in a query.
    pub name: SourceName,
    /// The kind of place that contains the rows.
    pub kind: SourceKind,
    /// The path or pattern of the files that a refresh reads. None if no file can be read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub place: Option<String>,
    /// The number of rows. None for a database whose rows were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rows: Option<u64>,
    /// The columns, in the order of the file or table.
    pub columns: Vec<FoundColumn>,
    /// The days of the time column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub days: Option<DaySpan>,
    /// The hash of the present data, which is the hash of the snapshot's manifest. None for a
    /// database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
    /// The imports that made the present data, newest first. Undone imports are not listed.
    pub imports: Vec<ImportEntry>,
    /// The number of definitions that a person approved, or that need no approval.
    pub approved: u32,
    /// The number of definitions that wait for an approval.
    pub proposed: u32,
    /// The state of the source.
    #[serde(default)]
    pub status: SourceStatus,
    /// The bytes of all its stored rows, including those of former imports. None for a database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub bytes: Option<u64>,
    /// The days until the values of all its measures are settled. None if they are final at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub settles_after: Option<u32>,
    /// The sources that its rows are computed from: the delivery, then the plan. Empty: it has rows of
    /// its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<SourceName>>")]
    pub computed_from: Vec<SourceName>,
    /// Whether the rows are fictional: a sample that ships with the app.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub is_sample: bool,
    /// Notes for people about the source, such as "network not restricted".
    pub notes: Vec<Text>,
}

/// The state of a source. If several apply, it is the first of this list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum SourceStatus {
    /// A file with its rows or its description is damaged or missing.
    Damaged,
    /// An import into the source runs.
    Importing,
    /// The database could not be reached by the last question, or refused the sign-in.
    Unreachable,
    /// The source has no rows, because its imports were taken back.
    Empty,
    /// Definitions wait for an approval.
    ToApprove,
    /// The source answers questions.
    #[default]
    Ready,
}

/// The kind of place that contains the rows of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum SourceKind {
    /// The rows are in snapshots of imported files.
    Files,
    /// The rows are in a database, which is queried for each figure.
    Database {
        /// The address without a password.
        address: String,
        /// The name of the driver, such as `postgresql`.
        driver: String,
        /// The table or view.
        table: String,
    },
}

/// One import of a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportEntry {
    /// The identifier of the import, which is also the identifier of the data state after the
    /// import.
    pub id: String,
    /// The time of the import.
    pub at: DateTime<Utc>,
    /// The kind of caller that started the import, by name.
    pub by: String,
    /// The report about the file.
    pub report: TableReport,
    /// The decisions by which the file was read.
    pub decisions: ImportDecisions,
    /// The changes that the import made.
    pub change: ImportChange,
}

/// The set of rows that an import covers. The next import of the same scope replaces these rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportScope {
    /// The values that limit the scope, such as the accounts, by column. Each list contains the
    /// values of that column in the file.
    pub values: BTreeMap<String, Vec<String>>,
    /// The range of days that the file states, or else the range of the days in its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub days: Option<DayRange>,
    /// Whether the file states the range. If not, days without rows may be missing at the start and
    /// the end of the range.
    pub is_range_stated: bool,
}

/// A range of days, including the first and the last day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
pub struct DayRange {
    /// The first day.
    pub first: NaiveDate,
    /// The last day.
    pub last: NaiveDate,
}

/// The difference between the former state of a source and its state after an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportChange {
    /// Whether the file's content was already stored. In this case, the import changes no rows.
    pub is_same_content: bool,
    /// How the rows were put into the source.
    pub mode: ImportMode,
    /// The rows that the import covers.
    pub scope: ImportScope,
    /// The number of rows whose key no former row has.
    pub new_rows: u64,
    /// The number of rows that differ from the former row with the same key.
    pub changed_rows: u64,
    /// The number of former rows of the scope that are not in the file.
    pub vanished_rows: u64,
    /// The days of former rows of the scope that are not in the file and stay, because the import
    /// replaced only rows with the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kept_days: Option<DayRange>,
    /// The sums of each measure in the scope, before and after.
    pub sums: Vec<SumChange>,
}

/// The sum of a measure before and after an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SumChange {
    /// The column.
    pub column: String,
    /// The currency of the amounts. None for other numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub currency: Option<String>,
    /// The exact sum before, as decimal digits.
    pub before: String,
    /// The exact sum after.
    pub after: String,
    /// The part of `before` in rows that vanished.
    pub vanished: String,
}

/// The result of an import, or of a survey, which stores nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportResult {
    /// The source that the file belongs to. The source is new if `is_new_source` is true.
    pub source: SourceName,
    /// Whether the source did not exist before.
    pub is_new_source: bool,
    /// The report about the file.
    pub report: TableReport,
    /// The decisions by which the file was read, including remembered decisions.
    pub decisions: ImportDecisions,
    /// The changes that an import makes. None if the file cannot be read without a further
    /// decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub change: Option<ImportChange>,
    /// The questions that a person must answer first. If there is a question, no rows were stored.
    pub questions: Vec<ImportQuestion>,
    /// Whether the rows were stored.
    pub is_stored: bool,
}

/// A file or database to read, for a survey or an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SourceAddParams {
    /// The path of a file, a pattern such as `exports/*.csv`, or the address of a database.
    pub place: String,
    /// The source. Absent: the source whose columns fit, or else a new source named after the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<SourceName>,
    /// The decisions of the person.
    #[serde(default)]
    pub decisions: ImportDecisions,
    /// Whether the caller has no person who could answer a question. In this case, the import needs
    /// a permission for the file's folder.
    #[serde(default)]
    pub unattended: bool,
    /// Whether the remembered decisions of the source are ignored for this file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub forget_remembered: bool,
}

/// Names a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SourceParams {
    /// The name of the source.
    pub name: SourceName,
}

/// All sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SourcesResponse {
    /// The sources, by name.
    pub sources: Vec<SourceView>,
    /// How much room the rows of all files take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub storage: Option<StorageUse>,
    /// Whether the file of an earlier version whose rows became sources is still there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub old_data: bool,
}

/// How much room rows take on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct StorageUse {
    /// The bytes of all stored rows.
    #[ts(type = "number")]
    pub bytes: u64,
    /// The most bytes. If they are exceeded, rows that are not in force are deleted.
    #[ts(type = "number")]
    pub limit_bytes: u64,
}

/// The job of a running import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SourceJob {
    /// The identifier for requests that read the progress or stop the import.
    pub job: String,
}

/// The progress of an import, and its result at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SourceJobView {
    /// The number of records read so far.
    pub records: u64,
    /// The number of bytes read so far.
    pub done_bytes: u64,
    /// The size of the file in bytes.
    pub total_bytes: u64,
    /// The results, one for each file, at the end.
    pub results: Option<Vec<ImportResult>>,
    /// The error of a failed import. A failed import stores no rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub failure: Option<crate::AgentError>,
    /// Whether the import was stopped. A stopped import stores no rows.
    pub is_stopped: bool,
    /// Notes for people about files that were not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Text>>")]
    pub notes: Vec<Text>,
}
