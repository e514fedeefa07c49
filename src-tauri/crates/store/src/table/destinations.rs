//! The tables `allowance` and `sent`: the destinations that reads may send data to, and how much
//! each conversation has sent there. A revoked permission is deleted; its history is in the log.

use chrono::{DateTime, Utc};
use contract::{Allowance, Destination, SessionId};
use engine::ports::{DestinationState, SentBytes};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::DbError;
use crate::text;

/// The value of `session` for permissions that are valid in all conversations.
const EVERYWHERE: &str = "";

/// Stores a permission. If the permission exists, its origin is kept.
pub(crate) fn allow(conn: &Connection, allowance: &Allowance) -> Result<(), DbError> {
    conn.prepare_cached(
        "INSERT INTO allowance (session, kind, name, given_by, given_at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
    )?
    .execute(params![
        session_text(allowance.session.as_ref()),
        text::enum_to_text(&allowance.destination.kind)?,
        allowance.destination.name,
        allowance.by,
        text::instant(allowance.given_at),
    ])?;
    Ok(())
}

/// Lists all permissions, newest first.
pub(crate) fn list(conn: &Connection) -> Result<Vec<Allowance>, DbError> {
    let mut statement = conn.prepare_cached(
        "SELECT session, kind, name, given_by, given_at, last_used_at FROM allowance ORDER BY given_at DESC, session, kind, name",
    )?;
    let rows = statement.query_map([], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, String>(2)?,
            row.get::<_, String>(3)?,
            row.get::<_, String>(4)?,
            row.get::<_, Option<String>>(5)?,
        ))
    })?;
    rows.map(|row| {
        let (session, kind, name, by, given_at, last_used_at) = row?;
        Ok(Allowance {
            destination: Destination { kind: text::read_word(&kind)?, name },
            session: (session != EVERYWHERE).then_some(SessionId(session)),
            by,
            given_at: text::read_instant(&given_at)?,
            last_used_at: text::read_optional_instant(last_used_at.as_deref())?,
        })
    })
    .collect()
}

/// Deletes a permission. Returns false if it does not exist.
pub(crate) fn revoke(
    conn: &Connection,
    session: Option<&SessionId>,
    destination: &Destination,
) -> Result<bool, DbError> {
    let deleted = conn
        .prepare_cached("DELETE FROM allowance WHERE session = ?1 AND kind = ?2 AND name = ?3")?
        .execute(params![
            session_text(session),
            text::enum_to_text(&destination.kind)?,
            destination.name
        ])?;
    Ok(deleted > 0)
}

/// Returns the state of each destination in a conversation.
pub(crate) fn states(
    conn: &Connection,
    session: &SessionId,
    destinations: &[Destination],
) -> Result<Vec<DestinationState>, DbError> {
    let mut allowed = conn.prepare_cached(
        "SELECT EXISTS(SELECT 1 FROM allowance WHERE session IN ('', ?1) AND kind = ?2 AND name = ?3)",
    )?;
    let mut sent = conn
        .prepare_cached("SELECT bytes FROM sent WHERE session = ?1 AND kind = ?2 AND name = ?3")?;
    let state = |destination: &Destination| {
        let kind = text::enum_to_text(&destination.kind)?;
        let key = params![session.as_str(), kind, destination.name];
        let bytes: Option<i64> = sent.query_row(key, |row| row.get(0)).optional()?;
        Ok(DestinationState {
            is_allowed: allowed.query_row(key, |row| row.get(0))?,
            sent_bytes: bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default(),
        })
    };
    destinations.iter().map(state).collect()
}

/// Adds the amount of data that a read sends to each destination, and notes the use of the
/// permissions that cover the read.
pub(crate) fn add_sent(
    conn: &Connection,
    session: &SessionId,
    destinations: &[Destination],
    sent: SentBytes,
) -> Result<(), DbError> {
    if !sent.anew {
        note_use(conn, session, destinations, sent.at)?;
    }
    let mut statement = conn.prepare_cached(
        "INSERT INTO sent (session, kind, name, bytes) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET bytes = CASE WHEN ?5 THEN 0 ELSE bytes END + excluded.bytes",
    )?;
    for destination in destinations {
        statement.execute(params![
            session.as_str(),
            text::enum_to_text(&destination.kind)?,
            destination.name,
            i64::try_from(sent.bytes).unwrap_or(i64::MAX / 2),
            sent.anew
        ])?;
    }
    Ok(())
}

fn note_use(
    conn: &Connection,
    session: &SessionId,
    destinations: &[Destination],
    at: DateTime<Utc>,
) -> Result<(), DbError> {
    let mut statement = conn.prepare_cached(
        "UPDATE allowance SET last_used_at = ?4 WHERE session IN ('', ?1) AND kind = ?2 AND name = ?3",
    )?;
    for destination in destinations {
        let kind = text::enum_to_text(&destination.kind)?;
        statement.execute(params![session.as_str(), kind, destination.name, text::instant(at)])?;
    }
    Ok(())
}

fn session_text(session: Option<&SessionId>) -> &str {
    session.map_or(EVERYWHERE, SessionId::as_str)
}
