//! The findings about a file before it is imported, on the wire: columns with samples, formats,
//! rejected lines by cause and the first rows. The fields come from the pack that takes the file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    PackId, Text,
    data::{DateOrder, ImportOptions, ImportProblem},
};

/// Asks how a file would be imported. Stores nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataSurveyParams {
    /// The pack that takes the file.
    pub pack: PackId,
    /// The path of the file.
    pub path: String,
    /// The decisions of a person. Absent: recognise the columns.
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
    /// Why the file cannot be read at all. Then the other members are empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<ImportProblem>,
    /// The encoding. Absent for a workbook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub encoding: Option<TextEncoding>,
    /// The sign between cells. Absent for a workbook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub separator: Option<String>,
    /// The line that names the columns.
    pub header_line: u64,
    /// The number of lines with text above the header line, which are left out.
    pub title_lines: u64,
    /// The name of the layout, if the columns are those of a known one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub layout: Option<String>,
    /// The columns of the file in their order, by which a mapping is remembered.
    pub shape: String,
    /// Whether a mapping of an earlier file with these columns is used.
    pub is_remembered: bool,
    /// Whether the columns are read by their names and cannot be mapped.
    pub is_fixed: bool,
    /// All columns, in their order.
    pub columns: Vec<SurveyedColumn>,
    /// The fields that the pack knows, in the order in which a person reads them.
    pub fields: Vec<SurveyedField>,
    /// The required fields that have neither column nor constant.
    pub missing: Vec<String>,
    /// How the days are written. Absent if no column has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub dates: Option<SurveyedDates>,
    /// The decimal sign of the amounts. Absent if no column has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub decimals: Option<DecimalSign>,
    /// The result of reading all lines. Absent while required fields are missing or the order of
    /// the dates is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub check: Option<FileCheck>,
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SurveyedColumn {
    /// The heading as it is written.
    pub heading: String,
    /// Some of the first cells that are not empty.
    pub samples: Vec<String>,
    /// The field that is read from the column, or is suggested for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub field: Option<String>,
}

/// A field that a pack knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SurveyedField {
    /// The name in `ImportOptions`.
    pub name: String,
    /// The name for people.
    pub label: Text,
    /// Whether a row cannot do without it.
    pub is_required: bool,
    /// Whether a person may enter one value for all rows, if no column has it.
    pub takes_constant: bool,
    /// Another field that makes this one unnecessary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub instead: Option<String>,
    /// The value of all rows, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub value: Option<String>,
}

/// How the days of a file are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SurveyedDates {
    /// The order of day and month, if it matters and is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub order: Option<DateOrder>,
    /// Whether the file leaves open if day or month comes first.
    pub is_ambiguous: bool,
    /// One of the days.
    pub example: String,
}

/// The result of reading all lines of a file without storing them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct FileCheck {
    /// Lines that can be stored.
    pub accepted: u64,
    /// Lines that are rejected.
    pub rejected: u64,
    /// Lines with totals or notes, which are left out.
    pub totals: u64,
    /// The rejected lines by cause, the most frequent cause first.
    pub causes: Vec<RejectedCause>,
    /// The first rows as they would be stored: a text for each field that has a value.
    pub rows: Vec<BTreeMap<String, String>>,
    /// The sign between thousands in the amounts, if they have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thousands: Option<String>,
    /// The currencies of the rows.
    pub currencies: Vec<String>,
}

/// Rejected lines with one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RejectedCause {
    /// The column, or an empty text if the cause concerns whole lines.
    pub column: String,
    /// The first problem with this cause.
    pub example: ImportProblem,
    /// The number of lines.
    pub count: u64,
    /// The first of these lines.
    pub lines: Vec<u64>,
}

/// The encodings of text files that are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TextEncoding {
    /// UTF-8.
    Utf8,
    /// UTF-16 with either byte first.
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
