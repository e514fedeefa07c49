//! Opens and closes the store: version check, damage check if due, migration, recovery, backups. A
//! start after a clean end, with no check or backup due, reads only the header and the schema,
//! because every `csign` call opens the store.

use std::path::Path;
use std::sync::Arc;

use engine::ports::{Clock, SharedSessions, StoreError};
use rusqlite::Connection;

use crate::backup::{self, Occasion};
use crate::connection::{self, Mode};
use crate::error::{DbError, Faults, OpenError};
use crate::files::{self, Files};
use crate::migrate;
use crate::readers::Readers;
use crate::recent::Recent;
use crate::recover::{self, Recovered};
use crate::vectors::Vectors;
use crate::writer::{OnDisk, Writer};

/// The engine's store in a SQLite file, which only one process can open at a time.
pub struct SqliteStore {
    files: Files,
    clock: Arc<dyn Clock>,
    faults: Arc<Faults>,
    /// The writer. None if the folder cannot be written.
    writer: Option<Writer>,
    readers: Readers,
    pub(crate) recent: Recent,
    pub(crate) vectors: Arc<parking_lot::Mutex<Vectors>>,
    /// The store that several processes share. It decides approvals of the sessions that other
    /// processes also serve.
    pub(crate) shared: Option<Arc<dyn SharedSessions>>,
}

/// An opened store, and what happened during the opening.
pub struct OpenedStore {
    /// The store, ready for use.
    pub store: SqliteStore,
    /// How the file was recovered, if it was damaged and has been replaced.
    pub recovered: Option<Recovered>,
    /// Whether the folder cannot be written now. Reads work; every write returns `NoSpace`.
    pub read_only: bool,
}

impl SqliteStore {
    /// Opens the file. Creates the file if it does not exist.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<OpenedStore, OpenError> {
        connection::check_library()?;
        let files = Files::new(path);
        let now = clock.now();
        let (recovered, prepared) = match prepare_twice(&files, now) {
            Err(OpenError::Damaged { problem, .. }) => {
                tracing::error!(problem, "the database is damaged and is set aside");
                // An earlier version did not mark its copies.
                let recovered = recover::recover(&files, problem, now, backup::mark)?;
                (Some(recovered), prepare(&files, now, true))
            }
            first => (None, first),
        };
        match prepared {
            Ok(conn) => Ok(OpenedStore {
                store: Self::start(files, clock, Some(conn))?,
                recovered,
                read_only: false,
            }),
            Err(OpenError::NoSpace(_)) if readable_as_it_stands(&files) => Ok(OpenedStore {
                store: Self::start(files, clock, None)?,
                recovered,
                read_only: true,
            }),
            Err(error) => Err(error),
        }
    }

    fn start(
        files: Files,
        clock: Arc<dyn Clock>,
        conn: Option<Connection>,
    ) -> Result<Self, OpenError> {
        let faults = Arc::new(Faults::new(&files.db, files.checked_marker()));
        let io = |e: std::io::Error| OpenError::from_io(&files.db, &e);
        // In a folder that cannot be written, SQLite cannot create the files that coordinate
        // readers and writer.
        let mode = if conn.is_some() { Mode::Normal } else { Mode::Immutable };
        let readers = Readers::start(&files.db, mode, &faults).map_err(io)?;
        let writer =
            conn.map(|conn| Writer::start(conn, Arc::clone(&faults))).transpose().map_err(io)?;
        Ok(Self {
            files,
            clock,
            faults,
            writer,
            readers,
            recent: Recent::default(),
            vectors: Arc::default(),
            shared: None,
        })
    }

    /// Sets the shared store, for a process whose sessions other processes also serve.
    #[must_use]
    pub fn sharing(mut self, shared: Option<Arc<dyn SharedSessions>>) -> Self {
        self.shared = shared;
        self
    }

    /// Ends the threads, moves the write-ahead log into the file, and makes the daily copy if it is
    /// due. Blocking. Later calls return an error. Dropping the store does the same without the
    /// copy.
    pub fn close(&self) {
        self.readers.close();
        let (files, now) = (self.files.clone(), self.clock.now());
        if let Some(writer) = &self.writer {
            writer.close(move |conn| {
                checkpoint(&conn);
                if backup::is_due(&files, now)
                    && let Err(error) = backup::create_backup(&conn, &files, Occasion::Regular, now)
                {
                    tracing::warn!(%error, "the daily copy of the database could not be made");
                }
            });
        }
    }

    /// Moves the write-ahead log into the file and replaces all copies with a new copy, so that no
    /// copy contains deleted data.
    pub(crate) async fn renew_copies(&self) -> Result<(), StoreError> {
        let (files, now) = (self.files.clone(), self.clock.now());
        let renewed = tokio::task::spawn_blocking(move || backup::renew(&files, now)).await;
        match renewed {
            Ok(Ok(())) => Ok(()),
            Ok(Err(OpenError::NoSpace(path))) => {
                Err(StoreError::NoSpace(path.display().to_string()))
            }
            Ok(Err(error)) => Err(StoreError::Failed(error.to_string())),
            Err(error) => Err(StoreError::Failed(error.to_string())),
        }
    }

    /// Whether this database is a copy that took the place of another one, by a recovery or by hand.
    /// All that happened after the copy was made is missing in it.
    pub async fn is_copy(&self) -> Result<bool, StoreError> {
        self.read(|conn| Ok(connection::is_copy(conn)?)).await
    }

    /// Removes the mark of a copy, after the missing deletions and decisions were repeated in it.
    pub async fn unmark_copy(&self) -> Result<(), StoreError> {
        self.write(|conn| {
            connection::unmark_copy(conn)?;
            Ok(())
        })
        .await
    }

    /// Returns a value that the app stored under a name.
    pub async fn note(&self, name: &str) -> Result<Option<String>, StoreError> {
        let name = name.to_owned();
        self.read(move |conn| crate::table::notes::get(conn, &name)).await
    }

    /// Stores a value under a name. None deletes it.
    pub async fn note_set(&self, name: &str, value: Option<&str>) -> Result<(), StoreError> {
        let (name, value) = (name.to_owned(), value.map(str::to_owned));
        self.write(move |conn| crate::table::notes::set(conn, &name, value.as_deref())).await
    }

    pub(crate) async fn read<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        self.readers.call(read).await
    }

    /// Reads a few rows on the caller's thread. Passing the read to another thread would take
    /// longer than the read itself.
    pub(crate) fn read_on_this_thread<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, DbError>,
    ) -> Result<T, StoreError> {
        self.readers.read_here(read)
    }

    /// Writes data that a caller relies on. The data is on disk when this returns.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        self.run_write(OnDisk::Now, work).await
    }

    /// Writes data of a running turn without syncing. The next synced write, at the latest the
    /// write that ends the turn, also makes this data durable.
    pub(crate) async fn write_along<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        self.run_write(OnDisk::Later, work).await
    }

    /// Adds work to the next write, without waiting for it. Logs `failed` if the work fails.
    pub(crate) fn write_with_next<F>(&self, work: F, failed: &'static str)
    where
        F: Fn(&Connection) -> Result<(), DbError> + Send + Sync + 'static,
    {
        match &self.writer {
            Some(writer) => writer.with_next(work, failed),
            None => tracing::warn!("{failed}"),
        }
    }

    /// Writes all deferred data now, because it is about to be read.
    pub(crate) async fn write_waiting(&self) {
        if self.writer.is_some()
            && let Err(error) = self.write_along(|_| Ok(())).await
        {
            tracing::warn!(%error, "what waited for the next write could not be written");
        }
    }

    async fn run_write<T, F>(&self, on_disk: OnDisk, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, DbError> + Send + 'static,
    {
        match &self.writer {
            Some(writer) => writer.call(on_disk, work).await,
            None => Err(self.faults.no_space()),
        }
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.readers.close();
        if let Some(writer) = &self.writer {
            writer.close(|conn| checkpoint(&conn));
        }
    }
}

fn checkpoint(conn: &Connection) {
    let done = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    if let Err(error) = done {
        tracing::warn!(%error, "the log could not be emptied into the database");
    }
}

/// Prepares the file. The file counts as damaged only if damage is found twice and the whole file
/// can be read, because SQLite may report a failed read as damage.
fn prepare_twice(
    files: &Files,
    now: chrono::DateTime<chrono::Utc>,
) -> Result<Connection, OpenError> {
    // A check reads the whole file, so a file that was closed properly is checked only from time to
    // time.
    let is_due = files.was_cut_off() || files.check_due(now);
    match prepare(files, now, is_due) {
        Err(OpenError::Damaged { problem, .. }) => {
            tracing::warn!(problem, "the database seems to be damaged and is checked again");
            files.read_through().map_err(|e| OpenError::from_io(&files.db, &e))?;
            prepare(files, now, true)
        }
        other => other,
    }
}

/// Prepares the file before the first request. `is_due` says whether an existing file must be
/// checked.
fn prepare(
    files: &Files,
    now: chrono::DateTime<chrono::Utc>,
    is_due: bool,
) -> Result<Connection, OpenError> {
    let sql = |e: rusqlite::Error| OpenError::from_sql(&files.db, &e);
    let existed = files.has_content();
    let must_check = existed && is_due;
    if !existed {
        files::create_private(&files.db).map_err(|e| OpenError::from_io(&files.db, &e))?;
    }
    let mut conn = connection::writer(&files.db).map_err(sql)?;
    let version = migrate::version(&conn).map_err(sql)?;
    if version > migrate::latest() {
        return Err(OpenError::Newer {
            path: files.db.clone(),
            found: version,
            known: migrate::latest(),
        });
    }
    if must_check && let Some(problem) = connection::quick_check(&conn).map_err(sql)? {
        return Err(OpenError::Damaged { path: files.db.clone(), problem });
    }
    if version < migrate::latest() {
        // A new file has no data that a migration could lose.
        if version > 0 {
            backup::create_backup(&conn, files, Occasion::Migration(version), now)?;
        }
        migrate::to_latest(&mut conn).map_err(|e| migration_error(files, &e))?;
    }
    // A new file is marked as checked, so that the next start need not read the whole file.
    if (must_check || !existed)
        && let Err(error) = files.mark_checked(now)
    {
        tracing::warn!(%error, "the time of the check could not be kept");
    }
    Ok(conn)
}

fn migration_error(files: &Files, error: &rusqlite_migration::Error) -> OpenError {
    match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => OpenError::from_sql(&files.db, err),
        other => OpenError::Failed { path: files.db.clone(), problem: other.to_string() },
    }
}

/// Whether a file in a read-only folder can be read without changes, because it has no write-ahead
/// log and the latest schema.
fn readable_as_it_stands(files: &Files) -> bool {
    files.has_content()
        && !files.was_cut_off()
        && connection::reader(&files.db, Mode::Immutable)
            .and_then(|conn| migrate::version(&conn))
            .is_ok_and(|version| version == migrate::latest())
}
