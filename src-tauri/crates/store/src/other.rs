//! Checks and copies databases whose tables this crate does not know, such as those of packs. A
//! damaged database is set aside and replaced by its newest valid copy.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::backup::{self, Occasion};
use crate::connection::{self, Mode};
use crate::error::OpenError;
use crate::files::Files;
use crate::recover::{self, Recovered};

/// The maximum size in bytes of a file that is checked daily. A larger file is checked only after a
/// crash, because every start would have to wait for the check.
const DAILY_UP_TO: u64 = 256 << 20;

/// Checks a closed database if the last program that used it crashed, or if a day has passed.
/// Returns how a damaged database was replaced.
pub fn check_database(path: &Path, now: DateTime<Utc>) -> Result<Option<Recovered>, OpenError> {
    let files = Files::new(path);
    let len = std::fs::metadata(path).map_or(0, |meta| meta.len());
    if !is_sqlite(path) && backup::list(&files, now).is_empty() {
        tracing::debug!(path = %path.display(), "a file with the name of a database is none");
        return Ok(None);
    }
    let is_due = files.was_cut_off() || (len <= DAILY_UP_TO && files.check_due(now));
    if len == 0 || !is_due {
        return Ok(None);
    }
    let recovered = match find_damage_twice(&files) {
        Ok(None) => None,
        Ok(Some(problem)) | Err(OpenError::Damaged { problem, .. }) => {
            tracing::error!(problem, path = %path.display(), "a database is damaged and is set aside");
            Some(recover::recover(&files, problem, now, |_| Ok(()))?)
        }
        Err(error) => return Err(error),
    };
    if let Err(error) = files.mark_checked(now) {
        tracing::warn!(%error, "the time of the check could not be kept");
    }
    Ok(recovered)
}

/// Whether the file begins like a SQLite database. Other programs may use the same file extension.
fn is_sqlite(path: &Path) -> bool {
    let mut begin = [0; 16];
    ::files::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
        && begin == *b"SQLite format 3\0"
}

/// Looks for damage a second time if damage is found, because SQLite may report a failed read as
/// damage.
fn find_damage_twice(files: &Files) -> Result<Option<String>, OpenError> {
    match find_damage(files) {
        Ok(Some(_)) | Err(OpenError::Damaged { .. }) => {
            files.read_through().map_err(|e| OpenError::from_io(&files.db, &e))?;
            find_damage(files)
        }
        other => other,
    }
}

fn find_damage(files: &Files) -> Result<Option<String>, OpenError> {
    connection::reader(&files.db, Mode::Normal)
        .and_then(|conn| connection::quick_check(&conn))
        .map_err(|error| OpenError::from_sql(&files.db, &error))
}

/// Copies a closed database if it changed and its newest copy is older than a day. Returns the new
/// copy.
pub fn copy_database(path: &Path, now: DateTime<Utc>) -> Result<Option<PathBuf>, OpenError> {
    let files = Files::new(path);
    if !files.has_content() || !backup::is_due(&files, now) {
        return Ok(None);
    }
    let sql = |error: rusqlite::Error| OpenError::from_sql(&files.db, &error);
    let conn = connection::reader(&files.db, Mode::Normal).map_err(sql)?;
    // The copy is written by a statement of this connection, which still cannot write to the
    // database itself.
    conn.execute_batch("PRAGMA query_only = OFF;").map_err(sql)?;
    backup::create_backup(&conn, &files, Occasion::Foreign, now).map(Some)
}
