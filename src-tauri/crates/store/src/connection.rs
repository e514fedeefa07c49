//! Opens connections; all pragmas are set here. Refuses SQLite versions that can damage WAL files.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::error::OpenError;

/// How the file is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The file is in WAL mode, and one thread writes to it.
    Normal,
    /// The folder cannot be written, so the file is read without locks.
    Immutable,
}

/// 3.51.3 is the first version without the WAL-reset bug; 3.52.0 was withdrawn.
pub(crate) fn check_library() -> Result<(), OpenError> {
    match rusqlite::version_number() {
        3_052_000 => Err(OpenError::Library(rusqlite::version())),
        number if number < 3_051_003 => Err(OpenError::Library(rusqlite::version())),
        _ => Ok(()),
    }
}

/// Opens the connection that writes. Its sync mode is `FULL`, because callers rely on a completed
/// write; the writer lowers the mode for writes that need no sync.
pub(crate) fn writer(path: &Path) -> rusqlite::Result<Connection> {
    check_files(path)?;
    let conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    common(&conn)?;
    switch_to_wal(&conn)?;
    conn.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 16777216;",
    )?;
    Ok(conn)
}

/// Refuses the database if SQLite would wait at one of its files, such as a pipe.
fn check_files(path: &Path) -> rusqlite::Result<()> {
    ::files::check_database(path).map_err(|error| {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR);
        rusqlite::Error::SqliteFailure(code, Some(error.to_string()))
    })
}

/// Switches to a write-ahead log. SQLite commits the new mode only after it has returned the mode,
/// so the statement is run to its end.
fn switch_to_wal(conn: &Connection) -> rusqlite::Result<()> {
    let mut statement = conn.prepare("PRAGMA journal_mode = WAL")?;
    let mut rows = statement.query([])?;
    while let Some(mode) = rows.next()? {
        if mode.get_ref(0)?.as_str()? != "wal" {
            return Err(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY),
                Some("not writable".into()),
            ));
        }
    }
    Ok(())
}

/// The application id of a copy of the store's database. It is in the header, so that a person who
/// puts a copy in the place of the database restores the mark, too.
const COPY: i32 = 0x6373_6370;

/// Marks a closed file as a copy. The mark is on disk when this returns.
pub(crate) fn mark_as_copy(path: &Path) -> rusqlite::Result<()> {
    check_files(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    common(&conn)?;
    // A crash must not leave a journal beside the copy. A half-written copy is not used anyway.
    conn.execute_batch("PRAGMA journal_mode = MEMORY;")?;
    conn.pragma_update(None, "application_id", COPY)
}

/// Removes the mark of a copy.
pub(crate) fn unmark_copy(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "application_id", 0)
}

/// Whether the database is marked as a copy.
pub(crate) fn is_copy(conn: &Connection) -> rusqlite::Result<bool> {
    let id: i32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok(id == COPY)
}

/// Opens a connection that only reads.
pub(crate) fn reader(path: &Path, mode: Mode) -> rusqlite::Result<Connection> {
    check_files(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = match mode {
        Mode::Normal => Connection::open_with_flags(path, flags)?,
        Mode::Immutable => {
            Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)?
        }
    };
    common(&conn)?;
    conn.execute_batch("PRAGMA query_only = ON;")?;
    Ok(conn)
}

fn common(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(Duration::from_secs(5))?;
    conn.set_prepared_statement_cache_capacity(64);
    // Query plans must not depend on bound values, because SQLite would prepare a cached statement
    // with a bound LIMIT again for each run.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.execute_batch("PRAGMA mmap_size = 0; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;")
}

fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte))
            }
            other => {
                // Writing to a String cannot fail.
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// Runs the structural check: pages and b-trees, without index contents.
pub(crate) fn quick_check(conn: &Connection) -> rusqlite::Result<Option<String>> {
    let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok((verdict != "ok").then_some(verdict))
}
