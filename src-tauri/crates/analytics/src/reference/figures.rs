//! Figures of the reference: each is computed again from the rows of its group.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use contract::{
    definitions::{Calculation, CurrencyOf, Unit},
    metric_query::{CalendarUnit, Condition, MeasureUse},
};

use super::{
    Cell, Number,
    answer::Plan,
    number::{Figure, Quotient},
    rows::day_of,
    world::World,
};
use crate::{
    calendar::days_later,
    compile::{currency::currencies_of, times::unit_of},
    figure_names::name_of_measure,
    resolve::{owner, parts_of_span},
};

/// The rows that a figure is computed from.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    pub plan: &'a Plan<'a>,
    pub source: usize,
    pub is_before: bool,
    pub is_wide: bool,
    /// Whether a group counts.
    pub fits: &'a dyn Fn(&[Cell]) -> bool,
    /// Whether no rows mean zero.
    pub is_zero: bool,
    pub conditions: Vec<Condition>,
    pub currency: Option<CurrencyOf>,
}

impl World<'_> {
    /// Returns the names of all figures.
    pub(super) fn figure_names(&self, plan: &Plan<'_>) -> Vec<String> {
        let compare = plan.query.compare.as_ref();
        let mut names = Vec::new();
        for used in &plan.query.measures {
            let name = name_of_measure(used);
            names.push(name.clone());
            if let Some(compare) = compare {
                let word = if compare.values.is_empty() { "before" } else { "compared" };
                names.push(format!("{name}_{word}"));
                if self.is_number(plan, used) {
                    names.push(format!("{name}_change"));
                    names.push(format!("{name}_growth"));
                }
            }
        }
        names
    }

    fn is_number(&self, plan: &Plan<'_>, used: &MeasureUse) -> bool {
        let calculation = self.calculation_of(plan, used);
        match calculation {
            Some((source, Calculation::Least(column) | Calculation::Greatest(column))) => {
                let column = self.catalog.sources[source].find_column(&column);
                column.is_some_and(|column| super::rows::is_number(column.kind))
            }
            _ => true,
        }
    }

    /// Whether the figures of a measure are written as amounts of a currency.
    pub(super) fn is_money(&self, plan: &Plan<'_>, used: &MeasureUse) -> bool {
        let is_money = |unit: &Option<Unit>| *unit == Some(Unit::Money);
        used.share_of.is_empty()
            && match &used.measure {
                Some(name) => owner(name, &self.catalog.sources[plan.primary], self.catalog)
                    .is_ok_and(|(model, own)| model.measure(own).is_ok_and(|m| is_money(&m.unit))),
                None => match &used.calculation {
                    Some(Calculation::Ratio([above, below])) => {
                        let is_money =
                            |name: &String| self.is_money(plan, &MeasureUse::named(name));
                        is_money(above) && !is_money(below)
                    }
                    Some(own) => self.catalog.sources[plan.primary].currency_of(own).is_some(),
                    None => false,
                },
            }
    }

    fn calculation_of(&self, plan: &Plan<'_>, used: &MeasureUse) -> Option<(usize, Calculation)> {
        match (&used.measure, &used.calculation) {
            (Some(name), _) => {
                let (model, name) =
                    owner(name, &self.catalog.sources[plan.primary], self.catalog).ok()?;
                Some((
                    self.catalog.place(model.name()).ok()?,
                    model.measure(name).ok()?.calculation,
                ))
            }
            (None, own) => Some((plan.primary, own.clone()?)),
        }
    }

    /// Returns all figures of a group.
    pub(super) fn figures(
        &self,
        plan: &Plan<'_>,
        key: &[Cell],
        keys: &BTreeSet<Vec<Cell>>,
        present: &BTreeSet<Vec<Cell>>,
    ) -> Option<Vec<Cell>> {
        let mut cells = Vec::new();
        for used in &plan.query.measures {
            let now = self.figure(plan, used, key, keys, present, false);
            cells.push(now.cell());
            if plan.query.compare.is_none() {
                continue;
            }
            let before = self.figure(plan, used, key, keys, present, true);
            cells.push(before.cell());
            if !self.is_number(plan, used) {
                continue;
            }
            let has_data = |source: &usize| {
                [false, true].iter().all(|side| !self.is_without_data(plan, *source, *side))
            };
            let adds_up = used.share_of.is_empty()
                && used.per.is_none()
                && self.adds_up(plan, used)
                && plan.sources.iter().all(has_data);
            let change = match (now.number(), before.number(), adds_up) {
                (Some(now), Some(before), _) => Some(now.minus(before)),
                (Some(now), None, true) => Some(now),
                (None, Some(before), true) => Some(Number::whole(0).minus(before)),
                (_, _, _) => None,
            };
            cells.push(change.map_or(Cell::Empty, Cell::Number));
            let growth = match (&now, &before) {
                (Figure::Quotient(now), Figure::Quotient(before)) => {
                    now.zip(*before).and_then(|(now, before)| now.growth(before))
                }
                (_, _) => {
                    change.zip(before.number()).and_then(|(change, before)| change.over(before))
                }
            };
            cells.push(growth.map_or(Cell::Empty, Cell::Number));
        }
        Some(cells)
    }

    /// Whether a measure is made of sums alone. Windows over them are computed figures.
    fn adds_up(&self, plan: &Plan<'_>, used: &MeasureUse) -> bool {
        !used.running
            && used.rolling.is_none()
            && self
                .calculation_of(plan, used)
                .is_some_and(|(source, own)| self.is_sum(&own, source))
    }

    fn is_sum(&self, calculation: &Calculation, source: usize) -> bool {
        match calculation {
            Calculation::Sum(_) | Calculation::Count(_) | Calculation::Last(_) => true,
            Calculation::Plus(_) | Calculation::Minus(_) | Calculation::Of(_) => {
                crate::resolve::parts_of(calculation).into_iter().all(|name| {
                    let found = owner(name, &self.catalog.sources[source], self.catalog).ok();
                    found.is_some_and(|(model, name)| {
                        let place = self.catalog.place(model.name()).unwrap_or(source);
                        model.measure(name).is_ok_and(|m| self.is_sum(&m.calculation, place))
                    })
                })
            }
            _ => false,
        }
    }

    fn figure(
        &self,
        plan: &Plan<'_>,
        used: &MeasureUse,
        key: &[Cell],
        keys: &BTreeSet<Vec<Cell>>,
        present: &BTreeSet<Vec<Cell>>,
        is_before: bool,
    ) -> Figure {
        let is_empty_zero =
            |key: &[Cell]| !present.contains(key) && self.is_covered(plan, key, is_before);
        let exact = |other: &[Cell]| other == key;
        let mut scope = Scope {
            plan,
            source: plan.primary,
            is_before,
            is_wide: used.rolling.is_some(),
            fits: &exact,
            is_zero: is_empty_zero(key),
            conditions: used.conditions.clone(),
            currency: None,
        };
        if !used.share_of.is_empty() {
            let own = self.used(used, &scope).number();
            let mut places: Vec<usize> = Vec::new();
            for name in used.share_of.iter().filter(|name| *name != "total") {
                places.extend(plan.places(name));
            }
            let amounts = currencies_of(used, self.catalog, plan.primary).unwrap_or_default();
            places.extend(plan.currency_place(self).filter(|_| !amounts.is_empty()));
            let same = |other: &&Vec<Cell>| places.iter().all(|at| other[*at] == key[*at]);
            let mut total: Option<Number> = None;
            for other in keys.iter().filter(same) {
                let is_other = |found: &[Cell]| found == other.as_slice();
                let inner =
                    Scope { fits: &is_other, is_zero: is_empty_zero(other), ..scope.clone() };
                if let Some(number) = self.used(used, &inner).number() {
                    total = Some(total.map_or(number, |sum| sum.plus(number)));
                }
            }
            return Figure::Quotient(own.zip(total).map(|(own, total)| Quotient::of(own, total)));
        }
        let Some((place, grain)) =
            self.time_of(plan).filter(|_| used.running || used.rolling.is_some())
        else {
            let own = self.used(used, &scope);
            let Some(per) = used.per else { return own };
            let count = self.count_of_units(plan, used, per, key, is_before);
            let parts = own.number().zip(count);
            return Figure::Quotient(parts.map(|(own, count)| Quotient::of(own, count)));
        };
        let reach = self.window_start(plan, used, grain, &key[place]);
        let in_window = |other: &[Cell]| {
            let same = other.iter().zip(key).enumerate().all(|(at, (a, b))| at == place || a == b);
            let late = match (&key[place], &other[place]) {
                // Times that are empty come last, each with all times before it.
                (Cell::Empty, _) => reach.is_none() || other[place] == Cell::Empty,
                (_, Cell::Empty) => false,
                (own, other) => other <= own,
            };
            let early = match (reach, day_of(&other[place])) {
                (Some(first), Some(day)) => day >= first,
                (Some(_), None) => key[place] == Cell::Empty,
                (None, _) => true,
            };
            same && late && early
        };
        scope.is_zero = keys.iter().any(|other| in_window(other) && is_empty_zero(other));
        scope.fits = &in_window;
        self.used(used, &scope)
    }

    fn window_start(
        &self,
        plan: &Plan<'_>,
        used: &MeasureUse,
        grain: contract::metric_query::TimeGrain,
        time: &Cell,
    ) -> Option<NaiveDate> {
        let (unit, count) = parts_of_span(used.rolling?);
        unit_of(grain)?;
        let calendar = self.catalog.sources[plan.primary].calendar();
        Some(
            day_of(time)
                .map_or(NaiveDate::MIN, |day| calendar.later(unit, day, 1 - i64::from(count))),
        )
    }

    /// Whether the time of a group is covered by data.
    fn is_covered(&self, plan: &Plan<'_>, key: &[Cell], is_before: bool) -> bool {
        let Some((place, grain)) = self.time_of(plan).filter(|_| plan.query.fill) else {
            return false;
        };
        let Some(day) = day_of(&key[place]) else { return false };
        let source = &self.catalog.sources[plan.primary];
        let shift = plan.query.compare.as_ref().and_then(|compare| compare.shift);
        let days = (self.bounds(plan, false).first, self.bounds(plan, true).first);
        let later = |day: NaiveDate| match (is_before, shift, days) {
            (true, Some(shift), (Some(now), Some(before))) => crate::calendar::shifted(
                day,
                crate::compile::times::shift_of_grain(grain, shift, now, before),
            ),
            (_, _, _) => day,
        };
        let today = plan.query.as_of.as_ref().map(|as_of| as_of.moment.date());
        let last = source.covered_days().map(|days| days.last).or(today).map(later);
        let first = source.covered_days().map(|days| later(days.first));
        let start = |day| unit_of(grain).map_or(day, |unit| source.calendar().start(unit, day));
        first.is_none_or(|first| day >= start(first)) && last.is_none_or(|last| day <= last)
    }

    /// Returns the number of days, weeks or months by which an average divides.
    fn count_of_units(
        &self,
        plan: &Plan<'_>,
        used: &MeasureUse,
        per: CalendarUnit,
        key: &[Cell],
        is_before: bool,
    ) -> Option<Number> {
        let source = match self.sources_of(std::slice::from_ref(used), plan.primary).as_slice() {
            [one] => &self.catalog.sources[*one],
            _ => &self.catalog.sources[plan.primary],
        };
        let today = plan.query.as_of.as_ref().filter(|_| source.definitions.spread.is_none());
        let today = today.map(|as_of| as_of.moment.date());
        let bounds = self.bounds(plan, is_before);
        let first = bounds.first.or(source.covered_days().map(|days| days.first))?;
        let last = if is_before {
            bounds.last
        } else {
            let known = [source.covered_days().map(|days| days.last).or(today), bounds.last];
            known.into_iter().flatten().min()
        };
        let (last, calendar) = (last?, source.calendar());
        let count = match self.time_of(plan) {
            None => calendar.count(per, first, last.max(first)),
            Some((place, grain)) => {
                let (unit, start) = (unit_of(grain)?, day_of(&key[place])?);
                let end = calendar.later(unit, start, 1).min(days_later(last, 1));
                (end - start.max(first)).num_days().max(0)
            }
        };
        Some(Number::whole(count))
    }

    fn used(&self, used: &MeasureUse, scope: &Scope<'_>) -> Figure {
        match (&used.measure, &used.calculation) {
            (Some(name), _) => self.measure(name, scope),
            (None, Some(own)) => self.calculation(own, scope),
            (None, None) => Figure::Cell(Cell::Empty),
        }
    }
}
