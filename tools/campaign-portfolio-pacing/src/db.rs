//! The pack's database file: its tables, how it is opened, and the active data set. The sample and
//! the imported data are stored side by side, so neither overwrites the other.

use std::{path::Path, time::Duration};

use chrono::NaiveDate;
pub use contract::Dataset;
use contract::{AgentError, DatasetView, Reason, text};
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use rusqlite_migration::{M, Migrations};

use crate::time;

/// The file's name in the data folder.
pub const FILE: &str = "pacing.db";

// In imported data, `day` is a day count (0001-01-01 is 1). In the sample it is relative to today
// (0), so that the sample stays current. A row of a whole day (`hour` -1) belongs to a day in the
// account's time zone, an hourly row to an hour in UTC.
const TABLES: &str = "
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE accounts (
    key      INTEGER PRIMARY KEY,
    dataset  INTEGER NOT NULL,
    id       TEXT NOT NULL,
    name     TEXT NOT NULL,
    zone     TEXT,
    currency TEXT,
    UNIQUE (dataset, id)
) STRICT;
CREATE TABLE campaigns (
    key          INTEGER PRIMARY KEY,
    account_key  INTEGER NOT NULL REFERENCES accounts (key),
    id           TEXT NOT NULL,
    name         TEXT NOT NULL,
    advertiser   TEXT NOT NULL,
    budget       INTEGER,
    flight_start INTEGER,
    flight_end   INTEGER,
    UNIQUE (account_key, id)
) STRICT;
CREATE TABLE line_items (
    key          INTEGER PRIMARY KEY,
    campaign_key INTEGER NOT NULL REFERENCES campaigns (key),
    id           TEXT NOT NULL,
    name         TEXT NOT NULL,
    UNIQUE (campaign_key, id)
) STRICT;
CREATE TABLE delivery (
    line_item_key INTEGER NOT NULL REFERENCES line_items (key),
    day           INTEGER NOT NULL,
    hour          INTEGER NOT NULL,
    spend         INTEGER NOT NULL,
    impressions   INTEGER NOT NULL,
    PRIMARY KEY (line_item_key, day, hour)
) STRICT, WITHOUT ROWID;
";

/// Returns a data set's number in the tables.
pub(crate) fn number(dataset: Dataset) -> i64 {
    match dataset {
        Dataset::Sample => 0,
        Dataset::Imported => 1,
    }
}

fn name(dataset: Dataset) -> &'static str {
    match dataset {
        Dataset::Sample => "sample",
        Dataset::Imported => "imported",
    }
}

/// The migrations of the tables. Their number is the version that this program writes to
/// `user_version`.
const STEPS: &[M<'_>] = &[M::up(TABLES)];

/// Fails if a newer version of the app wrote the file, which is then neither read nor changed.
pub(crate) fn check_version(db: &Connection, path: &Path) -> Result<(), AgentError> {
    let found: i64 = db
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(|e| database_error(&e))?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if found <= known {
        return Ok(());
    }
    let file = path.display();
    Err(AgentError::internal(
        "pacing_newer",
        text!("{file} was written by a newer version of Countersign (format {found}; this version knows up to {known}), so the pacing data cannot be used and nothing was changed.", file, found, known),
    )
    .hint("Install the newest version of Countersign, or move the file away: the sample comes back by itself, and CSV files can be imported again."))
}

/// Opens the file, and creates or updates its tables.
pub(crate) fn open(path: &Path) -> Result<Connection, AgentError> {
    let mut db = Connection::open(path).map_err(|e| database_error(&e))?;
    db.busy_timeout(Duration::from_secs(5)).map_err(|e| database_error(&e))?;
    check_version(&db, path)?;
    let mode: String = db
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(|e| database_error(&e))?;
    debug_assert!(mode == "wal" || mode == "memory", "journal mode {mode}");
    // A power cut may lose the last import but never damages the file. An import can be repeated,
    // and the sample is generated again.
    db.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -16000;",
    )
    .map_err(|e| database_error(&e))?;
    Migrations::from_slice(STEPS).to_latest(&mut db).map_err(|error| {
        AgentError::internal(
            "database_error",
            text!("The pacing data cannot be opened: {error}.", error = error.to_string()),
        )
        .hint("Try again; if it stays, move pacing.db out of the data folder.")
    })?;
    db.set_prepared_statement_cache_capacity(32);
    Ok(db)
}

/// Returns a value of `meta`.
pub(crate) fn meta(db: &Connection, name: &str) -> Result<Option<String>, AgentError> {
    let mut query = db
        .prepare_cached("SELECT value FROM meta WHERE name = ?1")
        .map_err(|e| database_error(&e))?;
    query.query_row([name], |row| row.get(0)).optional().map_err(|e| database_error(&e))
}

/// Sets a value of `meta`.
pub(crate) fn set_meta(db: &Connection, name: &str, value: &str) -> Result<(), AgentError> {
    db.execute("INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", params![name, value])
        .map(drop)
        .map_err(|e| database_error(&e))
}

const ACTIVE: &str = "active";

/// Returns the active data set: the sample until data is imported.
pub(crate) fn active(db: &Connection) -> Result<Dataset, AgentError> {
    Ok(if meta(db, ACTIVE)?.as_deref() == Some(name(Dataset::Imported)) {
        Dataset::Imported
    } else {
        Dataset::Sample
    })
}

/// Sets the active data set.
pub(crate) fn set_active(db: &Connection, dataset: Dataset) -> Result<(), AgentError> {
    set_meta(db, ACTIVE, name(dataset))
}

/// Whether the imported set has any delivery row.
pub(crate) fn has_imported_rows(db: &Connection) -> Result<bool, AgentError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM delivery d JOIN line_items l ON l.key = d.line_item_key
               JOIN campaigns c ON c.key = l.campaign_key JOIN accounts a ON a.key = c.account_key WHERE a.dataset = ?1)";
    db.query_row(sql, [number(Dataset::Imported)], |row| row.get(0)).map_err(|e| database_error(&e))
}

/// Returns the contents of a data set. The sample's days are relative to `today`, and later days
/// are ignored.
pub(crate) fn summary(
    db: &Connection,
    dataset: Dataset,
    today: NaiveDate,
) -> Result<DatasetView, AgentError> {
    let sql = "SELECT count(*), count(DISTINCT a.key), min(d.day), max(d.day) FROM accounts a JOIN campaigns c ON c.account_key = a.key
               JOIN line_items l ON l.campaign_key = c.key JOIN delivery d ON d.line_item_key = l.key WHERE a.dataset = ?1";
    let found = db.query_row(sql, [number(dataset)], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    });
    let (rows, accounts, first, last): (i64, u32, Option<i64>, Option<i64>) =
        found.map_err(|e| database_error(&e))?;
    let day = |stored: i64| match dataset {
        Dataset::Sample => time::day_from_number(time::day_to_number(today) + stored.min(0)),
        Dataset::Imported => time::day_from_number(stored),
    };
    Ok(DatasetView {
        rows: u64::try_from(rows).unwrap_or_default(),
        accounts,
        first_day: first.and_then(day),
        last_day: last.and_then(day),
    })
}

/// Converts a database error to an error with a sentence and a remedy.
pub(crate) fn database_error(error: &rusqlite::Error) -> AgentError {
    let (reason, message, hint) = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => (
            "pacing_disk_full",
            "The disk is full; the pacing data could not be written.",
            "Free some space and try again.",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            "pacing_busy",
            "The pacing data is being written by an import.",
            "Try again when the import is done.",
        ),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => (
            Reason::DataDamaged.name(),
            "The pacing data file is damaged.",
            "Restart Countersign: it puts the newest copy in its place. If the message stays, move pacing.db out of the data folder; the sample comes back by itself.",
        ),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => (
            "pacing_unwritable",
            "The pacing data cannot be opened for writing.",
            "Check the rights of the data folder.",
        ),
        _ => (
            "database_error",
            "The pacing data could not be read or written.",
            "Try again; if it stays, move pacing.db out of the data folder.",
        ),
    };
    AgentError::internal(reason, message).hint(hint).with("cause", error.to_string())
}
