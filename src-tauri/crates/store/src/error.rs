//! Why a file could not be opened or a statement failed, and the conversion to the port's
//! `StoreError`. The sentences are shown to people: they contain the file and what can be done,
//! never SQL.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use contract::{AgentError, Text, text};
use engine::ports::StoreError;
use rusqlite::{ErrorCode, ffi};

/// Why the database could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum OpenError {
    /// The file was written by a later version of the app.
    Newer { path: PathBuf, found: i64, known: i64 },
    /// The disk is full, or the folder cannot be written.
    NoSpace(PathBuf),
    /// Another process has the file open.
    Busy(PathBuf),
    /// The file is not a readable database. `open` recovers from this without help.
    Damaged { path: PathBuf, problem: String },
    /// The linked SQLite version has a known bug that corrupts WAL files.
    Library(&'static str),
    /// Any other failure.
    Failed { path: PathBuf, problem: String },
}

impl OpenError {
    /// Returns the error as a sentence for a person.
    fn text(&self) -> Text {
        match self {
            Self::Newer { path, found, known } => text!(
                "{file} was written by a newer version of Countersign (format {found}; this version knows up to {known}).",
                file = path.display(),
                found,
                known
            ),
            Self::NoSpace(path) => text!(
                "{file} cannot be written: the disk is full or the folder is read-only.",
                file = path.display()
            ),
            Self::Busy(path) => {
                text!("{file} is in use by another program.", file = path.display())
            }
            Self::Damaged { path, problem } => {
                text!("{file} is damaged: {problem}.", file = path.display(), problem)
            }
            Self::Library(version) => {
                text!("this build contains SQLite {version}, which can damage its files.", version)
            }
            Self::Failed { path, problem } => {
                text!("{file} could not be opened: {problem}.", file = path.display(), problem)
            }
        }
    }

    pub(crate) fn from_sql(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        match Trouble::of(error) {
            Trouble::NoSpace => Self::NoSpace(path),
            Trouble::Damaged => Self::Damaged { path, problem: error.to_string() },
            Trouble::Busy => Self::Busy(path),
            Trouble::SyncFailed | Trouble::NoParent | Trouble::Other => {
                Self::Failed { path, problem: error.to_string() }
            }
        }
    }

    pub(crate) fn from_io(path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{
            PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
        };
        if matches!(
            error.kind(),
            PermissionDenied | ReadOnlyFilesystem | StorageFull | QuotaExceeded
        ) {
            return Self::NoSpace(path.to_owned());
        }
        Self::Failed { path: path.to_owned(), problem: error.to_string() }
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Newer { .. } => {
                "Install the newest version of Countersign, or start with another folder (--data-dir)."
            }
            Self::NoSpace(_) => {
                "Free some space or make the folder writable, then start again. Nothing was changed."
            }
            Self::Busy(_) => "Close the other program that uses this folder, then start again.",
            Self::Damaged { .. } => "Restore the file from the folder `backups` beside it.",
            Self::Library(_) => "Install an official build of Countersign.",
            Self::Failed { .. } => {
                "Check that the folder exists and belongs to you, then start again."
            }
        }
    }

    /// Converts the error to the error that clients get.
    pub fn into_agent_error(self) -> AgentError {
        AgentError::internal(self.reason(), self.text()).hint(self.hint())
    }

    fn reason(&self) -> &'static str {
        match self {
            Self::Newer { .. } => "database_newer",
            Self::NoSpace(_) => "disk_full",
            Self::Busy(_) => "database_busy",
            Self::Damaged { .. } => "database_damaged",
            Self::Library(_) => "sqlite_version",
            Self::Failed { .. } => "database_failed",
        }
    }
}

/// Describes why a value could not be read, without the value.
fn without_values(error: &serde_json::Error) -> String {
    ::files::fault::without_values(&error.to_string())
}

/// Why a statement failed or a row could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DbError {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error("{0} does not exist")]
    Missing(String),
    #[error("a stored value cannot be read: {}", without_values(.0))]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Refused(String),
}

impl DbError {
    /// Returns an error that names the missing parent, if a row failed because its parent row does
    /// not exist.
    pub(crate) fn parent(error: rusqlite::Error, parent: impl FnOnce() -> String) -> Self {
        match Trouble::of(&error) {
            Trouble::NoParent => Self::Missing(parent()),
            Trouble::NoSpace
            | Trouble::Damaged
            | Trouble::Busy
            | Trouble::SyncFailed
            | Trouble::Other => Self::Sql(error),
        }
    }
}

/// The kinds of SQLite failures that are handled differently.
enum Trouble {
    NoSpace,
    Damaged,
    Busy,
    SyncFailed,
    NoParent,
    Other,
}

impl Trouble {
    fn of(error: &rusqlite::Error) -> Self {
        let Some(sqlite) = error.sqlite_error() else { return Self::Other };
        match sqlite.extended_code {
            ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC => return Self::SyncFailed,
            // SQLite reports an exhausted quota as a failed write, and a disk that is full while
            // the index file grows as one of the other three errors.
            ffi::SQLITE_IOERR_WRITE
            | ffi::SQLITE_IOERR_SHMSIZE
            | ffi::SQLITE_IOERR_SHMOPEN
            | ffi::SQLITE_IOERR_SHMMAP => return Self::NoSpace,
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY => return Self::NoParent,
            _ => {}
        }
        match sqlite.code {
            ErrorCode::DiskFull
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied => Self::NoSpace,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Damaged,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
            _ => Self::Other,
        }
    }
}

/// Converts failures into the port's errors, and records failures after which the file must not be
/// trusted.
pub(crate) struct Faults {
    path: PathBuf,
    /// The marker file, which is removed when damage is found, so that the next start checks the
    /// whole file.
    checked_marker: PathBuf,
    /// Whether a sync failed. The content of the disk is then unknown, so no more data is written
    /// in this run.
    sync_failed: AtomicBool,
}

impl Faults {
    pub(crate) fn new(path: &Path, checked_marker: PathBuf) -> Self {
        Self { path: path.to_owned(), checked_marker, sync_failed: AtomicBool::new(false) }
    }

    pub(crate) fn store_error(&self, error: DbError) -> StoreError {
        match error {
            DbError::Missing(what) => StoreError::NotFound(what),
            DbError::Json(_) | DbError::Refused(_) => StoreError::Failed(error.to_string()),
            DbError::Sql(sql) => self.sql_error(&sql),
        }
    }

    fn sql_error(&self, error: &rusqlite::Error) -> StoreError {
        match Trouble::of(error) {
            Trouble::NoSpace => self.no_space(),
            Trouble::Damaged => {
                self.mark_unreliable();
                StoreError::Failed(format!(
                    "{} is damaged; restart the app to restore it from the newest backup",
                    self.path.display()
                ))
            }
            Trouble::SyncFailed => {
                self.sync_failed.store(true, Ordering::Release);
                self.mark_unreliable();
                self.after_failed_sync()
            }
            Trouble::Busy => {
                StoreError::Failed(format!("{} is in use by another program", self.path.display()))
            }
            Trouble::NoParent | Trouble::Other => StoreError::Failed(error.to_string()),
        }
    }

    pub(crate) fn no_space(&self) -> StoreError {
        StoreError::NoSpace(self.path.display().to_string())
    }

    /// Returns the error of every write after a failed sync.
    pub(crate) fn refusal(&self) -> Option<StoreError> {
        self.sync_failed.load(Ordering::Acquire).then(|| self.after_failed_sync())
    }

    fn after_failed_sync(&self) -> StoreError {
        StoreError::Failed(format!(
            "the disk did not confirm a write to {}; restart the app to check the file",
            self.path.display()
        ))
    }

    fn mark_unreliable(&self) {
        if let Err(error) = std::fs::remove_file(&self.checked_marker)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the marker of the last check could not be removed");
        }
    }
}
