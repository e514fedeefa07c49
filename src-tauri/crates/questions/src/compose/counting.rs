//! Numbers of things: "how many campaigns", "number of different products", "how many campaigns spent
//! more than 1000".

use contract::{
    definitions::Calculation,
    metric_query::{Group, MeasureUse},
};

use super::Composer;
use crate::{items::Atom, meaning::Meaning, outcome::Form};

impl Composer<'_> {
    /// Reads the words that count.
    pub(super) fn read_counts(&mut self) {
        let mut places = self.places(&Meaning::Count);
        places.extend(self.places(&Meaning::Distinct));
        for at in places {
            self.read_count(at);
        }
    }

    fn read_count(&mut self, at: usize) {
        // "How many active campaigns" counts campaigns, whatever "active" is.
        let is_between = |at: &usize| {
            self.value_at(*at).is_some()
                || self.is_thin(*at)
                || self.is_counting(*at)
                || self.items[*at].atom == Atom::Left
        };
        let Some(thing) = (at + 1..self.len()).find(|at| !is_between(at)) else { return };
        let is_currency =
            self.items[thing].find(|m| matches!(m, Meaning::Currency(_)).then_some(()));
        // "How many euros were spent" is no number of things.
        if self.measure_at(thing).is_some() || is_currency.is_some() {
            self.take(at);
            self.form = Form::HowMany;
            return;
        }
        if matches!(self.items[thing].atom, Atom::Source) {
            // The rows are named by their source: "how many orders".
            self.take(at);
            self.form = Form::HowMany;
            self.measures.push((thing, MeasureUse::named("rows")));
            return;
        }
        if self.means(thing, &Meaning::Rows) {
            self.take(at);
            return;
        }
        if let Some(grain) = self.grain_at(thing).filter(|_| !self.bounds.is_empty()) {
            self.take(at);
            self.take(thing);
            self.form = Form::HowMany;
            let group = Group::time(grain);
            self.counted = Some(super::ranking::name_of(&group));
            self.add_group(thing, group);
            return;
        }
        let Some(dimension) = self.dimension_at(thing).map(str::to_owned) else { return };
        if !self.is_free(thing) || self.counted.is_some() {
            return;
        }
        self.take(at);
        self.take(thing);
        self.form = Form::HowMany;
        if self.bounds.is_empty() {
            let name = format!("{dimension}_count");
            let calculation = Some(Calculation::Distinct(dimension));
            let counted = MeasureUse { calculation, name: Some(name), ..MeasureUse::default() };
            self.measures.push((thing, counted));
        } else {
            self.add_group(thing, Group::dimension(&dimension));
            self.counted = Some(dimension);
        }
    }

    fn is_counting(&self, at: usize) -> bool {
        self.means(at, &Meaning::Count) || self.means(at, &Meaning::Distinct)
    }
}
