//! Tests of windows of days: default, derived, past and future windows, and the effects of time
//! zones and clock changes.

use serde_json::{Value, json};

use crate::{has, row, with_rows};

const FLIGHT: &str =
    "7,Advertiser A,A,Campaign A,36500,2026-01-01,2026-12-31,America/Los_Angeles,USD\n";

fn days(from: u32, to: u32, month: &str, spend: &str) -> String {
    (from..=to).map(|d| row("A", "1", &format!("{month}-{d:02}"), spend)).collect()
}

fn hour(date: &str, hour: u32, spend: &str) -> String {
    format!("7,Test Account,Advertiser A,A,Campaign A,1,Item 1,{date},{hour},{spend},100\n")
}

#[test]
fn a_question_without_dates_is_about_the_accounts_current_month() {
    let (folder, pacing) = with_rows("2026-11-30T20:00:00Z", FLIGHT, &days(1, 30, "2026-11", "60"));
    let result = pacing.analyze(&json!({"account_id": "7"})).unwrap();
    assert_eq!(result["date_range"], json!({"start": "2026-11-01", "end": "2026-11-30"}));
    // At 12:00 in Los Angeles, 29.5 days have passed.
    assert_eq!(result["insights"]["timeline"]["days_passed"], 29.5);
    assert_eq!(result["insights"]["timeline"]["days_left"], 0.5);
    // 1800 of the planned 2950 are spent, so 1200 are left for half a day.
    assert_eq!(result["insights"]["daily_pacing"]["required_daily_rate"], 2_400.0);
    assert_eq!(result["insights"]["daily_pacing"]["pacing_status"], "AT_RISK");
    assert!(has(&result["assumptions"], "window_month"));
    // At 05:00 UTC on 1 December it is still November in Los Angeles.
    let late = crate::at(folder.path(), "2026-12-01T05:00:00Z").analyze(&json!({})).unwrap();
    assert_eq!(late["date_range"]["end"], "2026-11-30");
}

#[test]
fn a_current_month_without_data_is_replaced_by_the_newest_month_with_data() {
    let (_folder, pacing) =
        with_rows("2026-12-01T10:00:00Z", FLIGHT, &days(1, 30, "2026-11", "100"));
    let result = pacing.analyze(&json!({})).unwrap();
    assert_eq!(result["date_range"], json!({"start": "2026-11-01", "end": "2026-11-30"}));
    assert!(has(&result["assumptions"], "window_month") && has(&result["flags"], "final"));
}

#[test]
fn a_current_month_without_a_flight_is_replaced_by_the_newest_flights() {
    let campaigns = "7,Advertiser A,A,Campaign A,3000,2026-08-10,2026-09-08,UTC,EUR\n7,Advertiser A,B,Campaign B,500,2026-09-05,2026-09-14,,\n7,Advertiser A,C,Campaign C,500,2026-01-01,2026-01-10,,\n7,Advertiser A,D,Campaign D,500,2027-01-01,2027-01-10,,\n";
    let rows = days(20, 29, "2026-08", "100") + &row("B", "2", "2026-09-06", "50");
    let (_folder, pacing) = with_rows("2026-11-10T12:00:00Z", campaigns, &rows);
    let result = pacing.analyze(&json!({})).unwrap();
    assert_eq!(result["date_range"], json!({"start": "2026-08-10", "end": "2026-09-14"}));
    assert!(has(&result["assumptions"], "window_flights"));
    // A campaign that has not started yet is not an error.
    let to_come = pacing.analyze(&json!({"campaign": "Campaign D"})).unwrap();
    assert_eq!(to_come["date_range"], json!({"start": "2027-01-01", "end": "2027-01-10"}));
    assert_eq!(to_come["insights"]["daily_pacing"]["pacing_status"], "NOT_STARTED");
    assert_eq!(to_come["insights"]["budget_status"]["projected_spend"], 500.0, "as planned");
}

#[test]
fn a_single_given_date_is_kept_and_the_other_date_is_derived() {
    let (_folder, pacing) =
        with_rows("2026-11-30T20:00:00Z", FLIGHT, &days(1, 30, "2026-11", "100"));
    let start = pacing.analyze(&json!({"campaign_start": "2026-11-10"})).unwrap();
    assert_eq!(start["date_range"], json!({"start": "2026-11-10", "end": "2026-12-09"}));
    assert!(has(&start["assumptions"], "end_derived"));
    let end = pacing.analyze(&json!({"campaign_end": "2026-11-15"})).unwrap();
    assert_eq!(end["date_range"], json!({"start": "2026-10-17", "end": "2026-11-15"}));
    assert!(has(&end["assumptions"], "start_derived"));
}

#[test]
fn a_past_period_is_marked_as_final() {
    let (_folder, pacing) = with_rows(
        "2026-12-05T20:00:00Z",
        FLIGHT,
        &(days(1, 30, "2026-11", "102") + &days(1, 5, "2026-12", "100")),
    );
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"}))
        .unwrap();
    assert_eq!(result["insights"]["timeline"]["days_passed"], 30.0);
    assert_eq!(result["insights"]["timeline"]["days_left"], 0.0);
    assert_eq!(result["insights"]["daily_pacing"]["required_daily_rate"], Value::Null);
    assert_eq!(result["insights"]["daily_pacing"]["pacing_status"], "ON_TRACK");
    assert!(has(&result["flags"], "final") && !has(&result["flags"], "partial_day"));
    assert_eq!(result["data_lag_days"], 0);
}

#[test]
fn a_past_period_with_unspent_budget_that_was_behind_is_at_risk() {
    let (_folder, pacing) =
        with_rows("2026-12-05T20:00:00Z", FLIGHT, &days(1, 30, "2026-11", "90"));
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"}))
        .unwrap();
    assert_eq!(result["insights"]["daily_pacing"]["pacing_status"], "AT_RISK");
}

#[test]
fn a_window_in_the_future_has_not_started() {
    let (_folder, pacing) =
        with_rows("2026-11-10T20:00:00Z", FLIGHT, &days(1, 10, "2026-11", "100"));
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-12-01", "campaign_end": "2026-12-31"}))
        .unwrap();
    assert_eq!(result["insights"]["daily_pacing"]["pacing_status"], "NOT_STARTED");
    assert_eq!(result["insights"]["budget_status"]["spent_budget"], 0.0);
    assert_eq!(result["insights"]["budget_status"]["portfolio_budget"], 3_100.0);
    assert_eq!(result["insights"]["timeline"]["days_left"], 31.0);
    assert_eq!(result["insights"]["daily_trend"], json!([]));
    assert!(has(&result["flags"], "not_started"));
}

#[test]
fn a_feed_that_stopped_is_flagged() {
    let (_folder, pacing) =
        with_rows("2026-11-20T20:00:00Z", FLIGHT, &days(1, 15, "2026-11", "100"));
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"}))
        .unwrap();
    assert_eq!(
        (&result["data_lag_days"], &result["data_through"]),
        (&json!(5), &json!("2026-11-15"))
    );
    assert!(has(&result["flags"], "data_lag"));
    assert_eq!(result["insights"]["timeline"]["days_passed"], 15.0);
}

#[test]
fn missing_rows_are_an_error_and_not_zero_spend() {
    let (_folder, pacing) =
        with_rows("2026-11-20T20:00:00Z", FLIGHT, &days(1, 15, "2026-11", "100"));
    let error = pacing
        .analyze(&json!({"campaign_start": "2026-11-16", "campaign_end": "2026-11-30"}))
        .unwrap_err();
    assert_eq!(error.reason_text(), Some("no_data"));
    assert!(error.message.contains("not the same as no spend"), "{}", error.message);
    assert!(error.hint_text().unwrap().contains("2026-11-15"), "{error:?}");
    let early = pacing
        .analyze(&json!({"campaign_start": "2026-02-01", "campaign_end": "2026-02-10"}))
        .unwrap_err();
    assert_eq!(early.reason_text(), Some("no_data"));
}

#[test]
fn a_question_without_any_budget_has_no_basis_for_a_status() {
    let (_folder, pacing) = with_rows(
        "2026-11-20T20:00:00Z",
        "7,Advertiser A,A,Campaign A,,,,,\n",
        &days(1, 15, "2026-11", "100"),
    );
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"}))
        .unwrap();
    assert_eq!(result["insights"]["daily_pacing"]["pacing_status"], "NO_BASIS");
    assert_eq!(result["insights"]["budget_status"]["portfolio_budget"], Value::Null);
    assert_eq!(result["insights"]["budget_status"]["spent_budget"], 1_500.0);
    assert_eq!(result["insights"]["daily_trend"][0]["status"], Value::Null);
    assert!(has(&result["flags"], "budget_unknown"));
}

#[test]
fn hourly_rows_belong_to_the_accounts_own_day() {
    // 07:00 UTC on 2 November is still 1 November in Los Angeles (PST), but 08:00 UTC is the 2nd.
    let rows = [
        hour("2026-11-01", 6, "1"),
        hour("2026-11-02", 7, "10"),
        hour("2026-11-02", 8, "100"),
        hour("2026-11-03", 7, "1000"),
    ]
    .concat();
    let (_folder, pacing) = with_rows("2026-11-04T20:00:00Z", FLIGHT, &rows);
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-02"}))
        .unwrap();
    let trend: Vec<Value> = result["insights"]["daily_trend"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| json!([d["date"], d["spend"]]))
        .collect();
    // At 06:00 UTC on the 1st it was still October there, so that row is outside the window and in
    // no roll-up.
    assert_eq!(trend, [json!(["2026-11-02", 1_100.0]), json!(["2026-11-01", 10.0])]);
    assert_eq!(result["rollups"]["portfolio_total"]["total_spend"], 1_110.0);
}

#[test]
fn the_day_of_a_clock_change_has_its_true_length() {
    // 1 November 2026 has 25 hours in Los Angeles: at 12:00 PST thirteen have passed.
    let (_folder, pacing) =
        with_rows("2026-11-01T20:00:00Z", FLIGHT, &row("A", "1", "2026-11-01", "52"));
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-10"}))
        .unwrap();
    assert_eq!(result["insights"]["timeline"]["days_passed"], 0.52);
    assert_eq!(result["insights"]["daily_pacing"]["actual_daily_rate"], 100.0);
    assert_eq!(result["time_zone_abbreviation"], "PST");
    // 8 March has 23 hours: at 12:00 PDT eleven have passed.
    let (_folder, pacing) =
        with_rows("2026-03-08T19:00:00Z", FLIGHT, &row("A", "1", "2026-03-08", "11"));
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-03-08", "campaign_end": "2026-03-17"}))
        .unwrap();
    assert_eq!(result["insights"]["daily_pacing"]["actual_daily_rate"], 23.0);
}

#[test]
fn future_rows_are_ignored() {
    let rows = row("A", "1", "2026-11-10", "100")
        + &row("A", "1", "2026-11-12", "999")
        + &hour("2026-11-11", 23, "999");
    let (_folder, pacing) = with_rows("2026-11-10T20:00:00Z", FLIGHT, &rows);
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"}))
        .unwrap();
    assert_eq!(result["rollups"]["portfolio_total"]["total_spend"], 100.0);
    assert_eq!(result["data_through"], "2026-11-10");
}

#[test]
fn a_row_for_a_whole_day_replaces_its_hourly_rows() {
    let rows = row("A", "1", "2026-11-09", "100") + &hour("2026-11-09", 20, "30");
    let (_folder, pacing) = with_rows("2026-11-10T20:00:00Z", FLIGHT, &rows);
    let result = pacing
        .analyze(&json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"}))
        .unwrap();
    assert_eq!(result["rollups"]["portfolio_total"]["total_spend"], 100.0);
    assert!(has(&result["assumptions"], "daily_before_hourly"));
}

#[test]
fn the_packs_settings_change_the_thresholds_between_statuses() {
    let rows: String = (1..=9).map(|day| row("A", "1", &format!("2026-11-0{day}"), "91")).collect();
    let campaign = "7,Advertiser A,A,Campaign A,3000,2026-11-01,2026-11-30,Europe/Stockholm,SEK\n";
    let (_folder, pacing) = with_rows("2026-11-10T09:00:00Z", campaign, &rows);
    let status = || {
        let args = json!({"account_id": "7", "campaign_start": "2026-11-01", "campaign_end": "2026-11-30"});
        pacing.analyze(&args).unwrap()["insights"]["daily_pacing"]["pacing_status"].clone()
    };
    let configure = |settings: Value| pacing.configure(settings.as_object().unwrap());
    assert_eq!(status(), "SLIGHTLY_BEHIND", "nine percent below what was due");
    configure(json!({"on_track_percent": 10})).unwrap();
    assert_eq!(status(), "ON_TRACK");
    configure(json!({"on_track_percent": 2, "behind_percent": 8.5})).unwrap();
    assert_eq!(status(), "BEHIND");
    for (wrong, field) in [
        (json!({"on_track_percent": -1}), "on_track_percent"),
        (json!({"at_risk_factor": 0.5}), "at_risk_factor"),
        (json!({"overspend_factor": "much"}), "overspend_factor"),
        (json!({"on_track_percent": 30}), "behind_percent"),
    ] {
        let error = configure(wrong).unwrap_err();
        assert_eq!(error.details["field"], field, "{error}");
        assert_eq!(status(), "BEHIND", "what does not fit changes nothing");
    }
    configure(json!({})).unwrap();
    assert_eq!(status(), "SLIGHTLY_BEHIND");
}
