//! Compares filters of lists, lists over all accounts and sums of advertisers with plain arithmetic
//! over the raw rows.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use serde_json::{Value, json};

use super::{
    campaign, in_scope, portfolio,
    raw::{Expected, Raw, add, day, days, near, today},
};

type Span = (NaiveDate, NaiveDate);

fn ids(rows: &Value) -> BTreeSet<usize> {
    let id = |row: &Value| row["campaign_id"].as_str().unwrap()[1..].parse().unwrap();
    rows.as_array().unwrap().iter().map(id).collect()
}

/// Returns the campaigns in the list over all accounts.
fn listed(raw: &Raw, more: Value) -> Value {
    let mut args = json!({"detail": "campaigns", "limit": 500});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    raw.call("compare_accounts", &args)
}

/// Returns the window from the first to the last flight, and the campaigns that are included in it.
fn whole(raw: &Raw) -> (Span, Vec<usize>) {
    let flights = || raw.campaigns.iter().filter_map(|c| c.flight);
    let span = (flights().map(|f| f.0).min().unwrap(), flights().map(|f| f.1).max().unwrap());
    (span, (0..raw.campaigns.len()).collect())
}

fn figures(raw: &Raw, index: usize, window: Span) -> Expected {
    let plan = raw.plan(index, window);
    Expected::of(plan.budget, plan.span, raw.spent(window, |r| r.campaign == index))
}

#[test]
fn a_list_over_all_accounts_matches_the_reference_calculation() {
    for seed in 1..=6 {
        let raw = Raw::new(seed);
        let november = json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"});
        let list = listed(&raw, november)["list"].clone();
        let rows = list["rows"].as_array().unwrap();
        assert_eq!((rows.len(), &list["detail"]), (in_scope(&raw).len(), &json!("campaigns")));
        for index in in_scope(&raw) {
            let row = rows.iter().find(|r| r["campaign_id"] == format!("k{index}")).unwrap();
            campaign(&raw, index).check(row, &format!("seed {seed}, campaign {index}"));
            assert_eq!((&row["account_id"], &row["currency"]), (&json!("7"), &json!("EUR")));
        }
    }
}

#[test]
fn campaigns_of_all_accounts_are_filtered_by_their_flights() {
    for seed in 1..=8 {
        let raw = Raw::new(seed);
        let (window, all) = whole(&raw);
        let flight = |index: &usize| raw.campaigns[*index].flight;
        for (status, is_wanted) in [
            ("not_started", Box::new(|f: Span| f.0 > today()) as Box<dyn Fn(Span) -> bool>),
            ("ended", Box::new(|f: Span| f.1 < today())),
        ] {
            let what = format!("seed {seed}, {status}");
            let result = listed(&raw, json!({"status": status}));
            let expected: BTreeSet<usize> =
                all.iter().copied().filter(|at| flight(at).is_some_and(&is_wanted)).collect();
            assert_eq!(ids(&result["list"]["rows"]), expected, "{what}");
            assert_eq!(result["list"]["matching"], expected.len(), "{what}");
            assert_eq!(
                result["date_range"],
                json!({"start": window.0.to_string(), "end": window.1.to_string()})
            );
            for row in result["list"]["rows"].as_array().unwrap() {
                let index: usize = row["campaign_id"].as_str().unwrap()[1..].parse().unwrap();
                figures(&raw, index, window).check(row, &what);
            }
            // A question about one account gives the same rows.
            let alone = raw.analyze(&json!({"status": status, "limit": 500}));
            assert_eq!(ids(&alone["rollups"]["campaigns_total"]), expected, "{what}");
        }
        let until = add(today(), 10);
        let args = json!({"ends_from": today().to_string(), "ends_until": until.to_string()});
        let expected: BTreeSet<usize> = all
            .iter()
            .copied()
            .filter(|at| flight(at).is_some_and(|f| today() <= f.1 && f.1 <= until))
            .collect();
        assert_eq!(ids(&listed(&raw, args)["list"]["rows"]), expected, "seed {seed}");
    }
}

#[test]
fn lists_are_filtered_by_percentages() {
    for seed in 1..=8 {
        let raw = Raw::new(seed);
        let pace = |e: &Expected| {
            let is_judged = e.budget.is_some() && e.is_started && e.due > 0.0;
            is_judged.then(|| 100.0 * e.spend / e.due)
        };
        let dates = json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"});
        for (least, most) in [(Some(110.0), None), (None, Some(90.0)), (Some(80.0), Some(120.0))] {
            let mut args = dates.clone();
            if let Some(least) = least {
                args["pace_min"] = json!(least);
            }
            if let Some(most) = most {
                args["pace_max"] = json!(most);
            }
            let is_inside = |value: f64| {
                least.is_none_or(|least| value >= least) && most.is_none_or(|most| value <= most)
            };
            let expected: BTreeSet<usize> = in_scope(&raw)
                .into_iter()
                .filter(|at| pace(&campaign(&raw, *at)).is_some_and(is_inside))
                .collect();
            let what = format!("seed {seed}, {args}");
            assert_eq!(ids(&listed(&raw, args)["list"]["rows"]), expected, "{what}");
        }
        let (window, all) = whole(&raw);
        let used = |at: &usize| {
            let expected = figures(&raw, *at, window);
            expected.budget.filter(|b| *b > 0.0).map(|b| 100.0 * expected.spend / b)
        };
        let expected: BTreeSet<usize> =
            all.iter().copied().filter(|at| used(at).is_some_and(|used| used <= 70.0)).collect();
        let list = listed(&raw, json!({"used_max": 70}));
        assert_eq!(ids(&list["list"]["rows"]), expected, "seed {seed}");
    }
}

#[test]
fn the_figures_of_an_advertiser_are_the_sum_of_its_campaigns() {
    for seed in 1..=8 {
        let raw = Raw::new(seed);
        let dates = json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30", "detail": "advertisers"});
        let (all, _) = portfolio(&raw);
        let what = format!("seed {seed}");
        let list = raw.call("compare_accounts", &dates)["list"].clone();
        let alone = raw.analyze(&dates)["rollups"]["advertisers_total"].clone();
        for row in [&list["rows"][0], &alone[0]] {
            assert_eq!((&row["advertiser"], &list["total"]), (&json!("Adv"), &json!(1)));
            near(&row["spend"], Some(all.spend), &what);
            near(&row["budget"], all.budget, &what);
            near(&row["planned_to_date"], Some(all.due), &what);
            near(&row["projected_spend"], Some(all.projection), &what);
            assert_eq!(row["pacing_status"], all.status(), "{what}");
        }
    }
}

#[test]
fn a_single_campaign_without_given_dates_is_analysed_over_its_flight() {
    for seed in 1..=8 {
        let raw = Raw::new(seed);
        let first = raw.rows.iter().map(|r| r.day).min().unwrap();
        for (index, one) in raw.campaigns.iter().enumerate() {
            let Some(flight) = one.flight.filter(|f| first <= f.0 && f.0 <= today()) else {
                continue;
            };
            let what = format!("seed {seed}, campaign {index}");
            let spend = raw.spent(flight, |r| r.campaign == index);
            if spend <= 0.0 {
                continue;
            }
            let result = raw.analyze(&json!({"campaign": format!("k{index}")}));
            assert_eq!(
                result["date_range"],
                json!({"start": flight.0.to_string(), "end": flight.1.to_string()}),
                "{what}"
            );
            let expected = Expected::of(one.budget, flight, spend);
            let status = &result["insights"]["budget_status"];
            near(&status["spent_budget"], Some(expected.spend), &what);
            near(&status["portfolio_budget"], expected.budget, &what);
            near(&status["projected_spend"], Some(expected.projection), &what);
            let time = &result["insights"]["timeline"];
            assert_eq!(time["total_days"].as_f64(), Some(days(flight.0, flight.1)), "{what}");
        }
    }
}

#[test]
fn days_are_compared_with_the_same_number_of_days_before() {
    for seed in 1..=8 {
        let raw = Raw::new(seed);
        let args = json!({"campaign_start": "2026-11-04", "campaign_end": "2026-11-13", "compare_to": "before"});
        let c = raw.analyze(&args)["comparison"].clone();
        assert_eq!(c["date_range"], json!({"start": "2026-10-25", "end": "2026-11-03"}));
        let past = raw.spent((day("2026-10-25"), day("2026-11-03")), |_| true);
        let now = raw.spent((day("2026-11-04"), day("2026-11-13")), |_| true);
        near(&c["change"]["spend"], Some(now - past), &format!("seed {seed}"));
    }
}
