//! Questions about how something stands: "how is A doing". Over a source that judges things, the answer is
//! the verdict with the figures that explain it. It must not know which things are judged.

use contract::metric_query::{Condition, Group, GroupBy, MeasureUse, Test};

use super::Composer;
use crate::{
    central::{is_thing, judged_figures, judged_thing, measure_of, verdict_of},
    meaning::Meaning,
    outcome::Assumed,
};

impl Composer<'_> {
    /// Gives the verdict with its figures if the text asks how something stands, and for no other figure.
    pub(super) fn read_standing(&mut self) {
        let Some(verdict) = verdict_of(self.scan.source) else { return };
        let is_verdict = |group: &Group| group.by == GroupBy::Dimension(verdict.clone());
        let names_verdict = self.query.by.iter().any(is_verdict);
        let is_asked = self.has(&Meaning::Standing) && !self.is_judged(&verdict);
        if !(names_verdict || is_asked) || self.asks_otherwise() {
            return;
        }
        let figures = judged_figures(self.scan.source, self.scan.lexicon);
        if figures.is_empty() {
            return;
        }
        // A verdict is that of the smallest thing that a text names.
        let named = self.named_things();
        let thing = judged_thing(self.scan.source, &named).map(Group::dimension);
        let Some(thing) = thing else { return };
        let is_free = !named.is_empty() || !self.has_thing(&verdict);
        if is_free && !self.query.by.contains(&thing) {
            self.query.by.push(thing);
        }
        // The verdict is about the things before it.
        self.query.by.retain(|group| !is_verdict(group));
        self.query.by.push(Group::dimension(verdict));
        self.assumed.extend(figures.iter().cloned().map(Assumed::Measure));
        self.query.measures = figures.into_iter().map(MeasureUse::named).collect();
    }

    /// Whether a text asks how things stand and names no figure. Verdicts have no difference, so that compared
    /// things stand side by side.
    pub(super) fn asks_for_verdicts(&self) -> bool {
        verdict_of(self.scan.source).is_some()
            && self.has(&Meaning::Standing)
            && self.first_measure().is_none()
    }

    /// Whether a question is about other figures, or has another form.
    fn asks_otherwise(&self) -> bool {
        let query = &self.query;
        let is_time = |group: &Group| matches!(group.by, GroupBy::Time(_) | GroupBy::Define(_));
        query.rows
            || self.explained
            || self.averaged
            || self.counted.is_some()
            || self.ranked.is_some()
            || self.asked.is_some()
            || query.compare.is_some()
            || query.by.iter().any(is_time)
            || self.conditions.iter().any(|(_, condition)| leaves_out(condition))
            || !self.asks_for_no_figure()
    }

    /// Whether a text names no figure, or only what is planned: "how does the budget look".
    fn asks_for_no_figure(&self) -> bool {
        match self.query.measures.as_slice() {
            [] => true,
            [used] => {
                let planned = self.scan.lexicon.planned.iter();
                let mut planned = planned.filter_map(|concept| {
                    measure_of(self.scan.source, self.scan.lexicon, concept, true)
                });
                let is_plain = used.measure.clone().map(MeasureUse::named).as_ref() == Some(used);
                let is_divided = self.has(&Meaning::By) || self.has(&Meaning::Per);
                let is_planned = planned.any(|name| used.measure.as_ref() == Some(&name));
                self.has(&Meaning::Standing) && is_plain && is_planned && !is_divided
            }
            _ => false,
        }
    }

    /// Whether only things with certain verdicts count: "which are behind".
    fn is_judged(&self, verdict: &str) -> bool {
        let is_verdict = |condition: &Condition| matches!(condition, Condition::Is { name, .. } if name == verdict);
        self.conditions.iter().any(|(_, condition)| is_verdict(condition))
    }

    /// Whether a result has groups of things.
    fn has_thing(&self, verdict: &str) -> bool {
        let is_thing =
            |group: &Group| matches!(&group.by, GroupBy::Dimension(name) if name != verdict);
        self.query.by.iter().any(is_thing)
    }

    /// Whether the name of a count rather names the things whose verdicts are asked for: "how are the campaigns
    /// doing", "campaigns that are behind".
    pub(super) fn asks_how_they_stand(&self, at: usize) -> bool {
        let Some(verdict) = verdict_of(self.scan.source) else { return false };
        if self.has(&Meaning::Count) || self.has(&Meaning::Distinct) {
            return false;
        }
        let names = |place: usize| {
            self.dimension_at(place) == Some(verdict.as_str()) && !self.is_grouped(place)
        };
        let is_judged = |place: usize| self.value_at(place) == Some(verdict.as_str());
        self.has(&Meaning::Standing)
            || (0..self.len()).any(names)
            || (at == 0 && (0..self.len()).any(is_judged))
    }

    /// Returns the dimensions of the things that a text names.
    fn named_things(&self) -> Vec<String> {
        let name = |condition: &Condition| match condition {
            Condition::Is { test: Test::NoneOf(_), .. } => None,
            Condition::Is { name, .. } => Some(name.clone()),
            Condition::And(_) | Condition::Or(_) | Condition::Not(_) => None,
        };
        let groups = self.query.by.iter().filter_map(|group| match &group.by {
            GroupBy::Dimension(name) => Some(name.clone()),
            GroupBy::Time(_) | GroupBy::Define(_) => None,
        });
        let conditions = self.conditions.iter().filter_map(|(_, condition)| name(condition));
        groups.chain(conditions).filter(|name| is_thing(self.scan.source, name)).collect()
    }
}

/// Whether a condition leaves out things. A verdict is that of a whole thing.
fn leaves_out(condition: &Condition) -> bool {
    match condition {
        Condition::Is { test: Test::NoneOf(_) | Test::NotContains(_) | Test::NotIn(_), .. }
        | Condition::Not(_) => true,
        Condition::Is { .. } => false,
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(leaves_out),
    }
}
