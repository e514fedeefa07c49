//! The table `session_value`: values of a session, one row for each name. Values that a caller sets
//! for its session fill parameters of tools.

use contract::SessionId;
use engine::ports::{SessionValues, ValueChanges};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::DbError;

pub(crate) fn all(conn: &Connection, session: &SessionId) -> Result<SessionValues, DbError> {
    let mut rows =
        conn.prepare_cached("SELECT name, value FROM session_value WHERE session = ?1")?;
    let found =
        rows.query_map([session.as_str()], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    found
        .map(|row| {
            let (name, value) = row?;
            Ok((name, serde_json::from_str(&value)?))
        })
        .collect()
}

/// Returns the values that exist for these names.
pub(crate) fn of(
    conn: &Connection,
    session: &SessionId,
    names: &[&str],
) -> Result<SessionValues, DbError> {
    let mut one =
        conn.prepare_cached("SELECT value FROM session_value WHERE session = ?1 AND name = ?2")?;
    let mut values = SessionValues::new();
    for name in names {
        let value: Option<String> =
            one.query_row([session.as_str(), *name], |row| row.get(0)).optional()?;
        if let Some(value) = value {
            values.insert((*name).to_owned(), serde_json::from_str(&value)?);
        }
    }
    Ok(values)
}

/// Returns the sessions that have a value of this name.
pub(crate) fn with_value(conn: &Connection, name: &str) -> Result<Vec<SessionId>, DbError> {
    let mut rows = conn.prepare_cached("SELECT session FROM session_value WHERE name = ?1")?;
    let found = rows.query_map([name], |row| row.get::<_, String>(0))?;
    found.map(|session| Ok(SessionId::from(session?))).collect()
}

pub(crate) fn put(
    conn: &Connection,
    session: &SessionId,
    changes: &ValueChanges,
) -> Result<(), DbError> {
    for (name, value) in changes {
        match value {
            Some(value) => conn
                .prepare_cached("INSERT INTO session_value (session, name, value) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = excluded.value")?
                .execute(params![session.as_str(), name, serde_json::to_string(value)?])?,
            None => conn.prepare_cached("DELETE FROM session_value WHERE session = ?1 AND name = ?2")?.execute([session.as_str(), name])?,
        };
    }
    Ok(())
}

/// Replaces all values of a session.
pub(crate) fn replace(
    conn: &Connection,
    session: &SessionId,
    values: &SessionValues,
) -> Result<(), DbError> {
    conn.prepare_cached("DELETE FROM session_value WHERE session = ?1")?
        .execute([session.as_str()])?;
    let changes = values.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    put(conn, session, &changes)
}
