//! The copy of a session that several processes share: replaces the session's rows in several
//! tables.

use contract::Approval;
use engine::ports::SessionImage;
use rusqlite::{Connection, params};

use super::{approvals, conversations, items, session_values, sessions};
use crate::error::DbError;
use crate::text;

/// Replaces the session's items, values and memories with those of another process. The session's
/// turns and spending stay. Returns the approvals that ended because of the import.
pub(crate) fn import(
    conn: &Connection,
    image: &SessionImage,
    untold: &str,
) -> Result<Vec<Approval>, DbError> {
    let id = &image.session;
    sessions::create(conn, id, &image.title, image.created_at)?;
    for sql in
        ["DELETE FROM item WHERE session = ?1", "DELETE FROM conversation WHERE session = ?1"]
    {
        conn.prepare_cached(sql)?.execute([id.as_str()])?;
    }
    items::insert_numbered(conn, &image.items)?;
    let next = image.items.iter().map(|item| item.seq).max().unwrap_or_default() + 1;
    let touched = image.items.iter().map(|item| item.created_at).max().unwrap_or(image.created_at);
    conn.prepare_cached("UPDATE session SET next_seq = max(next_seq, ?2), updated_at = max(updated_at, ?3) WHERE id = ?1")?.execute(params![
        id.as_str(),
        i64::try_from(next).unwrap_or(i64::MAX),
        text::instant(touched)
    ])?;
    session_values::replace(conn, id, &image.values)?;
    image.memories.iter().try_for_each(|memory| conversations::put(conn, memory, 0))?;
    approvals::import_for_session(conn, id, &image.approvals, untold)
}
