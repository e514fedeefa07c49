//! Queries of a form of their own in words: one place in an order, the first or last time in which
//! something holds, one measure against another one, and the share of a value.

use contract::{
    definitions::{Calculation, DimensionKind},
    metric_query::{Bounds, Condition, Group, GroupBy, MeasureUse, MetricQuery, Scalar, Test},
};

use super::Saying;
use crate::compose::part_name;

impl Saying<'_> {
    /// Returns a query of a form of its own in words. The outer none: it has no such form. The inner none:
    /// it cannot be said.
    pub(super) fn form(&self, query: &MetricQuery) -> Option<Option<String>> {
        if query.top.as_ref().is_some_and(|top| top.per.is_empty()) {
            return Some(self.nth(query));
        }
        if is_by_time(query) {
            return Some(self.first_time(query));
        }
        if let Some((condition, pair)) = pair_of(query) {
            return Some(self.pair(query, condition, pair));
        }
        query.measures.iter().any(is_part).then(|| self.share_of_values(query))
    }

    /// Returns "second highest campaign by spend".
    fn nth(&self, query: &MetricQuery) -> Option<String> {
        let top = query.top.as_ref()?;
        let ([used], [group], [order]) =
            (query.measures.as_slice(), query.by.as_slice(), query.order.as_slice())
        else {
            return None;
        };
        let is_plain = *used == MeasureUse::named(&order.by)
            && top.by.as_ref() == Some(&order.by)
            && order.descending == top.lowest
            && query.limit == Some(1)
            && !top.others;
        let place = usize::try_from(top.n).ok()?.checked_sub(2)?;
        let nth = self.word("nth")?.split(' ').nth(place).filter(|_| is_plain)?;
        let rank = self.word(if top.lowest { "lowest" } else { "highest" })?;
        let (group, by) = (self.group(group)?, self.word("by")?);
        let begin = format!("{nth} {rank} {group} {by} {}", self.name(&order.by));
        let plain = MetricQuery {
            top: None,
            order: Vec::new(),
            limit: None,
            by: Vec::new(),
            ..query.clone()
        };
        self.rest(begin, &plain, |_| true)
    }

    /// Returns "last day with clicks over 0".
    fn first_time(&self, query: &MetricQuery) -> Option<String> {
        let ([used], [group], [order]) =
            (query.measures.as_slice(), query.by.as_slice(), query.order.as_slice())
        else {
            return None;
        };
        let name = used.measure.clone()?;
        let is_own = |condition: &&Condition| matches!(condition, Condition::Is { name: own, .. } if *own == name);
        let own = query.conditions.iter().find(is_own).filter(|_| query.limit == Some(1))?;
        let word = self.word(if order.descending { "last_time" } else { "first_time" })?;
        let begin = format!("{word} {} {}", self.group(group)?, self.condition(own)?);
        let is_plain = *used == MeasureUse::named(&name);
        let plain = MetricQuery { order: Vec::new(), limit: None, by: Vec::new(), ..query.clone() };
        self.rest(begin, &plain, |condition| condition != own).filter(|_| is_plain)
    }

    /// Returns "by team with spend over budget".
    fn pair(&self, query: &MetricQuery, own: &Condition, pair: &[String; 2]) -> Option<String> {
        let [a, b] = pair;
        let Condition::Is { test: Test::Bounds(bounds), .. } = own else { return None };
        let words = (self.word("with")?, self.word(side_of_zero(bounds)?)?);
        let groups: Option<Vec<String>> = query.by.iter().map(|group| self.group(group)).collect();
        let groups = self.list(&groups?)?;
        let condition = format!("{} {} {} {}", words.0, self.name(a), words.1, self.name(b));
        let begin = format!("{} {groups} {condition}", self.word("by")?);
        let shown = [Some(a), Some(b)];
        let is_plain = query.measures.len() == 3
            && query.measures.iter().take(2).map(|used| used.measure.as_ref()).eq(shown);
        let plain = MetricQuery { by: Vec::new(), ..query.clone() };
        self.rest(begin, &plain, |condition| condition != own).filter(|_| is_plain)
    }

    /// Returns "share of clicks from Mobile".
    fn share_of_values(&self, query: &MetricQuery) -> Option<String> {
        let [share, part] = query.measures.as_slice() else { return None };
        let name = share.measure.as_deref()?;
        let [Condition::Is { name: dimension, test }] = part.conditions.as_slice() else {
            return None;
        };
        let values = match test {
            Test::OneOf(values) => self.values(values)?,
            Test::Contains(texts) => {
                let texts = texts.iter().map(|text| Scalar::Text(text.clone()));
                self.values(&texts.collect::<Vec<_>>())?
            }
            _ => return None,
        };
        let is_own = |group: &&Group| match &group.by {
            GroupBy::Dimension(own) => own == dimension,
            GroupBy::Define(DimensionKind::When(_)) => true,
            GroupBy::Define(_) | GroupBy::Time(_) => false,
        };
        let others: Vec<Group> = query.by.iter().filter(|group| !is_own(group)).cloned().collect();
        let groups: Option<Vec<String>> = others.iter().map(|group| self.group(group)).collect();
        let mut begin = format!(
            "{} {} {} {values}",
            self.word("share")?,
            self.name(name),
            self.word("part_from")?
        );
        let groups = groups?;
        if !groups.is_empty() {
            begin = format!("{begin} {} {}", self.word("by")?, self.list(&groups)?);
        }
        let part = part_name(name);
        let is_other = |condition: &Condition| !matches!(condition, Condition::Is { name, .. } if *name == part);
        let plain = MetricQuery { by: Vec::new(), ..query.clone() };
        self.rest(begin, &plain, is_other)
    }

    /// Returns words with the conditions, the period and the source of a query that has nothing else.
    fn rest(
        &self,
        begin: String,
        query: &MetricQuery,
        is_said: impl Fn(&Condition) -> bool,
    ) -> Option<String> {
        let is_more = super::is_beyond(query)
            || query.compare.is_some()
            || query.then.is_some()
            || query.explain.is_some()
            || !query.order.is_empty()
            || query.limit.is_some()
            || query.top.is_some();
        let mut parts = vec![begin];
        for condition in query.conditions.iter().filter(|condition| is_said(condition)) {
            parts.push(self.condition(condition)?);
        }
        if let Some(period) = &query.period {
            parts.push(self.period(period)?);
        }
        let source = super::plain(self.source.name().as_str());
        parts.push(format!("{} {source}", self.word("source")?));
        (!is_more).then(|| parts.join(" "))
    }
}

/// Whether the order of a result is that of its times.
fn is_by_time(query: &MetricQuery) -> bool {
    let ([group], [order]) = (query.by.as_slice(), query.order.as_slice()) else { return false };
    matches!(group.by, GroupBy::Time(_))
        && crate::compose::name_of(group) == order.by
        && query.limit.is_some()
}

/// Returns the condition on a difference of two measures, and both of them.
fn pair_of(query: &MetricQuery) -> Option<(&Condition, &[String; 2])> {
    query.measures.iter().find_map(|used| {
        let Some(Calculation::Minus(pair)) = &used.calculation else { return None };
        let is_own = |condition: &&Condition| {
            matches!(condition, Condition::Is { name, test: Test::Bounds(_) }
                if Some(name) == used.name.as_ref())
        };
        Some((query.conditions.iter().find(is_own)?, pair))
    })
}

/// Whether a figure is the part of a measure whose share is asked for.
fn is_part(used: &MeasureUse) -> bool {
    used.measure.as_deref().map(part_name) == used.name && !used.conditions.is_empty()
}

/// Returns the word for the side of zero.
fn side_of_zero(bounds: &Bounds) -> Option<&'static str> {
    let zero = Some(Scalar::Number(0.into()));
    let sides = [
        ("above", &bounds.above),
        ("from", &bounds.from),
        ("below", &bounds.below),
        ("to", &bounds.to),
    ];
    sides.into_iter().find(|(_, side)| **side == zero).map(|(word, _)| word)
}
