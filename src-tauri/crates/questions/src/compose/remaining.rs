//! Amounts and times that are left, and parts that are used: "budget left", "less than 2 weeks left", "more
//! than 30 % of the budget remaining", "what share of the budget is used". Measures say by their
//! calculation and their names what they are: an amount that is left is a whole without what was used.

use contract::{
    definitions::{Calculation, Measure, Unit},
    metric_query::{Bounds, CalendarUnit, Condition, MeasureUse, Scalar, Test},
};

use super::{Composer, figures::ratio_name};
use crate::{
    central::has_word,
    items::Atom,
    meaning::{Bound, Meaning},
    numbers::as_number,
    outcome::Assumed,
};

/// The measures of a whole, of what is left of it and of what was used.
#[derive(Clone)]
struct Rest {
    /// The amount that is left.
    left: String,
    whole: String,
    used: String,
    /// The used part of the whole.
    part: Option<String>,
}

impl Composer<'_> {
    /// Reads all amounts and times that are left.
    pub(super) fn read_remaining(&mut self) {
        for at in 0..self.len() {
            self.read_time_left(at);
            self.read_percent_of_whole(at);
        }
        for at in self.places(&Meaning::Share) {
            self.read_share_of_whole(at);
        }
        for at in 0..self.len() {
            self.read_amount_left(at);
        }
    }

    /// Whether a part says that something is left.
    fn says_left(&self, at: usize) -> bool {
        self.means(at, &Meaning::Remaining) || self.is_only_left(at)
    }

    /// Whether a measure is named by a word for what is left alone: "remaining".
    fn is_only_left(&self, at: usize) -> bool {
        let tokens = || self.items.get(at).map(|item| item.tokens.clone());
        self.measure_at(at).is_some()
            && tokens().is_some_and(|tokens| {
                self.scan.end_of(tokens.start, &Meaning::Remaining) == Some(tokens.end)
            })
    }

    /// Returns what is left of which whole, if the source has one such measure. A name limits it to those
    /// of one whole, which is the whole itself, the used amount or an earlier name of it.
    fn rest(&self, of: Option<&str>) -> Option<Rest> {
        let measures = &self.scan.source.definitions.measures;
        let mut found = measures.iter().filter_map(|(name, measure)| {
            let Calculation::Minus([whole, used]) = &measure.calculation else { return None };
            let is_left = has_word(name, measure, self.scan.lexicon, &Meaning::Remaining);
            let is_asked = of.is_none_or(|of| of == whole || of == name || is_amount_of(of, used));
            let rest = || Rest {
                left: name.clone(),
                whole: whole.clone(),
                used: used.clone(),
                part: self.part_of(used, whole),
            };
            (is_left && is_asked).then(rest)
        });
        found.next().filter(|_| found.next().is_none())
    }

    fn part_of(&self, used: &str, whole: &str) -> Option<String> {
        let mut measures = self.scan.source.definitions.measures.iter();
        let is_part = |measure: &Measure| {
            measure.unit == Some(Unit::Percent)
                && measure.calculation == Calculation::Ratio([used.to_owned(), whole.to_owned()])
        };
        measures.find(|(_, measure)| is_part(measure)).map(|(name, _)| name.clone())
    }

    /// Returns the only measure of a time that is left, and its unit.
    pub(super) fn time_left(&self) -> Option<(String, CalendarUnit)> {
        let mut measures =
            self.scan.source.definitions.measures.iter().filter_map(|(name, measure)| {
                let Some(Unit::Named(unit)) = &measure.unit else { return None };
                let unit = unit_named(unit, self.scan.lexicon)?;
                let is_left = has_word(name, measure, self.scan.lexicon, &Meaning::Remaining);
                is_left.then(|| (name.clone(), unit))
            });
        measures.next().filter(|_| measures.next().is_none())
    }

    /// Reads "less than 2 weeks left" and "how many days are left".
    fn read_time_left(&mut self, at: usize) {
        let Some(unit) = self.unit_at(at).filter(|_| self.is_free(at)) else { return };
        let Some(left) = self.left_beside(at) else { return };
        let Some((name, own)) = self.time_left() else { return };
        let number = at.checked_sub(1).filter(|before| self.number_at(*before).is_some());
        let article = at.checked_sub(1).filter(|before| self.means(*before, &Meaning::Per));
        let first = number.or(article).unwrap_or(at);
        let bound = first.checked_sub(1).and_then(|before| Some((before, self.bound_at(before)?)));
        let Some((begin, bound)) = bound else {
            if number.is_none() && article.is_none() {
                [at, left].into_iter().for_each(|place| self.take(place));
                self.items[at].atom = Atom::Measure(name.clone());
                self.measures.push((at, MeasureUse::named(name)));
            }
            return;
        };
        let count = match number {
            Some(place) => self.number_at(place).and_then(|number| number.count()),
            None => Some(1),
        };
        let Some(value) = count.and_then(|count| in_unit(count, unit, own)) else { return };
        (begin..=at).chain([left]).for_each(|place| self.take(place));
        self.bound_to(begin, at.max(left), &name, bound, value);
    }

    /// Returns the place of a word for what is left beside a time.
    fn left_beside(&self, at: usize) -> Option<usize> {
        let is_left = |place: &usize| self.is_free(*place) && self.says_left(*place);
        self.next(at + 1).filter(is_left).or_else(|| self.previous(at).filter(is_left))
    }

    /// Reads "more than 30 % of the budget remaining", "less than 10 % left" and "over 90 % of the budget used".
    fn read_percent_of_whole(&mut self, at: usize) {
        let is_percent = self.number_at(at).is_some_and(|number| number.is_percent);
        let Some(begin) = at.checked_sub(1).filter(|_| is_percent && self.is_free(at)) else {
            return;
        };
        let Some(bound) = self.bound_at(begin) else { return };
        let Some(number) = self.number_at(at) else { return };
        let Some(next) = self.next(at + 1) else { return };
        let whole =
            Some(next).filter(|next| self.measure_at(*next).is_some() && !self.is_only_left(*next));
        let Some(rest) = self.rest(whole.and_then(|whole| self.measure_at(whole))) else { return };
        let word = match whole {
            Some(whole) => self.next(whole + 1),
            None => Some(next),
        };
        let is_rest = whole.is_some_and(|whole| self.measure_at(whole) == Some(rest.left.as_str()));
        let left = word.filter(|word| self.says_left(*word));
        let used = word.filter(|word| self.says_used(*word, &rest));
        if whole.is_none() && left.is_none() && used.is_none() {
            return;
        }
        let Some(part) = rest.part.clone() else { return };
        let says_used = |place: &usize| self.is_free(*place) && self.says_used(*place, &rest);
        let earlier = self.previous(begin).filter(|place| left.is_none() && says_used(place));
        // "Campaigns with more than 20 % of the budget" may be about all budgets.
        let is_said = is_rest || left.is_some() || used.is_some() || earlier.is_some();
        if !is_said && begin.checked_sub(1).is_none_or(|lead| self.means(lead, &Meaning::With)) {
            return;
        }
        let bound = if is_rest || left.is_some() { other_side(bound) } else { bound };
        let value = number.value / 100.0;
        let value = if is_rest || left.is_some() { 1.0 - value } else { value };
        let last = left.or(used).or(whole).unwrap_or(at);
        [begin, at]
            .into_iter()
            .chain(earlier)
            .chain(whole)
            .chain(left)
            .chain(used)
            .for_each(|place| self.take(place));
        self.bound_to(begin, last, &part, bound, value);
    }

    /// Whether a part says that an amount was used.
    fn says_used(&self, at: usize, rest: &Rest) -> bool {
        self.means(at, &Meaning::Used)
            || self.measure_at(at).is_some_and(|name| is_amount_of(name, &rest.used))
    }

    /// Reads "what share of the budget is used" and "... is left".
    fn read_share_of_whole(&mut self, at: usize) {
        // "What share of A's budget" names its owner first.
        let is_owner = |place: &usize| self.is_thin(*place) || self.value_at(*place).is_some();
        let behind = (at + 1..self.len()).find(|place| !is_owner(place));
        let Some(whole) = behind.filter(|place| self.measure_at(*place).is_some()) else {
            return;
        };
        let Some(rest) = self.measure_at(whole).and_then(|name| self.rest(Some(name))) else {
            return;
        };
        if self.measure_at(whole) != Some(rest.whole.as_str()) {
            return;
        }
        let free = |place: &usize| self.is_free(*place) && *place != whole;
        let word = (0..self.len()).filter(free);
        let left = word.clone().find(|place| self.says_left(*place));
        let used = word.clone().find(|place| self.says_used(*place, &rest));
        let measure = match (left, used, &rest.part) {
            (None, Some(_), Some(part)) => MeasureUse::named(part),
            (Some(_), None, _) => {
                let pair = [rest.left.clone(), rest.whole.clone()];
                let name = Some(ratio_name(&rest.left, &rest.whole));
                let calculation = Some(Calculation::Ratio(pair));
                MeasureUse { calculation, name, ..MeasureUse::default() }
            }
            _ => return,
        };
        [at, whole].into_iter().chain(left).chain(used).for_each(|place| self.take(place));
        self.measures.push((whole, measure));
    }

    /// Reads "how much budget is left" and "what is left". The measure takes the place of the words, so that a
    /// bound beside them is one of it.
    fn read_amount_left(&mut self, at: usize) {
        if !self.means(at, &Meaning::Remaining) || !self.is_free(at) {
            return;
        }
        let is_amount = |place: &usize| {
            self.is_free(*place)
                && self.measure_at(*place).is_some_and(|name| self.rest(Some(name)).is_some())
        };
        let before = self.previous(at).filter(is_amount);
        let whole = before.or_else(|| self.next(at + 1).filter(is_amount));
        let whole = whole.or_else(|| self.only_measure().filter(is_amount));
        let has_other = (0..self.len()).any(|place| self.measure_at(place).is_some());
        let rest = match whole {
            Some(whole) => self.measure_at(whole).and_then(|name| self.rest(Some(name))),
            None if has_other => None,
            None => self.rest(None),
        };
        let Some(rest) = rest else { return };
        match whole {
            Some(whole) => {
                self.take(at);
                self.items[whole].atom = Atom::Measure(rest.left);
                self.items[whole].amounts = Vec::new();
            }
            None => {
                self.assumed.push(Assumed::Measure(rest.left.clone()));
                self.items[at].atom = Atom::Measure(rest.left);
            }
        }
    }

    /// Returns the place of the only measure of a question.
    fn only_measure(&self) -> Option<usize> {
        let mut places = (0..self.len()).filter(|place| self.measure_at(*place).is_some());
        places.next().filter(|_| places.next().is_none())
    }

    /// Adds a bound of a measure that is shown.
    pub(super) fn bound_to(
        &mut self,
        first: usize,
        last: usize,
        name: &str,
        bound: Bound,
        value: f64,
    ) {
        let Some(value) = as_number(value).map(Scalar::Number) else { return };
        let mut bounds = Bounds::default();
        let side = match bound {
            Bound::Above => &mut bounds.above,
            Bound::From => &mut bounds.from,
            Bound::Below => &mut bounds.below,
            Bound::To => &mut bounds.to,
        };
        *side = Some(value);
        let test = Test::Bounds(bounds);
        self.bounds.push((first, Condition::Is { name: name.to_owned(), test }));
        self.bound_spans.push((first.min(last), first.max(last)));
        self.assume_things();
    }
}

/// Whether a name is that of an amount, or its beginning: "spend" of "spend to date".
fn is_amount_of(name: &str, amount: &str) -> bool {
    amount == name || amount.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'))
}

/// Returns the bound of what is used for one of what is left.
fn other_side(bound: Bound) -> Bound {
    match bound {
        Bound::Above => Bound::Below,
        Bound::From => Bound::To,
        Bound::Below => Bound::Above,
        Bound::To => Bound::From,
    }
}

/// Returns the unit of the calendar that a unit of a measure is.
fn unit_named(unit: &str, lexicon: &crate::lexicon::Lexicon) -> Option<CalendarUnit> {
    let tokens = crate::tokens::tokens(unit);
    let phrases = lexicon.phrases_at(&tokens, 0);
    let mut meanings = phrases.iter().flat_map(|(_, meanings)| meanings.iter());
    meanings.find_map(|meaning| match meaning {
        Meaning::Unit(unit) => Some(*unit),
        _ => None,
    })
}

/// Returns a length of time in another unit.
pub(super) fn in_unit(count: u32, unit: CalendarUnit, own: CalendarUnit) -> Option<f64> {
    let days = |unit: CalendarUnit| match unit {
        CalendarUnit::Day => 1.0,
        CalendarUnit::Week => 7.0,
        CalendarUnit::Month => 30.0,
        CalendarUnit::Quarter => 91.0,
        CalendarUnit::Year => 365.0,
    };
    Some(f64::from(count) * days(unit) / days(own)).filter(|value| *value <= 1e6)
}
