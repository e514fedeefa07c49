//! The table `session`: the list of conversations, newest first, searchable by any part of the
//! title.

use chrono::{DateTime, Utc};
use contract::{SessionId, SessionSummary};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{conversations, recordings};
use crate::error::DbError;
use crate::text;

/// Creates a session. Does nothing if the session exists.
pub(crate) fn create(
    conn: &Connection,
    id: &SessionId,
    title: &str,
    at: DateTime<Utc>,
) -> Result<(), DbError> {
    conn.prepare_cached("INSERT INTO session (id, title, title_folded, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT (id) DO NOTHING")?
        .execute(params![id.as_str(), title, text::fold(title), text::instant(at)])?;
    Ok(())
}

pub(crate) fn get(conn: &Connection, id: &SessionId) -> Result<Option<SessionSummary>, DbError> {
    let columns = conn
        .prepare_cached("SELECT id, title, created_at, updated_at FROM session WHERE id = ?1")?
        .query_row([id.as_str()], columns)
        .optional()?;
    columns.map(summary).transpose()
}

/// Lists sessions. `instr` compares text literally, so `%` and `_` in a query have no special
/// meaning.
pub(crate) fn list(
    conn: &Connection,
    query: &str,
    offset: u32,
    limit: u32,
) -> Result<Vec<SessionSummary>, DbError> {
    let mut statement = conn.prepare_cached(
        "SELECT id, title, created_at, updated_at FROM session WHERE ?1 = '' OR instr(title_folded, ?1) > 0
         ORDER BY updated_at DESC, id LIMIT ?3 OFFSET ?2",
    )?;
    let rows = statement.query_map(params![text::fold(query.trim()), offset, limit], columns)?;
    rows.map(|row| summary(row?)).collect()
}

pub(crate) fn rename(conn: &Connection, id: &SessionId, title: &str) -> Result<(), DbError> {
    let changed = conn
        .prepare_cached("UPDATE session SET title = ?2, title_folded = ?3 WHERE id = ?1")?
        .execute(params![id.as_str(), title, text::fold(title)])?;
    require_found(changed, id)
}

/// Deletes a session with its items, turns and long-term memories (by foreign key), approvals,
/// grants, values, allowed destinations and its own budget. The daily spending stays, and so do
/// audit records, which are in another file.
pub(crate) fn delete(conn: &Connection, id: &SessionId) -> Result<(), DbError> {
    conversations::forget_session(conn, id)?;
    recordings::delete_with_memories_of(conn, id)?;
    for sql in [
        "DELETE FROM approval WHERE session = ?1",
        r#"DELETE FROM "grant" WHERE session = ?1"#,
        "DELETE FROM session_value WHERE session = ?1",
        "DELETE FROM allowance WHERE session = ?1",
        "DELETE FROM sent WHERE session = ?1",
        "DELETE FROM spent WHERE scope = 'session' AND name = ?1",
    ] {
        conn.prepare_cached(sql)?.execute([id.as_str()])?;
    }
    let changed =
        conn.prepare_cached("DELETE FROM session WHERE id = ?1")?.execute([id.as_str()])?;
    require_found(changed, id)
}

/// Reserves `count` item numbers, and marks the session as used at `at`. Returns the first number.
pub(crate) fn reserve_item_numbers(
    conn: &Connection,
    id: &SessionId,
    count: usize,
    at: DateTime<Utc>,
) -> Result<i64, DbError> {
    let count =
        i64::try_from(count).map_err(|_| DbError::Refused("too many items at once".into()))?;
    let after: Option<i64> = conn
        .prepare_cached("UPDATE session SET next_seq = next_seq + ?2, updated_at = max(updated_at, ?3) WHERE id = ?1 RETURNING next_seq")?
        .query_row(params![id.as_str(), count, text::instant(at)], |row| row.get(0))
        .optional()?;
    after.map(|after| after - count).ok_or_else(|| missing(id))
}

fn require_found(changed: usize, id: &SessionId) -> Result<(), DbError> {
    if changed == 0 { Err(missing(id)) } else { Ok(()) }
}

fn missing(id: &SessionId) -> DbError {
    DbError::Missing(format!("session {id}"))
}

fn columns(row: &Row<'_>) -> rusqlite::Result<(String, String, String, String)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn summary(
    (id, title, created_at, updated_at): (String, String, String, String),
) -> Result<SessionSummary, DbError> {
    Ok(SessionSummary {
        id: SessionId(id),
        title,
        created_at: text::read_instant(&created_at)?,
        updated_at: text::read_instant(&updated_at)?,
        running: false,
        waiting_approvals: 0,
    })
}
