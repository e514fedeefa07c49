//! Groups, measures and the order of a result.

use contract::{
    definitions::{Calculation, CurrencyOf, Measure},
    metric_query::{Group, MeasureUse, Order, TimeGrain},
};

use super::{Composer, Ranked};
use crate::{items::Atom, meaning::Meaning, things::are_one};

impl Composer<'_> {
    /// Reads dimensions and times to group by.
    pub(super) fn read_groups(&mut self) {
        for at in 0..self.len() {
            if !self.is_free(at) {
                continue;
            }
            if let Some(name) = self.dimension_at(at).map(str::to_owned) {
                let is_described = self.is_described(at) || self.names_a_value(at, &name);
                self.take(at);
                if !is_described && !self.explained {
                    self.add_group(at, Group::dimension(name));
                }
            } else if let Some(grain) = self.grain_to_group(at) {
                self.take(at);
                self.add_group(at, Group::time(grain));
            }
        }
    }

    /// Whether the part is the name of a thing whose id stands behind it, beside other groups: "by campaign for
    /// account 17".
    fn names_a_value(&self, at: usize, name: &str) -> bool {
        let is_of = |place: usize, name: &str| {
            self.value_at(place).is_some_and(|own| are_one(self.scan.source, own, name))
        };
        let is_other = |place: usize| {
            let own = self.dimension_at(place);
            own.is_some_and(|own| own != name && !is_of(place + 1, own))
        };
        let is_asked = at > 0 && self.means(at - 1, &Meaning::Which);
        is_of(at + 1, name) && !self.is_grouped(at) && !is_asked && (0..self.len()).any(is_other)
    }

    /// Returns the grain at a place. A unit alone, such as "week", must follow a word that groups.
    pub(super) fn grain_to_group(&self, at: usize) -> Option<TimeGrain> {
        let grain = self.grain_at(at)?;
        let has_by = self.means(at, &Meaning::By);
        let is_unit = self.unit_at(at).is_some() && !has_by;
        let is_asked = at > 0 && self.means(at - 1, &Meaning::Which);
        // "Days with more than 50 orders"
        let is_thing = !self.bounds.is_empty() && self.next(0) == Some(at);
        (!is_unit || self.is_grouped(at) || is_asked || is_thing).then_some(grain)
    }

    /// Leaves out the name of things that only describes a value: "revenue from Stockholm customers".
    fn skip_described_things(&mut self) {
        for at in 1..self.len() {
            let is_count =
                self.measure_at(at).and_then(|name| self.calculation(name)).is_some_and(|found| {
                    matches!(found, Calculation::Distinct(_) | Calculation::Count(_))
                });
            let is_value = self.value_at(at - 1).is_some();
            let main = (0..at).rev().find(|place| self.measure_at(*place).is_some());
            let Some(main) = main.filter(|_| is_count && is_value && self.is_free(at)) else {
                continue;
            };
            let is_between = |place: usize| self.is_thin(place) || self.value_at(place).is_some();
            if (main + 1..at).all(is_between) {
                self.take(at);
            }
        }
    }

    /// Reads all other measures.
    pub(super) fn read_measures(&mut self) {
        self.skip_described_things();
        for at in 0..self.len() {
            if self.explained || !self.is_free(at) {
                continue;
            }
            let name = match &self.items[at].atom {
                Atom::Measure(name) => name.clone(),
                Atom::Words(meanings) if meanings.contains(&Meaning::Rows) => "rows".to_owned(),
                _ => continue,
            };
            self.take(at);
            let is_change = self.is_change(at + 1);
            self.join_sort(at);
            let is_order =
                self.previous(at).is_some_and(|before| self.means(before, &Meaning::Sort));
            let is_used = |(_, used): &(usize, MeasureUse)| used.measure.as_ref() == Some(&name);
            if is_order {
                self.sort_by(at, &name, is_change);
            }
            if !self.measures.iter().any(is_used) {
                self.measures.push((at, MeasureUse::named(name)));
            }
        }
    }

    /// Reads "sort them by M" as "sort by M".
    fn join_sort(&mut self, at: usize) {
        let Some(by) = self.previous(at).filter(|by| self.means(*by, &Meaning::By)) else { return };
        let Some(sort) = self.previous(by).filter(|sort| self.means(*sort, &Meaning::Sort)) else {
            return;
        };
        if self.is_free(sort) {
            self.take(sort);
            if let Atom::Words(meanings) = &mut self.items[by].atom {
                meanings.push(Meaning::Sort);
            }
        }
    }

    fn sort_by(&mut self, at: usize, name: &str, is_change: bool) {
        if let Some(before) = self.previous(at) {
            self.take(before);
        }
        let descending = !self.has(&Meaning::Ascending);
        let measure = Some(name.to_owned());
        let ranked = Ranked { measure, descending, is_change, ..Ranked::default() };
        self.ranked.get_or_insert(ranked);
    }

    /// Reads a currency without a number: that of the amounts, or the one to convert them to.
    pub(super) fn read_currency(&mut self) {
        for at in 0..self.len() {
            let code = self.items[at].find(|meaning| match meaning {
                Meaning::Currency(code) => Some(code.clone()),
                _ => None,
            });
            // "Clicks per dollar" is a ratio.
            let is_divisor = at > 0 && self.means(at - 1, &Meaning::Per);
            let code = code.filter(|_| self.is_free(at) && !is_divisor);
            let Some(code) = code else { continue };
            self.take(at);
            let own =
                |measure: &Measure| measure.currency == Some(CurrencyOf::Constant(code.clone()));
            if !self.scan.source.definitions.measures.values().any(own) {
                self.query.in_currency = Some(code);
            }
        }
    }

    /// Reads words about the order alone.
    pub(super) fn read_order(&mut self) {
        let falling = self.places(&Meaning::Descending);
        let rising = self.places(&Meaning::Ascending);
        if falling.is_empty() && rising.is_empty() {
            return;
        }
        for at in falling.iter().chain(&rising).copied().chain(self.places(&Meaning::Sort)) {
            self.take(at);
        }
        if let Some(ranked) = &mut self.ranked {
            ranked.descending = !falling.is_empty();
            return;
        }
        let descending = !falling.is_empty();
        self.ranked = Some(Ranked { descending, is_change: true, ..Ranked::default() });
    }
}

/// Returns the order by a column.
pub(super) fn order(by: String, descending: bool) -> Order {
    Order { by, descending }
}
