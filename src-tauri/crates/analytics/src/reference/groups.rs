//! From rows to the rows of a result: groups, conditions on figures, a second step, order and limit.

use std::collections::{BTreeMap, BTreeSet};

use contract::{
    definitions::DimensionKind,
    metric_query::{Condition, GroupBy, MetricQuery, SecondStep, StepCalculation, TimeGrain},
};

use super::{
    Cell, Number,
    answer::{Dim, NamedRows, Plan, compare},
    rows::day_of,
    world::World,
};
use crate::{
    compile::{
        groups::{OTHER, name_of_group},
        times::unit_of,
    },
    figure_names::name_of_measure,
    resolve::primary,
};

impl World<'_> {
    /// Returns columns and rows of a query, with keys and without what only notes need.
    pub(super) fn rows_of(&self, query: &MetricQuery) -> Option<NamedRows> {
        let plan = self.plan(query)?;
        let mut keys: BTreeSet<Vec<Cell>> = BTreeSet::new();
        let sides: &[bool] = if query.compare.is_some() { &[false, true] } else { &[false] };
        let needs_wide = query.measures.iter().any(|used| used.rolling.is_some());
        let needs_narrow =
            query.measures.is_empty() || query.measures.iter().any(|used| used.rolling.is_none());
        for source in &plan.sources {
            for is_before in sides {
                for row in 0..self.tables[*source].rows.len() {
                    for is_wide in [false, true] {
                        let is_needed = if is_wide { needs_wide } else { needs_narrow };
                        if is_needed {
                            keys.extend(self.group(&plan, *source, row, *is_before, is_wide));
                        }
                    }
                }
            }
        }
        if plan.dims.is_empty() {
            keys = BTreeSet::from([Vec::new()]);
        }
        let present = keys.clone();
        if query.fill {
            keys = self.filled(&plan, &keys)?;
        }
        let mut columns: Vec<String> = plan.dims.iter().map(|(name, _)| name.clone()).collect();
        columns.extend(self.figure_names(&plan));
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for key in &keys {
            let mut row = self.named(&plan, key);
            row.extend(self.figures(&plan, key, &keys, &present)?);
            rows.push(row);
        }
        rows.retain(|row| self.is_after_start(&plan, row));
        let source = &self.catalog.sources[plan.primary];
        for condition in &query.conditions {
            if crate::compile::top::is_about_figures(condition, query, source) {
                rows.retain(|row| self.row_holds(&columns, row, condition));
            }
        }
        let rest = plan.dims.iter().position(|(_, dim)| *dim == Dim::Rest);
        if let Some(rest) = rest.filter(|_| query.top.as_ref().is_some_and(|top| !top.others)) {
            rows.retain(|row| row[rest] == Cell::Flag(false));
        }
        if let Some(then) = &query.then {
            let by = self.groups_of_step(then, &plan);
            let (columns, rows) = second_step(then, &by, &columns, &rows);
            return Some(self.finish(query, columns, rows, &[], &by));
        }
        let dims: Vec<(String, bool)> =
            plan.dims.iter().map(|(name, dim)| (name.clone(), *dim == Dim::Rest)).collect();
        Some(self.finish(query, columns, rows, &dims, &[]))
    }

    /// Returns the columns by which a second step groups: those that it names with their keys, and the
    /// currency if it computes with amounts.
    fn groups_of_step(&self, then: &SecondStep, plan: &Plan<'_>) -> Vec<String> {
        let mut by = Vec::new();
        for name in &then.by {
            let places = plan.places(name);
            match places.as_slice() {
                [] => by.push(name.clone()),
                found => by.extend(found.iter().map(|at| plan.dims[*at].0.clone())),
            }
        }
        let amounts: Vec<String> = plan
            .query
            .measures
            .iter()
            .filter(|used| self.is_money(plan, used))
            .map(name_of_measure)
            .collect();
        // The growth of an amount is none.
        let is_amount = |of: &str| {
            let of = ["_before", "_compared", "_change"]
                .iter()
                .find_map(|word| of.strip_suffix(word))
                .unwrap_or(of);
            amounts.iter().any(|amount| amount == of)
        };
        let computes = then.measures.iter().any(|measure| match parts(&measure.calculation) {
            ("count", _) => false,
            (_, of) => is_amount(of),
        });
        let currency = plan.currency_place(self).map(|at| plan.dims[at].0.clone());
        by.extend(currency.filter(|name| computes && !by.contains(name)));
        by
    }

    fn time_place(&self, plan: &Plan<'_>) -> Option<(usize, TimeGrain)> {
        plan.dims.iter().enumerate().find_map(|(at, (_, dim))| match dim {
            Dim::Group(group) => match plan.query.by[*group].by {
                GroupBy::Time(grain) => Some((at, grain)),
                _ => None,
            },
            _ => None,
        })
    }

    /// Returns the place of the time in a group and its grain.
    pub(super) fn time_of(&self, plan: &Plan<'_>) -> Option<(usize, TimeGrain)> {
        self.time_place(plan)
    }

    fn is_after_start(&self, plan: &Plan<'_>, row: &[Cell]) -> bool {
        let Some((place, grain)) = self.time_place(plan).filter(|_| plan.wide_from.is_some())
        else {
            return true;
        };
        let Some(first) = self.bounds(plan, false).first else { return true };
        let calendar = self.catalog.sources[plan.primary].calendar();
        let start = unit_of(grain).map_or(first, |unit| calendar.start(unit, first));
        day_of(&row[place]).is_some_and(|day| day >= start)
    }

    fn filled(&self, plan: &Plan<'_>, keys: &BTreeSet<Vec<Cell>>) -> Option<BTreeSet<Vec<Cell>>> {
        let (place, grain) = self.time_place(plan)?;
        let source = &self.catalog.sources[plan.primary];
        let bounds = self.bounds(plan, false);
        let first =
            plan.wide_from.or(bounds.first).or(source.covered_days().map(|days| days.first))?;
        let last = bounds.last.or(source.covered_days().map(|days| days.last))?;
        let mut groups: BTreeSet<Vec<Cell>> = keys.clone();
        if plan.dims.len() == 1 {
            groups = BTreeSet::from([vec![Cell::Empty]]);
        }
        let mut times = Vec::new();
        match unit_of(grain) {
            Some(unit) => {
                let mut time = source.calendar().start(unit, first);
                while time <= last {
                    times.push(Cell::Day(time));
                    time = source.calendar().later(unit, time, 1);
                }
            }
            None => {
                let days = first.iter_days().take_while(|day| *day <= last);
                let hours = days
                    .flat_map(|day| (0..24).filter_map(move |hour| day.and_hms_opt(hour, 0, 0)));
                times.extend(hours.map(Cell::Moment));
            }
        }
        times.extend(keys.iter().map(|key| key[place].clone()));
        let mut filled = BTreeSet::new();
        for time in &times {
            for group in &groups {
                let mut key = group.clone();
                key[place] = time.clone();
                filled.insert(key);
            }
        }
        Some(filled)
    }

    /// Returns a group with the names that are found late.
    pub(super) fn named(&self, plan: &Plan<'_>, key: &[Cell]) -> Vec<Cell> {
        let mut named = key.to_vec();
        for (place, (_, dim)) in plan.dims.iter().enumerate() {
            let Dim::Group(at) = dim else { continue };
            let key_place = plan.dims.iter().position(|(_, other)| *other == Dim::Key(*at));
            let (Some(key_place), true) = (key_place, plan.sources.len() > 1) else { continue };
            let GroupBy::Dimension(name) = &plan.query.by[*at].by else { continue };
            let dimension = self.dimension_in(plan.primary, name);
            let (DimensionKind::Column(column), Some(own)) = (&dimension.kind, &dimension.key)
            else {
                continue;
            };
            let wanted = &key[key_place];
            let rows = 0..self.tables[plan.primary].rows.len();
            let cell = rows
                .map(|row| self.cell(plan.primary, row, own))
                .find(|cell| *cell != Cell::Empty && cell.text() == *wanted);
            let latest = cell.and_then(|cell| self.latest_name(plan.primary, column, own, &cell));
            named[place] = latest.unwrap_or_else(|| wanted.clone());
            let rest = plan.dims.iter().position(|(_, dim)| *dim == Dim::Rest);
            if plan.is_ranked(*at) && rest.is_some_and(|rest| key[rest] == Cell::Flag(true)) {
                named[place] = Cell::Text(OTHER.to_owned());
            }
        }
        named
    }

    fn row_holds(&self, columns: &[String], row: &[Cell], condition: &Condition) -> bool {
        match condition {
            Condition::And(parts) => parts.iter().all(|part| self.row_holds(columns, row, part)),
            Condition::Or(parts) => parts.iter().any(|part| self.row_holds(columns, row, part)),
            Condition::Not(part) => !self.row_holds(columns, row, part),
            Condition::Is { name, test } => {
                let place = columns.iter().position(|column| column == name);
                place.is_some_and(|place| self.test(&row[place], test))
            }
        }
    }

    /// Returns the values that an order by a column begins with, as its dimension says.
    fn ranks(&self, query: &MetricQuery, column: &str) -> Option<Vec<String>> {
        let mut groups = 0..query.by.len();
        let group = groups.find(|at| name_of_group(query, *at) == column)?;
        let GroupBy::Dimension(name) = &query.by[group].by else { return None };
        let source = &self.catalog.sources[primary(query, self.catalog).ok()?];
        Some(source.definitions.dimensions.get(name)?.order.clone())
    }

    /// Puts rows in the order of a query, and cuts them at its limit.
    pub(super) fn finish(
        &self,
        query: &MetricQuery,
        columns: Vec<String>,
        mut rows: Vec<Vec<Cell>>,
        dims: &[(String, bool)],
        steps: &[String],
    ) -> NamedRows {
        let place = |name: &str| columns.iter().position(|column| column == name);
        let mut order: Vec<(usize, bool)> = Vec::new();
        // The row of all others comes last, within the groups of the ranking if nothing else is asked.
        if query.order.is_empty() && query.then.is_none() {
            let per = query.top.iter().flat_map(|top| &top.per);
            order.extend(per.filter_map(|name| Some((place(name)?, false))));
        }
        order.extend(
            dims.iter()
                .filter(|(_, is_rest)| *is_rest)
                .filter_map(|(name, _)| Some((place(name)?, false))),
        );
        let asked = asked_order(query, &columns);
        let by_name = query.order.iter().map(|order| order.by.as_str());
        let ranks: BTreeMap<usize, Vec<String>> =
            by_name.filter_map(|name| Some((place(name)?, self.ranks(query, name)?))).collect();
        order.extend(
            asked.iter().filter_map(|(name, descending)| Some((place(name)?, *descending))),
        );
        let rest = dims.iter().map(|(name, _)| name).chain(steps);
        order.extend(rest.filter_map(|name| Some((place(name)?, false))));
        rows.sort_by(|a, b| {
            order
                .iter()
                .map(|(at, descending)| {
                    let first = ranks.get(at).map(Vec::as_slice).unwrap_or_default();
                    let ranked = |cell: &Cell| rank(cell, first);
                    compare(&ranked(&a[*at]), &ranked(&b[*at]), *descending)
                        .then_with(|| compare(&a[*at], &b[*at], *descending))
                })
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        // If values become columns, the limit counts the rows that are left then.
        if let Some(limit) = query.limit.filter(|_| query.pivot.is_none()) {
            rows.truncate(limit as usize);
        }
        (columns, rows)
    }
}

/// Returns the order that a query asks for.
fn asked_order(query: &MetricQuery, columns: &[String]) -> Vec<(String, bool)> {
    let top = query.top.as_ref().filter(|_| query.order.is_empty() && query.then.is_none());
    let Some(top) = top else {
        let asked = query.order.iter();
        return asked.map(|order| (order.by.clone(), order.descending)).collect();
    };
    let has_time = query.by.iter().any(|group| match group.by {
        GroupBy::Time(grain) => unit_of(grain).is_some() || grain == TimeGrain::Hour,
        _ => false,
    });
    let measure = top.by.clone().or(query.measures.first().map(name_of_measure));
    match measure.filter(|name| !has_time && columns.contains(name)) {
        Some(name) => {
            let per = top.per.iter().map(|per| (per.clone(), false));
            per.chain([(name, !top.lowest)]).collect()
        }
        None => Vec::new(),
    }
}

/// Returns the place of a value among those that come first.
fn rank(cell: &Cell, first: &[String]) -> Cell {
    let place = |text: &String| first.iter().position(|one| one == text).unwrap_or(first.len());
    match cell {
        Cell::Empty => Cell::Empty,
        Cell::Text(text) => Cell::Number(Number::whole(i64::try_from(place(text)).unwrap_or(0))),
        Cell::Number(_) | Cell::Day(_) | Cell::Moment(_) | Cell::Flag(_) => {
            Cell::Number(Number::whole(0))
        }
    }
}

/// Computes a second step over the rows of the first one.
fn second_step(
    then: &SecondStep,
    by: &[String],
    columns: &[String],
    rows: &[Vec<Cell>],
) -> NamedRows {
    let place = |name: &str| columns.iter().position(|column| column == name);
    let places: Vec<usize> = by.iter().filter_map(|name| place(name)).collect();
    let mut keys: BTreeSet<Vec<Cell>> =
        rows.iter().map(|row| places.iter().map(|at| row[*at].clone()).collect()).collect();
    if places.is_empty() {
        keys = BTreeSet::from([Vec::new()]);
    }
    let mut names = by.to_vec();
    let (mut functions, mut result) = (Vec::new(), Vec::new());
    for measure in &then.measures {
        let (function, of) = parts(&measure.calculation);
        names.push(measure.name.clone().unwrap_or_else(|| format!("{of}_{function}")));
        functions.push((function, place(of)));
    }
    for key in keys {
        let own: Vec<&Vec<Cell>> = rows
            .iter()
            .filter(|row| places.iter().zip(&key).all(|(at, cell)| row[*at] == *cell))
            .collect();
        let mut row = key.clone();
        for (function, of) in &functions {
            let mut numbers: Vec<Number> = own
                .iter()
                .filter_map(|row| match of {
                    Some(of) if *function == "count" => {
                        (row[*of] != Cell::Empty).then(|| Number::whole(1))
                    }
                    Some(of) => row[*of].number(),
                    None => Some(Number::whole(1)),
                })
                .collect();
            numbers.sort_unstable();
            let found = super::calculations::aggregate(function, &numbers);
            row.push(found.map_or(Cell::Empty, Cell::Number));
        }
        result.push(row);
    }
    (names, result)
}

fn parts(calculation: &StepCalculation) -> (&'static str, &str) {
    match calculation {
        StepCalculation::Sum(of) => ("sum", of),
        StepCalculation::Average(of) => ("average", of),
        StepCalculation::Least(of) => ("least", of),
        StepCalculation::Greatest(of) => ("greatest", of),
        StepCalculation::Median(of) => ("median", of),
        StepCalculation::Count(of) => ("count", of),
    }
}
