//! The log's SQLite file: tables, connections and their settings. The file is opened here only.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use contract::{AgentError, text};
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi, limits::Limit};

/// The application id "CSLG", which marks the file as an audit log.
pub(crate) const APPLICATION_ID: i32 = 0x4353_4c47;
/// The version of the format, stored as `user_version`.
pub(crate) const FORMAT_VERSION: i32 = 1;
/// The schema counter, which is fixed when the file is created, so that a changed counter in the
/// header is detected.
pub(crate) const SCHEMA_COOKIE: i32 = 1;
/// The minimum SQLite version, because earlier versions have a bug that can damage a WAL file.
/// 3.52.0 was withdrawn.
const SQLITE_AT_LEAST: i32 = 3_051_003;
const SQLITE_WITHDRAWN: i32 = 3_052_000;
/// The page size of a new file, in bytes. An existing file keeps its page size.
pub(crate) const PAGE_SIZE: u32 = 4096;
/// The maximum size of a value in bytes, which is larger than any value in a log.
const MAX_CELL: i32 = 64 << 20;

const TABLES: &str = "
CREATE TABLE audit_record(
  seq INTEGER PRIMARY KEY, body BLOB NOT NULL, leaf BLOB NOT NULL,
  at TEXT NOT NULL, type TEXT NOT NULL, session TEXT, tool TEXT, status TEXT) STRICT;
CREATE TABLE audit_node(id INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT;
CREATE TABLE audit_checkpoint(size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;
CREATE TABLE audit_reveal(
  seq INTEGER NOT NULL, member TEXT NOT NULL, salt BLOB NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(seq, member)) STRICT, WITHOUT ROWID;
CREATE INDEX audit_record_type ON audit_record(type);
CREATE INDEX audit_record_session ON audit_record(session) WHERE session IS NOT NULL;
CREATE INDEX audit_record_tool ON audit_record(tool) WHERE tool IS NOT NULL;
";

/// Returns an error for SQLite versions that can lose committed data.
pub(crate) fn check_library() -> Result<(), String> {
    let version = rusqlite::version_number();
    if version >= SQLITE_AT_LEAST && version != SQLITE_WITHDRAWN {
        return Ok(());
    }
    Err(format!(
        "this program was built with SQLite {}, which can damage the log; it needs 3.51.3 or newer, and not 3.52.0",
        rusqlite::version()
    ))
}

/// Whether an error means that the file's content is damaged. Other errors concern the disk,
/// permissions or this process.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    use ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, FileLockingProtocolFailed,
        OperationAborted, OperationInterrupted, OutOfMemory, PermissionDenied, ReadOnly,
        SystemIoFailure,
    };
    let outside_the_content = [
        CannotOpen,
        DatabaseBusy,
        DatabaseLocked,
        DiskFull,
        FileLockingProtocolFailed,
        OperationAborted,
        OperationInterrupted,
        OutOfMemory,
        PermissionDenied,
        ReadOnly,
        SystemIoFailure,
    ];
    error.sqlite_error_code().is_none_or(|code| !outside_the_content.contains(&code))
}

/// Returns the error of a reader that could not read the file.
pub(crate) fn unreadable(error: &rusqlite::Error) -> AgentError {
    AgentError::internal(
        "audit_unreadable",
        text!("The audit log cannot be read ({error}).", error = error.to_string()),
    )
    .hint("Check that the data folder is readable and run \"csign audit verify\".")
}

/// Applies the settings that every connection needs.
fn finish_wal(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(std::time::Duration::from_secs(5))?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_CELL)?;
    db.set_prepared_statement_cache_capacity(32);
    // Somebody else may have changed the file. A memory-mapped file that is truncated while it is
    // read would end this process, and a changed schema could call functions.
    db.execute_batch("PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;")
}

/// Refuses the database if SQLite would wait at one of its files, such as a pipe.
pub(crate) fn check_files(path: &Path) -> rusqlite::Result<()> {
    files::check_database(path).map_err(|error| {
        let code = ffi::Error::new(ffi::SQLITE_CANTOPEN);
        rusqlite::Error::SqliteFailure(code, Some(error.to_string()))
    })
}

/// Opens the writer's connection. Creates the file if it is missing.
pub(crate) fn open_writer(path: &Path, page_size: u32) -> rusqlite::Result<Connection> {
    check_files(path)?;
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            // With this flag, another file can be attached read-only.
            | OpenFlags::SQLITE_OPEN_URI,
    )?;
    finish_wal(&db)?;
    let fresh =
        db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))? == 0;
    if fresh {
        // SQLite cannot change the page size of a file in WAL mode.
        db.pragma_update(None, "page_size", page_size)?;
    }
    switch_to_wal(&db)?;
    // An effect may run as soon as its intent is committed, so a commit must survive a power cut.
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "fullfsync", true)?;
    db.pragma_update(None, "checkpoint_fullfsync", true)?;
    // Erased values are overwritten, so that they do not stay in free pages.
    db.pragma_update(None, "secure_delete", true)?;
    Ok(db)
}

/// Switches to a write-ahead log, which verification expects. SQLite commits the new mode only
/// after it has returned the mode, so the statement is run to its end.
fn switch_to_wal(db: &Connection) -> rusqlite::Result<()> {
    let mut statement = db.prepare("PRAGMA journal_mode = WAL")?;
    let mut rows = statement.query([])?;
    while let Some(mode) = rows.next()? {
        if mode.get_ref(0)?.as_str()? != "wal" {
            return Err(failure(ffi::SQLITE_IOERR));
        }
    }
    Ok(())
}

/// Moves the write-ahead log into the file, so that its content is permanently removed. Fails if
/// another program reads the log.
pub(crate) fn empty_write_ahead_log(db: &Connection) -> rusqlite::Result<()> {
    let is_busy =
        db.query_row("PRAGMA main.wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))?;
    if is_busy {
        return Err(failure(ffi::SQLITE_BUSY));
    }
    // SQLite does not sync an emptied write-ahead log, so a power cut could restore its content.
    // Therefore the next write into the log is synced, together with the log's new size.
    let version: i32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    db.pragma_update(None, "user_version", version)
}

fn failure(code: std::ffi::c_int) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

/// Returns the error for a full disk. SQLite reports a full disk as another error while it creates
/// the index of the write-ahead log.
pub(crate) fn name_full_disk(error: rusqlite::Error) -> rusqlite::Error {
    match error.sqlite_error().map(|error| error.extended_code) {
        Some(ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_SHMOPEN | ffi::SQLITE_IOERR_SHMMAP) => {
            failure(ffi::SQLITE_FULL)
        }
        _ => error,
    }
}

/// Creates the tables in a new file, in one transaction, so that a crash leaves nothing incomplete.
pub(crate) fn create(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(&format!(
        "BEGIN IMMEDIATE; {TABLES} PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={FORMAT_VERSION}; PRAGMA schema_version={SCHEMA_COOKIE}; COMMIT;"
    ))
}

/// Opens a connection that cannot change the file.
pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    check_files(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let first = Connection::open_with_flags(path, flags).and_then(|db| probe(&db).map(|()| db));
    let db = match first {
        Ok(db) => db,
        // If the folder cannot be written, the log was closed: there is no writer, and no side
        // files are needed.
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
            ) && !side_file(path) =>
        {
            Connection::open_with_flags(uri(path), flags | OpenFlags::SQLITE_OPEN_URI)?
        }
        Err(error) => return Err(error),
    };
    finish_wal(&db)?;
    db.pragma_update(None, "query_only", true)?;
    Ok(db)
}

fn probe(db: &Connection) -> rusqlite::Result<()> {
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

/// Whether the write-ahead log beside the file has any content.
pub(crate) fn side_file(path: &Path) -> bool {
    side_file_len(path) > 0
}

fn side_file_len(path: &Path) -> u64 {
    len_beside(path, "-wal")
}

/// Reads the file and its write-ahead log to their ends. Fails only if the disk cannot return the
/// content.
pub(crate) fn read_through(path: &Path) -> std::io::Result<()> {
    for ending in ["", "-wal"] {
        if let Ok(mut file) = files::open(&part(path, ending)) {
            std::io::copy(&mut file, &mut std::io::sink())?;
        }
    }
    Ok(())
}

/// Whether there is a rollback journal beside the file. SQLite would apply the journal to the file.
pub(crate) fn journal_file(path: &Path) -> bool {
    len_beside(path, "-journal") > 0
}

fn len_beside(path: &Path, ending: &str) -> u64 {
    std::fs::metadata(part(path, ending)).map_or(0, |meta| meta.len())
}

/// The suffixes of a database's side files, and of the file itself.
const PARTS: [&str; 3] = ["-wal", "-shm", ""];

fn part(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Renames a database with its side files. A missing file is not an error.
pub(crate) fn rename_with_side_files(from: &Path, to: &Path) -> std::io::Result<()> {
    PARTS.iter().try_for_each(|ending| {
        ignore_missing(std::fs::rename(part(from, ending), part(to, ending)))
    })
}

/// Deletes a database with its side files. A missing file is not an error.
pub(crate) fn remove_with_side_files(path: &Path) -> std::io::Result<()> {
    PARTS.iter().try_for_each(|ending| ignore_missing(std::fs::remove_file(part(path, ending))))
}

fn ignore_missing(done: std::io::Result<()>) -> std::io::Result<()> {
    match done {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Returns the number of bytes of the file and its write-ahead log.
pub(crate) fn len(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len()) + side_file_len(path)
}

/// Returns false if the file contains no record, because a start was killed early. Returns true if
/// the file cannot be read.
pub fn has_begun(path: &Path) -> bool {
    let look = || -> rusqlite::Result<bool> {
        let db = open_reader(path)?;
        let tables =
            db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        if tables == 0 {
            Ok(false)
        } else {
            db.query_row("SELECT EXISTS(SELECT 1 FROM audit_record)", [], |row| row.get(0))
        }
    };
    len(path) > 0 && look().unwrap_or(true)
}

/// Returns the address that a connection uses to attach the file read-only.
pub(crate) fn read_only_uri(path: &Path) -> String {
    format!("{}?mode=ro", encode(path))
}

fn uri(path: &Path) -> String {
    format!("{}?immutable=1", encode(path))
}

fn encode(path: &Path) -> String {
    let mut text = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                text.push(char::from(*byte))
            }
            other => {
                use std::fmt::Write as _;
                let _ = write!(text, "%{other:02X}");
            }
        }
    }
    text
}

/// A row of the schema table: kind, name, table, first page, text.
type SchemaRow = (String, String, String, i64, Option<String>);

fn schema_rows(db: &Connection) -> rusqlite::Result<Vec<SchemaRow>> {
    let mut statement =
        db.prepare("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    })?;
    rows.collect()
}

/// Returns the rows that the schema table must have.
fn expected_schema() -> rusqlite::Result<&'static Vec<SchemaRow>> {
    static EXPECTED: OnceLock<Vec<SchemaRow>> = OnceLock::new();
    if let Some(rows) = EXPECTED.get() {
        return Ok(rows);
    }
    let db = Connection::open_in_memory()?;
    create(&db)?;
    let rows = schema_rows(&db)?;
    Ok(EXPECTED.get_or_init(|| rows))
}

/// Returns the sentence about a log of a newer format.
pub(crate) fn newer(version: i32) -> contract::Text {
    text!(
        "the log was written by a newer version of Countersign (format {version}); install that version",
        version
    )
}

/// Why the file is not a valid audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SchemaFault {
    /// The file was written by a newer version of the app.
    Newer(i32),
    /// The file is not, or no longer, a log of this format.
    Altered(&'static str),
}

/// Checks that the file has exactly the tables of this format.
pub(crate) fn check(db: &Connection) -> rusqlite::Result<Option<SchemaFault>> {
    let number = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let version = number("user_version")?;
    if number("application_id")? != APPLICATION_ID {
        return Ok(Some(SchemaFault::Altered("the file is not marked as an audit log")));
    }
    if version > FORMAT_VERSION {
        return Ok(Some(SchemaFault::Newer(version)));
    }
    if version != FORMAT_VERSION || number("schema_version")? != SCHEMA_COOKIE {
        return Ok(Some(SchemaFault::Altered("the version in the file's header was changed")));
    }
    if &schema_rows(db)? != expected_schema()? {
        return Ok(Some(SchemaFault::Altered("the file's tables are not those of an audit log")));
    }
    Ok(None)
}
