//! Reads pages of records. A page ends early if its records are large together, because a single
//! value can have many megabytes.

use contract::{AgentError, AuditListParams, AuditListResponse, AuditRecordView};
use rusqlite::Connection;

use crate::num::Num;
use crate::read;
use crate::schema::unreadable;

/// The number of bytes after which a page ends. Its first record can be larger.
const MOST: u64 = 4 << 20;
/// How many records of a plain list are read together.
const AT_ONCE: usize = 8;

/// The remaining space on a page.
#[derive(Debug, Default)]
pub(super) struct Room {
    used: u64,
}

impl Room {
    /// Whether an item of this size still belongs to the page. The first item always belongs to the
    /// page.
    pub(super) fn takes(&mut self, bytes: u64) -> bool {
        let is_first = self.used == 0;
        self.used = self.used.saturating_add(bytes.max(1));
        is_first || self.used <= MOST
    }
}

/// Returns the number of bytes of a record and its values. SQLite knows the number without reading
/// the values.
fn size_of(log: &Connection, seq: u64) -> Result<u64, AgentError> {
    let read = || -> rusqlite::Result<u64> {
        log.prepare_cached(
            "SELECT coalesce((SELECT octet_length(body) FROM audit_record WHERE seq=?1), 0)
             + coalesce((SELECT sum(octet_length(value)) FROM audit_reveal WHERE seq=?1), 0)",
        )?
        .query_row([Num(seq)], |row| row.get::<_, Num>(0))
        .map(|bytes| bytes.0)
    };
    read().map_err(|error| unreadable(&error))
}

/// Reads records in this order until they are too large together. Returns the records, and whether
/// any record was left out.
pub(crate) fn read_records(
    log: &Connection,
    seqs: &[u64],
) -> Result<(Vec<AuditRecordView>, bool), AgentError> {
    let (mut records, mut room) = (Vec::new(), Room::default());
    for seq in seqs {
        if !room.takes(size_of(log, *seq)?) {
            return Ok((records, true));
        }
        records.push(read::show(log, *seq)?);
    }
    Ok((records, false))
}

/// Lists records of the log without the index, newest first.
pub(crate) fn list_records(
    log: &Connection,
    params: &AuditListParams,
) -> Result<AuditListResponse, AgentError> {
    let limit = read::limit(params.limit);
    let (mut records, mut room): (Vec<AuditRecordView>, _) = (Vec::new(), Room::default());
    let mut asked = params.clone();
    loop {
        asked.limit = AT_ONCE.min(limit - records.len()) as u32;
        let read = read::list(log, &asked)?;
        for record in read.records {
            if !room.takes(size_of(log, record.seq)?) {
                return Ok(AuditListResponse { records, has_more: true, total: read.total });
            }
            records.push(record);
        }
        if !read.has_more || records.len() >= limit {
            return Ok(AuditListResponse { records, has_more: read.has_more, total: read.total });
        }
        asked.before = records.last().map(|record| record.seq);
    }
}
