//! Extremes and distances of things that a source judges: "which is furthest behind", "the three worst", "how
//! far ahead is A". The figure is the one that the verdicts are about, a difference to a plan. It must not
//! know which verdicts there are.

use contract::{
    definitions::Calculation,
    metric_query::{Group, MeasureUse},
};

use super::{Composer, Ranked, deviations::Side};
use crate::{
    central::{measure_of, verdict_of},
    items::Atom,
    meaning::{Bound, Meaning, Rank, Refer},
    names::side_of,
    outcome::{Assumed, Form},
};

/// The verdicts of a source and the figures that they are about.
struct Judged {
    /// The dimension with the verdicts.
    verdict: String,
    /// The difference to the plan, as a part of it.
    part: String,
    /// The difference as an amount.
    amount: String,
}

/// A rank by the difference to the plan.
pub(super) struct Judgement {
    /// The measure.
    pub measure: String,
    /// Whether great values come first.
    pub descending: bool,
}

impl Composer<'_> {
    fn judged(&self) -> Option<Judged> {
        let verdict = verdict_of(self.scan.source)?;
        let (part, _) = self.deviation()?;
        let Some(Calculation::Ratio([amount, _])) = self.calculation(&part) else { return None };
        Some(Judged { verdict, amount: amount.clone(), part })
    }

    /// Whether a text names a figure that is no number of things.
    fn has_figure(&self) -> bool {
        let is_named = |at: usize| self.is_free(at) && self.names_a_figure(at);
        (0..self.len()).any(|at| is_named(at) && !self.is_plan_of_verdict(at))
    }

    /// Whether a part names what is planned behind a verdict on it: "behind budget".
    fn is_plan_of_verdict(&self, at: usize) -> bool {
        let Some(name) = self.measure_at(at) else { return false };
        let (source, lexicon) = (self.scan.source, self.scan.lexicon);
        let mut planned = lexicon.planned.iter();
        let is_planned =
            planned.any(|one| measure_of(source, lexicon, one, true).as_deref() == Some(name));
        let verdict = verdict_of(source);
        let before = self.previous(at).and_then(|before| self.value_at(before));
        is_planned && before.is_some() && before == verdict.as_deref()
    }

    /// Uses a verdict that is no condition, with the plan behind it.
    fn take_verdict(&mut self, at: usize) {
        self.take(at);
        if let Some(plan) = self.next(at + 1).filter(|next| self.is_plan_of_verdict(*next)) {
            self.take(plan);
        }
    }

    fn names_a_figure(&self, at: usize) -> bool {
        let Some(name) = self.measure_at(at) else { return false };
        !matches!(self.calculation(name), Some(Calculation::Distinct(_)))
    }

    /// Reads "how far behind is A" as the difference of A, and not as a condition.
    pub(super) fn read_distances(&mut self) {
        let Some(judged) = self.judged().filter(|_| !self.has_figure()) else { return };
        for at in self.places(&Meaning::Extent) {
            let Some(state) = self.state_of_extent(at, &judged.verdict) else { continue };
            self.take(at);
            self.take_verdict(state);
            let find = |fits: &dyn Fn(&Meaning) -> bool| {
                (0..self.len()).find(|place| {
                    self.is_free(*place)
                        && self.items[*place].find(|m| fits(m).then_some(())).is_some()
                })
            };
            let is_amount = self.has_currency();
            let percent = find(&|meaning| *meaning == Meaning::Percent);
            percent.into_iter().for_each(|place| self.take(place));
            let names = match (is_amount, percent) {
                (true, _) => vec![judged.amount],
                (false, Some(_)) => vec![judged.part],
                (false, None) => vec![judged.amount, judged.part],
            };
            let used = names.into_iter().map(|name| (state, MeasureUse::named(name)));
            self.measures.extend(used);
            return;
        }
    }

    /// Whether a text names a currency, in which only an amount can be.
    fn has_currency(&self) -> bool {
        let code = |at: usize| {
            self.items[at].find(|m| matches!(m, Meaning::Currency(_)).then_some(())).is_some()
        };
        let column = crate::central::currency_of(self.scan.source);
        let is_value = |at: usize| column.is_some() && self.value_at(at) == column.as_deref();
        (0..self.len()).any(|at| code(at) || is_value(at))
    }

    /// Returns the word for a side of the plan that a word such as "how far" belongs to.
    fn state_of_extent(&self, at: usize, verdict: &str) -> Option<usize> {
        let is_between = |place: usize| {
            self.is_thin(place)
                || self.means(place, &Meaning::By)
                || self.dimension_at(place).is_some_and(|name| name != verdict)
                || self.value_at(place).is_some_and(|name| name != verdict)
        };
        let is_state = |place: usize| self.is_state_or_side(place, verdict);
        let after = (at + 1..self.len()).find(|place| is_state(*place) || !is_between(*place));
        let after = after.filter(|place| is_state(*place));
        let before = (0..at).rev().find(|place| is_state(*place) || !is_between(*place));
        after.or(before.filter(|place| is_state(*place)))
    }

    /// Whether a part is a verdict with a side, or a word for a side that nothing follows which it may belong to.
    fn is_state_or_side(&self, at: usize, verdict: &str) -> bool {
        if !self.is_free(at) {
            return false;
        }
        if self.value_at(at) == Some(verdict) {
            return self.side_of_state(at).is_some() || self.is_off_plan(at);
        }
        let is_side = matches!(self.bound_at(at), Some(Bound::Above | Bound::Below))
            || self.side_of_word(at).is_some();
        let next = (at + 1..self.len()).find(|place| !self.is_thin(*place));
        let is_bound = next.is_some_and(|next| {
            self.number_at(next).is_some()
                || self.period_at(next).is_some()
                || self.measure_at(next).is_some()
                || (next == at + 1 && self.dimension_at(next).is_some())
        });
        matches!(self.items[at].atom, Atom::Words(_)) && is_side && !is_bound
    }

    /// Whether a word such as "over" is a side that something is on, which no rule used: "how much over are we".
    pub(super) fn is_side_of_extent(&self, at: usize) -> bool {
        let next = (at + 1..self.len()).find(|place| !self.is_thin(*place));
        let is_place = next.is_some_and(|next| {
            self.period_at(next).is_some()
                || self.number_at(next).is_some()
                || self.measure_at(next).is_some()
                || (next == at + 1
                    && (self.value_at(next).is_some() || self.dimension_at(next).is_some()))
        });
        at > 0 && self.means(at - 1, &Meaning::Extent) && !is_place
    }

    /// Whether a word stands for verdicts on both sides of the plan: "off plan".
    fn is_off_plan(&self, at: usize) -> bool {
        let Some(Atom::Values { values, .. }) = self.items.get(at).map(|item| &item.atom) else {
            return false;
        };
        let side = |value: &String| side_of(value, &self.scan.lexicon.deviations);
        values.iter().all(|value| side(value).is_some())
    }

    /// Returns the side of the plan that a verdict is on: by the words of the verdict, or else by those that it
    /// was named with.
    pub(super) fn side_of_state(&self, at: usize) -> Option<Side> {
        let own: Vec<&str> = match &self.items.get(at)?.atom {
            Atom::Value { value, .. } => vec![value],
            Atom::Values { values, .. } => values.iter().map(String::as_str).collect(),
            _ => return None,
        };
        let sides: Vec<Option<bool>> =
            own.iter().map(|value| side_of(value, &self.scan.lexicon.deviations)).collect();
        match sides.first()? {
            Some(is_above) if sides.iter().all(|side| *side == Some(*is_above)) => {
                Some(if *is_above { Side::Above } else { Side::Below })
            }
            _ => self.side_of_word(at),
        }
    }

    /// Returns the side of the most severe verdict, which is that of the worst things.
    fn worst_side(&self, verdict: &str) -> Option<Side> {
        let order = &self.scan.source.definitions.dimensions.get(verdict)?.order;
        let sides = order.iter().find_map(|value| side_of(value, &self.scan.lexicon.deviations));
        sides.map(|is_above| if is_above { Side::Above } else { Side::Below })
    }

    /// Returns the difference to the plan as what decides a rank, if the text names no figure and the rank is
    /// about verdicts: by a word such as "behind" or the verdicts themselves, or as the best and the worst.
    pub(super) fn judgement(&mut self, at: usize, rank: Rank) -> Option<Judgement> {
        let is_implied = self.items[at].find(|m| matches!(m, Meaning::Implied(_)).then_some(()));
        if is_implied.is_some()
            || self.scan.is_chosen()
            || self.has_figure()
            || self.change.is_some()
        {
            return None;
        }
        let judged = self.judged()?;
        let is_state =
            |place: usize| self.is_free(place) && self.value_at(place) == Some(&judged.verdict);
        let side_word = Some(at + 1).filter(|next| self.is_state_or_side(*next, &judged.verdict));
        // "Most behind", "behind the most"
        let beside = side_word
            .or_else(|| self.next(at + 1).filter(|next| is_state(*next)))
            .or_else(|| self.previous(at).filter(|before| is_state(*before)));
        // "The biggest campaigns and their status" are not ranked by it.
        let is_besides = |place: usize| {
            place.checked_sub(1).is_some_and(|before| {
                self.is_joiner(before) || self.means(before, &Meaning::Refer(Refer::Their))
            })
        };
        let named = (0..self.len()).find(|place| {
            self.is_free(*place)
                && self.dimension_at(*place) == Some(&judged.verdict)
                && !is_besides(*place)
        });
        // Verdicts without a side, such as "ended", only say which things count.
        let has_side = |place: &usize| is_state(*place) && self.side_of_state(*place).is_some();
        let state = (0..self.len()).find(has_side);
        let is_worst = matches!(rank, Rank::High | Rank::Worst);
        let side = |side: Side, is_far: bool| (side == Side::Above) == is_far;
        let descending = match (beside, named, state, rank) {
            // "Furthest ahead" names no condition, and no less "the least behind".
            (Some(place), ..) => {
                let found = self.side_of_state(place).or_else(|| self.side_of_word(place))?;
                self.take_verdict(place);
                side(found, is_worst)
            }
            (None, _, Some(place), _) => side(self.side_of_state(place)?, rank != Rank::Best),
            (None, _, None, Rank::Worst | Rank::Best) => {
                side(self.worst_side(&judged.verdict)?, rank == Rank::Worst)
            }
            (None, Some(_), None, Rank::High | Rank::Low) => rank == Rank::High,
            (None, None, None, Rank::High | Rank::Low) => return None,
        };
        if let Some(place) = named {
            self.take(place);
        }
        self.measures.push((at, MeasureUse::named(&judged.part)));
        if beside.is_none() {
            self.assumed.push(Assumed::Measure(judged.part.clone()));
        }
        Some(Judgement { measure: judged.part, descending })
    }

    /// Ranks the things that the source judges if the text names none: "who is furthest behind".
    pub(super) fn rank_judged(&mut self, at: usize, judgement: Judgement) {
        self.assume_things();
        if self.by.is_empty() {
            return;
        }
        let number = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let number = number.filter_map(|place| Some((place, self.count_at(place)?))).next();
        self.take(at);
        number.into_iter().for_each(|(place, _)| self.take(place));
        let limit = Some(number.map_or(1, |(_, count)| count));
        let (measure, descending) = (Some(judgement.measure), judgement.descending);
        self.ranked =
            Some(Ranked { measure, descending, limit, is_change: true, ..Ranked::default() });
    }

    /// Reads "A or B, which is closer to plan" as the differences of both. No order of a query goes by the
    /// distance on either side, so that they stand side by side.
    pub(super) fn read_nearest(&mut self) {
        let Some(judged) = self.judged().filter(|_| !self.has_figure()) else { return };
        let Some(at) = self.places(&Meaning::Nearest).first().copied() else { return };
        let values: Vec<usize> = (0..self.len())
            .filter(|place| self.is_free(*place) && self.value_at(*place).is_some())
            .collect();
        let dimension = values.first().and_then(|place| self.value_at(*place)).map(str::to_owned);
        self.take(at);
        // No sentence says which one it is.
        self.form = Form::Figures;
        self.measures.push((at, MeasureUse::named(&judged.part)));
        self.assumed.push(Assumed::Measure(judged.part));
        let has_things = (0..self.len()).any(|at| self.dimension_at(at).is_some());
        match dimension {
            Some(dimension) if values.len() > 1 && !has_things => {
                self.add_group(values[0], Group::dimension(dimension));
            }
            Some(_) | None if !has_things => self.assume_things(),
            Some(_) | None => {}
        }
    }

    /// Says which side of a figure is the good one, if a text asks for the best or worst of a figure that it
    /// does not name.
    pub(super) fn assume_better(&mut self, rank: Rank) {
        let is_side = matches!(rank, Rank::Best | Rank::Worst);
        if !is_side || self.first_measure().is_some() || self.change.is_some() {
            return;
        }
        let Some(main) = self.scan.main_measure() else { return };
        let measure = self.scan.source.definitions.measures.get(&main);
        if measure.is_some_and(|measure| measure.better.is_none()) {
            self.assumed.push(Assumed::Better(main));
        }
    }

    /// Passes over "all three accounts" behind what is asked for: it restricts nothing, and divides nothing if
    /// other things are ranked or a sum is asked for.
    pub(super) fn skip_all_things(&mut self) {
        for at in self.places(&Meaning::All) {
            let thing = at + 1;
            let is_thing = self.dimension_at(thing).is_some()
                || self.measure_at(thing).is_some_and(|name| {
                    matches!(self.calculation(name), Some(Calculation::Distinct(_)))
                });
            let is_ranked = (0..self.len()).any(|place| {
                self.items[place].find(|m| matches!(m, Meaning::Rank(_)).then_some(())).is_some()
            });
            let others = (0..at).any(|place| self.dimension_at(place).is_some());
            let is_sum = self.has(&Meaning::Sum) && self.first_measure().is_some_and(|m| m < at);
            if is_thing && ((is_ranked && others) || is_sum) {
                for place in [at, thing] {
                    self.items[place].atom = Atom::Words(vec![Meaning::Filler]);
                }
            }
        }
    }
}
