//! Builds the result object: rounded figures, names for display, flags, and all assumptions. The
//! result stays small unless the question asks for more.

mod days;
mod rows;

use serde_json::{Map, Value, json};

use crate::{
    analyze::Analysis,
    args::{Args, Detail},
    csv_text,
    db::Dataset,
    money::{Ratio, money, share},
    pace::{Pace, Status, Thresholds},
    standing::at_stake,
    time::{count_days, day_to_number},
};

pub(crate) use rows::{Entries, figures, shown_rows};

/// The most bytes of a result, unless the question asks for more.
const MAX_BYTES: usize = 60_000;
/// The assumption about the budgets of line items.
pub(crate) const LINE_ITEM_BUDGETS: &str = "Line items have no budgets of their own: an equal part of the campaign's budget is the plan of each.";
/// The most days of a CSV text, unless the question asks for the text.
const CSV_DAYS: usize = 62;

/// The assumptions for values that the question did not give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assumptions(Vec<Value>);

impl Assumptions {
    pub(crate) fn add(&mut self, code: &str, value: impl Into<Value>, text: impl Into<String>) {
        self.0.push(json!({"code": code, "value": value.into(), "text": text.into()}));
    }

    pub(crate) fn list(self) -> Vec<Value> {
        self.0
    }
}

/// Returns the result object.
pub(crate) fn result(a: &Analysis, args: &Args, limits: &Thresholds) -> Value {
    let mut assumptions = a.assumptions.clone();
    let campaign = a.campaigns.first().filter(|_| a.is_campaign);
    let mut result = json!({
        "status": "success",
        "account_id": a.account.id,
        "account_name": a.account.name,
        "account_source": a.source.code(),
        "advertiser": a.advertiser,
        "advertiser_filter": args.advertiser,
        "campaign_id": campaign.map(|c| &c.id),
        "campaign_name": campaign.map(|c| &c.name),
        "currency": a.account.currency,
        "campaigns_analyzed": a.campaigns.len(),
        "date_range": {"start": a.window.start, "end": a.window.end},
        "insights": {
            "budget_status": budget_status(a),
            "timeline": timeline(a),
            "daily_pacing": daily_pacing(a),
            "daily_trend": days::trend(a, limits),
        },
        "breakdown": args.by.map(|by| days::breakdown(a, by)),
        "what_if": what_if(a),
        "comparison": a.comparison.as_ref().map(days::comparison),
        "as_of": a.now.text(),
        "time_zone": a.now.zone.name(),
        "time_zone_abbreviation": a.now.abbreviation(),
        "data_through": a.feed,
        "data_lag_days": lag(a),
        "flags": flags(a),
        "csv": csv(a, args, limits),
    });
    let bytes = result.to_string().len();
    let (rollups, lists) =
        rollups(a, args, limits, MAX_BYTES.saturating_sub(bytes), &mut assumptions);
    if let Value::Object(members) = &mut result {
        members.extend(lists);
        members.insert("rollups".to_owned(), rollups);
        members.insert("assumptions".to_owned(), Value::Array(assumptions.list()));
    }
    result
}

fn rollups(
    a: &Analysis,
    args: &Args,
    limits: &Thresholds,
    bytes: usize,
    assumptions: &mut Assumptions,
) -> (Value, Map<String, Value>) {
    let mut rollups = Map::new();
    let mut omitted = rows::Omitted::default();
    let mut lists = Map::new();
    match args.detail.unwrap_or(Detail::Campaigns) {
        Detail::Campaigns => {
            let list = rows::campaigns(a, &args.list, bytes, &mut omitted);
            rows::note_cut(&list, assumptions);
            rollups.insert("campaigns_total".to_owned(), list.rows);
            lists.insert("campaigns".to_owned(), list.numbers);
            rollups.insert("line_items_total".to_owned(), json!([]));
            lists.insert("line_items".to_owned(), Value::Null);
            omitted.add_total("line_items_total", &a.rollups.line_items_total);
        }
        Detail::Advertisers => {
            let few = crate::args::ListRequest { limit: Some(rows::FEW), ..Default::default() };
            let campaigns = rows::campaigns(a, &few, bytes / 3, &mut omitted);
            rollups.insert("campaigns_total".to_owned(), campaigns.rows);
            lists.insert("campaigns".to_owned(), campaigns.numbers);
            rollups.insert("line_items_total".to_owned(), json!([]));
            lists.insert("line_items".to_owned(), Value::Null);
            let list = rows::advertisers(a, &args.list, limits, bytes * 2 / 3);
            rows::note_cut(&list, assumptions);
            rollups.insert("advertisers_total".to_owned(), list.rows);
            lists.insert("advertisers".to_owned(), list.numbers);
        }
        Detail::LineItems => {
            let few = crate::args::ListRequest { limit: Some(rows::FEW), ..Default::default() };
            let campaigns = rows::campaigns(a, &few, bytes / 3, &mut omitted);
            rollups.insert("campaigns_total".to_owned(), campaigns.rows);
            lists.insert("campaigns".to_owned(), campaigns.numbers);
            let list = rows::line_items(a, &args.list, limits, bytes * 2 / 3, &mut omitted);
            rows::note_cut(&list, assumptions);
            rollups.insert("line_items_total".to_owned(), list.rows);
            lists.insert("line_items".to_owned(), list.numbers);
            assumptions.add("line_item_budget_split", Value::Null, LINE_ITEM_BUDGETS);
        }
    }
    days::add_daily_lists(a, args.has_daily_lists, &mut rollups, &mut omitted);
    rollups.insert("portfolio_total".to_owned(), portfolio_total(a));
    rollups.insert("omitted_rows".to_owned(), Value::Object(omitted.rows));
    rollups.insert("omitted_totals".to_owned(), Value::Object(omitted.totals));
    (Value::Object(rollups), lists)
}

fn budget_status(a: &Analysis) -> Value {
    let (pace, sum) = (&a.pace, a.rollups.portfolio_total);
    let budget = a.budget.map(i128::from);
    let percent = |num: i128, den: i128| budget.map(|_| Ratio::new(100 * num, den).round_to(2));
    json!({
        "portfolio_budget": a.budget.map(money),
        "spent_budget": money(sum.spend),
        "remaining_budget": a.budget.map(|b| money(b - sum.spend)),
        "spend_percentage": percent(i128::from(sum.spend), budget.unwrap_or(0)),
        "should_have_spent": a.budget.map(|_| pace.due.money()),
        "variance": a.budget.map(|_| pace.variance.money()),
        "variance_percentage": a.budget.map(|_| pace.variance_percent.round_to(2)),
        "budget_projection": projection_percent(a.budget, pace),
        "projected_spend": pace.projection.money(),
        "at_stake": at_stake(a.budget, pace).map(Ratio::money),
        "runs_out_on": a.runs_out_on,
        "impressions": sum.impressions,
        "cpm": sum.cpm().map(Ratio::money),
    })
}

/// Returns the projected spend in percent of the budget.
pub(crate) fn projection_percent(budget: Option<i64>, pace: &Pace) -> Option<f64> {
    percent_of(pace.projection, budget)
}

fn percent_of(amount: Ratio, budget: Option<i64>) -> Option<f64> {
    Some(Ratio::new(100 * amount.num, amount.den * i128::from(budget?)).round_to(2))
}

/// Returns a required daily rate for display. The rate is never negative, because a spent budget
/// requires nothing.
pub(crate) fn required_rate(required: Option<Ratio>) -> Option<f64> {
    required.map(|rate| rate.money().max(0.0))
}

fn timeline(a: &Analysis) -> Value {
    json!({
        "start_date": a.window.start,
        "end_date": a.window.end,
        "flight_start": a.span.start,
        "flight_end": a.span.end,
        "today": a.now.today,
        "total_days": a.pace.total_days,
        "days_passed": a.pace.elapsed.round_to(2),
        "days_left": a.pace.left.round_to(2),
    })
}

fn daily_pacing(a: &Analysis) -> Value {
    json!({
        "target_daily_rate": a.budget.map(|_| a.pace.target.money()),
        "actual_daily_rate": a.pace.actual.money(),
        "required_daily_rate": required_rate(a.budget.and(a.pace.required)),
        "pacing_status": a.pace.status.code(),
        "pacing_status_label": a.pace.status.label(),
        "budget_projection": projection_percent(a.budget, &a.pace),
    })
}

fn what_if(a: &Analysis) -> Option<Value> {
    let w = a.what_if?;
    Some(json!({
        "budget": w.budget.map(money),
        "budget_before": w.budget_before.map(money),
        "daily_rate": w.rate.map(Ratio::money),
        "daily_rate_before": w.rate_before.map(Ratio::money),
        "projected_spend": w.projection.money(),
        "projected_spend_before": w.projection_before.money(),
        "projected_percentage": percent_of(w.projection, w.budget),
        "required_daily_rate": required_rate(w.required),
        "runs_out_on": w.runs_out_on,
        "pacing_status": w.status.code(),
        "pacing_status_label": w.status.label(),
        "pacing_status_before": w.status_before.code(),
        "variance": w.variance.map(Ratio::money),
    }))
}

/// Returns the number of days between the account's newest data and today, or 0 for an account
/// without data.
fn lag(a: &Analysis) -> i64 {
    a.feed.map_or(0, |feed| day_to_number(a.now.today) - day_to_number(feed))
}

/// Returns the codes of facts that an answer has to mention.
pub(crate) fn flags(a: &Analysis) -> Vec<&'static str> {
    let is_last_today = a.rollups.portfolio_daily.first().is_some_and(|d| d.day == a.now.today);
    let is_over = a.budget.is_some_and(|b| a.rollups.portfolio_total.spend > b);
    let is_incomplete = a.standings.iter().any(|s| s.budget.is_none())
        && a.standings.iter().any(|s| s.budget.is_some());
    let all = [
        ("partial_day", is_last_today),
        ("data_lag", lag(a) > 1),
        ("overspend_risk", a.pace.overspend_risk),
        ("over_budget", is_over),
        ("final", a.pace.ended),
        ("not_started", matches!(a.pace.status, Status::NotStarted)),
        ("budget_unknown", a.budget.is_none()),
        ("budget_incomplete", is_incomplete),
        ("budget_questionable", a.is_budget_questionable),
        ("sample_data", a.dataset == Dataset::Sample),
    ];
    all.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag).collect()
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
        "calendar_days": first.zip(last).map(|(f, l)| count_days(f, l)),
    })
}

fn csv(a: &Analysis, args: &Args, limits: &Thresholds) -> Value {
    let rows = a.rollups.portfolio_daily.len();
    let text = (args.has_csv || rows <= CSV_DAYS).then(|| {
        let mut text = String::from(csv_text::DAYS_HEADER);
        for day in &a.rollups.portfolio_daily {
            text.push_str(&days::csv_line(a, day, limits));
        }
        text
    });
    let account = csv_text::file_part(&a.account.id);
    json!({
        "file_name": format!("pacing_{account}_{}_{}.csv", a.window.start, a.window.end),
        "media_type": "text/csv",
        "rows": rows,
        "text": text,
    })
}
