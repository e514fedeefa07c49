//! Table `recording`: what turns got from outside, as text that only the engine reads.

use contract::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::DbError;

pub(crate) fn put(
    conn: &Connection,
    session: &SessionId,
    turn: &TurnId,
    body: &str,
    most: u32,
) -> Result<(), DbError> {
    conn.prepare_cached(
        "INSERT INTO recording (turn, session, body) VALUES (?1, ?2, ?3)
         ON CONFLICT (turn) DO UPDATE SET body = excluded.body",
    )?
    .execute(params![turn.as_str(), session.as_str(), body])?;
    conn.prepare_cached(
        "DELETE FROM recording WHERE number <= (SELECT max(number) FROM recording) - ?1",
    )?
    .execute([most])?;
    Ok(())
}

pub(crate) fn get(conn: &Connection, turn: &TurnId) -> Result<Option<String>, DbError> {
    Ok(conn
        .prepare_cached("SELECT body FROM recording WHERE turn = ?1")?
        .query_row([turn.as_str()], |row| row.get(0))
        .optional()?)
}
