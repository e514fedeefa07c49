//! The verdict of all that is judged together.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use contract::definitions::{Pacing, PacingLimits};

use super::{Row, flights::Standing, groups};
use crate::{calendar::days_later, reference::Number};

/// The verdict of a row's thing.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    pub status: Option<&'static str>,
    pub at_risk: Option<bool>,
    pub runs_out: Option<bool>,
    pub is_silent: Option<bool>,
    pub is_late: Option<bool>,
}

/// Returns the verdict of each row.
pub(super) fn judged(
    pacing: &Pacing,
    rows: &[Row],
    standing: &BTreeMap<usize, Standing>,
    names: &[usize],
) -> Vec<Verdict> {
    let mut found = vec![Verdict::default(); rows.len()];
    for group in groups(rows, names) {
        let of_group: Vec<&Row> = group.iter().map(|at| &rows[*at]).collect();
        let early = group
            .iter()
            .any(|at| standing.get(at).is_some_and(|standing| standing.days_early.is_some()));
        let standing: Vec<&Standing> = group.iter().filter_map(|at| standing.get(at)).collect();
        if let Some(verdict) = verdict(&pacing.limits, &of_group, early, &standing) {
            for at in group {
                found[at] = verdict.clone();
            }
        }
    }
    found
}

fn total(rows: &[&Row], of: impl Fn(&Row) -> Option<Number>) -> Number {
    rows.iter().filter_map(|row| of(row)).fold(Number::whole(0), Number::plus)
}

fn verdict(
    limits: &PacingLimits,
    rows: &[&Row],
    runs_out: bool,
    standing: &[&Standing],
) -> Option<Verdict> {
    let added = standing.iter().map(|one| one.added).fold(Number::whole(0), Number::plus);
    let budget = total(rows, |row| row.planned.filter(|_| row.is_asked())).plus(added);
    if budget <= Number::whole(0) {
        return None;
    }
    let counts = |row: &Row| row.is_asked() && row.is_full();
    let planned = total(rows, |row| row.planned.filter(|_| counts(row)));
    let spend = total(rows, |row| row.spend.filter(|_| counts(row)));
    let is_late = rows.iter().any(|row| {
        let begun = row.is_on() && row.asked.is_some_and(|(from, _)| row.today > from);
        let days = row.data.map(|data| (row.today - data).num_days());
        begun && days.is_none_or(|days| days >= i64::from(limits.late_days))
    });
    Some(Verdict {
        status: status(limits, rows, budget, planned, spend),
        at_risk: Some(at_risk(limits, rows, standing)),
        runs_out: Some(runs_out),
        is_silent: Some(is_silent(limits, rows)),
        is_late: Some(is_late),
    })
}

fn percent(number: Number, percent: u32) -> Number {
    let part = number.times(Number::whole(i64::from(percent)));
    Number { scale: part.scale + 2, ..part }
}

fn status(
    limits: &PacingLimits,
    rows: &[&Row],
    budget: Number,
    planned: Number,
    spend: Number,
) -> Option<&'static str> {
    let asked: Vec<(NaiveDate, NaiveDate)> = rows.iter().filter_map(|row| row.asked).collect();
    let from = asked.iter().map(|(from, _)| *from).min()?;
    let until = asked.iter().map(|(_, until)| *until).max()?;
    let today = rows.iter().map(|row| row.today).max()?;
    let through = rows.iter().filter_map(|row| row.through).max();
    if today < from {
        return Some("not_started");
    }
    let over = |row: &&&Row| row.asked.is_some_and(|(_, until)| row.through >= Some(until));
    let is_over = rows.iter().filter(|row| row.asked.is_some()).all(|row| over(&row));
    let at_end = if spend > percent(budget, limits.delivered_to) {
        Some("over_delivered")
    } else if spend >= percent(budget, limits.delivered_from) {
        Some("delivered")
    } else {
        None
    };
    if is_over {
        return Some(at_end.unwrap_or("under_delivered"));
    }
    let is_early = |days: i64| {
        let all = (until - from).num_days() + 1;
        days < i64::from(limits.early_days) || days * 100 < all * i64::from(limits.early_percent)
    };
    let Some(through) = through.filter(|through| *through >= from) else {
        let is_early = is_early((today - from).num_days());
        return Some(if is_early { "too_early" } else { "no_data" });
    };
    if today > until {
        return Some(at_end.unwrap_or("no_data"));
    }
    if is_early((through - from).num_days() + 1) {
        return Some("too_early");
    }
    Some(if spend < planned.minus(percent(planned, limits.slightly)) {
        "behind"
    } else if spend < planned.minus(percent(planned, limits.on_track)) {
        "slightly_behind"
    } else if spend > planned.plus(percent(planned, limits.slightly)) {
        "ahead"
    } else if spend > planned.plus(percent(planned, limits.on_track)) {
        "slightly_ahead"
    } else {
        "on_track"
    })
}

fn begun<'r>(rows: &[&'r Row]) -> Vec<(&'r Row, NaiveDate, NaiveDate)> {
    let known = rows.iter().filter(|row| row.is_on()).filter_map(|row| {
        let through = row.through?;
        let (first, _) = row.flight?;
        (through >= first).then_some((*row, first, through))
    });
    known.collect()
}

fn at_risk(limits: &PacingLimits, rows: &[&Row], standing: &[&Standing]) -> bool {
    let (mut left, mut planned) = (Number::whole(0), Number::whole(0));
    let mut recent_planned = Number::whole(0);
    let begun_flights = || standing.iter().filter_map(|one| Some((one.recent?, one.added)));
    let recent = begun_flights().map(|(recent, _)| recent).fold(Number::whole(0), Number::plus);
    left = begun_flights().map(|(_, added)| added).fold(left, Number::plus);
    for (row, first, through) in begun(rows) {
        let since = days_later(through, 1 - i64::from(limits.recent_days)).max(first);
        let amount = |number: Option<Number>| number.unwrap_or(Number::whole(0));
        left = left.plus(amount(row.planned));
        if row.day > Some(through) {
            planned = planned.plus(amount(row.planned));
        }
        if row.is_full() {
            left = left.minus(amount(row.spend));
            if row.day >= Some(since) {
                recent_planned = recent_planned.plus(amount(row.planned));
            }
        }
    }
    let (Some(needed), Some(actual)) = (left.over(planned), recent.over(recent_planned)) else {
        return false;
    };
    left > Number::whole(0) && needed >= percent(actual, limits.at_risk)
}

fn is_silent(limits: &PacingLimits, rows: &[&Row]) -> bool {
    let mut planned = Number::whole(0);
    for (row, first, through) in begun(rows) {
        let since = days_later(through, 1 - i64::from(limits.silent_days));
        if since < first || !row.is_full() || row.day < Some(since) {
            continue;
        }
        let some = |number: Option<Number>| number.is_some_and(|number| number.unscaled != 0);
        if some(row.spend) || some(row.impressions) {
            return false;
        }
        planned = planned.plus(row.planned.unwrap_or(Number::whole(0)));
    }
    planned > Number::whole(0)
}
