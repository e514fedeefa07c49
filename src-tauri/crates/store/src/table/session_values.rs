//! Table `session_value`: what fills caller-owned parameters, one JSON object per session.

use contract::SessionId;
use engine::ports::SessionValues;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::DbError;

pub(crate) fn get(conn: &Connection, session: &SessionId) -> Result<SessionValues, DbError> {
    let body: Option<String> =
        conn.prepare_cached("SELECT body FROM session_value WHERE session = ?1")?.query_row([session.as_str()], |row| row.get(0)).optional()?;
    Ok(body.map(|body| serde_json::from_str(&body)).transpose()?.unwrap_or_default())
}

/// Sessions whose object has this member.
pub(crate) fn with_value(conn: &Connection, name: &str) -> Result<Vec<SessionId>, DbError> {
    let mut rows = conn.prepare_cached("SELECT session FROM session_value WHERE instr(body, json_quote(?1) || ':') > 0")?;
    let found = rows.query_map([name], |row| row.get::<_, String>(0))?;
    found.map(|session| Ok(SessionId::from(session?))).collect()
}

pub(crate) fn set(conn: &Connection, session: &SessionId, values: &SessionValues) -> Result<(), DbError> {
    let body = serde_json::to_string(values)?;
    conn.prepare_cached("INSERT INTO session_value (session, body) VALUES (?1, ?2) ON CONFLICT (session) DO UPDATE SET body = excluded.body")?
        .execute(params![session.as_str(), body])?;
    Ok(())
}
