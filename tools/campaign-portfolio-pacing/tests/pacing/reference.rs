//! Compares the figures of the service with a second calculation: plain arithmetic over the same
//! raw rows, with floating point and without the service's code.

mod filters;
mod raw;

use std::collections::BTreeMap;

use chrono::{Datelike, NaiveDate, Weekday};
use serde_json::{Value, json};

use raw::{Expected, Raw, add, day, days, near, today};

const NOVEMBER: (&str, &str) = ("2026-11-01", "2026-11-30");

fn november() -> (NaiveDate, NaiveDate) {
    (day(NOVEMBER.0), day(NOVEMBER.1))
}

fn ask(raw: &Raw, more: Value) -> Value {
    let mut args = json!({"campaign_start": NOVEMBER.0, "campaign_end": NOVEMBER.1, "limit": 500});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    raw.analyze(&args)
}

/// Returns the campaigns that are included in November.
fn in_scope(raw: &Raw) -> Vec<usize> {
    let active = |index: &usize| {
        raw.plan(*index, november()).is_in_flight
            || raw.spent(november(), |r| r.campaign == *index) > 0.0
    };
    (0..raw.campaigns.len()).filter(active).collect()
}

fn campaign(raw: &Raw, index: usize) -> Expected {
    let plan = raw.plan(index, november());
    Expected::of(plan.budget, plan.span, raw.spent(november(), |r| r.campaign == index))
}

#[test]
fn campaign_and_line_item_figures_match_the_reference_calculation() {
    for seed in 1..=12 {
        let raw = Raw::new(seed);
        let result = ask(&raw, json!({"detail": "campaigns"}));
        let rows = result["rollups"]["campaigns_total"].as_array().unwrap();
        let scope = in_scope(&raw);
        assert_eq!(rows.len(), scope.len());
        let mut statuses: BTreeMap<&str, usize> = BTreeMap::new();
        for index in scope {
            let what = format!("seed {seed}, campaign {index}");
            let row = rows.iter().find(|r| r["campaign_id"] == format!("k{index}")).unwrap();
            let expected = campaign(&raw, index);
            expected.check(row, &what);
            *statuses.entry(expected.status()).or_default() += 1;
            // Asked alone, the campaign is the whole portfolio.
            if index == 1 {
                let alone = ask(&raw, json!({"campaign": format!("K{index}")}));
                assert_eq!(alone["rollups"]["campaigns_total"], json!([row]));
                let status = &alone["insights"]["budget_status"];
                near(&status["spent_budget"], Some(expected.spend), &what);
                near(&status["projected_spend"], Some(expected.projection), &what);
                near(&status["should_have_spent"], expected.budget.map(|_| expected.due), &what);
                assert_eq!(alone["insights"]["daily_pacing"]["pacing_status"], expected.status());
                assert_eq!(status["runs_out_on"], row["runs_out_on"]);
            }
        }
        let counts = &result["campaigns"]["counts"];
        for (status, count) in statuses {
            assert_eq!(counts[status.to_lowercase()], count, "seed {seed}: {counts}");
        }
        let result = ask(&raw, json!({"detail": "line_items"}));
        for row in result["rollups"]["line_items_total"].as_array().unwrap() {
            let id = row["line_item_id"].as_str().unwrap();
            let (c, item) = id[1..].split_once('-').unwrap();
            let (c, item): (usize, usize) = (c.parse().unwrap(), item.parse().unwrap());
            let plan = raw.plan(c, november());
            let spend = raw.spent(november(), |r| r.campaign == c && r.item == item);
            let stored = (0..raw.campaigns[c].items)
                .filter(|i| raw.rows.iter().any(|r| r.campaign == c && r.item == *i))
                .count();
            let part = plan.budget.map(|b| b / stored as f64);
            Expected::of(part, plan.span, spend).check(row, &format!("seed {seed}, item {id}"));
        }
    }
}

/// Returns the expected figures of all campaigns together, and the first and last day.
fn portfolio(raw: &Raw) -> (Expected, (NaiveDate, NaiveDate)) {
    let scope = in_scope(raw);
    let parts: Vec<Expected> = scope.iter().map(|c| campaign(raw, *c)).collect();
    let spans: Vec<_> = scope.iter().map(|c| raw.plan(*c, november()).span).collect();
    let span = (spans.iter().map(|s| s.0).min().unwrap(), spans.iter().map(|s| s.1).max().unwrap());
    let budgets: Vec<f64> = parts.iter().filter_map(|p| p.budget).collect();
    let budget = (!budgets.is_empty()).then(|| budgets.iter().sum());
    let spend = raw.spent(november(), |_| true);
    let mut all = Expected::of(budget, span, spend);
    all.due = parts.iter().map(|p| p.due).sum();
    all.projection = parts.iter().map(|p| p.projection).sum();
    (all, span)
}

#[test]
fn portfolio_figures_match_the_reference_calculation() {
    for seed in 1..=12 {
        let raw = Raw::new(seed);
        let result = ask(&raw, json!({}));
        let (all, _) = portfolio(&raw);
        let what = format!("seed {seed}");
        let status = &result["insights"]["budget_status"];
        near(&status["spent_budget"], Some(all.spend), &what);
        near(&status["portfolio_budget"], all.budget, &what);
        near(&status["should_have_spent"], Some(all.due), &what);
        near(&status["projected_spend"], Some(all.projection), &what);
        near(&status["at_stake"], all.budget.map(|b| all.projection - b), &what);
        let impressions: i64 = raw
            .rows
            .iter()
            .filter(|r| november().0 <= r.day && r.day <= november().1)
            .map(|r| r.impressions)
            .sum();
        assert_eq!(status["impressions"], impressions);
        near(&status["cpm"], Some(1_000.0 * all.spend / impressions as f64), &what);
        near(&result["insights"]["timeline"]["days_left"], Some(all.left), &what);
        let pacing = &result["insights"]["daily_pacing"];
        assert_eq!(pacing["pacing_status"], all.status(), "{what}");
        near(
            &pacing["required_daily_rate"],
            all.budget.map(|b| ((b - all.spend) / all.left).max(0.0)),
            &what,
        );
    }
}

/// Returns the planned spend of a day.
fn target(raw: &Raw, at: NaiveDate) -> f64 {
    let plan = |c: usize| raw.plan(c, november());
    let plans = in_scope(raw).into_iter().map(plan).filter(|p| p.span.0 <= at && at <= p.span.1);
    plans.map(|p| p.budget.unwrap_or(0.0) / days(p.span.0, p.span.1)).sum()
}

#[test]
fn daily_targets_follow_the_flights_and_add_up_over_periods() {
    for seed in 1..=12 {
        let raw = Raw::new(seed);
        let result = ask(&raw, json!({"by": "day"}));
        for row in result["insights"]["daily_trend"].as_array().unwrap() {
            let at = day(row["date"].as_str().unwrap());
            near(&row["target"], Some(target(&raw, at)), &format!("seed {seed}, {at}"));
            near(&row["spend"], Some(raw.spent((at, at), |_| true)), &format!("{at}"));
        }
        let rows = result["breakdown"]["rows"].as_array().unwrap().clone();
        assert_eq!(rows.len(), result["insights"]["daily_trend"].as_array().unwrap().len());
        assert_eq!((&rows[0]["label"], &rows[0]["partial"]), (&json!("2026-11-18"), &json!(true)));
        for (by, group) in [
            (
                "week",
                Box::new(|d: NaiveDate| {
                    format!("{}-W{:02}", d.iso_week().year(), d.iso_week().week())
                }) as Box<dyn Fn(NaiveDate) -> String>,
            ),
            ("month", Box::new(|d: NaiveDate| d.format("%Y-%m").to_string())),
            (
                "weekday",
                Box::new(|d: NaiveDate| match d.weekday() {
                    Weekday::Sat | Weekday::Sun => "weekends".to_owned(),
                    _ => "weekdays".to_owned(),
                }),
            ),
        ] {
            let result = ask(&raw, json!({"by": by}));
            let mut expected: BTreeMap<String, (f64, f64, f64)> = BTreeMap::new();
            let mut at = november().0;
            while at <= today() {
                let part = if at == today() { 0.5 } else { 1.0 };
                let sum = expected.entry(group(at)).or_default();
                sum.0 += part;
                sum.1 += raw.spent((at, at), |_| true);
                sum.2 += part * target(&raw, at);
                at = add(at, 1);
            }
            let rows = result["breakdown"]["rows"].as_array().unwrap();
            assert_eq!(rows.len(), expected.len(), "{by}");
            for row in rows {
                let (length, spend, planned) = expected[row["label"].as_str().unwrap()];
                let what = format!("seed {seed}, {}", row["label"]);
                near(&row["days"], Some(length), &what);
                near(&row["spend"], Some(spend), &what);
                near(&row["per_day"], Some(spend / length), &what);
                near(&row["target"], Some(planned), &what);
                near(&row["variance"], Some(spend - planned), &what);
            }
        }
    }
}

#[test]
fn a_what_if_change_leaves_the_actual_figures_unchanged() {
    for seed in 1..=8 {
        let raw = Raw::new(seed);
        let plain = ask(&raw, json!({}));
        assert_eq!(plain["what_if"], Value::Null);
        let (all, _) = portfolio(&raw);
        let budget = all.budget.unwrap();
        let rate = (all.projection - all.spend) / all.left;
        for (args, new_budget, new_rate) in [
            (json!({"budget_change_percent": 20}), budget * 1.2, rate),
            (json!({"budget_change_percent": -12.5}), budget * 0.875, rate),
            (json!({"budget_change_amount": 1234.5}), budget + 1234.5, rate),
            (json!({"daily_rate": 777}), budget, 777.0),
            (json!({"daily_rate_change_percent": 20}), budget, rate * 1.2),
            (
                json!({"daily_rate_change_percent": -50, "budget_change_amount": -100}),
                budget - 100.0,
                rate * 0.5,
            ),
        ] {
            let what = format!("seed {seed}, {args}");
            let result = ask(&raw, args);
            assert_eq!(result["insights"], plain["insights"], "{what}");
            let w = &result["what_if"];
            let projection = all.spend + new_rate * all.left;
            near(&w["budget"], Some(new_budget), &what);
            near(&w["budget_before"], Some(budget), &what);
            near(&w["daily_rate"], Some(new_rate), &what);
            near(&w["daily_rate_before"], Some(rate), &what);
            near(&w["projected_spend"], Some(projection), &what);
            near(&w["projected_spend_before"], Some(all.projection), &what);
            near(&w["projected_percentage"], Some(100.0 * projection / new_budget), &what);
            near(&w["variance"], Some(projection - new_budget), &what);
            let required = ((new_budget - all.spend) / all.left).max(0.0);
            near(&w["required_daily_rate"], Some(required), &what);
            let off = 100.0 * (projection / new_budget - 1.0);
            let status = match off {
                _ if off >= 5.0 => "AHEAD",
                _ if off > -5.0 => "ON_TRACK",
                _ if required >= 1.5 * new_rate => "AT_RISK",
                _ if off > -20.0 => "SLIGHTLY_BEHIND",
                _ => "BEHIND",
            };
            assert_eq!(w["pacing_status"], status, "{what}");
        }
    }
}

#[test]
fn a_comparison_of_periods_with_different_weekend_days_is_flagged() {
    let raw = Raw::new(1);
    let compare = |start: &str, end: &str, from: &str, to: &str| {
        let args = json!({"campaign_start": start, "campaign_end": end, "compare_start": from, "compare_end": to});
        raw.analyze(&args)["comparison"]["weekend_days_differ"].clone()
    };
    // Monday to Friday is compared with Wednesday to Sunday, and with Monday to Friday.
    assert_eq!(compare("2026-11-09", "2026-11-13", "2026-11-04", "2026-11-08"), true);
    assert_eq!(compare("2026-11-09", "2026-11-13", "2026-11-02", "2026-11-06"), false);
    // A day is compared with the day before. Then periods are compared in which a weekend hardly
    // matters.
    assert_eq!(compare("2026-11-11", "2026-11-11", "2026-11-10", "2026-11-10"), false);
    assert_eq!(compare("2026-11-01", "2026-11-15", "2026-10-01", "2026-10-15"), false);
}

#[test]
fn a_comparison_with_another_period_uses_the_same_number_of_days() {
    for seed in 1..=8 {
        let raw = Raw::new(seed);
        // 17 full days of November have passed.
        let result = ask(&raw, json!({"compare_start": "2026-10-01", "compare_end": "2026-10-31"}));
        let c = &result["comparison"];
        assert_eq!(c["date_range"], json!({"start": "2026-10-01", "end": "2026-10-17"}));
        assert_eq!(c["current"]["date_range"], json!({"start": "2026-11-01", "end": "2026-11-17"}));
        assert_eq!(c["like_for_like"], true);
        let past = raw.spent((day("2026-10-01"), day("2026-10-17")), |_| true);
        let now = raw.spent((day("2026-11-01"), day("2026-11-17")), |_| true);
        let what = format!("seed {seed}");
        near(&c["spend"], Some(past), &what);
        near(&c["per_day"], Some(past / 17.0), &what);
        near(&c["change"]["spend"], Some(now - past), &what);
        near(&c["change"]["spend_percentage"], Some(100.0 * (now / past - 1.0)), &what);
        near(&c["change"]["per_day"], Some((now - past) / 17.0), &what);
        // Two periods are over but have different lengths.
        let args = json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-10", "compare_start": "2026-10-01", "compare_end": "2026-10-31"});
        let c = raw.analyze(&args)["comparison"].clone();
        assert_eq!((&c["days"], &c["like_for_like"]), (&json!(31.0), &json!(false)));
        let past = raw.spent((day("2026-10-01"), day("2026-10-31")), |_| true);
        let now = raw.spent((day("2026-11-01"), day("2026-11-10")), |_| true);
        near(&c["change"]["per_day"], Some(now / 10.0 - past / 31.0), &what);
    }
}

#[test]
fn the_day_a_budget_runs_out_matches_a_day_by_day_calculation() {
    for seed in 1..=20 {
        let raw = Raw::new(seed);
        let result = ask(&raw, json!({}));
        for row in result["rollups"]["campaigns_total"].as_array().unwrap() {
            let index: usize = row["campaign_id"].as_str().unwrap()[1..].parse().unwrap();
            let plan = raw.plan(index, november());
            let expected = campaign(&raw, index);
            let what = format!("seed {seed}, campaign {index}");
            let Some(budget) = expected.budget.filter(|b| *b > 0.0) else {
                assert_eq!(row["runs_out_on"], Value::Null, "{what}");
                continue;
            };
            let mut sum = 0.0;
            let mut found = None;
            let mut at = november().0;
            let rate = if expected.passed > 0.0 { expected.spend / expected.passed } else { 0.0 };
            while at <= november().1 && found.is_none() {
                sum += raw.spent((at, at), |r| r.campaign == index);
                if at >= today() && at <= plan.span.1 && expected.is_started {
                    sum += rate * if at == today() { 0.5 } else { 1.0 };
                }
                if sum > budget + 0.01 && (at <= today() || expected.spend <= budget) {
                    found = Some(at);
                }
                at = add(at, 1);
            }
            let shown = row["runs_out_on"].as_str().map(day);
            assert_eq!(shown, found, "{what}: {row}");
        }
    }
}
