//! Conditions on values of dimensions: which of them count, and which do not.

use std::collections::BTreeMap;

use contract::{
    definitions::DimensionKind,
    metric_query::{Bounds, Condition, Scalar, Test},
    sources::ColumnKind,
};

use super::Composer;
use crate::{items::Atom, meaning::Meaning, names::HOLDS};

impl Composer<'_> {
    /// Reads values after words that exclude them. The words reach over all values that are joined.
    pub(super) fn read_exclusions(&mut self) {
        // "The same for mobile, but in Ireland" excludes nothing.
        let joins = |at: &usize| self.is_joiner(*at) && self.means(*at + 1, &Meaning::In);
        let places: Vec<usize> =
            self.places(&Meaning::Not).into_iter().filter(|at| !joins(at)).collect();
        for at in places {
            let mut found = Vec::new();
            let mut next = self.next(at + 1);
            while let Some(place) = next {
                if self.value_at(place).is_some() && self.is_free(place) {
                    found.push(place);
                    // "Excluding mobile in Ireland" says nothing against Ireland.
                    next = Some(place + 1).filter(|at| self.continues(*at));
                } else if self.is_joiner(place) && !found.is_empty() {
                    next = self.next(place + 1).filter(|at| self.value_at(*at).is_some());
                } else if self.is_described(place) {
                    self.take(place);
                    next = self.next(place + 1);
                } else {
                    break;
                }
            }
            if found.is_empty() && (self.excludes_figure(at) || self.excludes_names(at)) {
                continue;
            }
            if found.is_empty() {
                // "Göteborg excluded"
                found.extend(self.value_before(at));
            }
            if !found.is_empty() {
                self.take(at);
                self.add_conditions(&found, true);
            }
        }
    }

    /// Reads "campaigns without clicks" as those whose figure is not above zero.
    fn excludes_figure(&mut self, at: usize) -> bool {
        // "With spend but impressions" joins them.
        let Some(place) = self.next(at + 1).filter(|_| !self.is_joiner(at)) else { return false };
        let has_thing = (0..at).any(|at| self.dimension_at(at).is_some());
        let Some(name) = self.measure_at(place).map(str::to_owned).filter(|_| has_thing) else {
            return false;
        };
        let to = Some(Scalar::Number(0.into()));
        let test = Test::Bounds(Bounds { to, ..Bounds::default() });
        self.take(at);
        self.bounds.push((place, Condition::Is { name, test }));
        self.bound_spans.push((at, place));
        true
    }

    /// Reads "visits without a channel" as those whose channel is empty.
    fn excludes_names(&mut self, at: usize) -> bool {
        let Some(place) = self.next(at + 1) else { return false };
        let is_open = self.is_free(place) && !self.is_described(place) && !self.is_joiner(at);
        let Some(name) = self.dimension_at(place).map(str::to_owned).filter(|_| is_open) else {
            return false;
        };
        [at, place].into_iter().for_each(|place| self.take(place));
        self.conditions.push((place, Condition::Is { name, test: Test::Empty(true) }));
        true
    }

    /// Returns the value that a word at the end excludes.
    fn value_before(&self, at: usize) -> Option<usize> {
        let is_last = self.next(at + 1).is_none_or(|next| self.is_joiner(next));
        self.previous(at)
            .filter(|place| is_last && self.value_at(*place).is_some() && self.is_free(*place))
    }

    fn continues(&self, at: usize) -> bool {
        self.is_joiner(at) || self.is_described(at)
    }

    /// Whether a part is the dimension of the value beside it: "the city Malmö", "Billing team".
    pub(super) fn is_described(&self, at: usize) -> bool {
        let Some(dimension) = self.dimension_at(at) else { return false };
        let is_value = |place: Option<usize>| {
            place.is_some_and(|place| self.value_at(place) == Some(dimension))
        };
        let is_asked = at > 0 && self.means(at - 1, &Meaning::Which);
        // "Status is not closed"
        let is_between = |place: &usize| self.is_thin(*place) || self.means(*place, &Meaning::Not);
        let after = (at + 1..self.len()).find(|place| !is_between(place));
        // "Visits from browsers other than Chrome" is about the visits.
        let is_source =
            at > 1 && self.is_thin(at - 1) && (0..at).any(|place| self.measure_at(place).is_some());
        let is_said = after.is_some_and(|after| {
            after == at + 1
                || (at + 1..after).any(|place| self.means(place, &Meaning::IsIt))
                || (is_source && (at + 1..after).all(|place| self.means(place, &Meaning::Not)))
        });
        let is_after = is_said && is_value(after);
        !self.is_grouped(at) && !is_asked && (is_value(at.checked_sub(1)) || is_after)
    }

    /// Reads all other values: those of one dimension are alternatives.
    pub(super) fn read_values(&mut self) {
        for at in self.places(&Meaning::Only) {
            self.take(at);
        }
        self.read_alternatives();
        let free: Vec<usize> = (0..self.len())
            .filter(|at| self.is_free(*at) && self.value_at(*at).is_some())
            .collect();
        self.add_conditions(&free, false);
    }

    /// Reads values of two dimensions with "or" between them.
    fn read_alternatives(&mut self) {
        for at in 1..self.len() {
            let places = [at - 1, at + 1];
            let is_pair = self.means(at, &Meaning::Or)
                && places.iter().all(|place| self.is_free(*place))
                && self.value_at(at - 1).is_some()
                && self.value_at(at + 1).is_some()
                && self.value_at(at - 1) != self.value_at(at + 1);
            if is_pair {
                let before = self.conditions.len();
                self.add_conditions(&places, false);
                let both = self.conditions.drain(before..).map(|(_, condition)| condition);
                let either = Condition::Or(both.collect());
                self.conditions.push((at - 1, either));
            }
        }
    }

    /// Returns a value as its column has it.
    pub(super) fn scalar_of(&self, dimension: &str, value: &str) -> Scalar {
        let source = self.scan.source;
        let kind = source.definitions.dimensions.get(dimension).map(|found| &found.kind);
        let is_flag = matches!(kind, Some(DimensionKind::Column(column))
            if source.columns.iter().any(|own| own.name == *column && own.kind == ColumnKind::Flag));
        if is_flag { Scalar::Flag(value == HOLDS) } else { Scalar::Text(value.to_owned()) }
    }

    /// Adds a condition for each dimension of the values at some places.
    fn add_conditions(&mut self, places: &[usize], is_excluded: bool) {
        let mut whole: BTreeMap<String, (usize, Vec<Scalar>)> = BTreeMap::new();
        let mut parts: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
        for at in places {
            self.take(*at);
            if let Atom::Values { dimension, values, .. } = &self.items[*at].atom {
                let entry = whole.entry(dimension.clone()).or_insert((*at, Vec::new()));
                entry.1.extend(values.iter().map(|value| self.scalar_of(dimension, value)));
                continue;
            }
            let Atom::Value { dimension, value, is_part } = &self.items[*at].atom else { continue };
            if *is_part {
                let entry = parts.entry(dimension.clone()).or_insert((*at, Vec::new()));
                entry.1.push(value.clone());
            } else {
                let entry = whole.entry(dimension.clone()).or_insert((*at, Vec::new()));
                let value = self.scalar_of(dimension, value);
                if !entry.1.contains(&value) {
                    entry.1.push(value);
                }
            }
        }
        let both: Vec<String> =
            parts.keys().filter(|key| whole.contains_key(*key)).cloned().collect();
        for (name, (at, values)) in whole {
            let is_mixed = both.contains(&name);
            let test = if is_excluded { Test::NoneOf(values) } else { Test::OneOf(values) };
            let mut condition = Condition::Is { name: name.clone(), test };
            if is_mixed && let Some((_, texts)) = parts.remove(&name) {
                let other = Condition::Is { name, test: contains(texts, is_excluded) };
                let all = vec![condition, other];
                condition = if is_excluded { Condition::And(all) } else { Condition::Or(all) };
            }
            self.conditions.push((at, condition));
        }
        for (name, (at, texts)) in parts {
            let test = contains(texts, is_excluded);
            self.conditions.push((at, Condition::Is { name, test }));
        }
    }
}

fn contains(texts: Vec<String>, is_excluded: bool) -> Test {
    if is_excluded { Test::NotContains(texts) } else { Test::Contains(texts) }
}
