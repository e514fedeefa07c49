//! Calculations of the reference: a measure over the rows of a group.

use std::collections::BTreeSet;

use contract::definitions::Calculation;

use super::{
    Cell, Number,
    figures::Scope,
    number::{Figure, Quotient},
    world::World,
};
use crate::{catalog::ROWS, resolve::owner};

impl World<'_> {
    /// Computes a measure.
    pub(super) fn measure(&self, name: &str, scope: &Scope<'_>) -> Figure {
        let Ok((model, own_name)) = owner(name, &self.catalog.sources[scope.source], self.catalog)
        else {
            return Figure::Cell(Cell::Empty);
        };
        let (Ok(source), Ok(measure)) = (self.catalog.place(model.name()), model.measure(own_name))
        else {
            return Figure::Cell(Cell::Empty);
        };
        let mut scope = Scope { source, ..scope.clone() };
        scope.conditions.extend(measure.conditions);
        scope.currency = measure.currency.or(scope.currency);
        self.calculation(&measure.calculation, &scope)
    }

    /// Returns the rows of the groups that count.
    fn all_rows(&self, scope: &Scope<'_>) -> Vec<usize> {
        let rows = 0..self.tables[scope.source].rows.len();
        rows.filter(|row| {
            let group = self.group(scope.plan, scope.source, *row, scope.is_before, scope.is_wide);
            group.is_some_and(|group| (scope.fits)(&group))
        })
        .collect()
    }

    fn counts(&self, scope: &Scope<'_>, row: usize) -> bool {
        scope.conditions.iter().all(|condition| self.holds(scope.source, row, condition))
    }

    /// Computes a calculation.
    pub(super) fn calculation(&self, calculation: &Calculation, scope: &Scope<'_>) -> Figure {
        let of_column = || self.catalog.sources[scope.source].currency_of(calculation);
        let currency = scope.currency.clone().or_else(of_column);
        let scope = &Scope { currency, ..scope.clone() };
        let number = |name: &String| self.measure(name, scope).number();
        let quotient = |above: Option<Number>, below: Option<Number>| {
            Figure::Quotient(above.zip(below).map(|(above, below)| Quotient::of(above, below)))
        };
        let rows = || {
            let mut rows = self.all_rows(scope);
            rows.retain(|row| self.counts(scope, *row));
            rows
        };
        let values = |column: &str| -> Vec<Number> {
            let mut values: Vec<Number> =
                rows().into_iter().filter_map(|row| self.amount(scope, row, column)).collect();
            values.sort_unstable();
            values
        };
        let found = match calculation {
            Calculation::Sum(column) => self.sum(scope, &|row| self.amount(scope, row, column)),
            Calculation::Count(column) => self.count(scope, column),
            Calculation::Average(column) => {
                let sum = self.sum(scope, &|row| self.amount(scope, row, column));
                return quotient(sum, self.count(scope, column));
            }
            Calculation::Weighted(weighted) => {
                let value = |row| self.amount(scope, row, &weighted.column);
                let by = |row| self.cell(scope.source, row, &weighted.by).number();
                let above = self.sum(scope, &|row| Some(value(row)?.times(by(row)?)));
                let below = self.sum(scope, &|row| value(row).and_then(|_| by(row)));
                return quotient(above, below);
            }
            Calculation::Distinct(name) => {
                let dimension = self.dimension_in(scope.source, name);
                let mut seen = BTreeSet::new();
                for row in rows() {
                    let cell = match &dimension.key {
                        Some(key) => match self.cell(scope.source, row, key) {
                            Cell::Empty => {
                                let own = contract::definitions::Dimension::of_kind(
                                    dimension.kind.clone(),
                                );
                                self.value_of(scope.source, row, &own)
                            }
                            found => found.text(),
                        },
                        None => self.value_of(scope.source, row, &dimension),
                    };
                    if cell != Cell::Empty {
                        seen.insert(cell);
                    }
                }
                let count = Number::whole(i64::try_from(seen.len()).unwrap_or(0));
                self.if_rows(scope, count)
            }
            Calculation::Last(last) => self.last(scope, &last.column, &last.per),
            Calculation::Least(column) | Calculation::Greatest(column) => {
                let is_least = matches!(calculation, Calculation::Least(_));
                let cell = |row| match self.cell(scope.source, row, column) {
                    Cell::Number(_) => {
                        self.amount(scope, row, column).map_or(Cell::Empty, Cell::Number)
                    }
                    other => other,
                };
                let cells = rows().into_iter().map(cell).filter(|cell| *cell != Cell::Empty);
                let found = if is_least { cells.min() } else { cells.max() };
                return Figure::Cell(found.unwrap_or(Cell::Empty));
            }
            Calculation::Median(column) => percentile(&values(column), 50),
            Calculation::Percentile(of) => percentile(&values(&of.column), i64::from(of.at)),
            Calculation::Single(column) => match values(column).as_slice() {
                [one] => Some(*one),
                _ => None,
            },
            Calculation::Ratio([above, below]) => {
                let above = self.measure(above, scope).quotient();
                let below = self.measure(below, scope).quotient();
                return Figure::Quotient(above.zip(below).map(|(above, below)| above.over(below)));
            }
            Calculation::Plus(names) => {
                let parts = names.iter().filter_map(number);
                parts.reduce(Number::plus)
            }
            Calculation::Minus([a, b]) => match (number(a), number(b)) {
                (Some(a), Some(b)) => Some(a.minus(b)),
                (Some(a), None) => Some(a),
                (None, Some(b)) => Some(Number::whole(0).minus(b)),
                (None, None) => None,
            },
            Calculation::Of(name) => return self.measure(name, scope),
        };
        Figure::Cell(found.map_or(Cell::Empty, Cell::Number))
    }

    /// Returns a count. A group without rows has none, unless there is no group at all.
    fn if_rows(&self, scope: &Scope<'_>, count: Number) -> Option<Number> {
        let is_total = !scope.plan.has_dims()
            && !self.is_without_data(scope.plan, scope.source, scope.is_before);
        let is_there = !self.all_rows(scope).is_empty() || is_total || scope.is_zero;
        is_there.then_some(count)
    }

    fn count(&self, scope: &Scope<'_>, column: &str) -> Option<Number> {
        let is_rows =
            column == ROWS && self.catalog.sources[scope.source].find_column(ROWS).is_none();
        let rows = self.all_rows(scope);
        let counted = rows.iter().filter(|row| {
            self.counts(scope, **row)
                && (is_rows || self.cell(scope.source, **row, column) != Cell::Empty)
        });
        self.if_rows(scope, Number::whole(i64::try_from(counted.count()).unwrap_or(0)))
    }

    /// Adds values up. Rows that do not count add zero.
    fn sum(&self, scope: &Scope<'_>, value: &dyn Fn(usize) -> Option<Number>) -> Option<Number> {
        let mut sum = scope.is_zero.then(|| Number::whole(0));
        for row in self.all_rows(scope) {
            let own = if self.counts(scope, row) { value(row) } else { Some(Number::whole(0)) };
            if let Some(own) = own {
                sum = Some(sum.map_or(own, |sum| sum.plus(own)));
            }
        }
        sum
    }

    fn last(&self, scope: &Scope<'_>, column: &str, per: &[String]) -> Option<Number> {
        let mut latest: Vec<(Vec<Cell>, Vec<Cell>, Cell, Number)> = Vec::new();
        for row in self.all_rows(scope) {
            let Some(value) = self.amount(scope, row, column).filter(|_| self.counts(scope, row))
            else {
                continue;
            };
            let group =
                self.group(scope.plan, scope.source, row, scope.is_before, scope.is_wide)?;
            let key: Vec<Cell> = per
                .iter()
                .map(|name| {
                    let dimension = self.dimension_in(scope.source, name);
                    match &dimension.key {
                        Some(key) => self.cell(scope.source, row, key),
                        None => self.value_of(scope.source, row, &dimension),
                    }
                })
                .collect();
            // A row without a time is the earliest one.
            let time = self.time(scope.source, row);
            let is_later = |a: &Cell, b: &Cell| match (a, b) {
                (Cell::Empty, _) => false,
                (_, Cell::Empty) => true,
                (a, b) => a > b,
            };
            match latest.iter_mut().find(|(g, k, _, _)| *g == group && *k == key) {
                Some((_, _, known, number)) => {
                    if is_later(&time, known) || (time == *known && value > *number) {
                        (*known, *number) = (time, value);
                    }
                }
                None => latest.push((group, key, time, value)),
            }
        }
        latest.into_iter().map(|(_, _, _, number)| number).reduce(Number::plus)
    }
}

/// Returns a percentile of sorted numbers, between its two neighbours.
fn percentile(sorted: &[Number], at: i64) -> Option<Number> {
    let last = i64::try_from(sorted.len()).ok()? - 1;
    let low = sorted.get(usize::try_from(last * at / 100).ok()?)?;
    let high = sorted.get(usize::try_from(last * at / 100).ok()? + 1).unwrap_or(low);
    let rest = Number { unscaled: i128::from(last * at % 100), scale: 2 };
    Some(low.plus(high.minus(*low).times(rest)))
}

/// Computes an aggregate of sorted numbers, for a second step.
pub(super) fn aggregate(function: &str, sorted: &[Number]) -> Option<Number> {
    let count = Number::whole(i64::try_from(sorted.len()).ok()?);
    let sum = sorted.iter().copied().reduce(Number::plus);
    match function {
        "count" => Some(count),
        "sum" => sum,
        "average" => sum.and_then(|sum| sum.over(count)),
        "least" => sorted.first().copied(),
        "greatest" => sorted.last().copied(),
        _ => percentile(sorted, 50),
    }
}
