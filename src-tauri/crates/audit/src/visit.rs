//! Reads records in order, one at a time, so that reading the whole log needs little memory. The
//! module knows how records are stored, but not their meaning.

use std::ops::ControlFlow;
use std::path::Path;

use chrono::{DateTime, Utc};
use contract::{AgentError, AuditRecordView, RecordType, SessionId};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};

use crate::body::instant;
use crate::chain::type_name;
use crate::read::{RawRow, raw, view};
use crate::schema::{self, unreadable};

/// A selection of records.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The types of the records. Empty for all types.
    pub types: Vec<RecordType>,
    /// Selects only records after this number.
    pub after: u64,
    /// Selects only records of this session.
    pub session: Option<SessionId>,
    /// Selects only records from this moment on.
    pub since: Option<DateTime<Utc>>,
}

/// How many records one statement reads. A longer read would prevent the write-ahead log from being
/// emptied.
const AT_ONCE: usize = 1_000;

/// Calls `see` for each selected record, oldest first, until `see` breaks. Blocking. Uses its own
/// connection, because other readers would have to wait for a long read.
pub(crate) fn visit(
    path: &Path,
    selection: &Selection,
    see: &mut dyn FnMut(AuditRecordView) -> ControlFlow<()>,
) -> Result<(), AgentError> {
    let fail = |error: rusqlite::Error| unreadable(&error);
    let db = schema::open_reader(path).map_err(fail)?;
    let mut rest = selection.clone();
    loop {
        let rows = read_some(&db, &rest).map_err(fail)?;
        let is_last = rows.len() < AT_ONCE;
        for row in rows {
            rest.after = row.0;
            if see(view(&db, row)?).is_break() {
                return Ok(());
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

fn read_some(db: &Connection, selection: &Selection) -> rusqlite::Result<Vec<RawRow>> {
    let (sql, values) = statement(selection);
    db.prepare_cached(&sql)?.query_map(params_from_iter(values), raw)?.collect()
}

fn statement(selection: &Selection) -> (String, Vec<Sql>) {
    let mut sql = "SELECT seq, body, leaf FROM audit_record WHERE seq>?1".to_owned();
    let mut values = vec![Sql::Integer(i64::try_from(selection.after).unwrap_or(i64::MAX))];
    if let [kind] = selection.types.as_slice() {
        // The index by type contains the records of one type in the order of the log.
        sql.push_str(" AND type=?");
        values.push(Sql::Text(type_name(*kind)));
    } else if !selection.types.is_empty() {
        // The plus sign prevents SQLite from using the index by type, which would require sorting
        // all rows before the first row is returned.
        sql.push_str(" AND +type IN (");
        sql.push_str(&vec!["?"; selection.types.len()].join(","));
        sql.push(')');
        values.extend(selection.types.iter().map(|kind| Sql::Text(type_name(*kind))));
    }
    if let Some(session) = &selection.session {
        sql.push_str(" AND session=?");
        values.push(Sql::Text(session.0.clone()));
    }
    if let Some(since) = selection.since {
        sql.push_str(" AND at>=?");
        values.push(Sql::Text(instant(since)));
    }
    sql.push_str(&format!(" ORDER BY seq LIMIT {AT_ONCE}"));
    (sql, values)
}
