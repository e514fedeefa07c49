//! Comparisons: of two periods, of two values, with an earlier period, and changes.

use chrono::NaiveDate;
use contract::metric_query::{
    Bounds, CalendarUnit, Compare, CompareTo, Condition, Group, Period, Scalar, Span, Test,
    TimeGrain,
};

use super::Composer;
use crate::{
    items::Atom,
    meaning::{Meaning, Rank},
    outcome::Assumed,
    periods::back,
    things::are_one,
};

/// The period of a question about a change that names none.
pub(crate) const USUAL: Period = Period::Last(Span::Days(30));

impl Composer<'_> {
    /// Reads the comparison and the period.
    pub(super) fn read_comparison(&mut self) {
        let changes: Vec<usize> = (0..self.len()).filter(|at| self.is_change(*at)).collect();
        if !changes.is_empty() || self.has(&Meaning::Compare) {
            self.split_range();
        }
        self.join_same_periods();
        self.read_units_before();
        self.read_change_since(&changes);
        for at in (0..self.len()).filter(|at| self.means(*at, &Meaning::Versus)).collect::<Vec<_>>()
        {
            self.read_versus(at);
        }
        let comparatives: Vec<usize> =
            (0..self.len()).filter(|at| self.comparative_at(*at).is_some()).collect();
        if !comparatives.is_empty() {
            self.read_which_is_more();
        }
        for at in self.places(&Meaning::Compare) {
            self.read_compare(at);
        }
        for at in self.places(&Meaning::Between) {
            self.read_between(at);
        }
        let named = (0..self.len()).find_map(|at| {
            let to = self.items[at].find(|meaning| match meaning {
                Meaning::Compared(to) => Some(*to),
                _ => None,
            });
            to.map(|to| (at, to))
        });
        if let Some((at, to)) = named {
            self.take(at);
            self.set_compare(Compare { to: Some(to), ..Compare::default() });
        }
        self.read_unit_over_unit();
        self.read_change(&changes);
        // "Campaigns with higher spend than before" asks for some of them, which is not read.
        let has_things = (0..self.len()).any(|at| self.dimension_at(at).is_some());
        if self.query.compare.is_some() && !has_things {
            comparatives.iter().for_each(|at| self.take(*at));
        }
        self.read_periods();
        let needs_period = self.query.compare.as_ref().is_some_and(|c| c.values.is_empty());
        if needs_period && self.query.period.is_none() {
            let is_long = (0..self.len()).any(|at| {
                use contract::metric_query::TimeGrain::{Month, Quarter, Year};
                matches!(self.grain_at(at), Some(Month | Quarter | Year))
            });
            let period = if is_long { Period::ToDate(CalendarUnit::Year) } else { USUAL };
            self.query.period = Some(period);
            self.assumed.push(Assumed::Period);
        }
    }

    pub(super) fn period_at(&self, at: usize) -> Option<&Period> {
        match &self.items.get(at)?.atom {
            Atom::Period { period, .. } => Some(period),
            _ => None,
        }
    }

    pub(super) fn free_periods(&self) -> Vec<usize> {
        (0..self.len()).filter(|at| self.is_free(*at) && self.period_at(*at).is_some()).collect()
    }

    fn set_compare(&mut self, compare: Compare) {
        if self.query.compare.is_none() {
            self.query.compare = Some(compare);
        }
    }

    /// Reads "from September to October" as two periods, if the question is about a change.
    fn split_range(&mut self) {
        let found = (0..self.len()).find_map(|at| match &self.items[at].atom {
            Atom::Period { ends: Some(ends), .. } => Some((at, ends.clone())),
            _ => None,
        });
        let Some((at, ends)) = found else { return };
        let is_long = |period: &Period| {
            self.scan.days_of(period).is_some_and(|(first, last)| (last - first).num_days() >= 6)
        };
        if is_long(&ends.0) && is_long(&ends.1) {
            let (first, last) = *ends;
            self.take(at);
            self.compare_both(last, first);
        }
    }

    /// Reads two things with a word such as "versus" between them.
    fn read_versus(&mut self, at: usize) {
        let Some(right) = self.next(at + 1) else { return };
        // "Compared to account 23" says what 23 is.
        let right = if self.names_next(right) { right + 1 } else { right };
        if self.period_at(right).is_some() && self.is_free(right) {
            self.compare_periods(at, right);
        } else if let Some(dimension) = self.value_at(right).map(str::to_owned) {
            let is_own = |place: &usize| self.value_at(*place) == Some(dimension.as_str());
            let mut left = self.previous(at);
            if left.is_some_and(|place| self.dimension_at(place) == Some(dimension.as_str())) {
                left = left.and_then(|place| self.previous(place));
            }
            let Some(left) = left.filter(is_own).or_else(|| (0..at).rev().find(is_own)) else {
                return;
            };
            self.take(at);
            if !self.asks_for_verdicts() {
                self.compare_values(&dimension, &[left, right]);
            }
        } else {
            let are_measures = self.measure_at(right).is_some()
                && (0..at).any(|place| self.measure_at(place).is_some());
            let is_compared = |meaning: &Meaning| matches!(meaning, Meaning::Compared(_));
            if are_measures || self.items[right].find(|m| is_compared(m).then_some(())).is_some() {
                self.take(at);
            }
        }
    }

    /// Whether a part says what the value behind it is: "account 23".
    fn names_next(&self, at: usize) -> bool {
        let pair = self.dimension_at(at).zip(self.value_at(at + 1));
        pair.is_some_and(|(name, own)| are_one(self.scan.source, name, own))
    }

    /// Reads "the difference between A and B".
    fn read_between(&mut self, at: usize) {
        let Some(dimension) = self.value_at(at + 1).map(str::to_owned) else { return };
        if self.is_joiner(at + 2) && self.value_at(at + 3) == Some(dimension.as_str()) {
            self.take(at);
            self.compare_values(&dimension, &[at + 1, at + 3]);
        }
    }

    /// Compares values of a dimension: two stand side by side, more are groups.
    fn compare_values(&mut self, dimension: &str, places: &[usize]) {
        let own = |at: &usize| {
            self.is_free(*at)
                && self.value_at(*at) == Some(dimension)
                && !matches!(
                    &self.items[*at].atom,
                    Atom::Value { is_part: true, .. } | Atom::Values { .. }
                )
        };
        let all: Vec<usize> = (0..self.len()).filter(own).collect();
        // Parts of names may mean several values each, which stand side by side as groups.
        let part = places.iter().find(|at| !own(at) && self.is_free(**at));
        if let Some(part) = part.copied() {
            self.add_group(part, Group::dimension(dimension));
            return;
        }
        let is_grouped = (0..self.len())
            .any(|at| self.dimension_at(at) == Some(dimension) && self.is_grouped(at));
        if all.len() == 2 && !is_grouped && places.iter().all(|at| all.contains(at)) {
            let value = |at: &usize| match &self.items[*at].atom {
                Atom::Value { value, .. } => Some(Scalar::Text(value.clone())),
                _ => None,
            };
            let values: Vec<Scalar> = all.iter().filter_map(value).collect();
            for name in all.iter().filter_map(|at| at.checked_sub(1)) {
                if self.is_free(name) && self.names_next(name) && !self.is_grouped(name) {
                    self.take(name);
                }
            }
            all.iter().for_each(|at| self.take(*at));
            let values = [(dimension.to_owned(), values)].into();
            self.set_compare(Compare { values, ..Compare::default() });
        } else if let Some(first) = all.first() {
            self.add_group(*first, Group::dimension(dimension));
        }
    }

    /// Reads the period after a word such as "versus" as the one to compare with.
    fn compare_periods(&mut self, at: usize, right: usize) {
        let Some(other) = self.period_at(right).cloned() else { return };
        let free = self.free_periods();
        let before = free.iter().rev().find(|place| **place < at);
        let main = before.or_else(|| free.iter().find(|place| **place > right)).copied();
        self.take(at);
        self.take(right);
        if let Some(main) = main {
            self.take(main);
            if let Some(main) = self.period_at(main).cloned() {
                self.compare_both(main, other);
            }
            return;
        }
        self.assumed.push(Assumed::Period);
        self.compare_both(now_for(&other).unwrap_or(USUAL), other);
    }

    /// Reads "more from A or B" as a comparison of both.
    fn read_which_is_more(&mut self) {
        for at in (1..self.len()).filter(|at| self.means(*at, &Meaning::Or)).collect::<Vec<_>>() {
            let Some(dimension) = self.value_at(at - 1).map(str::to_owned) else { continue };
            if self.value_at(at + 1) == Some(&dimension) && self.query.compare.is_none() {
                self.compare_values(&dimension, &[at - 1, at + 1]);
            }
        }
    }

    /// Reads two things after a word such as "compare".
    fn read_compare(&mut self, at: usize) {
        self.take(at);
        if self.query.compare.is_some() {
            return;
        }
        let free = self.free_periods();
        // No query compares one thing in a period with another thing in another one.
        if let [first, second, ..] = free[..]
            && !self.has_things_apart(first, second)
        {
            self.take(first);
            self.take(second);
            let main = self.period_at(first).cloned();
            let other = self.period_at(second).cloned();
            if let (Some(main), Some(other)) = (main, other) {
                self.compare_both(main, other);
            }
            return;
        }
        let values: Vec<usize> = (0..self.len())
            .filter(|at| self.is_free(*at) && self.value_at(*at).is_some())
            .collect();
        let dimension = values.first().and_then(|at| self.value_at(*at)).map(str::to_owned);
        if let Some(dimension) = dimension
            && values.iter().filter(|at| self.value_at(**at) == Some(&dimension)).count() > 1
        {
            self.compare_values(&dimension, &[]);
        }
    }

    /// Reads "week over week": without a period, it is about the last week.
    fn read_unit_over_unit(&mut self) {
        let found = (0..self.len()).find_map(|at| {
            let unit = self.items[at].find(|meaning| match meaning {
                Meaning::ComparedBy(unit) => Some(*unit),
                _ => None,
            });
            unit.map(|unit| (at, unit))
        });
        let Some((at, unit)) = found else { return };
        if self.time_to_group() == Some(unit) {
            self.compare_each_time(&[at]);
            return;
        }
        self.take(at);
        self.set_compare(Compare { to: Some(CompareTo::Previous), ..Compare::default() });
        if self.query.period.is_none() && self.free_periods().is_empty() {
            self.query.period = Some(Period::Previous(unit));
            self.assumed.push(Assumed::Period);
        }
    }

    /// Returns the unit of time that the question groups by.
    fn time_to_group(&self) -> Option<CalendarUnit> {
        (0..self.len()).filter(|at| self.is_free(*at)).find_map(|at| {
            match self.grain_to_group(at)? {
                TimeGrain::Day => Some(CalendarUnit::Day),
                TimeGrain::Week => Some(CalendarUnit::Week),
                TimeGrain::Month => Some(CalendarUnit::Month),
                TimeGrain::Quarter => Some(CalendarUnit::Quarter),
                TimeGrain::Year => Some(CalendarUnit::Year),
                TimeGrain::Hour
                | TimeGrain::Weekday
                | TimeGrain::HourOfDay
                | TimeGrain::MonthOfYear
                | TimeGrain::PartOfDay => None,
            }
        })
    }

    /// Compares each time with the one before: "growth in clicks per month". The period to compare with is
    /// that of the question, one unit earlier.
    fn compare_each_time(&mut self, words: &[usize]) {
        let Some(unit) = self.time_to_group() else { return };
        let free = self.free_periods();
        let period = match free.as_slice() {
            [] => Period::Last(recent(unit)),
            [at] => match self.period_at(*at) {
                Some(period) => period.clone(),
                None => return,
            },
            _ => return,
        };
        let Some((from, to)) = self.scan.days_of(&period) else { return };
        let to = to.min(self.scan.today().max(from));
        let earlier = |day: NaiveDate| back(day, unit, 1);
        let last = to.succ_opt().and_then(earlier).and_then(|day| day.pred_opt());
        let (Some(first), Some(last)) = (earlier(from), last) else { return };
        words.iter().chain(&free).for_each(|at| self.take(*at));
        if free.is_empty() {
            self.assumed.push(Assumed::Period);
        }
        self.query.period = Some(Period::Range { from: Some(from), to: Some(to) });
        let period = Some(Period::Range { from: Some(first), to: Some(last) });
        self.set_compare(Compare { period, ..Compare::default() });
    }

    /// Compares two periods. A change goes forward in time, whatever the order of the words.
    pub(super) fn compare_both(&mut self, main: Period, other: Period) {
        let begin = |period: &Period| self.scan.days_of(period).map(|(first, _)| first);
        let is_later = begin(&other) > begin(&main) && begin(&main).is_some();
        let (main, other) = if is_later { (other, main) } else { (main, other) };
        let compare = self.compare_of(&main, other);
        self.query.period = Some(main);
        self.set_compare(compare);
    }

    /// Returns the comparison of a period with another one.
    fn compare_of(&self, main: &Period, other: Period) -> Compare {
        let to = |to| Compare { to: Some(to), ..Compare::default() };
        let days = |period: &Period| {
            let (first, last) = self.scan.days_of(period)?;
            Some((last - first).num_days() + 1)
        };
        match (&other, main) {
            (Period::Previous(CalendarUnit::Year), main)
                if days(main).is_some_and(|days| days < 360) =>
            {
                to(CompareTo::LastYear)
            }
            (Period::Previous(unit), Period::This(own) | Period::ToDate(own)) if unit == own => {
                to(CompareTo::Previous)
            }
            // "The last 30 days versus the previous 30 days"
            _ if other == *main => to(CompareTo::Previous),
            _ => Compare { period: Some(other), ..Compare::default() },
        }
    }

    /// Reads words about a change: without another period, it is the change since the one before.
    fn read_change(&mut self, changes: &[usize]) {
        if changes.is_empty() {
            return;
        }
        // A change of each month since the one before is no comparison of two periods.
        let has_time = (0..self.len()).any(|at| {
            self.grain_at(at).is_some() && (self.is_grouped(at) || self.unit_at(at).is_none())
        });
        if self.query.compare.is_none() && has_time && !self.has_rank() {
            self.compare_each_time(changes);
            return;
        }
        changes.iter().for_each(|at| self.take(*at));
        let has = |meaning: &Meaning| changes.iter().any(|at| self.means(*at, meaning));
        let ending = if has(&Meaning::Growth) { "growth" } else { "change" };
        let is_low = has(&Meaning::Fall);
        self.keep_changed(changes);
        self.change = Some((ending, is_low != self.has(&Meaning::Rank(Rank::Low))));
        self.set_compare(Compare { to: Some(CompareTo::Previous), ..Compare::default() });
    }

    fn has_rank(&self) -> bool {
        let is_rank = |at: usize| {
            self.items[at].find(|m| matches!(m, Meaning::Rank(_)).then_some(())).is_some()
        };
        (0..self.len()).any(is_rank)
    }

    /// Keeps only things that rose or fell, if the text asks which did.
    fn keep_changed(&mut self, changes: &[usize]) {
        let asked = self.places(&Meaning::Which).first().copied();
        let thing = asked.and_then(|at| self.next(at + 1));
        let is_thing = thing.is_some_and(|at| self.dimension_at(at).is_some());
        let first = changes
            .iter()
            .find(|at| self.means(**at, &Meaning::Rise) || self.means(**at, &Meaning::Fall));
        let (true, Some(at), false) = (is_thing, first.copied(), self.has_rank()) else { return };
        if !self.bounds.is_empty() {
            return;
        }
        let named = self.first_measure().and_then(|at| self.measure_at(at)).map(str::to_owned);
        let Some(name) = named.or_else(|| self.scan.main_measure()) else { return };
        let zero = Some(Scalar::Number(0.into()));
        let bounds = if self.means(at, &Meaning::Rise) {
            Bounds { above: zero, ..Bounds::default() }
        } else {
            Bounds { below: zero, ..Bounds::default() }
        };
        let name = format!("{name}_change");
        self.conditions.push((at, Condition::Is { name, test: Test::Bounds(bounds) }));
    }

    /// Reads the period of the question. Two periods in a row are read as one with both as groups.
    fn read_periods(&mut self) {
        let free = self.free_periods();
        let Some(first) = free.first().copied() else { return };
        if self.query.period.is_some() {
            return;
        }
        let period = self.period_at(first).cloned();
        self.take(first);
        self.query.period.clone_from(&period);
        if let [_, second] = free[..]
            && let (Some(one), Some(other)) = (period, self.period_at(second).cloned())
            && second == first + 2
            && self.is_joiner(first + 1)
        {
            self.join_periods(second, &one, &other);
        }
    }

    fn join_periods(&mut self, at: usize, one: &Period, other: &Period) {
        use contract::metric_query::TimeGrain;
        let (Some(a), Some(b)) = (self.scan.days_of(one), self.scan.days_of(other)) else { return };
        let (first, last) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        let grain = match (one, other) {
            (Period::Month(_), Period::Month(_)) => TimeGrain::Month,
            (Period::Quarter(_), Period::Quarter(_)) => TimeGrain::Quarter,
            (Period::Year(_), Period::Year(_)) => TimeGrain::Year,
            (Period::Week(_), Period::Week(_)) => TimeGrain::Week,
            (
                Period::This(own) | Period::Previous(own) | Period::ToDate(own),
                Period::This(other) | Period::Previous(other) | Period::ToDate(other),
            ) if own == other => super::grain_of(*own),
            _ => return,
        };
        if (last.0 - first.1).num_days() != 1 {
            return;
        }
        self.take(at);
        self.query.period = Some(Period::Range { from: Some(first.0), to: Some(last.1) });
        let is_coming = (0..self.len()).any(|at| self.is_free(at) && self.grain_at(at).is_some());
        if is_coming {
            return;
        }
        self.query.totals = true;
        self.add_group(at, Group::time(grain));
        self.assumed.push(Assumed::Grain);
    }
}

/// Returns the times that are compared with those before if the text names none.
fn recent(unit: CalendarUnit) -> Span {
    match unit {
        CalendarUnit::Day => Span::Days(30),
        CalendarUnit::Week => Span::Weeks(12),
        CalendarUnit::Month => Span::Months(12),
        CalendarUnit::Quarter => Span::Quarters(8),
        CalendarUnit::Year => Span::Years(3),
    }
}

/// Returns the period under way that belongs to an earlier one: "versus last month" is about this one.
pub(super) fn now_for(other: &Period) -> Option<Period> {
    match other {
        Period::Previous(unit) => Some(Period::This(*unit)),
        Period::Month(_) => Some(Period::This(CalendarUnit::Month)),
        Period::Quarter(_) => Some(Period::This(CalendarUnit::Quarter)),
        Period::Week(_) => Some(Period::This(CalendarUnit::Week)),
        Period::Year(_) => Some(Period::This(CalendarUnit::Year)),
        _ => None,
    }
}
