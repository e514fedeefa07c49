//! The form in which a view is written in manifests, stored with results and sent to windows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ChartKind, Columns, Layout, ResultView, Shape};
use crate::{
    PackId,
    manifest::{Localised, offline::Words},
};

/// A view as a manifest declares it. Which members a shape has is told with the shapes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ViewDeclaration {
    /// The parts of a result.
    pub shape: ShapeName,
    /// The heading, by language. The tool's title if it is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Words")]
    #[ts(optional, as = "Option<Localised<String>>")]
    pub title: Localised<String>,
    /// JSON pointer to the rows, such as `/items`. Absent: the result itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub rows: String,
    /// The columns, or a JSON pointer to them within the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub columns: Option<Columns>,
    /// Shape `series`: the kind of chart. Absent: the data decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub chart: Option<ChartKind>,
    /// Shape `named`: the pack that has the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pack: Option<PackId>,
    /// Shape `named`: the name of the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub view: Option<String>,
    /// Whether the newest result stays beside the conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub pinned: bool,
}

/// The names of the shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ShapeName {
    /// Values without a declared meaning, shown on demand.
    Plain,
    /// Rows with the same columns.
    Table,
    /// Single values; each column is a figure.
    Figures,
    /// Measures over time or over a dimension, drawn as a chart.
    Series,
    /// Things with a title and some properties each.
    Records,
    /// A view that a pack has in the window.
    Named,
}

/// A view as it may be written. Manifests and results of earlier versions have the name of a view
/// alone.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum AnyDeclaration {
    /// The name of a view of a pack that ships, or `plain`.
    Name(String),
    /// A declaration.
    View(Box<ViewDeclaration>),
}

impl From<AnyDeclaration> for ResultView {
    fn from(declared: AnyDeclaration) -> Self {
        match declared {
            AnyDeclaration::Name(name) if name == ResultView::default().kind() => Self::default(),
            AnyDeclaration::Name(view) => {
                Self { shape: Shape::Named { pack: None, view }, pinned: false }
            }
            AnyDeclaration::View(view) => (*view).into(),
        }
    }
}

impl From<ViewDeclaration> for ResultView {
    fn from(declared: ViewDeclaration) -> Self {
        let layout = Layout {
            title: declared.title,
            rows: declared.rows,
            columns: declared.columns.unwrap_or_default(),
            chart: declared.chart,
        };
        let shape = match (declared.shape, declared.view) {
            (ShapeName::Table, _) => Shape::Table(layout),
            (ShapeName::Figures, _) => Shape::Figures(layout),
            (ShapeName::Series, _) => Shape::Series(layout),
            (ShapeName::Records, _) => Shape::Records(layout),
            (ShapeName::Named, Some(view)) => Shape::Named { pack: declared.pack, view },
            // A manifest whose named view has no name does not pass the checks.
            (ShapeName::Plain | ShapeName::Named, _) => Shape::Plain,
        };
        Self { shape, pinned: declared.pinned }
    }
}

impl From<ResultView> for ViewDeclaration {
    fn from(view: ResultView) -> Self {
        let (name, layout) = match view.shape {
            Shape::Plain => (ShapeName::Plain, None),
            Shape::Table(layout) => (ShapeName::Table, Some(layout)),
            Shape::Figures(layout) => (ShapeName::Figures, Some(layout)),
            Shape::Series(layout) => (ShapeName::Series, Some(layout)),
            Shape::Records(layout) => (ShapeName::Records, Some(layout)),
            Shape::Named { pack, view: name } => {
                return Self { pack, view: Some(name), ..Self::of(ShapeName::Named, view.pinned) };
            }
        };
        let bare = Self::of(name, view.pinned);
        match layout {
            None => bare,
            Some(Layout { title, rows, columns, chart }) => {
                Self { title, rows, columns: Some(columns), chart, ..bare }
            }
        }
    }
}

impl ViewDeclaration {
    fn of(shape: ShapeName, pinned: bool) -> Self {
        Self {
            shape,
            title: Localised::new(),
            rows: String::new(),
            columns: None,
            chart: None,
            pack: None,
            view: None,
            pinned,
        }
    }
}
