//! Tests of the shipped sample: its size, its campaigns, its shift with the clock, and figures that
//! equal the sums of its rows.

use std::{collections::BTreeSet, fs};

use campaign_portfolio_pacing::{Dataset, sample};
use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Value, json};

use crate::{at, import, service};

fn november(account: &str) -> Value {
    json!({"account_id": account, "campaign_start": "2026-11-01", "campaign_end": "2026-11-30"})
}

#[test]
fn the_sample_has_its_documented_size_and_unique_names() {
    let sample = sample::generate(sample::SEED);
    assert_eq!(
        (sample.accounts.len(), sample.campaigns.len(), sample.line_items.len()),
        (3, 40, 150)
    );
    let advertisers: BTreeSet<&str> = sample.campaigns.iter().map(|c| c.advertiser).collect();
    assert_eq!(advertisers.len(), 6);
    let days: BTreeSet<i64> = sample.rows.iter().map(|r| r.day).collect();
    assert_eq!((days.first(), days.last(), days.len()), (Some(&(1 - sample::DAYS)), Some(&0), 180));
    let names: BTreeSet<&str> = sample.line_items.iter().map(|l| l.id.as_str()).collect();
    assert_eq!(names.len(), 150);
    assert!(sample.rows.iter().any(|r| r.hour.is_some()), "one account has hourly rows");
    let again = sample::generate(sample::SEED);
    assert_eq!(sample.rows, again.rows, "the same seed gives the same rows");
}

#[test]
fn each_account_of_the_sample_has_its_planned_status() {
    let (_folder, pacing) = service("2026-11-21T20:00:00Z");
    for (account, status) in [("17", "SLIGHTLY_BEHIND"), ("23", "AHEAD"), ("42", "ON_TRACK")] {
        let result = pacing.analyze(&november(account)).unwrap();
        assert_eq!(
            result["insights"]["daily_pacing"]["pacing_status"], status,
            "account {account}"
        );
        assert_eq!(result["insights"]["daily_trend"][0]["date"], "2026-11-21");
        assert_eq!(result["insights"]["daily_trend"][0]["partial"], true);
    }
    let trouble = pacing
        .analyze(&json!({"account_id": "17", "advertiser_filter": "Retailer Launch", "campaign_start": "2026-11-01", "campaign_end": "2026-11-30"}))
        .unwrap();
    assert_eq!(trouble["insights"]["daily_pacing"]["pacing_status"], "AT_RISK");
    let over =
        pacing.analyze(&json!({"account_id": "42", "advertiser_filter": "Last Minute", "campaign_start": "2026-11-03", "campaign_end": "2026-12-02"})).unwrap();
    assert!(crate::has(&over["flags"], "overspend_risk"), "{over}");
    let early = pacing
        .analyze(&json!({"account_id": "17", "advertiser_filter": "Winter Preview", "campaign_start": "2026-11-30", "campaign_end": "2027-01-28"}))
        .unwrap();
    assert_eq!(early["insights"]["daily_pacing"]["pacing_status"], "NOT_STARTED");
    // The flight starts on the last day of this month.
    let month = pacing.analyze(&json!({"account_id": "17", "campaign": "Winter Preview"})).unwrap();
    assert_eq!(month["insights"]["daily_pacing"]["pacing_status"], "NOT_STARTED");
    assert_eq!(month["insights"]["timeline"]["flight_start"], "2026-11-30");
}

#[test]
fn the_newest_day_of_the_sample_is_always_today() {
    let (folder, pacing) = service("2026-11-21T20:00:00Z");
    assert_eq!(pacing.analyze(&json!({})).unwrap()["data_lag_days"], 0);
    drop(pacing);
    let later = at(folder.path(), "2027-03-02T20:00:00Z").analyze(&json!({})).unwrap();
    assert_eq!(
        (&later["data_through"], &later["data_lag_days"]),
        (&json!("2027-03-02"), &json!(0))
    );
    assert_eq!(later["date_range"], json!({"start": "2027-03-01", "end": "2027-03-31"}));
}

/// The figures are computed again from the generated rows, with floating point.
#[test]
fn the_figures_of_the_sample_equal_an_independent_calculation() {
    let now: DateTime<Utc> = "2026-11-21T20:00:00Z".parse().unwrap();
    let today = NaiveDate::from_ymd_opt(2026, 11, 21).unwrap();
    let sample = sample::generate(sample::SEED);
    let account = sample.accounts.iter().position(|a| a.id == "17").unwrap();
    // 20:00 UTC is 12:00 in Los Angeles.
    let part = 0.5;
    let (start, end) = (-20, 9);
    let mut spend = 0.0;
    for row in sample
        .rows
        .iter()
        .filter(|r| sample.campaigns[sample.line_items[r.line_item].campaign].account == account)
    {
        assert_eq!(row.hour, None);
        if row.day >= start {
            let cents = row.spend as f64 / 10_000.0;
            spend += if row.day == 0 { (cents * part).floor() } else { cents } / 100.0;
        }
    }
    let (mut budget, mut due, mut projection) = (0.0, 0.0, 0.0);
    for (index, campaign) in sample.campaigns.iter().enumerate() {
        if campaign.account != account {
            continue;
        }
        let (first, last) = campaign.flight;
        let (from, to) = (first.max(start), last.min(end));
        if to < from {
            continue;
        }
        let days = (to - from + 1) as f64;
        let own = campaign.budget as f64 / 1e6 * days / (last - first + 1) as f64;
        // Of the days from `from` on, all days before today and half of today have passed.
        let passed = (-from as f64 + part).clamp(0.0, days);
        let spent: f64 = sample
            .rows
            .iter()
            .filter(|r| sample.line_items[r.line_item].campaign == index && r.day >= start)
            .map(|r| {
                let cents = r.spend as f64 / 10_000.0;
                if r.day == 0 { (cents * part).floor() } else { cents }
            })
            .sum::<f64>()
            / 100.0;
        budget += own;
        due += own * passed / days;
        projection += if passed > 0.0 { spent / passed * days } else { own };
    }
    let (_folder, pacing) = service(&now.to_rfc3339());
    let result = pacing.analyze(&november("17")).unwrap();
    assert_eq!(result["insights"]["timeline"]["today"], today.to_string());
    let near = |value: &Value, expected: f64| {
        assert!((value.as_f64().unwrap() - expected).abs() < 0.006, "{value} is not {expected}")
    };
    let status = &result["insights"]["budget_status"];
    near(&status["spent_budget"], spend);
    near(&status["portfolio_budget"], budget);
    near(&status["should_have_spent"], due);
    near(&status["projected_spend"], projection);
    near(&status["at_stake"], projection - budget);
    near(&status["variance_percentage"], 100.0 * (spend / due - 1.0));
    near(&result["insights"]["daily_pacing"]["required_daily_rate"], (budget - spend) / 9.5);
}

/// The sample, exported as CSV and imported again, gives the same answers. If PACING_SAMPLE_OUT is
/// set, the files are kept in that folder.
#[test]
fn the_sample_gives_the_same_answers_after_export_and_import() {
    let now = "2026-11-21T20:20:00Z";
    let (folder, pacing) = service(now);
    let before: Vec<Value> =
        ["17", "23", "42"].iter().map(|a| pacing.analyze(&november(a)).unwrap()).collect();
    let csv = sample::as_csv(&sample::generate(sample::SEED), now.parse().unwrap());
    let files = [folder.path().join("campaigns.csv"), folder.path().join("delivery.csv")];
    fs::write(&files[0], &csv.campaigns).unwrap();
    fs::write(&files[1], &csv.delivery).unwrap();
    if let Some(out) = std::env::var_os("PACING_SAMPLE_OUT") {
        for file in &files {
            fs::copy(file, std::path::Path::new(&out).join(file.file_name().unwrap())).unwrap();
        }
    }
    let report = import(&pacing, &files);
    assert_eq!(
        (report.error_count, report.rows_replaced, report.sample_replaced),
        (0, 0, true),
        "{:?}",
        report.errors
    );
    for before in before {
        let after = pacing.analyze(&november(before["account_id"].as_str().unwrap())).unwrap();
        assert_eq!(after["insights"], before["insights"]);
        assert_eq!(after["rollups"], before["rollups"]);
    }
    pacing.use_dataset(Dataset::Sample).unwrap();
    assert!(
        crate::has(&pacing.analyze(&json!({})).unwrap()["flags"], "sample_data"),
        "the sample can be brought back"
    );
    pacing.use_dataset(Dataset::Imported).unwrap();
    assert!(
        !crate::has(&pacing.analyze(&november("17")).unwrap()["flags"], "sample_data"),
        "and the import too"
    );
}
