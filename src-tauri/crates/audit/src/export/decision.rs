//! Finds the records of one decision: the question of its turn, the request, the user's answer,
//! the call and its result.

use contract::{AgentError, Reason, text};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::body::{self, Body};
use crate::num::Num;
use crate::schema::unreadable;

/// The records of a decision.
#[derive(Debug)]
pub(super) struct Decision {
    /// The numbers of all records of the decision, ascending.
    pub(super) records: Vec<u64>,
    /// The record with the user's answer, or with the expiry.
    pub(super) resolved: u64,
}

/// Finds the decision to which a record belongs. The record with the answer must be signed.
pub(super) fn find(db: &Connection, seq: u64) -> Result<Decision, AgentError> {
    let body = read(db, seq).map_err(|error| unreadable(&error))?.ok_or_else(|| {
        AgentError::invalid(text!("There is no record {seq} in the audit log.", seq))
            .reason(Reason::NotFound)
            .hint("\"csign audit list --all\" shows the records.")
    })?;
    let Some((approval, session)) = body.text("approval").zip(body.session.as_deref()) else {
        return Err(AgentError::invalid(text!("Record {seq} belongs to no decision.", seq))
            .hint("\"csign audit list --type approval_resolved\" shows the decisions."));
    };
    let found = records_of(db, session, approval, body.turn.as_deref());
    let decision = found.map_err(|error| unreadable(&error))?;
    decision.ok_or_else(|| {
        AgentError::invalid(text!(
            "The decision of record {seq} is not made or not signed yet.",
            seq
        ))
        .hint("`csign audit checkpoint` signs the newest records.")
    })
}

/// Whether a record is that of a figure, and signed.
pub(super) fn is_figure(db: &Connection, seq: u64) -> Result<bool, AgentError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM audit_record WHERE seq=?1 AND type='figure_computed'
               AND seq<=(SELECT max(size) FROM audit_checkpoint))";
    db.query_row(sql, [Num(seq)], |row| row.get(0)).map_err(|error| unreadable(&error))
}

fn read(db: &Connection, seq: u64) -> rusqlite::Result<Option<Body>> {
    let bytes: Option<Vec<u8>> = db
        .query_row("SELECT body FROM audit_record WHERE seq=?1", [Num(seq)], |row| row.get(0))
        .optional()?;
    Ok(bytes.and_then(|bytes| body::parse(&bytes).ok()))
}

fn records_of(
    db: &Connection,
    session: &str,
    approval: &str,
    turn: Option<&str>,
) -> rusqlite::Result<Option<Decision>> {
    let mut statement = db.prepare(
        "SELECT seq, type, status FROM audit_record WHERE session=?1
         AND seq<=(SELECT max(size) FROM audit_checkpoint)
         AND (CAST(body AS TEXT) ->> '$.fields.approval' = ?2
              OR (type='run_started' AND CAST(body AS TEXT) ->> '$.turn' = ?3))
         ORDER BY seq",
    )?;
    let mut rows = statement.query(params![session, approval, turn])?;
    let (mut records, mut answer, mut ended) = (Vec::new(), None, None);
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, Num>(0)?.0;
        records.push(seq);
        if row.get_ref(1)?.as_str() == Ok("approval_resolved") {
            ended = Some(seq);
            let status = row.get::<_, Option<String>>(2)?;
            if matches!(status.as_deref(), Some("approved" | "rejected")) {
                answer = Some(seq);
            }
        }
    }
    Ok(answer.or(ended).map(|resolved| Decision { records, resolved }))
}
