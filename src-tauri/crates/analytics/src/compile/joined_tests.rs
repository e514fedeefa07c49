//! Snapshots and faults of constructs with several sources, plans, totals, and rows of several days.

use contract::{
    definitions::{Covers, ZONE_BY_ACCOUNT},
    metric_query::DataResult,
    sources::{DayRange, ExportedDays},
};
use serde_json::{Value, json};

use super::testing::{refused, snapshots, try_compile};
use crate::{Catalog, Dialect, Problem, Purpose, finish, reference::catalog};

fn with(catalog: &Catalog, query: &Value) -> Result<(String, Vec<String>), Problem> {
    let (_, compiled) = try_compile(catalog, query, Dialect::DuckDb)?;
    let notes = compiled.notes.iter().map(ToString::to_string).collect();
    Ok((compiled.sql, notes))
}

fn written(query: &Value) -> String {
    let (sql, notes) = with(&catalog(), query).unwrap();
    format!("{sql}\n\n-- {}", notes.join("\n-- "))
}

snapshots! {
    totals_are_computed_again_and_come_first: {"source": "ads", "measures": ["rate", {"measure": "clicks", "share_of": "total"}], "by": ["device"], "order": [{"by": "rate", "descending": true}], "limit": 2, "totals": true};
    totals_of_amounts_have_a_row_for_each_currency: {"source": "ads", "measures": ["spend"], "by": ["Currency", "device"], "top": {"n": 2}, "totals": true};
    a_dimension_of_another_source_finds_at_most_one_row: {"source": "ads", "measures": ["clicks"], "by": ["team"], "where": {"clients.Size": {">": 10}}, "period": {"month": "2026-02"}};
    amounts_of_a_plan_are_divided_over_its_days: {"source": "plan", "measures": ["plan_total", "plan_daily"], "by": [{"time": "week"}], "period": {"month": "2026-02"}, "compare": "previous"};
    columns_of_months_are_divided_over_their_days: {"source": "wide", "measures": ["wide_planned"]};
    ties_among_the_first_groups_are_counted: {"source": "ads", "measures": ["clicks"], "by": ["device"], "top": {"n": 2}};
}

#[test]
fn a_named_source_is_not_left_for_another_ones_measure() {
    refused(
        json!({"source": "ads", "measures": ["planned"]}),
        "ads has no measure planned. Another source has it: budgets.planned.",
    );
    let dotted = json!({"source": "ads", "measures": ["budgets.planned"]});
    assert!(with(&catalog(), &dotted).is_ok(), "its full name says the source");
    let unnamed = json!({"measures": ["clicks", "planned"]});
    assert!(with(&catalog(), &unnamed).is_ok(), "no source is named");
    refused(
        json!({"source": "ads", "measures": ["clicks"], "by": ["device"], "where": {"device": {"in": {"measures": ["planned"], "by": ["device"]}}}}),
        "Another source has it",
    );
}

#[test]
fn an_error_offers_only_what_fits() {
    let fault = |query: Value| with(&catalog(), &query).unwrap_err().to_string();
    let dimension = fault(json!({"source": "ads", "measures": ["clicks"], "by": ["spend"]}));
    assert!(
        dimension.starts_with("spend is a measure of ads, not a dimension. Dimensions: "),
        "{dimension}"
    );
    for measure in ["clicks", "Cost", "Clicks", "Budget", "Day"] {
        assert!(!dimension.contains(&format!(" {measure},")), "{measure} in {dimension}");
    }
    let measure = fault(json!({"source": "ads", "measures": ["device"]}));
    assert!(measure.starts_with("device is a dimension of ads, not a measure."), "{measure}");
    assert!(!measure.contains("campaign,"), "{measure}");
    let near = fault(json!({"source": "ads", "measures": ["clicks"], "by": ["campagn"]}));
    assert!(near.contains("Known: campaign, "), "the nearest one is first: {near}");
    refused(
        json!({"source": "ads", "measures": ["clicks"], "where": {"devise": "Mobile"}}),
        "The condition names devise, which ads does not have",
    );
    refused(json!({"source": "ads", "measures": ["clicks"], "by": ["teams"]}), "Is “team” meant?");
    refused(json!({"measures": ["clics"]}), "There are: ads.clicks.");
    refused(json!({"source": "fx", "measures": ["rows"], "by": ["campaign"]}), "Known: From, To");
}

#[test]
fn a_source_that_may_have_several_rows_describes_none() {
    refused(
        json!({"source": "ads", "measures": ["clicks"], "by": ["budgets.Month"]}),
        "budgets may have several rows for one campaign",
    );
    let several = json!({"source": "budgets", "measures": ["planned"], "by": ["clients.Team"]});
    refused(several, "budgets has no such dimension");
}

#[test]
fn single_rows_and_explanations_have_no_totals() {
    refused(json!({"source": "ads", "rows": true, "totals": true}), "have no totals");
    refused(json!({"source": "ads", "by": ["device"], "totals": true}), "Totals need a measure.");
}

fn weekly(covers: Covers) -> Catalog {
    let mut catalog = catalog();
    let time = catalog.sources[0].definitions.time.as_mut().unwrap();
    time.covers = Some(covers);
    catalog
}

/// Returns the notes of an answer whose rows are these.
fn answered(catalog: &Catalog, query: &Value, rows: Vec<Vec<Value>>) -> DataResult {
    let (resolved, compiled) = try_compile(catalog, query, Dialect::DuckDb).unwrap();
    finish(&compiled, &resolved, rows).unwrap()
}

#[test]
fn rows_of_several_days_are_counted_where_an_answer_cuts_them() {
    let catalog = weekly(Covers::Week);
    let by_day = json!({"source": "ads", "measures": ["clicks"], "by": [{"time": "day"}], "period": {"from": "2026-02-04", "to": "2026-02-10"}});
    insta::assert_snapshot!(with(&catalog, &by_day).unwrap().0);
    let notes =
        answered(&catalog, &by_day, vec![vec![json!("2026-02-04"), json!(5), json!(3)]]).notes;
    assert!(notes.iter().any(|note| note.starts_with("3 rows of ads cover more than a day")));
    let none = answered(&catalog, &by_day, Vec::new()).notes;
    assert!(none.iter().any(|note| note.starts_with("Rows of ads cover more than a day")));
    let whole = answered(&catalog, &by_day, vec![vec![json!("2026-02-04"), json!(5), json!(0)]]);
    assert!(!whole.notes.iter().any(|note| note.contains("cover more than a day")));
    let all = json!({"source": "ads", "measures": ["clicks"]});
    let sql = with(&catalog, &all).unwrap().0;
    assert!(!sql.contains("_count1"), "nothing is cut: {sql}");
    let until = weekly(Covers::Until("Day".to_owned()));
    let sql = with(&until, &by_day).unwrap().0;
    assert!(sql.contains("greatest("), "{sql}");
}

/// Returns the notes of a query before its rows are read.
fn notes(query: Value) -> Vec<String> {
    with(&catalog(), &query).unwrap().1
}

#[test]
fn times_and_windows_that_are_not_whole_say_so() {
    let weeks = |period: Value| {
        notes(
            json!({"source": "ads", "measures": ["clicks"], "by": [{"time": "week"}], "period": period}),
        )
    };
    let cut =
        "The first or the last time listed is not whole: the days are 2026-02-03 to 2026-02-20.";
    assert_eq!(weeks(json!({"from": "2026-02-03", "to": "2026-02-20"})), [cut]);
    assert!(weeks(json!({"from": "2026-02-01", "to": "2026-02-21"})).is_empty());
    let rolling = json!({"source": "ads", "measures": [{"measure": "clicks", "rolling": {"days": 7}}], "by": [{"time": "day"}], "period": {"from": "2026-01-03", "to": "2026-01-31"}});
    assert_eq!(notes(rolling), ["The first windows are not whole: the data begin on 2026-01-01."]);
    let per = json!({"source": "ads", "measures": [{"measure": "clicks", "per": "week"}], "period": {"from": "2026-02-03", "to": "2026-02-20"}});
    assert!(notes(per)[0].starts_with("The period has parts of weeks"));
    let compared = json!({"source": "ads", "measures": ["clicks"], "period": "this_month", "compare": "previous"});
    assert_eq!(notes(compared)[1], "The period is compared with 2026-02-01 to 2026-02-10.");
}

#[test]
fn a_figure_that_may_still_change_is_told() {
    let mut catalog = catalog();
    catalog.sources[0].definitions.measures.get_mut("clicks").unwrap().settles_after = Some(30);
    let notes = |period: Value| {
        let query = json!({"source": "ads", "measures": ["clicks"], "period": period});
        with(&catalog, &query).unwrap().1
    };
    let told = "clicks may still change: the last 30 days are provisional.";
    assert_eq!(notes(json!({"from": "2026-02-01", "to": "2026-02-28"})), [told]);
    assert!(notes(json!({"month": "2026-01"})).is_empty(), "older days are settled");
    let now = notes(json!("this_month"));
    assert!(now[0].starts_with("The period is not over: it ends on 2026-03-31"), "{now:?}");
    assert!(now.contains(&told.to_owned()), "{now:?}");
}

#[test]
fn values_of_a_file_settle_by_its_day_and_not_by_today() {
    let mut catalog = catalog();
    let day = |text: &str| -> chrono::NaiveDate { text.parse().unwrap() };
    let days = |first, last| DayRange { first: day(first), last: day(last) };
    let ads = &mut catalog.sources[0];
    ads.definitions.measures.get_mut("clicks").unwrap().settles_after = Some(7);
    ads.exports = vec![
        ExportedDays {
            days: days("2026-02-01", "2026-02-28"),
            on: day("2026-03-09"),
            is_file_day: false,
        },
        ExportedDays {
            days: days("2026-01-01", "2026-01-31"),
            on: day("2026-02-02"),
            is_file_day: true,
        },
    ];
    let notes = |from: &str, to: &str| {
        let period = json!({"from": from, "to": to});
        with(&catalog, &json!({"source": "ads", "measures": ["clicks"], "period": period}))
            .unwrap()
            .1
    };
    // The file has values of 2 February, whatever today is.
    let told = "clicks may still change: the 7 days up to 2026-02-02, the day of the file, are provisional.";
    assert_eq!(notes("2026-01-01", "2026-01-31"), [told]);
    assert!(notes("2026-01-01", "2026-01-26").is_empty(), "older days are settled");
    assert!(notes("2026-02-01", "2026-02-28").is_empty(), "the file is 9 days later");
    catalog.sources[0].exports[0].on = day("2026-03-01");
    let notes = with(&catalog, &json!({"source": "ads", "measures": ["clicks"]})).unwrap().1;
    let told = "clicks may still change: the 7 days up to 2026-03-01, the day of the import, are provisional.";
    assert_eq!(notes, [told]);
}

#[test]
fn days_of_accounts_may_not_be_over_everywhere() {
    let mut catalog = catalog();
    let time = catalog.sources[0].definitions.time.as_mut().unwrap();
    time.zone = Some(ZONE_BY_ACCOUNT.to_owned());
    let note = |period: &str| {
        let query = json!({"source": "ads", "measures": ["clicks"], "period": period});
        let (_, notes) = with(&catalog, &query).unwrap();
        notes.iter().any(|note| note.contains("each account's time zone"))
    };
    assert!(note("yesterday") && !note("last_month"));
}

#[test]
fn amounts_without_a_rate_or_with_an_old_one_are_counted() {
    for query in [
        json!({"source": "ads", "measures": ["spend"], "in_currency": "EUR", "period": {"month": "2026-02"}, "compare": "previous"}),
        json!({"source": "ads", "measures": ["spend"], "by": ["device"], "in_currency": "EUR", "then": {"measures": [{"sum": "spend"}]}}),
        json!({"source": "ads", "explain": {"measure": "spend", "by": ["device"]}, "in_currency": "EUR", "period": {"month": "2026-02"}, "compare": "previous"}),
    ] {
        let (resolved, compiled) = try_compile(&catalog(), &query, Dialect::DuckDb).unwrap();
        let row = compiled.columns.iter().map(|column| match column.purpose {
            Purpose::WithoutRate => json!(3),
            Purpose::OldRate => json!(2),
            _ => json!(1),
        });
        let notes = finish(&compiled, &resolved, vec![row.collect()]).unwrap().notes;
        assert!(notes.iter().any(|note| note.starts_with("3 rows have no rate")), "{notes:?}");
        let old = "2 rows are converted with a rate that is more than 31 days older";
        assert!(notes.iter().any(|note| note.starts_with(old)), "{notes:?}");
    }
}

#[test]
fn definitions_that_a_figure_depends_on_are_among_those_it_used() {
    let used = |query: Value| {
        let (resolved, _) = try_compile(&catalog(), &query, Dialect::DuckDb).unwrap();
        resolved.definitions.into_keys().collect::<Vec<_>>()
    };
    let plan = used(json!({"source": "plan", "measures": ["plan_days"]}));
    assert_eq!(plan, ["plan.plan_days", "plan.spread"]);
    let brand = used(json!({"source": "ads", "measures": ["brand_clicks"]}));
    assert_eq!(brand, ["ads.brand", "ads.brand_clicks"]);
    let compared = json!({"source": "ads", "measures": ["clicks"], "compare": {"values": {"brand": [true, false]}}});
    assert_eq!(used(compared), ["ads.brand", "ads.clicks"]);
}

#[test]
fn a_period_without_data_says_which_days_there_are() {
    let query = json!({"source": "ads", "measures": ["rows"], "period": {"month": "2027-01"}});
    let (sql, notes) = with(&catalog(), &query).unwrap();
    assert_eq!(
        notes,
        [
            "ads has no data for 2027-01-01 to 2027-01-31. It has days from 2026-01-01 to 2026-03-08."
        ]
    );
    assert!(sql.contains("CASE WHEN count(*) > 0 THEN"), "no zero without data: {sql}");
}
