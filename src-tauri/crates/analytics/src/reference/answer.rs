//! Evaluates a query: groups of rows, figures, conditions on figures, order and limit.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use contract::{
    definitions::{Calculation, CurrencyOf, Dimension, DimensionKind},
    metric_query::{Condition, GroupBy, MeasureUse, MetricQuery, Shift, TimeGrain},
};
use serde_json::Value;

use super::{Cell, Table, plans, world::World};
use crate::{
    Catalog,
    compile::{
        currency::Currencies,
        groups::{OTHER, name_of_group, reads_others},
        pace_scope::PaceScope,
        times::shift_of_grain,
        top::row_conditions,
    },
    resolve::{DayBounds, bounds_of, first_of_windows, primary},
};

/// The answer of the reference: columns by name, and rows in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
}

/// Evaluates a resolved query over tables in memory, one for each source of the catalog. The values of
/// a dimension do not become columns, and a limit does not count then.
pub fn evaluate(query: &MetricQuery, catalog: &Catalog, tables: &[Table]) -> Option<Answer> {
    let tables: Vec<Table> =
        catalog.sources.iter().zip(tables).map(|(one, table)| plans::rows_of(one, table)).collect();
    let tables = with_computed(query, catalog, tables)?;
    let world = World { catalog, tables: &tables };
    let (mut columns, mut rows) = match (&query.explain, query.rows) {
        (Some(explain), _) => world.explained(explain, query)?,
        (None, true) => world.single_rows(query)?,
        (None, false) => world.rows_of(query)?,
    };
    if query.totals {
        world.add_totals(query, &mut columns, &mut rows)?;
    }
    let rows = rows.iter().map(|row| row.iter().map(Cell::value).collect()).collect();
    Some(Answer { columns, rows })
}

/// Adds the rows of computed sources. None if a query compares two periods of them, whose rows differ.
fn with_computed(
    query: &MetricQuery,
    catalog: &Catalog,
    mut tables: Vec<Table>,
) -> Option<Vec<Table>> {
    for at in 0..catalog.sources.len() {
        let source = &catalog.sources[at];
        if source.definitions.pacing.is_none() {
            continue;
        }
        let has_two = query.compare.as_ref().is_some_and(|compare| compare.period.is_some());
        if has_two {
            return None;
        }
        let window = crate::resolve::bounds_of(query.period.as_ref());
        let scope = PaceScope::of_query(query, source, window).ok()??;
        let world = World { catalog, tables: &tables };
        let rows = super::pacing::rows_of(&world, source, &scope)?;
        tables[at] = rows;
    }
    Some(tables)
}

/// A dimension of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dim {
    Group(usize),
    Key(usize),
    Currency,
    Rest,
}

/// The groups of a query.
pub(super) struct Plan<'a> {
    pub query: &'a MetricQuery,
    pub primary: usize,
    pub dims: Vec<(String, Dim)>,
    currencies: Currencies,
    pub sources: Vec<usize>,
    ranking: Option<Ranking>,
    pub wide_from: Option<NaiveDate>,
}

/// The first groups by a measure.
pub(super) struct Ranking {
    /// The group of the query that is ranked.
    pub of: usize,
    /// The dimensions that identify a group of the ranking.
    pub dims: Vec<Dim>,
    /// The first groups.
    pub first: BTreeSet<Vec<Cell>>,
}

pub(super) type NamedRows = (Vec<String>, Vec<Vec<Cell>>);

impl World<'_> {
    /// Returns a dimension as a source has it.
    pub(super) fn dimension_in(&self, source: usize, name: &str) -> Dimension {
        let model = &self.catalog.sources[source];
        // The first source has the names of the query, and joins to the others.
        let first = &self.catalog.sources[0];
        let is_joined = first.definitions.joins.contains_key(model.name().as_str());
        let own = model.definitions.dimensions.get(name).cloned();
        if let Some(own) = own.or_else(|| model.dimension(name).ok().filter(|_| !is_joined)) {
            return own;
        }
        let dimension = first.definitions.dimensions.get(name);
        let join = first.definitions.joins.get(model.name().as_str());
        let column = dimension.zip(join).and_then(|(dimension, join)| {
            let DimensionKind::Column(own) = &dimension.kind else { return None };
            let by_key = dimension.key.as_ref().and_then(|key| join.on.get(key));
            by_key.or_else(|| join.on.get(own)).cloned()
        });
        Dimension::of_column(column.unwrap_or_else(|| name.to_owned()))
    }

    /// Returns the column of a joined source with the keys of a dimension of the first one, and that
    /// of the first one.
    pub(super) fn joined_key(&self, source: usize, name: &str) -> Option<(String, String)> {
        let model = &self.catalog.sources[source];
        let first = &self.catalog.sources[0];
        if source == 0 || model.definitions.dimensions.contains_key(name) {
            return None;
        }
        let key = first.definitions.dimensions.get(name)?.key.clone()?;
        let joined = first.definitions.joins.get(model.name().as_str())?.on.get(&key)?.clone();
        Some((joined, key))
    }

    fn key_in(&self, source: usize, name: &str) -> Option<String> {
        let model = &self.catalog.sources[source];
        if let Some(own) = model.definitions.dimensions.get(name) {
            return own.key.clone();
        }
        let first = &self.catalog.sources[0];
        let key = first.definitions.dimensions.get(name)?.key.as_ref()?;
        first.definitions.joins.get(model.name().as_str())?.on.get(key).cloned()
    }

    /// Whether a source has no data for any day of a side.
    pub(super) fn is_without_data(&self, plan: &Plan<'_>, source: usize, is_before: bool) -> bool {
        let days = self.catalog.sources[source].covered_days();
        days.is_some_and(|days| self.bounds(plan, is_before).is_outside(days))
    }

    /// Returns the values of the only dimension of an inner query.
    pub(super) fn inner(&self, query: &MetricQuery) -> Vec<Cell> {
        let Some((columns, rows)) = self.rows_of(query) else { return Vec::new() };
        let name = name_of_group(query, 0);
        let key = match &query.by[0].by {
            GroupBy::Dimension(dimension) => {
                self.key_in(primary(query, self.catalog).unwrap_or(0), dimension)
            }
            _ => None,
        };
        let wanted = key.unwrap_or(name);
        let place = columns.iter().position(|column| *column == wanted).unwrap_or(0);
        rows.iter().map(|row| row[place].clone()).filter(|cell| *cell != Cell::Empty).collect()
    }

    pub(super) fn plan<'a>(&self, query: &'a MetricQuery) -> Option<Plan<'a>> {
        let source = primary(query, self.catalog).ok()?;
        let sources = self.sources_of(&query.measures, source);
        let currencies = Currencies::find(query, self.catalog, source, &query.measures).ok()?;
        let wide_from = first_of_windows(query, self.catalog.sources[source].calendar());
        let mut plan = Plan {
            query,
            primary: source,
            dims: Vec::new(),
            currencies,
            sources,
            ranking: None,
            wide_from,
        };
        plan.dims = self.dims(&plan);
        plan.ranking = self.ranking(&plan)?;
        Some(plan)
    }

    fn dims(&self, plan: &Plan<'_>) -> Vec<(String, Dim)> {
        let query = plan.query;
        let mut dims: Vec<(String, Dim)> = Vec::new();
        for group in 0..query.by.len() {
            let name = name_of_group(query, group);
            dims.push((name.clone(), Dim::Group(group)));
            let GroupBy::Dimension(dimension) = &query.by[group].by else { continue };
            let keys = plan.sources.iter().map(|source| self.key_in(*source, dimension));
            let all: Option<Vec<String>> = keys.collect();
            let own = self.key_in(plan.primary, dimension);
            if let (Some(_), Some(key)) = (all, own) {
                let taken = dims.iter().any(|(known, _)| *known == key);
                dims.push((if taken { format!("{name}_key") } else { key }, Dim::Key(group)));
            }
        }
        let has_currency = query.by.iter().any(|group| self.is_currency(plan, &group.by));
        if plan.currencies.is_split && !has_currency {
            dims.push(("currency".to_owned(), Dim::Currency));
        }
        if reads_others(query) {
            dims.push(("_rest".to_owned(), Dim::Rest));
        }
        dims
    }

    fn is_currency(&self, plan: &Plan<'_>, by: &GroupBy) -> bool {
        let GroupBy::Dimension(name) = by else { return false };
        let own = self.dimension_in(plan.primary, name).kind;
        matches!(
            (own, plan.currencies.of_source.get(&plan.primary)),
            (DimensionKind::Column(own), Some(CurrencyOf::Column { column })) if own == *column
        )
    }

    pub(super) fn bounds(&self, plan: &Plan<'_>, is_before: bool) -> DayBounds {
        let compared = plan.query.compare.as_ref().and_then(|compare| compare.period.as_ref());
        match (is_before, compared) {
            (true, Some(period)) => bounds_of(Some(period)),
            (_, _) => bounds_of(plan.query.period.as_ref()),
        }
    }

    fn shift(&self, plan: &Plan<'_>, grain: TimeGrain) -> Option<Shift> {
        let shift = plan.query.compare.as_ref()?.shift?;
        let now = self.bounds(plan, false).first?;
        let before = self.bounds(plan, true).first?;
        Some(shift_of_grain(grain, shift, now, before))
    }

    fn dim_value(
        &self,
        plan: &Plan<'_>,
        source: usize,
        row: usize,
        is_before: bool,
        dim: Dim,
    ) -> Cell {
        match dim {
            Dim::Group(at) => {
                let by = &plan.query.by[at].by;
                let shift = match by {
                    GroupBy::Time(grain) if is_before => self.shift(plan, *grain),
                    _ => None,
                };
                if plan.is_late(at) {
                    return Cell::Empty;
                }
                self.group_value(source, row, by, shift)
            }
            Dim::Key(at) => {
                let GroupBy::Dimension(name) = &plan.query.by[at].by else { return Cell::Empty };
                let key = self.key_in(source, name).unwrap_or_default();
                let cell = self.cell(source, row, &key);
                if plan.sources.len() > 1 { cell.text() } else { cell }
            }
            Dim::Currency => match plan.currencies.of_source.get(&source) {
                Some(CurrencyOf::Column { column }) => self.cell(source, row, column),
                Some(CurrencyOf::Constant(code)) => Cell::Text(code.clone()),
                None => Cell::Empty,
            },
            Dim::Rest => Cell::Flag(false),
        }
    }

    /// Returns the group that a row belongs to. None if it is not counted at all.
    pub(super) fn group(
        &self,
        plan: &Plan<'_>,
        source: usize,
        row: usize,
        is_before: bool,
        is_wide: bool,
    ) -> Option<Vec<Cell>> {
        let mut bounds = self.bounds(plan, is_before);
        if is_wide && let (Some(first), Some(wide)) = (bounds.first, plan.wide_from) {
            let now = self.bounds(plan, false).first.unwrap_or(first);
            bounds.first = Some(first - (now - wide));
        }
        if !self.is_in(source, row, bounds) {
            return None;
        }
        let conditions = row_conditions(plan.query, &self.catalog.sources[plan.primary]);
        if !conditions.iter().all(|condition| self.holds(source, row, condition)) {
            return None;
        }
        if let Some((name, values)) =
            plan.query.compare.as_ref().and_then(|compare| compare.values.iter().next())
        {
            let value = values[usize::from(is_before)].clone();
            let test = contract::metric_query::Test::OneOf(vec![value]);
            let condition = Condition::Is { name: name.clone(), test };
            if !self.holds(source, row, &condition) {
                return None;
            }
        }
        let mut key: Vec<Cell> = plan
            .dims
            .iter()
            .map(|(_, dim)| self.dim_value(plan, source, row, is_before, *dim))
            .collect();
        if let Some(Ranking { of, dims, first }) = &plan.ranking {
            let id: Vec<Cell> =
                dims.iter().map(|dim| self.dim_value(plan, source, row, is_before, *dim)).collect();
            let is_first = first.contains(&id);
            if !is_first && !reads_others(plan.query) {
                return None;
            }
            let others = plan.query.top.as_ref().is_some_and(|top| top.others);
            for (cell, (_, dim)) in key.iter_mut().zip(&plan.dims) {
                *cell = match dim {
                    Dim::Rest => Cell::Flag(!is_first),
                    _ if !others => cell.clone(),
                    Dim::Group(at) if at == of && !is_first => Cell::Text(OTHER.to_owned()),
                    Dim::Group(at) if at == of => cell.text(),
                    Dim::Key(at) if at == of && !is_first => Cell::Empty,
                    _ => cell.clone(),
                };
            }
        }
        Some(key)
    }

    /// Returns the sources that measures come from, the first one first.
    pub(super) fn sources_of(&self, measures: &[MeasureUse], source: usize) -> Vec<usize> {
        let mut sources: Vec<usize> = Vec::new();
        for used in measures {
            let calculation = used.measure.clone().map(Calculation::Of);
            if let Some(calculation) = calculation.or_else(|| used.calculation.clone()) {
                self.leaf_sources(&calculation, source, &mut sources);
            }
        }
        if sources.is_empty() {
            sources.push(source);
        }
        sources.sort_unstable_by_key(|found| (*found != source, *found));
        sources.dedup();
        sources
    }

    fn leaf_sources(&self, calculation: &Calculation, source: usize, found: &mut Vec<usize>) {
        let parts = crate::resolve::parts_of(calculation);
        if parts.is_empty() {
            found.push(source);
        }
        for part in parts {
            let Ok((model, name)) =
                crate::resolve::owner(part, &self.catalog.sources[source], self.catalog)
            else {
                continue;
            };
            let (Ok(place), Ok(measure)) = (self.catalog.place(model.name()), model.measure(name))
            else {
                continue;
            };
            self.leaf_sources(&measure.calculation, place, found);
        }
    }
}

/// Compares cells. The empty one comes last in both directions.
pub(super) fn compare(a: &Cell, b: &Cell, descending: bool) -> std::cmp::Ordering {
    match (a, b) {
        (Cell::Empty, _) | (_, Cell::Empty) => a.cmp(b),
        (a, b) if descending => b.cmp(a),
        (a, b) => a.cmp(b),
    }
}

impl Plan<'_> {
    /// Whether the names of a group are found after the figures of several sources are together.
    pub(super) fn is_late(&self, group: usize) -> bool {
        self.sources.len() > 1 && self.dims.iter().any(|(_, dim)| *dim == Dim::Key(group))
    }

    /// Whether the values of a group are ranked.
    pub(super) fn is_ranked(&self, group: usize) -> bool {
        self.ranking.as_ref().is_some_and(|ranking| ranking.of == group)
    }

    /// Returns the place of the currency in a group.
    pub(super) fn currency_place(&self, world: &World<'_>) -> Option<usize> {
        self.dims.iter().position(|(_, dim)| match dim {
            Dim::Currency => true,
            Dim::Group(at) => {
                self.currencies.is_split && world.is_currency(self, &self.query.by[*at].by)
            }
            Dim::Key(_) | Dim::Rest => false,
        })
    }

    /// Returns the places of a dimension and its key in a group.
    pub(super) fn places(&self, name: &str) -> Vec<usize> {
        let place = self.dims.iter().position(|(known, _)| known == name);
        let Some(place) = place else { return Vec::new() };
        let Dim::Group(at) = self.dims[place].1 else { return vec![place] };
        let key = self.dims.iter().position(|(_, dim)| *dim == Dim::Key(at));
        [Some(place), key].into_iter().flatten().collect()
    }

    /// Whether a group has dimensions.
    pub(super) fn has_dims(&self) -> bool {
        !self.dims.is_empty()
    }
}
