//! Results of queries: typed columns and rows, with all that proves them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::AskedQuestion;
use crate::{
    SourceName, Text,
    definitions::{Better, DefinitionState},
    manifest::Localised,
    result::{ColumnRole, ColumnUnit, ValueFormat},
};

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataResult {
    /// The columns.
    pub columns: Vec<DataColumn>,
    /// The rows. Each has a cell for each column: null, true or false, a text, or a number. Numbers
    /// of more than 15 significant digits are texts. Days are `2026-11-30`, moments
    /// `2026-11-30T09:00:00`.
    #[ts(type = "(string | number | boolean | null)[][]")]
    pub rows: Vec<Vec<Value>>,
    /// The figures of all groups together, if the query asked for them: one row, or one for each
    /// currency. Cells of dimensions are null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(type = "(string | number | boolean | null)[][]")]
    pub totals: Vec<Vec<Value>>,
    /// The number of all rows of the result.
    pub row_count: u64,
    /// The place of the next page. None: there are no more rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub more: Option<String>,
    /// The SHA-256 of the resolved query, or of the text of a query in SQL.
    pub query: String,
    /// The SQL that was run.
    pub sql: String,
    /// The SHA-256 of each definition that was used, by its name.
    #[serde(default)]
    pub definitions: BTreeMap<String, String>,
    /// Whether these are approved.
    #[serde(default)]
    pub definition_state: DefinitionState,
    /// The hash of the data.
    #[serde(default)]
    pub data_version: DataVersion,
    /// Notes for a person, such as a period that is not over.
    #[serde(default)]
    pub notes: Vec<Text>,
    /// The question. None for stored rows, which nobody asked for by a query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub asked: Option<AskedQuestion>,
    /// The number of the record of the log, if the result has a record of its own. The result of a
    /// tool's call is in the record of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub record: Option<u64>,
    /// The version of the engine that computed the figures of a metric query. None: an older one, or
    /// rows of a query in SQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub engine: Option<u32>,
}

/// The version of the engine of metric queries. It rises with each change that gives other figures or
/// columns to the same query over the same rows.
pub const ENGINE: u32 = 2;

/// The hash of the data of one source, or of several by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum DataVersion {
    /// Of one source.
    One(String),
    /// Of several sources. A database has none.
    Each(BTreeMap<SourceName, Option<String>>),
}

impl Default for DataVersion {
    fn default() -> Self {
        Self::One(String::new())
    }
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DataColumn {
    /// The name, which no other column of the result has.
    pub name: String,
    /// The type of the values.
    #[serde(rename = "type")]
    pub kind: DataType,
    /// The use.
    pub role: ColumnRole,
    /// The unit: a currency code, a text, or the column that has the currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unit: Option<ColumnUnit>,
    /// How the values are written.
    pub format: ValueFormat,
    /// The name for people, by language. Empty: the name itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, as = "Option<Localised<String>>")]
    pub label: Localised<String>,
    /// The measure or dimension that the values are of. None in a query in SQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub of: Option<String>,
    /// The value that the column is of, if values of a dimension became columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pivot: Option<PivotedValue>,
    /// Whether the values of several rows add up to a figure of all of them. Those of ratios and
    /// averages do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub adds_up: bool,
    /// Which values are good, if they are changes of a measure that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub better: Option<Better>,
    /// The place of the column in a comparison. None: the query compares nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub compared: Option<ComparedFigure>,
}

/// The place of a column in a comparison. The columns of a figure follow each other in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ComparedFigure {
    /// The figure itself.
    Now,
    /// The figure that it is compared with.
    Before,
    /// The difference. That of a percentage is in points: 0.02 are 2 points.
    Change,
    /// The difference as a part of the figure that it is compared with.
    Growth,
}

impl DataColumn {
    /// Creates a column without a unit and other names.
    pub fn new(
        name: impl Into<String>,
        kind: DataType,
        role: ColumnRole,
        format: ValueFormat,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            role,
            unit: None,
            format,
            label: BTreeMap::new(),
            of: None,
            pivot: None,
            adds_up: false,
            better: None,
            compared: None,
        }
    }
}

/// A value of a dimension that became a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PivotedValue {
    /// The column that had the value.
    pub dimension: String,
    /// The value.
    #[ts(type = "string | number | boolean | null")]
    pub value: Value,
    /// The column that had the figures.
    pub measure: String,
}

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DataType {
    /// Text.
    #[default]
    Text,
    /// Whole numbers.
    Whole,
    /// Exact decimal numbers.
    Decimal,
    /// Numbers with 12 significant digits, from a database that keeps no exact ones.
    Float,
    /// Days.
    Day,
    /// Points in time without a zone.
    Moment,
    /// Yes or no.
    Flag,
}
