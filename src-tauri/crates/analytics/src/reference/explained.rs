//! Explanations of the reference: how different a measure would be if a group had stayed as before.

use std::collections::BTreeSet;

use contract::{
    definitions::Calculation,
    metric_query::{Explain, Group, MeasureUse, MetricQuery},
};

use super::{
    Cell, Number,
    answer::{NamedRows, Plan, compare},
    figures::Scope,
    number::{Figure, Quotient},
    world::World,
};
use crate::resolve::owner;

/// The decimal places of quotients that are subtracted from each other.
const FINE: u8 = 18;

/// Computes a sum, a count or last values.
type Leaf<'l> = &'l dyn Fn(&Calculation, &Scope<'_>) -> Option<Number>;

impl World<'_> {
    /// Returns the rows of an explanation.
    pub(super) fn explained(&self, explain: &Explain, query: &MetricQuery) -> Option<NamedRows> {
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let mut has_currency = false;
        for dimension in &explain.by {
            let inner = MetricQuery {
                measures: vec![MeasureUse::named(explain.measure.clone())],
                by: vec![Group::dimension(dimension.clone())],
                explain: None,
                limit: None,
                ..query.clone()
            };
            let plan = self.plan(&inner)?;
            has_currency = plan.currency_place(self).is_some();
            rows.extend(self.contributions(&plan, &explain.measure, dimension)?);
        }
        let places = if has_currency { [3, 4, 5] } else { [2, 3, 4] };
        let [before, now, contribution] = places;
        rows.sort_by(|a, b| {
            let size = |row: &[Cell]| match &row[contribution] {
                Cell::Number(number) => {
                    Cell::Number(Number { unscaled: number.unscaled.abs(), scale: number.scale })
                }
                other => other.clone(),
            };
            let mut order = vec![compare(&size(a), &size(b), true), a[0].cmp(&b[0])];
            let rest =
                if has_currency { [2, 1, before, now].to_vec() } else { vec![1, before, now] };
            order.extend(rest.into_iter().map(|at| compare(&a[at], &b[at], false)));
            order.into_iter().find(|one| one.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        if let Some(limit) = query.limit {
            rows.truncate(limit as usize);
        }
        let mut columns = vec!["dimension", "value"];
        columns.extend(has_currency.then_some("currency"));
        columns.extend(["before", "now", "contribution", "share_of_change"]);
        Some((columns.into_iter().map(str::to_owned).collect(), rows))
    }

    fn contributions(
        &self,
        plan: &Plan<'_>,
        measure: &str,
        dimension: &str,
    ) -> Option<Vec<Vec<Cell>>> {
        let mut keys: BTreeSet<Vec<Cell>> = BTreeSet::new();
        for source in &plan.sources {
            for is_before in [false, true] {
                for row in 0..self.tables[*source].rows.len() {
                    keys.extend(self.group(plan, *source, row, is_before, false));
                }
            }
        }
        let currency = plan.currency_place(self);
        let mut rows = Vec::new();
        for key in &keys {
            let is_same = |other: &&Vec<Cell>| currency.is_none_or(|at| other[at] == key[at]);
            let all: Vec<&Vec<Cell>> = keys.iter().filter(is_same).collect();
            let own = |calculation: &Calculation, scope: &Scope<'_>, is_before: bool| {
                self.leaf(calculation, scope, key, is_before)
            };
            let total = |calculation: &Calculation, scope: &Scope<'_>, is_before: bool| {
                let values =
                    all.iter().filter_map(|key| self.leaf(calculation, scope, key, is_before));
                values.reduce(Number::plus)
            };
            let figure = |leaf: Leaf<'_>| self.composed(measure, plan, leaf);
            let now = figure(&|of, scope| own(of, scope, false))?;
            let before = figure(&|of, scope| own(of, scope, true))?;
            let all_now = figure(&|of, scope| total(of, scope, false))?;
            let all_before = figure(&|of, scope| total(of, scope, true))?;
            let without = figure(&|of, scope| {
                let or_zero = |number: Option<Number>| number.unwrap_or(Number::whole(0));
                let rest = or_zero(total(of, scope, false)).minus(or_zero(own(of, scope, false)));
                Some(rest.plus(or_zero(own(of, scope, true))))
            })?;
            let difference =
                |a: Option<Number>, b: Option<Number>| a.zip(b).map(|(a, b)| a.minus(b));
            let contribution = difference(all_now.number(), without.number());
            let share = match (&all_now, &without, &all_before) {
                (Figure::Quotient(now), Figure::Quotient(without), Figure::Quotient(before)) => {
                    let fine = |one: &Option<Quotient>| one.and_then(|one| one.number(FINE));
                    let part = difference(fine(now), fine(without));
                    part.zip(difference(fine(now), fine(before)))
                }
                (_, _, _) => contribution.zip(difference(all_now.number(), all_before.number())),
            };
            let share = share.and_then(|(part, change)| part.over(change));
            let cell = |number: Option<Number>| number.map_or(Cell::Empty, Cell::Number);
            let named = self.named(plan, key);
            let mut row = vec![Cell::Text(dimension.to_owned()), named[0].text()];
            row.extend(currency.map(|at| named[at].clone()));
            row.extend([before.cell(), now.cell(), cell(contribution), cell(share)]);
            rows.push(row);
        }
        Some(rows)
    }

    /// Returns a sum, a count or last values of a group.
    fn leaf(
        &self,
        calculation: &Calculation,
        scope: &Scope<'_>,
        key: &[Cell],
        is_before: bool,
    ) -> Option<Number> {
        let fits = |other: &[Cell]| other == key;
        self.calculation(calculation, &Scope { fits: &fits, is_before, ..scope.clone() }).number()
    }

    /// Computes a measure from parts that a function computes. None if it has other parts.
    fn composed(&self, measure: &str, plan: &Plan<'_>, leaf: Leaf<'_>) -> Option<Figure> {
        let scope = Scope {
            plan,
            source: plan.primary,
            is_before: false,
            is_wide: false,
            fits: &|_| true,
            is_zero: false,
            conditions: Vec::new(),
            currency: None,
        };
        self.composed_measure(measure, &scope, leaf)
    }

    fn composed_measure(&self, name: &str, scope: &Scope<'_>, leaf: Leaf<'_>) -> Option<Figure> {
        let (model, own) = owner(name, &self.catalog.sources[scope.source], self.catalog).ok()?;
        let measure = model.measure(own).ok()?;
        let mut scope = Scope { source: self.catalog.place(model.name()).ok()?, ..scope.clone() };
        scope.conditions.extend(measure.conditions);
        scope.currency = measure.currency.or(scope.currency);
        let part = |name: &String| self.composed_measure(name, &scope, leaf);
        let number =
            |number: Option<Number>| Figure::Cell(number.map_or(Cell::Empty, Cell::Number));
        Some(match &measure.calculation {
            own @ (Calculation::Sum(_) | Calculation::Count(_) | Calculation::Last(_)) => {
                number(leaf(own, &scope))
            }
            Calculation::Average(column) => {
                let above = leaf(&Calculation::Sum(column.clone()), &scope);
                let below = leaf(&Calculation::Count(column.clone()), &scope);
                Figure::Quotient(above.zip(below).map(|(above, below)| Quotient::of(above, below)))
            }
            Calculation::Ratio([above, below]) => {
                let parts = part(above)?.quotient().zip(part(below)?.quotient());
                Figure::Quotient(parts.map(|(above, below)| above.over(below)))
            }
            Calculation::Plus(names) => {
                let parts: Vec<Figure> = names.iter().map(part).collect::<Option<_>>()?;
                number(parts.iter().filter_map(Figure::number).reduce(Number::plus))
            }
            Calculation::Minus([a, b]) => number(match (part(a)?.number(), part(b)?.number()) {
                (Some(a), Some(b)) => Some(a.minus(b)),
                (Some(a), None) => Some(a),
                (None, Some(b)) => Some(Number::whole(0).minus(b)),
                (None, None) => None,
            }),
            Calculation::Of(name) => part(name)?,
            _ => return None,
        })
    }
}
