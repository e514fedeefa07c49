//! The amount that has to be spent each day to use a plan, "how much do we need to spend per day", and when a plan is used
//! up. Only a source that is computed from a plan says so; over other sources the words are left over.

use contract::metric_query::{MeasureUse, TimeGrain};

use super::Composer;
use crate::meaning::Meaning;

/// The figures of an amount that is needed each day, of what was spent and of what is planned.
const NEEDED: &str = "needed_per_day";
const SPEND: &str = "spend";
const BUDGET: &str = "budget";
/// The day on which a budget is used up, and the flag of things for which that is before their end.
const RUN_OUT_DAY: &str = "run_out_day";
const RUNS_OUT: &str = "runs_out_early";

impl Composer<'_> {
    /// Reads what is needed. A wish says nothing about figures: "I need to see the spend by day".
    pub(super) fn read_needed(&mut self) {
        for at in self.places(&Meaning::Need) {
            let is_asked = (0..at).any(|before| {
                self.means(before, &Meaning::Extent) || self.means(before, &Meaning::Which)
            });
            let has_figure = (at + 1..self.len()).any(|place| self.measure_at(place).is_some());
            if is_asked && has_figure {
                self.read_need(at);
            } else {
                self.pass_over(&[at]);
            }
        }
    }

    /// Reads "when does A run out of money" as a day, and not as a condition.
    pub(super) fn read_run_out(&mut self) {
        let Some(day) = self.figure(RUN_OUT_DAY) else { return };
        let Some(at) = self.places(&Meaning::When).first().copied() else { return };
        let is_end =
            |place: &usize| self.is_free(*place) && self.value_at(*place) == Some(RUNS_OUT);
        let Some(end) = (0..self.len()).find(is_end) else { return };
        self.pass_over(&[at]);
        // "Which campaigns run out of money and when" has a condition, too.
        if !self.has(&Meaning::Which) {
            self.pass_over(&[end]);
        }
        self.measures.push((end, MeasureUse::named(day)));
    }

    /// Reads "need to spend per day" with the aim behind it: "to hit the budget".
    fn read_need(&mut self, at: usize) {
        let aim = (0..self.len()).find(|place| self.aim_at(*place).is_some());
        let (spend, budget) = (self.place_of(&[SPEND]), self.place_of(&[BUDGET]));
        // "How much a day do we need to use up the budget" names the aim only.
        let is_said = spend.is_some() || (aim.is_some() && budget.is_some());
        let Some(needed) = self.figure(NEEDED).filter(|_| is_said) else { return };
        let is_day =
            |place: &usize| self.is_free(*place) && self.grain_at(*place) == Some(TimeGrain::Day);
        let Some(day) = (0..self.len()).find(is_day) else { return };
        let per = day.checked_sub(1).filter(|before| {
            self.means(*before, &Meaning::Per) || self.means(*before, &Meaning::By)
        });
        let words: Vec<usize> =
            [Some(at), spend, Some(day), per, aim, budget].into_iter().flatten().collect();
        self.pass_over(&words);
        self.measures.push((at, MeasureUse::named(needed)));
    }
}
