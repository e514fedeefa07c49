//! Opens the database in which version 0.1.0 of the pack kept imported rows. It is only read.

use std::path::{Path, PathBuf};

use contract::{AgentError, Reason, text};
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// The number that the column `dataset` has for imported rows. Those of the sample have another one.
pub(crate) const IMPORTED: i64 = 1;
/// The only version of the tables.
const VERSION: i64 = 1;

/// Returns the file in the folder of the pack's data.
pub(crate) fn file_in(folder: &Path) -> PathBuf {
    folder.join("pacing.db")
}

/// Opens the file for reading. All queries see the same rows.
pub(crate) fn open(path: &Path) -> Result<Connection, AgentError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|e| database_error(&e))?;
    check_version(&db, path)?;
    db.execute_batch("BEGIN").map_err(|e| database_error(&e))?;
    Ok(db)
}

/// Fails if a newer version of the app wrote the file.
fn check_version(db: &Connection, path: &Path) -> Result<(), AgentError> {
    let found: i64 = db
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(|e| database_error(&e))?;
    if found <= VERSION {
        return Ok(());
    }
    let file = path.display();
    Err(AgentError::internal(
        "pacing_newer",
        text!("{file} was written by a newer version of Countersign (format {found}; this version knows up to {known}), so its rows do not become sources.", file, found, known = VERSION),
    )
    .hint("Nothing was changed. Install the newest version of Countersign."))
}

/// Converts a database error to an error with a sentence and a remedy.
pub(crate) fn database_error(error: &rusqlite::Error) -> AgentError {
    let (reason, message, hint) = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => (
            Reason::DataDamaged.name(),
            "The earlier pacing data is damaged.",
            "Restart Countersign: it puts the newest copy in its place.",
        ),
        _ => (
            "database_error",
            "The earlier pacing data cannot be read.",
            "Check the rights of the data folder, and restart Countersign.",
        ),
    };
    AgentError::internal(reason, message).hint(hint).with("cause", error.to_string())
}
