//! Conditions on figures: "over 10000", "at least 5 %", "between 10 and 20".

use contract::{
    definitions::{Calculation, Unit},
    metric_query::{Bounds, Condition, Scalar, Test},
};

use super::Composer;
use crate::{
    items::Atom,
    meaning::{Bound, Meaning},
    numbers::{Quantity, as_number},
};

impl Composer<'_> {
    /// Reads all conditions on figures.
    pub(super) fn read_bounds(&mut self) {
        for at in 0..self.len() {
            let bound = self.items[at].find(|meaning| match meaning {
                Meaning::Bound(bound) => Some(*bound),
                _ => None,
            });
            if let Some(bound) = bound.filter(|_| self.is_free(at))
                && let Some(number) = self.number_at(at + 1)
            {
                self.add_bound(at, at + 1, &[(bound, number)]);
            }
            if bound.is_none() {
                self.read_or_more(at);
                self.read_zero(at);
            }
            if self.means(at, &Meaning::Between)
                && let (Some(low), Some(high)) = (self.number_at(at + 1), self.number_at(at + 3))
                && (self.is_joiner(at + 2) || self.means(at + 2, &Meaning::To))
            {
                // A unit behind the second number is that of both.
                let low = Quantity { value: low.value, ..high.clone() };
                self.add_bound(at, at + 3, &[(Bound::From, low), (Bound::To, high)]);
            }
        }
    }

    /// Reads "100 or more clicks" as a bound.
    fn read_or_more(&mut self, at: usize) {
        let Some(number) = self.number_at(at).filter(|_| self.is_free(at)) else { return };
        let side = self.comparative_at(at + 2).filter(|_| self.means(at + 1, &Meaning::Or));
        let bound = match side {
            Some(Bound::Above | Bound::From) => Bound::From,
            Some(Bound::Below | Bound::To) => Bound::To,
            None => return,
        };
        self.add_bound(at, at + 2, &[(bound, number)]);
    }

    /// Reads "line items with zero spend" and "where spend is 0" as a bound.
    fn read_zero(&mut self, at: usize) {
        let is_zero = self.number_at(at).is_some_and(|number| number.value == 0.0);
        let is_bound = at
            .checked_sub(1)
            .is_some_and(|before| self.bound_at(before).is_some() || self.is_joiner(before));
        if !is_zero || is_bound || !self.is_free(at) {
            return;
        }
        let is_measure = |place: &usize| self.measure_at(*place).is_some();
        let after = Some(at + 1).filter(is_measure);
        let Some(place) = after.or_else(|| self.previous(at).filter(is_measure)) else { return };
        let has_thing = (0..self.len()).any(|at| self.dimension_at(at).is_some());
        let Some(name) = self.measure_at(place).map(str::to_owned).filter(|_| has_thing) else {
            return;
        };
        self.take(at);
        let to = Some(Scalar::Number(0.into()));
        let test = Test::Bounds(Bounds { to, ..Bounds::default() });
        self.bounds.push((place, Condition::Is { name, test }));
        self.bound_spans.push((at.min(place), at.max(place)));
    }

    /// Joins two conditions on figures with "or" between them.
    pub(super) fn join_bounds(&mut self) {
        for at in (0..self.len()).filter(|at| self.means(*at, &Meaning::Or)).collect::<Vec<_>>() {
            let ends = |(start, end): &(usize, usize)| (*start, *end);
            let spans: Vec<(usize, usize)> = self.bound_spans.iter().map(ends).collect();
            let before = spans.iter().filter(|(_, end)| *end < at).max_by_key(|(_, end)| *end);
            let after =
                spans.iter().filter(|(start, _)| *start > at).min_by_key(|(start, _)| *start);
            let place = |span: &(usize, usize)| spans.iter().position(|own| own == span);
            let (Some(a), Some(b)) = (before.and_then(place), after.and_then(place)) else {
                continue;
            };
            let near = |at: usize, to: usize| to.abs_diff(at) <= 3;
            if !near(spans[a].1, at) || !near(at, spans[b].0) || a == b {
                continue;
            }
            let (_, other) = self.bounds.remove(b.max(a));
            self.bound_spans.remove(b.max(a));
            let first = &mut self.bounds[a.min(b)].1;
            let own = std::mem::replace(first, Condition::And(Vec::new()));
            *first = Condition::Or(vec![own, other]);
        }
    }

    pub(super) fn number_at(&self, at: usize) -> Option<Quantity> {
        match &self.items.get(at)?.atom {
            Atom::Number(number) => Some(number.clone()),
            _ => None,
        }
    }

    /// Adds a condition whose words are at `first..=last`.
    fn add_bound(&mut self, first: usize, last: usize, bounds: &[(Bound, Quantity)]) {
        let Some((measure, mut name)) = self.bounded(first, last, bounds) else { return };
        // "A deviation over 10 %" is one of the same measure in percent.
        if bounds.iter().any(|(_, number)| number.is_percent) && !name.ends_with("_growth") {
            name = self.percent_of(&name).unwrap_or(name);
        }
        let mut test = Bounds::default();
        // "Fell by more than 10 %" is a growth below -10 %.
        let is_fall =
            name.ends_with("_growth") && (0..first).any(|at| self.means(at, &Meaning::Fall));
        for (bound, number) in bounds {
            let sign = if is_fall { -1.0 } else { 1.0 };
            let Some(value) = self.fitting(&name, number, sign) else {
                if self.row_bound(&name, bounds).is_some() {
                    (first..=last).for_each(|at| self.take(at));
                }
                return;
            };
            let side = match (bound, is_fall) {
                (Bound::Above, false) | (Bound::Below, true) => &mut test.above,
                (Bound::From, false) | (Bound::To, true) => &mut test.from,
                (Bound::Below, false) | (Bound::Above, true) => &mut test.below,
                (Bound::To, false) | (Bound::From, true) => &mut test.to,
            };
            *side = Some(value);
        }
        (first..=last).for_each(|at| self.take(at));
        if self.is_unit_of(last + 1, &name) {
            self.take(last + 1);
        }
        let test = Test::Bounds(test);
        if self.row_bound_of(measure, first, &test).is_some() {
            return;
        }
        // The measure stays in the result, so that its figures are seen.
        let at = measure.unwrap_or(first);
        self.bounds.push((at, Condition::Is { name, test }));
        self.bound_spans.push((first, last));
    }

    /// Returns the only measure in percent that is a part of another one.
    fn percent_of(&self, name: &str) -> Option<String> {
        let mut found = self.scan.source.definitions.measures.iter().filter(|(_, measure)| {
            let is_part =
                matches!(&measure.calculation, Calculation::Ratio([part, _]) if part == name);
            is_part && measure.unit == Some(Unit::Percent)
        });
        let (own, _) = found.next().filter(|_| !self.is_percent(name))?;
        found.next().is_none().then(|| own.clone())
    }

    /// Returns the measure that a bound belongs to: the one before it, the one after it, or the nearest.
    fn bounded(
        &self,
        first: usize,
        last: usize,
        bounds: &[(Bound, Quantity)],
    ) -> Option<(Option<usize>, String)> {
        let is_change = bounds.iter().any(|(_, number)| number.is_percent)
            && (0..first).any(|at| self.is_change(at));
        let has_one = |at: usize| self.bounds.iter().any(|(own, _)| *own == at);
        let measures: Vec<usize> =
            (0..self.len()).filter(|at| self.measure_at(*at).is_some()).collect();
        let before = self.previous(first).filter(|at| measures.contains(at) && !has_one(*at));
        let after = self.next(last + 1).filter(|at| measures.contains(at));
        let near = || {
            let earlier = measures.iter().rev().find(|at| **at < first && !has_one(**at));
            earlier.or_else(|| measures.iter().find(|at| **at > last)).copied()
        };
        // "Orders with more than 5 items": the number is of items.
        let is_rows = |at: &usize| self.names_rows(*at);
        let direct =
            after.filter(|after| *after == last + 1 && before.as_ref().is_some_and(is_rows));
        let found = direct.or(before).or(after).or_else(near);
        let name = match found {
            Some(at) => self.measure_at(at)?.to_owned(),
            None => self.scan.main_measure()?,
        };
        let name = if is_change { format!("{name}_growth") } else { name };
        Some((found, name))
    }

    /// Whether a part is the unit of a measure, such as "km".
    fn is_unit_of(&self, at: usize, name: &str) -> bool {
        let measure = self.scan.source.definitions.measures.get(name);
        let Some(Unit::Named(unit)) = measure.and_then(|measure| measure.unit.as_ref()) else {
            return false;
        };
        let typed = self.items.get(at).and_then(|item| self.scan.tokens.get(item.tokens.start));
        typed.is_some_and(|token| token.fold == language::fold(unit))
    }

    /// Whether a part is about a change.
    pub(super) fn is_change(&self, at: usize) -> bool {
        [Meaning::Change, Meaning::Growth, Meaning::Rise, Meaning::Fall]
            .iter()
            .any(|meaning| self.means(at, meaning))
    }

    /// Returns a number in the unit of a figure. None if the unit is another one.
    pub(super) fn fitting(&self, name: &str, number: &Quantity, sign: f64) -> Option<Scalar> {
        let is_part = self.is_percent(name) || name.ends_with("_growth");
        let value = match (is_part, number.is_percent) {
            (true, true) => number.value / 100.0,
            // "Above 5" of a percentage is not 500 %.
            (true, false) if number.value.abs() >= 1.0 => number.value / 100.0,
            (_, false) => number.value,
            (false, true) => return None,
        };
        if let Some(code) = &number.currency {
            let measure = self.scan.source.definitions.measures.get(name)?;
            let is_same = match &measure.currency {
                Some(contract::definitions::CurrencyOf::Constant(own)) => own == code,
                Some(_) | None => measure.unit == Some(contract::definitions::Unit::Money),
            };
            if !is_same {
                return None;
            }
        }
        as_number(sign * value).map(Scalar::Number)
    }
}
