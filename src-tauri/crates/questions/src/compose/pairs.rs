//! One measure against another one: "is spend above budget", "days with more clicks than sessions". The
//! condition is one on their difference.

use contract::{
    definitions::Calculation,
    metric_query::{Bounds, Condition, Group, MeasureUse, Scalar, Test},
};

use super::Composer;
use crate::{
    central::{is_money, main_dimension},
    meaning::{Bound, Meaning},
    numbers::Quantity,
    outcome::{Assumed, Form},
};

/// Two measures with the words that compare them.
struct Pair {
    /// None: the only other sum of money.
    first: Option<usize>,
    second: usize,
    bound: Bound,
    /// How much the difference is at least or at most: "more than 500 over budget".
    margin: Option<(Bound, Quantity)>,
    words: Vec<usize>,
}

impl Composer<'_> {
    /// Reads all comparisons of one measure with another one.
    pub(super) fn read_pairs(&mut self) {
        for at in 0..self.len() {
            if let Some(pair) = self.pair_at(at) {
                self.add_pair(pair);
            }
        }
    }

    /// Returns the pair that the word at a place compares.
    fn pair_at(&self, at: usize) -> Option<Pair> {
        let is_measure = |place: &usize| self.measure_at(*place).is_some() && self.is_free(*place);
        if let Some(bound) = self.comparative_at(at).filter(|_| self.is_free(at)) {
            // "More clicks than sessions"
            let first = self.next(at + 1).filter(is_measure)?;
            let than = self.next(first + 1).filter(|at| self.means(*at, &Meaning::Versus))?;
            let second = self.next(than + 1).filter(is_measure)?;
            let words = vec![at, than];
            return Some(Pair { first: Some(first), second, bound, margin: None, words });
        }
        let bound = self.bound_at(at).filter(|_| self.is_free(at))?;
        let second = self.next(at + 1).filter(is_measure)?;
        let first = self.previous(at).filter(is_measure);
        let first = first.or_else(|| (0..at).rev().find(is_measure));
        let is_asked = first.is_some() || self.means(0, &Meaning::IsIt) || self.has_things();
        let number = at.checked_sub(1).and_then(|place| self.number_at(place));
        let mut words = vec![at];
        let margin = match number {
            Some(number) => {
                let before = at.checked_sub(2)?;
                let side = self.bound_at(before).filter(|_| !number.is_percent)?;
                words.extend([before, at - 1]);
                Some((side, number))
            }
            None => None,
        };
        is_asked.then_some(Pair { first, second, bound, margin, words })
    }

    /// Returns the side of a word such as "more" or "higher".
    pub(super) fn comparative_at(&self, at: usize) -> Option<Bound> {
        self.items.get(at)?.find(|meaning| match meaning {
            Meaning::Comparative(bound) => Some(*bound),
            _ => None,
        })
    }

    /// Returns the side of a word such as "above" or "higher than".
    pub(super) fn bound_at(&self, at: usize) -> Option<Bound> {
        self.items.get(at)?.find(|meaning| match meaning {
            Meaning::Bound(bound) => Some(*bound),
            _ => None,
        })
    }

    fn has_things(&self) -> bool {
        (0..self.len()).any(|at| {
            self.dimension_at(at).is_some() && !self.is_described(at)
                || self.grain_to_group(at).is_some()
        })
    }

    fn add_pair(&mut self, pair: Pair) {
        let Some(b) = self.measure_at(pair.second).map(str::to_owned) else { return };
        let first = pair.first.and_then(|at| self.measure_at(at)).map(str::to_owned);
        let Some(a) = first.or_else(|| self.other_money(&b)).filter(|a| *a != b) else { return };
        let own = |name: &str| name.rsplit_once('.').map_or(name, |(_, own)| own).to_owned();
        let name = format!("{}_minus_{}", own(&a), own(&b));
        let place = pair.first.unwrap_or(pair.second);
        if pair.first.is_none() {
            self.assumed.push(Assumed::Amount(a.clone()));
        }
        let Some(bounds) = self.bounds_of(&pair, &a) else { return };
        self.measures.push((place, MeasureUse::named(&a)));
        self.measures.push((pair.second, MeasureUse::named(&b)));
        let calculation = Some(Calculation::Minus([a, b]));
        let used = MeasureUse { calculation, name: Some(name.clone()), ..MeasureUse::default() };
        self.measures.push((pair.second, used));
        let test = Test::Bounds(bounds);
        self.bounds.push((pair.second, Condition::Is { name, test }));
        self.paired.extend(&pair.words);
        let words = pair.words.into_iter().chain(pair.first).chain([pair.second]);
        words.for_each(|at| self.take(at));
        self.ask_for_things();
    }

    /// Returns the bounds of a difference. Less than something is a difference below zero.
    fn bounds_of(&self, pair: &Pair, measure: &str) -> Option<Bounds> {
        let is_less = matches!(pair.bound, Bound::Below | Bound::To);
        let (side, limit) = match &pair.margin {
            None => (pair.bound, Scalar::Number(0.into())),
            Some((side, number)) => {
                let sign = if is_less { -1.0 } else { 1.0 };
                let side = match (side, is_less) {
                    (Bound::Above, true) => Bound::Below,
                    (Bound::From, true) => Bound::To,
                    (Bound::Below, true) => Bound::Above,
                    (Bound::To, true) => Bound::From,
                    (side, false) => *side,
                };
                (side, self.fitting(measure, number, sign)?)
            }
        };
        let limit = Some(limit);
        Some(match side {
            Bound::Above => Bounds { above: limit, ..Bounds::default() },
            Bound::From => Bounds { from: limit, ..Bounds::default() },
            Bound::Below => Bounds { below: limit, ..Bounds::default() },
            Bound::To => Bounds { to: limit, ..Bounds::default() },
        })
    }

    /// Reads "where did cost exceed revenue" as about the things of the source.
    fn ask_for_things(&mut self) {
        if self.has_things() || !self.means(0, &Meaning::Where) {
            return;
        }
        let Some(name) = main_dimension(self.scan.source) else { return };
        self.take(0);
        self.form = Form::Which;
        self.add_group(0, Group::dimension(&name));
        self.assumed.push(Assumed::Dimension(name));
    }

    /// Returns the only other sum of money of the source.
    fn other_money(&self, own: &str) -> Option<String> {
        let measures = &self.scan.source.definitions.measures;
        measures.get(own).filter(|measure| is_money(measure))?;
        let mut others =
            measures.iter().filter(|(name, measure)| *name != own && is_money(measure));
        let (first, None) = (others.next()?, others.next()) else { return None };
        Some(first.0.clone())
    }
}
