//! Changes an earlier query by the members that a question says.

use contract::metric_query::{
    Compare, Condition, Group, GroupBy, MeasureUse, MetricQuery, Order, Scalar, Test,
};

use super::{Context, Kept};
use crate::{
    central::{judged_thing, verdict_of},
    compose::{Composed, about_things, part_name},
    items::{Atom, Item},
    meaning::{Meaning, Refer},
    outcome::Form,
    things::{are_one, is_part_of, is_undivided},
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
    /// Whether a value counts beside the earlier ones: "also Hardware".
    adds_values: bool,
    /// Whether a value takes the place of what was asked about: "same for Hardware".
    replaces: bool,
    /// Whether it asks for things by another figure.
    asks_things: bool,
    /// Whether it asks for all groups together, and nothing else.
    is_total: bool,
}

impl Own {
    fn of(context: &Context<'_>, items: &[Item]) -> Self {
        let has = |fits: &dyn Fn(&Item) -> bool| items.iter().any(fits);
        let means = |meanings: &[Meaning]| {
            items.iter().any(|item| meanings.iter().any(|meaning| item.means(meaning)))
        };
        let is_rank = |item: &Item| {
            let found = item.find(|m| matches!(m, Meaning::Rank(_)).then_some(()));
            found.is_some()
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
                Meaning::Remaining,
            ]) || context.asks_difference(items),
            groups: context.has_groups(items),
            period: has(&|item| matches!(item.atom, Atom::Period { .. })),
            rank: has(&is_rank) || means(&[Meaning::Sort, Meaning::Descending, Meaning::Ascending]),
            asks_things: false,
            is_total,
            first: means(&[Meaning::First]),
            adds: begins || means(&[Meaning::Refer(Refer::Add)]),
            adds_values: means(&[Meaning::Refer(Refer::Add)]),
            replaces: begins
                || means(&[Meaning::Refer(Refer::Same), Meaning::Refer(Refer::Instead)]),
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
    let mut own = Own::of(context, items);
    own.adds |= own.measures && are_bounded(new);
    own.asks_things = composed.form == Form::Which && own.measures && own.groups;
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
    query.conditions = merge_conditions(context, &new.conditions, &own, compared);
    if query.conditions.iter().any(|condition| old.conditions.contains(condition)) {
        kept.push(Kept::Conditions);
    }
    if let Some(condition) = context.referred(items) {
        query.conditions = joined_to(context, query.conditions, &[condition], &own);
    }
    if own.groups {
        leave_out_asked(context, &mut query, composed);
    }
    // "By how much" after "which are behind" is about those. A state that the words name is no condition.
    if context.asks_extent(items) && (old.by.is_empty() || context.names_state(items)) {
        let verdict = verdict_of(context.scan.source);
        query.conditions.retain(|one| verdict.is_none() || name_of(one) != verdict);
    }
    replace_part(&mut query);
    keep_verdict(context, &mut query, &own, new);
    merge_times(old, new, &own, &mut query, &mut kept);
    merge_order(old, new, &own, &mut query, &mut kept);
    query.totals |= new.totals;
    if new.in_currency.is_some() {
        query.in_currency.clone_from(&new.in_currency);
    }
    merge_assumption(context, new, own.measures, &mut query);
    (query, kept)
}

/// Uses a new assumption in place of the earlier one. It is about the things of the question.
fn merge_assumption(
    context: &Context<'_>,
    new: &MetricQuery,
    has_measures: bool,
    query: &mut MetricQuery,
) {
    if !new.what_if.is_empty() {
        if query.what_if.is_empty() {
            query.compare = None;
            // A verdict is about what is planned.
            let verdict = verdict_of(context.scan.source);
            query.by.retain(|group| {
                !matches!(&group.by, GroupBy::Dimension(name) if Some(name) == verdict.as_ref())
            });
            if !has_measures {
                query.measures.clone_from(&new.measures);
            }
        }
        query.what_if.clone_from(&new.what_if);
    }
    about_things(context.scan.source, &query.conditions, &mut query.what_if);
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

/// Returns the conditions: those on the same thing are replaced, or joined if the question adds.
fn merge_conditions(
    context: &Context<'_>,
    new: &[Condition],
    own: &Own,
    compared: Compared<'_>,
) -> Vec<Condition> {
    let mut all: Vec<Condition> = context.previous.conditions.clone();
    let is_compared = |name: &String| compared.is_some_and(|values| values.contains_key(name));
    all.retain(|condition| !name_of(condition).is_some_and(|name| is_compared(&name)));
    if own.replaces {
        let names: Vec<String> = new.iter().filter_map(name_of).collect();
        leave_out_parts(context, &mut all, &names);
    }
    joined_to(context, all, new, own)
}

/// Leaves out conditions on parts of things that take their place: a campaign of one account says nothing
/// about another one.
fn leave_out_parts(context: &Context<'_>, all: &mut Vec<Condition>, things: &[String]) {
    let (catalog, source) = (context.scan.catalog, context.scan.source.name());
    all.retain(|condition| {
        let name = name_of(condition);
        let is_part = |thing: &String| {
            name.as_ref().is_some_and(|name| is_part_of(catalog, source, name, thing))
        };
        !things.iter().any(is_part)
    });
}

/// Leaves out conditions on one of the things that are asked for: "which account is behind" after a
/// question about an account is about all of them.
fn leave_out_asked(context: &Context<'_>, query: &mut MetricQuery, composed: &Composed) {
    if composed.form != Form::Which {
        return;
    }
    let names = |group: &Group| match &group.by {
        GroupBy::Dimension(name) => Some(name.clone()),
        GroupBy::Time(_) | GroupBy::Define(_) => None,
    };
    let asked: Vec<String> = composed.query.by.iter().filter_map(names).collect();
    leave_out_parts(context, &mut query.conditions, &asked);
    let is_new = |condition: &Condition| composed.query.conditions.contains(condition);
    query.conditions.retain(|condition| {
        let Condition::Is { name, test: Test::OneOf(values) } = condition else { return true };
        let is_asked = asked.iter().any(|own| are_one(context.scan.source, own, name));
        !is_asked || values.len() > 1 || is_new(condition)
    });
}

/// Keeps how things stand beside other groups, and leaves it out beside another figure or a time.
fn keep_verdict(context: &Context<'_>, query: &mut MetricQuery, own: &Own, new: &MetricQuery) {
    let (old, source) = (context.previous, context.scan.source);
    let Some(name) = verdict_of(source) else { return };
    let verdict = Group::dimension(&name);
    if !old.by.contains(&verdict) || own.is_total || query.explain.is_some() {
        return;
    }
    let has_time = query.by.iter().any(|group| matches!(group.by, GroupBy::Time(_)));
    let is_other_figure = own.measures && !own.adds && !own.groups;
    let is_fixed = new.conditions.iter().any(|one| name_of(one).as_ref() == Some(&name));
    if has_time || is_other_figure || own.figures {
        query.by.retain(|group| *group != verdict);
    } else if own.groups && !is_fixed && !query.by.contains(&verdict) {
        query.by.push(verdict);
    } else if !own.groups {
        judge_things(context, query, &verdict);
    }
    if has_time && !own.measures {
        let is_undivided =
            |used: &MeasureUse| used.measure.as_ref().is_some_and(|one| is_undivided(source, one));
        query.measures.retain(|used| !is_undivided(used));
    }
}

/// Judges the things of a narrower question: "only A" after a question about the account of A is about A.
fn judge_things(context: &Context<'_>, query: &mut MetricQuery, verdict: &Group) {
    let source = context.scan.source;
    let judged = |conditions: &[Condition]| {
        let is_list = |one: &&Condition| {
            matches!(one, Condition::Is { test: Test::OneOf(_) | Test::Contains(_), .. })
        };
        let names: Vec<String> = conditions.iter().filter(is_list).filter_map(name_of).collect();
        judged_thing(source, &names).map(Group::dimension)
    };
    let (before, after) = (judged(&context.previous.conditions), judged(&query.conditions));
    let (Some(before), Some(after)) = (before, after) else { return };
    if query.by == [before, verdict.clone()] {
        query.by = vec![after, verdict.clone()];
    }
}

fn name_of(condition: &Condition) -> Option<String> {
    match condition {
        Condition::Is { name, .. } => Some(name.clone()),
        Condition::And(_) | Condition::Or(_) | Condition::Not(_) => None,
    }
}

fn joined_to(
    context: &Context<'_>,
    mut all: Vec<Condition>,
    new: &[Condition],
    own: &Own,
) -> Vec<Condition> {
    for condition in new {
        let name = name_of(condition);
        let is_same = |other: &Condition| match (&name, name_of(other)) {
            (Some(name), Some(other)) => are_one(context.scan.source, name, &other),
            (Some(_) | None, _) => false,
        };
        let place = all.iter().position(is_same);
        match (place, condition) {
            (Some(place), Condition::Is { name, test: Test::OneOf(values) }) if own.adds_values => {
                all[place] = either(&all[place], name, values);
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

/// Returns the condition that an earlier one holds, or that a thing has one of further values.
fn either(old: &Condition, name: &str, values: &[Scalar]) -> Condition {
    let new = || Condition::Is { name: name.to_owned(), test: Test::OneOf(values.to_vec()) };
    match old {
        Condition::Is { name: own, test: Test::OneOf(known) } if own == name => {
            let all = known.iter().chain(values).cloned().collect();
            Condition::Is { name: name.to_owned(), test: Test::OneOf(all) }
        }
        // A thing by its name and another one by its id.
        Condition::Is { name: own, test: Test::OneOf(_) } if own != name => {
            Condition::Or(vec![old.clone(), new()])
        }
        Condition::Is { .. } | Condition::And(_) | Condition::Or(_) | Condition::Not(_) => new(),
    }
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
            // "Sort by clicks" keeps the figures that were shown, "which had the most clicks" does not.
            if own.rank
                && !own.asks_things
                && old.measures.iter().all(|used| !new.measures.contains(used))
            {
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
