//! The summaries in the table `memory`, as far as they depend on the items that they were made
//! from: a summary is hidden with one of its items, and deleted with it.

use contract::{MemoryEntry, SessionId};
use rusqlite::{Connection, params};

use crate::error::DbError;

/// Whether all items that a summary is made from are shown. They may have been hidden or deleted
/// while the summary was made.
pub(crate) fn are_sources_shown(conn: &Connection, memory: &MemoryEntry) -> Result<bool, DbError> {
    let sources = serde_json::to_string(&memory.sources)?;
    let shown: i64 = conn
        .prepare_cached(
            "SELECT count(*) FROM json_each(?1) j JOIN item i ON i.id = j.value WHERE i.hidden = 0",
        )?
        .query_row([sources], |row| row.get(0))?;
    Ok(usize::try_from(shown).is_ok_and(|shown| shown == memory.sources.len()))
}

/// Hides the summaries of a session that were made from hidden items, and shows the others.
pub(super) fn hide_with_items(conn: &Connection, session: &SessionId) -> Result<(), DbError> {
    conn.prepare_cached(
        "UPDATE memory SET hidden = EXISTS (SELECT 1 FROM memory_source o JOIN item i ON i.id = o.item
             WHERE o.memory = memory.number AND i.hidden = 1)
         WHERE session = ?1 AND kind = 'summary'",
    )?
    .execute([session.as_str()])?;
    Ok(())
}

/// Deletes the summaries that were made from items of these turns, a JSON list, and the recordings
/// that contain their texts. Notes stay, because a person asked for them.
pub(super) fn delete_made_from_turns(
    conn: &Connection,
    session: &SessionId,
    turns: &str,
) -> Result<(), DbError> {
    let made = "SELECT m.number FROM memory m WHERE m.session = ?1 AND m.kind = 'summary'
        AND EXISTS (SELECT 1 FROM memory_source o JOIN item i ON i.id = o.item
            WHERE o.memory = m.number AND i.turn IN (SELECT value FROM json_each(?2)))";
    for sql in [
        format!(
            "DELETE FROM recording WHERE number IN (SELECT recording FROM recording_memory WHERE memory IN ({made}))"
        ),
        format!("DELETE FROM memory WHERE number IN ({made})"),
    ] {
        conn.prepare_cached(&sql)?.execute(params![session.as_str(), turns])?;
    }
    Ok(())
}
