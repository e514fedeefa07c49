//! Assumptions about a plan that goes on: "what if the budget was 250k", "is 200k enough", "if we move 1,000
//! from A to B". Only a source that is computed from a plan has them. Other assumptions are
//! declined, and so is a text that tells to change the plan itself.

use contract::{
    definitions::{Calculation, Unit},
    metric_query::{Bounds, Condition, Group, MeasureUse, Scalar, Test, WhatIfChange},
};

use super::Composer;
use crate::{
    items::Atom,
    meaning::{Alter, Meaning},
    outcome::{Assumed, Declined, Form},
};

mod effects;
mod words;

use effects::{BUDGET, OUTLOOK, RATES};
pub(crate) use effects::{about_things, measure_assumed};

/// The amount that is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assumable {
    /// The budget.
    Budget,
    /// The spend of each day.
    Rate,
}

impl Composer<'_> {
    /// Reads an assumption. Fails if the source has no plan, or if the text tells to change the plan.
    pub(super) fn read_what_if(&mut self) -> Result<(), (Declined, usize)> {
        if let Some(at) = self.told_to_change() {
            return Err((Declined::Instruction, at));
        }
        if self.scan.source.definitions.pacing.is_none() {
            return self.decline_assumption();
        }
        if !self.read_enough() && !self.read_move() {
            self.read_change_of_plan();
        }
        Ok(())
    }

    /// Declines an assumption about a source that has no plan.
    fn decline_assumption(&self) -> Result<(), (Declined, usize)> {
        let supposed = (0..self.len()).find(|at| self.means(*at, &Meaning::Suppose));
        let is_changed = |at: usize| self.alter_at(at).is_some() || self.amount_at(at).is_some();
        match supposed {
            Some(at) if (0..self.len()).any(is_changed) => Err((Declined::WhatIf, at)),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the place of a verb that tells to change a figure: "set the budget to 300k".
    fn told_to_change(&self) -> Option<usize> {
        if self.is_supposed() || self.form == Form::YesNo {
            return None;
        }
        let first = (0..self.len()).find(|at| !self.items[*at].is_link())?;
        let alter = self.alter_at(first)?;
        let mut numbers = (0..self.len()).filter(|at| self.amount_at(*at).is_some());
        if alter == Alter::Move {
            let values = (first..self.len()).filter(|at| self.value_at(*at).is_some()).count();
            return (numbers.next().is_some() && values > 1).then_some(first);
        }
        let object = self.next(first + 1).filter(|at| self.is_money_at(*at))?;
        let is_said = matches!(alter, Alter::Percent(_)) || numbers.any(|at| at > object);
        is_said.then_some(first)
    }

    fn is_money_at(&self, at: usize) -> bool {
        let measures = &self.scan.source.definitions.measures;
        let measure = self.measure_at(at).and_then(|name| measures.get(name));
        measure.is_some_and(|one| one.unit == Some(Unit::Money))
    }

    /// Reads whether an amount is enough, or the budget as it is.
    fn read_enough(&mut self) -> bool {
        let Some(at) = self.places(&Meaning::Enough).first().copied() else { return false };
        let numbers: Vec<usize> =
            (0..self.len()).filter(|at| self.amount_at(*at).is_some()).collect();
        let budget = self.place_of(&[BUDGET]);
        let (Some(projection), Some(own)) = (self.figure(OUTLOOK[0]), self.figure(BUDGET)) else {
            return false;
        };
        let mut words = vec![at];
        let (name, limit) = match (numbers.as_slice(), budget) {
            ([number], _) => {
                let Some(quantity) = self.amount_at(*number).filter(|one| !one.is_percent) else {
                    return false;
                };
                let Some(limit) = self.fitting(&own, &quantity, 1.0) else { return false };
                let Scalar::Number(amount) = limit.clone() else { return false };
                self.assume(Assumable::Budget, WhatIfChange::To(amount), None);
                self.add_currency(&own, quantity.currency.as_deref());
                words.push(*number);
                if budget.is_none() {
                    self.assumed.push(Assumed::Amount(own.clone()));
                }
                (projection.clone(), limit)
            }
            ([], Some(_)) => {
                let Some(difference) = self.figure_of_difference() else { return false };
                (difference, Scalar::Number(0.into()))
            }
            _ => return false,
        };
        words.extend(budget);
        let shown = [projection, own, name.clone()];
        for measure in shown {
            let is_new = |(_, used): &(usize, MeasureUse)| used.measure.as_ref() != Some(&measure);
            if self.measures.iter().all(is_new) {
                self.measures.push((at, MeasureUse::named(measure)));
            }
        }
        let test = Test::Bounds(Bounds { to: Some(limit), ..Bounds::default() });
        self.asked = Some(Condition::Is { name, test });
        self.form = Form::YesNo;
        self.pass_over(&words);
        true
    }

    /// Returns the measure for how far the projection is from the budget.
    pub(super) fn figure_of_difference(&self) -> Option<String> {
        let (projection, budget) = (self.figure(OUTLOOK[0])?, self.figure(BUDGET)?);
        let calculation = Calculation::Minus([projection, budget]);
        let mut measures = self.scan.source.definitions.measures.iter();
        measures.find(|(_, one)| one.calculation == calculation).map(|(name, _)| name.clone())
    }

    /// Reads "if we move 1,000 from A to B" as two changes.
    fn read_move(&mut self) -> bool {
        if !self.is_supposed() {
            return false;
        }
        let is_move = |at: &usize| self.alter_at(*at) == Some(Alter::Move);
        let Some(at) = (0..self.len()).find(is_move) else { return false };
        let numbers: Vec<usize> =
            (0..self.len()).filter(|at| self.amount_at(*at).is_some()).collect();
        let values: Vec<usize> =
            (at + 1..self.len()).filter(|at| self.value_at(*at).is_some()).collect();
        let ([number], [first, second]) = (numbers.as_slice(), values.as_slice()) else {
            return false;
        };
        let leads = |from: usize, to: usize, meaning: &Meaning| {
            (from..to).any(|place| self.means(place, meaning))
        };
        let (from, to) = match (leads(at, *first, &Meaning::From), leads(at, *first, &Meaning::To))
        {
            (true, false) if leads(*first, *second, &Meaning::To) => (*first, *second),
            (false, true) if leads(*first, *second, &Meaning::From) => (*second, *first),
            _ => return false,
        };
        let Some(budget) = self.figure(BUDGET) else { return false };
        let quantity = self.amount_at(*number).filter(|one| !one.is_percent);
        let Some(quantity) = quantity else { return false };
        let dimension = self.value_at(from).map(str::to_owned);
        let Some(dimension) = dimension.filter(|name| self.value_at(to) == Some(name)) else {
            return false;
        };
        let amounts =
            (self.fitting(&budget, &quantity, -1.0), self.fitting(&budget, &quantity, 1.0));
        let (Some(Scalar::Number(less)), Some(Scalar::Number(more))) = amounts else {
            return false;
        };
        let ends = (self.condition_of(from), self.condition_of(to));
        let (Some(source), Some(target)) = ends else { return false };
        self.assume(Assumable::Budget, WhatIfChange::By(less), Some(source.clone()));
        self.assume(Assumable::Budget, WhatIfChange::By(more), Some(target.clone()));
        self.add_currency(&budget, quantity.currency.as_deref());
        self.conditions.push((from, joined(&source, &target)));
        self.add_group(from, Group::dimension(dimension));
        let is_between = |place: &usize| {
            let is_budget = self.measure_at(*place).is_some_and(|name| name == budget);
            self.items[*place].is_link() || self.dimension_at(*place).is_some() || is_budget
        };
        let words: Vec<usize> = (at.min(*number)..=to.max(from)).filter(is_between).collect();
        let all = words.into_iter().chain([at, *number]);
        let supposed: Vec<usize> = self.supposing();
        self.pass_over(&all.chain(supposed).collect::<Vec<_>>());
        // The values stay what the question is about.
        [from, to].into_iter().for_each(|place| self.take(place));
        true
    }

    /// Returns the condition on the value at a place.
    fn condition_of(&self, at: usize) -> Option<Condition> {
        let (name, test) = match &self.items.get(at)?.atom {
            Atom::Value { dimension, value, is_part: false } => {
                (dimension, Test::OneOf(vec![self.scalar_of(dimension, value)]))
            }
            Atom::Value { dimension, value, is_part: true } => {
                (dimension, Test::Contains(vec![value.clone()]))
            }
            Atom::Values { dimension, values, .. } => {
                let values = values.iter().map(|value| self.scalar_of(dimension, value));
                (dimension, Test::OneOf(values.collect()))
            }
            Atom::Measure(_)
            | Atom::Dimension { .. }
            | Atom::Source
            | Atom::Number(_)
            | Atom::Period { .. }
            | Atom::Words(_)
            | Atom::Left => return None,
        };
        Some(Condition::Is { name: name.clone(), test })
    }

    /// Reads another budget, or another rate.
    fn read_change_of_plan(&mut self) {
        let Some(supposed) = self.supposed_change() else { return };
        let object = self.object_of(&supposed);
        let name = object.and_then(|at| self.measure_at(at)).map(str::to_owned);
        let days = self.words_of_days(&supposed, object);
        let is_percent = supposed.is_percent();
        let is_rate = name.as_ref().is_some_and(|name| self.is_one_of(name, &RATES));
        let is_of_day = name.as_ref().is_some_and(|name| self.is_one_of(name, &RATES[1..]));
        let kind = match (&name, is_rate, !days.is_empty()) {
            // "A spend of 600" is no rate without its day.
            (Some(_), true, false) if !is_percent && !is_of_day => return,
            (Some(_), true, _) | (None, _, true) => Assumable::Rate,
            // Only the same part of each day is that part of the whole.
            (Some(_), false, true) if !is_percent => return,
            (Some(_), false, _) | (None, _, false) => Assumable::Budget,
        };
        let Some(measure) = name.or_else(|| self.figure(BUDGET)) else { return };
        let Some(change) = self.in_unit(&supposed, &measure) else { return };
        // Amounts of several currencies have no sum.
        let is_one =
            supposed.currency().is_some() || self.names_value() || !self.has_currencies(&measure);
        if !is_percent && !is_one {
            return;
        }
        self.assume(kind, change, None);
        self.add_currency(&measure, supposed.currency());
        if object.is_none() && kind == Assumable::Budget {
            self.assumed.push(Assumed::Amount(measure));
        }
        let words = supposed.words.iter().copied().chain(supposed.number).chain(object);
        let words: Vec<usize> = words.chain(days).chain(self.supposing()).collect();
        self.pass_over(&words);
    }
}

/// Returns the condition on the things of two others.
fn joined(one: &Condition, other: &Condition) -> Condition {
    match (one, other) {
        (
            Condition::Is { name, test: Test::OneOf(own) },
            Condition::Is { test: Test::OneOf(more), .. },
        ) => {
            let values = own.iter().chain(more).cloned().collect();
            Condition::Is { name: name.clone(), test: Test::OneOf(values) }
        }
        (
            Condition::Is { name, test: Test::Contains(own) },
            Condition::Is { test: Test::Contains(more), .. },
        ) => {
            let texts = own.iter().chain(more).cloned().collect();
            Condition::Is { name: name.clone(), test: Test::Contains(texts) }
        }
        (_, _) => Condition::Or(vec![one.clone(), other.clone()]),
    }
}
