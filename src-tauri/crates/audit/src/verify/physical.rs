//! Checks the file itself: the fixed part of SQLite's header, and the pages and indexes.

use contract::text;
use std::io::Read as _;
use std::path::Path;

use rusqlite::Connection;

use super::Problems;
use crate::anchor::{CLOSED, Mark};
use crate::schema::{APPLICATION_ID, FORMAT_VERSION};

const HEADER: usize = 100;

fn number(header: &[u8; HEADER], at: usize) -> u32 {
    u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
}

/// Checks the header bytes that never change in a log. SQLite itself does not check some of these
/// bytes.
pub(crate) fn check_header(path: &Path, problems: &mut Problems) {
    if crate::schema::side_file(path) {
        // In this case, the valid first page is in the side file, which has checksums.
        return;
    }
    let mut header = [0u8; HEADER];
    let Ok(mut file) = files::open(path) else { return };
    if file.read_exact(&mut header).is_err() {
        problems.add(Some(1), "the log file is cut");
        return;
    }
    if i32::try_from(number(&header, 60)).is_ok_and(|version| version > FORMAT_VERSION) {
        // A newer version of the app may set other bytes, and another check reports that the file
        // is from a newer version.
        return;
    }
    // These are offsets in SQLite's file format: WAL mode, no reserved bytes, fixed fractions,
    // schema format 4, no cache hint, no vacuum modes, UTF-8, unused bytes.
    let fixed = header[18..24] == [2, 2, 0, 64, 32, 32]
        && number(&header, 40) == 1
        && number(&header, 44) == 4
        && number(&header, 48) == 0
        && number(&header, 52) == 0
        && number(&header, 56) == 1
        && number(&header, 60) == 1
        && number(&header, 64) == 0
        && i64::from(number(&header, 68)) == i64::from(APPLICATION_ID)
        && header[72..92].iter().all(|byte| *byte == 0)
        && number(&header, 24) == number(&header, 92);
    if !fixed {
        problems.add(None, "the header of the log file was changed");
    }
}

/// Compares the closed file with the digest computed when it was closed, including unused bytes.
/// Checks nothing if the log is open, was not closed, or has been continued since.
pub(crate) fn check_seal(path: &Path, records: u64, mark: &Mark, problems: &mut Problems) {
    let Some(expected) =
        mark.seal.as_deref().filter(|seal| mark.size == records && *seal != CLOSED)
    else {
        return;
    };
    if crate::schema::side_file(path) {
        return;
    }
    if crate::anchor::digest(path).as_deref() != Some(expected) {
        problems.add(
            None,
            "the log file was changed after it was closed, in bytes that hold no record",
        );
    }
}

/// Lets SQLite check every page and index.
pub(crate) fn check_integrity(db: &Connection, problems: &mut Problems) -> rusqlite::Result<()> {
    let look = || -> rusqlite::Result<String> {
        db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
    };
    match look() {
        Ok(text) if text == "ok" => {}
        Ok(text) => problems.add(None, format!("the log file is damaged: {text}")),
        Err(error) if crate::schema::is_damage(&error) => problems
            .add(None, text!("the log file is damaged ({error})", error = error.to_string())),
        Err(error) => return Err(error),
    }
    Ok(())
}
