//! Totals of the reference: the figures of a query without groups, before its rows.

use contract::metric_query::MetricQuery;

use super::{Cell, answer::Dim, world::World};
use crate::{
    compile::{
        currency::CURRENCY,
        totals::{TOTAL, totals_query},
    },
    resolve::primary,
};

impl World<'_> {
    /// Adds the totals before the rows, and the column that marks them.
    pub(super) fn add_totals(
        &self,
        query: &MetricQuery,
        columns: &mut Vec<String>,
        rows: &mut Vec<Vec<Cell>>,
    ) -> Option<()> {
        let source = primary(query, self.catalog).ok()?;
        let totals = totals_query(query, &self.catalog.sources[source]);
        if totals.measures.is_empty() {
            return Some(());
        }
        let (names, found) = self.rows_of(&totals)?;
        let plan = self.plan(query)?;
        let currency = plan.currency_place(self).map(|at| columns[at].clone());
        let cell = |row: &[Cell], name: &String| {
            let is_currency = currency.as_ref() == Some(name);
            let wanted = if is_currency { CURRENCY } else { name };
            let at = names.iter().position(|own| own == wanted || own == name);
            at.map_or(Cell::Empty, |at| row[at].clone())
        };
        let found: Vec<Vec<Cell>> =
            found.iter().map(|row| columns.iter().map(|name| cell(row, name)).collect()).collect();
        let dims: Vec<(String, bool)> =
            plan.dims.iter().map(|(name, dim)| (name.clone(), *dim == Dim::Rest)).collect();
        let all_rows = MetricQuery { limit: None, ..query.clone() };
        let (_, found) = self.finish(&all_rows, columns.clone(), found, &dims, &[]);
        let mut all: Vec<Vec<Cell>> = Vec::new();
        for mut own in found {
            own.push(Cell::Flag(true));
            all.push(own);
        }
        for row in rows.iter() {
            let mut own = row.clone();
            own.push(Cell::Flag(false));
            all.push(own);
        }
        columns.push(TOTAL.to_owned());
        *rows = all;
        Some(())
    }
}
