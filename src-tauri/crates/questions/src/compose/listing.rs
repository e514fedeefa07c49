//! Single rows: "list the orders from Tuesday", "the last 10 orders", "the five largest orders".

use contract::{
    definitions::Calculation,
    metric_query::{Bounds, Condition, Order, Scalar, Test},
};

use super::Composer;
use crate::{
    items::Atom,
    meaning::{Bound, Meaning, Rank, Relative},
    numbers::{Quantity, as_number},
    outcome::Assumed,
};

impl Composer<'_> {
    /// Reads a question for single rows. Words that add rows up make it another question.
    pub(super) fn read_rows(&mut self) {
        let Some(noun) = (0..self.len()).find(|at| self.names_rows(*at)) else { return };
        if self.adds_rows_up(noun) {
            return;
        }
        let Some((words, number, rank)) = self.asked_for_rows(noun) else { return };
        let limit = number.and_then(|at| self.count_of(at));
        let order = match rank {
            Some(rank) => self.order_of_rows(rank),
            None => None,
        };
        if rank.is_some() && order.is_none() {
            return;
        }
        words.into_iter().chain(number).chain([noun]).for_each(|at| self.take(at));
        self.query.rows = true;
        self.query.order.extend(order);
        self.query.limit = limit.or(rank.map(|_| 1).filter(|_| !self.is_several(noun)));
    }

    /// Whether a part is the name of the rows: a measure that counts them, or the source.
    pub(super) fn names_rows(&self, at: usize) -> bool {
        match &self.items[at].atom {
            Atom::Measure(name) => {
                matches!(self.calculation(name), Some(Calculation::Count(of)) if of == "rows")
            }
            Atom::Words(meanings) => meanings.contains(&Meaning::Rows),
            Atom::Source => true,
            Atom::Dimension { .. }
            | Atom::Value { .. }
            | Atom::Values { .. }
            | Atom::Number(_)
            | Atom::Period { .. }
            | Atom::Left => false,
        }
    }

    /// Whether words ask for figures of several rows.
    fn adds_rows_up(&self, noun: usize) -> bool {
        (0..self.len()).filter(|at| *at != noun).any(|at| {
            let is_figure = self.items[at].find(|meaning| {
                let fits = matches!(
                    meaning,
                    Meaning::Compare
                        | Meaning::Versus
                        | Meaning::Compared(_)
                        | Meaning::ComparedBy(_)
                        | Meaning::Average
                        | Meaning::Median
                        | Meaning::Count
                        | Meaning::Distinct
                        | Meaning::Share
                        | Meaning::Change
                        | Meaning::Growth
                        | Meaning::Rise
                        | Meaning::Fall
                        | Meaning::Running
                        | Meaning::Rolling
                        | Meaning::Explain
                        | Meaning::Trend
                        | Meaning::Grain(_)
                        | Meaning::View(crate::outcome::View::Chart)
                );
                fits.then_some(())
            });
            let is_group =
                self.is_free(at) && self.dimension_at(at).is_some() && !self.is_described(at);
            let is_by = self.is_grouped(at) && self.grain_at(at).is_some();
            let is_measure = self.measure_at(at).is_some() && !self.is_order_of(at);
            is_figure.is_some() || is_group || is_by || is_measure
        })
    }

    /// Whether a measure only decides the order or is a bound.
    fn is_order_of(&self, at: usize) -> bool {
        self.previous(at).is_some_and(|before| {
            self.means(before, &Meaning::By) || self.means(before, &Meaning::Sort)
        })
    }

    /// Returns the words that ask for rows, the number of rows, and the rank.
    fn asked_for_rows(&self, noun: usize) -> Option<(Vec<usize>, Option<usize>, Option<RowRank>)> {
        let number = (noun.saturating_sub(2)..noun).rev().find(|at| self.number_at(*at).is_some());
        let begin = (0..noun).rev().take_while(|at| {
            self.number_at(*at).is_some() || self.is_thin(*at) || self.row_rank(*at).is_some()
        });
        let begin = begin.last().unwrap_or(noun);
        let ranked = (begin..noun).find_map(|at| Some((at, self.row_rank(at)?)));
        let is_certain = self.is_certain(noun);
        let asks = |at: &usize| {
            self.means(*at, &Meaning::List) || (is_certain && self.means(*at, &Meaning::Show))
        };
        let asked = (0..noun).find(|at| asks(at) && self.leads(*at, noun));
        match (asked, ranked) {
            (_, Some((at, rank)))
                if number.is_some()
                    || asked.is_some()
                    || rank.is_edge()
                    || !self.means(at, &Meaning::Many) =>
            {
                Some((vec![at], number, Some(rank)))
            }
            (Some(at), None) => Some((vec![at], number, None)),
            (None, None) | (_, Some(_)) => None,
        }
    }

    /// Whether the name of rows is in a form for certain ones: "the orders" in one word.
    fn is_certain(&self, noun: usize) -> bool {
        let last = self.items[noun].tokens.clone().last();
        let word = last.and_then(|at| self.scan.tokens.get(at)).map(|token| token.fold.as_str());
        let mut endings = self.scan.lexicon.definite.iter();
        word.is_some_and(|word| endings.any(|ending| word.ends_with(ending)))
    }

    /// Whether only thin words, values and numbers are between two places.
    fn leads(&self, from: usize, to: usize) -> bool {
        (from + 1..to).all(|at| {
            self.is_thin(at)
                || self.number_at(at).is_some()
                || self.value_at(at).is_some()
                || self.row_rank(at).is_some()
        })
    }

    fn row_rank(&self, at: usize) -> Option<RowRank> {
        self.items[at].find(|meaning| match meaning {
            Meaning::Relative(Relative::Previous | Relative::Recent) => Some(RowRank::Latest),
            Meaning::First => Some(RowRank::Earliest),
            Meaning::Rank(Rank::High) => Some(RowRank::Largest),
            Meaning::Rank(Rank::Low) => Some(RowRank::Smallest),
            _ => None,
        })
    }

    /// Returns the order of rows: by time, or by the column of the main measure.
    fn order_of_rows(&mut self, rank: RowRank) -> Option<Order> {
        let descending = matches!(rank, RowRank::Latest | RowRank::Largest);
        if rank.is_edge() {
            let by = self.scan.source.definitions.time.as_ref()?.column.clone();
            return Some(Order { by, descending });
        }
        let named =
            (0..self.len()).find(|at| self.measure_at(*at).is_some() && self.is_order_of(*at));
        let name = match named {
            Some(at) => self.measure_at(at)?.to_owned(),
            None => self.scan.main_measure()?,
        };
        let Some(Calculation::Sum(column)) = self.calculation(&name).cloned() else { return None };
        match named.and_then(|at| Some((at, self.previous(at)?))) {
            Some((at, before)) => [at, before].into_iter().for_each(|at| self.take(at)),
            None => self.assumed.push(Assumed::Measure(name)),
        }
        Some(Order { by: column, descending })
    }

    fn count_of(&self, at: usize) -> Option<u32> {
        self.number_at(at)?.count()
    }

    /// Whether the rows are named in a form for several: its last letter differs from that of its name.
    fn is_several(&self, noun: usize) -> bool {
        let last = self.items[noun].tokens.clone().last();
        let word = last.and_then(|at| self.scan.tokens.get(at)).map(|token| token.fold.as_str());
        !matches!((word, self.measure_at(noun)), (Some(word), Some(name)) if !name.ends_with(word))
    }

    /// Reads a measure behind the name of rows as a condition on them: "orders with a discount".
    pub(super) fn read_row_conditions(&mut self) {
        let Some(noun) = (0..self.len()).find(|at| self.names_rows(*at)) else { return };
        if self.measure_at(noun).is_none() || self.has(&Meaning::Share) {
            return;
        }
        let Some(place) = (noun + 1..self.len()).find(|at| !self.is_thin(*at)) else { return };
        let is_not = self.means(place, &Meaning::Not);
        let place = if is_not { place + 1 } else { place };
        let is_said = is_not
            || (noun + 1..place).any(|at| {
                self.means(at, &Meaning::With)
                    || self.means(at, &Meaning::IsIt)
                    || self.is_article(at)
            });
        // "Orders with discount over 100" has a bound, which says more.
        let has_bound = self.next(place + 1).is_some_and(|next| {
            let bound = self.items[next].find(|m| matches!(m, Meaning::Bound(_)).then_some(()));
            bound.is_some() || self.means(next, &Meaning::Between)
        });
        let Some(column) = self.column_at(place).filter(|_| is_said && !has_bound) else { return };
        if !self.is_free(place) || self.is_grouped(place) {
            return;
        }
        let above = Some(Scalar::Number(0.into()));
        let test = Test::Bounds(Bounds { above, ..Bounds::default() });
        let condition = Condition::Is { name: column, test };
        let condition = if is_not { Condition::Not(Box::new(condition)) } else { condition };
        (noun + 1..=place).for_each(|at| self.take(at));
        self.conditions.push((place, condition));
    }

    /// Returns the column whose sum a measure is.
    fn column_at(&self, at: usize) -> Option<String> {
        match self.calculation(self.measure_at(at)?)? {
            Calculation::Sum(column) => Some(column.clone()),
            _ => None,
        }
    }

    /// Reads a bound of a measure behind the name of rows as one of single rows: "orders with more than 5
    /// items". With groups, it is one of them.
    pub(super) fn row_bound_of(
        &mut self,
        measure: Option<usize>,
        first: usize,
        test: &Test,
    ) -> Option<()> {
        let place = measure?;
        let noun = (0..place.min(first)).find(|at| self.names_rows(*at) && *at != place)?;
        self.measure_at(noun)?;
        let has_groups = (0..self.len()).any(|at| {
            (self.dimension_at(at).is_some() && !self.is_described(at))
                || (self.grain_at(at).is_some() && self.is_grouped(at))
        });
        let column = self.column_at(place).filter(|_| !has_groups)?;
        self.take(place);
        self.conditions.push((place, Condition::Is { name: column, test: test.clone() }));
        Some(())
    }

    /// Reads a bound of the amount of single rows: "orders over 500 kr" are those whose own amount is more.
    pub(super) fn row_bound(&mut self, name: &str, bounds: &[(Bound, Quantity)]) -> Option<()> {
        let is_count =
            matches!(self.calculation(name), Some(Calculation::Count(of)) if of == "rows");
        let has_currency = bounds.iter().all(|(_, number)| number.currency.is_some());
        if !is_count || !has_currency {
            return None;
        }
        let money: Vec<String> = self
            .scan
            .source
            .definitions
            .measures
            .iter()
            .filter(|(_, m)| m.unit == Some(contract::definitions::Unit::Money))
            .filter(|(_, m)| matches!(m.calculation, Calculation::Sum(_)))
            .map(|(name, _)| name.clone())
            .collect();
        let main = self.scan.main_measure()?;
        let measure = money.iter().find(|name| **name == main)?.clone();
        let Some(Calculation::Sum(column)) = self.calculation(&measure).cloned() else {
            return None;
        };
        let mut test = Bounds::default();
        for (bound, number) in bounds {
            self.fitting(&measure, number, 1.0)?;
            let value = Scalar::Number(as_number(number.value)?);
            let side = match bound {
                Bound::Above => &mut test.above,
                Bound::From => &mut test.from,
                Bound::Below => &mut test.below,
                Bound::To => &mut test.to,
            };
            *side = Some(value);
        }
        self.conditions.push((0, Condition::Is { name: column, test: Test::Bounds(test) }));
        if money.len() > 1 {
            self.assumed.push(Assumed::Measure(measure));
        }
        Some(())
    }
}

/// The rows that come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowRank {
    /// The newest.
    Latest,
    /// The oldest.
    Earliest,
    /// Those with the greatest amount.
    Largest,
    /// Those with the least amount.
    Smallest,
}

impl RowRank {
    /// Whether time decides.
    fn is_edge(self) -> bool {
        matches!(self, Self::Latest | Self::Earliest)
    }
}
