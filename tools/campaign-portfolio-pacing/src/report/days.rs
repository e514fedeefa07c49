//! The parts of a result by day: the trend, the daily lists, the breakdown, the comparison and the
//! lines of the CSV text.

use serde_json::{Map, Value, json};

use super::rows::Omitted;
use crate::{
    analyze::Analysis,
    args::Period,
    csv_text::text_cell,
    money::{Ratio, money, money_text, round_div},
    pace::{Status, Thresholds, day_status},
    periods::{self, Comparison, Figures, Group},
    rollup::Daily,
};

/// The number of newest days that have all members. Older days have only the members that a chart
/// needs.
const FULL_DAYS: usize = 35;
/// The most rows of a daily list. Older days are left out and counted.
const MAX_ROWS: usize = 120;
/// The most rows of a single day in a daily list.
const MAX_LIST: usize = 500;

fn is_partial(a: &Analysis, day: &Daily) -> bool {
    day.day == a.now.today
}

/// Returns the status of one day. None while the day is not over.
fn verdict(a: &Analysis, day: &Daily, limits: &Thresholds) -> Option<Status> {
    let target = a.targets.target_on(day.day);
    if is_partial(a, day) { None } else { day_status(day.sum.spend, target, limits) }
}

/// Returns the days of the portfolio, newest first.
pub(super) fn trend(a: &Analysis, limits: &Thresholds) -> Vec<Value> {
    let days = a.rollups.portfolio_daily.iter().enumerate();
    days.map(|(at, day)| if at < FULL_DAYS { full_day(a, day, limits) } else { short_day(a, day) })
        .collect()
}

fn full_day(a: &Analysis, day: &Daily, limits: &Thresholds) -> Value {
    let target = a.targets.target_on(day.day);
    let status = verdict(a, day, limits);
    let full = a.budget.filter(|_| !is_partial(a, day));
    let (variance, percentage) = difference_from_target(day.sum.spend, target);
    json!({
        "date": day.day,
        "spend": money(day.sum.spend),
        "impressions": day.sum.impressions,
        "target": a.budget.map(|_| target.money()),
        "variance": full.map(|_| variance),
        "variance_percentage": full.and(percentage),
        "status": status.map(Status::code),
        "status_label": status.map(Status::label),
        "ratio": day.ratio,
        "partial": is_partial(a, day),
    })
}

fn short_day(a: &Analysis, day: &Daily) -> Value {
    json!({
        "date": day.day,
        "spend": money(day.sum.spend),
        "impressions": day.sum.impressions,
        "target": a.budget.map(|_| a.targets.target_on(day.day).money()),
        "partial": is_partial(a, day),
    })
}

/// Returns the difference from a target, and the difference in percent if there is a target.
fn difference_from_target(spend: i64, target: Ratio) -> (f64, Option<f64>) {
    let variance = Ratio::new(i128::from(spend) * target.den - target.num, target.den);
    let percentage =
        (target.num > 0).then(|| Ratio::new(100 * variance.num, target.num).round_to(2));
    (variance.money(), percentage)
}

/// Returns the elapsed days by period.
pub(super) fn breakdown(a: &Analysis, by: Period) -> Value {
    let groups =
        periods::breakdown(by, a.window, a.last, &a.rollups.portfolio_daily, &a.targets, &a.now);
    let rows: Vec<Value> = groups.iter().map(|group| period(a, by, group)).collect();
    json!({"by": by.code(), "rows": rows})
}

fn period(a: &Analysis, by: Period, group: &Group) -> Value {
    let (variance, percentage) = difference_from_target(group.sum.spend, group.target);
    // A row for a single day that is not over has no status yet.
    let full = a.budget.filter(|_| !(group.is_partial && by == Period::Day));
    json!({
        "label": group.label,
        "start": group.window.start,
        "end": group.window.end,
        "days": group.days.round_to(2),
        "spend": money(group.sum.spend),
        "per_day": per_day(group.sum.spend, group.days).money(),
        "impressions": group.sum.impressions,
        "target": a.budget.map(|_| group.target.money()),
        "variance": full.map(|_| variance),
        "variance_percentage": full.and(percentage),
        "partial": group.is_partial,
    })
}

fn per_day(spend: i64, days: Ratio) -> Ratio {
    Ratio::new(i128::from(spend) * days.den, days.num)
}

/// Returns the comparison with another period. A period without rows has no figures.
pub(super) fn comparison(c: &Comparison) -> Value {
    let mut members = period_figures(&c.past);
    members.insert("change".to_owned(), change(&c.current, &c.past));
    members.insert("current".to_owned(), Value::Object(period_figures(&c.current)));
    members.insert("like_for_like".to_owned(), Value::Bool(c.is_like_for_like));
    members.insert("weekend_days_differ".to_owned(), Value::Bool(c.weekend_days_differ));
    members.insert("note".to_owned(), Value::from(c.note.clone()));
    Value::Object(members)
}

fn period_figures(f: &Figures) -> Map<String, Value> {
    let shown = f.has_rows.then_some(f.sum);
    let members = json!({
        "date_range": {"start": f.window.start, "end": f.window.end},
        "days": f.days.round_to(2),
        "spend": shown.map(|s| money(s.spend)),
        "per_day": shown.map(|s| per_day(s.spend, f.days).money()),
        "impressions": shown.map(|s| s.impressions),
        "cpm": shown.and_then(|s| s.cpm()).map(Ratio::money),
        "budget": f.budget.map(money),
    });
    if let Value::Object(members) = members { members } else { Map::new() }
}

/// Returns the differences between the window and the other period, as amounts and in percent of
/// the other period.
fn change(current: &Figures, past: &Figures) -> Value {
    let known = current.has_rows && past.has_rows;
    let whole = |amount: i64| Some(Ratio::new(i128::from(amount), 1)).filter(|_| known);
    let daily = |f: &Figures| Some(per_day(f.sum.spend, f.days).in_parts()).filter(|_| known);
    let cpm = |f: &Figures| f.sum.cpm().map(Ratio::in_parts).filter(|_| known);
    let spend = difference(whole(current.sum.spend), whole(past.sum.spend));
    let per_day = difference(daily(current), daily(past));
    let impressions = difference(whole(current.sum.impressions), whole(past.sum.impressions));
    let cpm = difference(cpm(current), cpm(past));
    json!({
        "spend": spend.0.map(Ratio::money),
        "spend_percentage": spend.1,
        "per_day": per_day.0.map(Ratio::money),
        "per_day_percentage": per_day.1,
        "impressions": impressions.0.map(|change| round_div(change.num, change.den)).and_then(|n| i64::try_from(n).ok()),
        "impressions_percentage": impressions.1,
        "cpm": cpm.0.map(Ratio::money),
        "cpm_percentage": cpm.1,
    })
}

fn difference(now: Option<Ratio>, past: Option<Ratio>) -> (Option<Ratio>, Option<f64>) {
    let Some((now, past)) = now.zip(past) else { return (None, None) };
    let change = Ratio::new(now.num * past.den - past.num * now.den, now.den * past.den);
    let percent = (past.num != 0)
        .then(|| Ratio::new(100 * change.num * past.den, change.den * past.num).round_to(2));
    (Some(change), percent)
}

/// A function that returns the names for a row of a daily list.
type Names<'a> = &'a dyn Fn(&Daily) -> Value;

/// Adds the daily lists. The lists are empty unless they are requested. Omitted rows are counted.
pub(super) fn add_daily_lists(
    a: &Analysis,
    is_wanted: bool,
    rollups: &mut Map<String, Value>,
    omitted: &mut Omitted,
) {
    let line_item = |d: &Daily| {
        let item = &a.delivery.line_items[d.of];
        let campaign = &a.campaigns[item.campaign];
        json!({"campaign_id": campaign.id, "campaign_name": campaign.name, "line_item_id": item.id, "line_item_name": item.name})
    };
    let campaign = |d: &Daily| json!({"campaign_id": a.campaigns[d.of].id, "campaign_name": a.campaigns[d.of].name});
    let portfolio = |d: &Daily| json!({"campaigns": d.campaigns});
    let lists: [(&str, &[Daily], Names<'_>); 3] = [
        ("line_items_daily", &a.rollups.line_items_daily, &line_item),
        ("campaigns_daily", &a.rollups.campaigns_daily, &campaign),
        ("portfolio_daily", &a.rollups.portfolio_daily, &portfolio),
    ];
    for (name, rows, names) in lists {
        let shown = match (is_wanted, name) {
            (false, _) => Vec::new(),
            (true, "portfolio_daily") => rows.iter().map(|d| daily(a, d, names(d))).collect(),
            (true, _) => limit_rows(a, rows, names),
        };
        if shown.len() < rows.len() {
            omitted.rows.insert(name.to_owned(), Value::from(rows.len() - shown.len()));
        }
        rollups.insert(name.to_owned(), Value::Array(shown));
    }
}

/// Returns the rows of the newest days, as many whole days as fit.
fn limit_rows(a: &Analysis, rows: &[Daily], names: Names<'_>) -> Vec<Value> {
    let mut days: Vec<_> = rows.iter().map(|r| r.day).collect();
    days.sort_unstable_by(|x, y| y.cmp(x));
    // The first day that does not fit is left out completely, unless it is the newest day.
    let cut = days.get(MAX_ROWS).copied().filter(|cut| days.first() != Some(cut));
    let mut kept: Vec<(usize, &Daily)> =
        rows.iter().enumerate().filter(|(_, r)| cut.is_none_or(|cut| r.day > cut)).collect();
    if kept.len() > MAX_LIST {
        // If one day is longer than the list, its largest rows are kept.
        kept.sort_by_key(|(at, r)| (std::cmp::Reverse((r.day, r.sum.spend)), *at));
        kept.truncate(MAX_LIST);
        kept.sort_by_key(|(at, _)| *at);
    }
    kept.into_iter().map(|(_, d)| daily(a, d, names(d))).collect()
}

fn daily(a: &Analysis, day: &Daily, names: Value) -> Value {
    let mut row = json!({
        "date": day.day,
        "spend": money(day.sum.spend),
        "impressions": day.sum.impressions,
        "ratio": day.ratio,
        "partial": is_partial(a, day),
    });
    if let (Value::Object(row), Value::Object(names)) = (&mut row, names) {
        row.extend(names);
    }
    row
}

/// Returns the line of a day in the CSV text.
pub(super) fn csv_line(a: &Analysis, day: &Daily, limits: &Thresholds) -> String {
    let (account, advertiser) =
        (text_cell(&a.account.name), text_cell(a.advertiser.as_deref().unwrap_or("All")));
    let target = a.budget.map(|_| a.targets.target_on(day.day));
    let due = target.and_then(|t| i64::try_from(round_div(t.num, t.den)).ok());
    let variance = due
        .filter(|_| !is_partial(a, day))
        .map(|due| money_text(day.sum.spend - due))
        .unwrap_or_default();
    let status = verdict(a, day, limits).map(Status::label).unwrap_or_default();
    let (spend, due) = (money_text(day.sum.spend), due.map(money_text).unwrap_or_default());
    let impressions = day.sum.impressions;
    format!(
        "{},{account},{advertiser},{spend},{impressions},{due},{variance},{status}\r\n",
        day.day
    )
}
