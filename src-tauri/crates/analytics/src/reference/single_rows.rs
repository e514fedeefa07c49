//! Single rows of the reference, without adding anything up.

use contract::{
    definitions::{Calculation, Measure},
    metric_query::{Condition, MetricQuery},
};

use super::{
    Cell,
    answer::{NamedRows, compare},
    world::World,
};
use crate::{
    compile::groups::name_of_group,
    figure_names::name_of_measure,
    resolve::{bounds_of, primary},
};

impl World<'_> {
    /// Returns the rows of a query that adds nothing up.
    pub(super) fn single_rows(&self, query: &MetricQuery) -> Option<NamedRows> {
        let source = primary(query, self.catalog).ok()?;
        let model = &self.catalog.sources[source];
        let mut measures: Vec<(String, String, Vec<Condition>)> = Vec::new();
        for used in &query.measures {
            let measure = match (&used.measure, &used.calculation) {
                (Some(name), _) => model.measure(name).ok()?,
                (None, own) => Measure::of(own.clone()?),
            };
            let Calculation::Sum(column) = &measure.calculation else { return None };
            let counted = used.conditions.iter().chain(&measure.conditions).cloned().collect();
            measures.push((name_of_measure(used), column.clone(), counted));
        }
        let names = (0..query.by.len()).map(|group| name_of_group(query, group));
        let mut columns: Vec<String> =
            names.chain(measures.iter().map(|(name, _, _)| name.clone())).collect();
        let stored: Vec<String> = if columns.is_empty() && query.columns.is_empty() {
            model.columns.iter().map(|column| column.name.clone()).collect()
        } else {
            query.columns.clone()
        };
        columns.extend(stored.clone());
        let bounds = bounds_of(query.period.as_ref());
        let counts = |row: &usize| {
            self.is_in(source, *row, bounds)
                && query.conditions.iter().all(|condition| self.holds(source, *row, condition))
        };
        let cells = |row: usize| -> Vec<Cell> {
            let groups =
                query.by.iter().map(|group| self.group_value(source, row, &group.by, None));
            let figures = measures.iter().map(|(_, column, counted)| {
                let fits = counted.iter().all(|condition| self.holds(source, row, condition));
                if fits { self.cell(source, row, column) } else { Cell::Empty }
            });
            let rest = stored.iter().map(|column| self.cell(source, row, column));
            groups.chain(figures).chain(rest).collect()
        };
        let rows = (0..self.tables[source].rows.len()).filter(counts);
        let mut rows: Vec<Vec<Cell>> = rows.map(cells).collect();
        let place = |name: &str| columns.iter().position(|column| column == name);
        let asked: Vec<(usize, bool)> = query
            .order
            .iter()
            .filter_map(|order| Some((place(&order.by)?, order.descending)))
            .chain((0..columns.len()).map(|at| (at, false)))
            .collect();
        rows.sort_by(|a, b| {
            let orders =
                asked.iter().map(|(at, descending)| compare(&a[*at], &b[*at], *descending));
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        if let Some(limit) = query.limit {
            rows.truncate(limit as usize);
        }
        Some((columns, rows))
    }
}
