//! Tests of `compare_accounts` and `list_accounts`.

use serde_json::{Value, json};

use crate::{has, row, service, with_rows};

const NOW: &str = "2026-11-21T20:00:00Z";

fn compare(args: Value) -> Value {
    let (_folder, pacing) = service(NOW);
    pacing.call("compare_accounts", &args).unwrap()
}

fn names(result: &Value) -> Vec<&str> {
    let rows = result["accounts"].as_array().unwrap().iter();
    rows.map(|row| row["account_id"].as_str().unwrap()).collect()
}

#[test]
fn each_account_has_the_same_figures_as_in_a_question_about_it_alone() {
    let (_folder, pacing) = service(NOW);
    let all = pacing.call("compare_accounts", &json!({})).unwrap();
    assert_eq!(all["status"], "success");
    assert_eq!(all["date_range"], json!({"start": "2026-11-01", "end": "2026-11-30"}));
    assert_eq!((&all["total"], &all["matching"]), (&json!(3), &json!(3)));
    assert!(has(&all["assumptions"], "window_month") && has(&all["flags"], "sample_data"));
    assert_eq!(names(&all), ["17", "42", "23"], "furthest behind first");
    for row in all["accounts"].as_array().unwrap() {
        let alone = pacing.analyze(&json!({"account_id": row["account_id"]})).unwrap();
        let status = &alone["insights"]["budget_status"];
        for (name, of) in [
            ("spend", &status["spent_budget"]),
            ("budget", &status["portfolio_budget"]),
            ("spend_percentage", &status["spend_percentage"]),
            ("planned_to_date", &status["should_have_spent"]),
            ("variance", &status["variance"]),
            ("variance_percentage", &status["variance_percentage"]),
            ("remaining", &status["remaining_budget"]),
            ("projected_spend", &status["projected_spend"]),
            ("projected_percentage", &status["budget_projection"]),
            ("at_stake", &status["at_stake"]),
            ("runs_out_on", &status["runs_out_on"]),
            ("required_daily_rate", &alone["insights"]["daily_pacing"]["required_daily_rate"]),
            ("actual_daily_rate", &alone["insights"]["daily_pacing"]["actual_daily_rate"]),
            ("pacing_status", &alone["insights"]["daily_pacing"]["pacing_status"]),
            ("currency", &alone["currency"]),
            ("time_zone", &alone["time_zone"]),
            ("campaigns", &alone["campaigns_analyzed"]),
            ("data_through", &alone["data_through"]),
            ("flags", &alone["flags"]),
        ] {
            assert_eq!(&row[name], of, "{name} of {}", row["account_id"]);
        }
        let counts = &alone["campaigns"]["counts"];
        let behind: u64 = ["slightly_behind", "behind", "at_risk"]
            .iter()
            .map(|status| counts[*status].as_u64().unwrap())
            .sum();
        assert_eq!(row["behind"], behind);
    }
}

#[test]
fn amounts_in_different_currencies_are_never_added() {
    let all = compare(json!({}));
    let totals = all["by_currency"].as_array().unwrap();
    let currencies: Vec<&str> = totals.iter().map(|t| t["currency"].as_str().unwrap()).collect();
    assert_eq!(currencies, ["EUR", "GBP", "USD"]);
    assert!(has(&all["flags"], "several_currencies"));
    let rows = "1,Alder,X,a,A,1,L,2026-11-09,,100,1\n2,Birch,Y,b,B,2,L,2026-11-09,,50,1\n3,Cedar,Z,c,C,3,L,2026-11-09,,7,1\n";
    let campaigns = "1,X,a,A,3000,2026-11-01,2026-11-30,UTC,EUR\n2,Y,b,B,600,2026-11-01,2026-11-30,UTC,EUR\n3,Z,c,C,,,,UTC,SEK\n";
    let (_folder, pacing) = with_rows("2026-11-11T00:00:00Z", campaigns, rows);
    let all = pacing.call("compare_accounts", &json!({})).unwrap();
    // The feed of each account ends with 9 November, so 9 of 30 days have passed.
    assert_eq!(
        all["by_currency"],
        json!([
            {"currency": "EUR", "accounts": 2, "spend": 150.0, "budget": 3_600.0, "variance": -930.0, "projected_spend": 500.0, "at_stake": -3_100.0},
            {"currency": "SEK", "accounts": 1, "spend": 7.0, "budget": null, "variance": null, "projected_spend": 23.33, "at_stake": null},
        ])
    );
}

#[test]
fn accounts_can_be_selected_filtered_and_ordered() {
    assert_eq!(names(&compare(json!({"account_ids": ["kestrel", "17", "42"]}))), ["17", "42"]);
    assert_eq!(names(&compare(json!({"status": "behind"}))), ["17"]);
    assert_eq!(compare(json!({"status": "behind"}))["total"], 3);
    assert_eq!(names(&compare(json!({"status": "ahead"}))), ["23"]);
    assert_eq!(names(&compare(json!({"order": "best"})))[0], "42");
    assert_eq!(names(&compare(json!({"order": "name"}))), ["23", "42", "17"]);
    let (_folder, pacing) = service(NOW);
    for (args, reason) in [
        (json!({"account_ids": ["99"]}), "unknown_account"),
        (json!({"account_ids": "17"}), "invalid_arguments"),
        (json!({"limit": 0}), "invalid_arguments"),
        (json!({"detail": "ads"}), "invalid_arguments"),
        (
            json!({"campaign_start": "2026-12-02", "campaign_end": "2026-12-01"}),
            "invalid_arguments",
        ),
    ] {
        let error = pacing.call("compare_accounts", &args).unwrap_err();
        assert_eq!(error.reason_text(), Some(reason), "{args}");
    }
}

#[test]
fn an_account_without_rows_is_listed_without_figures() {
    let rows =
        row("A", "1", "2026-11-09", "100") + "8,Other,Adv,B,Campaign B,2,Item 2,2026-09-09,,5,1\n";
    let (_folder, pacing) =
        with_rows("2026-11-10T12:00:00Z", "7,Advertiser A,A,Campaign A,1000,,,,\n", &rows);
    let all = pacing.call("compare_accounts", &json!({})).unwrap();
    assert_eq!(names(&all), ["7", "8"]);
    assert_eq!(
        (&all["accounts"][1]["spend"], &all["accounts"][1]["flags"]),
        (&Value::Null, &json!(["no_data"]))
    );
    assert!(has(&all["flags"], "no_data"));
}

#[test]
fn accounts_are_listed_with_their_advertisers_counts_and_days() {
    let (_folder, pacing) = service(NOW);
    let list = pacing.call("list_accounts", &json!({})).unwrap();
    assert_eq!((&list["total"], &list["dataset"]), (&json!(3), &json!("sample")));
    let first = &list["accounts"][0];
    assert_eq!(
        (&first["account_id"], &first["account_name"], &first["currency"], &first["time_zone"]),
        (&json!("17"), &json!("Northwind Outdoor"), &json!("USD"), &json!("America/Los_Angeles"))
    );
    assert_eq!(first["advertisers"], json!(["Fernhill Boots", "Glacier Tents"]));
    assert_eq!((&first["campaigns"], &first["line_items"]), (&json!(16), &json!(58)));
    assert_eq!(
        (&first["first_day"], &first["last_day"]),
        (&json!("2026-05-26"), &json!("2026-11-21"))
    );
    let one = pacing.call("list_accounts", &json!({"query": "KETTLE"})).unwrap();
    assert_eq!((&one["accounts"][0]["account_id"], &one["matching"]), (&json!("23"), &json!(1)));
    let rows = row("A", "1", "2026-11-08", "100") + &row("A", "1", "2026-11-09", "100");
    let (_folder, pacing) = with_rows(NOW, "7,Advertiser A,A,Campaign A,1000,,,,\n", &rows);
    let list = pacing.call("list_accounts", &json!({})).unwrap();
    assert_eq!(
        list["accounts"],
        json!([{
            "account_id": "7", "account_name": "Test Account", "currency": null, "time_zone": null, "advertisers": ["Advertiser A"],
            "campaigns": 1, "line_items": 1, "rows": 2, "first_day": "2026-11-08", "last_day": "2026-11-09", "budget": 1_000.0,
        }])
    );
    assert_eq!(list["dataset"], "imported");
    assert!(pacing.call("another_tool", &json!({})).is_err());
}

#[test]
fn campaigns_of_all_accounts_can_be_listed_together() {
    let (_folder, pacing) = service(NOW);
    let behind = pacing
        .call("compare_accounts", &json!({"detail": "campaigns", "status": "behind"}))
        .unwrap();
    let list = &behind["list"];
    let (mut matching, mut total) = (0, 0);
    for account in ["17", "23", "42"] {
        let alone = pacing.analyze(&json!({"account_id": account, "status": "behind"})).unwrap();
        matching += alone["campaigns"]["matching"].as_u64().unwrap();
        total += alone["campaigns"]["total"].as_u64().unwrap();
    }
    assert_eq!((&list["matching"], &list["total"]), (&json!(matching), &json!(total)));
    let rows = list["rows"].as_array().unwrap();
    let off: Vec<f64> =
        rows.iter().map(|row| row["variance_percentage"].as_f64().unwrap()).collect();
    assert!(off.windows(2).all(|w| w[0] <= w[1]), "furthest behind first: {off:?}");
    let currencies: std::collections::BTreeSet<&str> =
        rows.iter().map(|row| row["currency"].as_str().unwrap()).collect();
    assert!(currencies.len() > 1, "of several accounts");
    assert_eq!(names(&behind).len(), 3, "the filter is for the list, not for the accounts");
    assert!(behind.to_string().len() <= 64_000);
    let items = compare(json!({"detail": "line_items", "limit": 500}));
    assert!(has(&items["assumptions"], "line_item_budget_split"));
    let named = compare(json!({"detail": "campaigns", "order": "name", "reverse": true}));
    let names: Vec<&str> = named["list"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["campaign_name"].as_str().unwrap())
        .collect();
    assert!(names.windows(2).all(|w| w[0].to_lowercase() >= w[1].to_lowercase()), "{names:?}");
}

#[test]
fn amounts_are_not_converted_to_another_currency() {
    let (_folder, pacing) = service(NOW);
    let ask = |currency: &str| {
        pacing.analyze(&json!({"account_id": "17", "currency": currency})).unwrap()
    };
    assert!(!has(&ask("usd")["assumptions"], "other_currency"));
    let euros = ask("EUR");
    assert!(has(&euros["assumptions"], "other_currency"));
    assert_eq!((&euros["currency"], &euros["insights"]), (&json!("USD"), &ask("USD")["insights"]));
    let all = compare(json!({"currency": "SEK"}));
    let codes = all["assumptions"].as_array().unwrap().iter();
    assert_eq!(codes.filter(|a| a["code"] == "other_currency").count(), 3);
}
