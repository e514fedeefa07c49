//! Metric queries over parts and over PostgreSQL: figures of both are the same, and a query run twice
//! gives the same bytes on any number of threads.

use contract::{
    definitions::Definitions,
    metric_query::{DataResult, MetricQuery},
    sources::{AskLimits, AskMeasure, AskedSource, ColumnKind, StoredColumn},
};
use csign_data::{database::Databases, serve::Asker, stop::Stop};
use kit::postgres::Postgres;
use serde_json::{Value, json};

use crate::{
    postgres,
    world::{World, column, drivers},
};

const DEFINITIONS: &str = "\
source: ads
time: {column: day}
dimensions:
  campaign: {column: campaign}
  device: {column: device}
measures:
  spend: {sum: cost, unit: money, currency: EUR}
  clicks: {sum: clicks}
  conversions: {sum: conversions}
  cpc: {ratio: [spend, clicks], unit: money}
";

/// Rows of three months, made by the same rule in both databases.
const ROWS: &str = "SELECT DATE '2026-09-01' + CAST(i % 91 AS INT) AS day, 'Campaign ' || CAST(i * 7919 % 17 AS VARCHAR) AS campaign, \
    CASE i % 3 WHEN 0 THEN 'Mobile' WHEN 1 THEN 'Desktop' ELSE NULL END AS device, CAST(i * 31 % 977 AS BIGINT) AS clicks, \
    CAST(CAST(i * 7907 % 100003 AS NUMERIC) / 100 AS DECIMAL(18, 2)) AS cost, CAST(CAST(i % 17 AS NUMERIC) / 10 AS DECIMAL(18, 1)) AS conversions FROM";

fn columns() -> Vec<StoredColumn> {
    vec![
        column("day", ColumnKind::Day, 0),
        column("campaign", ColumnKind::Text, 0),
        column("device", ColumnKind::Text, 0),
        column("clicks", ColumnKind::Whole, 0),
        column("cost", ColumnKind::Decimal, 2),
        column("conversions", ColumnKind::Decimal, 1),
    ]
}

fn definitions() -> Definitions {
    analytics::parse_definitions(DEFINITIONS).unwrap_or_else(|problem| panic!("{problem}"))
}

fn with_definitions(mut source: AskedSource) -> AskedSource {
    source.definitions = Some(definitions());
    source.columns = columns();
    source
}

fn parts_source(world: &World) -> AskedSource {
    source_of(world, 20_000)
}

fn source_of(world: &World, rows: u32) -> AskedSource {
    let part = world.part("ads", &format!("{ROWS} range({rows}) t(i)"), &columns());
    with_definitions(world.source("ads", &[part]))
}

fn ask(source: &AskedSource, query: &Value) -> AskMeasure {
    let mut query: MetricQuery =
        serde_json::from_value(query.clone()).unwrap_or_else(|error| panic!("{query}: {error}"));
    query.as_of = Some(
        serde_json::from_value(
            json!({"moment": "2026-11-30T12:00:00", "zone": "Europe/Stockholm"}),
        )
        .unwrap(),
    );
    AskMeasure { query, sources: vec![source.clone()], limits: AskLimits::default(), cursor: None }
}

fn measure(asker: &Asker, source: &AskedSource, query: &Value) -> DataResult {
    asker
        .measure(&ask(source, query), &Stop::never())
        .unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn queries() -> Vec<Value> {
    vec![
        json!({"measures": ["spend", "clicks", "cpc"]}),
        json!({"measures": ["spend"], "by": ["campaign"]}),
        json!({"measures": ["clicks", "cpc"], "by": ["device"]}),
        json!({"measures": ["spend"], "by": [{"time": "month"}, "device"], "period": {"from": "2026-09-01", "to": "2026-11-30"}}),
        json!({"measures": ["spend"], "by": [{"time": "week"}], "period": {"last": {"days": 30}}}),
        json!({"measures": ["cpc"], "by": ["campaign"], "order": [{"by": "cpc", "descending": true}], "limit": 5}),
        json!({"measures": ["spend"], "by": ["campaign"], "where": [{"device": ["Mobile"]}, {"spend": {">": 100}}]}),
        json!({"measures": ["spend"], "by": ["campaign"], "period": {"month": "2026-11"}, "compare": "previous"}),
        json!({"measures": [{"measure": "spend", "share_of": ["total"]}], "by": ["campaign"]}),
        json!({"measures": [{"measure": "spend", "running": true}], "by": [{"time": "day"}], "period": {"month": "2026-10"}}),
        json!({"measures": ["rows", "conversions"], "by": [{"time": "weekday"}]}),
        json!({"rows": true, "measures": [], "where": [{"campaign": ["Campaign 3"]}], "limit": 20}),
    ]
}

#[test]
fn figures_are_the_same_bytes_on_any_number_of_threads() {
    // A thread reads whole groups of 122,880 rows: the second source has work for several.
    for rows in [20_000, 600_000] {
        let world = World::new();
        let source = source_of(&world, rows);
        let with_threads = |threads| {
            let settings = csign_data::serve::ServeSettings { threads, ..world.settings() };
            Asker::open(&settings).unwrap()
        };
        let (one, four) = (with_threads(1), with_threads(4));
        for query in queries() {
            let first = measure(&one, &source, &query);
            let second = measure(&four, &source, &query);
            assert_eq!(first.sql, second.sql);
            assert_eq!(
                serde_json::to_string(&first).unwrap(),
                serde_json::to_string(&second).unwrap(),
                "{rows} rows: {query}"
            );
            assert!(!first.rows.is_empty(), "{query}");
        }
    }
}

#[test]
fn a_total_equals_an_independent_sum() {
    let world = World::new();
    let source = parts_source(&world);
    let result = measure(&world.asker(), &source, &json!({"measures": ["spend", "clicks"]}));
    let cost: i64 = (0..20_000_i64).map(|i| i * 7907 % 100_003).sum();
    let clicks: i64 = (0..20_000_i64).map(|i| i * 31 % 977).sum();
    #[allow(clippy::cast_precision_loss, reason = "the sum has fewer than 15 digits")]
    let spend = cost as f64 / 100.0;
    assert_eq!(result.rows[0][0].as_f64(), Some(spend), "{result:?}");
    assert_eq!(result.rows[0][1], json!(clicks));
    assert_eq!(result.definitions.len(), 2, "{:?}", result.definitions);
}

#[test]
fn a_long_result_has_pages_that_are_the_same_after_a_restart() {
    let world = World::new();
    let source = parts_source(&world);
    let query = json!({"measures": ["spend"], "by": [{"time": "day"}, "campaign"]});
    let mut call = ask(&source, &query);
    call.limits.rows = 500;
    let first = world.asker().measure(&call, &Stop::never()).unwrap();
    assert_eq!((first.rows.len(), first.row_count), (500, 91 * 17));
    call.cursor = first.more.clone();
    // Another process computes the whole result again.
    let second = world.asker().measure(&call, &Stop::never()).unwrap();
    assert_eq!(second.rows.len(), 500);
    let whole = measure(&world.asker(), &source, &query);
    assert_eq!(whole.rows[500..1000], second.rows);
}

#[test]
fn an_unknown_measure_is_refused_with_the_names_that_exist() {
    let world = World::new();
    let source = parts_source(&world);
    let error = world
        .asker()
        .measure(&ask(&source, &json!({"measures": ["spent"]})), &Stop::never())
        .unwrap_err();
    let error = contract::AgentError::from(error);
    assert!(error.message.contains("spend"), "{error:?}");
}

#[test]
fn a_converted_amount_says_which_rows_have_no_rate_or_an_old_one() {
    let world = World::new();
    let (day, text) = (column("day", ColumnKind::Day, 0), |name| column(name, ColumnKind::Text, 0));
    let ads = [day.clone(), text("currency"), column("cost", ColumnKind::Decimal, 2)];
    let fx = [day, text("own"), text("target"), column("rate", ColumnKind::Decimal, 4)];
    let rows = "SELECT CAST(d AS DATE) AS day, currency, CAST(c AS DECIMAL(18, 2)) AS cost FROM (VALUES \
                ('2026-11-01', 'USD', 10), ('2026-01-05', 'USD', 1), ('2026-11-02', 'SEK', 5)) t(d, currency, c)";
    let rates = "SELECT CAST(d AS DATE) AS day, own, 'EUR' AS target, CAST(r AS DECIMAL(18, 4)) AS rate FROM (VALUES \
                 ('2026-01-01', 'USD', 0.9), ('2026-10-31', 'USD', NULL)) t(d, own, r)";
    let mut ads = world.source("ads", &[world.part("ads", rows, &ads)]);
    let fx = world.source("fx", &[world.part("fx", rates, &fx)]);
    let definitions = "source: ads\ntime: {column: day}\nmeasures:\n  spend: {sum: cost, unit: money, currency: {column: currency}}\n\
                       rates: {source: fx, day: day, from: own, to: target, rate: rate}\n";
    ads.definitions = Some(analytics::parse_definitions(definitions).unwrap());
    for rest in [
        json!({}),
        json!({"by": [{"time": "month"}], "then": {"measures": [{"sum": "spend", "as": "spend"}]}}),
    ] {
        let mut query = json!({"source": "ads", "measures": ["spend"], "in_currency": "EUR"});
        query.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let mut call = ask(&ads, &query);
        call.sources.push(fx.clone());
        let result = world.asker().measure(&call, &Stop::never()).unwrap();
        assert_eq!(result.rows, [[json!(9.9)]], "{query}");
        let notes: Vec<String> = result.notes.iter().map(ToString::to_string).collect();
        assert!(notes.iter().any(|note| note.starts_with("1 rows have no rate")), "{notes:?}");
        assert!(notes.iter().any(|note| note.starts_with("1 rows are converted")), "{notes:?}");
    }
}

#[test]
fn postgres_gives_the_same_figures_and_does_the_grouping() {
    let world = World::new();
    let source = parts_source(&world);
    let server = Postgres::start();
    server.sql(&format!("CREATE TABLE ads AS {ROWS} generate_series(0, 19999) t(i); ANALYZE ads"));
    server.sql("CREATE ROLE reader LOGIN PASSWORD 'a''b\\c %20'; GRANT SELECT ON ads TO reader");
    let mut other = postgres::source(&server, "public.ads", "reader");
    other.name = "ads".into();
    let other = with_definitions(other);
    let (asker, databases) = (world.asker(), Databases::new(drivers()));
    for query in queries() {
        let here = measure(&asker, &source, &query);
        let there = databases
            .measure(&ask(&other, &query), &Stop::never())
            .unwrap_or_else(|error| panic!("{query}: {error}"));
        assert_eq!(here.rows, there.rows, "{query}\n{}", there.sql);
        assert_eq!(here.query, there.query, "{query}");
    }
    let log = server.log();
    assert!(log.contains("GROUP BY") && log.contains("\"public\".\"ads\""), "{log}");
}
