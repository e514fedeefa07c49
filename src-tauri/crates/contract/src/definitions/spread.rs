//! Plans: amounts that belong to several days.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How the rows of a plan are divided over days. A query then sees one row for each day of each
/// row. The days of a row add up to its amount exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum Spread {
    /// A row has a first day, the time column, and a last day.
    Days(SpreadDays),
    /// Amounts stand in columns of months.
    Months(SpreadMonths),
}

/// Rows with a first and a last day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct SpreadDays {
    /// The column with the last day. Without a value, the row is of its first day only.
    pub until: String,
    /// The columns with an amount for all days together. Each day has an equal part of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub total: Vec<String>,
    /// The columns with an amount for each day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub daily: Vec<String>,
}

/// Rows with a column for each month. Each day of a month has an equal part of its amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct SpreadMonths {
    /// The columns, each with its month, such as `2026-11`.
    pub months: BTreeMap<String, String>,
    /// The name of the column that has the amounts instead. The time column of such a source is
    /// `day`.
    #[serde(rename = "as")]
    pub name: String,
}

/// The name of the time column of a source whose amounts stand in columns of months.
pub const PLAN_DAY: &str = "day";

/// The days that each row covers, if that is more than its own day. The row counts on its own day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Covers {
    /// Seven days, of which its own is the first one.
    Week,
    /// Seven days, of which its own is the last one.
    WeekEnding,
    /// The days until the same day of the next month.
    Month,
    /// The days until the same day three months later.
    Quarter,
    /// All days between its own and that of a column.
    Until(String),
}
