//! The table `turn`: all turns, including a turn that a crash interrupted. `versions` decides which
//! of them are shown.

use contract::{SessionId, TurnId, Usage};
use engine::ports::TurnRow;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::DbError;
use crate::text;

/// Stores a turn. A new turn follows the last turn that its session shows.
pub(crate) fn put(conn: &Connection, turn: &TurnRow) -> Result<(), DbError> {
    if update(conn, turn)? {
        return Ok(());
    }
    let tail: Option<Option<String>> = conn
        .prepare_cached("SELECT tail FROM session WHERE id = ?1")?
        .query_row([turn.session.as_str()], |row| row.get(0))
        .optional()?;
    insert(conn, turn, tail.flatten().as_deref())?;
    conn.prepare_cached("UPDATE session SET tail = ?2 WHERE id = ?1")?
        .execute(params![turn.session.as_str(), turn.turn.as_str()])?;
    Ok(())
}

/// Inserts a new turn that follows `parent`. The caller must store the new end of the shown path.
pub(super) fn insert(
    conn: &Connection,
    turn: &TurnRow,
    parent: Option<&str>,
) -> Result<(), DbError> {
    conn.prepare_cached(
        "INSERT INTO turn (id, session, started_at, ended_at, status, model, input_tokens, output_tokens, model_calls, parent)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        turn.turn.as_str(),
        turn.session.as_str(),
        text::instant(turn.started_at),
        turn.ended_at.map(text::instant),
        turn.status,
        turn.model,
        to_stored_tokens(turn.usage.input_tokens),
        to_stored_tokens(turn.usage.output_tokens),
        turn.usage.model_calls,
        parent,
    ])
    .map_err(|e| DbError::parent(e, || format!("session {}", turn.session)))?;
    Ok(())
}

/// Updates the end of a turn. Returns false if the turn is not stored yet.
fn update(conn: &Connection, turn: &TurnRow) -> Result<bool, DbError> {
    let changed = conn
        .prepare_cached(
            "UPDATE turn SET ended_at = ?2, status = ?3, model = ?4, input_tokens = ?5, output_tokens = ?6, model_calls = ?7 WHERE id = ?1",
        )?
        .execute(params![
            turn.turn.as_str(),
            turn.ended_at.map(text::instant),
            turn.status,
            turn.model,
            to_stored_tokens(turn.usage.input_tokens),
            to_stored_tokens(turn.usage.output_tokens),
            turn.usage.model_calls,
        ])?;
    Ok(changed > 0)
}

pub(crate) fn running(conn: &Connection) -> Result<Vec<TurnRow>, DbError> {
    let mut statement = conn.prepare_cached(
        "SELECT id, session, started_at, ended_at, status, model, input_tokens, output_tokens, model_calls
         FROM turn WHERE status = 'running' ORDER BY started_at",
    )?;
    let mut rows = statement.query([])?;
    let mut turns = Vec::new();
    while let Some(row) = rows.next()? {
        turns.push(read(row)?);
    }
    Ok(turns)
}

fn read(row: &Row<'_>) -> Result<TurnRow, DbError> {
    Ok(TurnRow {
        turn: TurnId(row.get(0)?),
        session: SessionId(row.get(1)?),
        started_at: text::read_instant(&row.get::<_, String>(2)?)?,
        ended_at: text::read_optional_instant(row.get::<_, Option<String>>(3)?.as_deref())?,
        status: row.get(4)?,
        model: row.get(5)?,
        usage: Usage {
            input_tokens: from_stored_tokens(row.get(6)?),
            output_tokens: from_stored_tokens(row.get(7)?),
            model_calls: row.get(8)?,
        },
    })
}

fn to_stored_tokens(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

fn from_stored_tokens(tokens: i64) -> u64 {
    u64::try_from(tokens).unwrap_or_default()
}
