//! The messages between the host and an importer process. The host writes an `ImportJob` as
//! `job.json` into an empty staging folder, which is the importer's working folder. The file comes
//! on standard input. The importer writes one `ImportEvent` per line on standard output, and the
//! rows as `part.parquet` into the staging folder. The importer does not know the source: the host
//! compares the part with the source by queries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ColumnKind, ImportDecisions, ImportScope, TableReport};
use crate::AgentError;

/// The name of the job's file in the staging folder.
pub const JOB_FILE: &str = "job.json";
/// The name of the part in the staging folder.
pub const PART_FILE: &str = "part.parquet";

/// The job of an importer process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportJob {
    /// The name of the file, without its folder.
    pub name: String,
    /// The decisions about the file. If a question is unanswered, no part is written.
    pub decisions: ImportDecisions,
    /// Whether the importer makes only the report, and writes no part.
    pub report_only: bool,
    /// The limits of the process.
    pub limits: ImportLimits,
}

/// The memory of a data process in bytes beside that of the database library: the program, results
/// and rows on their way.
pub const PROCESS_MEMORY: u64 = 768 << 20;
/// The memory of an importer in bytes, for readers that hold a file, beside `PROCESS_MEMORY`.
pub const IMPORT_MEMORY: u64 = 1 << 30;

/// The maximum size of a text or a workbook in bytes, and of the content of a packed file. It is
/// read in several passes, so that it may be smaller than a file of another format.
pub const TEXT_BYTES: u64 = 4 << 30;

/// The limits of an importer process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportLimits {
    /// The maximum size of the file in bytes. `TEXT_BYTES` also limits texts and workbooks.
    pub input_bytes: u64,
    /// The maximum size of the decompressed file in bytes.
    pub content_bytes: u64,
    /// The maximum number of records.
    pub records: u64,
    /// The maximum memory of the database library in bytes.
    pub memory_bytes: u64,
    /// The maximum number of threads of the database library.
    pub threads: u32,
}

impl Default for ImportLimits {
    fn default() -> Self {
        Self {
            input_bytes: 8 << 30,
            content_bytes: 64 << 30,
            records: 500_000_000,
            memory_bytes: 256 << 20,
            threads: 2,
        }
    }
}

/// One line of an importer's standard output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ImportEvent {
    /// The progress of the importer.
    Progress {
        /// The number of records read.
        records: u64,
        /// The number of bytes read.
        done_bytes: u64,
        /// The size of the file in bytes. Zero if the size is not known yet.
        total_bytes: u64,
    },
    /// The result of a job that could read the file.
    Result {
        /// The content of the file.
        report: Box<TableReport>,
        /// The rows. None if there are questions or rejected records that a person did not accept,
        /// or if only the report was requested.
        part: Option<PartRef>,
    },
    /// The error of a job that could not read the file.
    Failure {
        /// The error, with its remedy.
        error: AgentError,
    },
}

/// A column of a stored part or of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct StoredColumn {
    /// The name.
    pub name: String,
    /// The type.
    pub kind: ColumnKind,
    /// The decimal places of `ColumnKind::Decimal`.
    #[serde(default)]
    pub scale: u8,
    /// The value, if all rows have the same value. Set for columns of a source only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub constant: Option<String>,
}

/// One immutable part of a source's rows, with the exclusions by later imports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PartRef {
    /// The name of the Parquet file in the folder of parts.
    pub file: String,
    /// The number of rows in the file.
    pub rows: u64,
    /// The SHA-256 hash of the file, in hexadecimal digits.
    pub hash: String,
    /// The columns in the file.
    pub columns: Vec<StoredColumn>,
    /// The rows of the file that later imports replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Exclusion>,
}

/// Rows of a part that a later import replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "rows", rename_all = "snake_case")]
pub enum Exclusion {
    /// Rows within the scope of a later import.
    Scope {
        /// The scope. A row is within it if each column of `values` has one of the values (or is
        /// empty and an empty text is among the values), and its day is in `days`. A row without a
        /// day is in no `days`.
        scope: ImportScope,
        /// The time column that `scope.days` refers to. None if the scope has no days.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        time: Option<String>,
    },
    /// Rows whose key is also in a later part.
    Keys {
        /// The file of the later part.
        of: String,
        /// The columns of the key. Two empty cells are equal.
        columns: Vec<String>,
    },
}
