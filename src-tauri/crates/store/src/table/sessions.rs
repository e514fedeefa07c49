//! The table `session`: the list of conversations, searchable by any part of the title, with their
//! marks. A deleted session is hidden from all reads here until its rows are deleted.

use chrono::{DateTime, Utc};
use contract::{SessionId, SessionSummary};
use engine::ports::SessionFilter;
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
    conn.prepare_cached("INSERT INTO session (id, title, title_folded, created_at, updated_at, titled) VALUES (?1, ?2, ?3, ?4, ?4, 0) ON CONFLICT (id) DO NOTHING")?
        .execute(params![id.as_str(), title, text::fold(title), text::instant(at)])?;
    Ok(())
}

pub(crate) fn get(conn: &Connection, id: &SessionId) -> Result<Option<SessionSummary>, DbError> {
    let sql = format!("SELECT {COLUMNS} FROM session WHERE id = ?1 AND deleted_at IS NULL");
    let found = conn.prepare_cached(&sql)?.query_row([id.as_str()], Columns::read).optional()?;
    found.map(Columns::summary).transpose()
}

/// Lists sessions: pinned ones first, then by their last change. `instr` compares text literally, so
/// `%` and `_` in a query have no special meaning.
pub(crate) fn list(
    conn: &Connection,
    filter: &SessionFilter,
    offset: u32,
    limit: u32,
) -> Result<Vec<SessionSummary>, DbError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM session WHERE (?1 = '' OR instr(title_folded, ?1) > 0) AND archived = ?4 AND deleted_at IS NULL
         ORDER BY pinned DESC, updated_at DESC, id LIMIT ?3 OFFSET ?2"
    );
    let query = text::fold(filter.query.trim());
    let values = params![query, offset, limit, filter.archived];
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(values, Columns::read)?;
    rows.map(|row| row?.summary()).collect()
}

/// Replaces the title by one that a person gave.
pub(crate) fn rename(conn: &Connection, id: &SessionId, title: &str) -> Result<(), DbError> {
    let changed = conn
        .prepare_cached("UPDATE session SET title = ?2, title_folded = ?3, titled = 1 WHERE id = ?1 AND deleted_at IS NULL")?
        .execute(params![id.as_str(), title, text::fold(title)])?;
    require_found(changed, id)
}

/// Returns the title if a later message may replace it.
pub(crate) fn open_title(conn: &Connection, id: &SessionId) -> Result<Option<String>, DbError> {
    Ok(conn
        .prepare_cached("SELECT title FROM session WHERE id = ?1 AND titled = 0")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?)
}

/// Replaces the title by that of a message, unless a title stays. `stays` keeps the new one.
pub(crate) fn suggest_title(
    conn: &Connection,
    id: &SessionId,
    title: &str,
    stays: bool,
) -> Result<(), DbError> {
    conn.prepare_cached(
        "UPDATE session SET title = ?2, title_folded = ?3, titled = ?4 WHERE id = ?1 AND titled = 0",
    )?
    .execute(params![id.as_str(), title, text::fold(title), stays])?;
    Ok(())
}

/// Replaces the title `from`, if it is still the title. `stays` keeps the new one.
pub(crate) fn retitle(
    conn: &Connection,
    id: &SessionId,
    from: &str,
    (to, stays): (&str, bool),
) -> Result<(), DbError> {
    conn.prepare_cached(
        "UPDATE session SET title = ?3, title_folded = ?4, titled = ?5 WHERE id = ?1 AND title = ?2",
    )?
    .execute(params![id.as_str(), from, to, text::fold(to), stays])?;
    Ok(())
}

/// Pins or archives a session, or takes a mark back. None leaves a mark as it is.
pub(crate) fn mark(
    conn: &Connection,
    id: &SessionId,
    pinned: Option<bool>,
    archived: Option<bool>,
) -> Result<(), DbError> {
    let changed = conn
        .prepare_cached(
            "UPDATE session SET pinned = COALESCE(?2, pinned), archived = COALESCE(?3, archived) WHERE id = ?1 AND deleted_at IS NULL",
        )?
        .execute(params![id.as_str(), pinned, archived])?;
    require_found(changed, id)
}

/// Hides a session whose rows will be deleted.
pub(crate) fn hide(conn: &Connection, id: &SessionId, at: DateTime<Utc>) -> Result<(), DbError> {
    let changed = conn
        .prepare_cached("UPDATE session SET deleted_at = ?2 WHERE id = ?1 AND deleted_at IS NULL")?
        .execute(params![id.as_str(), text::instant(at)])?;
    require_found(changed, id)
}

/// Shows a hidden session again.
pub(crate) fn restore(conn: &Connection, id: &SessionId) -> Result<(), DbError> {
    let changed = conn
        .prepare_cached(
            "UPDATE session SET deleted_at = NULL WHERE id = ?1 AND deleted_at IS NOT NULL",
        )?
        .execute([id.as_str()])?;
    require_found(changed, id)
}

pub(crate) fn hidden(conn: &Connection) -> Result<Vec<SessionId>, DbError> {
    let mut statement =
        conn.prepare_cached("SELECT id FROM session WHERE deleted_at IS NOT NULL")?;
    let ids = statement.query_map([], |row| row.get(0).map(SessionId))?;
    Ok(ids.collect::<Result<_, _>>()?)
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

/// The columns of a summary.
const COLUMNS: &str = "id, title, created_at, updated_at, pinned, archived";

/// A row as it is stored.
struct Columns {
    id: String,
    title: String,
    created_at: String,
    updated_at: String,
    pinned: bool,
    archived: bool,
}

impl Columns {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            title: row.get(1)?,
            created_at: row.get(2)?,
            updated_at: row.get(3)?,
            pinned: row.get(4)?,
            archived: row.get(5)?,
        })
    }

    fn summary(self) -> Result<SessionSummary, DbError> {
        Ok(SessionSummary {
            id: SessionId(self.id),
            title: self.title,
            created_at: text::read_instant(&self.created_at)?,
            updated_at: text::read_instant(&self.updated_at)?,
            running: false,
            waiting_approvals: 0,
            pinned: self.pinned,
            archived: self.archived,
        })
    }
}
