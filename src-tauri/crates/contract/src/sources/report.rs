//! The report about one file: the stored, left out and rejected records with their lines. The
//! equation `records = stored + left_out + rejected` is always valid.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::DayRange;
use crate::{
    Text,
    definitions::Covers,
    sources::{DateOrder, NumberSign},
};

/// The format of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// Text with separators: CSV, TSV, semicolons.
    #[default]
    Text,
    /// XLSX, XLS or ODS.
    Workbook,
    /// Parquet.
    Parquet,
    /// One JSON object per line.
    JsonLines,
    /// An SQLite database.
    Sqlite,
}

/// The report of an import about a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct TableReport {
    /// The name of the file, without its folder.
    pub file: String,
    /// The SHA-256 hash of the content, in hexadecimal digits.
    pub hash: String,
    /// The size of the content in bytes.
    pub bytes: u64,
    /// The format.
    pub format: FileFormat,
    /// The compression that was removed, such as `gzip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub compression: Option<String>,
    /// The encoding of text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub encoding: Option<String>,
    /// The separator between cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub separator: Option<String>,
    /// The decimal sign, if numbers show it or a person decided it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub decimal: Option<NumberSign>,
    /// The order of day, month and year, if dates need one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub date_order: Option<DateOrder>,
    /// The sheets of a workbook, or the tables of an SQLite database.
    pub sheets: Vec<SheetFound>,
    /// The line with the headings.
    pub header_line: u64,
    /// The columns.
    pub columns: Vec<FoundColumn>,
    /// The number of records below the headings. Each record is stored, left out or rejected. Lines
    /// above the headings are left out by the rule `title` and are not counted here.
    pub records: u64,
    /// The number of stored records.
    pub stored: u64,
    /// The lines that are left out, by rule.
    pub left_out: Vec<LeftOut>,
    /// The records that cannot be read, by cause.
    pub rejected: Vec<RejectedRows>,
    /// The comparison with the file's own total line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub file_total: Option<FileTotal>,
    /// The range of days that the file states, such as in a title line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stated_range: Option<DayRange>,
    /// The account that the file states outside of its rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stated_account: Option<String>,
    /// The days of the time column.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub days: Option<DaySpan>,
    /// The days that each row covers, if a person decided to keep rows of more than a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub row_covers: Option<Covers>,
    /// The ranges between the first and the last day that have no row, at most 50.
    pub gaps: Vec<DayRange>,
    /// The exact sums of the columns that add up, by currency.
    pub sums: Vec<ColumnSum>,
    /// The questions that a person must answer before rows can be stored.
    pub questions: Vec<ImportQuestion>,
    /// Notes for people about assumptions and findings, one line each.
    pub notes: Vec<Text>,
}

/// A sheet of a workbook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SheetFound {
    /// The name.
    pub name: String,
    /// The number of rows with text.
    pub rows: u64,
    /// Whether the workbook hides the sheet.
    pub is_hidden: bool,
    /// Whether the rows of the sheet are read.
    pub is_read: bool,
}

/// The type of a column, decided over all of its cells.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Text, identifiers included.
    #[default]
    Text,
    /// Whole numbers.
    Whole,
    /// Decimal numbers with `FoundColumn::scale` decimal places.
    Decimal,
    /// Days.
    Day,
    /// Points in time without a zone, in the zone of the source.
    Moment,
    /// Yes or no.
    Flag,
}

/// The use of a column.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum ColumnUse {
    /// A label by which rows are grouped.
    #[default]
    Dimension,
    /// The key of a dimension: numbers and codes that do not add up.
    Id,
    /// A number that adds up.
    Sum,
    /// A ratio or an average, which does not add up. It is computed from sums where possible.
    Ratio,
    /// A number whose last value is used, such as a budget or a stock.
    Last,
    /// The day or moment of a row.
    Time,
    /// The currency of the amounts in a row.
    Currency,
    /// The account of a row.
    Account,
    /// A stored column that figures do not use.
    Other,
}

/// A column of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct FoundColumn {
    /// The name in the table: the heading, made unique. Never empty.
    pub name: String,
    /// The heading as the file writes it.
    pub heading: String,
    /// Some of the first values, as the file writes them.
    pub samples: Vec<String>,
    /// The type.
    pub kind: ColumnKind,
    /// The decimal places of `ColumnKind::Decimal`.
    pub scale: u8,
    /// The use.
    #[serde(rename = "use")]
    pub usage: ColumnUse,
    /// The unit: a currency code, `percent` (0.25 is 25 %), or a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unit: Option<String>,
    /// The column that has the currency of these amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub currency_column: Option<String>,
    /// The value, if all cells have the same value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub constant: Option<String>,
    /// The number of empty cells.
    pub empty: u64,
    /// Whether a person or a decision set the value for all rows, because the file has no such
    /// column.
    pub is_added: bool,
}

/// Lines that are not rows.
// The type has another name in TypeScript, where `LeftOut` is a type of `run`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(rename = "LeftOutLines")]
pub struct LeftOut {
    /// The rule: `title`, `total`, `subtotal`, `empty`, `repeated_header`, `note` and others.
    pub rule: String,
    /// The rule in words.
    pub reason: Text,
    /// The first 20 lines.
    pub lines: Vec<u64>,
    /// The number of lines.
    pub count: u64,
    /// The first of these lines, as in the file.
    pub sample: String,
}

/// Records that cannot be read for the same cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RejectedRows {
    /// The name of the cause, such as `not_a_number`.
    pub cause: String,
    /// The cause in words, with the remedy.
    pub reason: Text,
    /// The column. Empty if the cause concerns the whole line.
    pub column: String,
    /// The first 20 lines.
    pub lines: Vec<u64>,
    /// The number of records.
    pub count: u64,
    /// The first such cell, or the first such line if the cause concerns the whole line.
    pub sample: String,
}

/// The file's own total line, compared with its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct FileTotal {
    /// The line.
    pub line: u64,
    /// The columns for which the total line has a number.
    pub columns: Vec<TotalCheck>,
}

/// One number of a total line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TotalCheck {
    /// The column.
    pub column: String,
    /// The number of the total line.
    pub stated: String,
    /// The sum of the rows.
    pub computed: String,
    /// Whether both numbers are equal within the rounding of the total line.
    pub agrees: bool,
}

/// The days that occur in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DaySpan {
    /// The first day.
    pub first: NaiveDate,
    /// The last day.
    pub last: NaiveDate,
    /// The number of different days.
    pub days: u64,
}

/// The sum of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ColumnSum {
    /// The column.
    pub column: String,
    /// The currency of the amounts. None for other numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub currency: Option<String>,
    /// The exact sum, as decimal digits.
    pub sum: String,
}

/// The identifiers of the questions about a file alone. Questions about stored rows are the host's.
pub const FILE_QUESTIONS: [&str; 18] = [
    "account",
    "blank_days",
    "blank_labels",
    "currency",
    "currency_heading",
    "currency_sign",
    "date_order",
    "decimal",
    "duplicate_rows",
    "file_total",
    "header_line",
    "hidden_rows",
    "period_rows",
    "shared_sign",
    "sheets",
    "split_numbers",
    "total_rows",
    "unnamed_rows",
];

/// A decision that only a person can take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ImportQuestion {
    /// The identifier, such as `date_order`. The answer goes to `ImportDecisions::answers`.
    pub id: String,
    /// The question, with the findings that lead to it.
    pub text: Text,
    /// The possible answers. Empty: the answer is a text that the person enters.
    pub choices: Vec<QuestionChoice>,
    /// The command line option that answers the question, such as `--dates day-first`.
    pub option: String,
}

/// A possible answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QuestionChoice {
    /// The answer.
    pub value: String,
    /// The answer in words.
    pub label: Text,
}
