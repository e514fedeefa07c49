//! The parts, dimensions and ranking of a statement, as data.

use contract::{manifest::Localised, result::ColumnRole, sources::ColumnKind};

use super::Purpose;

/// The side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The period of the query, or the first value.
    Now,
    /// The period that it is compared with, or the second value.
    Before,
}

/// The rows of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartKey {
    /// The place of the source.
    pub source: usize,
    /// The side of a comparison.
    pub side: Side,
    /// Whether earlier rows count for windows that end in the period.
    pub is_wide: bool,
    /// The value of which only the last one of each key counts.
    pub last: Option<LastRows>,
}

/// The rows with the last value of each key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastRows {
    /// The value in SQL.
    pub value: String,
    /// The keys in SQL.
    pub keys: Vec<String>,
    /// The condition on rows.
    pub condition: Option<String>,
}

/// A part.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Its rows.
    pub key: PartKey,
    /// The joins that its values need.
    pub joins: Vec<String>,
    /// Whether its groups belong to the result even if no figure comes from it.
    pub is_needed: bool,
}

/// A dimension of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    /// The name.
    pub name: String,
    /// The name in SQL.
    pub alias: String,
    /// The type of the values.
    pub kind: ColumnKind,
    /// The decimal places of decimals.
    pub scale: u8,
    /// The use.
    pub role: ColumnRole,
    /// The purpose.
    pub purpose: Purpose,
    /// Where the values come from.
    pub from: DimFrom,
    /// The definition.
    pub of: Option<String>,
    /// The name for people.
    pub label: Localised<String>,
}

/// Where the values of a dimension come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DimFrom {
    /// A group of the query.
    Group(usize),
    /// The key of a group.
    Key(usize),
    /// The currency of the amounts.
    Currency,
    /// Whether the group is not among the first ones.
    Rest,
}

/// The first groups by a measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranking {
    /// The number of the group whose values are ranked.
    pub of: usize,
    /// The names of the columns of the ranking that identify a group.
    pub columns: Vec<String>,
    /// Whether the other groups are one row.
    pub others: bool,
    /// Whether their rows are read, because figures are parts of a total of all groups.
    pub reads_others: bool,
}
