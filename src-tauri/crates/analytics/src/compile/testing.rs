//! The helpers that the tests of this folder share.

use contract::metric_query::read_metric_query;
use serde_json::Value;

use crate::{
    Catalog, Compiled, Dialect, Problem, Resolved, compile,
    reference::{as_of, catalog},
    resolve,
};

/// Resolves a query as it is written, and compiles it.
pub(super) fn try_compile(
    catalog: &Catalog,
    query: &Value,
    dialect: Dialect,
) -> Result<(Resolved, Compiled), Problem> {
    let resolved = resolve(&read_metric_query(query)?, catalog, &as_of())?;
    let compiled = compile(&resolved, catalog, dialect)?;
    Ok((resolved, compiled))
}

/// Returns the SQL of a query over the sources of all cases.
pub(super) fn sql_of(query: &Value, dialect: Dialect) -> String {
    try_compile(&catalog(), query, dialect).unwrap().1.sql
}

/// Checks that a query is refused with a fault.
#[track_caller]
pub(super) fn refused(query: Value, fault: &str) {
    let problem = try_compile(&catalog(), &query, Dialect::DuckDb).unwrap_err().to_string();
    assert!(problem.contains(fault), "{problem}");
}

/// Writes a test for each query that compares what `written` returns with a snapshot.
macro_rules! snapshots {
    ($($name:ident: $query:tt;)+) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(written(&json!($query)));
        }
    )+};
}

pub(super) use snapshots;
