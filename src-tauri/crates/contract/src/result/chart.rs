//! The kinds of charts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The kinds of charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// A vertical bar for each value.
    Columns,
    /// A line for each measure.
    Lines,
    /// A horizontal bar for each value, the greatest first.
    Bars,
    /// A point for each row, between the scales of two measures.
    Points,
}
