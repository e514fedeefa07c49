//! Changes an earlier query by the members that a question says.

use contract::metric_query::{
    Compare, Condition, Group, GroupBy, MeasureUse, MetricQuery, Order, Scalar, Test,
};

use super::{Context, Kept};
use crate::{
    compose::{Composed, part_name},
    items::{Atom, Item},
    meaning::{Meaning, Refer},
};

/// The kinds of parts that a question has.
struct Own {
    measures: bool,
    figures: bool,
    groups: bool,
    period: bool,
    rank: bool,
    first: bool,
    adds: bool,
    /// Whether it asks for all groups together, and nothing else.
    is_total: bool,
}

impl Own {
    fn of(items: &[Item]) -> Self {
        let has = |fits: &dyn Fn(&Item) -> bool| items.iter().any(fits);
        let means = |meanings: &[Meaning]| {
            items.iter().any(|item| meanings.iter().any(|meaning| item.means(meaning)))
        };
        let is_rank = |item: &Item| {
            let found = item.find(|m| matches!(m, Meaning::Rank(_)).then_some(()));
            found.is_some()
        };
        let is_group = |item: &Item| {
            matches!(item.atom, Atom::Dimension { .. })
                || item
                    .find(|m| matches!(m, Meaning::Grain(_) | Meaning::Unit(_)).then_some(()))
                    .is_some()
        };
        let is_plain = |item: &Item| {
            item.means(&Meaning::Sum)
                || item.means(&Meaning::And)
                || item.is_link()
                || matches!(item.atom, Atom::Period { .. })
        };
        let is_total = means(&[Meaning::Sum]) && items.iter().all(is_plain);
        let begins = items.first().is_some_and(|item| item.means(&Meaning::And));
        Self {
            measures: has(&|item| matches!(item.atom, Atom::Measure(_))),
            figures: means(&[
                Meaning::Share,
                Meaning::Running,
                Meaning::Rolling,
                Meaning::Average,
                Meaning::Median,
                Meaning::Count,
                Meaning::Distinct,
                Meaning::Explain,
            ]),
            groups: has(&is_group),
            period: has(&|item| matches!(item.atom, Atom::Period { .. })),
            rank: has(&is_rank) || means(&[Meaning::Sort, Meaning::Descending, Meaning::Ascending]),
            is_total,
            first: means(&[Meaning::First]),
            adds: begins || means(&[Meaning::Refer(Refer::Add)]),
        }
    }
}

/// Returns the earlier query with the members that the question says, and the members that were kept.
pub(super) fn merge(
    context: &Context<'_>,
    items: &[Item],
    composed: &Composed,
) -> (MetricQuery, Vec<Kept>) {
    let (old, new) = (context.previous, &composed.query);
    let mut own = Own::of(items);
    own.adds |= own.measures && are_bounded(new);
    let mut query = old.clone();
    let mut kept = Vec::new();
    if own.measures || own.figures {
        query.measures = merge_measures(old, new, &own);
        query.explain.clone_from(&new.explain);
        query.then.clone_from(&new.then);
    } else {
        kept.push(Kept::Measures);
    }
    let is_why = new.explain.is_some();
    if own.is_total && !old.by.is_empty() {
        query.by = Vec::new();
        (query.order, query.limit, query.top, query.then) = (Vec::new(), None, None, None);
    } else if own.groups || is_why {
        query.by = merge_groups(old, new, &own);
        query.order = Vec::new();
        query.limit = None;
        query.top = None;
        query.then.clone_from(&new.then);
    } else if !old.by.is_empty() {
        kept.push(Kept::Groups);
    }
    let compared = new.compare.as_ref().map(|compare| &compare.values);
    query.conditions = merge_conditions(&old.conditions, &new.conditions, &own, compared);
    if query.conditions.iter().any(|condition| old.conditions.contains(condition)) {
        kept.push(Kept::Conditions);
    }
    if let Some(condition) = context.referred(items) {
        query.conditions = merge_conditions(&query.conditions, &[condition], &own, None);
    }
    replace_part(&mut query);
    merge_times(old, new, &own, &mut query, &mut kept);
    merge_order(old, new, &own, &mut query, &mut kept);
    query.totals |= new.totals;
    (query, kept)
}

/// Uses a new value in place of the one whose share was asked for: "same for desktop".
fn replace_part(query: &mut MetricQuery) {
    let is_part = |used: &&mut MeasureUse| {
        used.measure.as_deref().map(part_name) == used.name && !used.conditions.is_empty()
    };
    let Some(part) = query.measures.iter_mut().find(is_part) else { return };
    let [Condition::Is { name: own, .. }] = part.conditions.as_slice() else { return };
    let is_value = |condition: &Condition| matches!(condition, Condition::Is { name, test: Test::OneOf(_) } if name == own);
    let Some(place) = query.conditions.iter().position(is_value) else { return };
    let value = query.conditions.remove(place);
    for group in &mut query.by {
        if matches!(group.by, GroupBy::Define(_)) {
            *group = Group::dimension(own.clone());
        }
    }
    part.conditions = vec![value];
}

/// Whether the measures of a question are only those of its conditions: "only those above 100 clicks".
fn are_bounded(new: &MetricQuery) -> bool {
    let is_bounded = |used: &MeasureUse| {
        new.conditions.iter().any(|condition| {
            matches!(condition, Condition::Is { name, test: Test::Bounds(_) }
                if used.measure.as_ref() == Some(name))
        })
    };
    !new.measures.is_empty() && new.measures.iter().all(is_bounded)
}

fn merge_measures(old: &MetricQuery, new: &MetricQuery, own: &Own) -> Vec<MeasureUse> {
    let mut measures = Vec::new();
    if own.adds && new.explain.is_none() {
        measures.extend(old.measures.iter().cloned());
    }
    for used in &new.measures {
        if !measures.contains(used) {
            measures.push(used.clone());
        }
    }
    measures
}

/// Returns the groups: "and by week" adds a time to other groups, "by week" takes their place.
fn merge_groups(old: &MetricQuery, new: &MetricQuery, own: &Own) -> Vec<Group> {
    let mut groups = Vec::new();
    if own.adds && new.explain.is_none() {
        let is_time = |group: &Group| matches!(group.by, GroupBy::Time(_));
        let has_time = new.by.iter().any(is_time);
        groups.extend(old.by.iter().filter(|group| !(has_time && is_time(group))).cloned());
    }
    for group in &new.by {
        if !groups.contains(group) {
            groups.push(group.clone());
        }
    }
    groups
}

type Compared<'a> = Option<&'a std::collections::BTreeMap<String, Vec<Scalar>>>;

/// Returns the conditions: those on the same dimension are replaced, or joined if the question adds.
fn merge_conditions(
    old: &[Condition],
    new: &[Condition],
    own: &Own,
    compared: Compared<'_>,
) -> Vec<Condition> {
    let name_of = |condition: &Condition| match condition {
        Condition::Is { name, .. } => Some(name.clone()),
        _ => None,
    };
    let mut all: Vec<Condition> = old.to_vec();
    all.retain(|condition| {
        let name = name_of(condition);
        !name.is_some_and(|name| compared.is_some_and(|values| values.contains_key(&name)))
    });
    for condition in new {
        let name = name_of(condition);
        let place = all.iter().position(|own| name.is_some() && name_of(own) == name);
        match (place, condition) {
            (Some(place), Condition::Is { name, test: Test::OneOf(values) }) if own.adds => {
                let mut joined = match &all[place] {
                    Condition::Is { test: Test::OneOf(values), .. } => values.clone(),
                    _ => Vec::new(),
                };
                joined.extend(values.iter().cloned());
                all[place] = Condition::Is { name: name.clone(), test: Test::OneOf(joined) };
            }
            (Some(place), Condition::Is { test: Test::NoneOf(without), .. }) => {
                let is_list = matches!(&all[place], Condition::Is { test: Test::OneOf(_), .. });
                if let Condition::Is { test: Test::OneOf(values), .. } = &mut all[place] {
                    values.retain(|value| !without.contains(value));
                }
                if !is_list {
                    all.push(condition.clone());
                }
            }
            (Some(place), _) => all[place] = condition.clone(),
            (None, _) => all.push(condition.clone()),
        }
    }
    all.retain(|condition| {
        !matches!(condition, Condition::Is { test: Test::OneOf(values), .. } if values.is_empty())
    });
    all
}

fn merge_times(
    old: &MetricQuery,
    new: &MetricQuery,
    own: &Own,
    query: &mut MetricQuery,
    kept: &mut Vec<Kept>,
) {
    if let Some(compare) = &new.compare {
        query.compare = Some(compare.clone());
    } else if own.period {
        // Another period than that of the question says nothing beside a new one.
        query.compare = old.compare.clone().filter(|compare| compare.period.is_none());
    }
    let is_for_the_query = new.compare.as_ref().is_none_or(|compare| compare.period.is_none());
    if query.period.is_none() || (own.period && is_for_the_query) {
        query.period.clone_from(&new.period);
    } else {
        kept.push(Kept::Period);
    }
    // Two values that were compared give way to a condition on one of them.
    let values = |compare: &Compare| compare.values.keys().cloned().collect::<Vec<_>>();
    let names = query.compare.as_ref().map(values).unwrap_or_default();
    let is_old = new.compare.is_none();
    if is_old
        && new.conditions.iter().any(
            |condition| matches!(condition, Condition::Is { name, .. } if names.contains(name)),
        )
    {
        query.compare = None;
    }
    if query.compare.is_some() && query.compare == old.compare {
        kept.push(Kept::Comparison);
    }
}

fn merge_order(
    old: &MetricQuery,
    new: &MetricQuery,
    own: &Own,
    query: &mut MetricQuery,
    kept: &mut Vec<Kept>,
) {
    if own.rank || own.first {
        query.top.clone_from(&new.top);
        query.limit = new.limit.or(query.limit.filter(|_| !own.first));
        let keeps = own.first && !own.rank && !old.order.is_empty() && !own.groups;
        if keeps {
            kept.push(Kept::Order);
        } else if !new.order.is_empty() {
            query.order.clone_from(&new.order);
            let sorted = query.order.iter().map(|order| order.by.clone()).collect::<Vec<_>>();
            let is_shown =
                |used: &MeasureUse| used.measure.as_ref().is_some_and(|name| sorted.contains(name));
            // "Sort by clicks" keeps the figures that were shown.
            if own.rank && old.measures.iter().all(|used| !new.measures.contains(used)) {
                query.measures = old.measures.clone();
                query.measures.extend(new.measures.iter().filter(|used| is_shown(used)).cloned());
            }
        }
    } else if own.measures && !own.adds && !query.order.is_empty() {
        let by = new.measures.first().and_then(|used| used.name.clone().or(used.measure.clone()));
        let descending = query.order.first().is_some_and(|order| order.descending);
        query.order = by.map(|by| Order { by, descending }).into_iter().collect();
        kept.push(Kept::Order);
    } else if !query.order.is_empty() || query.limit.is_some() {
        kept.push(Kept::Order);
    }
}
