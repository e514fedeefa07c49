//! The least work that a log must do: rows written by SQLite with the log's settings, and hashes.
//! Knows nothing of records.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use sha2::{Digest as _, Sha256};

use crate::Outcome;
use crate::measure::best;

/// The bytes that are hashed for a node of the tree: a prefix and two hashes.
const NODE: usize = 65;

/// Returns how many records the log has, and the mean length of their bodies in bytes.
pub(crate) fn bodies(log: &Path) -> Outcome<(u64, usize)> {
    let db = Connection::open_with_flags(log, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let select = "SELECT count(*), coalesce(sum(length(body)) / count(*), 0) FROM audit_record";
    let (count, length) =
        db.query_row(select, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    Ok((u64::try_from(count)?, usize::try_from(length)?))
}

/// Writes rows with bodies of this length into a new database, `group` rows in each transaction.
/// Returns the time without the time of creating the database.
pub(crate) fn insert(folder: &Path, rows: u32, group: u32, length: usize) -> Outcome<Duration> {
    let folder = tempfile::tempdir_in(folder)?;
    let mut db = Connection::open(folder.path().join("plain.db"))?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "secure_delete", true)?;
    db.execute_batch("CREATE TABLE row(id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")?;
    let body = vec![b'x'; length];
    let start = Instant::now();
    let mut left = rows;
    while left > 0 {
        let transaction = db.transaction()?;
        let now = left.min(group.max(1));
        let mut insert = transaction.prepare_cached("INSERT INTO row(body) VALUES (?1)")?;
        for _ in 0..now {
            insert.execute([&body])?;
        }
        drop(insert);
        transaction.commit()?;
        left -= now;
    }
    Ok(start.elapsed())
}

/// Hashes `count` bodies of this length, and a tree node for each.
pub(crate) fn hash(count: u64, length: usize) -> Duration {
    let (body, node) = (vec![b'x'; length], [0_u8; NODE]);
    best(3, || {
        let mut last = 0_u8;
        for _ in 0..count {
            last ^= Sha256::digest(&body)[0] ^ Sha256::digest(node)[0];
        }
        last
    })
}
