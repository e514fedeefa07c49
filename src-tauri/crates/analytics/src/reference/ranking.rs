//! The first groups by a measure, in the reference.

use std::collections::BTreeSet;

use contract::metric_query::{GroupBy, MeasureUse, MetricQuery};

use super::{
    Cell,
    answer::{Dim, Plan, Ranking, compare},
    world::World,
};
use crate::{
    compile::{currency::CURRENCY, groups::name_of_group, top::row_conditions},
    figure_names::name_of_measure,
};

impl World<'_> {
    /// Returns the ranking of a query. None within Some: it has none.
    pub(super) fn ranking(&self, plan: &Plan<'_>) -> Option<Option<Ranking>> {
        let Some(top) = &plan.query.top else { return Some(None) };
        let query = plan.query;
        let groups = 0..query.by.len();
        let named = |name: &String| groups.clone().find(|at| name_of_group(query, *at) == *name);
        let per: Vec<usize> = top.per.iter().filter_map(named).collect();
        let is_time = |at: &usize| matches!(query.by[*at].by, GroupBy::Time(_));
        let of = match &top.of {
            Some(name) => named(name)?,
            None => groups.clone().rev().find(|at| !per.contains(at) && !is_time(at))?,
        };
        let used = match &top.by {
            None => query.measures.first()?.clone(),
            Some(name) => {
                let found = query.measures.iter().find(|used| name_of_measure(used) == *name);
                found.cloned().unwrap_or_else(|| MeasureUse::named(name.clone()))
            }
        };
        let name = name_of_measure(&used);
        let used = MeasureUse {
            name: Some(name.clone()),
            share_of: Vec::new(),
            running: false,
            rolling: None,
            per: None,
            ..used
        };
        let all: Vec<usize> = per.iter().copied().chain([of]).collect();
        let inner = MetricQuery {
            source: query.source.clone(),
            measures: vec![used],
            by: all.iter().map(|at| query.by[*at].clone()).collect(),
            conditions: row_conditions(query, &self.catalog.sources[plan.primary]),
            period: query.period.clone(),
            in_currency: query.in_currency.clone(),
            as_of: query.as_of.clone(),
            ..MetricQuery::default()
        };
        let (columns, mut rows) = self.rows_of(&inner)?;
        let measure = columns.iter().position(|column| *column == name)?;
        let place = |name: &str| columns.iter().position(|column| column == name);
        let of_place = place(&name_of_group(query, of))?;
        let currency = plan.currency_place(self);
        let dims: Vec<(usize, Dim)> = plan
            .dims
            .iter()
            .enumerate()
            .filter(|(number, (_, dim))| match dim {
                Dim::Group(at) => {
                    all.contains(at) && !plan.is_late(*at) || currency == Some(*number)
                }
                Dim::Key(at) => all.contains(at),
                Dim::Currency => true,
                Dim::Rest => false,
            })
            .filter_map(|(_, (name, dim))| Some((place(name).or(place(CURRENCY))?, *dim)))
            .collect();
        let key_place = dims.iter().find(|(_, dim)| *dim == Dim::Key(of)).map(|(at, _)| *at);
        rows.sort_by(|a, b| {
            let order = compare(&a[measure], &b[measure], !top.lowest);
            order.then_with(|| compare(&a[of_place], &b[of_place], false)).then_with(|| {
                match key_place {
                    Some(key) => compare(&a[key], &b[key], false),
                    None => std::cmp::Ordering::Equal,
                }
            })
        });
        let mut first: BTreeSet<Vec<Cell>> = BTreeSet::new();
        let mut counts: Vec<(Vec<Cell>, u32)> = Vec::new();
        for row in rows {
            let is_of = |dim: &Dim| matches!(dim, Dim::Group(at) | Dim::Key(at) if *at == of);
            let within: Vec<Cell> = dims
                .iter()
                .filter(|(_, dim)| !is_of(dim))
                .map(|(at, _)| row[*at].clone())
                .collect();
            let id: Vec<Cell> = dims
                .iter()
                .map(|(at, dim)| match dim {
                    Dim::Key(_) if plan.sources.len() > 1 => row[*at].text(),
                    _ => row[*at].clone(),
                })
                .collect();
            let count = match counts.iter_mut().find(|(known, _)| *known == within) {
                Some((_, count)) => count,
                None => {
                    counts.push((within, 0));
                    &mut counts.last_mut()?.1
                }
            };
            if *count < top.n {
                *count += 1;
                first.insert(id);
            }
        }
        Some(Some(Ranking { of, dims: dims.into_iter().map(|(_, dim)| dim).collect(), first }))
    }
}
