//! The tables `conversation` and `conversation_item`: memories of conversations, and the items of
//! memories that several sessions share. Deleting a session also deletes its memories, including a
//! shared summary that may contain parts of the session.

use contract::{AgentId, SessionId, TurnId};
use engine::ports::{Memory, MemoryItem, MemoryOf, Side};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::item_rows::{COLUMNS, Columns};
use crate::error::DbError;
use crate::recent::Recent;
use crate::text;

pub(crate) fn get(conn: &Connection, key: &str) -> Result<Option<Memory>, DbError> {
    let mut statement =
        conn.prepare_cached("SELECT body, live FROM conversation WHERE key = ?1")?;
    let row: Option<(String, bool)> =
        statement.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((body, live)) = row else { return Ok(None) };
    Ok(Some(Memory { live, ..serde_json::from_str(&body)? }))
}

/// Returns the memories that belong to one session only.
pub(crate) fn of_session(conn: &Connection, session: &SessionId) -> Result<Vec<Memory>, DbError> {
    let mut statement =
        conn.prepare_cached("SELECT body, live FROM conversation WHERE session = ?1 ORDER BY key")?;
    let rows = statement.query_map([session.as_str()], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?))
    })?;
    rows.map(|row| {
        let (body, live) = row?;
        Ok(Memory { live, ..serde_json::from_str(&body)? })
    })
    .collect()
}

/// Stores a memory. If more than `most` memories (0 = no limit) have the same settings, the least
/// recently used memories are deleted.
pub(crate) fn put(conn: &Connection, memory: &Memory, most: u32) -> Result<(), DbError> {
    conn.prepare_cached(
        "INSERT INTO conversation (key, session, updated_at, live, body) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (key) DO UPDATE SET updated_at = excluded.updated_at, live = excluded.live, body = excluded.body",
    )?
    .execute(params![
        memory.key,
        memory.session.as_ref().map(SessionId::as_str),
        text::instant(memory.updated_at),
        memory.live,
        serde_json::to_string(memory)?
    ])?;
    if most > 0 {
        // `IS` is used because the agent is NULL for memories without a specialist, and `=` is
        // never true for NULL.
        let same = "live = 1 AND json_extract(body, '$.agent') IS ?2";
        let newest = format!(
            "SELECT key FROM conversation WHERE {same} ORDER BY updated_at DESC, key LIMIT ?1"
        );
        forget(
            conn,
            &format!("{same} AND key NOT IN ({newest})"),
            params![most, memory.agent.as_ref().map(AgentId::as_str)],
        )?;
    }
    Ok(())
}

/// Adds the items of a turn to a shared memory. Does nothing if they were added before.
pub(crate) fn join(conn: &Connection, key: &str, turn: &TurnId) -> Result<(), DbError> {
    conn.prepare_cached("INSERT OR IGNORE INTO conversation_item (key, session, seq) SELECT ?1, session, seq FROM item WHERE turn = ?2 ORDER BY seq")?
        .execute(params![key, turn.as_str()])?;
    Ok(())
}

/// Returns the position of the newest item of a memory, also if it is not shown.
pub(crate) fn end(conn: &Connection, of: &MemoryOf) -> Result<u64, DbError> {
    let (sql, owner) = match of {
        MemoryOf::Session(session) => {
            ("SELECT max(seq) FROM item WHERE session = ?1", session.as_str())
        }
        MemoryOf::Shared(key) => {
            ("SELECT max(position) FROM conversation_item WHERE key = ?1", key.as_str())
        }
    };
    let end: Option<i64> = conn.prepare_cached(sql)?.query_row([owner], |row| row.get(0))?;
    Ok(end.and_then(|end| u64::try_from(end).ok()).unwrap_or_default())
}

/// Returns shown items after a position, in ascending order. If there are more than `limit`, returns
/// the newest or the oldest items.
pub(crate) fn items(
    conn: &Connection,
    recent: &Recent,
    of: &MemoryOf,
    after: u64,
    side: Side,
    limit: u32,
) -> Result<Vec<MemoryItem>, DbError> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let order = match side {
        Side::Newest => "DESC",
        Side::Oldest => "ASC",
    };
    let (sql, owner) = match of {
        MemoryOf::Session(session) => (
            format!("SELECT {COLUMNS}, item.seq FROM item WHERE session = ?1 AND seq > ?2 AND hidden = 0 ORDER BY seq {order} LIMIT ?3"),
            session.as_str(),
        ),
        MemoryOf::Shared(key) => (
            format!(
                "SELECT {COLUMNS}, c.position FROM conversation_item c
                 JOIN item ON item.session = c.session AND item.seq = c.seq WHERE c.key = ?1 AND c.position > ?2 AND item.hidden = 0
                   AND c.session NOT IN (SELECT id FROM session WHERE deleted_at IS NOT NULL) ORDER BY c.position {order} LIMIT ?3"
            ),
            key.as_str(),
        ),
    };
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_and_then(params![owner, after, limit], |row| {
        let item = recent.item(&Columns::of(row)?)?;
        Ok(MemoryItem { position: u64::try_from(row.get::<_, i64>(7)?).unwrap_or_default(), item })
    })?;
    let mut found = rows.collect::<Result<Vec<_>, DbError>>()?;
    if side == Side::Newest {
        found.reverse();
    }
    Ok(found)
}

/// Empties the summaries that cover items of these turns, because the turns are shown or hidden.
/// The messages that a summary covered are read themselves again.
pub(super) fn reset_summaries(
    conn: &Connection,
    session: &SessionId,
    turns: &[&str],
) -> Result<(), DbError> {
    let turns = serde_json::to_string(turns)?;
    // The sign keeps the query on the index of turns.
    let first: Option<i64> = conn
        .prepare_cached("SELECT min(seq) FROM item WHERE turn IN (SELECT value FROM json_each(?2)) AND +session = ?1")?
        .query_row(params![session.as_str(), turns], |row| row.get(0))?;
    let Some(first) = first else { return Ok(()) };
    for memory in of_session(conn, session)? {
        reset(conn, memory, first)?;
    }
    let mut shared = conn.prepare_cached(
        "SELECT c.key, min(c.position) FROM item i JOIN conversation_item c ON c.session = i.session AND c.seq = i.seq
         WHERE i.turn IN (SELECT value FROM json_each(?2)) AND +i.session = ?1 GROUP BY c.key",
    )?;
    let keys = shared
        .query_map(params![session.as_str(), turns], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(String, i64)>, _>>()?;
    for (key, first) in keys {
        if let Some(memory) = get(conn, &key)? {
            reset(conn, memory, first)?;
        }
    }
    Ok(())
}

/// Empties a summary that covers the position `first` or later ones. Its marks of content stay, so
/// that the next summary is not trusted more.
fn reset(conn: &Connection, memory: Memory, first: i64) -> Result<(), DbError> {
    let covers = u64::try_from(first).is_ok_and(|first| memory.through >= first);
    if !covers || memory.through <= memory.since {
        return Ok(());
    }
    let empty = Memory {
        through: memory.since,
        summary: String::new(),
        messages: 0,
        shown: true,
        told: true,
        ..memory
    };
    put(conn, &empty, 0)
}

/// Deletes the memories of a session, including the memories that it shares with other sessions.
pub(crate) fn forget_session(conn: &Connection, session: &SessionId) -> Result<(), DbError> {
    forget(
        conn,
        "key IN (SELECT key FROM conversation_item WHERE session = ?1)",
        [session.as_str()],
    )?;
    conn.prepare_cached("DELETE FROM conversation WHERE session = ?1")?
        .execute([session.as_str()])?;
    Ok(())
}

/// Deletes the content of memories. The rows stay, so that older items do not become part of a
/// memory again.
fn forget(conn: &Connection, which: &str, values: impl rusqlite::Params) -> Result<(), DbError> {
    let sql = format!(
        "UPDATE conversation SET live = 0, body = json_set(body, '$.summary', '') WHERE {which}"
    );
    conn.prepare_cached(&sql)?.execute(values)?;
    Ok(())
}
