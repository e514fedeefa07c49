//! Bounds in percent of a plan: "over 110 % pace", "more than 15 % behind", "between 95 and 105 percent". A
//! level counts from the plan, a difference from zero. The measure is the one that the source defines as a
//! difference to a plan by the plan.

use contract::{
    definitions::{Calculation, Unit},
    metric_query::{Bounds, Condition, Group, Scalar, Test},
};

use super::Composer;
use crate::{
    central::{judged_level, verdict_of},
    items::Atom,
    meaning::{Bound, Meaning},
    numbers::{Quantity, as_number},
    outcome::{Assumed, Form},
};

/// The least percentage that is a level of a plan if no word says so.
const LEAST_LEVEL: f64 = 50.0;

/// The percentage of a plan that is the plan itself.
const WHOLE: f64 = 100.0;

/// A bound in percent of a plan.
struct Deviation {
    /// The first and last of its words.
    words: (usize, usize),
    /// The sides with their numbers.
    bounds: Vec<(Bound, f64)>,
    /// Whether the numbers are differences to the plan that grow upwards or downwards. None: they are levels.
    side: Option<Side>,
    /// Whether no word says that they are about the plan.
    is_assumed: bool,
    /// The verdict before them: "pacing over 110 %".
    lead: Option<usize>,
}

/// A side of a plan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// More than planned.
    Above,
    /// Less than planned.
    Below,
}

/// Bounds in percent.
type Percents = Vec<(Bound, f64)>;

impl Composer<'_> {
    /// Reads all bounds in percent of a plan.
    pub(super) fn read_deviations(&mut self) {
        let Some((measure, plan)) = self.deviation() else { return };
        for at in 0..self.len() {
            if let Some(found) = self.deviation_at(at, &plan) {
                self.add_deviation(&measure, &found);
            }
        }
    }

    /// Returns the only measure that is a difference to a plan as a part of the plan, and the plan.
    pub(super) fn deviation(&self) -> Option<(String, String)> {
        let measures = &self.scan.source.definitions.measures;
        let mut found = measures.iter().filter_map(|(name, measure)| {
            let Calculation::Ratio([part, plan]) = &measure.calculation else { return None };
            let is_difference = matches!(&measures.get(part)?.calculation,
                Calculation::Minus([_, own]) if own == plan);
            let is_part = measure.unit == Some(Unit::Percent);
            (is_difference && is_part).then(|| (name.clone(), plan.clone()))
        });
        found.next().filter(|_| found.next().is_none())
    }

    /// Returns the bound whose first word, or whose number, is at a place.
    fn deviation_at(&self, at: usize, plan: &str) -> Option<Deviation> {
        if !self.is_free(at) {
            return None;
        }
        let (first, last, bounds) = self.percents_at(at)?;
        let lead =
            self.previous(first).filter(|place| self.is_free(*place) && self.is_verdict(*place));
        let (side, end, is_assumed) = match self.side_after(last, plan) {
            Some((side, end)) => (Some(side), end, false),
            None if self.is_plan(last + 1, plan) => (None, last + 1, false),
            None if lead.is_some() && !bounds.is_empty() => (None, last, false),
            None if self.is_level(&bounds) => (None, last, true),
            None => return None,
        };
        let number = || self.number_at(last).map(|number| vec![(Bound::From, number.value)]);
        let bounds = if bounds.is_empty() { side.and_then(|_| number())? } else { bounds };
        Some(Deviation { words: (first, end), bounds, side, is_assumed, lead })
    }

    /// Whether bounds without a word beside them are levels of a plan. "Over 80 %" may be a part of a budget.
    fn is_level(&self, bounds: &[(Bound, f64)]) -> bool {
        let is_great = bounds.iter().all(|(_, number)| *number >= LEAST_LEVEL);
        let is_off = match bounds {
            [(Bound::Above | Bound::From, number)] => *number >= WHOLE,
            [(Bound::Below | Bound::To, number)] => *number <= WHOLE,
            [_, (_, high)] => *high > WHOLE,
            _ => false,
        };
        let is_other =
            |at| self.is_amount(at) || self.is_change(at) || self.means(at, &Meaning::Share);
        is_great && is_off && !(0..self.len()).any(is_other)
    }

    /// Returns the words of a number in percent at a place: with a bound before it, between two of them, or
    /// alone without a bound.
    fn percents_at(&self, at: usize) -> Option<(usize, usize, Percents)> {
        let percent = |at: usize| self.number_at(at).filter(|number| number.is_percent);
        if self.means(at, &Meaning::Between) {
            let (low, high) = (self.number_at(at + 1)?, percent(at + 3)?);
            let is_joined = self.is_joiner(at + 2) || self.means(at + 2, &Meaning::To);
            let bounds = vec![(Bound::From, low.value), (Bound::To, high.value)];
            return is_joined.then_some((at, at + 3, bounds));
        }
        if let Some(bound) = self.bound_at(at) {
            let number: Quantity = percent(at + 1)?;
            return Some((at, at + 1, vec![(bound, number.value)]));
        }
        if self.means(at, &Meaning::Within) {
            let number = percent(at + 1)?.value;
            let bounds = vec![(Bound::From, WHOLE - number), (Bound::To, WHOLE + number)];
            return Some((at, at + 1, bounds));
        }
        percent(at)?;
        let is_bound = at.checked_sub(1).is_some_and(|before| self.bound_at(before).is_some());
        (!is_bound).then_some((at, at, Vec::new()))
    }

    /// Returns the side that a word behind a number names, and the last of its words: a verdict such as
    /// "behind", or a bound such as "over" that no other thing follows than the plan.
    fn side_after(&self, last: usize, plan: &str) -> Option<(Side, usize)> {
        let at = last + 1;
        let verdict = verdict_of(self.scan.source);
        if verdict.is_some() && self.value_at(at) == verdict.as_deref() {
            return Some((self.side_of_word(at)?, at));
        }
        let side = match self.bound_at(at)? {
            Bound::Above => Side::Above,
            Bound::Below => Side::Below,
            Bound::From | Bound::To => return None,
        };
        if self.is_plan(at + 1, plan) {
            return Some((side, at + 1));
        }
        let is_last = self
            .next(at + 1)
            .is_none_or(|next| self.period_at(next).is_some() || self.is_joiner(next));
        is_last.then_some((side, at))
    }

    /// Returns the side of a value by the words that it was named with.
    pub(super) fn side_of_word(&self, at: usize) -> Option<Side> {
        let tokens = self.items.get(at)?.tokens.clone();
        let words = || tokens.clone().filter_map(|token| self.scan.tokens.get(token));
        let has = |side: &str| {
            let known = self.scan.lexicon.deviations.get(side);
            words().any(|word| known.is_some_and(|known| known.contains(&word.fold)))
        };
        match (has("above"), has("below")) {
            (true, false) => Some(Side::Above),
            (false, true) => Some(Side::Below),
            (true, true) | (false, false) => None,
        }
    }

    /// Whether a part names the plan itself, or the verdict on it.
    fn is_plan(&self, at: usize, plan: &str) -> bool {
        self.measure_at(at) == Some(plan) || self.is_verdict(at)
    }

    fn is_verdict(&self, at: usize) -> bool {
        let verdict = verdict_of(self.scan.source);
        verdict.is_some() && self.dimension_at(at) == verdict.as_deref()
    }

    /// Whether a part is a figure that a bound may belong to, and no number of things.
    fn is_amount(&self, at: usize) -> bool {
        let Some(name) = self.measure_at(at) else { return false };
        !matches!(self.calculation(name), Some(Calculation::Count(_) | Calculation::Distinct(_)))
    }

    fn add_deviation(&mut self, measure: &str, found: &Deviation) {
        let mut test = Bounds::default();
        for (bound, number) in &found.bounds {
            let (value, bound) = match (found.side, bound) {
                (None, bound) => (number - WHOLE, *bound),
                (Some(Side::Above), bound) => (*number, *bound),
                (Some(Side::Below), Bound::Above) => (-number, Bound::Below),
                (Some(Side::Below), Bound::From) => (-number, Bound::To),
                (Some(Side::Below), Bound::Below) => (-number, Bound::Above),
                (Some(Side::Below), Bound::To) => (-number, Bound::From),
            };
            let Some(value) = as_number(value / WHOLE).map(Scalar::Number) else { return };
            let side = match bound {
                Bound::Above => &mut test.above,
                Bound::From => &mut test.from,
                Bound::Below => &mut test.below,
                Bound::To => &mut test.to,
            };
            *side = Some(value);
        }
        let (first, last) = found.words;
        (first..=last).chain(found.lead).for_each(|at| self.take(at));
        let condition = Condition::Is { name: measure.to_owned(), test: Test::Bounds(test) };
        if found.is_assumed {
            self.assumed.push(Assumed::Measure(measure.to_owned()));
        }
        self.bounds.push((first, condition));
        self.bound_spans.push((first, last));
        self.assume_things();
    }

    /// Reads the number of things as the things, unless a word counts them: "all campaigns over 110 %".
    fn name_things(&mut self) {
        if self.has(&Meaning::Count) || self.has(&Meaning::Distinct) {
            return;
        }
        for at in (0..self.len()).filter(|at| self.is_free(*at)).collect::<Vec<_>>() {
            if let Some(name) = self.counted_things(at) {
                self.items[at].atom = Atom::Dimension { name, is_form: true };
            }
        }
    }

    /// Groups by the things that the source judges if a question that is no question for yes or no names
    /// none.
    pub(super) fn assume_things(&mut self) {
        self.name_things();
        let has_things = (0..self.len()).any(|at| {
            let is_thing = self.dimension_at(at).is_some() && !self.is_described(at);
            self.is_free(at) && (is_thing || self.grain_to_group(at).is_some())
        });
        let asks_for_any = self.is_whether_any();
        let level = judged_level(self.scan.source);
        let Some(level) =
            level.filter(|_| !has_things && (self.form != Form::YesNo || asks_for_any))
        else {
            return;
        };
        self.places(&Meaning::Any).into_iter().for_each(|at| self.take(at));
        if self.by.is_empty() {
            self.add_group(0, Group::dimension(&level));
            self.assumed.push(Assumed::Dimension(level));
        }
    }
}
