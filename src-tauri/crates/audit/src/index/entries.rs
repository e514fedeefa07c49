//! Makes the entries of the grouped list: the index's data about a group, with the question, the
//! origin and the person from the records themselves.

use chrono::{DateTime, Utc};
use contract::{
    AgentError, AuditChoicesResponse, AuditEntriesParams, AuditEntriesResponse, AuditEntry,
    AuditEntryKind, AuditEntryParams, AuditEntryResponse, AuditRecordView, Reason, SessionId,
    TurnId,
};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;

use super::page::{self, Room};
use super::{Facet, Index, Kind, Progress, failed, groups};
use crate::num::Num;
use crate::read;

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;
/// The maximum number of records of one entry that are returned together.
const RECORDS: usize = 500;
/// The maximum number of names of one kind that can be chosen.
const CHOICES: u32 = 500;
/// The outcome of a call that ended without a record of its outcome.
const UNKNOWN: &str = "unknown";

impl From<Kind> for AuditEntryKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Question => Self::Question,
            Kind::Call => Self::Call,
            Kind::Start => Self::Start,
            Kind::Erasure => Self::Erasure,
            Kind::Record | Kind::Visit => Self::Record,
        }
    }
}

/// Returns one page of entries.
pub(crate) fn list_entries(
    index: &Index,
    log: &Connection,
    params: &AuditEntriesParams,
    progress: Progress,
) -> Result<AuditEntriesResponse, AgentError> {
    let limit = if params.limit == 0 { DEFAULT_LIMIT } else { params.limit.min(MAX_LIMIT) };
    let page =
        groups::find_groups(&index.db, params, limit as usize).map_err(|error| failed(&error))?;
    let (mut entries, mut room, mut has_more) = (Vec::new(), Room::default(), page.has_more);
    let mut last = None;
    for found in page.groups {
        let entry = entry(&index.db, log, found.group)?;
        if !room.takes(size_of(&entry)) {
            has_more = true;
            break;
        }
        entries.push(entry);
        last = Some(found.position);
    }
    Ok(AuditEntriesResponse {
        entries,
        next: last.filter(|_| has_more),
        indexed: progress.indexed,
        total: progress.total,
    })
}

/// Returns the number of bytes of those texts of an entry that have no other limit.
fn size_of(entry: &AuditEntry) -> u64 {
    [&entry.question, &entry.person].into_iter().flatten().map(|text| text.len() as u64).sum()
}

/// Returns one entry with its records.
pub(crate) fn show_entry(
    index: &Index,
    log: &Connection,
    params: &AuditEntryParams,
) -> Result<AuditEntryResponse, AgentError> {
    let db = &index.db;
    let number = |row: &rusqlite::Row<'_>| row.get::<_, Num>(0).map(|n| n.0);
    let found = match (&params.turn, params.record) {
        (Some(turn), _) => {
            db.query_row("SELECT id FROM grp WHERE turn=?1", [turn.0.as_str()], number)
        }
        (None, record) => db.query_row(
            "SELECT grp FROM entry WHERE seq=?1",
            [Num(record.unwrap_or_default())],
            number,
        ),
    };
    let group = found.optional().map_err(|error| failed(&error))?.ok_or_else(|| {
        AgentError::invalid("The audit log has nothing about this.").reason(Reason::NotFound)
    })?;
    let seqs = |after: u64| -> rusqlite::Result<Vec<u64>> {
        db.prepare_cached("SELECT seq FROM entry WHERE grp=?1 AND seq>?2 ORDER BY seq LIMIT ?3")?
            .query_map(params![Num(group), Num(after), RECORDS as i64 + 1], number)?
            .collect()
    };
    let mut seqs = seqs(params.after.unwrap_or_default()).map_err(|error| failed(&error))?;
    let has_more = seqs.len() > RECORDS;
    seqs.truncate(RECORDS);
    let (records, is_short) = page::read_records(log, &seqs)?;
    Ok(AuditEntryResponse {
        entry: entry(db, log, group)?,
        records,
        has_more: has_more || is_short,
    })
}

/// Returns the names that can be used in a filter.
pub(crate) fn list_choices(index: &Index) -> Result<AuditChoicesResponse, AgentError> {
    let list = |facet: Facet| -> Result<Vec<String>, AgentError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            index
                .db
                .prepare_cached(
                    "SELECT text FROM name WHERE facet=?1 ORDER BY records DESC, text LIMIT ?2",
                )?
                .query_map(params![facet as i64, CHOICES], |row| row.get(0))?
                .collect()
        };
        read().map_err(|error| failed(&error))
    };
    Ok(AuditChoicesResponse {
        tools: list(Facet::Tool)?,
        agents: list(Facet::Agent)?,
        decisions: list(Facet::Decision)?,
    })
}

/// A group as stored in the index.
struct Row {
    kind: Kind,
    turn: Option<String>,
    at: i64,
    last_seq: u64,
    last_at: i64,
    records: u64,
    asked: Option<u64>,
    status: Option<String>,
    open: u64,
}

fn entry(db: &Connection, log: &Connection, group: u64) -> Result<AuditEntry, AgentError> {
    let (row, names) = read_group(db, group).map_err(|error| failed(&error))?;
    let named = |facet: Facet| -> Vec<String> {
        names.iter().filter(|(of, _)| *of == facet as i64).map(|(_, text)| text.clone()).collect()
    };
    let mut decisions = named(Facet::Decision);
    let is_lost = has_lost_call(db, &row).map_err(|error| failed(&error))?;
    if is_lost && !decisions.iter().any(|decision| decision == UNKNOWN) {
        decisions.push(UNKNOWN.to_owned());
    }
    let first = read::show(log, group)?;
    let other = match row.asked {
        Some(seq) if seq != group => Some(read::show(log, seq)?),
        _ => None,
    };
    let asked = row.asked.map(|_| other.as_ref().unwrap_or(&first));
    let question = asked.and_then(|record| revealed(record, "input"));
    let erased =
        question.is_none() && asked.is_some_and(|record| record.revealed.contains_key("input"));
    let origin = asked.and_then(|record| record.fields.get("origin")?.as_str().map(str::to_owned));
    let person = asked.and_then(|record| revealed(record, "person"));
    Ok(AuditEntry {
        first: group,
        kind: row.kind.into(),
        event: first.record_type,
        at: instant(row.at),
        last_at: instant(row.last_at),
        records: row.records,
        session: named(Facet::Session).into_iter().next().map(SessionId),
        turn: row.turn.map(TurnId),
        question,
        erased,
        origin,
        person,
        status: row.status,
        tools: named(Facet::Tool),
        agents: named(Facet::Agent),
        decisions,
    })
}

/// Whether a call of the group ended without an outcome: the turn is over, or the log was opened
/// again since. Until then, the call may still run.
fn has_lost_call(db: &Connection, row: &Row) -> rusqlite::Result<bool> {
    if row.open == 0 || row.status.is_some() {
        return Ok(row.open > 0);
    }
    db.prepare_cached("SELECT EXISTS(SELECT 1 FROM name n CROSS JOIN entry e ON e.event=n.id WHERE n.facet=?1 AND n.text='log_opened' AND e.seq>?2)")?
        .query_row(params![Facet::Event as i64, Num(row.last_seq)], |row| row.get(0))
}

fn read_group(db: &Connection, group: u64) -> rusqlite::Result<(Row, Vec<(i64, String)>)> {
    let row = db
        .prepare_cached(
            "SELECT kind, turn, at, last_seq, last_at, records, asked, status, open FROM grp WHERE id=?1",
        )?
        .query_row([Num(group)], |row| {
            Ok(Row {
                kind: Kind::of_number(row.get(0)?),
                turn: row.get(1)?,
                at: row.get(2)?,
                last_seq: row.get::<_, Num>(3)?.0,
                last_at: row.get(4)?,
                records: row.get::<_, Num>(5)?.0,
                asked: row.get::<_, Option<Num>>(6)?.map(|n| n.0),
                status: row.get(7)?,
                open: row.get::<_, Num>(8)?.0,
            })
        })?;
    let names = db
        .prepare_cached("SELECT n.facet, n.text FROM grp_has h CROSS JOIN name n ON n.id=h.name WHERE h.grp=?1 ORDER BY n.id")?
        .query_map([Num(group)], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok((row, names))
}

fn revealed(record: &AuditRecordView, member: &str) -> Option<String> {
    match record.revealed.get(member)? {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn instant(millis: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(millis).unwrap_or_default()
}
