//! Defines the shapes of results. A tool declares the shape of its results, and each client draws
//! any result of that shape without specific code for the tool or the pack. Only a named view needs
//! code of its pack in the window.

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
pub use content::{Computation, ContentColumn, MAX_ROWS, ResultCell, ResultContent, read_content};
use declaration::AnyDeclaration;
pub use declaration::{ShapeName, ViewDeclaration};

/// How clients show the results of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(from = "AnyDeclaration", into = "ViewDeclaration")]
#[ts(as = "ViewDeclaration")]
pub struct ResultView {
    /// The structure of a result.
    pub shape: Shape,
    /// Whether the newest result is kept visible beside the conversation.
    pub pinned: bool,
}

/// The possible structures of a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Shape {
    /// Values without a declared meaning, which are shown as names and values on demand.
    #[default]
    Plain,
    /// Rows with the same columns.
    Table(Layout),
    /// A few values to read at a glance. Each column is a figure.
    Figures(Layout),
    /// Measures over time or over a dimension, drawn as a chart.
    Series(Layout),
    /// Things with a title and some properties each.
    Records(Layout),
    /// A view that the window draws with code of a pack.
    Named {
        /// The pack that has the view. None if the name of the view is sufficient.
        pack: Option<PackId>,
        /// The name of the view, which is unique among packs.
        view: String,
    },
}

/// The locations of rows and columns in a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The heading, by language. If empty, the tool's title is used.
    pub title: Localised<String>,
    /// JSON pointer to the rows. An empty pointer means the result itself. A single object is a
    /// row.
    pub rows: String,
    /// The columns.
    pub columns: Columns,
    /// The kind of chart; if absent, the data determine the kind. For `Shape::Series` only.
    pub chart: Option<ChartKind>,
}

/// The columns of a result, or their location.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum Columns {
    /// The same columns in each result.
    Declared(Vec<ResultColumn>),
    /// JSON pointer to a list of columns within the result, because they differ between calls.
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
    /// The member of a row that contains the value, or a JSON pointer into the row. If rows are
    /// lists, the position of the column is used instead.
    #[schemars(length(min = 1))]
    pub field: String,
    /// The heading, by language. If empty, the field is the heading.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Words")]
    #[ts(optional, as = "Option<Localised<String>>")]
    pub label: Localised<String>,
    /// The role of the column.
    #[serde(default)]
    #[ts(optional, as = "Option<ColumnRole>")]
    pub role: ColumnRole,
    /// The unit of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unit: Option<ColumnUnit>,
    /// The format of the values. If absent, the role determines the format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub format: Option<ValueFormat>,
    /// The number of decimal places (0 to 6). If absent, the format determines the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 6))]
    #[ts(optional)]
    pub digits: Option<u8>,
}

impl ResultColumn {
    /// Returns the format of the values.
    pub fn value_format(&self) -> ValueFormat {
        self.format.unwrap_or(match self.role {
            ColumnRole::Dimension => ValueFormat::Text,
            ColumnRole::Measure => ValueFormat::Number,
            ColumnRole::Time => ValueFormat::Day,
        })
    }
}

/// The role of a column.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum ColumnRole {
    /// Identifies the subject of a row.
    #[default]
    Dimension,
    /// A measured number.
    Measure,
    /// The day or time of a row.
    Time,
}

/// The unit of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum ColumnUnit {
    /// A fixed unit: a currency code such as `EUR`, or a text such as `km`.
    Fixed(String),
    /// A unit that the result contains.
    Within(UnitPlace),
}

/// The location of a unit in a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct UnitPlace {
    /// JSON pointer to the unit, in the row or otherwise in the whole result.
    pub at: String,
}

/// The format of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ValueFormat {
    /// The unchanged text.
    Text,
    /// A number in the reader's language, with its unit.
    Number,
    /// An amount in the currency that is the column's unit.
    Money,
    /// A percentage: 0.25 is written as 25 %.
    Percent,
    /// A day: `2026-11-30`.
    Day,
    /// A point in time: `2026-11-30T09:00:00Z`.
    Moment,
    /// Yes or no.
    Flag,
}

impl ValueFormat {
    /// Whether values are numbers, which are right-aligned.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Number | Self::Money | Self::Percent)
    }
}

impl ResultView {
    /// Whether the results have no declared structure.
    pub fn is_plain(&self) -> bool {
        self.shape == Shape::Plain
    }

    /// Returns the kind of result as named in the run contract: the shape, or the name of the view.
    pub fn kind(&self) -> &str {
        match &self.shape {
            Shape::Named { view, .. } => view,
            shape => shape.name(),
        }
    }

    /// Returns the name of the view, if it is a named view.
    pub fn named(&self) -> Option<&str> {
        match &self.shape {
            Shape::Named { view, .. } => Some(view),
            _ => None,
        }
    }

    /// Whether a result of `tool` replaces a result of `other_tool` beside the conversation. All
    /// tools with the same named view share a place, and each other tool has its own place.
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

    /// Returns the locations of rows and columns, if a client can draw the shape without code of a
    /// pack.
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
