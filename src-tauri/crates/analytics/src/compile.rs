//! Compiles a resolved metric query to one SELECT. The same query gives the same bytes.
//!
//! The statement has steps: `_part` adds up the rows of one source and period, `_all` puts parts side by
//! side by stacking and grouping them (so that no row can multiply another one), `_filled` adds times
//! without rows, `_windows` adds sums over other rows, and `_figures` computes ratios last.

use contract::{
    Text,
    metric_query::{DataColumn, MetricQuery},
    sources::ColumnKind,
};

use crate::{Catalog, Dialect, Problem, Resolved};

mod builder;
mod conditions;
mod counts;
pub(crate) mod currency;
mod decorations;
pub(crate) mod dimensions;
mod explain;
pub(crate) mod figures;
mod filled;
mod formulas;
pub(crate) mod groups;
mod lookups;
mod measures;
mod model;
pub(crate) mod pace_scope;
pub(crate) mod pacing;
mod parts;
mod plans;
pub(crate) mod rates;
mod result_columns;
mod row_scope;
mod single_rows;
mod statement;
mod steps;
pub(crate) mod times;
pub(crate) mod top;
pub(crate) mod totals;

pub(crate) use row_scope::Ctes;

/// A compiled query.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The SELECT.
    pub sql: String,
    /// Its columns.
    pub columns: Vec<CompiledColumn>,
    /// Notes for a person.
    pub notes: Vec<Text>,
    /// The most rows that the query asks for.
    pub limit: Option<u32>,
    /// The dimension whose values become columns of the final result.
    pub pivot: Option<String>,
}

/// A column of a compiled query.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledColumn {
    /// The column of the result.
    pub column: DataColumn,
    /// The purpose.
    pub purpose: Purpose,
    /// The decimal places of decimals.
    pub scale: u8,
}

/// The purpose of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It is shown.
    Shown,
    /// The key of a dimension. It is shown if two rows have the same name.
    Key,
    /// Whether the row stands for all other groups.
    Rest,
    /// The number of all rows without the limit.
    AllRows,
    /// The place of the last row with the same values of the order.
    LastPlace,
    /// The number of rows without a rate of their currency.
    WithoutRate,
    /// The number of rows whose rate is of a much earlier day.
    OldRate,
    /// The number of rows of a source behind the row.
    RowsOf(String),
    /// The number of all rows of a first step without rows of a source.
    RowsWithout(String),
    /// It only decides which rows are shown.
    Hidden,
    /// Whether the row has totals.
    Total,
    /// The number of rows of a source that cover more than a day and that the answer cuts.
    CutRows(String),
    /// The number of rows without a partner in a source that dimensions come from.
    WithoutPartner(String),
    /// The number of rows for which such a source has several values.
    Ambiguous(String),
    /// The number of values of a column that does not add up.
    Several(String),
    /// The number of groups with the same value as the last of the first ones.
    TopTies,
    /// The number of things with spend and without a budget.
    WithoutBudget(String),
}

/// Compiles a resolved query.
pub fn compile(
    resolved: &Resolved,
    catalog: &Catalog,
    dialect: Dialect,
) -> Result<Compiled, Problem> {
    let mut compiled = compile_any(&resolved.query, catalog, dialect, true)?;
    let notes = resolved.notes.iter().cloned().chain(compiled.notes);
    compiled.notes = notes.collect();
    Ok(compiled)
}

/// Compiles a query with resolved names and periods that stands inside of another one.
pub(crate) fn compile_query(
    query: &MetricQuery,
    catalog: &Catalog,
    dialect: Dialect,
) -> Result<Compiled, Problem> {
    compile_any(query, catalog, dialect, false)
}

fn compile_any(
    query: &MetricQuery,
    catalog: &Catalog,
    dialect: Dialect,
    is_outer: bool,
) -> Result<Compiled, Problem> {
    let mut compiled = match (&query.explain, query.rows) {
        (Some(explain), _) => explain::compile_explain(explain, query, catalog, dialect)?,
        (None, true) => single_rows::compile_rows(query, catalog, dialect)?,
        (None, false) => statement::compile_figures(query, catalog, dialect, is_outer)?,
    };
    compiled.pivot.clone_from(&query.pivot);
    compiled.limit = query.limit;
    Ok(compiled)
}

/// A value of a row or of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// The SQL.
    pub sql: String,
    /// The type.
    pub kind: ColumnKind,
    /// The decimal places of a decimal.
    pub scale: u8,
}

#[cfg(test)]
mod joined_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
