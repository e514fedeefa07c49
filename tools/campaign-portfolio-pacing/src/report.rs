//! Builds the result object: rounded figures, names for display, flags, and all assumptions.

use contract::text;
use serde_json::{Map, Value, json};

use crate::{
    analyze::Analysis,
    csv_text::{file_part, text_cell},
    db::Dataset,
    money::{Ratio, money, money_text, share},
    names::without_common_prefix,
    pace::{Status, Thresholds, day_status},
    rollup::{Daily, Sum},
    time::{inclusive, number},
};

/// The most rows of a daily roll-up in a result. Older days are left out and counted.
const MAX_ROWS: usize = 120;
/// The most rows of a list of line items or campaigns.
const MAX_LIST: usize = 500;

/// The assumptions for values that the question did not give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assumptions(Vec<Value>);

impl Assumptions {
    pub(crate) fn add(&mut self, code: &str, value: impl Into<Value>, text: impl Into<String>) {
        self.0.push(json!({"code": code, "value": value.into(), "text": text.into()}));
    }
}

/// Returns the result object.
pub(crate) fn result(a: &Analysis, limits: &Thresholds) -> Value {
    let mut assumptions = a.assumptions.clone();
    let rollups = rollups(a, &mut assumptions);
    let trend: Vec<Value> =
        a.rollups.portfolio_daily.iter().map(|day| trend_day(a, day, limits)).collect();
    json!({
        "status": "success",
        "account_id": a.account.id,
        "account_name": a.account.name,
        "account_source": a.source.code(),
        "advertiser": a.advertiser,
        "advertiser_filter": a.filter,
        "currency": a.account.currency,
        "campaigns_analyzed": a.campaigns.len(),
        "date_range": {"start": a.window.start, "end": a.window.end},
        "insights": {
            "budget_status": budget_status(a),
            "timeline": timeline(a),
            "daily_pacing": daily_pacing(a),
            "daily_trend": trend,
        },
        "rollups": rollups,
        "as_of": a.now.text(),
        "time_zone": a.now.zone.name(),
        "time_zone_abbreviation": a.now.abbreviation(),
        "data_through": a.feed,
        "data_lag_days": lag(a),
        "flags": flags(a),
        "assumptions": assumptions.0,
        "csv": csv(a, limits),
    })
}

fn budget_status(a: &Analysis) -> Value {
    let (pace, spend) = (&a.pace, a.rollups.portfolio_total.spend);
    let budget = a.budget.map(i128::from);
    let percent = |num: i128, den: i128| budget.map(|_| Ratio::new(100 * num, den).round_to(2));
    json!({
        "portfolio_budget": a.budget.map(money),
        "spent_budget": money(spend),
        "remaining_budget": a.budget.map(|b| money(b - spend)),
        "spend_percentage": percent(i128::from(spend), budget.unwrap_or(0)),
        "should_have_spent": a.budget.map(|_| pace.due.money()),
        "variance": a.budget.map(|_| pace.variance.money()),
        "variance_percentage": a.budget.map(|_| pace.variance_percent.round_to(2)),
        "budget_projection": projection_percent(a),
        "projected_spend": pace.projection.money(),
    })
}

/// Returns the projected spend in percent of the budget.
fn projection_percent(a: &Analysis) -> Option<f64> {
    let budget = i128::from(a.budget?);
    Some(Ratio::new(100 * a.pace.projection.num, a.pace.projection.den * budget).round_to(2))
}

fn timeline(a: &Analysis) -> Value {
    json!({
        "start_date": a.window.start,
        "end_date": a.window.end,
        "today": a.now.today,
        "total_days": a.pace.total_days,
        "days_passed": a.pace.elapsed.round_to(2),
        "days_left": a.pace.left.map(|d| d.round_to(2)),
    })
}

fn daily_pacing(a: &Analysis) -> Value {
    json!({
        "target_daily_rate": a.budget.map(|_| a.pace.target.money()),
        "actual_daily_rate": a.pace.actual.money(),
        "required_daily_rate": a.budget.and(a.pace.required).map(Ratio::money),
        "pacing_status": a.pace.status.code(),
        "pacing_status_label": a.pace.status.label(),
        "budget_projection": projection_percent(a),
    })
}

fn is_partial(a: &Analysis, day: &Daily) -> bool {
    day.day == a.now.today
}

/// Returns the status of one day. None while the day is not over.
fn verdict(a: &Analysis, day: &Daily, limits: &Thresholds) -> Option<Status> {
    if is_partial(a, day) { None } else { day_status(day.sum.spend, a.pace.target, limits) }
}

fn trend_day(a: &Analysis, day: &Daily, limits: &Thresholds) -> Value {
    let target = a.pace.target;
    let variance = Ratio::new(i128::from(day.sum.spend) * target.den - target.num, target.den);
    let status = verdict(a, day, limits);
    let full = a.budget.filter(|_| !is_partial(a, day));
    json!({
        "date": day.day,
        "spend": money(day.sum.spend),
        "impressions": day.sum.impressions,
        "target": a.budget.map(|_| target.money()),
        "variance": full.map(|_| variance.money()),
        "variance_percentage": full.filter(|_| target.num > 0).map(|_| Ratio::new(100 * variance.num, target.num).round_to(2)),
        "status": status.map(Status::code),
        "status_label": status.map(Status::label),
        "ratio": day.ratio,
        "partial": is_partial(a, day),
    })
}

/// Returns the days between today and the account's newest data. Zero for an account without data.
fn lag(a: &Analysis) -> i64 {
    a.feed.map_or(0, |feed| number(a.now.today) - number(feed))
}

fn flags(a: &Analysis) -> Vec<&'static str> {
    let last_is_today = a.rollups.portfolio_daily.first().is_some_and(|d| is_partial(a, d));
    let over = a.budget.is_some_and(|b| a.rollups.portfolio_total.spend > b);
    let unknown = a.budgets.iter().any(Option::is_none) && a.budgets.iter().any(Option::is_some);
    let all = [
        ("partial_day", last_is_today),
        ("data_lag", lag(a) > 1),
        ("overspend_risk", a.pace.overspend_risk),
        ("over_budget", over),
        ("rolling_window", a.window.rolling),
        ("final", a.pace.ended),
        ("not_started", matches!(a.pace.status, Status::NotStarted)),
        ("budget_unknown", a.budget.is_none()),
        ("budget_incomplete", unknown),
        ("sample_data", a.dataset == Dataset::Sample),
    ];
    all.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag).collect()
}

fn rollups(a: &Analysis, assumptions: &mut Assumptions) -> Value {
    let campaign_names =
        without_common_prefix(&a.campaigns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>());
    let item_names = without_common_prefix(
        &a.delivery.line_items.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(),
    );
    let (mut omitted, mut totals) = (Map::new(), Map::new());
    let line_items_daily = limit_rows(
        a,
        &a.rollups.line_items_daily,
        "line_items_daily",
        &mut omitted,
        |d| {
            let item = &a.delivery.line_items[d.of];
            let campaign = &a.campaigns[item.campaign];
            json!({"campaign_id": campaign.id, "campaign_name": campaign.name, "line_item_id": item.id, "line_item_name": item.name})
        },
    );
    let campaigns_daily = limit_rows(
        a,
        &a.rollups.campaigns_daily,
        "campaigns_daily",
        &mut omitted,
        |d| json!({"campaign_id": a.campaigns[d.of].id, "campaign_name": a.campaigns[d.of].name}),
    );
    let line_items_total =
        largest(line_items_total(a, &item_names), "line_items_total", &mut omitted, &mut totals);
    let campaigns_total =
        largest(campaigns_total(a, &campaign_names), "campaigns_total", &mut omitted, &mut totals);
    if !totals.is_empty() {
        let text = text!(
            "The lists are cut after the {most} largest line items and campaigns. The totals count all of them.",
            most = MAX_LIST
        );
        assumptions.add("lists_cut", MAX_LIST, text);
    }
    let portfolio_daily: Vec<Value> = a
        .rollups
        .portfolio_daily
        .iter()
        .map(|d| daily(a, d, json!({"campaigns": d.campaigns})))
        .collect();
    json!({
        "line_items_daily": line_items_daily,
        "line_items_total": line_items_total,
        "campaigns_daily": campaigns_daily,
        "campaigns_total": campaigns_total,
        "portfolio_daily": portfolio_daily,
        "portfolio_total": portfolio_total(a),
        "omitted_rows": omitted,
        "omitted_totals": totals,
    })
}

/// Returns the rows of the newest days, as many whole days as fit. Omitted rows are counted.
fn limit_rows(
    a: &Analysis,
    rows: &[Daily],
    name: &str,
    omitted: &mut Map<String, Value>,
    names: impl Fn(&Daily) -> Value,
) -> Vec<Value> {
    let mut days: Vec<_> = rows.iter().map(|r| r.day).collect();
    days.sort_unstable_by(|x, y| y.cmp(x));
    // The day of the first row that does not fit is left out completely, unless it is the newest
    // one.
    let cut = days.get(MAX_ROWS).copied().filter(|cut| days.first() != Some(cut));
    let mut kept: Vec<(usize, &Daily)> =
        rows.iter().enumerate().filter(|(_, r)| cut.is_none_or(|cut| r.day > cut)).collect();
    if kept.len() > MAX_LIST {
        // If one day is longer than the list, its largest rows are kept.
        kept.sort_by_key(|(at, r)| (std::cmp::Reverse((r.day, r.sum.spend)), *at));
        kept.truncate(MAX_LIST);
        kept.sort_by_key(|(at, _)| *at);
    }
    let shown: Vec<Value> = kept.into_iter().map(|(_, d)| daily(a, d, names(d))).collect();
    if shown.len() < rows.len() {
        omitted.insert(name.to_owned(), Value::from(rows.len() - shown.len()));
    }
    shown
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

/// A line item or campaign with its share of the budget.
struct Total {
    share: f64,
    sum: Sum,
    row: Value,
}

fn line_items_total(a: &Analysis, names: &[String]) -> Vec<Total> {
    let items = a
        .delivery
        .line_items
        .iter()
        .enumerate()
        .filter(|(i, _)| a.rollups.line_items_total[*i].spend > 0);
    items
        .map(|(index, item)| {
            let (campaign, sum) = (&a.campaigns[item.campaign], a.rollups.line_items_total[index]);
            let share = share(sum.spend, a.budgets[item.campaign].unwrap_or(0));
            let row = json!({
                "campaign_id": campaign.id,
                "campaign_name": campaign.name,
                "line_item_id": item.id,
                "line_item_name": item.name,
                "display_name": names[index],
                "spend": money(sum.spend),
                "impressions": sum.impressions,
                "share": share,
            });
            Total { share, sum, row }
        })
        .collect()
}

fn campaigns_total(a: &Analysis, names: &[String]) -> Vec<Total> {
    a.campaigns
        .iter()
        .enumerate()
        .map(|(index, campaign)| {
            let (sum, budget) = (a.rollups.campaigns_total[index], a.budgets[index]);
            let share = share(sum.spend, budget.unwrap_or(0));
            let row = json!({
                "campaign_id": campaign.id,
                "campaign_name": campaign.name,
                "display_name": names[index],
                "advertiser": campaign.advertiser,
                "budget": budget.map(money),
                "flight_start": campaign.flight.map(|f| f.0),
                "flight_end": campaign.flight.map(|f| f.1),
                "spend": money(sum.spend),
                "impressions": sum.impressions,
                "share": share,
            });
            Total { share, sum, row }
        })
        .collect()
}

/// Sorts by share, largest first; equal ones keep the order of their names. In a long list, the
/// largest spend is shown and the rest is summed.
fn largest(
    mut rows: Vec<Total>,
    name: &str,
    omitted: &mut Map<String, Value>,
    totals: &mut Map<String, Value>,
) -> Vec<Value> {
    rows.sort_by(|x, y| y.share.total_cmp(&x.share));
    if rows.len() > MAX_LIST {
        // Shares are rounded, and zero without a budget.
        rows.sort_by_key(|row| std::cmp::Reverse(row.sum.spend));
        let rest = rows.split_off(MAX_LIST);
        let (spend, impressions) = rest.iter().fold((0_i64, 0_i64), |(s, i), row| {
            (s.saturating_add(row.sum.spend), i.saturating_add(row.sum.impressions))
        });
        omitted.insert(name.to_owned(), Value::from(rest.len()));
        totals.insert(
            name.to_owned(),
            json!({"rows": rest.len(), "spend": money(spend), "impressions": impressions}),
        );
        rows.sort_by(|x, y| y.share.total_cmp(&x.share));
    }
    rows.into_iter().map(|row| row.row).collect()
}

fn portfolio_total(a: &Analysis) -> Value {
    let (sum, elapsed) = (a.rollups.portfolio_total, a.pace.elapsed);
    let days = &a.rollups.portfolio_daily;
    let (first, last) = (days.last().map(|d| d.day), days.first().map(|d| d.day));
    json!({
        "total_budget": a.budget.map(money),
        "total_spend": money(sum.spend),
        "share": share(sum.spend, a.budget.unwrap_or(0)),
        "avg_daily_spend": a.pace.actual.money(),
        "impressions": sum.impressions,
        "avg_daily_impressions": Ratio::new(i128::from(sum.impressions) * elapsed.den, elapsed.num).round_to(2),
        "first_date": first,
        "last_date": last,
        "calendar_days": first.zip(last).map(|(f, l)| inclusive(f, l)),
    })
}

fn csv(a: &Analysis, limits: &Thresholds) -> Value {
    let target = a.budget.map(|_| a.pace.target);
    let mut text = String::from(
        "Date,Account,Advertiser,Spend,Impressions,Budget Target,Daily Variance,Status\r\n",
    );
    let (account, advertiser) =
        (text_cell(&a.account.name), text_cell(a.advertiser.as_deref().unwrap_or("All")));
    for day in &a.rollups.portfolio_daily {
        let due = target.and_then(|t| i64::try_from(crate::money::round_div(t.num, t.den)).ok());
        let variance = due
            .filter(|_| !is_partial(a, day))
            .map(|due| money_text(day.sum.spend - due))
            .unwrap_or_default();
        let status = verdict(a, day, limits).map(Status::label).unwrap_or_default();
        let (spend, due) = (money_text(day.sum.spend), due.map(money_text).unwrap_or_default());
        text.push_str(&format!(
            "{},{account},{advertiser},{spend},{},{due},{variance},{status}\r\n",
            day.day, day.sum.impressions
        ));
    }
    json!({
        "file_name": format!("pacing_{}_{}_{}.csv", file_part(&a.account.id), a.window.start, a.window.end),
        "media_type": "text/csv",
        "rows": a.rollups.portfolio_daily.len(),
        "text": text,
    })
}
