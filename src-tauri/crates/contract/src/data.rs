//! Data of packs on the wire: imports with the errors of each line, and the data sets. An error is
//! a code with values, so that every client words it in its own language.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentError, PackId, manifest::ImportTarget};

/// The state of an import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportView {
    /// The identifier of the import, by which it is stopped.
    pub job: String,
    /// The name of the file that is read now.
    pub file: String,
    /// Bytes read so far, over all files.
    pub done_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
    /// Data rows read so far.
    pub rows_read: u64,
    /// Rows that were stored.
    pub rows_stored: u64,
    /// Stored rows that replaced an earlier one.
    pub rows_replaced: u64,
    /// Whether the import has ended, in whatever way.
    pub finished: bool,
    /// Whether it was stopped. Then nothing was stored.
    pub stopped: bool,
    /// At most 200; `error_count` is their total. If a file has an error, nothing is stored.
    pub errors: Vec<ImportError>,
    /// The number of all errors, including those not listed.
    pub error_count: u64,
    /// Further information about the result.
    pub notes: Vec<ImportNote>,
    /// Why it failed, if the reason does not lie in the files. Then nothing was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<AgentError>,
}

/// The progress of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportProgress {
    /// The name of the file that is read now.
    pub file: String,
    /// Bytes read so far, over all files.
    pub done_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
    /// Data rows read so far.
    pub rows_read: u64,
    /// Rows stored so far.
    pub rows_stored: u64,
    /// The number of errors found so far.
    pub error_count: u64,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOutcome {
    /// Data rows that were read.
    pub rows_read: u64,
    /// Rows that were stored.
    pub rows_stored: u64,
    /// Stored rows that replaced an earlier one.
    pub rows_replaced: u64,
    /// Whether the import was stopped; then no row was stored.
    pub is_stopped: bool,
    /// The first errors, at most 200.
    pub errors: Vec<ImportError>,
    /// The number of all errors, including those not listed.
    pub error_count: u64,
    /// Further information about the result.
    pub notes: Vec<ImportNote>,
}

/// The decisions of a person about files whose layout is not recognised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct ImportOptions {
    /// The heading of the column of each field, such as `spend` and `How much`. `#2` is the second
    /// column, and an empty heading leaves the field out.
    pub columns: BTreeMap<String, String>,
    /// The values of fields that have no column, such as `account`. An empty value is none.
    pub constants: BTreeMap<String, String>,
    /// The order of day, month and year in dates such as 1/11/2026 and 26-11-01. Absent: the file
    /// has to show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub date_order: Option<DateOrder>,
    /// Whether the rest of a file counts if some of its lines are rejected.
    pub skip_rejected: bool,
}

/// The order of day, month and year where a date does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// 1/11/2026 is the first of November.
    DayFirst,
    /// 1/11/2026 is the eleventh of January.
    MonthFirst,
    /// 26-11-01 is the first of November 2026.
    YearFirst,
}

/// One error of an import and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportError {
    /// The name of the file that contains the error.
    pub file: String,
    /// 0 if it concerns the whole file.
    pub line: u64,
    /// Empty if it concerns the whole line.
    pub column: String,
    /// The kind of error.
    pub problem: ImportProblem,
}

/// The possible errors of a file, a line or a cell. `text` is the content of the cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ImportProblem {
    /// The file does not exist.
    Missing,
    /// The app has no permission to read the file.
    Forbidden,
    /// The path is a folder.
    IsFolder,
    /// The path leads to a pipe, a socket or a device.
    NotAFile,
    /// The file is too large.
    FileTooLarge {
        /// The most MiB of a file.
        most: u32,
    },
    /// A line of text is too long, mostly because quotes were not closed.
    LineTooLong {
        /// The line in which the text begins.
        start: u32,
        /// The most KiB of a line.
        most: u32,
    },
    /// The table has too many columns.
    TooManyColumns {
        /// The most columns.
        most: u32,
    },
    /// A cell of a workbook is too long.
    CellTooLong {
        /// The most KiB of a cell.
        most: u32,
    },
    /// A sheet of a workbook has too many cells, too much text, or cells too far apart.
    SheetTooLarge {
        /// The most cells of a sheet.
        most: u32,
    },
    /// A workbook has too many sheets.
    TooManySheets {
        /// The most sheets.
        most: u32,
    },
    /// A workbook unpacks to too much.
    UnpacksTooLarge {
        /// The most MiB of an unpacked workbook.
        most: u32,
    },
    /// The file cannot be opened or read.
    Unreadable {
        /// The operating system's message.
        reason: String,
    },
    /// Reading failed in the middle of the file.
    BrokenOff {
        /// The operating system's message.
        reason: String,
    },
    /// The file has no content.
    EmptyFile,
    /// The file is a workbook that cannot be opened, such as a protected one.
    Spreadsheet,
    /// The file has no header line.
    NoHeader,
    /// Lists the columns of the file, and those that each kind of file has.
    UnknownHeader {
        /// The columns of this file.
        found: String,
        /// The columns of a file with delivery rows.
        delivery: String,
        /// The columns of a file with campaigns.
        campaigns: String,
    },
    /// The mapping names a column that the file does not have.
    NoSuchColumn {
        /// The columns of this file.
        found: String,
    },
    /// The mapping names a field that does not exist.
    NoSuchField {
        /// The fields that exist.
        known: String,
    },
    /// The dates of the file can be read with the day or with the month first.
    DayAmbiguous {
        /// One of the dates.
        text: String,
    },
    /// The header line lacks a mandatory column.
    ColumnMissing,
    /// The header line names a column twice.
    ColumnTwice,
    /// The file has a header line but no data rows.
    NoRows,
    /// A line has another number of cells than the header line.
    CellCount {
        /// The number of cells in the line.
        found: u32,
        /// The number of columns in the header line.
        expected: u32,
    },
    /// A mandatory cell is empty.
    Empty,
    /// The cell is longer than allowed.
    TooLong {
        /// The most characters that the cell may have.
        limit: u32,
    },
    /// The cell is not a calendar day.
    NotADay {
        /// The content of the cell.
        text: String,
    },
    /// The cell is not an IANA time zone.
    NotAZone {
        /// The content of the cell.
        text: String,
    },
    /// The cell is not a currency code.
    NotACurrency {
        /// The content of the cell.
        text: String,
    },
    /// The cell is not an hour of the day.
    NotAnHour {
        /// The content of the cell.
        text: String,
    },
    /// The cell has no amount of money.
    AmountEmpty,
    /// The number is negative.
    BelowZero {
        /// The content of the cell.
        text: String,
    },
    /// The number is larger than can be stored.
    TooLarge {
        /// The content of the cell.
        text: String,
    },
    /// The cell is not a number.
    NotANumber {
        /// The content of the cell.
        text: String,
    },
    /// The cell's text could mean two numbers: `1,234` could be a little more than one, or more
    /// than a thousand.
    Ambiguous {
        /// The content of the cell.
        text: String,
    },
    /// The cell is not a whole number.
    NotACount {
        /// The content of the cell.
        text: String,
    },
    /// The flight ends before it begins.
    FlightReversed,
    /// The flight has only one of its two days.
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
    /// A file was read as a person had mapped an earlier file with the same columns.
    LayoutRemembered,
    /// Bytes that are no characters of a file's encoding were replaced.
    CharactersReplaced,
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
    /// The number of stored rows.
    pub rows: u64,
    /// The number of accounts in these rows.
    pub accounts: u32,
    /// The earliest day with data; absent without rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_day: Option<NaiveDate>,
    /// The latest day with data; absent without rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_day: Option<NaiveDate>,
}

/// Both data sets of a pack, and the active one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datasets {
    /// The data set from which the pack answers now.
    pub active: Dataset,
    /// The contents of the sample.
    pub sample: DatasetView,
    /// The contents of the imported data.
    pub imported: DatasetView,
}

/// The data sets of one pack, and the active one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PackDatasets {
    /// The pack that owns the data.
    pub pack: PackId,
    /// The data set from which the pack answers now.
    pub active: Dataset,
    /// The contents of the sample.
    pub sample: DatasetView,
    /// The contents of the imported data.
    pub imported: DatasetView,
    /// The files that it takes, if its manifest says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub files: Option<ImportTarget>,
    /// Whether it maps the columns of a file to fields.
    #[serde(default)]
    pub maps_columns: bool,
}

/// The packs that have data from files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataListResponse {
    /// The packs with data, each with both of its data sets.
    pub packs: Vec<PackDatasets>,
}

/// Makes a data set the active one. The other is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataUseParams {
    /// The pack that owns the data.
    pub pack: PackId,
    /// The data set to answer from.
    pub dataset: Dataset,
}
