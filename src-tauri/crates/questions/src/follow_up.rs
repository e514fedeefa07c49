//! Reads a question that goes on from an earlier one. The parts that it does not say are put before its
//! own parts, so that the same rules read both; the members that it does not change are kept.

use analytics::resolve;
use chrono::Datelike;
use contract::metric_query::{
    CalendarUnit, CompareTo, Condition, GroupBy, MetricQuery, Period, Scalar, Test,
};

use crate::{
    compose::compose,
    cover::{Cover, covers},
    edges::edges,
    items::{Atom, Item},
    meaning::{Meaning, Refer},
    outcome::{Outcome, Reading},
    periods::back,
    reading::{Asked, Candidate, SAME, candidate, joined, short_tokens},
    scan::Scan,
};

mod merging;

use merging::merge;

/// The fewest days of a period that is a year.
const A_YEAR: i64 = 360;

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
        let place = self
            .catalog
            .sources
            .iter()
            .position(|source| Some(source.name()) == previous.source.as_ref());
        let (Some(place), false) = (place, self.names_source(&tokens, previous)) else {
            return alone();
        };
        let source = &self.catalog.sources[place];
        let scan = Scan::new(&tokens, self.lexicon, source, self.catalog, self.as_of);
        let Some(names) = self.names.sources.get(place) else { return alone() };
        let mut found: Vec<(Candidate, Vec<Kept>)> = Vec::new();
        for cover in covers(&edges(&scan, names)) {
            if stands_alone(&cover.items) {
                continue;
            }
            let context = Context { previous, shown, scan: &scan };
            found.extend(self.go_on(&tokens, &context, &cover));
        }
        found.sort_by_key(|(candidate, _)| candidate.cost);
        prefer_groups(&mut found, previous);
        let others = equal_readings(&found, previous);
        let Some((best, kept)) = found.into_iter().next() else { return alone() };
        let is_much = joined(best.left.clone()).len() > best.read;
        if is_much || !best.left.is_empty() && matches!(self.read(text), Outcome::One(_)) {
            return alone();
        }
        let reading: Box<Reading> = Box::new(best.reading);
        if !others.is_empty() {
            let all = std::iter::once(*reading).chain(others).collect();
            return FollowUp { outcome: Outcome::Several(all), kept };
        }
        let outcome = if best.left.is_empty() {
            Outcome::One(reading)
        } else {
            Outcome::Partly { without: joined(best.left), nearest: reading }
        };
        FollowUp { outcome, kept }
    }

    /// Whether a text names a source other than that of the earlier query.
    fn names_source(&self, tokens: &[crate::tokens::Token], previous: &MetricQuery) -> bool {
        let named = self.named_sources(tokens);
        named.len() < self.catalog.sources.len()
            && named
                .iter()
                .all(|place| Some(self.catalog.sources[*place].name()) != previous.source.as_ref())
    }

    /// Reads "and the month before?" as another period, and not as a comparison with it.
    fn go_back(&self, query: &mut MetricQuery, previous: &MetricQuery, items: &[Item]) {
        let has = |fits: &dyn Fn(&Meaning) -> bool| {
            items.iter().any(|item| item.find(|meaning| fits(meaning).then_some(())).is_some())
        };
        let is_period = has(&|meaning| matches!(meaning, Meaning::Compared(CompareTo::Previous)))
            && items.iter().all(|item| {
                item.is_link()
                    || item.find(|m| matches!(m, Meaning::Compared(_)).then_some(())).is_some()
            });
        if !is_period || previous.compare.is_some() {
            return;
        }
        let resolved = resolve(query, self.catalog, self.as_of);
        let earlier = resolved.ok().and_then(|resolved| resolved.query.compare?.period);
        if let Some(earlier) = earlier {
            query.period = Some(earlier);
            query.compare = None;
        }
    }

    fn go_on(
        &self,
        tokens: &[crate::tokens::Token],
        context: &Context<'_>,
        cover: &Cover,
    ) -> Option<(Candidate, Vec<Kept>)> {
        let items = context.items_with(&cover.items);
        let mut composed = compose(context.scan, &Cover { items, cost: cover.cost }).ok()?;
        composed.left.retain(|at| !refers(&composed.items[*at]));
        let (mut query, kept) = merge(context, &cover.items, &composed);
        self.go_back(&mut query, context.previous, &cover.items);
        context.go_a_year_back(&mut query, &cover.items);
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
fn stands_alone(items: &[Item]) -> bool {
    let goes_on = items.first().is_none_or(|first| {
        [Meaning::And, Meaning::Sort, Meaning::Or, Meaning::Only, Meaning::Not]
            .iter()
            .any(|meaning| first.means(meaning))
    });
    // "What was spent in December" may be about what was asked before.
    let has_measure =
        items.iter().any(|item| matches!(item.atom, Atom::Measure(_)) && item.amounts.is_empty());
    has_measure && !goes_on && !items.iter().any(refers)
}

fn refers(item: &Item) -> bool {
    item.find(|meaning| matches!(meaning, Meaning::Refer(_)).then_some(())).is_some()
}

/// An earlier question.
struct Context<'a> {
    previous: &'a MetricQuery,
    shown: &'a Shown,
    scan: &'a Scan<'a>,
}

impl Context<'_> {
    /// Returns the parts of a question with those of the earlier one that it needs.
    fn items_with(&self, items: &[Item]) -> Vec<Item> {
        let has = |fits: &dyn Fn(&Item) -> bool| items.iter().any(fits);
        let mut before: Vec<Item> = Vec::new();
        let is_compared =
            has(&|item| item.means(&Meaning::Compare) || item.means(&Meaning::Versus));
        let periods = items.iter().filter(|item| matches!(item.atom, Atom::Period { .. })).count();
        let needs_period = is_compared && periods == 1;
        if let Some(period) = self.previous.period.clone().filter(|_| needs_period) {
            before.push(given(Atom::Period { period, ends: None }));
        }
        if is_compared {
            before.extend(self.value_to_compare(items));
        }
        // "How many campaigns is that" asks for another figure.
        let counts = has(&|item| item.means(&Meaning::Count) || item.means(&Meaning::Distinct))
            && has(&|item| matches!(item.atom, Atom::Dimension { .. }));
        if !counts && !has(&|item| matches!(item.atom, Atom::Measure(_))) {
            let measures = self.previous.measures.iter().filter_map(|used| used.measure.clone());
            let explained = self.previous.explain.iter().map(|explain| explain.measure.clone());
            before.extend(measures.chain(explained).map(|name| given(Atom::Measure(name))));
        }
        let groups = has(&|item| {
            matches!(item.atom, Atom::Dimension { .. })
                || item
                    .find(|m| matches!(m, Meaning::Unit(_) | Meaning::Grain(_)).then_some(()))
                    .is_some()
        });
        let is_why = has(&|item| item.means(&Meaning::Explain));
        if !groups && !is_why {
            for group in &self.previous.by {
                let atom = match &group.by {
                    GroupBy::Dimension(name) => {
                        Atom::Dimension { name: name.clone(), is_form: false }
                    }
                    GroupBy::Time(grain) => Atom::Words(vec![Meaning::By, Meaning::Grain(*grain)]),
                    GroupBy::Define(_) => continue,
                };
                before.push(given(Atom::Words(vec![Meaning::By])));
                before.push(given(atom));
            }
        }
        before.extend(items.iter().cloned());
        before
    }

    /// Reads "a year ago" after a question about a shorter period as that period a year before.
    fn go_a_year_back(&self, query: &mut MetricQuery, items: &[Item]) {
        let is_ago = |item: &Item| {
            let mut tokens = item.tokens.clone();
            matches!(item.atom, Atom::Period { period: Period::Year(_), .. })
                && tokens.any(|at| self.scan.end_of(at, &Meaning::Ago).is_some())
        };
        let Some(Period::Year(year)) = query.period else { return };
        let before = self.previous.period.as_ref().and_then(|period| self.scan.days_of(period));
        let Some((from, to)) = before.filter(|_| items.iter().any(is_ago)) else { return };
        let years = u32::try_from(self.scan.today().year() - year).unwrap_or_default();
        if (to - from).num_days() < A_YEAR {
            let from = back(from, CalendarUnit::Year, years);
            // The last day of February has another number a year before.
            let to = to.succ_opt().and_then(|day| back(day, CalendarUnit::Year, years));
            query.period = Some(Period::Range { from, to: to.and_then(|day| day.pred_opt()) });
        }
    }

    /// Returns the value that the earlier question was about, if this one compares another one with it.
    fn value_to_compare(&self, items: &[Item]) -> Option<Item> {
        let mut named = items.iter().filter_map(|item| match &item.atom {
            Atom::Value { dimension, .. } | Atom::Values { dimension, .. } => Some(dimension),
            _ => None,
        });
        let (dimension, None) = (named.next()?, named.next()) else { return None };
        self.previous.conditions.iter().find_map(|condition| match condition {
            Condition::Is { name, test: Test::OneOf(values) } if name == dimension => {
                match values.as_slice() {
                    [Scalar::Text(value)] => Some(given(Atom::Value {
                        dimension: dimension.clone(),
                        value: value.clone(),
                        is_part: false,
                    })),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// Returns the condition that words such as "them" and "its" mean.
    fn referred(&self, items: &[Item]) -> Option<Condition> {
        let name = self.shown.dimension.clone().filter(|_| !self.shown.values.is_empty())?;
        let is_used = items.iter().enumerate().any(|(at, item)| {
            let refer = item.find(|meaning| match meaning {
                Meaning::Refer(refer) => Some(*refer),
                _ => None,
            });
            // "The three best" has an article, no pronoun.
            let is_article = items.get(at + 1).is_some_and(|next| {
                !matches!(next.atom, Atom::Words(_) | Atom::Period { .. })
                    || next
                        .find(|m| matches!(m, Meaning::Rank(_) | Meaning::First).then_some(()))
                        .is_some()
            });
            match refer {
                Some(Refer::Their) => true,
                Some(Refer::Them) => !is_article,
                Some(Refer::It) => !is_article && self.shown.values.len() == 1,
                _ => false,
            }
        });
        is_used.then(|| Condition::one_of(name, self.shown.values.iter().cloned()))
    }
}

/// Returns a part that the text does not have.
fn given(atom: Atom) -> Item {
    Item { atom, tokens: 0..0, correction: None, amounts: Vec::new() }
}
