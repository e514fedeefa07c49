//! Spend by day, week, month, or weekday and weekend, and a comparison with another period.

use std::collections::BTreeMap;

use chrono::{Datelike, NaiveDate, Weekday};
use contract::{AgentError, text};
use rusqlite::Connection;

use crate::{
    args::Period,
    data::{self, Base, Campaign},
    flights::{self, DayTargets},
    money::Ratio,
    pace::Window,
    rollup::{Daily, Rollups, Sum},
    time::{LocalNow, add_days, count_days},
    window::month_of,
};

/// One row of a breakdown.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) label: String,
    pub(crate) window: Window,
    /// The number of elapsed days. The current day is included in part.
    pub(crate) days: Ratio,
    pub(crate) sum: Sum,
    /// The planned spend of the elapsed days.
    pub(crate) target: Ratio,
    /// Whether the group contains a day that is not over.
    pub(crate) is_partial: bool,
}

/// Returns the elapsed days of the window, grouped by period. Single days come newest first and
/// only if they have data. Other periods come oldest first.
pub(crate) fn breakdown(
    by: Period,
    window: Window,
    last: Option<NaiveDate>,
    days: &[Daily],
    targets: &DayTargets,
    now: &LocalNow,
) -> Vec<Group> {
    let sums: BTreeMap<NaiveDate, Sum> = days.iter().map(|d| (d.day, d.sum)).collect();
    let Some(last) = last.map(|last| last.min(window.end)) else { return Vec::new() };
    let mut groups: BTreeMap<(NaiveDate, String), Group> = BTreeMap::new();
    let mut day = window.start;
    while day <= last {
        let sum = sums.get(&day).copied();
        if by != Period::Day || sum.is_some() {
            let group =
                groups.entry(key(by, day, window.start)).or_insert_with_key(|(_, label)| Group {
                    label: label.clone(),
                    window: Window { start: day, end: day },
                    days: Ratio::new(0, 1),
                    sum: Sum::default(),
                    target: Ratio::new(0, 1),
                    is_partial: false,
                });
            let sum = sum.unwrap_or_default();
            group.window.end = day;
            group.sum.spend = group.sum.spend.saturating_add(sum.spend);
            group.sum.impressions = group.sum.impressions.saturating_add(sum.impressions);
            add_day(group, by, day, targets.target_on(day), now);
        }
        day = add_days(day, 1);
    }
    let rows = groups.into_values();
    if by == Period::Day { rows.rev().collect() } else { rows.collect() }
}

/// Adds a day and its target to a group. Only the elapsed part of today is added, except to a row
/// for the single day.
fn add_day(group: &mut Group, by: Period, day: NaiveDate, target: Ratio, now: &LocalNow) {
    let is_today = day == now.today;
    let part = match is_today {
        true => Ratio::new(i128::from(now.elapsed), i128::from(now.length)).in_parts(),
        false => Ratio::new(1, 1).in_parts(),
    };
    let target = match is_today && by != Period::Day {
        true => {
            Ratio::new(target.num * i128::from(now.elapsed), target.den * i128::from(now.length))
        }
        false => target,
    };
    group.days = flights::sum([group.days, part].into_iter());
    group.target = flights::sum([group.target, target].into_iter());
    group.is_partial |= is_today;
}

/// Returns the order and the label of a day's group.
fn key(by: Period, day: NaiveDate, first: NaiveDate) -> (NaiveDate, String) {
    match by {
        Period::Day => (day, day.to_string()),
        Period::Week => {
            let week = day.iso_week();
            (day.week(Weekday::Mon).first_day(), format!("{}-W{:02}", week.year(), week.week()))
        }
        Period::Month => (month_of(day).start, format!("{}-{:02}", day.year(), day.month())),
        Period::Weekday => match day.weekday() {
            Weekday::Sat | Weekday::Sun => (add_days(first, 1), "weekends".to_owned()),
            _ => (first, "weekdays".to_owned()),
        },
    }
}

/// The figures of one of the compared periods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) window: Window,
    /// The number of elapsed days. The current day is included in part.
    pub(crate) days: Ratio,
    pub(crate) sum: Sum,
    pub(crate) budget: Option<i64>,
    pub(crate) has_rows: bool,
}

/// In periods with fewer days, one more weekend day changes the figures.
const SHORT: i64 = 14;

fn count_weekend_days(window: Window) -> usize {
    let is_weekend = |day: NaiveDate| matches!(day.weekday(), Weekday::Sat | Weekday::Sun);
    (0..window.days()).filter(|n| is_weekend(add_days(window.start, *n))).count()
}

/// The delivery of another period.
pub(crate) struct Past {
    asked: Window,
    campaigns: Vec<Campaign>,
    days: BTreeMap<NaiveDate, Sum>,
}

/// The window compared with another period.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    pub(crate) current: Figures,
    pub(crate) past: Figures,
    /// Whether both periods have the same number of days, and all of the days are over.
    pub(crate) is_like_for_like: bool,
    /// Whether one of two short periods has more weekend days than the other.
    pub(crate) weekend_days_differ: bool,
    pub(crate) note: String,
}

/// Reads the delivery of another period. Returns None if no comparison is requested.
pub(crate) fn compare(
    db: &Connection,
    campaigns: &[Campaign],
    base: Base,
    asked: Option<Window>,
    now: &LocalNow,
) -> Result<Option<Past>, AgentError> {
    let Some(asked) = asked else { return Ok(None) };
    let delivery = data::delivery(db, campaigns, base, now, (asked.start, asked.end))?;
    let mut days: BTreeMap<NaiveDate, Sum> = BTreeMap::new();
    for row in &delivery.rows {
        days.entry(row.day).or_default().add(row.spend, row.impressions);
    }
    Ok(Some(Past { asked, campaigns: campaigns.to_vec(), days }))
}

impl Past {
    /// Compares the window with this period. While the window is not over, its full days are
    /// compared with the same number of first days of the other period.
    pub(crate) fn compare_with_window(
        self,
        window: Window,
        rollups: &Rollups,
        last: Option<NaiveDate>,
        now: &LocalNow,
    ) -> Comparison {
        let days: BTreeMap<NaiveDate, Sum> =
            rollups.portfolio_daily.iter().map(|d| (d.day, d.sum)).collect();
        let yesterday = add_days(now.today, -1);
        let is_over = now.today > window.end;
        let end = if is_over {
            window.end
        } else {
            last.map_or(yesterday, |last| last.min(yesterday)).min(window.end)
        };
        let full = count_days(window.start, end);
        let (current, length) = match full {
            1.. => (Window { start: window.start, end }, full),
            _ => (Window { start: window.start, end: window.start.max(now.today) }, 1),
        };
        let asked = self.asked;
        let past_end = if is_over { asked.end } else { add_days(asked.start, length - 1) };
        let past = Window {
            start: asked.start,
            end: past_end.min(asked.end).min(now.today).max(asked.start),
        };
        let (current, past) =
            (self.figures(current, &days, now), self.figures(past, &self.days, now));
        let is_full = full >= 1 && past.window.end < now.today;
        let same = current.window.days() == past.window.days();
        let note = match (past.has_rows, is_full, is_over, same) {
            (false, ..) => {
                text!(
                    "There are no rows from {start} to {end}.",
                    start = past.window.start,
                    end = past.window.end
                )
            }
            (_, false, ..) => {
                "A day that is not over is compared with a whole day: compare later.".into()
            }
            (_, _, false, true) => text!(
                "The period is not over: its {days} full days are compared with the first {days} days of the other period.",
                days = length
            ),
            (_, _, _, true) => text!("Both periods have {days} days.", days = length),
            _ => text!(
                "The periods have {days} and {others} days: compare the figures per day.",
                days = current.window.days(),
                others = past.window.days()
            ),
        };
        let is_like_for_like = is_full && same && past.has_rows;
        let weekend_days_differ = same
            && current.window.days() < SHORT
            && count_weekend_days(current.window) != count_weekend_days(past.window);
        Comparison { current, past, is_like_for_like, weekend_days_differ, note: note.to_string() }
    }

    fn figures(&self, window: Window, days: &BTreeMap<NaiveDate, Sum>, now: &LocalNow) -> Figures {
        let mut sum = Sum::default();
        let mut has_rows = false;
        for (_, day) in days.range(window.start..=window.end) {
            sum.add(day.spend, day.impressions);
            has_rows = true;
        }
        let budgets = self.campaigns.iter().filter_map(|c| flights::budget_in(c, window));
        let whole = i128::from(window.days());
        let days = match window.contains(now.today) {
            true => {
                let (elapsed, length) = (i128::from(now.elapsed), i128::from(now.length));
                Ratio::new((whole - 1) * length + elapsed, length)
            }
            false => Ratio::new(whole, 1),
        };
        Figures { window, days, sum, budget: budgets.reduce(i64::saturating_add), has_rows }
    }
}
