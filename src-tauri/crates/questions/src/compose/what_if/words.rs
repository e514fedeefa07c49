//! The words of an assumption: the amount, how it changes, and which figure it is about.

use contract::metric_query::{CalendarUnit, Scalar, TimeGrain, WhatIfChange};

use super::{BUDGET, RATES};
use crate::{
    compose::Composer,
    items::Atom,
    meaning::{Alter, Bound, Meaning},
    numbers::{Quantity, as_number},
};

/// An assumption as it was written.
pub(super) struct Supposed {
    /// The place of the number. None: a word says it, such as "double".
    pub number: Option<usize>,
    /// The number.
    quantity: Option<Quantity>,
    /// How the amount changes. None: the number is the new amount.
    alter: Option<Alter>,
    /// The words that say how it changes.
    pub words: Vec<usize>,
}

impl Supposed {
    /// Whether the change is a part of the amount.
    pub fn is_percent(&self) -> bool {
        matches!(self.alter, Some(Alter::Percent(_)))
            || self.quantity.as_ref().is_some_and(|one| one.is_percent)
    }

    /// Returns the currency beside the number.
    pub fn currency(&self) -> Option<&str> {
        self.quantity.as_ref()?.currency.as_deref()
    }
}

impl Composer<'_> {
    pub(super) fn is_supposed(&self) -> bool {
        self.has(&Meaning::Suppose) || self.has(&Meaning::If)
    }

    /// Returns the change that a word at a place says.
    pub(super) fn alter_at(&self, at: usize) -> Option<Alter> {
        self.items.get(at)?.find(|meaning| match meaning {
            Meaning::Alter(alter) => Some(*alter),
            _ => None,
        })
    }

    /// Returns the number at a place, if no word before it makes it a bound.
    pub(super) fn amount_at(&self, at: usize) -> Option<Quantity> {
        let is_bound = at.checked_sub(1).is_some_and(|before| {
            self.bound_at(before).is_some() && !self.means(before, &Meaning::To)
        });
        let is_span = self.unit_at(at + 1).is_some() || self.means(at + 1, &Meaning::Between);
        self.number_at(at).filter(|_| !is_bound && !is_span)
    }

    /// Returns the places of the words that only say that something is assumed.
    pub(super) fn supposing(&self) -> Vec<usize> {
        let is_one =
            |at: &usize| self.means(*at, &Meaning::Suppose) || self.means(*at, &Meaning::If);
        (0..self.len()).filter(is_one).collect()
    }

    /// Returns the change that a text assumes.
    pub(super) fn supposed_change(&self) -> Option<Supposed> {
        // An amount that moves from one thing to another is no amount of both.
        if (0..self.len()).any(|at| self.alter_at(at) == Some(Alter::Move)) {
            return None;
        }
        let is_supposed = self.is_supposed();
        let verb =
            (0..self.len()).find(|at| self.changes_at(*at).is_some()).filter(|_| is_supposed);
        let alter = verb.and_then(|at| self.changes_at(at));
        if let (Some(at), Some(Alter::Percent(_))) = (verb, alter) {
            return Some(Supposed { number: None, quantity: None, alter, words: vec![at] });
        }
        let numbers: Vec<usize> =
            (0..self.len()).filter(|at| self.amount_at(*at).is_some()).collect();
        let [number] = numbers[..] else { return None };
        let quantity = self.amount_at(number)?;
        let is_certain = self.has(&Meaning::Suppose) || (is_supposed && verb.is_some());
        if !is_certain && !self.is_budget_beside(number) && !self.is_amount_of(number, &quantity) {
            return None;
        }
        let links = number.checked_sub(1).filter(|at| self.items[*at].is_link());
        let is_new = links.is_some_and(|at| self.means(at, &Meaning::To));
        let alter = alter.filter(|alter| !is_new && *alter != Alter::To);
        if quantity.is_percent != matches!(alter, Some(Alter::Up | Alter::Down))
            && quantity.is_percent
        {
            return None;
        }
        let words = verb.into_iter().chain(links).collect();
        Some(Supposed { number: Some(number), quantity: Some(quantity), alter, words })
    }

    /// Returns the change that a verb or a word such as "more" behind a number says.
    fn changes_at(&self, at: usize) -> Option<Alter> {
        if let Some(alter) = self.alter_at(at) {
            return Some(alter);
        }
        let is_behind = at.checked_sub(1).is_some_and(|number| self.amount_at(number).is_some());
        match self.comparative_at(at).filter(|_| is_behind) {
            Some(Bound::Above | Bound::From) => return Some(Alter::Up),
            Some(Bound::Below | Bound::To) => return Some(Alter::Down),
            None => {}
        }
        match (self.means(at, &Meaning::Rise), self.means(at, &Meaning::Fall)) {
            (true, false) => Some(Alter::Up),
            (false, true) => Some(Alter::Down),
            (true, true) | (false, false) => None,
        }
    }

    /// Whether the budget stands beside a number, of a thing and after "with": "account 23 with 80 000 in
    /// budget". Words that ask for things make it a condition on them.
    fn is_budget_beside(&self, number: usize) -> bool {
        let is_budget = |at: Option<usize>| {
            let name = at.and_then(|at| self.measure_at(at));
            name.is_some_and(|name| self.is_one_of(name, &[BUDGET]))
        };
        let place = if is_budget(self.next(number + 1)) {
            self.next(number + 1)
        } else {
            self.previous(number)
        };
        let before = number.min(place.unwrap_or(number));
        let mut small = (0..before).rev().take_while(|at| self.is_thin(*at));
        let is_with = small.any(|at| self.means(at, &Meaning::With));
        is_budget(place) && is_with && self.asks_for_no_things(&[number], place)
    }

    /// Whether a number is an amount that something is thought with: "A with 250k".
    fn is_amount_of(&self, number: usize, quantity: &Quantity) -> bool {
        let with = number.checked_sub(1).filter(|at| self.means(*at, &Meaning::With));
        let follows =
            with.and_then(|at| at.checked_sub(1)).is_some_and(|at| self.value_at(at).is_some());
        let is_last = (number + 1..self.len())
            .all(|at| self.items[at].is_link() || self.period_at(at).is_some());
        quantity.is_money() && follows && is_last && self.asks_for_no_things(&[number], None)
    }

    /// Whether a text names a thing, and asks for nothing but an assumption about it.
    fn asks_for_no_things(&self, numbers: &[usize], budget: Option<usize>) -> bool {
        let asks = |at: usize| {
            let is_other = self.measure_at(at).is_some() && Some(at) != budget;
            // "Account 17" names one by its id.
            let is_named = self.value_at(at + 1).is_some() || self.is_described(at);
            let is_thing = self.dimension_at(at).is_some() && !is_named;
            let is_number = self.number_at(at).is_some() && !numbers.contains(&at);
            let is_rank = self.items[at].find(|meaning| {
                matches!(meaning, Meaning::Rank(_) | Meaning::Count | Meaning::Which).then_some(())
            });
            is_other || is_thing || is_number || is_rank.is_some()
        };
        self.names_value() && !(0..self.len()).any(asks)
    }

    /// Whether a text names a value.
    pub(super) fn names_value(&self) -> bool {
        (0..self.len()).any(|at| self.value_at(at).is_some())
    }

    /// Returns the place of the figure that an assumption is about: the nearest one behind the word that
    /// supposes it, or else the nearest of all.
    pub(super) fn object_of(&self, supposed: &Supposed) -> Option<usize> {
        let begin = self.supposing().last().copied().unwrap_or(0);
        let anchor = supposed.number.or(supposed.words.first().copied()).unwrap_or(begin);
        let is_one = |at: &usize| {
            let name = self.measure_at(*at).filter(|_| self.is_free(*at));
            name.is_some_and(|name| self.is_one_of(name, &[BUDGET]) || self.is_one_of(name, &RATES))
        };
        let places: Vec<usize> = (0..self.len()).filter(is_one).collect();
        let nearest = |from: usize| {
            let all = places.iter().filter(|at| **at >= from);
            all.min_by_key(|at| at.abs_diff(anchor)).copied()
        };
        nearest(begin).or_else(|| self.supposing().is_empty().then(|| nearest(0)).flatten())
    }

    /// Returns the words that say that an amount is that of a day: "per day", "daily".
    pub(super) fn words_of_days(&self, supposed: &Supposed, object: Option<usize>) -> Vec<usize> {
        let is_grain = |at: usize| {
            self.items[at]
                .find(|m| matches!(m, Meaning::Grain(TimeGrain::Day)).then_some(()))
                .is_some()
        };
        let ends = [supposed.number, object];
        let is_beside = |at: usize, end: usize| {
            let near = ends.into_iter().flatten();
            let mut between = near.map(|place| (place.min(at) + 1, place.max(end)));
            between.any(|(from, to)| {
                (from..to).all(|place| {
                    let is_own = ends.contains(&Some(place)) || supposed.words.contains(&place);
                    self.is_thin(place) || (at..=end).contains(&place) || is_own
                })
            })
        };
        for at in 0..self.len() {
            if is_grain(at) && is_beside(at, at) {
                return vec![at];
            }
            let is_day = self.unit_at(at + 1) == Some(CalendarUnit::Day);
            let leads = self.means(at, &Meaning::Per) || self.means(at, &Meaning::By);
            if leads && is_day && is_beside(at, at + 1) {
                return vec![at, at + 1];
            }
        }
        Vec::new()
    }

    /// Returns a change in the unit of a figure. None if the unit is another one.
    pub(super) fn in_unit(&self, supposed: &Supposed, measure: &str) -> Option<WhatIfChange> {
        if let Some(Alter::Percent(percent)) = supposed.alter {
            return Some(WhatIfChange::Percent(percent.into()));
        }
        let quantity = supposed.quantity.as_ref()?;
        let sign = if supposed.alter == Some(Alter::Down) { -1.0 } else { 1.0 };
        if quantity.is_percent {
            return as_number(sign * quantity.value).map(WhatIfChange::Percent);
        }
        let Scalar::Number(amount) = self.fitting(measure, quantity, sign)? else {
            return None;
        };
        Some(match supposed.alter {
            Some(Alter::Up | Alter::Down) => WhatIfChange::By(amount),
            Some(Alter::To | Alter::Move | Alter::Percent(_)) | None => WhatIfChange::To(amount),
        })
    }

    /// Uses the parts at some places. They mean nothing else any more.
    pub(in crate::compose) fn pass_over(&mut self, places: &[usize]) {
        for at in places {
            self.take(*at);
            if let Some(item) = self.items.get_mut(*at) {
                item.atom = Atom::Words(vec![Meaning::Filler]);
                item.amounts = Vec::new();
            }
        }
    }
}
