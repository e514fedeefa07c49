//! Reads a question that goes on from an earlier one. The parts that it does not say are put before its
//! own parts, so that the same rules read both; the members that it does not change are kept.

use analytics::resolve;
use contract::metric_query::{CompareTo, Condition, GroupBy, MetricQuery};

use crate::{
    candidates::{Candidate, SAME},
    central::outlook_of,
    compose::compose,
    cover::{Cover, covers},
    edges::edges,
    items::{Atom, Item},
    meaning::{Meaning, Refer},
    outcome::{Outcome, Reading},
    reading::{Asked, candidate, joined, short_tokens},
    scan::Scan,
    things::relatives,
    tokens::Token,
};

mod context;
mod merging;

use context::Context;
use merging::merge;

/// The names of the rows of the last result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The dimension of the rows.
    pub dimension: Option<String>,
    /// The values in the rows, in their order.
    pub values: Vec<String>,
}

/// A member of the earlier query that was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The measures.
    Measures,
    /// The groups.
    Groups,
    /// Conditions.
    Conditions,
    /// The period.
    Period,
    /// The comparison.
    Comparison,
    /// The order.
    Order,
}

/// The result of reading a question that may go on from an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowUp {
    /// The result.
    pub outcome: Outcome,
    /// The members of the earlier query that were kept. Empty: the question stands alone.
    pub kept: Vec<Kept>,
}

impl Asked<'_> {
    /// Reads a question after an earlier one.
    pub fn read_follow_up(&self, text: &str, previous: &MetricQuery, shown: &Shown) -> FollowUp {
        let alone = || FollowUp { outcome: self.read(text), kept: Vec::new() };
        let Some(tokens) = short_tokens(text) else { return alone() };
        let Some(source) = previous.source.as_ref() else { return alone() };
        let place = self.catalog.sources.iter().position(|own| own.name() == source);
        let (Some(place), false) = (place, self.names_source(&tokens, previous)) else {
            return alone();
        };
        let over = |place: usize| self.read_on_over((text, &tokens), place, previous, shown);
        let is_full =
            |found: &FollowUp| matches!(found.outcome, Outcome::One(_) | Outcome::Several(_));
        let found = over(place);
        let places = relatives(self.catalog, source);
        let mut moved = places.into_iter().filter_map(|place| over(place).filter(is_full));
        if let Some(found) = found.clone().filter(is_full) {
            // Only a computed source says what will be.
            let expected = moved.find(|moved| self.is_about_the_future(moved, previous));
            return expected.unwrap_or(found);
        }
        // The new words may name what another source says about the same things.
        let moved = moved.next();
        moved.or(found).unwrap_or_else(alone)
    }

    /// Whether a question asks for what will be, which the earlier one does not.
    fn is_about_the_future(&self, found: &FollowUp, previous: &MetricQuery) -> bool {
        let Outcome::One(reading) = &found.outcome else { return false };
        let mut sources = self.catalog.sources.iter();
        let source = sources.find(|own| Some(own.name()) == reading.query.source.as_ref());
        let Some(outlook) = source.and_then(outlook_of) else { return false };
        let has = |query: &MetricQuery| {
            query.measures.iter().any(|used| used.measure.as_ref() == Some(&outlook))
        };
        has(&reading.query) && !has(previous)
    }

    /// Reads a question that goes on from an earlier one over a source. None if it stands alone.
    fn read_on_over(
        &self,
        (text, tokens): (&str, &[Token]),
        place: usize,
        previous: &MetricQuery,
        shown: &Shown,
    ) -> Option<FollowUp> {
        let source = self.catalog.sources.get(place)?;
        let previous = &MetricQuery { source: Some(source.name().clone()), ..previous.clone() };
        let scan = Scan::new(tokens, self.lexicon, source, self.catalog, self.as_of);
        let names = self.names.sources.get(place)?;
        let mut found: Vec<(Candidate, Vec<Kept>)> = Vec::new();
        for cover in covers(&edges(&scan, names)) {
            if stands_alone(&cover.items, previous) {
                continue;
            }
            let context = Context { previous, shown, scan: &scan };
            found.extend(self.go_on(tokens, &context, &cover));
        }
        found.sort_by_key(|(candidate, _)| candidate.cost);
        prefer_groups(&mut found, previous);
        let others = equal_readings(&found, previous);
        let (best, kept) = found.into_iter().next()?;
        let is_much = joined(best.left.clone()).len() > best.read;
        if is_much || !best.left.is_empty() && matches!(self.read(text), Outcome::One(_)) {
            return None;
        }
        let reading: Box<Reading> = Box::new(best.reading);
        if !others.is_empty() {
            let all = std::iter::once(*reading).chain(others).collect();
            return Some(FollowUp { outcome: Outcome::Several(all), kept });
        }
        let outcome = if best.left.is_empty() {
            Outcome::One(reading)
        } else {
            Outcome::Partly { without: joined(best.left), nearest: reading }
        };
        Some(FollowUp { outcome, kept })
    }

    /// Whether a text names a source other than that of the earlier query.
    fn names_source(&self, tokens: &[Token], previous: &MetricQuery) -> bool {
        let named = self.named_sources(tokens);
        named.len() < self.catalog.sources.len()
            && named
                .iter()
                .all(|place| Some(self.catalog.sources[*place].name()) != previous.source.as_ref())
    }

    /// Reads "and the month before?" as another period, and not as a comparison with it.
    fn go_back(&self, query: &mut MetricQuery, context: &Context<'_>, items: &[Item]) {
        let is_step = |item: &Item| {
            item.find(|m| matches!(m, Meaning::Compared(CompareTo::Previous)).then_some(()))
                .is_some()
        };
        let is_period = items.iter().any(is_step)
            && items.iter().all(|item| item.is_link() || refers(item) || is_step(item));
        if !is_period || context.previous.compare.is_some() {
            return;
        }
        let earlier = context.unit_before(items).or_else(|| {
            let resolved = resolve(query, self.catalog, self.as_of).ok()?;
            resolved.query.compare?.period
        });
        if let Some(earlier) = earlier {
            query.period = Some(earlier);
            query.compare = None;
        }
    }

    fn go_on(
        &self,
        tokens: &[Token],
        context: &Context<'_>,
        cover: &Cover,
    ) -> Option<(Candidate, Vec<Kept>)> {
        let said = context.with_state(&context.with_counted(&cover.items));
        let items = context.items_with(&said);
        let mut composed = compose(context.scan, &Cover { items, cost: cover.cost }).ok()?;
        composed.left.retain(|at| !refers(&composed.items[*at]));
        let (mut query, mut kept) = merge(context, &said, &composed);
        // The earlier question says which things are counted.
        if said.len() > cover.items.len() && !kept.contains(&Kept::Measures) {
            kept.push(Kept::Measures);
        }
        self.go_back(&mut query, context, &cover.items);
        context.go_a_year_back(&mut query, &cover.items);
        composed.left.extend(context.leave_states_of_past(&mut query, &composed.items));
        if !self.can_be_computed(&query) {
            return None;
        }
        let mut found = candidate(tokens, cover.cost, composed);
        found.reading.query = query;
        found.reading.spans.retain(|span| !span.at.is_empty());
        found.reading.assumed.retain(|assumed| {
            !matches!(assumed, crate::Assumed::Measure(_) | crate::Assumed::Period)
        });
        found.left.retain(|at| !at.is_empty());
        Some((found, kept))
    }
}

/// Whether a query has a new condition on a dimension that was shown.
fn is_about_groups(query: &MetricQuery, previous: &MetricQuery) -> bool {
    query.conditions.iter().filter(|own| !previous.conditions.contains(own)).any(|condition| {
        let Condition::Is { name, .. } = condition else { return false };
        previous.by.iter().any(|group| group.by == GroupBy::Dimension(name.clone()))
    })
}

/// Puts a reading about the dimension that was shown before those that fit as well: a value of that
/// dimension is rather meant than one of the same name of another dimension.
fn prefer_groups(found: &mut [(Candidate, Vec<Kept>)], previous: &MetricQuery) {
    let Some(least) = found.first().map(|(best, _)| best.cost) else { return };
    let is_better = |(one, _): &(Candidate, Vec<Kept>)| {
        one.cost <= least + SAME
            && one.left.is_empty()
            && is_about_groups(&one.reading.query, previous)
    };
    if let Some(place) = found.iter().position(is_better) {
        found[..=place].rotate_right(1);
    }
}

/// Returns the readings besides the best one that fit equally well.
fn equal_readings(found: &[(Candidate, Vec<Kept>)], previous: &MetricQuery) -> Vec<Reading> {
    let Some((best, _)) = found.first().filter(|(best, _)| best.left.is_empty()) else {
        return Vec::new();
    };
    let is_certain = is_about_groups(&best.reading.query, previous);
    let mut others: Vec<Reading> = Vec::new();
    for (other, _) in found.iter().skip(1) {
        let query = &other.reading.query;
        let is_same = other.cost <= best.cost + SAME && other.left.is_empty();
        let is_new = *query != best.reading.query && others.iter().all(|own| own.query != *query);
        if is_same && is_new && (!is_certain || is_about_groups(query, previous)) {
            others.push(other.reading.clone());
        }
    }
    others
}

/// Whether parts are a question of their own: they name a measure, and nothing refers to an earlier
/// one.
fn stands_alone(items: &[Item], previous: &MetricQuery) -> bool {
    let goes_on = items.first().is_none_or(|first| {
        [Meaning::And, Meaning::Sort, Meaning::Or, Meaning::Only, Meaning::Not]
            .iter()
            .any(|meaning| first.means(meaning))
    });
    // "What was spent in December" may be about what was asked before.
    let has_measure =
        items.iter().any(|item| matches!(item.atom, Atom::Measure(_)) && item.amounts.is_empty());
    has_measure
        && !goes_on
        && !(0..items.len()).any(|at| refers_at(items, at))
        && !asks_for_figure(items, previous)
        && !assumes(items, previous)
}

/// Whether parts assume an amount for what was asked about: "what if the budget was 250k".
fn assumes(items: &[Item], previous: &MetricQuery) -> bool {
    let is_value = |item: &Item| matches!(item.atom, Atom::Value { .. } | Atom::Values { .. });
    let is_if = |item: &Item| item.means(&Meaning::Suppose) || item.means(&Meaning::If);
    !previous.conditions.is_empty()
        && items.iter().any(is_if)
        && items.iter().any(|item| matches!(item.atom, Atom::Number(_)))
        && !items.iter().any(is_value)
}

/// Whether parts are only the names of measures, after a question about certain things or a period:
/// "what is the projection".
fn asks_for_figure(items: &[Item], previous: &MetricQuery) -> bool {
    let is_small = |item: &Item| {
        matches!(item.atom, Atom::Measure(_)) || (item.is_link() && !item.means(&Meaning::Sum))
    };
    let is_limited = !previous.conditions.is_empty() || previous.period.is_some();
    is_limited && items.iter().all(is_small)
}

/// Whether the part at a place refers to an earlier question. "How many tickets were there" does not.
fn refers_at(items: &[Item], at: usize) -> bool {
    let item = &items[at];
    let is_there = item.means(&Meaning::Refer(Refer::There));
    let before = at.checked_sub(1).map(|before| &items[before].atom);
    refers(item) && (!is_there || matches!(before, Some(Atom::Dimension { .. })))
}

fn refers(item: &Item) -> bool {
    item.find(|meaning| matches!(meaning, Meaning::Refer(_)).then_some(())).is_some()
}
