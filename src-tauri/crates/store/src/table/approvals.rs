//! The table `approval`: pending actions and their decisions. The status changes only by
//! compare-and-set, and never after it is final, so that one of two concurrent decisions fails.

use chrono::{DateTime, Utc};
use contract::{Approval, ApprovalId, ApprovalStatus, SessionId, Transition};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::DbError;
use crate::text;

/// The maximum number of decided approvals in a list. The audit log has all of them.
const MAX_LISTED: u32 = 1000;
/// The statuses that are not final.
const OPEN: &str = "'pending', 'approved', 'executing'";

/// Inserts an approval. `shared` says whether several gateways share the session and so decide the
/// approval together.
pub(crate) fn insert(conn: &Connection, approval: &Approval, shared: bool) -> Result<(), DbError> {
    conn.prepare_cached("INSERT INTO approval (id, session, created_at, status, reason, decided_at, body, shared) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?
        .execute(params![
            approval.id.as_str(),
            approval.session.as_str(),
            text::instant(approval.created_at),
            text::enum_to_text(&approval.status)?,
            approval.reason,
            approval.decided_at.map(text::instant),
            serde_json::to_string(approval)?,
            shared,
        ])?;
    Ok(())
}

pub(crate) fn is_shared(conn: &Connection, id: &ApprovalId) -> Result<bool, DbError> {
    let shared = conn
        .prepare_cached("SELECT shared FROM approval WHERE id = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    Ok(shared.unwrap_or_default())
}

pub(crate) fn get(conn: &Connection, id: &ApprovalId) -> Result<Option<Approval>, DbError> {
    let mut statement =
        conn.prepare_cached("SELECT body, status, reason, decided_at FROM approval WHERE id = ?1")?;
    statement.query_row([id.as_str()], columns).optional()?.map(approval).transpose()
}

/// Changes the status. The reason is kept unless a new reason is given, and the time of the first
/// decision is kept.
pub(crate) fn change_status(
    conn: &Connection,
    id: &ApprovalId,
    transition: Transition,
    reason: Option<&str>,
    at: DateTime<Utc>,
) -> Result<bool, DbError> {
    check(transition)?;
    let (from, to) = (text::enum_to_text(&transition.from)?, text::enum_to_text(&transition.to)?);
    let changed = conn
        // The condition contains the old status, so that only one of two processes makes the
        // transition.
        .prepare_cached("UPDATE approval SET status = ?3, reason = coalesce(?4, reason), decided_at = coalesce(decided_at, ?5) WHERE id = ?1 AND status = ?2")?
        .execute(params![id.as_str(), from, to, reason, text::instant(at)])?;
    Ok(changed == 1)
}

/// Refuses a transition that is not in the table of statuses.
pub(crate) fn check(transition: Transition) -> Result<(), DbError> {
    let (from, to) = (text::enum_to_text(&transition.from)?, text::enum_to_text(&transition.to)?);
    if transition.from.is_final() {
        return Err(DbError::Refused(format!("an approval that is {from} stays so")));
    }
    if !transition.is_allowed() {
        return Err(DbError::Refused(format!("an approval that is {from} cannot become {to}")));
    }
    Ok(())
}

/// Copies the status of the shared store, unless the approval has ended in this process.
pub(crate) fn copy_shared_status(
    conn: &Connection,
    id: &ApprovalId,
    to: ApprovalStatus,
    reason: Option<&str>,
    at: DateTime<Utc>,
) -> Result<bool, DbError> {
    let changed = conn
        .prepare_cached(&format!(
            "UPDATE approval SET status = ?2, reason = coalesce(?3, reason), decided_at = coalesce(decided_at, ?4)
             WHERE id = ?1 AND status IN ({OPEN}) AND status <> ?2"
        ))?
        .execute(params![id.as_str(), text::enum_to_text(&to)?, reason, text::instant(at)])?;
    Ok(changed == 1)
}

/// Returns the approvals of one session, newest first. The order does not depend on time, because
/// clocks may have been set back or belong to another machine.
pub(crate) fn of_session(
    conn: &Connection,
    session: &SessionId,
    limit: u32,
) -> Result<Vec<Approval>, DbError> {
    let mut statement = conn.prepare_cached("SELECT body, status, reason, decided_at FROM approval WHERE session = ?1 ORDER BY rowid DESC LIMIT ?2")?;
    let rows = statement.query_map(params![session.as_str(), limit], columns)?;
    rows.map(|row| approval(row?)).collect()
}

/// Takes over `approvals`, the approvals of a session that another process served. An approval that
/// has ended here stays ended. An approval that is open here but missing in `approvals` expires
/// with the reason `untold`. Returns the approvals that were open here and have now ended.
pub(crate) fn import_for_session(
    conn: &Connection,
    session: &SessionId,
    approvals: &[Approval],
    untold: &str,
) -> Result<Vec<Approval>, DbError> {
    let (mut came, mut ended) = (Vec::new(), Vec::new());
    // `approvals` is sorted newest first, and rows are inserted oldest first.
    for approval in approvals.iter().rev() {
        came.push(approval.id.as_str());
        if get(conn, &approval.id)?.is_none() {
            // The approval was proposed in another process, so the processes decide it together.
            insert(conn, approval, true)?;
            continue;
        }
        let decided_at = approval.decided_at.unwrap_or(approval.created_at);
        if copy_shared_status(
            conn,
            &approval.id,
            approval.status,
            approval.reason.as_deref(),
            decided_at,
        )? && approval.status.is_final()
        {
            ended.push(approval.clone());
        }
    }
    let mut statement = conn.prepare_cached(&format!(
        "UPDATE approval SET status = 'expired', reason = ?3 WHERE session = ?1 AND status IN ({OPEN}) AND id NOT IN (SELECT value FROM json_each(?2))
         RETURNING body, status, reason, decided_at"
    ))?;
    let rows = statement
        .query_map(params![session.as_str(), serde_json::to_string(&came)?, untold], columns)?;
    ended.extend(rows.map(|row| approval(row?)).collect::<Result<Vec<_>, _>>()?);
    Ok(ended)
}

/// Returns all approvals that have not ended, oldest first.
pub(crate) fn open(conn: &Connection) -> Result<Vec<Approval>, DbError> {
    let mut statement = conn.prepare_cached(&format!("SELECT body, status, reason, decided_at FROM approval WHERE status IN ({OPEN}) ORDER BY rowid"))?;
    let rows = statement.query_map([], columns)?;
    rows.map(|row| approval(row?)).collect()
}

/// Whether an approval of one of these turns has not ended.
pub(super) fn has_open_of(
    conn: &Connection,
    session: &SessionId,
    turns: &[&str],
) -> Result<bool, DbError> {
    if turns.is_empty() {
        return Ok(false);
    }
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM approval WHERE session = ?1 AND status IN ({OPEN})
         AND json_extract(body, '$.turn') IN (SELECT value FROM json_each(?2)))"
    );
    let turns = serde_json::to_string(turns)?;
    Ok(conn.prepare_cached(&sql)?.query_row(params![session.as_str(), turns], |row| row.get(0))?)
}

/// Returns the pending approvals that have expired. Only these rows are parsed.
pub(crate) fn overdue(conn: &Connection, now: DateTime<Utc>) -> Result<Vec<Approval>, DbError> {
    let mut statement = conn.prepare_cached(
        "SELECT body, status, reason, decided_at FROM approval WHERE status = 'pending' AND unixepoch(json_extract(body, '$.expires_at')) <= ?1 ORDER BY rowid",
    )?;
    let rows = statement.query_map([now.timestamp()], columns)?;
    // SQLite compares whole seconds only, so fractions are compared here.
    let found = rows.map(|row| approval(row?)).collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().filter(|approval| approval.expires_at <= now).collect())
}

/// Lists pending approvals, then those being executed, then (if wanted) ended approvals; newest
/// first within each group.
pub(crate) fn list(conn: &Connection, include_decided: bool) -> Result<Vec<Approval>, DbError> {
    // The status is part of the statement and not a parameter, so that the index on the status is
    // used to find the few open approvals.
    let which = if include_decided { "1".to_owned() } else { format!("status IN ({OPEN})") };
    let mut statement = conn.prepare_cached(&format!(
        "SELECT body, status, reason, decided_at FROM approval WHERE {which}
         ORDER BY CASE status WHEN 'pending' THEN 0 WHEN 'approved' THEN 1 WHEN 'executing' THEN 1 ELSE 2 END, created_at DESC, id LIMIT ?1",
    ))?;
    let rows = statement.query_map(params![MAX_LISTED], columns)?;
    rows.map(|row| approval(row?)).collect()
}

type Columns = (String, String, Option<String>, Option<String>);

fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn approval((body, status, reason, decided_at): Columns) -> Result<Approval, DbError> {
    let proposal: Approval = serde_json::from_str(&body)?;
    Ok(Approval {
        status: text::read_word(&status)?,
        reason,
        decided_at: text::read_optional_instant(decided_at.as_deref())?,
        ..proposal
    })
}
