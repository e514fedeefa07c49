//! The profile of a source's columns: figures about the values of each column. It is for people. No
//! tool of a model returns it, so that the values of a source stay where its setting keeps them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{AskLimits, AskedSource, ColumnKind};
use crate::Text;

/// The arguments of `data.profile`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskProfile {
    /// The source.
    pub source: AskedSource,
    /// The columns. Empty for all.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The limits, of which only the time counts.
    #[serde(default)]
    pub limits: AskLimits,
}

/// The profile of some columns of a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SourceProfile {
    /// The columns, in the order of the request.
    pub columns: Vec<ColumnProfile>,
    /// The requested columns that are missing because time was short. They can be requested again.
    pub left: Vec<String>,
    /// The number of rows whose values count.
    pub rows: u64,
    /// Which rows these are.
    pub basis: ProfileBasis,
    /// The number of rows of the whole table, as the database estimates it. None if all rows were
    /// read, or if there is no estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub estimated_rows: Option<u64>,
    /// The hash of the data. None for a database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
    /// Notes for people about the source.
    pub notes: Vec<Text>,
}

/// The rows that a profile is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ProfileBasis {
    /// All rows.
    #[default]
    AllRows,
    /// A sample that the database chose by chance.
    Sample,
    /// The first rows that the database returned.
    FirstRows,
}

/// Figures about the values of one column. A value that is not empty counts. Values are texts: the
/// digits of numbers, days as `2026-11-30`, moments as `2026-11-30T09:00:00`, `true` and `false`.
/// Texts of more than 200 characters are cut and end with `…`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ColumnProfile {
    /// The name of the column.
    pub name: String,
    /// The type of the values.
    pub kind: ColumnKind,
    /// The number of rows without a value, or with an empty text.
    pub empty: u64,
    /// The number of different values.
    pub distinct: u64,
    /// Whether `distinct` is an estimate, because an exact count would take too long.
    pub is_distinct_estimated: bool,
    /// The least value. None without values, and for flags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub least: Option<String>,
    /// The greatest value. Texts are compared by their bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub greatest: Option<String>,
    /// The mean of numbers, rounded to 6 more decimal places than the values have; of floats, to 12
    /// significant digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mean: Option<String>,
    /// The lengths of texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub lengths: Option<TextLengths>,
    /// The most frequent values, at most 10, the most frequent first. Empty if no value occurs
    /// twice.
    pub frequent: Vec<ValueCount>,
    /// Ranges of equal width from the least to the greatest value, at most 31. The last one may be
    /// shorter. Empty for texts and flags.
    pub ranges: Vec<ValueRange>,
    /// Notes for people about what is missing.
    pub notes: Vec<Text>,
}

/// The lengths of texts in characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TextLengths {
    /// The length of the shortest text.
    pub shortest: u64,
    /// The length of the longest text.
    pub longest: u64,
    /// The mean length, rounded to 6 decimal places.
    pub mean: String,
}

/// A value and the number of rows that have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ValueCount {
    /// The value.
    pub value: String,
    /// The number of rows.
    pub rows: u64,
}

/// A range of values and the number of rows that have one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ValueRange {
    /// The first value of the range.
    pub from: String,
    /// The last value of the range. Of floats, the first value of the next range.
    pub to: String,
    /// The number of rows.
    pub rows: u64,
}
