//! Comparisons with a time that is only named by its distance: "the last 7 days versus the 7 days before",
//! "what changed since Monday". And periods that are named with each of two things.

use chrono::Days;
use contract::metric_query::{CalendarUnit, Compare, CompareTo, Period};

use super::{Composer, comparing::now_for};
use crate::{
    items::Atom,
    meaning::Meaning,
    periods::{back, since, span},
};

impl Composer<'_> {
    /// Whether each of two periods belongs to a thing of its own.
    pub(super) fn has_things_apart(&self, first: usize, second: usize) -> bool {
        let before: Vec<&str> = (0..first).filter_map(|at| self.value_at(at)).collect();
        let mut between = (first..second).filter_map(|at| self.value_at(at));
        between.any(|name| before.contains(&name))
    }

    /// Reads "A this week with B this week" as one period of both.
    pub(super) fn join_same_periods(&mut self) {
        let is_compared = self.has(&Meaning::Compare) || self.has(&Meaning::Versus);
        if let [first, second] = self.free_periods()[..]
            && is_compared
            && self.has_things_apart(first, second)
            && self.period_at(first) == self.period_at(second)
        {
            self.take(second);
            self.items[second].atom = Atom::Words(vec![Meaning::Filler]);
        }
    }

    /// Reads "the 7 days before" behind a period as the time to compare it with.
    pub(super) fn read_units_before(&mut self) {
        let found = (0..self.len()).find_map(|at| {
            let count = self.number_at(at).filter(|_| self.is_free(at))?.count()?;
            let unit = self.unit_at(at + 1)?;
            self.means(at + 2, &Meaning::Before).then_some((at, count, unit))
        });
        let Some((at, count, unit)) = found else { return };
        let Some(before) = self.previous(at) else { return };
        let is_led = [Meaning::Versus, Meaning::And, Meaning::To, Meaning::Compare]
            .iter()
            .any(|meaning| self.means(before, meaning))
            || (before + 1..at).any(|place| self.means(place, &Meaning::With));
        let main =
            (0..at).rev().find(|place| self.is_free(*place) && self.period_at(*place).is_some());
        let Some((main, period)) = main.and_then(|at| Some((at, self.period_at(at)?.clone())))
        else {
            return;
        };
        let is_compared = self.has(&Meaning::Compare) || self.has(&Meaning::Versus);
        if !is_led || !is_compared {
            return;
        }
        let compare = if period == Period::Last(span(unit, count)) {
            Compare { to: Some(CompareTo::Previous), ..Compare::default() }
        } else {
            let Some((first, _)) = self.scan.days_of(&period) else { return };
            let Some(from) = back(first, unit, count) else { return };
            let period = Period::Range { from: Some(from), to: first.pred_opt() };
            Compare { period: Some(period), ..Compare::default() }
        };
        (at..at + 3).chain([main]).for_each(|place| self.take(place));
        for place in
            (main + 1..at).filter(|place| self.means(*place, &Meaning::Versus)).collect::<Vec<_>>()
        {
            self.take(place);
        }
        self.query.period = Some(period);
        self.query.compare = Some(compare);
    }

    /// Reads "changed since P": the time under way is compared with P. A day that is not over has no part
    /// that compares, so since yesterday, the last full day is compared with the one before.
    pub(super) fn read_change_since(&mut self, changes: &[usize]) {
        let places: Vec<usize> = (0..self.len())
            .filter(|at| self.is_free(*at) && self.period_at(*at).is_some())
            .collect();
        let ([at], false, None) = (places.as_slice(), changes.is_empty(), &self.query.compare)
        else {
            return;
        };
        let at = *at;
        let Some(since) = since(self.scan, self.items[at].tokens.start) else { return };
        if !matches!(self.period_at(at), Some(Period::Range { from: Some(_), to: None })) {
            return;
        }
        let is_day = self.scan.days_of(&since).is_some_and(|(first, last)| first == last);
        if let Some(now) = now_for(&since).filter(|_| !is_day) {
            self.take(at);
            self.compare_both(now, since);
            return;
        }
        let Some((first, last)) = self.scan.days_of(&since) else { return };
        let yesterday = self.scan.today().checked_sub_days(Days::new(1));
        let period = match yesterday.filter(|_| last < self.scan.today()) {
            Some(yesterday) if is_day && first == yesterday => Period::Previous(CalendarUnit::Day),
            Some(yesterday) if is_day => Period::Range { from: Some(first), to: Some(yesterday) },
            Some(_) | None => return,
        };
        self.take(at);
        self.query.period = Some(period);
        self.query.compare = Some(Compare { to: Some(CompareTo::Previous), ..Compare::default() });
    }
}
