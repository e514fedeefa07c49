//! Metric queries: structured questions for figures, as tools, boards, the terminal and the window
//! ask them, and the results. The crate `analytics` checks and compiles them.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    SourceName,
    definitions::{Calculation, DimensionKind},
};

mod asked;
mod condition;
mod period;
mod read;
mod result;
mod what_if;

pub use asked::{AskedQuestion, PartKind, QueryPart};
pub use condition::{Bounds, Condition, Scalar, Test};
pub use period::{AsOf, CalendarUnit, Compare, CompareAlign, CompareTo, Period, Shift, TimeGrain};
pub use read::{read_condition, read_conditions, read_metric_query, read_test};
pub use result::{
    ComparedFigure, DataColumn, DataResult, DataType, DataVersion, ENGINE, PivotedValue,
};

pub use what_if::{WhatIf, WhatIfChange};

/// A structured question for figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct MetricQuery {
    /// The source. None: the one that has the measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<SourceName>,
    /// The figures: names of measures, or objects.
    #[schemars(with = "Vec<NameOr<MeasureUse>>")]
    #[ts(as = "Vec<NameOr<MeasureUse>>")]
    pub measures: Vec<MeasureUse>,
    /// The groups: names of dimensions, `{"time": "week"}`, or objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<NameOr<Group>>")]
    #[ts(optional, as = "Option<Vec<NameOr<Group>>>")]
    pub by: Vec<Group>,
    /// Conditions that all hold. A condition on a measure's name refers to its value in the result.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
    /// The period of the time column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub period: Option<Period>,
    /// Another period, or the values of a dimension, to compare with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub compare: Option<Compare>,
    /// The order. Dimensions decide last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Order>>")]
    pub order: Vec<Order>,
    /// The most rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// Only the first groups by a measure, with the others as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub top: Option<Top>,
    /// Whether the figures of all groups together are wanted, too. They are computed again from rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub totals: bool,
    /// Whether single rows are wanted, without adding anything up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub rows: bool,
    /// The columns of single rows. Empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub columns: Vec<String>,
    /// The dimension whose values become columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pivot: Option<String>,
    /// Whether times without rows are listed, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub fill: bool,
    /// A second step over the rows of the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub then: Option<SecondStep>,
    /// Which values of dimensions explain the change of a measure against the compared period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub explain: Option<Explain>,
    /// The currency that amounts are converted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub in_currency: Option<String>,
    /// Other budgets and rates than the real ones, for sources that are computed from delivery and
    /// plan. The verdicts on the past stay those of reality.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<WhatIf>>")]
    pub what_if: Vec<WhatIf>,
    /// The moment that relative periods refer to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub as_of: Option<AsOf>,
}

/// A name alone, or an object. It describes the written form only.
#[derive(Serialize, JsonSchema, TS)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its description is used")]
pub enum NameOr<T> {
    /// The name.
    Name(String),
    /// The object.
    Full(T),
}

/// A figure of a metric query: a measure, or a calculation of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct MeasureUse {
    /// The measure. None if `calculation` says what is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub measure: Option<String>,
    /// A calculation that has no definition, written as in definitions: `{"ratio": ["a", "b"]}`.
    /// Its members may also stand beside the others, without `define`.
    #[serde(default, rename = "define", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub calculation: Option<Calculation>,
    /// The name in the result.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// The rows that count, besides the conditions of the query.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
    /// The part of a total: `total`, or a dimension or several, of whose total it is the part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub share_of: Vec<String>,
    /// Whether the values of all earlier times are added.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub running: bool,
    /// A window that ends with each time, such as `{"days": 7}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rolling: Option<Span>,
    /// The average per day, week or month of the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub per: Option<CalendarUnit>,
}

impl MeasureUse {
    /// Creates the use of a defined measure.
    pub fn named(measure: impl Into<String>) -> Self {
        Self { measure: Some(measure.into()), ..Self::default() }
    }
}

/// A length of time. A file or query writes it as `{"days": 7}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// Days.
    Days(u32),
    /// Weeks.
    Weeks(u32),
    /// Months.
    Months(u32),
    /// Quarters.
    Quarters(u32),
    /// Years.
    Years(u32),
}

/// A value that results are grouped by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Group {
    /// Where the values come from.
    #[serde(flatten)]
    pub by: GroupBy,
    /// The name in the result.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
}

/// Where the values of a group come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// A defined dimension, or a column.
    Dimension(String),
    /// The time column.
    Time(TimeGrain),
    /// A dimension that has no definition, written as in definitions.
    Define(DimensionKind),
}

impl Group {
    /// Creates a group by a dimension.
    pub fn dimension(name: impl Into<String>) -> Self {
        Self { by: GroupBy::Dimension(name.into()), name: None }
    }

    /// Creates a group by time.
    pub fn time(grain: TimeGrain) -> Self {
        Self { by: GroupBy::Time(grain), name: None }
    }
}

/// A part of the order of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Order {
    /// The column of the result.
    pub by: String,
    /// Whether great values come first. Empty values always come last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub descending: bool,
}

/// Only the first groups by a measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Top {
    /// The number of groups.
    pub n: u32,
    /// The dimension whose values are ranked. None: the last one of the query without the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub of: Option<String>,
    /// The dimensions within whose values each ranking is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub per: Vec<String>,
    /// The measure that decides. None: the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub by: Option<String>,
    /// Whether the lowest values come first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub lowest: bool,
    /// Whether all other groups are one row, `Other`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub others: bool,
}

/// A second step: figures over the rows of the first one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct SecondStep {
    /// The figures over columns of the first result, such as `{"average": "spend"}`.
    pub measures: Vec<StepMeasure>,
    /// The columns of the first result to group by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub by: Vec<String>,
}

/// A figure over the rows of the first step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct StepMeasure {
    /// The calculation.
    #[serde(flatten)]
    pub calculation: StepCalculation,
    /// The name in the result.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
}

/// The calculation over a column of the first result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum StepCalculation {
    /// The sum.
    Sum(String),
    /// The average.
    Average(String),
    /// The least value.
    Least(String),
    /// The greatest value.
    Greatest(String),
    /// The value in the middle.
    Median(String),
    /// The number of rows that have a value, or `rows`.
    Count(String),
}

/// Which values of dimensions explain the change of a measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Explain {
    /// The measure.
    pub measure: String,
    /// The dimensions. Each of their values gets its own contribution.
    pub by: Vec<String>,
}

impl<'de> Deserialize<'de> for MetricQuery {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        read_metric_query(&value).map_err(serde::de::Error::custom)
    }
}

/// A metric query to answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct MeasureParams {
    /// The query.
    pub query: MetricQuery,
    /// The place in the result that a page begins with, as `DataResult::more` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cursor: Option<String>,
}
