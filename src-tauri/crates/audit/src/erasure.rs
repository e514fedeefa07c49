//! Erases revealed values: single values, the values of a session, and values older than an
//! instant. Records are never erased. Each erasure in the log is recorded in the same transaction,
//! so that records and erased values cannot contradict each other.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use contract::{RecordType, SessionId};
use engine::ports::RecordDraft;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::body::instant;
use crate::chain::{Chain, WriteError, prepare};
use crate::entropy::Entropy;
use crate::keys::Signer;
use crate::num::Num;
use crate::schema;

/// The maximum number of values that one command erases by age, so that new records do not wait
/// long.
const EXPIRED_AT_ONCE: usize = 5_000;

/// The values to erase together.
#[derive(Clone, Debug)]
pub(crate) enum Erasure {
    /// The value of one member of a record.
    Value { seq: u64, member: String },
    /// All values of a session's records.
    Session(SessionId),
    /// The oldest values of records before an instant, up to a maximum number.
    Expired { before: DateTime<Utc> },
}

/// Erases values and records the erasure. The records are signed at once, so that a copy of the
/// signed part never lacks a value without a record of its erasure. Returns the number of values.
pub(crate) fn erase(
    db: &mut Connection,
    chain: &mut Chain,
    entropy: &dyn Entropy,
    signer: &Signer,
    now: DateTime<Utc>,
    what: &Erasure,
) -> Result<u64, WriteError> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut record = |draft: RecordDraft| {
        chain.append(&tx, entropy, &prepare(draft, now).map_err(WriteError::Refused)?).map(drop)
    };
    let erased = match what {
        Erasure::Expired { before } => {
            let Some(until) = find_last_expired(&tx, *before, now)? else { return Ok(0) };
            // One record covers all erased values, because a record for each value would make the
            // log grow with every expiry.
            let erased = tx.execute("DELETE FROM audit_reveal WHERE seq <= ?1", [Num(until)])?;
            record(
                RecordDraft::new(RecordType::ValuesExpired)
                    .field("until", until)
                    .field("before", instant(*before))
                    .field("values", erased as u64),
            )?;
            erased as u64
        }
        Erasure::Value { .. } | Erasure::Session(_) => {
            let values = list_values(&tx, what, now)?;
            for (seq, member, session) in &values {
                tx.prepare_cached("DELETE FROM audit_reveal WHERE seq=?1 AND member=?2")?
                    .execute(params![Num(*seq), member])?;
                let mut draft = RecordDraft::new(RecordType::ValueErased)
                    .field("record", *seq)
                    .field("member", &**member);
                draft.session = session.clone().map(Into::into);
                record(draft)?;
            }
            values.len() as u64
        }
    };
    if erased > 0 {
        chain.write_checkpoint(&tx, &signer.key)?;
        tx.commit()?;
    }
    Ok(erased)
}

/// Returns the number of the last record whose values are erased by age. The search ends at the
/// first record that is not old enough, so that its cost depends on the expired values alone. A
/// time in the future was written with a wrong clock, and does not end the search.
fn find_last_expired(
    db: &Connection,
    before: DateTime<Utc>,
    now: DateTime<Utc>,
) -> rusqlite::Result<Option<u64>> {
    let (before, now) = (instant(before), instant(now));
    let mut select = db.prepare_cached(
        "SELECT v.seq, r.at FROM audit_reveal v CROSS JOIN audit_record r ON r.seq = v.seq
         ORDER BY v.seq, v.member",
    )?;
    let mut rows = select.query([])?;
    let (mut last, mut found) = (None, 0);
    while let Some(row) = rows.next()? {
        let at = row.get_ref(1)?.as_str()?;
        if at < before.as_str() {
            last = Some(row.get::<_, Num>(0)?.0);
            found += 1;
        } else if at <= now.as_str() {
            break;
        }
        if found == EXPIRED_AT_ONCE {
            break;
        }
    }
    Ok(last)
}

/// Whether any record from one instant up to another (exclusive) has a value.
pub(crate) fn has_values_between(
    db: &Connection,
    from: DateTime<Utc>,
    before: DateTime<Utc>,
) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "SELECT 1 FROM audit_reveal v JOIN audit_record r ON r.seq = v.seq
         WHERE r.at >= ?1 AND r.at < ?2 LIMIT 1",
    )?
    .exists([instant(from), instant(before)])
}

/// Returns the values to erase that still exist: record, member, and the record's session.
pub(crate) fn list_values(
    db: &Connection,
    what: &Erasure,
    now: DateTime<Utc>,
) -> rusqlite::Result<Vec<(u64, String, Option<String>)>> {
    let select = "SELECT v.seq, v.member, r.session FROM audit_reveal v JOIN audit_record r ON r.seq = v.seq";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Num>(0)?.0, row.get(1)?, row.get(2)?));
    match what {
        Erasure::Value { seq, member } => db
            .prepare(&format!("{select} WHERE v.seq = ?1 AND v.member = ?2"))?
            .query_map(params![Num(*seq), member], read)?
            .collect(),
        Erasure::Session(session) => db
            .prepare(&format!("{select} WHERE r.session = ?1 ORDER BY v.seq, v.member"))?
            .query_map([session.as_str()], read)?
            .collect(),
        Erasure::Expired { before } => {
            let Some(until) = find_last_expired(db, *before, now)? else { return Ok(Vec::new()) };
            db.prepare(&format!("{select} WHERE v.seq <= ?1 ORDER BY v.seq, v.member"))?
                .query_map([Num(until)], read)?
                .collect()
        }
    }
}

/// Lists the logs beside `log` that were set aside after an alarm.
fn list_set_aside(log: &Path) -> std::io::Result<Vec<PathBuf>> {
    let stem = log.file_stem().unwrap_or_default().to_string_lossy();
    let prefix = format!("{stem}.set-aside-");
    let folder = log.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
        other => other?,
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(".db") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The values to erase from a log to which no record can be added.
#[derive(Clone, Debug)]
pub(crate) enum OldValues {
    /// All values of a session's records.
    Session(SessionId),
    /// The values of records before an instant.
    Before(DateTime<Utc>),
}

/// Erases values from the logs beside `log` that were set aside. These logs do not verify, and no
/// record can be added to them. Returns the number of values, and the files that could not be
/// searched because they are too damaged.
pub(crate) fn erase_set_aside(
    log: &Path,
    what: &OldValues,
) -> std::io::Result<(u64, Vec<PathBuf>)> {
    let mut erased = 0;
    let mut unreadable = Vec::new();
    for path in list_set_aside(log)? {
        match erase_in_file(&path, what) {
            Ok(count) => erased += count,
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "an old log could not be searched for the values to erase");
                unreadable.push(path);
            }
        }
    }
    Ok((erased, unreadable))
}

fn erase_in_file(path: &Path, what: &OldValues) -> rusqlite::Result<u64> {
    let db = schema::open_writer(path, schema::PAGE_SIZE)?;
    let record = "SELECT 1 FROM audit_record r WHERE r.seq = audit_reveal.seq";
    let (condition, value) = match what {
        // A value without a record is erased, too, because its session is unknown.
        OldValues::Session(session) => {
            (format!("NOT EXISTS ({record} AND r.session IS NOT ?1)"), session.to_string())
        }
        OldValues::Before(before) => (format!("EXISTS ({record} AND r.at < ?1)"), instant(*before)),
    };
    let sql = format!("DELETE FROM audit_reveal WHERE {condition}");
    let erased = db.execute(&sql, [value])?;
    // The write-ahead log may contain older copies of the pages.
    schema::empty_write_ahead_log(&db)?;
    Ok(erased as u64)
}
