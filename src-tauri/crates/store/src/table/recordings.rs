//! The tables `recording` and `recording_memory`: the answers and results that turns received from
//! outside, as text that only the engine reads, and which memories' texts are in a recording.

use contract::{MemoryId, SessionId, TurnId};
use engine::ports::{HeldMemory, StoredRecording};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::DbError;

/// Stores a recording, unless a memory in the recording was deleted or changed after the turn read
/// it. The check and the deletions run on the only connection that writes, so no deleted text can
/// be stored again.
pub(crate) fn put(
    conn: &Connection,
    recording: &StoredRecording,
    most: u32,
) -> Result<(), DbError> {
    let Some(memories) = find_held(conn, &recording.memories)? else {
        tracing::debug!(turn = %recording.turn, "a memory of the turn has changed, so it has no recording");
        return Ok(());
    };
    let number: i64 = conn
        .prepare_cached(
            "INSERT INTO recording (turn, session, body) VALUES (?1, ?2, ?3)
             ON CONFLICT (turn) DO UPDATE SET body = excluded.body RETURNING number",
        )?
        .query_row(
            params![recording.turn.as_str(), recording.session.as_str(), recording.body],
            |row| row.get(0),
        )?;
    conn.prepare_cached("DELETE FROM recording_memory WHERE recording = ?1")?.execute([number])?;
    let mut link = conn.prepare_cached(
        "INSERT OR IGNORE INTO recording_memory (recording, memory) VALUES (?1, ?2)",
    )?;
    for memory in memories {
        link.execute([number, memory])?;
    }
    prune(conn, most)
}

/// Returns the rows of these memories. Returns None if a memory was deleted or has another text.
fn find_held(conn: &Connection, held: &[HeldMemory]) -> Result<Option<Vec<i64>>, DbError> {
    let mut find = conn.prepare_cached("SELECT number FROM memory WHERE id = ?1 AND text = ?2")?;
    held.iter()
        .map(|one| {
            let found = find.query_row([one.id.as_str(), one.text.as_str()], |row| row.get(0));
            Ok(found.optional()?)
        })
        .collect()
}

/// Deletes all recordings except the newest `most`.
pub(crate) fn prune(conn: &Connection, most: u32) -> Result<(), DbError> {
    conn.prepare_cached(
        "DELETE FROM recording WHERE number <= (SELECT max(number) FROM recording) - ?1",
    )?
    .execute([most])?;
    Ok(())
}

/// Deletes the recordings that contain the text of a memory, because the memory is deleted or
/// changed.
pub(crate) fn delete_with_memory(conn: &Connection, id: &MemoryId) -> Result<(), DbError> {
    conn.prepare_cached(
        "DELETE FROM recording WHERE number IN (
             SELECT held.recording FROM memory m JOIN recording_memory held ON held.memory = m.number
             WHERE m.id = ?1)",
    )?
    .execute([id.as_str()])?;
    Ok(())
}

/// Deletes the recordings, including those of other sessions, that contain the text of a memory
/// that belongs to a session or was made from the session's items.
pub(crate) fn delete_with_memories_of(
    conn: &Connection,
    session: &SessionId,
) -> Result<(), DbError> {
    conn.prepare_cached(
        "DELETE FROM recording WHERE number IN (
             SELECT held.recording FROM recording_memory held JOIN memory m ON m.number = held.memory
             WHERE m.session = ?1
             OR EXISTS (SELECT 1 FROM memory_source s WHERE s.memory = m.number AND s.session = ?1))",
    )?
    .execute([session.as_str()])?;
    Ok(())
}

/// Deletes the recordings of these turns, a JSON list, and of all turns with later items in their
/// session: a recording contains the summaries of earlier messages. The rows of turns do not have
/// the order of their items, because a message that a crash left unanswered got its row later.
pub(super) fn delete_since_turns(
    conn: &Connection,
    session: &SessionId,
    turns: &str,
) -> Result<(), DbError> {
    conn.prepare_cached(
        "DELETE FROM recording WHERE session = ?1 AND (turn IN (SELECT value FROM json_each(?2))
             OR (SELECT max(i.seq) FROM item i WHERE i.turn = recording.turn)
                 >= (SELECT min(seq) FROM item WHERE turn IN (SELECT value FROM json_each(?2))))",
    )?
    .execute(params![session.as_str(), turns])?;
    Ok(())
}

pub(crate) fn get(conn: &Connection, turn: &TurnId) -> Result<Option<String>, DbError> {
    Ok(conn
        .prepare_cached("SELECT body FROM recording WHERE turn = ?1")?
        .query_row([turn.as_str()], |row| row.get(0))
        .optional()?)
}
