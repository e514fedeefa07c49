//! Tests of lists of campaigns and line items: one campaign by name, filters, orders, pages, and
//! the size of results. Also tests budgets that are questioned.

use std::time::Instant;

use serde_json::{Value, json};

use crate::{has, row, service, with_rows};

const NOW: &str = "2026-11-21T20:00:00Z";

fn ask(args: Value) -> Value {
    let (_folder, pacing) = service(NOW);
    pacing.analyze(&args).unwrap()
}

fn campaigns(result: &Value) -> Vec<&Value> {
    result["rollups"]["campaigns_total"].as_array().unwrap().iter().collect()
}

#[test]
fn a_campaign_is_found_by_id_name_or_words() {
    for (named, id) in [
        ("c105", "c105"),
        ("C105", "c105"),
        ("Fernhill Boots - Junior Explorers", "c105"),
        ("fernhill boots junior explorers", "c105"),
        ("junior explorers", "c105"),
        ("Cabins", "c137"),
    ] {
        let result = ask(json!({"campaign": named}));
        assert_eq!(result["campaign_id"], id, "{named}");
        assert_eq!((&result["campaigns_analyzed"], campaigns(&result).len()), (&json!(1), 1));
    }
    let cabins = ask(json!({"campaign": "Cabins"}));
    assert_eq!(
        (&cabins["account_id"], &cabins["account_source"], &cabins["advertiser"]),
        (&json!("42"), &json!("campaign"), &json!("Juniper Stays"))
    );
    assert!(has(&cabins["assumptions"], "account_from_campaign"));
    assert!(!has(&cabins["assumptions"], "all_advertisers"));
    let (_folder, pacing) = service(NOW);
    for (args, reason, hint) in [
        (
            json!({"campaign": "brand always on"}),
            "ambiguous_campaign",
            "Moss & Oak - Brand Always On (c123, account 23)",
        ),
        (
            json!({"account_id": "42", "campaign": "junior explorers"}),
            "unknown_campaign",
            "account 17",
        ),
        (json!({"account_id": "42", "campaign": "junior"}), "unknown_campaign", "account 17"),
        (
            json!({"account_id": "42", "campaign": "nothing like it"}),
            "unknown_campaign",
            "Juniper Stays - Cabins (c137)",
        ),
        (
            json!({"account_id": "17", "campaign": "fernhill boots"}),
            "ambiguous_campaign",
            "Wide Fit",
        ),
    ] {
        let error = pacing.analyze(&args).unwrap_err();
        assert_eq!(error.reason_text(), Some(reason), "{args}");
        assert!(error.hint_text().unwrap().contains(hint), "{args}: {:?}", error.hint_text());
        assert!(!error.details["candidates"].as_array().unwrap().is_empty());
    }
    let in_account = ask(json!({"account_id": "17", "campaign": "brand always on"}));
    assert_eq!(in_account["campaign_id"], "c107");
}

#[test]
fn lists_keep_the_requested_status_in_the_requested_order() {
    let all = ask(json!({"account_id": "17"}));
    let total = all["campaigns"]["total"].as_u64().unwrap();
    assert_eq!(
        (&all["campaigns"]["matching"], &all["campaigns"]["shown"]),
        (&json!(total), &json!(total))
    );
    let counts = &all["campaigns"]["counts"];
    let count = |status: &str| counts[status].as_u64().unwrap();
    let behind = ask(json!({"account_id": "17", "status": "behind"}));
    assert_eq!(
        behind["campaigns"]["matching"],
        count("behind") + count("slightly_behind") + count("at_risk")
    );
    assert_eq!(
        (&behind["campaigns"]["total"], &behind["campaigns"]["counts"]),
        (&json!(total), counts)
    );
    assert_eq!(behind["insights"], all["insights"], "the filter changes the list only");
    let shown = campaigns(&behind);
    assert_eq!(shown.len() as u64, behind["campaigns"]["matching"].as_u64().unwrap());
    assert_eq!(shown[0]["campaign_id"], "c106", "the worst comes first: {}", shown[0]);
    let off = |row: &Value| row["variance_percentage"].as_f64().unwrap();
    assert!(shown.windows(2).all(|w| off(w[0]) <= off(w[1])));
    assert!(shown.iter().all(|row| off(row) <= -5.0));
    let over = ask(json!({"account_id": "17", "status": "overspending", "order": "worst"}));
    let rows = campaigns(&over);
    assert!(!rows.is_empty() && rows.len() as u64 == count("overspending"));
    let money = |row: &Value| row["at_stake"].as_f64().unwrap();
    assert!(rows.windows(2).all(|w| money(w[0]) >= money(w[1])) && money(rows[0]) > 0.0);
    for (order, member) in [("spend", "spend"), ("budget", "budget"), ("remaining", "remaining")] {
        let ordered = ask(json!({"account_id": "17", "order": order}));
        let values: Vec<f64> =
            campaigns(&ordered).iter().map(|row| row[member].as_f64().unwrap()).collect();
        assert!(values.windows(2).all(|w| w[0] >= w[1]), "{order}: {values:?}");
    }
    let best = ask(json!({"account_id": "17", "order": "best"}));
    let near: Vec<f64> = campaigns(&best)
        .iter()
        .filter_map(|row| row["variance_percentage"].as_f64().map(f64::abs))
        .collect();
    assert!(near.windows(2).all(|w| w[0] <= w[1]), "{near:?}");
    let ahead = ask(json!({"account_id": "17", "status": "ahead", "order": "best"}));
    let far: Vec<f64> = campaigns(&ahead).iter().map(|row| off(row)).collect();
    assert!(far.len() > 1 && far.windows(2).all(|w| w[0] >= w[1]), "furthest ahead first: {far:?}");
    let named = ask(json!({"account_id": "17", "order": "name", "limit": 3, "offset": 2}));
    assert_eq!(
        (&named["campaigns"]["shown"], &named["campaigns"]["offset"]),
        (&json!(3), &json!(2))
    );
    let rest = &named["rollups"]["omitted_totals"]["campaigns_total"];
    let spend: f64 = campaigns(&named).iter().map(|row| row["spend"].as_f64().unwrap()).sum();
    let all = named["insights"]["budget_status"]["spent_budget"].as_f64().unwrap();
    assert!((spend + rest["spend"].as_f64().unwrap() - all).abs() < 0.01);
    assert!(has(&named["assumptions"], "lists_cut"));
}

#[test]
fn line_items_are_listed_on_request() {
    let plain = ask(json!({"account_id": "17"}));
    assert_eq!(
        (&plain["rollups"]["line_items_total"], &plain["line_items"]),
        (&json!([]), &Value::Null)
    );
    let items = ask(json!({"account_id": "17", "campaign": "Wide Fit", "detail": "line_items"}));
    let rows = items["rollups"]["line_items_total"].as_array().unwrap();
    assert_eq!((rows.len(), &items["line_items"]["total"]), (4, &json!(4)));
    assert!(has(&items["assumptions"], "line_item_budget_split"));
    assert!(
        rows.iter().all(|row| row["campaign_id"] == "c104" && row["planned_budget"] == 6_000.0)
    );
    let worst =
        ask(json!({"account_id": "17", "detail": "line_items", "status": "behind", "limit": 5}));
    assert_eq!(worst["line_items"]["shown"], 5);
    assert!(worst["line_items"]["matching"].as_u64().unwrap() > 5);
    assert_eq!(worst["campaigns"]["matching"], worst["campaigns"]["total"]);
}

#[test]
fn each_invalid_argument_is_named() {
    let (_folder, pacing) = service(NOW);
    for (args, path) in [
        (json!({"detail": "ads"}), "/detail"),
        (json!({"by": "hour"}), "/by"),
        (json!({"status": "late"}), "/status"),
        (json!({"order": "random"}), "/order"),
        (json!({"limit": 0}), "/limit"),
        (json!({"limit": 501}), "/limit"),
        (json!({"offset": -1}), "/offset"),
        (json!({"csv": "yes"}), "/csv"),
        (json!({"budget_change_percent": -101}), "/budget_change_percent"),
        (json!({"budget_change_percent": 10, "budget_change_amount": 5}), "/budget_change_amount"),
        (json!({"daily_rate": -1}), "/daily_rate"),
        (json!({"daily_rate": 5, "daily_rate_change_percent": 10}), "/daily_rate"),
        (json!({"exclude": "late"}), "/exclude"),
        (json!({"reverse": 1}), "/reverse"),
        (json!({"pace_min": 110, "pace_max": 90}), "/pace_min"),
        (json!({"used_max": -1}), "/used_max"),
        (json!({"ends_from": "2026-12-02", "ends_until": "2026-12-01"}), "/ends_from"),
        (json!({"period": "life"}), "/period"),
        (
            json!({"compare_to": "before", "compare_start": "2026-10-01", "compare_end": "2026-10-02"}),
            "/compare_to",
        ),
        (json!({"compare_to": "after"}), "/compare_to"),
        (json!({"compare_start": "2026-10-01"}), "/compare_end"),
        (json!({"compare_end": "2026-10-01"}), "/compare_start"),
        (json!({"compare_start": "2026-10-02", "compare_end": "2026-10-01"}), "/compare_start"),
        (json!({"compare_start": "October", "compare_end": "2026-10-01"}), "/compare_start"),
    ] {
        let error = pacing.analyze(&args).unwrap_err();
        assert_eq!(error.details["validation"][0]["path"], path, "{args}");
        assert_eq!(error.details["validation"].as_array().unwrap().len(), 1, "{args}: {error:?}");
    }
    let over = json!({"account_id": "17", "campaign_start": "2026-10-01", "campaign_end": "2026-10-31", "daily_rate": 5});
    assert_eq!(pacing.analyze(&over).unwrap_err().reason_text(), Some("window_over"));
    let nothing_left = json!({"account_id": "17", "budget_change_amount": -900_000_000});
    assert_eq!(pacing.analyze(&nothing_left).unwrap_err().reason_text(), Some("invalid_arguments"));
}

#[test]
fn a_budget_that_is_implausible_for_the_spend_is_flagged() {
    for (budget, is_questioned) in
        [(20.0, true), (9_000.0, true), (60_000.0, false), (250_000.0, false), (2_000_000.0, true)]
    {
        let result = ask(json!({"account_id": "17", "campaign_budget": budget}));
        assert_eq!(has(&result["flags"], "budget_questionable"), is_questioned, "{budget}");
        assert_eq!(has(&result["assumptions"], "budget_questionable"), is_questioned, "{budget}");
    }
    // On the first day, a budget is always far above the spend.
    let (_folder, pacing) = with_rows(
        "2026-11-02T00:00:00Z",
        "7,Advertiser A,A,Campaign A,,,,UTC,\n",
        &row("A", "1", "2026-11-01", "100"),
    );
    let result = pacing.analyze(&json!({"campaign_budget": 3_000})).unwrap();
    assert!(!has(&result["flags"], "budget_questionable"));
}

/// Returns the files of an account with many campaigns and days.
fn many(campaigns: usize, items: usize, days: i64) -> (String, String) {
    use std::fmt::Write;
    let last = chrono::NaiveDate::from_ymd_opt(2026, 11, 21).unwrap();
    let (mut plans, mut rows) = (String::new(), String::new());
    for campaign in 0..campaigns {
        writeln!(
            plans,
            "7,Advertiser with a long name,k{campaign},Advertiser with a long name - Campaign number {campaign},{},2025-01-01,2026-12-31,Europe/Stockholm,EUR",
            1_000 * (campaign + 1)
        )
        .unwrap();
        for item in 0..items {
            for day in 0..days {
                let date = last - chrono::TimeDelta::days(day);
                writeln!(rows, "7,Test,Advertiser with a long name,k{campaign},Advertiser with a long name - Campaign number {campaign},k{campaign}-{item},Item {item} of {campaign},{date},,{}.25,12345", 10 + campaign % 7).unwrap();
            }
        }
    }
    (plans, rows)
}

#[test]
fn a_result_over_a_year_and_500_campaigns_stays_small() {
    let (plans, rows) = many(500, 1, 366);
    let (_folder, pacing) = with_rows(NOW, &plans, &rows);
    let started = Instant::now();
    let args = json!({"campaign_start": "2025-11-21", "campaign_end": "2026-11-21"});
    let result = pacing.analyze(&args).unwrap();
    println!("{} rows in {:?}", 500 * 366, started.elapsed());
    let bytes = result.to_string().len();
    assert!(bytes <= 64_000, "{bytes} bytes");
    assert_eq!(result["insights"]["daily_trend"].as_array().unwrap().len(), 366);
    assert_eq!(
        (&result["campaigns"]["total"], &result["csv"]["text"]),
        (&json!(500), &Value::Null)
    );
    let shown = result["campaigns"]["shown"].as_u64().unwrap();
    assert!((10..500).contains(&shown), "{shown}");
    let month = pacing.analyze(&json!({})).unwrap();
    assert!(month.to_string().len() <= 64_000 && month["csv"]["text"].is_string());
    let items = pacing.analyze(&json!({"detail": "line_items", "by": "week"})).unwrap();
    assert!(items.to_string().len() <= 64_000, "{} bytes", items.to_string().len());
    // All campaigns can be reached by pages.
    let page = |offset: usize| {
        pacing.analyze(&json!({"order": "name", "limit": 250, "offset": offset})).unwrap()
    };
    let (one, two) = (page(0), page(250));
    let ids = |page: &Value| -> Vec<String> {
        campaigns(page).iter().map(|row| row["campaign_id"].as_str().unwrap().to_owned()).collect()
    };
    let all: std::collections::BTreeSet<String> = ids(&one).into_iter().chain(ids(&two)).collect();
    assert_eq!(all.len(), 500);
    let csv = pacing
        .analyze(
            &json!({"campaign_start": "2025-11-21", "campaign_end": "2026-11-21", "csv": true}),
        )
        .unwrap();
    assert_eq!(csv["csv"]["text"].as_str().unwrap().lines().count(), 367);
}
