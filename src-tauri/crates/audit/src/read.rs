//! Reads records for the window: filtered lists, and single records with the values behind their
//! commitments.

use contract::{
    AgentError, AuditListParams, AuditListResponse, AuditRecordView, Reason, RecordType, Text, text,
};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};
use serde_json::{Map, Value};

use crate::body::{self, Body};
use crate::chain::type_name;
use crate::num::Num;
use crate::schema::unreadable;

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 500;

/// Returns the number of records on a page.
pub(crate) fn limit(asked: u32) -> usize {
    (if asked == 0 { DEFAULT_LIMIT } else { asked.min(MAX_LIMIT) }) as usize
}

/// Returns one page of records, newest first.
pub(crate) fn list(
    db: &Connection,
    params: &AuditListParams,
) -> Result<AuditListResponse, AgentError> {
    let limit = limit(params.limit);
    let mut sql = String::from("SELECT seq, body, leaf FROM audit_record WHERE 1");
    let mut values: Vec<Sql> = Vec::new();
    if let Some(kind) = params.record_type {
        sql.push_str(" AND type=?");
        values.push(Sql::Text(type_name(kind)));
    }
    if let Some(session) = &params.session {
        sql.push_str(" AND session=?");
        values.push(Sql::Text(session.0.clone()));
    }
    if let Some(before) = params.before {
        sql.push_str(" AND seq<?");
        values.push(Sql::Integer(i64::try_from(before).unwrap_or(i64::MAX)));
    }
    let query = params.query.trim();
    if !query.is_empty() {
        sql.push_str(" AND (tool LIKE ? ESCAPE '\\' OR status LIKE ? ESCAPE '\\' OR session LIKE ? ESCAPE '\\')");
        let escaped = query.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        values.extend(std::iter::repeat_n(Sql::Text(format!("%{escaped}%")), 3));
    }
    sql.push_str(" ORDER BY seq DESC LIMIT ?");
    values.push(Sql::Integer(limit as i64 + 1));

    let fail = |error: rusqlite::Error| unreadable(&error);
    let rows: Vec<RawRow> = {
        let mut statement = db.prepare_cached(&sql).map_err(fail)?;
        let rows = statement.query_map(params_from_iter(values), raw).map_err(fail)?;
        rows.collect::<Result<_, _>>().map_err(fail)?
    };
    let has_more = rows.len() > limit;
    let records =
        rows.into_iter().take(limit).map(|row| view(db, row)).collect::<Result<Vec<_>, _>>()?;
    let total = crate::chain::stored_size(db).map_err(fail)?;
    Ok(AuditListResponse { records, has_more, total })
}

/// Returns one record.
pub(crate) fn show(db: &Connection, seq: u64) -> Result<AuditRecordView, AgentError> {
    let fail = |error: rusqlite::Error| unreadable(&error);
    let row = db
        .prepare_cached("SELECT seq, body, leaf FROM audit_record WHERE seq=?1")
        .map_err(fail)?
        .query_row([Num(seq)], raw)
        .optional()
        .map_err(fail)?;
    match row {
        Some(row) => view(db, row),
        None => Err(AgentError::invalid(text!("There is no record {seq} in the audit log.", seq))
            .reason(Reason::NotFound)
            .hint("\"csign audit list --all\" shows the records.")),
    }
}

pub(crate) type RawRow = (u64, Vec<u8>, Vec<u8>);

pub(crate) fn raw(row: &Row<'_>) -> rusqlite::Result<RawRow> {
    Ok((row.get::<_, Num>(0)?.0, row.get(1)?, row.get(2)?))
}

pub(crate) fn view(
    db: &Connection,
    (seq, bytes, leaf): RawRow,
) -> Result<AuditRecordView, AgentError> {
    let damaged = |why: Text| {
        AgentError::internal(
            "audit_damaged",
            text!("Record {seq} of the audit log cannot be shown: {why}.", seq, why),
        )
        .hint("Run \"csign audit verify\" to see what happened.")
    };
    let body: Body = body::parse(&bytes).map_err(damaged)?;
    let at = body::parse_instant(&body.at).ok_or_else(|| damaged("its time is damaged".into()))?;
    let record_type: RecordType = serde_json::from_value(Value::String(body.kind.clone()))
        .map_err(|_| {
            damaged(format!("its type {} is not known to this version", body.kind).into())
        })?;
    let mut revealed: Map<String, Value> =
        body.commitments.keys().map(|name| (name.clone(), Value::Null)).collect();
    if !revealed.is_empty() {
        for (member, text) in read_revealed_values(db, seq).map_err(|error| unreadable(&error))? {
            // A value that is not JSON was tampered with, so its text is shown.
            revealed.insert(member, serde_json::from_str(&text).unwrap_or(Value::String(text)));
        }
    }
    Ok(AuditRecordView {
        seq,
        at,
        record_type,
        tool: body.text("tool").map(str::to_owned),
        status: body.text("status").map(str::to_owned),
        session: body.session,
        turn: body.turn,
        leaf: crate::hex::encode(&leaf),
        fields: body.fields,
        revealed,
    })
}

fn read_revealed_values(db: &Connection, seq: u64) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = db.prepare_cached("SELECT member, value FROM audit_reveal WHERE seq=?1")?;
    let rows = statement.query_map([Num(seq)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}
