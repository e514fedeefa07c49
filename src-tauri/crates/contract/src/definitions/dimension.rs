//! Dimensions: values to group rows by.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Synonyms;
use crate::{
    SourceName,
    metric_query::{Condition, Test},
};

/// A value that rows can be grouped by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Dimension {
    /// Where the values come from.
    #[serde(flatten)]
    pub kind: DimensionKind,
    /// The column with the key of `DimensionKind::Column`. Rows with the same key are one thing,
    /// whatever its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub key: Option<String>,
    /// Which name is shown for a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<NameRule>,
    /// Other names of the dimension, by language.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, as = "Option<Synonyms>")]
    pub synonyms: Synonyms,
    /// Other names of its values, by language. The first one of a language is shown to people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, as = "Option<BTreeMap<String, Synonyms>>")]
    pub values: BTreeMap<String, Synonyms>,
    /// The values that an order by the dimension begins with, such as the most severe ones. All others
    /// follow by their letters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub order: Vec<String>,
}

/// Where the values of a dimension come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DimensionKind {
    /// A column.
    Column(String),
    /// Yes or no, by a condition.
    When(Condition),
    /// Named groups of values.
    Groups(Groups),
    /// A part of a text between separators.
    Split(Split),
    /// Ranges of a number.
    Bins(Bins),
    /// The first value that a key ever had.
    First(FirstValue),
    /// A dimension of another source, found by a join.
    Lookup(Lookup),
}

/// A dimension of another source, which has one row for each value of the join's columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Lookup {
    /// The other source. `joins` says how its rows are found.
    pub source: SourceName,
    /// Its dimension or column.
    pub of: String,
}

/// Which name is shown for a key that has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum NameRule {
    /// That of the latest row.
    #[default]
    Latest,
}

/// Named groups of the values of a column. The first group that fits counts, in the order of the
/// names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Groups {
    /// The column.
    pub of: String,
    /// The groups: the test that a value must pass.
    pub groups: BTreeMap<String, Test>,
    /// The group of all other values. None: they have no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub other: Option<String>,
}

/// A part of the text of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Split {
    /// The column.
    pub of: String,
    /// The text between two parts.
    pub by: String,
    /// The number of the part, from 1.
    pub part: u32,
}

/// Ranges of a number. A range contains its lower edge and not its upper one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Bins {
    /// The column.
    pub of: String,
    /// The edges, ascending.
    pub edges: Vec<i64>,
}

/// The first value that a key ever had, such as the first campaign of a customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct FirstValue {
    /// The column with the value.
    pub of: String,
    /// The column with the key.
    pub per: String,
}

impl Dimension {
    /// Creates a dimension of a column.
    pub fn of_column(column: impl Into<String>) -> Self {
        Self::of_kind(DimensionKind::Column(column.into()))
    }

    /// Creates a dimension without key and synonyms.
    pub fn of_kind(kind: DimensionKind) -> Self {
        Self {
            kind,
            key: None,
            name: None,
            synonyms: Synonyms::new(),
            values: BTreeMap::new(),
            order: Vec::new(),
        }
    }
}
