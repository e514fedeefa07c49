//! Random tables and random metric queries: the SQL of DuckDB and of PostgreSQL gives what the slow
//! reference in Rust gives, row by row.

use std::{cell::RefCell, collections::BTreeMap};

use analytics::{
    Catalog, Compiled, Dialect, Problem, Resolved, SourceModel, TableColumn, compile, finish,
    reference::{Answer, Case, Cell, Number, Table, as_of, case, catalogs, evaluate},
    resolve,
};
use contract::{
    Text,
    definitions::{PLAN_DAY, Spread},
    metric_query::{DataResult, MetricQuery},
    sources::ColumnKind,
};
use csign_data::{
    duck::{Duck, Settings},
    kept::Table as Rows,
    link::Link,
    stop::Stop,
};
use kit::postgres::Postgres;
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::Value;

use crate::{
    postgres,
    world::{World, drivers},
};

/// Returns the number of cases: ten times as many in `make soak`.
fn cases(usual: u32) -> u32 {
    if std::env::var_os("SOAK").is_some() { usual * 10 } else { usual }
}

fn kind_in_sql(column: &TableColumn, dialect: Dialect) -> String {
    match (column.kind, dialect) {
        (ColumnKind::Text, Dialect::DuckDb) => "VARCHAR".to_owned(),
        (ColumnKind::Text, Dialect::Postgres | Dialect::Standard) => "text".to_owned(),
        (ColumnKind::Whole, _) => "BIGINT".to_owned(),
        (ColumnKind::Decimal, _) => format!("DECIMAL(38, {})", column.scale),
        (ColumnKind::Day, _) => "DATE".to_owned(),
        (ColumnKind::Moment, _) => "TIMESTAMP".to_owned(),
        (ColumnKind::Flag, _) => "BOOLEAN".to_owned(),
    }
}

fn digits(number: &Number) -> String {
    let unscaled = number.unscaled;
    let scale = usize::from(number.scale);
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, places) = digits.split_at(digits.len() - scale);
    format!("{}{whole}.{places}0", if unscaled < 0 { "-" } else { "" })
}

fn cell_in_sql(cell: &Cell, kind: &str) -> String {
    let text = match cell {
        Cell::Empty => return format!("CAST(NULL AS {kind})"),
        Cell::Text(text) => text.replace('\'', "''"),
        Cell::Number(number) if kind == "BIGINT" => number.unscaled.to_string(),
        Cell::Number(number) => digits(number),
        Cell::Day(day) => day.to_string(),
        Cell::Moment(moment) => moment.format("%Y-%m-%d %H:%M:%S").to_string(),
        Cell::Flag(flag) => flag.to_string(),
    };
    format!("CAST('{text}' AS {kind})")
}

/// Returns the columns of the table of a source, without those that a plan adds.
pub(crate) fn stored(source: &SourceModel) -> Vec<TableColumn> {
    let added: Vec<&str> = match &source.definitions.spread {
        Some(Spread::Months(months)) => vec![&months.name, PLAN_DAY],
        Some(Spread::Days(_)) | None => Vec::new(),
    };
    let is_added = |column: &&TableColumn| added.contains(&column.name.as_str());
    source.columns.iter().filter(|column| !is_added(column)).cloned().collect()
}

/// Writes a SELECT with the rows of a table.
pub(crate) fn select(table: &Table, columns: &[TableColumn], dialect: Dialect) -> String {
    let kinds: Vec<String> = columns.iter().map(|column| kind_in_sql(column, dialect)).collect();
    let row = |cells: &[Cell]| -> String {
        let cells = cells.iter().zip(&kinds).zip(columns).map(|((cell, kind), column)| {
            format!("{} AS \"{}\"", cell_in_sql(cell, kind), column.name)
        });
        cells.collect::<Vec<_>>().join(", ")
    };
    if table.rows.is_empty() {
        let empty = vec![Cell::Empty; columns.len()];
        return format!("SELECT {} WHERE false", row(&empty));
    }
    let rows = table.rows.iter().map(|cells| format!("SELECT {}", row(cells)));
    rows.collect::<Vec<_>>().join(" UNION ALL ")
}

/// Compares rows of a database with those of the reference, by the names of the columns.
pub(crate) fn compare(
    compiled: &Compiled,
    resolved: &Resolved,
    rows: &[Vec<Value>],
    answer: &Answer,
) -> Result<(), TestCaseError> {
    let query = serde_json::to_string(&resolved.query).unwrap();
    prop_assert_eq!(
        rows.len(),
        answer.rows.len(),
        "{}\n{}\n{:?}\n{:?}",
        query,
        compiled.sql,
        rows,
        answer
    );
    for (at, name) in answer.columns.iter().enumerate() {
        let place = compiled.columns.iter().position(|column| column.column.name == *name);
        prop_assert!(place.is_some(), "{} has no column {}", query, name);
        let place = place.unwrap_or_default();
        for (row, expected) in rows.iter().zip(&answer.rows) {
            prop_assert_eq!(
                &row[place],
                &expected[at],
                "{} of {}\n{}\n{:?}\n{:?}",
                name,
                query,
                compiled.sql,
                rows,
                answer
            );
        }
    }
    if resolved.query.pivot.is_some()
        && let Ok(result) = finish(compiled, resolved, rows.to_vec())
    {
        compare_pivoted(&result, &resolved.query, answer)?;
    }
    Ok(())
}

/// Compares a result whose values became columns with rows whose values are in a column.
fn compare_pivoted(
    result: &DataResult,
    query: &MetricQuery,
    answer: &Answer,
) -> Result<(), TestCaseError> {
    let place = |name: &str| answer.columns.iter().position(|column| column == name).unwrap();
    let is_total = |row: &&Vec<Value>| match answer.columns.last().map(String::as_str) {
        Some("_total") => row.last() == Some(&Value::Bool(true)),
        _ => false,
    };
    let (plain, pivoted): (Vec<usize>, Vec<usize>) =
        (0..result.columns.len()).partition(|at| result.columns[*at].pivot.is_none());
    let key_of = |row: &[Value]| -> Vec<Value> {
        plain.iter().map(|at| row[place(&result.columns[*at].name)].clone()).collect()
    };
    let mut keys: Vec<Vec<Value>> = Vec::new();
    let mut count = 0;
    for row in answer.rows.iter().filter(|row| !is_total(row)) {
        let key = key_of(row);
        let found = result.rows.iter().find(|r| plain.iter().map(|at| &r[*at]).eq(&key));
        if !keys.contains(&key) {
            keys.push(key);
        }
        let Some(found) = found else { continue };
        for at in &pivoted {
            let pivot = result.columns[*at].pivot.as_ref().unwrap();
            let figure = &row[place(&pivot.measure)];
            if row[place(&pivot.dimension)] == pivot.value && found[*at] == *figure {
                count += usize::from(!figure.is_null());
            }
        }
    }
    let cells = result.rows.iter().flat_map(|row| pivoted.iter().map(move |at| &row[*at]));
    let filled = cells.filter(|cell| !cell.is_null()).count();
    prop_assert!(count >= filled, "{:?}\n{:?}\n{:?}", query, result, answer);
    let most = query.limit.map_or(keys.len(), |limit| keys.len().min(limit as usize));
    prop_assert_eq!((result.rows.len(), result.row_count), (most, keys.len() as u64));
    Ok(())
}

pub(crate) fn ask(link: &mut Link, sql: &str) -> Result<Vec<Vec<Value>>, TestCaseError> {
    let read = |link: &mut Link| -> Result<_, csign_data::DataError> {
        Rows::collect(link.ask(sql, &Stop::never())?, u64::MAX)?.page(0, u64::MAX, u64::MAX)
    };
    match read(link) {
        Ok(page) => Ok(page.rows),
        Err(error) => Err(TestCaseError::fail(format!("{error}\n{sql}"))),
    }
}

pub(crate) fn duck(world: &World) -> Duck {
    Duck::open(&Settings {
        drivers: drivers(),
        folders: Vec::new(),
        scratch: world.folder.path().join("scratch"),
        memory_bytes: 256 << 20,
        spill_bytes: 1 << 30,
        threads: 2,
    })
    .unwrap()
}

/// How many random queries were answered, and how many were refused for each cause.
#[derive(Debug, Default)]
struct Tally {
    answered: u32,
    refused: BTreeMap<String, u32>,
}

impl Tally {
    fn refuse(&mut self, problem: &Problem) {
        let cause = match &problem.message {
            Text::Plain(text) => text,
            Text::Filled(filled) => &filled.key,
        };
        *self.refused.entry(cause.clone()).or_default() += 1;
    }

    /// Fails if too few queries were answered. With `--nocapture`, the causes are shown.
    #[track_caller]
    fn check(&self, dialect: Dialect, least: u32) {
        println!("{dialect:?}: {self:#?}");
        assert!(self.answered > least, "{dialect:?} answered too few queries: {self:#?}");
    }
}

/// Compiles a random query and evaluates it. None: it is refused, which is counted.
fn prepare(
    case: &Case,
    catalog: &Catalog,
    dialect: Dialect,
    tally: &RefCell<Tally>,
) -> Option<(Resolved, Compiled, Answer)> {
    let compiled = resolve(&case.query, catalog, &as_of()).and_then(|resolved| {
        let compiled = compile(&resolved, catalog, dialect)?;
        Ok((resolved, compiled))
    });
    match compiled {
        Ok((resolved, compiled)) => {
            let answer = evaluate(&resolved.query, catalog, &case.tables)?;
            tally.borrow_mut().answered += 1;
            Some((resolved, compiled, answer))
        }
        Err(problem) => {
            tally.borrow_mut().refuse(&problem);
            None
        }
    }
}

#[test]
fn duckdb_computes_what_the_reference_computes() {
    let world = World::new();
    let duck = duck(&world);
    let catalogs = catalogs();
    let mut runner = TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases(300))
    });
    let tally = RefCell::new(Tally::default());
    runner
        .run(&case(), |case| {
            let (catalog, dialect) = (&catalogs[case.catalog], Dialect::DuckDb);
            let prepared = prepare(&case, catalog, dialect, &tally);
            let Some((resolved, compiled, answer)) = prepared else { return Ok(()) };
            let mut link = duck.connect().unwrap();
            for (source, table) in catalog.sources.iter().zip(&case.tables) {
                let rows = select(table, &stored(source), dialect);
                link.run(&format!("CREATE TEMP TABLE \"{}\" AS {rows}", source.name())).unwrap();
            }
            let rows = ask(&mut link, &compiled.sql)?;
            compare(&compiled, &resolved, &rows, &answer)
        })
        .unwrap_or_else(|error| panic!("{error}"));
    tally.into_inner().check(Dialect::DuckDb, cases(300) * 2 / 5);
}

#[test]
fn postgres_computes_what_the_reference_computes() {
    computes_in_postgres(Dialect::Postgres, cases(150) * 2 / 5);
}

#[test]
fn the_sql_that_engines_share_computes_what_the_reference_computes() {
    // PostgreSQL reads it, too, and computes exactly. Medians and times without rows are refused.
    computes_in_postgres(Dialect::Standard, cases(150) / 4);
}

fn computes_in_postgres(dialect: Dialect, least: u32) {
    let server = Postgres::start();
    let mut link = postgres::link(&server);
    let catalogs = catalogs();
    let mut runner = TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases(150))
    });
    let link = RefCell::new(&mut link);
    let tally = RefCell::new(Tally::default());
    runner
        .run(&case(), |case| {
            let catalog = &catalogs[case.catalog];
            let prepared = prepare(&case, catalog, dialect, &tally);
            let Some((resolved, compiled, answer)) = prepared else { return Ok(()) };
            let mut link = link.borrow_mut();
            for (source, table) in catalog.sources.iter().zip(&case.tables) {
                let rows = select(table, &stored(source), Dialect::Postgres);
                let name = source.name();
                link.run(&format!("DROP TABLE IF EXISTS \"{name}\"")).unwrap();
                link.run(&format!("CREATE TEMP TABLE \"{name}\" AS {rows}")).unwrap();
            }
            let rows = ask(&mut link, &compiled.sql)?;
            compare(&compiled, &resolved, &rows, &answer)
        })
        .unwrap_or_else(|error| panic!("{error}"));
    tally.into_inner().check(dialect, least);
}
