//! Sources that are computed from delivery and plan: the SQL of DuckDB and of PostgreSQL gives what the
//! slow reference gives, for the worked examples of `docs/contracts/pacing.md` and for random tables.

use std::cell::RefCell;

use analytics::{
    Catalog, Dialect, compile,
    reference::{
        PacingCase, Table, evaluate, pacing_as_of, pacing_case, pacing_catalog, pacing_example,
    },
    resolve,
};
use chrono::NaiveDate;
use contract::metric_query::{MetricQuery, read_metric_query};
use csign_data::link::Link;
use kit::postgres::Postgres;
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};

use crate::{
    postgres,
    properties::{ask, compare, duck, select, stored},
    world::World,
};

const FIGURES: [&str; 15] = [
    "spend",
    "impressions",
    "budget",
    "planned_to_date",
    "spend_to_date",
    "variance",
    "variance_percent",
    "daily_rate",
    "needed_per_day",
    "projection",
    "days_left",
    "run_out_day",
    "days_early",
    "spend_without_budget",
    "campaigns",
];

/// Asks at the level of campaigns, of accounts, and of no thing, the last one with assumptions.
fn queries(case: &PacingCase) -> Vec<MetricQuery> {
    let flags = ["at_risk", "runs_out_early", "no_delivery", "late_data"];
    let all = [&["account", "campaign", "status"][..], &flags].concat();
    let assumed = json!([
        {"where": {"campaign": ["a", "b", "Alder"]}, "budget": {"by": 1_000}},
        {"where": {"campaign": {"not": ["a"]}}, "budget": {"percent": -10}, "rate": {"percent": 50}},
    ]);
    [
        (all, json!([])),
        (vec!["account", "status", "at_risk"], json!([])),
        (vec!["status", "at_risk"], assumed),
    ]
    .into_iter()
    .map(|(by, what_if)| {
        // Verdicts are ordered by their severity, the other way round beside assumptions.
        let order =
            json!([{"by": "status", "descending": what_if != json!([])}, {"by": "variance"}]);
        let mut query = json!({"source": "pacing", "measures": FIGURES, "by": by, "what_if": what_if, "order": order});
        let mut period = serde_json::Map::new();
        let ends = [("from", case.window.0), ("to", case.window.1)];
        for (name, day) in ends.into_iter().filter_map(|(name, day)| Some((name, day?))) {
            period.insert(name.to_owned(), Value::from(day.to_string()));
        }
        if !period.is_empty() {
            query["period"] = Value::Object(period);
        }
        read_metric_query(&query).unwrap()
    })
    .collect()
}

fn check(
    case: &PacingCase,
    catalog: &Catalog,
    dialect: Dialect,
    link: &mut Link,
) -> Result<(), TestCaseError> {
    for (source, table) in catalog.sources.iter().zip(&case.tables) {
        if source.definitions.pacing.is_none() {
            let (rows, name) = (select(table, &stored(source), dialect), source.name());
            link.run(&format!("DROP TABLE IF EXISTS \"{name}\"")).unwrap();
            link.run(&format!("CREATE TEMP TABLE \"{name}\" AS {rows}")).unwrap();
        }
    }
    for query in queries(case) {
        let Ok(resolved) = resolve(&query, catalog, &pacing_as_of(case.today)) else { continue };
        let compiled = compile(&resolved, catalog, dialect).unwrap();
        let answer = evaluate(&resolved.query, catalog, &case.tables).unwrap();
        let rows = ask(link, &compiled.sql)?;
        compare(&compiled, &resolved, &rows, &answer)?;
    }
    Ok(())
}

/// The worked examples in the morning of the 15th of November, and random tables.
fn computes_what_the_reference_computes(dialect: Dialect, link: &mut Link, cases: u32) {
    let catalogs = [pacing_catalog(false).unwrap(), pacing_catalog(true).unwrap()];
    let tables: Vec<Table> = pacing_example();
    let today = NaiveDate::from_ymd_opt(2026, 11, 15).unwrap();
    let example = PacingCase { tables, window: (None, None), today, names_accounts: true };
    check(&example, &catalogs[1], dialect, link).unwrap_or_else(|error| panic!("{error}"));
    let mut runner = TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    });
    let link = RefCell::new(link);
    runner
        .run(&pacing_case(), |case| {
            let catalog = &catalogs[usize::from(case.names_accounts)];
            check(&case, catalog, dialect, &mut link.borrow_mut())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn duckdb_computes_the_pacing_that_the_reference_computes() {
    let world = World::new();
    let duck = duck(&world);
    let mut link = duck.connect().unwrap();
    computes_what_the_reference_computes(Dialect::DuckDb, &mut link, 40);
}

#[test]
fn postgres_computes_the_pacing_that_the_reference_computes() {
    let server = Postgres::start();
    let mut link = postgres::link(&server);
    // Compiling a statement to machine code takes longer than these rows.
    link.run("SET jit = off").unwrap();
    computes_what_the_reference_computes(Dialect::Postgres, &mut link, 30);
}
