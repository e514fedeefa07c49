//! The tables `run`, `spending` and `served`: results by request id, the ledger of model calls, and
//! how turns were served.

use chrono::{DateTime, NaiveDate, Utc};
use contract::{Spent, TurnId};
use engine::ports::{Claim, ReservationRequest, Reserved, RunKey, Scope, Served, Settlement, Used};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::DbError;
use crate::text;

pub(crate) fn forget_runs(conn: &Connection, until: DateTime<Utc>) -> Result<(), DbError> {
    // A running run keeps its claim however long it takes, because a repeated request would
    // otherwise run twice.
    conn.prepare_cached("DELETE FROM run WHERE claimed_at <= ?1 AND state <> 'running'")?
        .execute([text::instant(until)])?;
    Ok(())
}

pub(crate) fn claim(conn: &Connection, key: &RunKey, at: DateTime<Utc>) -> Result<Claim, DbError> {
    let found: Option<(String, Option<String>)> = conn
        .prepare_cached("SELECT state, outcome FROM run WHERE caller = ?1 AND request = ?2")?
        .query_row(params![key.caller, key.request], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match found {
        Some((_, Some(outcome))) => Ok(Claim::Stored(outcome)),
        Some((state, None)) if state == "running" => Ok(Claim::Running),
        // It is unknown what a run without a result has done, so the request is not run again.
        Some(_) => Ok(Claim::Interrupted),
        None => {
            conn.prepare_cached("INSERT INTO run (caller, request, claimed_at, state) VALUES (?1, ?2, ?3, 'running')")?.execute(params![
                key.caller,
                key.request,
                text::instant(at)
            ])?;
            Ok(Claim::New)
        }
    }
}

pub(crate) fn end(conn: &Connection, key: &RunKey, outcome: Option<&str>) -> Result<(), DbError> {
    match outcome {
        Some(outcome) => conn
            .prepare_cached(
                "UPDATE run SET state = 'ended', outcome = ?3 WHERE caller = ?1 AND request = ?2",
            )?
            .execute(params![key.caller, key.request, outcome])?,
        None => conn
            .prepare_cached("DELETE FROM run WHERE caller = ?1 AND request = ?2")?
            .execute(params![key.caller, key.request])?,
    };
    Ok(())
}

/// Deletes the stored results of runs, which may contain texts of any session. A repeated request
/// is still not run twice.
pub(crate) fn delete_outcomes(conn: &Connection) -> Result<(), DbError> {
    conn.execute(
        "UPDATE run SET state = 'interrupted', outcome = NULL WHERE outcome IS NOT NULL",
        [],
    )?;
    Ok(())
}

pub(crate) fn mark_runs_interrupted(conn: &Connection) -> Result<(), DbError> {
    conn.execute("UPDATE run SET state = 'interrupted' WHERE state = 'running'", [])?;
    Ok(())
}

/// Returns what has been used in a scope that has a cap.
fn read_usage(conn: &Connection, wish: &ReservationRequest, scope: Scope) -> Result<Used, DbError> {
    if !wish
        .caps
        .iter()
        .any(|cap| cap.scope == scope && (cap.tokens.is_some() || cap.nano_usd.is_some()))
    {
        return Ok(Used::default());
    }
    let day = wish.day.to_string();
    let (rows, value) = match scope {
        // A run has few calls, so no sum is stored for a run.
        Scope::Run => ("spending WHERE turn = ?1", wish.turn.as_str()),
        Scope::Session => ("spent WHERE scope = 'session' AND name = ?1", wish.session.as_str()),
        Scope::Day => ("spent WHERE scope = 'day' AND name >= ?1", day.as_str()),
    };
    let sql = format!("SELECT COALESCE(SUM(tokens), 0), COALESCE(SUM(nano_usd), 0) FROM {rows}");
    Ok(conn.prepare_cached(&sql)?.query_row([value], |row| {
        Ok(Used {
            tokens: from_stored_amount(row.get(0)?),
            nano_usd: from_stored_amount(row.get(1)?),
        })
    })?)
}

pub(crate) fn reserve(conn: &Connection, wish: &ReservationRequest) -> Result<Reserved, DbError> {
    let (of_run, of_session, of_day) = (
        read_usage(conn, wish, Scope::Run)?,
        read_usage(conn, wish, Scope::Session)?,
        read_usage(conn, wish, Scope::Day)?,
    );
    let fit = wish.longest_allowed_answer(|scope| match scope {
        Scope::Run => of_run,
        Scope::Session => of_session,
        Scope::Day => of_day,
    });
    let output_tokens = match fit {
        Ok(output) => output,
        Err(refusal) => return Ok(Reserved::Refused(refusal)),
    };
    let most = wish.price.map(|price| to_stored_amount(price.of(wish.input_tokens, output_tokens)));
    conn.prepare_cached("INSERT INTO spending (at, day, session, turn, model, tokens, nano_usd) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?.execute(params![
        text::instant(wish.at),
        wish.day.to_string(),
        wish.session.as_str(),
        wish.turn.as_str(),
        wish.model,
        to_stored_amount(wish.input_tokens.saturating_add(output_tokens)),
        most,
    ])?;
    let id = conn.last_insert_rowid();
    if id % 1_000 == 0 {
        conn.prepare_cached("DELETE FROM spending WHERE id <= ?1")?.execute([id - MAX_CALLS])?;
    }
    Ok(Reserved::Entry { id, output_tokens })
}

pub(crate) fn settle(conn: &Connection, entry: i64, used: Settlement) -> Result<(), DbError> {
    conn.prepare_cached(
        "UPDATE spending SET tokens = ?2, nano_usd = ?3, settled = 1 WHERE id = ?1 AND settled = 0",
    )?
    .execute(params![
        entry,
        to_stored_amount(used.input_tokens.saturating_add(used.output_tokens)),
        used.nano_usd.map(to_stored_amount),
    ])?;
    Ok(())
}

pub(crate) fn read_spending(conn: &Connection, day: NaiveDate) -> Result<Spent, DbError> {
    let sql = "SELECT COALESCE(SUM(tokens), 0), COALESCE(SUM(nano_usd), 0), COALESCE(SUM(calls), 0), COALESCE(SUM(unpriced), 0)
               FROM spent WHERE scope = 'day' AND name >= ?1";
    Ok(conn.prepare_cached(sql)?.query_row([day.to_string()], |row| {
        Ok(Spent {
            tokens: from_stored_amount(row.get(0)?),
            usd: row.get::<_, i64>(1)? as f64 / 1e9,
            calls: row.get(2)?,
            unpriced_calls: row.get(3)?,
        })
    })?)
}

/// How many of the newest rows of `spending` are kept. Running turns never need more. The sums of
/// deleted rows stay in `spent`.
const MAX_CALLS: i64 = 20_000;
/// The maximum number of rows of served turns. Each new row deletes the older rows, which no
/// statistic uses.
const MAX_RUNS: i64 = 1_000;

pub(crate) fn record_served_turn(conn: &Connection, served: &Served) -> Result<(), DbError> {
    let entered = conn
        .prepare_cached("INSERT OR IGNORE INTO served (turn, ended_at, duration_ms, tools, status, code) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![served.turn.as_str(), text::instant(served.ended_at), to_stored_amount(served.duration_ms), served.tools, served.status, served.code])?;
    if entered > 0 {
        conn.prepare_cached("DELETE FROM served WHERE id <= ?1")?
            .execute([conn.last_insert_rowid() - MAX_RUNS])?;
    }
    Ok(())
}

pub(crate) fn list_served(conn: &Connection, most: u32) -> Result<Vec<Served>, DbError> {
    let mut statement = conn.prepare_cached("SELECT turn, ended_at, duration_ms, tools, status, code FROM served ORDER BY id DESC LIMIT ?1")?;
    let mut rows = statement.query([most])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Served {
            turn: TurnId(row.get(0)?),
            ended_at: text::read_instant(&row.get::<_, String>(1)?)?,
            duration_ms: from_stored_amount(row.get(2)?),
            tools: row.get(3)?,
            status: row.get(4)?,
            code: row.get(5)?,
        });
    }
    Ok(found)
}

fn to_stored_amount(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

fn from_stored_amount(amount: i64) -> u64 {
    u64::try_from(amount).unwrap_or_default()
}
