//! The question of a result as it was asked, and in words. Each client can show it, and change a part
//! and ask again. The crate `analytics` finds the words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::MetricQuery;
use crate::{SourceName, Text};

/// The question of a result: a metric query, or a SELECT.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskedQuestion {
    /// The metric query with its relative periods, and the moment that they refer to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub query: Option<Box<MetricQuery>>,
    /// The source that the metric query begins with, also if the query does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<SourceName>,
    /// The SELECT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sql: Option<String>,
    /// The place of the page in the result. None: the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cursor: Option<String>,
    /// The metric query in words, in the order in which a person reads them. Empty for a SELECT, and in
    /// older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<QueryPart>>")]
    pub parts: Vec<QueryPart>,
}

/// A part of a metric query in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QueryPart {
    /// The kind of the part.
    pub kind: PartKind,
    /// The member of the query that the part is about, as a JSON pointer such as `/measures/0`.
    pub at: String,
    /// The words, such as `Device: Mobile`.
    pub text: Text,
}

/// The kind of a part of a metric query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// A figure, or single rows.
    Measure,
    /// A dimension to group by.
    Dimension,
    /// A grain of time to group by.
    Grain,
    /// A condition.
    Filter,
    /// The period.
    Period,
    /// The comparison.
    Comparison,
    /// A part of the order.
    Order,
    /// The most rows, or the first groups.
    Limit,
    /// The currency that amounts are converted to.
    Currency,
    /// A member about the form of the whole result.
    Option,
    /// The source.
    Source,
}
