//! Figures from two measures: "revenue minus cost", "cost divided by clicks", "the difference between
//! budget and spend".

use contract::{definitions::Calculation, metric_query::MeasureUse};

use super::Composer;
use crate::meaning::{Meaning, Operator};

impl Composer<'_> {
    /// Reads all calculations with two measures.
    pub(super) fn read_operators(&mut self) {
        for at in 0..self.len() {
            let operator = self.items[at].find(|meaning| match meaning {
                Meaning::Operator(operator) => Some(*operator),
                _ => None,
            });
            let Some(operator) = operator.filter(|_| self.is_free(at)) else { continue };
            let sides = (self.previous(at), self.next(at + 1));
            if let (Some(first), Some(second)) = sides
                && self.is_open_measure(first)
                && self.is_open_measure(second)
            {
                self.compute(operator, first, second, &[at]);
            } else if operator == Operator::Ratio {
                self.compute_pair(operator, at);
            }
        }
        for at in self.places(&Meaning::Compare) {
            let is_difference = self.means(at, &Meaning::Change);
            if is_difference || self.is_difference(at) {
                self.compute_pair(Operator::Minus, at);
            }
        }
    }

    /// Whether a word that compares is about a difference of what follows directly.
    fn is_difference(&self, at: usize) -> bool {
        self.items[at].tokens.len() > 1
    }

    fn is_open_measure(&self, at: usize) -> bool {
        self.measure_at(at).is_some() && self.is_free(at)
    }

    /// Reads two measures after a word: "the ratio of A to B".
    fn compute_pair(&mut self, operator: Operator, at: usize) {
        let Some(first) = self.next(at + 1).filter(|at| self.is_open_measure(*at)) else { return };
        let middle = first + 1;
        let is_between = self.is_joiner(middle)
            || self.means(middle, &Meaning::To)
            || self.means(middle, &Meaning::Versus);
        let second = self.next(middle + 1).filter(|at| is_between && self.is_open_measure(*at));
        if let Some(second) = second {
            self.compute(operator, first, second, &[at, middle]);
        }
    }

    fn compute(&mut self, operator: Operator, first: usize, second: usize, words: &[usize]) {
        let names = (self.measure_at(first), self.measure_at(second));
        let (Some(a), Some(b)) = (names.0.map(str::to_owned), names.1.map(str::to_owned)) else {
            return;
        };
        if a == b {
            return;
        }
        let own = |name: &str| name.rsplit_once('.').map_or(name, |(_, own)| own).to_owned();
        let (word, calculation) = match operator {
            Operator::Minus => ("minus", Calculation::Minus([a.clone(), b.clone()])),
            Operator::Plus => ("plus", Calculation::Plus(vec![a.clone(), b.clone()])),
            Operator::Ratio => ("per", Calculation::Ratio([a.clone(), b.clone()])),
        };
        let name = Some(format!("{}_{word}_{}", own(&a), own(&b)));
        words.iter().chain(&[first, second]).for_each(|at| self.take(*at));
        let calculation = Some(calculation);
        self.measures.push((first, MeasureUse { calculation, name, ..MeasureUse::default() }));
    }
}
