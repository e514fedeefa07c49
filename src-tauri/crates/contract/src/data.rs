//! Data of packs on the wire: imports with what is wrong in which line, and the set that answers.
//! What is wrong is a code with its values, so that every client words it in its own language.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentError, PackId};

/// An import as far as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportView {
    pub job: String,
    pub file: String,
    pub done_bytes: u64,
    pub total_bytes: u64,
    pub rows_read: u64,
    pub rows_stored: u64,
    /// Of the stored rows, those that took the place of an earlier one.
    pub rows_replaced: u64,
    pub finished: bool,
    /// It was stopped: nothing of it was kept.
    pub stopped: bool,
    /// At most 200; `error_count` tells them all. A file with any error stores nothing.
    pub errors: Vec<ImportError>,
    pub error_count: u64,
    pub notes: Vec<ImportNote>,
    /// It broke off for a reason that does not lie in the files; nothing of it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<AgentError>,
}

/// How far the reading of files is.
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

/// What is wrong where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportError {
    pub file: String,
    /// 0 when the file as a whole is meant.
    pub line: u64,
    /// Empty when the whole line is meant.
    pub column: String,
    pub problem: ImportProblem,
}

/// Everything that can be wrong with a file, a line or a cell. `text` is what the cell says.
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
    /// With the columns that each kind of file has.
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
    /// `1,234` could be a little more than one, or more than a thousand.
    Ambiguous {
        text: String,
    },
    NotACount {
        text: String,
    },
    FlightReversed,
    FlightHalf,
}

/// What else there is to say of an import's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ImportNote {
    /// From now on the imported rows answer instead of the sample.
    SampleReplaced,
    /// Budgets and flights are in place, but no delivery rows came with them.
    BudgetsOnly,
}

/// Which data is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Dataset {
    /// The fictional sample that ships with the pack.
    Sample,
    /// What the user imported.
    Imported,
}

/// What a set holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DatasetView {
    pub rows: u64,
    pub accounts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_day: Option<NaiveDate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_day: Option<NaiveDate>,
}

/// Both sets of a pack's data, and the one that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datasets {
    pub active: Dataset,
    pub sample: DatasetView,
    pub imported: DatasetView,
}

/// A pack's sets of data, and the one that answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PackDatasets {
    pub pack: PackId,
    pub active: Dataset,
    pub sample: DatasetView,
    pub imported: DatasetView,
}

/// The packs that have data from files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataListResponse {
    pub packs: Vec<PackDatasets>,
}

/// Puts a set in force; neither is deleted by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataUseParams {
    pub pack: PackId,
    pub dataset: Dataset,
}
