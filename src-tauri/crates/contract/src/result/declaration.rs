//! Defines how a view is written in manifests, stored with results and sent to windows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ChartKind, Columns, Layout, ResultView, Shape};
use crate::{
    PackId,
    manifest::{Localised, offline::Words},
};

/// A view as a manifest declares it. The documentation of each shape lists the members that it
/// uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ViewDeclaration {
    /// The structure of a result.
    pub shape: ShapeName,
    /// The heading, by language. If absent, the tool's title is used.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Words")]
    #[ts(optional, as = "Option<Localised<String>>")]
    pub title: Localised<String>,
    /// JSON pointer to the rows, such as `/items`. Absent means the result itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub rows: String,
    /// The columns, or a JSON pointer to them within the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub columns: Option<Columns>,
    /// Shape `series`: the kind of chart. If absent, the data determine the kind.
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
    /// Whether the newest result is kept visible beside the conversation.
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
    /// A few values to read at a glance; each column is a figure.
    Figures,
    /// Measures over time or over a dimension, drawn as a chart.
    Series,
    /// Things with a title and some properties each.
    Records,
    /// A view that code of a pack draws in the window.
    Named,
}

/// The accepted forms of a view. Manifests and results of earlier versions contain only the name of
/// a view.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum AnyDeclaration {
    /// The name of a view of a shipped pack, or `plain`.
    Name(String),
    /// A complete declaration.
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
            // The checks of a manifest refuse a named view without a name.
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
