//! The names of the database's files, and the creation of files that only their owner can read.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

const STAMP: &str = "%Y%m%dT%H%M%SZ";
/// The maximum age of a check or backup.
const DAY: TimeDelta = TimeDelta::days(1);

/// The paths of the database and of the files beside it.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(crate) db: PathBuf,
}

impl Files {
    pub(crate) fn new(db: &Path) -> Self {
        Self { db: db.to_owned() }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        match self.db.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    pub(crate) fn stem(&self) -> String {
        self.db
            .file_stem()
            .map_or_else(|| "database".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    pub(crate) fn backups(&self) -> PathBuf {
        self.folder().join("backups")
    }

    /// Returns the file that contains the time of the last full check. If the file is missing, the
    /// next start checks the database.
    pub(crate) fn checked_marker(&self) -> PathBuf {
        self.backups().join(format!("{}.checked", self.stem()))
    }

    /// Returns damaged databases that were set aside, with the files that belong to them, and
    /// unfinished copies.
    pub(crate) fn list_left_over(&self) -> io::Result<Vec<PathBuf>> {
        let damaged = format!("{}.damaged-", self.stem());
        let restoring = Self::companion(&self.db, ".restoring");
        let mut found = Vec::new();
        for folder in [self.folder(), self.backups()] {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                let path = entry?.path();
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let is_copy = name.starts_with(&format!("{}-", self.stem()));
                if name.starts_with(&damaged)
                    || path == restoring
                    || (is_copy && name.ends_with(".partial"))
                {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }

    /// Appends a suffix to the database's name, as SQLite does for the files that belong to it
    /// (`-wal`, `-shm`).
    pub(crate) fn companion(db: &Path, suffix: &str) -> PathBuf {
        let mut name = db.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    }

    /// Reads the file and its write-ahead log to their ends. Fails only if the disk cannot return
    /// the content.
    pub(crate) fn read_through(&self) -> io::Result<()> {
        for suffix in ["", "-wal"] {
            if let Ok(mut file) = ::files::open(&Self::companion(&self.db, suffix)) {
                io::copy(&mut file, &mut io::sink())?;
            }
        }
        Ok(())
    }

    /// Whether the last run crashed. SQLite removes the write-ahead log when the last connection
    /// closes, so a remaining log shows a crash.
    pub(crate) fn was_cut_off(&self) -> bool {
        fs::metadata(Self::companion(&self.db, "-wal")).is_ok_and(|meta| meta.len() > 0)
    }

    pub(crate) fn has_content(&self) -> bool {
        fs::metadata(&self.db).is_ok_and(|meta| meta.len() > 0)
    }

    pub(crate) fn check_due(&self, now: DateTime<Utc>) -> bool {
        let text = ::files::read_text(&self.checked_marker(), ::files::NAME);
        let Ok(text) = text else { return true };
        read_stamp(text.trim()).is_none_or(|at| !is_fresh(at, now))
    }

    pub(crate) fn mark_checked(&self, now: DateTime<Utc>) -> io::Result<()> {
        self.make_backups_folder()?;
        ::files::write(&self.checked_marker(), stamp(now).as_bytes())
    }

    pub(crate) fn make_backups_folder(&self) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt as _;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.backups())
    }
}

/// Whether `at` is within the last day. Returns false for a time in the future.
pub(crate) fn is_fresh(at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    at <= now && now - at < DAY
}

pub(crate) fn stamp(at: DateTime<Utc>) -> String {
    at.format(STAMP).to_string()
}

pub(crate) fn read_stamp(text: &str) -> Option<DateTime<Utc>> {
    NaiveDateTime::parse_from_str(text, STAMP).ok().map(|naive| naive.and_utc())
}

/// Creates an empty file that only its owner can read, unless the file exists. SQLite gives `-wal`
/// and `-shm` the same mode.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    ::files::open_to_write(path, options.write(true).create(true).truncate(false).mode(0o600))
        .map(drop)
}

pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    ::files::open(path)?.sync_all()
}

/// Syncs a folder to the disk, so that the names of its files survive a power cut.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    ::files::sync_folder(path)
}
