//! Properties of all queries, and figures of the reference that were computed by hand.

use chrono::NaiveDate;
use contract::metric_query::{MetricQuery, read_metric_query};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{Dialect, compile, resolve};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_query_that_is_written_and_read_again_is_the_same(case in case()) {
        let written = serde_json::to_value(&case.query).unwrap();
        if case.query != MetricQuery::default() {
            prop_assert_eq!(read_metric_query(&written).unwrap(), case.query);
        }
    }

    #[test]
    fn a_resolved_query_resolves_to_itself_and_gives_the_same_bytes(case in case()) {
        let catalog = catalogs().swap_remove(case.catalog);
        let Ok(resolved) = resolve(&case.query, &catalog, &as_of()) else { return Ok(()) };
        let again = resolve(&resolved.query, &catalog, &as_of()).unwrap();
        prop_assert_eq!(&again, &resolved);
        for dialect in [Dialect::DuckDb, Dialect::Postgres] {
            let first = compile(&resolved, &catalog, dialect);
            prop_assert_eq!(compile(&again, &catalog, dialect), first);
        }
    }

    #[test]
    fn the_reference_answers_every_query_that_compiles(case in case()) {
        let catalog = catalogs().swap_remove(case.catalog);
        let Ok(resolved) = resolve(&case.query, &catalog, &as_of()) else { return Ok(()) };
        if compile(&resolved, &catalog, Dialect::DuckDb).is_ok() {
            prop_assert!(evaluate(&resolved.query, &catalog, &case.tables).is_some());
        }
    }
}

/// Two days of two campaigns. The second one is renamed on the second day.
fn tables() -> Vec<Table> {
    let text = |text: &str| Cell::Text(text.to_owned());
    let number = |unscaled, scale| Cell::Number(Number { unscaled, scale });
    let row = |day: u32, name: &str, id: &str, device: &str, cost, clicks| {
        vec![
            NaiveDate::from_ymd_opt(2026, 2, day).map_or(Cell::Empty, Cell::Day),
            text(name),
            text(id),
            text(device),
            text("EUR"),
            number(cost, 2),
            number(clicks, 0),
            number(1_000, 3),
            number(50_000, 2),
            Cell::Flag(true),
        ]
    };
    let ads = vec![
        row(1, "Alpha", "1", "Mobile", 10_00, 3),
        row(1, "Old", "2", "Desktop", 20_00, 4),
        row(2, "Alpha", "1", "Desktop", 30_00, 5),
        row(2, "New", "2", "Mobile", 40_00, 6),
    ];
    let plan = vec![vec![
        text("1"),
        NaiveDate::from_ymd_opt(2026, 2, 1).map_or(Cell::Empty, Cell::Day),
        NaiveDate::from_ymd_opt(2026, 2, 3).map_or(Cell::Empty, Cell::Day),
        number(10_000, 2),
        number(5_00, 2),
    ]];
    let wide = vec![vec![text("1"), Cell::Empty, number(28_000, 2)]];
    let clients = vec![vec![text("1"), text("North"), number(7, 0)]];
    [ads, Vec::new(), Vec::new(), Vec::new(), clients, plan, wide]
        .into_iter()
        .map(|rows| Table { rows })
        .collect()
}

#[track_caller]
fn answered(query: Value, rows: Value) {
    let catalog = catalog();
    let query = read_metric_query(&query).unwrap();
    let resolved = resolve(&query, &catalog, &as_of()).unwrap();
    let answer = evaluate(&resolved.query, &catalog, &tables()).unwrap();
    assert_eq!(json!(answer.rows), rows);
}

#[test]
fn all_sources_have_each_of_the_calendars() {
    let all = catalogs();
    let starts: Vec<u32> = all.iter().map(|one| one.sources[0].calendar().year_start).collect();
    assert_eq!(starts, [2, 1, 10]);
    assert!(all.iter().all(|one| one.sources.len() == 7));
}

#[test]
fn the_reference_gives_figures_that_were_computed_by_hand() {
    answered(
        json!({"source": "ads", "measures": ["clicks", "rate"]}),
        json!([[18, 0.222_222_222]]),
    );
    answered(
        json!({"source": "ads", "measures": ["clicks"], "by": ["campaign"]}),
        json!([["Alpha", "1", 8], ["New", "2", 10]]),
    );
    answered(
        json!({"source": "ads", "measures": ["clicks"], "where": {"campaign": "Old"}}),
        json!([[10]]),
    );
    answered(
        json!({"source": "ads", "measures": ["budget"], "by": [{"time": "day"}]}),
        json!([["2026-02-01", 1000], ["2026-02-02", 1000]]),
    );
    answered(json!({"source": "ads", "measures": ["budget"]}), json!([[1000]]));
    answered(
        json!({"source": "ads", "measures": ["middle", "high", "campaigns"]}),
        json!([[1, 5.7, 2]]),
    );
    answered(
        json!({"source": "ads", "measures": [{"measure": "clicks", "share_of": "total"}], "by": ["device"]}),
        json!([["Desktop", 0.5], ["Mobile", 0.5]]),
    );
    answered(
        json!({"source": "ads", "measures": [{"measure": "clicks", "running": true}], "by": [{"time": "day"}]}),
        json!([["2026-02-01", 7], ["2026-02-02", 18]]),
    );
    let day = |day: &str| json!({"from": day, "to": day});
    answered(
        json!({"source": "ads", "measures": ["mobile_share"], "period": day("2026-02-02"), "compare": {"period": day("2026-02-01")}}),
        // 6/11 is by 3/11 more than 3/7. The rounded ratios would give 0.272727270.
        json!([[0.545_454_545, 0.428_571_429, 0.116_883_116, 0.272_727_273]]),
    );
    answered(
        json!({"source": "ads", "measures": [{"measure": "clicks", "share_of": "total"}], "by": ["campaign"], "top": {"n": 1}}),
        json!([["New", "2", false, 0.555_555_556]]),
    );
    answered(
        json!({"source": "ads", "rows": true, "columns": ["Clicks"], "where": {"device": "Mobile"}}),
        json!([[3], [6]]),
    );
    answered(
        json!({"source": "ads", "explain": {"measure": "clicks", "by": ["device"]}, "period": day("2026-02-02"), "compare": {"period": day("2026-02-01")}}),
        json!([["device", "Mobile", 3, 6, 3, 0.75], ["device", "Desktop", 4, 5, 1, 0.25]]),
    );
    answered(
        json!({"source": "ads", "measures": ["clicks"], "by": ["team"], "totals": true}),
        json!([[null, 18, true], ["North", 8, false], [null, 10, false]]),
    );
    answered(
        json!({"source": "plan", "measures": ["plan_total", "plan_daily"], "by": [{"time": "day"}]}),
        json!([
            ["2026-02-01", 33.333_333_333, 5],
            ["2026-02-02", 33.333_333_334, 5],
            ["2026-02-03", 33.333_333_333, 5]
        ]),
    );
    answered(
        json!({"source": "plan", "measures": ["plan_total"], "period": {"from": "2026-02-02"}}),
        json!([[66.666_666_667]]),
    );
    answered(
        json!({"source": "wide", "measures": ["wide_planned"], "period": {"from": "2026-02-01", "to": "2026-02-07"}}),
        json!([[70]]),
    );
}

#[test]
fn a_period_without_data_has_no_figures() {
    let period = json!({"month": "2027-01"});
    answered(
        json!({"source": "ads", "measures": ["clicks", "rows", "campaigns"], "period": period}),
        json!([[null, null, null]]),
    );
    answered(
        json!({"source": "ads", "measures": ["rows"], "period": {"from": "2026-02-01", "to": "2026-02-02"}, "compare": {"period": period}}),
        json!([[4, null, null, null]]),
    );
}
