//! The findings about a file before its import: columns with samples, formats, rejected lines by
//! cause and the first rows. The pack that takes the file defines the fields.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    PackId, Text,
    data::{DateOrder, ImportOptions, ImportProblem},
};

/// Requests a survey of how a file would be imported. The survey stores no data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataSurveyParams {
    /// The pack that takes the file.
    pub pack: PackId,
    /// The path of the file.
    pub path: String,
    /// The decisions of a person. If absent, the columns are recognised automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub options: Option<ImportOptions>,
}

/// Names the columns of files whose mapping is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataLayoutParams {
    /// The pack that takes the files.
    pub pack: PackId,
    /// The `shape` of a survey.
    pub shape: String,
}

/// The findings about a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct FileSurvey {
    /// Why the file cannot be read at all. If so, the other members are empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<ImportProblem>,
    /// The encoding. Absent for a workbook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub encoding: Option<TextEncoding>,
    /// The separator between cells. Absent for a workbook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub separator: Option<String>,
    /// The line that names the columns.
    pub header_line: u64,
    /// The number of lines with text above the header line, which are skipped.
    pub title_lines: u64,
    /// The name of the layout, if the columns match a known layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub layout: Option<String>,
    /// The columns of the file in order, as the key of a remembered mapping.
    pub shape: String,
    /// Whether the mapping of an earlier file with these columns is used.
    pub is_remembered: bool,
    /// Whether the columns are read by their names and cannot be mapped.
    pub is_fixed: bool,
    /// All columns, in their order.
    pub columns: Vec<SurveyedColumn>,
    /// The fields that the pack knows, in display order.
    pub fields: Vec<SurveyedField>,
    /// The required fields that have neither a column nor a constant.
    pub missing: Vec<String>,
    /// The format of the days. Absent if no column contains days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub dates: Option<SurveyedDates>,
    /// The decimal sign of the amounts. Absent if no column contains amounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub decimals: Option<DecimalSign>,
    /// The result of reading all lines. Absent while required fields are missing or the order of
    /// day and month is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub check: Option<FileCheck>,
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SurveyedColumn {
    /// The heading as written in the file.
    pub heading: String,
    /// Some of the first cells that are not empty.
    pub samples: Vec<String>,
    /// The field that is read from the column or suggested for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub field: Option<String>,
}

/// A field that a pack knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SurveyedField {
    /// The name in `ImportOptions`.
    pub name: String,
    /// The label shown to people.
    pub label: Text,
    /// Whether every row needs a value for the field.
    pub is_required: bool,
    /// Whether a person may enter a single value for all rows, if no column contains the field.
    pub takes_constant: bool,
    /// Another field whose presence makes this field unnecessary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub instead: Option<String>,
    /// The value of all rows, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub value: Option<String>,
}

/// The format of the days in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SurveyedDates {
    /// The order of day, month and year, if it matters and is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub order: Option<DateOrder>,
    /// Whether the file does not show if day or month comes first.
    pub is_ambiguous: bool,
    /// A day in the file, as an example.
    pub example: String,
}

/// The result of reading all lines of a file without storing them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct FileCheck {
    /// Lines that can be stored.
    pub accepted: u64,
    /// Lines that are rejected.
    pub rejected: u64,
    /// Lines with totals or notes, which are skipped.
    pub totals: u64,
    /// The rejected lines by cause, the most frequent cause first.
    pub causes: Vec<RejectedCause>,
    /// The first rows to be stored: a text for each field that has a value.
    pub rows: Vec<BTreeMap<String, String>>,
    /// The thousands separator of the amounts, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thousands: Option<String>,
    /// The currencies of the rows.
    pub currencies: Vec<String>,
}

/// Rejected lines with the same cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RejectedCause {
    /// The column, or an empty text if the cause applies to whole lines.
    pub column: String,
    /// The first problem with this cause.
    pub example: ImportProblem,
    /// The number of lines.
    pub count: u64,
    /// The first of these lines.
    pub lines: Vec<u64>,
}

/// The recognised encodings of text files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TextEncoding {
    /// UTF-8.
    Utf8,
    /// UTF-16 in either byte order.
    Utf16,
    /// Windows-1252, which includes Latin-1.
    Windows1252,
}

/// The decimal sign of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DecimalSign {
    /// `1.5`.
    Point,
    /// `1,5`.
    Comma,
}
