//! Decisions about reading a file, by a person or derived from the file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::report::{ColumnKind, ColumnUse};

/// How rows of a file are put into a source that has rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ImportMode {
    /// The rows of the file replace all rows of the file's scope.
    #[default]
    Replace,
    /// The rows of the file are added to the stored rows.
    Add,
    /// The rows of the file replace rows with the same key. Other rows stay.
    Key,
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

/// The decimal sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum NumberSign {
    /// 1,234.50
    Point,
    /// 1.234,50
    Comma,
}

/// Decisions about a file. An absent decision is derived from the file, or a person is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct ImportDecisions {
    /// The sheets of a workbook. Empty: the only sheet with a table.
    pub sheets: Vec<String>,
    /// The line with the headings, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub header_line: Option<u64>,
    /// The encoding, such as `windows-1250`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub encoding: Option<String>,
    /// The order of day, month and year in dates such as 1/11/2026 and 26-11-01.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub date_order: Option<DateOrder>,
    /// The decimal sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub decimal: Option<NumberSign>,
    /// The time zone of moments that state no zone, such as `Europe/Stockholm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub zone: Option<String>,
    /// The account of all rows, if no column contains the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub account: Option<String>,
    /// The pattern of the path in which `{account}` is the account of each file, such as
    /// `clients/{account}/*.csv`. The host sets `account` by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub account_from_path: Option<String>,
    /// The name of the column for `account`, if the source has its accounts in a column of its own.
    /// The host sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub account_column: Option<String>,
    /// The currency of all amounts, if no column contains the currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub currency: Option<String>,
    /// Choices for single columns, by the heading, or by `#` and the number of the column.
    pub columns: BTreeMap<String, ColumnChoice>,
    /// How the rows are put into the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mode: Option<ImportMode>,
    /// Whether unreadable rows are left out. If not, an unreadable row stops the import.
    pub skip_rejected: bool,
    /// Answers to questions, by their identifiers.
    pub answers: BTreeMap<String, String>,
}

/// A person's choices for a column. Without a choice, the value that was found in the file is used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct ColumnChoice {
    /// The name, in place of the heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// The type of the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<ColumnKind>,
    /// The use of the column.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub usage: Option<ColumnUse>,
    /// The unit, such as a currency code or `percent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unit: Option<String>,
}
