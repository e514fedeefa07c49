//! Snapshots of the SQL of each construct, and the faults that are refused with their remedy.

use contract::{definitions::Better, metric_query::ComparedFigure};
use serde_json::{Value, json};

use super::{
    Purpose,
    testing::{refused, snapshots, sql_of, try_compile},
};
use crate::{Dialect, reference::catalog};

/// Returns the SQL for DuckDB with the columns and notes.
fn written(query: &Value) -> String {
    let (_, compiled) = try_compile(&catalog(), query, Dialect::DuckDb).unwrap();
    let columns: Vec<String> = compiled
        .columns
        .iter()
        .map(|column| {
            let shown = &column.column;
            format!("{} {:?} {:?} {:?}", shown.name, shown.kind, shown.unit, column.purpose)
        })
        .collect();
    let notes: Vec<&str> = compiled.notes.iter().map(contract::Text::as_str).collect();
    format!("{}\n\n-- {}\n-- {}", compiled.sql, columns.join("\n-- "), notes.join("\n-- "))
}

snapshots! {
    a_total_is_one_row: {"measures": ["clicks", "rows"], "source": "ads"};
    amounts_have_a_row_for_each_currency: {"measures": ["spend"]};
    a_constant_currency_needs_no_row_of_its_own: {"measures": ["spend"], "where": {"Currency": "EUR"}};
    a_ratio_is_divided_last: {"measures": ["rate"], "by": ["device"]};
    a_keyed_dimension_has_the_latest_name: {"measures": ["clicks"], "by": ["campaign"]};
    derived_dimensions_are_computed_by_row: {"measures": ["clicks"], "by": ["brand", "family", "part", "size", "first_device"], "source": "ads"};
    times_are_truncated_by_the_calendar_of_the_source: {"measures": ["clicks"], "by": [{"time": "week"}, {"time": "quarter"}], "period": {"last": {"days": 30}}};
    conditions_keep_empty_values_in_their_opposite: {"measures": ["clicks"], "where": [{"not": {"device": "Mobile"}}, {"or": [{"name": {"contains": "it's"}}, {"Clicks": {">": 5}}]}]};
    a_condition_on_a_measure_filters_the_result: {"measures": ["clicks"], "by": ["device"], "where": {"rate": {">": 0.01}}};
    a_condition_can_ask_another_query: {"measures": ["clicks"], "by": ["device"], "where": {"campaign": {"in": {"measures": ["clicks"], "by": ["campaign"], "order": [{"by": "clicks", "descending": true}], "limit": 3}}}};
    a_measure_can_have_conditions: {"measures": ["mobile_clicks", {"measure": "clicks", "as": "brand_clicks", "where": {"brand": true}}], "by": ["device"]};
    a_share_is_a_part_of_the_total: {"measures": [{"measure": "clicks", "share_of": "total"}, {"measure": "spend", "share_of": "campaign"}], "by": ["device", "campaign"]};
    a_comparison_stacks_both_periods: {"measures": ["clicks", "rate"], "by": ["device"], "period": "this_month", "compare": "previous"};
    a_comparison_with_last_year_moves_the_days: {"measures": ["clicks"], "by": [{"time": "day"}], "period": {"month": "2026-02"}, "compare": "last_year"};
    two_values_are_compared: {"measures": ["clicks"], "by": ["campaign"], "compare": {"values": {"device": ["Mobile", "Desktop"]}}};
    running_and_rolling_totals_add_before_they_divide: {"measures": [{"measure": "clicks", "running": true}, {"measure": "rate", "rolling": {"days": 7}}], "by": [{"time": "day"}], "period": {"from": "2026-02-01", "to": "2026-02-28"}};
    an_average_per_day_divides_by_the_days_of_the_period: {"measures": [{"measure": "clicks", "per": "day"}], "by": [{"time": "month"}], "period": {"from": "2026-01-15", "to": "2026-03-31"}};
    last_values_are_added_over_their_keys: {"measures": ["budget"], "by": ["device"]};
    a_percentile_lies_between_two_rows: {"measures": ["middle", "high"], "source": "ads"};
    a_first_group_has_the_others_as_one: {"measures": ["clicks", "rate"], "by": ["device", "campaign"], "top": {"n": 3, "per": "device", "others": true}};
    times_without_rows_are_filled: {"measures": ["clicks"], "by": [{"time": "day"}, "device"], "period": {"from": "2026-03-01", "to": "2026-03-10"}, "fill": true};
    a_second_step_computes_over_the_first: {"measures": ["clicks"], "by": [{"time": "day"}, "device"], "then": {"measures": [{"average": "clicks"}, {"greatest": "clicks"}], "by": ["device"]}};
    figures_of_two_sources_stand_side_by_side: {"source": "ads", "measures": ["clicks", "budgets.planned", "used_up"], "by": ["campaign"]};
    amounts_are_converted_with_the_rate_of_their_day: {"measures": ["spend"], "by": [{"time": "month"}], "in_currency": "EUR"};
    single_rows_are_listed_without_adding_up: {"source": "ads", "rows": true, "by": ["campaign"], "measures": ["clicks"], "columns": ["Cost"], "where": {"Clicks": {">": 100}}, "limit": 20};
    an_explanation_has_the_contribution_of_each_value: {"explain": {"measure": "clicks", "by": ["device", "campaign"]}, "source": "ads", "period": {"month": "2026-02"}, "compare": "previous"};
    an_explained_ratio_is_compared_with_its_former_parts: {"explain": {"measure": "rate", "by": ["device"]}, "source": "ads", "period": {"month": "2026-02"}, "compare": "previous", "limit": 10};
    hours_need_moments: {"source": "orders", "measures": ["revenue", "value"], "by": [{"time": "hour_of_day"}, {"time": "part_of_day"}]};
    own_calculations_need_no_definition: {"source": "ads", "measures": [{"ratio": ["spend", "clicks"], "as": "cpc"}, {"sum": "Conversions", "as": "all"}], "by": [{"define": {"split": {"of": "Campaign", "by": "_", "part": 1}}, "as": "prefix"}]};
    a_ratio_of_ratios_is_divided_once: {"source": "ads", "measures": ["odd"]};
    a_share_beside_the_first_groups_is_one_of_all_groups: {"source": "ads", "measures": [{"measure": "clicks", "share_of": "total"}], "by": ["device"], "top": {"n": 2}};
    a_second_step_never_adds_amounts_of_two_currencies: {"measures": ["spend"], "by": ["campaign", "device"], "then": {"measures": [{"average": "spend"}], "by": ["campaign"]}};
    an_amount_without_a_definition_has_the_currency_of_its_column: {"source": "ads", "measures": [{"sum": "Cost", "as": "cost"}]};
    an_order_names_ties_at_the_limit: {"measures": ["clicks"], "by": ["name"], "order": [{"by": "clicks", "descending": true}], "limit": 10};
}

#[test]
fn the_columns_of_a_comparison_say_their_places_and_which_changes_are_good() {
    let mut catalog = catalog();
    let cpa = catalog.sources[0].definitions.measures.get_mut("cpa").unwrap();
    cpa.better = Some(Better::Lower);
    let places = |query: Value| {
        let (_, compiled) = try_compile(&catalog, &query, Dialect::DuckDb).unwrap();
        let shown = compiled.columns.into_iter().filter(|one| one.purpose == Purpose::Shown);
        let named = shown.filter(|one| one.column.name.starts_with("cpa"));
        named.map(|one| (one.column.compared, one.column.better)).collect::<Vec<_>>()
    };
    let query = json!({"source": "ads", "measures": ["cpa"], "period": {"month": "2026-02"}});
    assert_eq!(places(query.clone()), [(None, None)]);
    let mut compared = query;
    compared["compare"] = json!("previous");
    assert_eq!(
        places(compared),
        [
            (Some(ComparedFigure::Now), None),
            (Some(ComparedFigure::Before), None),
            (Some(ComparedFigure::Change), Some(Better::Lower)),
            (Some(ComparedFigure::Growth), Some(Better::Lower)),
        ]
    );
}

#[test]
fn columns_say_whether_their_values_add_up() {
    let query = json!({"source": "ads", "measures": ["clicks", "cpa"], "by": ["device"]});
    let catalog = catalog();
    let (_, compiled) = try_compile(&catalog, &query, Dialect::DuckDb).unwrap();
    let adds_up = |name: &str| {
        let mut columns = compiled.columns.iter().map(|one| &one.column);
        columns.find(|column| column.name == name).unwrap().adds_up
    };
    assert_eq!((adds_up("clicks"), adds_up("cpa"), adds_up("device")), (true, false, false));
}

#[test]
fn last_values_add_up_within_one_time_and_not_over_several() {
    let catalog = catalog();
    let adds_up = |query: Value| -> Vec<bool> {
        let (_, compiled) = try_compile(&catalog, &query, Dialect::DuckDb).unwrap();
        let columns = compiled.columns.iter().map(|one| &one.column);
        let figures = columns.filter(|column| ["clicks", "budget"].contains(&column.name.as_str()));
        figures.map(|column| column.adds_up).collect()
    };
    let query = |by: Value| json!({"source": "ads", "measures": ["clicks", "budget"], "by": by});
    assert_eq!(adds_up(query(json!(["device"]))), [true, true]);
    assert_eq!(adds_up(query(json!(["device", {"time": "month"}]))), [true, false]);
    let mut months_apart = query(json!(["device", {"time": "month"}]));
    months_apart["pivot"] = json!("month");
    assert_eq!(adds_up(months_apart), [true, true]);
}

#[test]
fn the_sql_for_postgresql_uses_its_own_functions() {
    let query = json!({"measures": ["rate", "middle"], "by": ["name", {"time": "week"}], "period": {"last": {"weeks": 2}}, "fill": true, "limit": 5});
    insta::assert_snapshot!(sql_of(&query, Dialect::Postgres));
}

#[test]
fn the_sql_that_engines_share_names_the_places_of_each_decimal() {
    let query = json!({"measures": ["rate"], "by": ["name", {"time": "week"}], "limit": 5});
    let sql = sql_of(&query, Dialect::Standard);
    // Elsewhere, NUMERIC has no decimal places, and the sign of a number is a float.
    for missing in ["NUMERIC", "COLLATE", "sign(", "div(", "//"] {
        assert!(!sql.contains(missing), "{missing} in {sql}");
    }
    for query in [
        json!({"source": "ads", "measures": ["middle"]}),
        json!({"measures": ["clicks"], "by": [{"time": "day"}], "period": {"last": {"days": 3}}, "fill": true}),
    ] {
        let problem = try_compile(&catalog(), &query, Dialect::Standard).unwrap_err().to_string();
        assert!(problem.contains("This database cannot"), "{problem}");
    }
}

#[test]
fn unknown_names_are_refused_with_the_nearest_one() {
    refused(json!({"measures": ["clics"]}), "Name the source");
    refused(json!({"source": "ads", "measures": ["clics"]}), "Is “clicks” meant?");
    refused(
        json!({"source": "ads", "measures": ["clicks"], "by": ["devise"]}),
        "Is “device” meant?",
    );
    refused(json!({"source": "add", "measures": ["clicks"]}), "Is “ads” meant?");
    refused(json!({"source": "ads", "messures": ["clicks"]}), "Is “measures” meant?");
    refused(json!({"source": "ads", "measures": ["Cost"]}), "Cost is a column of ads");
    refused(
        json!({"source": "ads", "measures": ["clicks"], "order": [{"by": "spent"}]}),
        "The order names spent",
    );
    refused(
        json!({"source": "ads", "measures": ["clicks"], "period": "last_mont"}),
        "Is “last_month” meant?",
    );
}

#[test]
fn questions_that_no_query_answers_are_declined_by_their_names() {
    for name in ["forecast", "cause", "significance", "funnel", "cohort"] {
        let mut query = json!({"source": "ads", "measures": ["clicks"]});
        query[name] = json!(true);
        refused(query, &format!("There is no {name} in a metric query"));
    }
}

#[test]
fn figures_that_do_not_add_up_are_refused() {
    let by_day = json!([{"time": "day"}]);
    refused(
        json!({"source": "ads", "measures": [{"measure": "campaigns", "running": true}], "by": by_day}),
        "does not add up",
    );
    refused(
        json!({"source": "ads", "measures": [{"measure": "rate", "share_of": "total"}]}),
        "does not add up",
    );
    refused(
        json!({"measures": ["budgets.planned", "clicks"], "by": ["device"], "source": "ads"}),
        "budgets has no device",
    );
    refused(
        json!({"source": "ads", "measures": [{"measure": "clicks", "rolling": {"days": 7}}], "by": [{"time": "week"}]}),
        "same unit of time",
    );
    refused(
        json!({"source": "ads", "measures": ["clicks"], "by": [{"time": "hour"}]}),
        "days without hours",
    );
    refused(
        json!({"source": "ads", "measures": ["clicks"], "where": {"device": {">": true}}}),
        "it has texts",
    );
    refused(
        json!({"source": "ads", "measures": ["clicks"], "compare": "previous"}),
        "first and a last day",
    );
}

#[test]
fn members_that_would_change_nothing_are_refused() {
    let explain = json!({"measure": "clicks", "by": ["device"]});
    let explained = |member: &str, value: Value| {
        let mut query = json!({"source": "ads", "explain": explain.clone(), "period": {"month": "2026-02"}, "compare": "previous"});
        query[member] = value;
        query
    };
    for (member, value) in [
        ("measures", json!(["rate"])),
        ("by", json!(["campaign"])),
        ("order", json!([{"by": "now"}])),
        ("top", json!({"n": 2})),
        ("fill", json!(true)),
        ("pivot", json!("device")),
        ("then", json!({"measures": [{"sum": "now"}]})),
    ] {
        refused(explained(member, value), &format!("An explanation has no {member}."));
    }
    refused(explained("where", json!({"clicks": {">": 5}})), "concern rows, not figures");
    let rows = |member: &str, value: Value| {
        let mut query = json!({"source": "ads", "rows": true});
        query[member] = value;
        query
    };
    refused(rows("in_currency", json!("EUR")), "Single rows have no in_currency.");
    let running = json!([{"measure": "clicks", "running": true}]);
    refused(rows("measures", running), "Single rows have no share_of, running");
    refused(
        json!({"source": "ads", "measures": ["clicks"], "columns": ["Day"]}),
        "The member columns is for single rows.",
    );
}

#[test]
fn averages_and_ranks_of_what_cannot_have_them_are_refused() {
    for measure in ["rate", "campaigns", "middle"] {
        refused(
            json!({"source": "ads", "measures": [{"measure": measure, "per": "day"}], "period": {"month": "2026-02"}}),
            "does not add up, so there is no average of it",
        );
    }
    refused(
        json!({"source": "ads", "measures": ["clicks"], "by": ["device"], "period": {"month": "2026-02"}, "compare": "previous", "top": {"n": 2, "by": "clicks_change"}}),
        "\"top\" cannot rank by clicks_change",
    );
}

#[test]
fn synonyms_and_other_cases_of_letters_are_found() {
    let sql = |query: Value| sql_of(&query, Dialect::DuckDb);
    assert_eq!(
        sql(json!({"source": "ads", "measures": ["CLICKS"], "by": ["kampanj"]})),
        sql(json!({"source": "ads", "measures": ["clicks"], "by": ["campaign"]})),
    );
}

#[test]
fn quotes_in_names_and_values_stay_inside_of_them() {
    let query = json!({"source": "ads", "measures": [{"measure": "clicks", "as": "a\"b"}], "where": {"name": ["x'; DROP TABLE ads; --"]}});
    let sql = sql_of(&query, Dialect::DuckDb);
    assert!(sql.contains("'x''; DROP TABLE ads; --'") && sql.contains("\"a\"\"b\""), "{sql}");
}
