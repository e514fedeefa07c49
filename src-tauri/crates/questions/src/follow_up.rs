//! Reads a question that goes on from an earlier one. The parts that it does not say are put before its
//! own parts, so that the same rules read both; the members that it does not change are kept.

use contract::metric_query::{Condition, GroupBy, MetricQuery, Scalar, Test};

use crate::{
    compose::compose,
    cover::{Cover, covers},
    edges::edges,
    items::{Atom, Item},
    meaning::{Meaning, Refer},
    outcome::{Outcome, Reading},
    reading::{Asked, Candidate, candidate, joined, short_tokens},
    scan::Scan,
};

mod merging;

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
        let Some((best, kept)) = found.into_iter().next() else { return alone() };
        let is_much = joined(best.left.clone()).len() > best.read;
        if is_much || !best.left.is_empty() && matches!(self.read(text), Outcome::One(_)) {
            return alone();
        }
        let reading: Box<Reading> = Box::new(best.reading);
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

    fn go_on(
        &self,
        tokens: &[crate::tokens::Token],
        context: &Context<'_>,
        cover: &Cover,
    ) -> Option<(Candidate, Vec<Kept>)> {
        let items = context.items_with(&cover.items);
        let mut composed = compose(context.scan, &Cover { items, cost: cover.cost }).ok()?;
        composed.left.retain(|at| !refers(&composed.items[*at]));
        let (query, kept) = merge(context, &cover.items, &composed);
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

/// Whether parts are a question of their own: they name a measure, and nothing refers to an earlier
/// one.
fn stands_alone(items: &[Item]) -> bool {
    let goes_on = items.first().is_none_or(|first| {
        [Meaning::And, Meaning::Sort, Meaning::Or, Meaning::Only, Meaning::Not]
            .iter()
            .any(|meaning| first.means(meaning))
    });
    let has_measure = items.iter().any(|item| matches!(item.atom, Atom::Measure(_)));
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
    Item { atom, tokens: 0..0, correction: None }
}
