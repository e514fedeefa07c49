//! Numbers of things: "how many campaigns", "number of different products", "how many campaigns spent
//! more than 1000".

use contract::{
    definitions::Calculation,
    metric_query::{Bounds, Condition, Group, MeasureUse, Scalar, Test},
};

use super::Composer;
use crate::{items::Atom, meaning::Meaning, outcome::Form};

impl Composer<'_> {
    /// Reads the name of a count as the things that it counts if a word asks for them: "which campaigns".
    pub(super) fn name_counted_things(&mut self) {
        for at in 0..self.len() {
            let Some(counted) = self.counted_things(at) else { continue };
            let is_asked = (at > 0 && self.means(at - 1, &Meaning::Which))
                || self.asks_for_things(at)
                || self.asks_how_they_stand(at);
            if is_asked {
                let is_form = !self.is_one(at);
                self.items[at].atom = Atom::Dimension { name: counted, is_form };
            }
        }
    }

    /// Returns the dimension of the things that the count at a place counts.
    pub(super) fn counted_things(&self, at: usize) -> Option<String> {
        let Calculation::Distinct(name) = self.calculation(self.measure_at(at)?)? else {
            return None;
        };
        let is_known = self.scan.source.definitions.dimensions.contains_key(name);
        is_known.then(|| name.clone())
    }

    /// Whether the last word of a part has the form for one thing.
    pub(super) fn is_one(&self, at: usize) -> bool {
        let last = self.items[at].tokens.end.checked_sub(1);
        let word = last.and_then(|last| self.scan.tokens.get(last)).map(|token| &token.fold);
        let mut endings = self.scan.lexicon.singular.iter();
        word.is_some_and(|word| endings.any(|ending| word.ends_with(ending.as_str())))
    }

    /// Whether the name of a count rather names the things: behind a rank that is not one of numbers ("the three
    /// worst campaigns"), or before their figures ("campaigns with clicks and cost").
    pub(super) fn asks_for_things(&self, at: usize) -> bool {
        let is_between = |place: &usize| {
            self.number_at(*place).is_some()
                || self.value_at(*place).is_some()
                || self.dimension_at(*place).is_some()
        };
        let lead = (0..at).rev().find(|place| !is_between(place));
        let is_rank = |place: usize| {
            let rank = self.items[place].find(|meaning| match meaning {
                Meaning::Rank(rank) => Some(*rank),
                _ => None,
            });
            // "Most accounts" is a number of them, and "most underspending accounts" are accounts.
            let is_state = || self.side_of_state(at - 1).is_some();
            rank.is_some() && (!self.means(place, &Meaning::Many) || is_state())
        };
        let is_counted = lead.is_some_and(|place| self.means(place, &Meaning::Count));
        let figure = self.next(at + 1).filter(|_| self.means(at + 1, &Meaning::With));
        let has_figures = figure.is_some_and(|place| self.measure_at(place).is_some());
        lead.is_some_and(is_rank) || self.asks_for_any(at) || (has_figures && !is_counted)
    }

    /// Whether a question asks if there are any things in a state: "any late accounts".
    fn asks_for_any(&self, at: usize) -> bool {
        let has_state = at.checked_sub(1).is_some_and(|state| self.side_of_state(state).is_some());
        let begin = self.items.get(at).map_or(0, |item| item.tokens.start);
        let is_counted = self.has(&Meaning::Count) || self.has(&Meaning::Distinct);
        has_state
            && !is_counted
            && (0..begin).any(|token| self.scan.end_of(token, &Meaning::Any).is_some())
    }

    /// Reads "how many campaigns had clicks" as the number of campaigns with clicks above zero.
    fn read_having(&mut self, at: usize) {
        let is_thing =
            |at: &usize| self.counted_things(*at).is_some() || self.dimension_at(*at).is_some();
        let Some(thing) = self.next(at + 1).filter(is_thing) else { return };
        let figure = thing + 2;
        let Some(name) = self.measure_at(figure).map(str::to_owned) else { return };
        // "Had more than 10 clicks", "had clicks above 10" and "have budget left" say more.
        let is_open = self.items.get(figure + 1).is_none_or(|item| {
            matches!(item.atom, Atom::Period { .. })
                || [Meaning::In, Meaning::By].iter().any(|meaning| item.means(meaning))
        });
        let is_had = self.means(thing + 1, &Meaning::IsIt) && self.is_free(figure);
        if !is_had || !is_open || self.counted_things(figure).is_some() {
            return;
        }
        if let Some(name) = self.counted_things(thing) {
            self.items[thing].atom = Atom::Dimension { name, is_form: true };
        }
        self.take(thing + 1);
        let above = Some(Scalar::Number(0.into()));
        let test = Test::Bounds(Bounds { above, ..Bounds::default() });
        self.bounds.push((figure, Condition::Is { name, test }));
        self.bound_spans.push((thing + 1, figure));
        self.take(figure);
    }

    /// Reads the words that count.
    pub(super) fn read_counts(&mut self) {
        let mut places = self.places(&Meaning::Count);
        places.extend(self.places(&Meaning::Distinct));
        for at in places {
            if self.bounds.is_empty() {
                self.read_having(at);
            }
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
                || self.means(*at, &Meaning::Remaining)
                || self.means(*at, &Meaning::Used)
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
