//! The rates of flights, each on the last planned day that is asked about.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use contract::{
    definitions::Pacing,
    metric_query::{WhatIf, WhatIfChange},
};

use super::{Row, groups, keys};
use crate::{calendar::days_later, reference::Number};

/// The rates of a flight that goes on.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub rate: Option<Number>,
    pub needed: Option<Number>,
    pub projection: Option<Number>,
    pub days_left: i64,
    pub run_out: Option<NaiveDate>,
    pub days_early: Option<i64>,
    /// The assumptions: more budget, and the amount of the last full days.
    pub added: Number,
    pub recent: Option<Number>,
}

/// Returns the rates by the place of their row.
pub(super) fn standing(
    pacing: &Pacing,
    rows: &[Row],
    what_if: &[(WhatIf, Vec<bool>)],
) -> BTreeMap<usize, Standing> {
    let budget = |group: &[usize], meant: &[bool]| {
        let of =
            group.iter().filter(|at| meant[**at] && rows[**at].is_on() && rows[**at].is_asked());
        of.filter_map(|at| rows[*at].planned).fold(Number::whole(0), Number::plus)
    };
    let all: Vec<usize> = (0..rows.len()).collect();
    let found = groups(rows, &keys(pacing)).into_iter().filter_map(|group| {
        let is_place = |at: &&usize| rows[**at].is_asked() && rows[**at].planned.is_some();
        // Of rows of the same day, the first one by its names counts.
        let place = *group.iter().filter(is_place).min_by_key(|at| {
            let row = &rows[**at];
            (std::cmp::Reverse(row.day), row.names.clone())
        })?;
        let of_group: Vec<&Row> = group.iter().map(|at| &rows[*at]).collect();
        let assumed: Vec<(&WhatIf, Number, Number)> = what_if
            .iter()
            .filter(|(_, meant)| meant[place])
            .map(|(one, meant)| (one, budget(&group, meant), budget(&all, meant)))
            .collect();
        Some((place, of_flight(pacing, &of_group, &assumed)?))
    });
    found.collect()
}

/// Adds up what rows have on some days.
fn sum(rows: &[&Row], is_in: impl Fn(&Row) -> bool, of: impl Fn(&Row) -> Option<Number>) -> Number {
    let found = rows.iter().filter(|row| is_in(row)).filter_map(|row| of(row));
    found.fold(Number::whole(0), Number::plus)
}

/// Returns how much more an amount becomes, if its part of a change is that of a budget of all.
fn more(change: &WhatIfChange, own: Number, budget: Number, all: Number) -> Number {
    let number = |number: &serde_json::Number| {
        let text = number.to_string();
        let (whole, places) = text.split_once('.').unwrap_or((&text, ""));
        Number {
            unscaled: format!("{whole}{places}").parse().unwrap_or(0),
            scale: u8::try_from(places.len()).unwrap_or(0),
        }
    };
    let part = |one: &serde_json::Number| budget.times(number(one)).over(all);
    let found = match change {
        WhatIfChange::By(one) => part(one),
        WhatIfChange::To(one) => part(one).map(|part| part.minus(own)),
        WhatIfChange::Percent(one) => own.times(number(one)).over(Number::whole(100)),
    };
    found.unwrap_or(Number::whole(0))
}

fn of_flight(
    pacing: &Pacing,
    rows: &[&Row],
    assumed: &[(&WhatIf, Number, Number)],
) -> Option<Standing> {
    let one = rows.first()?;
    let ((first, last), (from, until)) = (one.flight?, one.asked?);
    if !one.is_on() {
        return None;
    }
    let budget = sum(rows, |_| true, |row| row.planned);
    let spent = sum(rows, Row::is_full, |row| row.spend);
    let mut added = Number::whole(0);
    for (one, own, all) in assumed {
        if let Some(change) = &one.budget {
            added = added.plus(more(change, *own, *own, *all));
        }
    }
    let left = budget.minus(spent).plus(added);
    let start = one.through.map_or(days_later(first, -1), |day| day.max(days_later(first, -1)));
    let days_left = (last - start).num_days();
    let none = Number::whole(0);
    let needed = left.max(none).over(Number::whole(days_left));
    let mut standing = Standing {
        rate: None,
        needed,
        projection: None,
        days_left,
        run_out: None,
        days_early: None,
        added,
        recent: None,
    };
    let Some(through) = one.through.filter(|through| *through >= first) else {
        return Some(standing);
    };
    let since = days_later(through, 1 - i64::from(pacing.limits.recent_days)).max(first);
    let days = Number::whole((through - since).num_days() + 1);
    let mut recent = sum(rows, |row| row.is_full() && row.day >= Some(since), |row| row.spend);
    for (one, own, all) in assumed {
        if let Some(change) = &one.rate {
            recent = recent.plus(more(change, recent, own.times(days), *all));
        }
    }
    standing.recent = Some(recent);
    standing.rate = recent.over(days);
    let asked = sum(rows, |row| row.is_full() && row.is_asked(), |row| row.spend);
    let ahead = Number::whole((until - through.max(days_later(from, -1))).num_days());
    standing.projection = recent.times(ahead).over(days).map(|rest| asked.plus(rest));
    standing.run_out = if left <= none {
        Some(through)
    } else {
        // Day by day, until the budget is used up.
        (1..=days_left)
            .find(|day| recent.times(Number::whole(*day)) >= left.times(days))
            .map(|day| days_later(through, day))
    };
    standing.days_early =
        standing.run_out.filter(|day| *day < last).map(|day| (last - day).num_days());
    Some(standing)
}
