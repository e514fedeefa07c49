//! Recovers from a damaged file: the file is renamed, never deleted, and replaced by the newest
//! valid copy.

use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::backup;
use crate::error::OpenError;
use crate::files::{self, Files};

/// How a damaged file was handled. The host writes an audit record and informs the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The new path of the damaged file.
    pub old: PathBuf,
    /// The problem of the file.
    pub problem: String,
    /// The copy that replaced the file. If there was no copy, the app starts with an empty
    /// database.
    pub backup: Option<PathBuf>,
    /// Data written after this instant is only in the damaged file.
    pub lost_after: Option<DateTime<Utc>>,
}

/// Renames the file, and puts the newest valid copy in its place. `finish` gets the copy before it
/// gets the name of the database, because no crash may come in between.
pub(crate) fn recover(
    files: &Files,
    problem: String,
    now: DateTime<Utc>,
    finish: impl Fn(&Path) -> Result<(), OpenError>,
) -> Result<Recovered, OpenError> {
    let old = set_aside(files, now).map_err(|e| OpenError::from_io(&files.db, &e))?;
    for backup in backup::list(files, now) {
        match backup::find_damage(&backup.path) {
            Ok(None) => {
                restore(&backup.path, files, &finish)?;
                return Ok(Recovered {
                    old,
                    problem,
                    backup: Some(backup.path),
                    lost_after: Some(backup.at),
                });
            }
            Ok(Some(problem)) => {
                tracing::warn!(path = %backup.path.display(), problem, "a backup is damaged too")
            }
            Err(error) => {
                tracing::warn!(path = %backup.path.display(), %error, "a backup cannot be read")
            }
        }
    }
    Ok(Recovered { old, problem, backup: None, lost_after: None })
}

/// Moves the database together with its write-ahead log, so that the content of the log can still
/// be read.
fn set_aside(files: &Files, now: DateTime<Utc>) -> std::io::Result<PathBuf> {
    let old = free_name(files, now);
    for suffix in ["-wal", "-shm"] {
        let companion = Files::companion(&files.db, suffix);
        if companion.exists() {
            fs::rename(companion, Files::companion(&old, suffix))?;
        }
    }
    fs::rename(&files.db, &old)?;
    files::sync_folder(&files.folder())?;
    Ok(old)
}

fn free_name(files: &Files, now: DateTime<Utc>) -> PathBuf {
    let base = format!("{}.damaged-{}", files.stem(), files::stamp(now));
    let mut name = files.folder().join(format!("{base}.db"));
    let mut n = 2;
    while name.exists() {
        name = files.folder().join(format!("{base}-{n}.db"));
        n += 1;
    }
    name
}

fn restore(
    backup: &Path,
    files: &Files,
    finish: impl Fn(&Path) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let io = |e: std::io::Error| OpenError::from_io(&files.db, &e);
    let side = Files::companion(&files.db, ".restoring");
    ::files::copy(backup, &side).map_err(io)?;
    finish(&side)?;
    files::sync_file(&side).map_err(io)?;
    fs::rename(&side, &files.db).map_err(io)?;
    files::sync_folder(&files.folder()).map_err(io)
}
