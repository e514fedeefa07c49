//! Questions over parts: SQL, rows, pages, descriptions, exclusions and verification.

use contract::{
    AgentError,
    definitions::DefinitionState,
    metric_query::{DataResult, DataType},
    sources::{
        AskDescribe, AskLimits, AskProve, AskQuery, AskRows, AskedSource, ColumnKind, DayRange,
        Exclusion, ImportScope, RowOrder,
    },
};
use csign_data::{
    DataError,
    serve::{AskVerify, Asker},
    stop::Stop,
};
use serde_json::{Value, json};

use crate::world::{World, column};

pub(crate) fn ask(sql: &str, sources: &[AskedSource]) -> AskQuery {
    AskQuery {
        sql: sql.to_owned(),
        sources: sources.to_vec(),
        limits: AskLimits::default(),
        cursor: None,
    }
}

pub(crate) fn query(
    asker: &Asker,
    sql: &str,
    sources: &[AskedSource],
) -> Result<DataResult, DataError> {
    let stop = Stop::after(60_000);
    let _end = stop.until_dropped();
    asker.query(&ask(sql, sources), &stop)
}

fn rows(asker: &Asker, sql: &str, sources: &[AskedSource]) -> Vec<Vec<Value>> {
    query(asker, sql, sources).unwrap_or_else(|error| panic!("{sql}: {error}")).rows
}

fn spend(world: &World, name: &str, rows: &str) -> contract::sources::PartRef {
    world.part(
        name,
        &format!("SELECT * FROM (VALUES {rows}) t(day, campaign, cost)"),
        &[
            column("day", ColumnKind::Day, 0),
            column("campaign", ColumnKind::Text, 0),
            column("cost", ColumnKind::Decimal, 2),
        ],
    )
}

#[test]
fn values_of_all_types_are_exact() {
    let world = World::new();
    let part = spend(&world, "a", "(DATE '2026-11-01', 'it''s', 1234.50::DECIMAL(18,2))");
    let (asker, sources) = (world.asker(), [world.source("ads", &[part])]);
    let result = query(
        &asker,
        "SELECT day, campaign, cost, 123456789012345678::BIGINT AS id, sum(cost) OVER () AS total, 0.1::DOUBLE + 0.2 AS f, \
         TIMESTAMP '2026-11-01 09:00:00' AS m, true AS b, NULL AS n, 12345678901234567890.12::DECIMAL(38,2) AS big FROM ads",
        &sources,
    )
    .unwrap();
    assert_eq!(
        result.rows,
        [vec![
            json!("2026-11-01"),
            json!("it's"),
            json!(1234.5),
            json!("123456789012345678"),
            json!(1234.5),
            json!(0.3),
            json!("2026-11-01T09:00:00"),
            json!(true),
            Value::Null,
            json!("12345678901234567890.12"),
        ]]
    );
    let kinds: Vec<DataType> = result.columns.iter().map(|column| column.kind).collect();
    use DataType::{Day, Decimal, Flag, Float, Moment, Text, Whole};
    assert_eq!(kinds[..8], [Day, Text, Decimal, Whole, Decimal, Float, Moment, Flag]);
    assert_eq!(result.definition_state, DefinitionState::WrittenByModel);
    assert_eq!(result.row_count, 1);
    assert_eq!(result.query.len(), 64);
}

#[test]
fn a_source_is_the_union_of_its_parts_without_replaced_rows() {
    let world = World::new();
    let mut old = spend(
        &world,
        "old",
        "(DATE '2026-10-31', 'A', 1.00::DECIMAL(18,2)), (DATE '2026-11-01', 'A', 2), (DATE '2026-11-02', 'B', 4), (NULL, 'A', 8)",
    );
    let new = spend(&world, "new", "(DATE '2026-11-01', 'A', 100.00::DECIMAL(18,2))");
    let days =
        DayRange { first: "2026-11-01".parse().unwrap(), last: "2026-11-30".parse().unwrap() };
    let scope = ImportScope {
        values: [("campaign".to_owned(), vec!["A".to_owned()])].into(),
        days: Some(days),
        is_range_stated: true,
    };
    old.without = vec![Exclusion::Scope { scope, time: Some("day".to_owned()) }];
    let asker = world.asker();
    let sources = [world.source("ads", &[old.clone(), new.clone()])];
    assert_eq!(rows(&asker, "SELECT sum(cost) FROM ads", &sources), [[json!(113)]]);
    old.without = vec![Exclusion::Keys {
        of: new.file.clone(),
        columns: vec!["day".to_owned(), "campaign".to_owned()],
    }];
    let sources = [world.source("ads", &[old, new])];
    assert_eq!(rows(&asker, "SELECT sum(cost) FROM ads", &sources), [[json!(113)]]);
    assert_eq!(
        rows(
            &asker,
            "SELECT campaign, sum(cost) AS cost FROM ADS GROUP BY 1 ORDER BY 2 DESC",
            &sources
        ),
        [[json!("A"), json!(109)], [json!("B"), json!(4)]]
    );
}

#[test]
fn the_tables_of_a_call_are_unknown_to_other_calls() {
    let world = World::new();
    let part = spend(&world, "a", "(DATE '2026-11-01', 'A', 1.00::DECIMAL(18,2))");
    let asker = world.asker();
    let ads = world.source("ads", std::slice::from_ref(&part));
    rows(&asker, "SELECT * FROM ads", &[ads]);
    let other = world.source("other", &[part]);
    let error = query(&asker, "SELECT * FROM ads", &[other]).unwrap_err();
    let error = AgentError::from(error);
    assert_eq!(error.message, "There is no source named ads. The query may use: other.");
}

#[test]
fn queries_that_the_host_compares_with_are_allowed() {
    let world = World::new();
    let before = spend(
        &world,
        "b",
        "(DATE '2026-11-01', 'A', 1.00::DECIMAL(18,2)), (DATE '2026-11-01', 'B', 2)",
    );
    let file = spend(
        &world,
        "f",
        "(DATE '2026-11-01', 'A', 3.00::DECIMAL(18,2)), (DATE '2026-11-02', 'A', 4)",
    );
    let asker = world.asker();
    let sources = [world.source("before", &[before]), world.source("file", &[file])];
    let sql = "WITH b AS (SELECT day, campaign, count(*) AS n, sum(cost) AS cost, sum(hash(day, campaign, cost)::HUGEINT) AS h FROM before GROUP BY ALL), \
               f AS (SELECT day, campaign, count(*) AS n, sum(cost) AS cost, sum(hash(day, campaign, cost)::HUGEINT) AS h FROM file GROUP BY ALL) \
               SELECT count(*) FILTER (WHERE b.n IS NULL) AS new, count(*) FILTER (WHERE f.n IS NULL) AS vanished, \
               count(*) FILTER (WHERE b.h <> f.h) AS changed, CAST(coalesce(sum(b.cost) FILTER (WHERE f.n IS NULL), 0) AS VARCHAR) AS amount \
               FROM b FULL JOIN f ON b.day IS NOT DISTINCT FROM f.day AND b.campaign IS NOT DISTINCT FROM f.campaign";
    assert_eq!(rows(&asker, sql, &sources), [[json!(1), json!(1), json!(1), json!("2.00")]]);
    let sql = "SELECT count(*) FROM (SELECT * FROM before EXCEPT ALL SELECT * FROM file UNION ALL BY NAME SELECT * FROM file)";
    assert!(query(&asker, sql, &sources).is_ok());
}

#[test]
fn long_results_come_in_pages_of_one_state() {
    let world = World::new();
    let part = world.part(
        "n",
        "SELECT i::BIGINT AS i FROM range(25000) t(i)",
        &[column("i", ColumnKind::Whole, 0)],
    );
    let asker = world.asker();
    let sources = [world.source("n", &[part])];
    let mut seen = Vec::new();
    let mut call = ask("SELECT i FROM n", &sources);
    loop {
        let stop = Stop::never();
        let page = asker.query(&call, &stop).unwrap();
        assert_eq!(page.row_count, 25_000);
        seen.extend(page.rows.into_iter().map(|row| row[0].as_u64().unwrap()));
        match page.more {
            Some(more) => call.cursor = Some(more),
            None => break,
        }
    }
    assert_eq!(seen, (0..25_000).collect::<Vec<_>>());
    call.cursor = Some("x:5".to_owned());
    assert!(matches!(asker.query(&call, &Stop::never()), Err(DataError::Arguments(_))));
    // Another process no longer has the rows.
    let mut call = ask("SELECT i FROM n", &sources);
    call.cursor = asker.query(&call, &Stop::never()).unwrap().more;
    assert!(matches!(world.asker().query(&call, &Stop::never()), Err(DataError::ResultGone)));
}

#[test]
fn an_answer_has_at_most_the_bytes_of_its_limit() {
    let world = World::new();
    let part = world.part(
        "t",
        "SELECT repeat('x', 1000) AS t FROM range(500)",
        &[column("t", ColumnKind::Text, 0)],
    );
    let asker = world.asker();
    let mut call = ask("SELECT t FROM t", &[world.source("t", &[part])]);
    call.limits.bytes = 64 << 10;
    let page = asker.query(&call, &Stop::never()).unwrap();
    assert!(page.rows.len() > 50 && page.rows.len() < 66, "{}", page.rows.len());
    assert!(serde_json::to_string(&page.rows).unwrap().len() <= 64 << 10);
    assert_eq!((page.row_count, page.more.is_some()), (500, true));
}

#[test]
fn rows_are_stored_in_their_order_and_sorted_on_demand() {
    let world = World::new();
    let part = |name: &str, from: u32| {
        world.part(
            name,
            &format!("SELECT (i * 7919 % 100000)::BIGINT AS k, i::BIGINT AS i FROM range({from}, {from} + 200000) t(i)"),
            &[column("k", ColumnKind::Whole, 0), column("i", ColumnKind::Whole, 0)],
        )
    };
    let parts = [part("a", 0), part("b", 200_000)];
    let asker = world.asker();
    let mut call = AskRows {
        source: world.source("n", &parts),
        columns: vec!["i".to_owned()],
        order: None,
        offset: 199_998,
        limits: AskLimits { rows: 4, ..AskLimits::default() },
    };
    let page = asker.rows(&call, &Stop::never()).unwrap();
    let cells: Vec<u64> = page.rows.iter().map(|row| row[0].as_u64().unwrap()).collect();
    assert_eq!(cells, [199_998, 199_999, 200_000, 200_001]);
    assert_eq!((page.row_count, page.more.as_deref()), (400_000, Some("200002")));
    call.order = Some(RowOrder { by: "k".to_owned(), descending: true });
    call.offset = 0;
    let sorted = asker.rows(&call, &Stop::never()).unwrap();
    assert_eq!(sorted.rows.len(), 4);
    assert_eq!(sorted.rows, asker.rows(&call, &Stop::never()).unwrap().rows);
}

#[test]
fn a_description_has_frequent_values_and_days() {
    let world = World::new();
    let part = spend(
        &world,
        "a",
        "(DATE '2026-11-01', 'A', 1.00::DECIMAL(18,2)), (DATE '2026-11-03', 'B', 2), (DATE '2026-11-03', 'B', -4)",
    );
    let source = world.source("ads", &[part]);
    let described =
        world.asker().describe(&AskDescribe { source, samples: 5 }, &Stop::never()).unwrap();
    assert_eq!(described.rows, 3);
    assert_eq!(described.samples["campaign"], ["B", "A"]);
    assert_eq!(described.samples["cost"], ["-4.00", "2.00"]);
    let days = described.days.unwrap();
    assert_eq!((days.first.to_string().as_str(), days.days), ("2026-11-01", 2));
}

#[test]
fn a_recorded_query_is_verified_and_a_changed_file_is_found() {
    let world = World::new();
    let part = spend(&world, "a", "(DATE '2026-11-01', 'A', 1.00::DECIMAL(18,2))");
    let sources = vec![world.source("ads", &[part])];
    let asker = world.asker();
    let sql = "SELECT campaign, sum(cost) AS cost FROM ads GROUP BY 1".to_owned();
    let result = query(&asker, &sql, &sources).unwrap();
    let mut call = AskVerify {
        sources,
        query: None,
        sql: Some(sql),
        limits: AskLimits::default(),
        result,
        first: 0,
    };
    let verified = world.asker().verify(&call, &Stop::never()).unwrap();
    assert!(verified.equal && verified.parts[0].intact, "{verified:?}");
    call.result.rows[0][1] = json!(2);
    let verified = world.asker().verify(&call, &Stop::never()).unwrap();
    assert_eq!((verified.equal, verified.differs_at), (false, Some(1)));
    spend(&world, "a", "(DATE '2026-11-01', 'A', 2.00::DECIMAL(18,2))");
    let verified = world.asker().verify(&call, &Stop::never()).unwrap();
    assert!(!verified.parts[0].intact && !verified.equal, "{verified:?}");
}

#[test]
fn a_proof_has_the_rows_and_the_statements_that_make_them_again() {
    let world = World::new();
    let part = spend(
        &world,
        "a",
        "(DATE '2026-11-01', 'B', 1.00::DECIMAL(18,2)), (DATE '2026-11-02', 'A', 2.50)",
    );
    let sources = vec![world.source("ads", &[part])];
    let asker = world.asker();
    let sql = "SELECT campaign, sum(cost) AS cost FROM ads GROUP BY 1 -- by campaign".to_owned();
    let result = query(&asker, &sql, &sources).unwrap();
    let figure = AskVerify {
        sources,
        query: None,
        sql: Some(sql),
        limits: AskLimits::default(),
        result,
        first: 0,
    };
    let mut ask = AskProve { figure, folder: "parts".to_owned(), file: "7.csv".to_owned() };
    let proved = asker.prove(&ask, &Stop::never()).unwrap();
    assert!(proved.verified.is_intact(), "{proved:?}");
    let rows = std::fs::read_to_string(world.folder.path().join("scratch/7.csv")).unwrap();
    assert_eq!(rows, "campaign,cost\nA,2.50\nB,1.00\n");
    let [_, view, copy] = proved.statements.as_slice() else { panic!("{proved:?}") };
    assert!(view.starts_with("CREATE TEMP VIEW \"ads\" AS SELECT "), "{view}");
    assert!(view.contains("read_parquet('parts/a.parquet')"), "{view}");
    assert!(copy.contains("-- by campaign\n"), "{copy}");
    assert!(copy.ends_with("TO '7.csv' (FORMAT csv, HEADER true)"), "{copy}");
    for file in ["../7.csv", "/tmp/7.csv", "", "*.csv"] {
        ask.file = file.to_owned();
        let error = asker.prove(&ask, &Stop::never()).unwrap_err();
        assert!(matches!(error, DataError::Arguments(_)), "{file}: {error}");
    }
}

#[test]
fn a_name_of_a_file_cannot_leave_the_folder() {
    let world = World::new();
    let part = spend(&world, "a", "(DATE '2026-11-01', 'A', 1.00::DECIMAL(18,2))");
    let asker = world.asker();
    for file in ["../a.parquet", "/etc/passwd", "*.parquet", "a/b", "", "..", "[a].parquet"] {
        let mut part = part.clone();
        part.file = file.to_owned();
        let source = world.source("ads", &[part]);
        let error = query(&asker, "SELECT 1 FROM ads", &[source]).unwrap_err();
        assert!(matches!(error, DataError::Arguments(_)), "{file}: {error}");
    }
}

#[test]
fn a_question_that_takes_too_long_is_stopped_and_the_next_one_runs() {
    let world = World::new();
    let part = spend(&world, "a", "(DATE '2026-11-01', 'A', 1.00::DECIMAL(18,2))");
    let (asker, sources) = (world.asker(), [world.source("ads", &[part])]);
    let slow = "SELECT count(*) FROM range(100000000000) t(i) WHERE i % 7 = 3";
    let stop = Stop::after(300);
    let end = stop.until_dropped();
    let error = asker.query(&ask(slow, &sources), &stop).unwrap_err();
    drop(end);
    assert!(matches!(error, DataError::TooLong(300)), "{error}");
    let stop = Stop::after(60_000);
    let end = stop.until_dropped();
    let cancel = stop.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(200));
        cancel.cancel();
    });
    let error = asker.query(&ask(slow, &sources), &stop).unwrap_err();
    canceller.join().unwrap();
    drop(end);
    assert!(matches!(error, DataError::Cancelled), "{error}");
    assert_eq!(rows(&asker, "SELECT sum(cost) FROM ads", &sources), [[json!(1)]]);
}

#[test]
fn a_question_that_needs_too_much_memory_is_refused_and_the_next_one_runs() {
    let world = World::new();
    let part = spend(&world, "a", "(DATE '2026-11-01', 'A', 1.00::DECIMAL(18,2))");
    let (asker, sources) = (world.asker(), [world.source("ads", &[part])]);
    let error = query(&asker, "SELECT list(i) FROM range(1000000000) t(i)", &sources).unwrap_err();
    assert!(matches!(error, DataError::TooLarge), "{error}");
    assert_eq!(rows(&asker, "SELECT sum(cost) FROM ads", &sources), [[json!(1)]]);
}
