//! A worked example that defines every figure, to the cent.

use serde_json::{Value, json};

use crate::{row, with_rows};

const CAMPAIGNS: &str = "\
7,Advertiser A,A,Campaign A,20000,2026-11-01,2026-11-30,Europe/Stockholm,EUR
7,Advertiser A,B,Campaign B,10000,2026-11-01,2026-11-30,Europe/Stockholm,EUR
";

/// Returns the delivery from 1 to 10 November: three line items, with the tenth day until 18:00.
fn delivery() -> String {
    let day = |day: u32, spends: [&str; 3]| {
        let date = format!("2026-11-{day:02}");
        [
            row("A", "1", &date, spends[0]),
            row("A", "2", &date, spends[1]),
            row("B", "3", &date, spends[2]),
        ]
        .concat()
    };
    let full: String = (1..=9).map(|d| day(d, ["500", "250", "200"])).collect();
    full + &day(10, ["360", "180", "123.75"])
}

fn november() -> Value {
    november_with(json!({}))
}

/// Returns the arguments for November with further arguments.
fn november_with(more: Value) -> Value {
    let (_folder, pacing) = with_rows("2026-11-10T17:00:00Z", CAMPAIGNS, &delivery());
    let mut args =
        json!({"account_id": "7", "campaign_start": "2026-11-01", "campaign_end": "2026-11-30"});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    pacing.analyze(&args).unwrap()
}

#[test]
fn every_figure_of_the_worked_example_is_exact_to_the_cent() {
    let result = november();
    assert_eq!(
        result["insights"]["budget_status"],
        json!({
            "portfolio_budget": 30_000.0,
            "spent_budget": 9_213.75,
            "remaining_budget": 20_786.25,
            "spend_percentage": 30.71,
            "should_have_spent": 9_750.0,
            "variance": -536.25,
            "variance_percentage": -5.5,
            "budget_projection": 94.5,
            "projected_spend": 28_350.0,
            "at_stake": -1_650.0,
            "runs_out_on": null,
            "impressions": 30_000,
            "cpm": 307.13,
        })
    );
    assert_eq!(
        result["insights"]["timeline"],
        json!({
            "start_date": "2026-11-01",
            "end_date": "2026-11-30",
            "flight_start": "2026-11-01",
            "flight_end": "2026-11-30",
            "today": "2026-11-10",
            "total_days": 30,
            "days_passed": 9.75,
            "days_left": 20.25,
        })
    );
    assert_eq!(
        result["insights"]["daily_pacing"],
        json!({
            "target_daily_rate": 1_000.0,
            "actual_daily_rate": 945.0,
            "required_daily_rate": 1_026.48,
            "pacing_status": "SLIGHTLY_BEHIND",
            "pacing_status_label": "Slightly behind",
            "budget_projection": 94.5,
        })
    );
    assert_eq!(result["campaigns_analyzed"], 2);
    assert_eq!(result["as_of"], "2026-11-10T18:00:00+01:00");
    assert_eq!(result["time_zone_abbreviation"], "CET");
    assert_eq!(result["data_lag_days"], 0);
    assert_eq!(result["flags"], json!(["partial_day"]));
    assert_eq!(result["currency"], "EUR");
}

#[test]
fn the_roll_ups_have_the_expected_sums() {
    let rollups = november_with(json!({"detail": "line_items", "daily": true}))["rollups"].clone();
    let rows = |name: &str| rollups[name].as_array().unwrap().clone();
    let daily = rows("portfolio_daily");
    assert_eq!(daily.len(), 10);
    assert_eq!(
        (&daily[0]["spend"], &daily[0]["ratio"], &daily[0]["partial"]),
        (&json!(663.75), &json!(0.7), &json!(true))
    );
    assert_eq!(
        (&daily[1]["spend"], &daily[1]["ratio"], &daily[1]["campaigns"]),
        (&json!(950.0), &json!(1.0), &json!(2))
    );
    assert_eq!((&daily[9]["date"], &daily[9]["ratio"]), (&json!("2026-11-01"), &Value::Null));

    let items: Vec<Value> = rows("line_items_total")
        .iter()
        .map(|r| json!([r["line_item_id"], r["spend"], r["share"]]))
        .collect();
    assert_eq!(
        items,
        [
            json!(["1", 4_860.0, 0.243]),
            json!(["3", 1_923.75, 0.1924]),
            json!(["2", 2_430.0, 0.1215])
        ]
    );
    let campaigns: Vec<Value> = rows("campaigns_total")
        .iter()
        .map(|r| json!([r["campaign_id"], r["budget"], r["spend"], r["share"]]))
        .collect();
    assert_eq!(
        campaigns,
        [json!(["A", 20_000.0, 7_290.0, 0.3645]), json!(["B", 10_000.0, 1_923.75, 0.1924])]
    );
    let total = &rollups["portfolio_total"];
    assert_eq!(
        (&total["total_spend"], &total["share"], &total["avg_daily_spend"]),
        (&json!(9_213.75), &json!(0.3071), &json!(945.0))
    );
    assert_eq!((rows("line_items_daily").len(), rows("campaigns_daily").len()), (30, 20));
    assert_eq!(rollups["omitted_rows"], json!({}));
}

#[test]
fn days_are_listed_newest_first_with_their_status() {
    let trend = november()["insights"]["daily_trend"].clone();
    assert_eq!(
        trend[0],
        json!({
            "date": "2026-11-10", "spend": 663.75, "impressions": 3000, "target": 1_000.0, "variance": null,
            "variance_percentage": null, "status": null, "status_label": null, "ratio": 0.7, "partial": true,
        })
    );
    assert_eq!(
        trend[1],
        json!({
            "date": "2026-11-09", "spend": 950.0, "impressions": 3000, "target": 1_000.0, "variance": -50.0,
            "variance_percentage": -5.0, "status": "SLIGHTLY_BEHIND", "status_label": "Slightly behind", "ratio": 1.0, "partial": false,
        })
    );
}

#[test]
fn the_csv_contains_the_same_days() {
    let csv = november()["csv"].clone();
    assert_eq!(csv["file_name"], "pacing_7_2026-11-01_2026-11-30.csv");
    let text = csv["text"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 11);
    assert_eq!(
        lines[0],
        "Date,Account,Advertiser,Spend,Impressions,Budget Target,Daily Variance,Status"
    );
    assert_eq!(lines[1], "2026-11-10,Test Account,All,663.75,3000,1000.00,,");
    assert_eq!(lines[2], "2026-11-09,Test Account,All,950.00,3000,1000.00,-50.00,Slightly behind");
}

#[test]
fn a_given_budget_replaces_the_campaigns_own_budgets() {
    let (_folder, pacing) = with_rows("2026-11-10T17:00:00Z", CAMPAIGNS, &delivery());
    let args = json!({"account_id": "7", "campaign_start": "2026-11-01", "campaign_end": "2026-11-30", "campaign_budget": 28_000});
    let result = pacing.analyze(&args).unwrap();
    assert_eq!(result["insights"]["budget_status"]["portfolio_budget"], 28_000.0);
    assert_eq!(result["insights"]["daily_pacing"]["pacing_status"], "ON_TRACK");
    assert!(!crate::has(&result["assumptions"], "budget_from_campaigns"));
}

#[test]
fn a_campaigns_budget_is_prorated_to_its_flight_days_in_the_period() {
    let campaigns = "7,Advertiser A,A,Campaign A,9000,2026-10-02,2026-11-30,,\n7,Advertiser A,B,Campaign B,1000,,,,\n7,Advertiser A,C,Campaign C,,2026-11-01,2026-11-30,,\n";
    let (_folder, pacing) = with_rows("2026-11-10T17:00:00Z", campaigns, &delivery());
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"}))
        .unwrap();
    // Half of A's 60 days are in November, B has no flight and is included in full, and C has no
    // budget.
    assert_eq!(result["insights"]["budget_status"]["portfolio_budget"], 5_500.0);
    for code in [
        "budget_prorated",
        "budget_incomplete",
        "flight_unknown",
        "zone_default",
        "account_default",
    ] {
        assert!(crate::has(&result["assumptions"], code), "{code}");
    }
    assert!(
        crate::has(&result["flags"], "budget_incomplete")
            && crate::has(&result["flags"], "over_budget")
    );
    assert_eq!(result["campaigns_analyzed"], 3);
}
