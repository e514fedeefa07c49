//! Results by shape. A tool declares how its results are built, and each client draws any result of
//! that shape: it needs to know neither the tool nor the pack. Only a named view needs code of its
//! pack in the window.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    PackId, ToolId,
    manifest::{Localised, offline::Words},
};

mod chart;
mod content;
mod declaration;

pub use chart::ChartKind;
pub use content::{ContentColumn, MAX_ROWS, ResultCell, ResultContent, read_content};
use declaration::AnyDeclaration;
pub use declaration::{ShapeName, ViewDeclaration};

/// How clients show the results of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(from = "AnyDeclaration", into = "ViewDeclaration")]
#[ts(as = "ViewDeclaration")]
pub struct ResultView {
    /// The parts of a result.
    pub shape: Shape,
    /// Whether the newest result stays beside the conversation.
    pub pinned: bool,
}

/// The parts that a result has.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Shape {
    /// Values without a declared meaning. They are shown as names and values, on demand.
    #[default]
    Plain,
    /// Rows with the same columns.
    Table(Layout),
    /// Single values that are read at a glance. Each column is a figure.
    Figures(Layout),
    /// Measures over time or over a dimension, drawn as a chart.
    Series(Layout),
    /// Things with a title and some properties each.
    Records(Layout),
    /// A view that the window draws with code of a pack.
    Named {
        /// The pack that has the view. None if the name alone tells it.
        pack: Option<PackId>,
        /// The name of the view, which no other pack has.
        view: String,
    },
}

/// Where rows and columns are in a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The heading, by language. The tool's title if it is empty.
    pub title: Localised<String>,
    /// JSON pointer to the rows. An empty one means the result itself. A single object is one row.
    pub rows: String,
    /// The columns.
    pub columns: Columns,
    /// The kind of chart, if the data are not to decide it. For `Shape::Series` only.
    pub chart: Option<ChartKind>,
}

/// The columns of a result, or where they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum Columns {
    /// The same columns in each result.
    Declared(Vec<ResultColumn>),
    /// JSON pointer to a list of columns within the result, which differ from call to call.
    InResult(String),
}

impl Default for Columns {
    fn default() -> Self {
        Self::Declared(Vec::new())
    }
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ResultColumn {
    /// The member of a row that has the value, or a JSON pointer into the row. If rows are lists, the
    /// place of the column counts instead.
    #[schemars(length(min = 1))]
    pub field: String,
    /// The heading, by language. Without any, the field is the heading.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Words")]
    #[ts(optional, as = "Option<Localised<String>>")]
    pub label: Localised<String>,
    /// The use of the column.
    #[serde(default)]
    #[ts(optional, as = "Option<ColumnRole>")]
    pub role: ColumnRole,
    /// The unit of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unit: Option<ColumnUnit>,
    /// How the values are written. Follows from the role if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub format: Option<ValueFormat>,
    /// The number of decimal places (0 to 6). Follows from the format if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 6))]
    #[ts(optional)]
    pub digits: Option<u8>,
}

impl ResultColumn {
    /// Returns how the values are written.
    pub fn value_format(&self) -> ValueFormat {
        self.format.unwrap_or(match self.role {
            ColumnRole::Dimension => ValueFormat::Text,
            ColumnRole::Measure => ValueFormat::Number,
            ColumnRole::Time => ValueFormat::Day,
        })
    }
}

/// The use of a column.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum ColumnRole {
    /// Names what a row is about.
    #[default]
    Dimension,
    /// A number that was measured.
    Measure,
    /// The day or moment that a row is about.
    Time,
}

/// The unit of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum ColumnUnit {
    /// A fixed unit: a currency code such as `EUR`, or a text such as `km`.
    Fixed(String),
    /// A unit that the result has.
    Within(UnitPlace),
}

/// Where a result has a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct UnitPlace {
    /// JSON pointer to the unit, in the row or else in the whole result.
    pub at: String,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ValueFormat {
    /// As it is.
    Text,
    /// As a number in the reader's language, with its unit.
    Number,
    /// As an amount of the currency that is the column's unit.
    Money,
    /// As a percentage: 0.25 is written as 25 %.
    Percent,
    /// As a day: `2026-11-30`.
    Day,
    /// As a point in time: `2026-11-30T09:00:00Z`.
    Moment,
    /// As yes or no.
    Flag,
}

impl ValueFormat {
    /// Whether values are numbers, which stand below each other at the right.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Number | Self::Money | Self::Percent)
    }
}

impl ResultView {
    /// Whether nothing is declared about the results.
    pub fn is_plain(&self) -> bool {
        self.shape == Shape::Plain
    }

    /// Returns the kind of result in the words of the run contract: the shape, or the name of the
    /// view.
    pub fn kind(&self) -> &str {
        match &self.shape {
            Shape::Named { view, .. } => view,
            shape => shape.name(),
        }
    }

    /// Returns the name of the view, if it is a named one.
    pub fn named(&self) -> Option<&str> {
        match &self.shape {
            Shape::Named { view, .. } => Some(view),
            _ => None,
        }
    }

    /// Whether a result of `tool` takes the place of a result of `other_tool` beside the
    /// conversation. Tools share the place of a named view, and each other tool has its own.
    pub fn shares_place(&self, tool: &ToolId, other: &Self, other_tool: &ToolId) -> bool {
        match (self.named(), other.named()) {
            (None, None) => tool == other_tool,
            (own, theirs) => own == theirs,
        }
    }
}

impl Shape {
    /// Returns the name of the shape.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Table(_) => "table",
            Self::Figures(_) => "figures",
            Self::Series(_) => "series",
            Self::Records(_) => "records",
            Self::Named { .. } => "named",
        }
    }

    /// Returns where rows and columns are, if a client can draw the shape without a pack.
    pub fn layout(&self) -> Option<&Layout> {
        match self {
            Self::Table(layout)
            | Self::Figures(layout)
            | Self::Series(layout)
            | Self::Records(layout) => Some(layout),
            Self::Plain | Self::Named { .. } => None,
        }
    }
}

impl JsonSchema for ResultView {
    fn schema_name() -> Cow<'static, str> {
        "ResultView".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        AnyDeclaration::json_schema(generator)
    }
}

#[cfg(test)]
mod tests;
