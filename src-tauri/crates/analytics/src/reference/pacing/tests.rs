//! The worked examples of `docs/contracts/pacing.md`, and properties of random tables.

use chrono::NaiveDate;
use contract::metric_query::read_metric_query;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    Dialect, compile,
    reference::{Answer, evaluate},
    resolve,
};

/// Answers a question about the tables of the examples, in the morning of a day of November.
#[track_caller]
fn answer(query: Value, day: u32) -> Answer {
    let catalog = pacing_catalog(true).unwrap();
    let mut query = query;
    query["source"] = json!("pacing");
    let as_of = pacing_as_of(NaiveDate::from_ymd_opt(2026, 11, day).unwrap());
    let resolved = resolve(&read_metric_query(&query).unwrap(), &catalog, &as_of).unwrap();
    for dialect in [Dialect::DuckDb, Dialect::Postgres, Dialect::Standard] {
        compile(&resolved, &catalog, dialect).unwrap();
    }
    evaluate(&resolved.query, &catalog, &pacing_example()).unwrap()
}

#[track_caller]
fn campaign(name: &str, day: u32, measures: &[&str], rows: Value) {
    let query = json!({"measures": measures, "by": ["status", "at_risk", "runs_out_early"], "where": {"campaign": [name]}});
    assert_eq!(json!(answer(query, day).rows), rows);
}

/// The figures that most examples show.
const FIGURES: [&str; 8] = [
    "budget",
    "planned_to_date",
    "spend_to_date",
    "variance",
    "variance_percent",
    "daily_rate",
    "needed_per_day",
    "projection",
];

#[test]
fn example_1_a_campaign_within_five_percent_is_on_track() {
    campaign(
        "Alder",
        11,
        &FIGURES,
        json!([["on_track", false, false, 30_000, 10_000, 9_600, -400, -0.04, 960, 1_020, 28_800]]),
    );
}

#[test]
fn example_2_a_campaign_that_slowed_down_is_behind_and_at_risk() {
    campaign(
        "Birch",
        21,
        &FIGURES,
        json!([["behind", true, false, 30_000, 20_000, 15_800, -4_200, -0.21, 400, 1_420, 19_800]]),
    );
}

#[test]
fn example_3_a_campaign_that_is_ahead_runs_out_early() {
    campaign(
        "Cedar",
        15,
        &[
            "spend_to_date",
            "variance_percent",
            "remaining",
            "daily_rate",
            "run_out_day",
            "days_early",
            "days_left",
        ],
        json!([["ahead", false, true, 9_800, 0.4, 4_200, 700, "2026-11-20", 8, 14]]),
    );
}

#[test]
fn example_4_the_plan_decides_and_not_the_even_line() {
    campaign(
        "Date",
        8,
        &["budget", "planned_to_date", "spend_to_date", "variance", "daily_rate", "days_left"],
        json!([["on_track", false, false, 9_100, 4_500, 4_465, -35, 195, 23]]),
    );
}

#[test]
fn example_5_a_period_that_is_over_has_a_result_and_no_projection() {
    let query = json!({"measures": ["budget", "spend_to_date", "budget_used", "projection", "needed_per_day", "days_left"],
        "by": ["campaign", "status", "at_risk"], "period": {"month": "2026-10"}, "where": {"campaign": ["Elm", "Date"]}});
    assert_eq!(
        json!(answer(query, 8).rows),
        json!([
            ["Date", "delivered", false, 3_100, 3_100, 1, null, null, null],
            ["Elm", "under_delivered", false, 3_100, 3_020, 0.974_193_548, null, null, null]
        ])
    );
}

#[test]
fn example_6_spend_without_a_budget_is_said_and_not_judged() {
    let query = json!({"measures": ["spend", "budget", "variance", "spend_without_budget"],
        "by": ["campaign", "status", "no_delivery"], "where": {"account": ["Six"]}});
    assert_eq!(
        json!(answer(query, 10).rows),
        json!([
            ["Fir", "behind", true, 700, 2_000, -200, null],
            ["Gum", null, null, 450, null, null, 450]
        ])
    );
}

#[test]
fn an_order_by_the_verdict_begins_with_the_most_severe_one() {
    let names = |descending: bool| -> Vec<Value> {
        let order = json!([{"by": "status", "descending": descending}, {"by": "variance"}]);
        let query = json!({"measures": ["variance"], "by": ["campaign", "status"], "order": order});
        answer(query, 15).rows.into_iter().map(|row| row[0].clone()).collect()
    };
    // Behind, ahead, under-delivered, on track. One without a budget has no verdict, and comes last.
    let worst_first = ["Fir", "Cedar", "Elm", "Birch", "Alder", "Date", "Gum"];
    assert_eq!(json!(names(false)), json!(worst_first));
    let best_first = ["Birch", "Alder", "Date", "Elm", "Cedar", "Fir", "Gum"];
    assert_eq!(json!(names(true)), json!(best_first));
}

#[test]
fn a_campaign_is_too_early_and_not_started_before() {
    let status = |day| {
        let query = json!({"measures": ["budget"], "by": ["status"], "where": {"campaign": ["Alder"]}, "period": {"month": "2026-11"}});
        answer(query, day).rows[0][0].clone()
    };
    assert_eq!((status(1), status(3)), (json!("too_early"), json!("too_early")));
    assert_eq!(status(4), json!("on_track"));
    let query = json!({"measures": ["budget"], "by": ["status"], "where": {"campaign": ["Alder"]}, "period": {"from": "2026-11-20", "to": "2026-11-30"}});
    assert_eq!(answer(query, 11).rows[0][0], json!("not_started"));
}

#[test]
fn accounts_are_judged_if_accounts_are_asked_about() {
    let query = json!({"measures": ["variance"], "by": ["account", "status"], "where": {"account": ["Six"]}});
    assert_eq!(json!(answer(query, 10).rows), json!([["Six", "behind", -200]]));
    let query = json!({"measures": ["campaigns"], "by": ["account", "status"], "where": {"account": ["Six"]}});
    let rows = answer(query, 10).rows;
    assert_eq!(json!(rows), json!([["Six", "behind", 1], ["Six", null, 1]]));
}

#[test]
fn data_that_are_late_are_said_and_are_not_zero() {
    let query = json!({"measures": ["spend_to_date", "planned_to_date"], "by": ["status", "late_data", "no_delivery"], "where": {"campaign": ["Alder"]}});
    // The last day with data is the tenth. The days after it are not known, and count as none.
    assert_eq!(json!(answer(query, 25).rows), json!([["on_track", true, false, 9_600, 10_000]]));
}

#[test]
fn line_items_without_budgets_of_their_own_are_not_judged() {
    let query = json!({"measures": ["spend"], "by": ["line_item", "status"], "where": {"campaign": ["Alder"]}});
    let rows = answer(query, 11).rows;
    assert!(rows.iter().all(|row| row[1] == Value::Null), "{rows:?}");
}

#[test]
fn the_proposed_definitions_are_valid_and_stay_the_same_when_they_are_read() {
    let catalog = pacing_catalog(true).unwrap();
    let pacing = &catalog.sources[2];
    let faults = crate::validate_definitions(&pacing.definitions, &pacing.columns);
    assert_eq!(faults, []);
    let written = crate::write_definitions(&pacing.definitions).unwrap();
    assert_eq!(crate::parse_definitions(&written).unwrap(), pacing.definitions);
    insta::assert_snapshot!(written.lines().take(4).collect::<Vec<_>>().join("\n"));
}

#[test]
fn an_assumption_changes_what_is_to_come_and_not_what_was() {
    let birch = |what_if: Value| {
        let query = json!({"measures": ["budget", "variance", "daily_rate", "needed_per_day", "projection"],
            "by": ["status", "at_risk"], "where": {"campaign": ["Birch"]}, "what_if": what_if});
        json!(answer(query, 21).rows)
    };
    let of = json!({"campaign": ["Birch"]});
    assert_eq!(
        birch(json!({"where": of, "budget": {"to": 25_000}})),
        json!([["behind", true, 25_000, -4_200, 400, 920, 19_800]])
    );
    assert_eq!(
        birch(json!([{"where": of, "budget": {"by": -5_000}}, {"where": of, "rate": {"to": 920}}])),
        json!([["behind", false, 25_000, -4_200, 920, 920, 25_000]])
    );
    assert_eq!(
        birch(json!({"where": of, "budget": {"percent": 10}, "rate": {"percent": 50}})),
        json!([["behind", true, 33_000, -4_200, 600, 1_720, 21_800]])
    );
}

#[test]
fn notes_say_which_day_is_not_over_and_that_spend_has_no_budget() {
    let catalog = pacing_catalog(true).unwrap();
    let query =
        json!({"source": "pacing", "measures": ["variance"], "by": ["line_item", "status"]});
    let as_of = pacing_as_of(NaiveDate::from_ymd_opt(2026, 11, 10).unwrap());
    let resolved = resolve(&read_metric_query(&query).unwrap(), &catalog, &as_of).unwrap();
    let compiled = compile(&resolved, &catalog, Dialect::DuckDb).unwrap();
    let notes: Vec<String> = compiled.notes.iter().map(ToString::to_string).collect();
    assert!(
        notes.contains(
            &"2026-11-10 is not over: pace counts full days until 2026-11-09.".to_owned()
        ),
        "{notes:?}"
    );
    assert!(notes.iter().any(|note| note.contains("line_item has no budgets of its own")));
    let counts = compiled
        .columns
        .iter()
        .filter(|column| column.purpose == crate::Purpose::WithoutBudget("campaign".to_owned()));
    assert_eq!(counts.count(), 1);
}

#[test]
fn an_account_in_another_zone_has_its_own_day() {
    let mut catalog = pacing_catalog(true).unwrap();
    let pacing = catalog.sources[2].definitions.pacing.as_mut().unwrap();
    pacing.zones.insert("One".to_owned(), "Pacific/Auckland".to_owned());
    let query = json!({"source": "pacing", "measures": ["days_left"], "by": ["campaign", "late_data"], "where": {"campaign": ["Alder", "Birch"]}});
    let mut as_of = pacing_as_of(NaiveDate::from_ymd_opt(2026, 11, 11).unwrap());
    as_of.moment = as_of.moment.date().and_hms_opt(22, 0, 0).unwrap();
    let resolved = resolve(&read_metric_query(&query).unwrap(), &catalog, &as_of).unwrap();
    let answer = evaluate(&resolved.query, &catalog, &pacing_example()).unwrap();
    // In Auckland it is the 12th, and the 11th has no data.
    assert_eq!(json!(answer.rows), json!([["Alder", true, 20], ["Birch", false, 20]]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn sums_of_a_computed_source_are_those_of_its_two_sources(case in pacing_case()) {
        let catalog = pacing_catalog(case.names_accounts).unwrap();
        let as_of = pacing_as_of(case.today);
        let of = |source: &str, measure: &str| {
            let query = json!({"source": source, "measures": [measure]});
            let resolved = resolve(&read_metric_query(&query).unwrap(), &catalog, &as_of).unwrap();
            evaluate(&resolved.query, &catalog, &case.tables).unwrap().rows
        };
        prop_assert_eq!(of("pacing", "spend"), of("delivery", "spend"));
        prop_assert_eq!(of("pacing", "budget"), of("plan", "budget"));
    }
}
