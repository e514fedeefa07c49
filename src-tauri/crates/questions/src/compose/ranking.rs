//! Ranks: "top 5 campaigns by spend", "which day had the most orders", "worst first". A rank needs
//! something to rank, and a measure that decides.

use contract::{
    definitions::{Better, Calculation},
    metric_query::{Group, MeasureUse, TimeGrain},
};

use super::{Composer, Ranked, extremes::Judgement};
use crate::{
    central::{main_dimension, measure_of},
    items::Atom,
    meaning::{Meaning, Rank},
    outcome::Assumed,
};

impl Composer<'_> {
    /// Reads the first rank.
    pub(super) fn read_rank(&mut self) {
        let Some((at, rank)) = self.rank_at() else { return };
        if self.read_extreme(at) {
            return;
        }
        let judgement = self.judgement(at, rank);
        let Some((target, group)) = self.target(at).or_else(|| self.implied_things(at)) else {
            match judgement {
                Some(judgement) => self.rank_judged(at, judgement),
                None => self.rank_main_dimension(at, rank),
            }
            return;
        };
        let number = self.number_of_rank(at, target);
        let first = [at + 1, at + 2].into_iter().find(|next| self.is_order_word(at, *next));
        let decided = match judgement {
            Some(Judgement { measure, descending }) => Some((Some(measure), descending)),
            None => self.decided(at, rank),
        };
        let Some((measure, descending)) = decided else { return };
        let is_form = matches!(&self.items[target].atom, Atom::Dimension { is_form: true, .. });
        let limit = match (number, first) {
            (Some((place, count)), _) => {
                self.take(place);
                Some(count)
            }
            (None, Some(_)) => None,
            (None, None) => (!is_form).then_some(1),
        };
        if let Some(first) = first {
            self.take(first);
        }
        self.take(at);
        self.take(target);
        let name = name_of(&group);
        let per = if first.is_some() { Vec::new() } else { self.within(target) };
        let is_one = per.is_empty() && first.is_none() && limit == Some(1);
        let nth = self.nth_before(at).filter(|_| is_one && self.change.is_none());
        if let Some((place, _)) = nth {
            self.take(place);
        }
        let nth = nth.map(|(_, nth)| nth);
        self.add_group(target, group);
        let of = (!per.is_empty() || nth.is_some()).then_some(name);
        self.ranked = Some(Ranked { measure, descending, limit, of, per, nth, is_change: true });
    }

    /// Returns the first rank, or "first" with a number.
    fn rank_at(&self) -> Option<(usize, Rank)> {
        let is_open = |at: &usize| self.is_free(*at) || self.is_change(*at);
        let rank = (0..self.len()).filter(is_open).find_map(|at| {
            let rank = self.items[at].find(|meaning| match meaning {
                Meaning::Rank(rank) => Some(*rank),
                Meaning::Implied(implied) => Some(implied.rank),
                _ => None,
            });
            rank.map(|rank| (at, rank))
        });
        rank.or_else(|| {
            let first = self.places(&Meaning::First).first().copied();
            first.filter(|at| self.number_of_first(*at).is_some()).map(|at| (at, Rank::High))
        })
    }

    /// Returns the measure that decides, and whether great values come first.
    fn decided(&mut self, at: usize, rank: Rank) -> Option<(Option<String>, bool)> {
        self.assume_better(rank);
        let measure = self.deciding(at)?;
        let descending = self.is_descending(rank, measure.as_deref());
        Some((measure, descending))
    }

    /// Returns the place in the order that the word before a rank names, such as "second".
    fn nth_before(&self, at: usize) -> Option<(usize, u32)> {
        let place = at.checked_sub(1).filter(|place| self.is_free(*place))?;
        let nth = self.items[place].find(|meaning| match meaning {
            Meaning::Nth(nth) => Some(*nth),
            _ => None,
        })?;
        Some((place, nth))
    }

    /// Whether the word after a rank says that only the order is asked for: "worst first".
    fn is_order_word(&self, rank: usize, at: usize) -> bool {
        let between = (rank + 1..at).all(|at| self.measure_at(at).is_some() || self.is_change(at));
        at != rank && between && self.means(at, &Meaning::First)
    }

    /// Returns the number beside "first".
    fn number_of_first(&self, at: usize) -> Option<u32> {
        let before = at.checked_sub(1).and_then(|before| self.count_at(before));
        self.count_at(at + 1).or(before)
    }

    pub(super) fn count_at(&self, at: usize) -> Option<u32> {
        self.number_at(at).filter(|_| self.is_free(at)).and_then(|number| number.count())
    }

    /// Returns the number that belongs to a rank: beside it, or before the thing that is ranked.
    fn number_of_rank(&self, at: usize, target: usize) -> Option<(usize, u32)> {
        let places = [at.checked_sub(1), Some(at + 1), target.checked_sub(1)];
        places.into_iter().flatten().find_map(|place| Some((place, self.count_at(place)?)))
    }

    /// Returns the thing that is ranked.
    fn target(&self, at: usize) -> Option<(usize, Group)> {
        let group_at = |place: usize| {
            if !self.is_free(place) {
                return None;
            }
            let by_name = self.dimension_at(place).map(Group::dimension);
            by_name.or_else(|| self.grain_at(place).map(Group::time)).map(|group| (place, group))
        };
        let next = self
            .next(at + 1)
            .map(|next| if self.number_at(next).is_some() { next + 1 } else { next });
        let after_which = (0..self.len()).find(|place| self.means(*place, &Meaning::Which));
        let after_which = after_which.and_then(|which| self.next(which + 1));
        let beside = next.filter(|place| self.measure_at(*place).is_some()).map(|place| place + 1);
        let directly = [next, after_which, beside].into_iter().flatten().find_map(group_at);
        let free = || (0..self.len()).filter(|place| self.dimension_at(*place).is_some());
        // "The week with the fewest sessions"
        let time = |place: &usize| self.unit_at(*place).is_some() && self.is_free(*place);
        let led = at.checked_sub(2).filter(|_| self.means(at - 1, &Meaning::With)).filter(time);
        directly
            .or_else(|| led.and_then(group_at))
            .or_else(|| free().filter(|place| !self.is_grouped(*place)).find_map(group_at))
            .or_else(|| free().find_map(group_at))
            .or_else(|| {
                let times = (0..self.len()).filter(|place| self.is_grouped(*place));
                times.into_iter().find_map(group_at)
            })
    }

    /// Returns the measure that decides: after the rank, after "by", or the first one.
    fn ranked_by(&self, at: usize) -> Option<String> {
        let next = self.next(at + 1);
        let direct = next.and_then(|place| self.measure_at(place));
        let by = (at..self.len()).find_map(|place| {
            let is_by = self.means(place, &Meaning::By) || self.means(place, &Meaning::In);
            let after = self.next(place + 1).filter(|_| is_by)?;
            self.measure_at(after)
        });
        let first = || self.first_measure().and_then(|place| self.measure_at(place));
        direct.or(by).or_else(first).map(str::to_owned)
    }

    fn is_descending(&self, rank: Rank, measure: Option<&str>) -> bool {
        let measures = &self.scan.source.definitions.measures;
        let better = measure.and_then(|name| measures.get(name)).and_then(|found| found.better);
        let is_low_good = better == Some(Better::Lower);
        let is_high = match rank {
            Rank::High => true,
            Rank::Low => false,
            Rank::Best => !is_low_good,
            Rank::Worst => is_low_good,
        };
        match self.change {
            // The most that something fell is the least change.
            Some((_, is_low)) => !is_low,
            None => is_high,
        }
    }

    /// Returns the names of the groups within which a rank is made, and adds them before the target.
    fn within(&mut self, target: usize) -> Vec<String> {
        let mut per = Vec::new();
        for place in (0..self.len()).filter(|place| *place != target).collect::<Vec<_>>() {
            if !self.is_free(place) || !self.is_grouped(place) {
                continue;
            }
            let by_name = self.dimension_at(place).map(Group::dimension);
            let Some(group) = by_name.or_else(|| self.grain_at(place).map(Group::time)) else {
                continue;
            };
            self.take(place);
            per.push(name_of(&group));
            // Before the target in the order of groups.
            self.add_group(0, group);
        }
        per
    }

    /// Returns the things that a word names with its rank: "best sellers" are products.
    fn implied_things(&self, at: usize) -> Option<(usize, Group)> {
        let things = self.items[at].find(|meaning| match meaning {
            Meaning::Implied(implied) => implied.things.clone(),
            _ => None,
        })?;
        let known = self.scan.lexicon.concepts.get(&things)?;
        let mut names = self.scan.source.definitions.dimensions.keys();
        let name = names.find(|name| known.contains(&crate::tokens::name_words(name).concat()))?;
        Some((at, Group::dimension(name)))
    }

    /// Returns the measure that decides, or that an adjective implies. None if there is no such measure.
    fn deciding(&mut self, at: usize) -> Option<Option<String>> {
        let implied = self.items[at].find(|meaning| match meaning {
            Meaning::Implied(implied) => Some(implied.of.clone()),
            _ => None,
        });
        let Some(concepts) = implied else { return Some(self.ranked_by(at)) };
        let said = (0..self.len()).find(|place| self.measure_at(*place).is_some());
        if let Some(said) = said {
            let before = said.checked_sub(1);
            let is_by = before.is_some_and(|before| {
                self.means(before, &Meaning::By) || self.means(before, &Meaning::In)
            });
            let name = self.measure_at(said)?.to_owned();
            let is_meant =
                || concepts.iter().any(|concept| self.measure_of(concept).as_ref() == Some(&name));
            return (is_by || is_meant()).then(|| self.ranked_by(at));
        }
        let chosen = self.scan.main_measure().filter(|_| self.scan.is_chosen());
        let found = || concepts.iter().find_map(|concept| self.measure_of(concept));
        let found = chosen.or_else(found)?;
        self.measures.push((at, MeasureUse::named(found.clone())));
        self.assumed.push(Assumed::Measure(found.clone()));
        Some(Some(found))
    }

    fn measure_of(&self, concept: &str) -> Option<String> {
        measure_of(self.scan.source, self.scan.lexicon, concept, false)
    }

    /// Ranks the main dimension if the text names none: "highest click rate".
    fn rank_main_dimension(&mut self, at: usize, rank: Rank) {
        // "The most expensive click" is about the cost of single ones.
        let is_implied = self.items[at].find(|m| matches!(m, Meaning::Implied(_)).then_some(()));
        let next = self.next(at + 1).filter(|_| is_implied.is_none());
        let measure = next.and_then(|place| self.measure_at(place)).map(str::to_owned);
        let has_time = (0..self.len()).any(|place| self.unit_at(place).is_some());
        let (Some(measure), false) = (measure, has_time || !self.by.is_empty()) else { return };
        // With two measures or words between, it is not clear what is ranked.
        let measures = (0..self.len()).filter(|place| self.measure_at(*place).is_some()).count();
        if measures != 1 || self.change.is_some() || self.query.rows {
            return;
        }
        // "Top customers" are customers, and "most customers" is a number of them.
        let is_count = matches!(
            self.calculation(&measure),
            Some(Calculation::Distinct(_) | Calculation::Count(_))
        );
        if is_count && !self.means(at, &Meaning::Many) {
            return;
        }
        let Some(name) = main_dimension(self.scan.source) else { return };
        let descending = self.is_descending(rank, Some(&measure));
        let number = at.checked_sub(1).filter(|place| self.count_at(*place).is_some());
        let limit = number.and_then(|place| self.count_at(place)).unwrap_or(1);
        self.take(at);
        number.into_iter().for_each(|place| self.take(place));
        self.add_group(at, Group::dimension(&name));
        self.assumed.push(Assumed::Dimension(name));
        let (measure, limit) = (Some(measure), Some(limit));
        self.ranked =
            Some(Ranked { measure, descending, limit, is_change: true, ..Ranked::default() });
    }

    /// Reads "maximum M" without anything to rank as the greatest single value.
    fn read_extreme(&mut self, at: usize) -> bool {
        let extreme = self.items[at].find(|meaning| match meaning {
            Meaning::Extreme(rank) => Some(*rank),
            _ => None,
        });
        let place = self.next(at + 1).filter(|place| self.measure_at(*place).is_some());
        let (Some(extreme), Some(place)) = (extreme, place) else { return false };
        let has_things = (0..self.len()).any(|at| {
            self.grain_at(at).is_some() || (self.dimension_at(at).is_some() && !self.is_grouped(at))
        });
        let Some(measure) = self.measure_at(place).map(str::to_owned) else { return false };
        let column = match self.calculation(&measure) {
            Some(Calculation::Average(column) | Calculation::Sum(column)) => column.clone(),
            _ => return false,
        };
        if has_things {
            return false;
        }
        let (word, calculation) = match extreme {
            Rank::Low | Rank::Worst => ("least", Calculation::Least(column)),
            Rank::High | Rank::Best => ("greatest", Calculation::Greatest(column)),
        };
        [at, place].into_iter().for_each(|place| self.take(place));
        let (calculation, name) = (Some(calculation), Some(format!("{word}_{measure}")));
        self.measures.push((place, MeasureUse { calculation, name, ..MeasureUse::default() }));
        true
    }
}

/// Returns the name of a group in the result.
pub(crate) fn name_of(group: &Group) -> String {
    use contract::metric_query::GroupBy;
    match (&group.name, &group.by) {
        (Some(name), _) => name.clone(),
        (None, GroupBy::Dimension(name)) => name.clone(),
        (None, GroupBy::Time(grain)) => grain_name(*grain).to_owned(),
        (None, GroupBy::Define(_)) => String::new(),
    }
}

fn grain_name(grain: TimeGrain) -> &'static str {
    match grain {
        TimeGrain::Hour => "hour",
        TimeGrain::Day => "day",
        TimeGrain::Week => "week",
        TimeGrain::Month => "month",
        TimeGrain::Quarter => "quarter",
        TimeGrain::Year => "year",
        TimeGrain::Weekday => "weekday",
        TimeGrain::HourOfDay => "hour_of_day",
        TimeGrain::MonthOfYear => "month_of_year",
        TimeGrain::PartOfDay => "part_of_day",
    }
}
