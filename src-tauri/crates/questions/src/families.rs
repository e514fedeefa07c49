//! Readings over a family: a source that is computed from a delivery and a plan, and these two. They have
//! the same things, so a question that names no source may be read over each of them. A reading that can say
//! nothing else than another one is left out. It must not know words of any language.

use std::ops::Range;

use analytics::{Catalog, SourceModel};
use contract::{
    SourceName,
    metric_query::{GroupBy, MetricQuery},
};

use crate::{
    candidates::{Candidate, SAME},
    central::{outlook_of, verdict_of},
    outcome::{Form, Span, SpanMeaning},
};

/// A computed source and those that it is computed from.
struct Family<'a> {
    computed: &'a SourceModel,
    delivery: &'a SourceName,
    plan: &'a SourceName,
}

/// The place of a source in its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Computed,
    Delivery,
    Plan,
}

/// Leaves out the readings that can say nothing else than another one of their family.
pub(crate) fn leave_out_relatives(catalog: &Catalog, candidates: &mut Vec<Candidate>) {
    for computed in &catalog.sources {
        let Some(pacing) = &computed.definitions.pacing else { continue };
        let (delivery, plan) = (&pacing.delivery.source, &pacing.plan.source);
        let family = Family { computed, delivery, plan };
        family.leave_out_relatives(candidates);
    }
}

impl Family<'_> {
    fn leave_out_relatives(&self, candidates: &mut Vec<Candidate>) {
        let all = candidates.clone();
        candidates.retain(|one| {
            let Some(own) = self.member(&one.reading.query) else { return true };
            !all.iter().any(|other| {
                let relative = self.member(&other.reading.query).filter(|other| *other != own);
                relative.is_some_and(|relative| self.is_better((relative, other), (own, one)))
            })
        });
    }

    fn member(&self, query: &MetricQuery) -> Option<Member> {
        let source = query.source.as_ref()?;
        match source {
            source if source == self.computed.name() => Some(Member::Computed),
            source if source == self.delivery => Some(Member::Delivery),
            source if source == self.plan => Some(Member::Plan),
            _ => None,
        }
    }

    /// Whether a reading stands for another one over a relative of its source.
    fn is_better(
        &self,
        (relative, other): (Member, &Candidate),
        (own, one): (Member, &Candidate),
    ) -> bool {
        if !contain(&one.left, &other.left) {
            return false;
        }
        if says_the_same(&other.reading.query, &one.reading.query) {
            return rank(relative) < rank(own);
        }
        // A verdict is asked for, which the other two do not have. A misspelled word is no such question.
        let is_sure = other.reading.corrections.len() <= one.reading.corrections.len();
        if relative == Member::Computed && is_sure && self.has_verdict(&other.reading.query) {
            return true;
        }
        if own == Member::Computed && self.has_verdict(&one.reading.query) {
            return false;
        }
        let (others, names) = (named(other), named(one));
        let is_covered = contain(&others, &names);
        // A planned amount is no answer to how something did.
        if own == Member::Plan && is_covered && !names_a_measure(one) {
            return true;
        }
        let is_as_cheap = other.cost <= one.cost + SAME;
        if is_covered && is_as_cheap && !contain(&names, &others) {
            return true;
        }
        // Things that are only planned count, too.
        let is_count = other.reading.form == Form::HowMany;
        let (fact, besides) = if is_count {
            (Member::Computed, Member::Delivery)
        } else {
            (Member::Delivery, Member::Computed)
        };
        is_covered && is_as_cheap && (relative, own) == (fact, besides)
    }

    /// Whether a query gives the verdict of something, or what will be.
    fn has_verdict(&self, query: &MetricQuery) -> bool {
        let outlook = outlook_of(self.computed);
        if query.measures.iter().any(|used| used.measure.is_some() && used.measure == outlook) {
            return true;
        }
        let verdict = verdict_of(self.computed);
        verdict.is_some_and(|verdict| {
            query
                .by
                .iter()
                .any(|group| matches!(&group.by, GroupBy::Dimension(name) if *name == verdict))
        })
    }
}

/// Returns which of the members that say the same is the first: the rows themselves, and a plan last.
fn rank(member: Member) -> u8 {
    match member {
        Member::Delivery => 0,
        Member::Computed => 1,
        Member::Plan => 2,
    }
}

/// Whether two queries have the same members over different sources.
fn says_the_same(one: &MetricQuery, other: &MetricQuery) -> bool {
    MetricQuery { source: one.source.clone(), ..other.clone() } == *one
}

/// Returns the bytes that a reading has as names.
fn named(candidate: &Candidate) -> Vec<Range<usize>> {
    let is_name = |span: &&Span| match span.means {
        SpanMeaning::Measure(_) | SpanMeaning::Dimension(_) | SpanMeaning::Value { .. } => true,
        SpanMeaning::Source
        | SpanMeaning::Period(_)
        | SpanMeaning::Number
        | SpanMeaning::Operation
        | SpanMeaning::LeftOut => false,
    };
    candidate.reading.spans.iter().filter(is_name).map(|span| span.at.clone()).collect()
}

/// Whether all of some ranges lie within others.
fn contain(outer: &[Range<usize>], inner: &[Range<usize>]) -> bool {
    inner
        .iter()
        .all(|range| outer.iter().any(|own| own.start <= range.start && range.end <= own.end))
}

fn names_a_measure(candidate: &Candidate) -> bool {
    candidate
        .reading
        .spans
        .iter()
        .any(|span| matches!(span.means, SpanMeaning::Measure(_) | SpanMeaning::Source))
}
