//! Data of packs on the wire: imports with the errors of each line, and the data sets. An error is
//! a code with values, so that every client words it in its own language.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentError, PackId, manifest::ImportTarget};

/// The state of an import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportView {
    pub job: String,
    pub file: String,
    pub done_bytes: u64,
    pub total_bytes: u64,
    pub rows_read: u64,
    pub rows_stored: u64,
    /// Stored rows that replaced an earlier one.
    pub rows_replaced: u64,
    pub finished: bool,
    /// Whether it was stopped. Then nothing was stored.
    pub stopped: bool,
    /// At most 200; `error_count` is their total. If a file has an error, nothing is stored.
    pub errors: Vec<ImportError>,
    pub error_count: u64,
    pub notes: Vec<ImportNote>,
    /// Why it failed, if the reason does not lie in the files. Then nothing was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<AgentError>,
}

/// The progress of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportProgress {
    pub file: String,
    pub done_bytes: u64,
    pub total_bytes: u64,
    pub rows_read: u64,
    pub rows_stored: u64,
    pub error_count: u64,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOutcome {
    pub rows_read: u64,
    pub rows_stored: u64,
    pub rows_replaced: u64,
    pub is_stopped: bool,
    pub errors: Vec<ImportError>,
    pub error_count: u64,
    pub notes: Vec<ImportNote>,
}

/// One error of an import and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportError {
    pub file: String,
    /// 0 if it concerns the whole file.
    pub line: u64,
    /// Empty if it concerns the whole line.
    pub column: String,
    pub problem: ImportProblem,
}

/// The possible errors of a file, a line or a cell. `text` is the content of the cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ImportProblem {
    Missing,
    Forbidden,
    IsFolder,
    Unreadable {
        reason: String,
    },
    BrokenOff {
        reason: String,
    },
    EmptyFile,
    Utf16,
    Spreadsheet,
    NoHeader,
    /// Lists the columns that each kind of file has.
    UnknownHeader {
        delivery: String,
        campaigns: String,
    },
    ColumnMissing,
    ColumnTwice,
    NoRows,
    CellCount {
        found: u32,
        expected: u32,
    },
    Empty,
    NotUtf8,
    TooLong {
        limit: u32,
    },
    NotADay {
        text: String,
    },
    NotAZone {
        text: String,
    },
    NotACurrency {
        text: String,
    },
    NotAnHour {
        text: String,
    },
    AmountEmpty,
    BelowZero {
        text: String,
    },
    TooLarge {
        text: String,
    },
    NotANumber {
        text: String,
    },
    /// The cell's text could mean two numbers: `1,234` could be a little more than one, or more
    /// than a thousand.
    Ambiguous {
        text: String,
    },
    NotACount {
        text: String,
    },
    FlightReversed,
    FlightHalf,
}

/// Further information about the result of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ImportNote {
    /// From now on, the imported rows are used instead of the sample.
    SampleReplaced,
    /// Budgets and flights were stored, but there were no delivery rows.
    BudgetsOnly,
}

/// A data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Dataset {
    /// The fictional sample that ships with the pack.
    Sample,
    /// The user's imported data.
    Imported,
}

/// The contents of a data set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DatasetView {
    pub rows: u64,
    pub accounts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_day: Option<NaiveDate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_day: Option<NaiveDate>,
}

/// Both data sets of a pack, and the active one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datasets {
    pub active: Dataset,
    pub sample: DatasetView,
    pub imported: DatasetView,
}

/// The data sets of one pack, and the active one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PackDatasets {
    pub pack: PackId,
    pub active: Dataset,
    pub sample: DatasetView,
    pub imported: DatasetView,
    /// The files that it takes, if its manifest says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub files: Option<ImportTarget>,
}

/// The packs that have data from files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataListResponse {
    pub packs: Vec<PackDatasets>,
}

/// Makes a data set the active one. The other is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataUseParams {
    pub pack: PackId,
    pub dataset: Dataset,
}
