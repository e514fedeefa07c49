//! Where a profile keeps its files, and the lock that makes one process its holder.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use contract::{AgentError, Reason};

/// The files of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    pub data: PathBuf,
    /// Outside the data folder: the copy of the newest checkpoint.
    pub state: PathBuf,
}

impl Paths {
    /// The given data folder, or the user's own.
    pub fn new(data: Option<PathBuf>) -> Self {
        let data = data.unwrap_or_else(|| base("XDG_DATA_HOME", ".local/share").join("countersign"));
        Self { data, state: base("XDG_STATE_HOME", ".local/state").join("countersign") }
    }

    pub fn database(&self) -> PathBuf {
        self.data.join("countersign.db")
    }
    pub fn audit(&self) -> PathBuf {
        self.data.join("audit.db")
    }
    pub fn settings(&self) -> PathBuf {
        self.data.join("countersign.toml")
    }
    /// Tools of servers as they were accepted.
    pub fn definitions(&self) -> PathBuf {
        self.data.join("tool-definitions.json")
    }
    pub fn rules(&self) -> PathBuf {
        self.data.join("policy.json")
    }
    /// What models cost: the user's own rows.
    pub fn prices(&self) -> PathBuf {
        self.data.join("prices.toml")
    }
    pub fn installation(&self) -> PathBuf {
        self.data.join("installation")
    }
    /// What clients of the local socket have to show. There while the profile is served.
    pub(crate) fn token(&self) -> PathBuf {
        self.data.join("socket-token")
    }
    /// Packs that the user adds.
    pub fn packs(&self) -> PathBuf {
        self.data.join("tools")
    }
    /// A pack's own folder.
    pub fn pack_data(&self, pack: &str) -> PathBuf {
        self.data.join("packs").join(pack)
    }

    /// Makes the data folder for its user only. A folder that holds a profile already is closed to others; any other that was there
    /// keeps the mode that its user gave it.
    pub fn make(&self) -> Result<(), AgentError> {
        make_private(&self.data).map_err(|e| unusable(&self.data, &self.data, &e))?;
        if self.open_to_others() && self.installation().is_file() {
            let closed = fs::set_permissions(&self.data, fs::Permissions::from_mode(0o700));
            if let Err(error) = closed {
                tracing::warn!(%error, folder = %self.data.display(), "others may enter the data folder");
            }
        }
        Ok(())
    }

    /// Whether others than its user may list or enter the data folder.
    pub(crate) fn open_to_others(&self) -> bool {
        fs::metadata(&self.data).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
    }

    /// Makes the data folder (for the user only) and takes its lock. `None`: another process holds it.
    pub(crate) fn lock(&self) -> Result<Option<File>, AgentError> {
        self.make()?;
        let path = self.data.join("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(|e| unusable(&self.data, &path, &e))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(unusable(&self.data, &path, &e)),
        }
    }
}

/// What tells that a file has changed: when it was written, its size, its inode. `None`: it is not there, or cannot be looked at.
pub(crate) type Stamp = Option<(std::time::SystemTime, u64, u64)>;

pub(crate) fn stamp(path: &Path) -> Stamp {
    use std::os::unix::fs::MetadataExt as _;
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len(), meta.ino()))
}

/// Whatever this process makes from now on is for its user alone, also what libraries make. To be called first in every program.
pub fn keep_private() {
    // SAFETY: umask takes a number, changes nothing but the mask of this process, and cannot fail.
    unsafe { libc::umask(0o077) };
}

/// Makes a folder that only its user can enter.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    if folder.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Writes a whole file or leaves the old one.
pub(crate) fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write as _;
    let fresh = path.with_extension("new");
    let mut file = File::create(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    // The name has to survive a power cut, too.
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

fn base(variable: &str, below_home: &str) -> PathBuf {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.unwrap_or_else(|| std::env::home_dir().unwrap_or_else(|| PathBuf::from("/")).join(below_home))
}

/// A folder in which nothing can be kept. Without its records nothing may run, so there is no reading either.
pub(crate) fn unwritable(folder: &Path) -> AgentError {
    let folder = folder.display().to_string();
    AgentError::internal(
        Reason::DataDirUnwritable,
        format!("{folder} cannot be written: it is read-only, belongs to someone else, or its disk is full. Countersign records every step there, so it did not start; nothing was changed."),
    )
    .hint("Free some space or make the folder writable, then start again, or choose another folder with --data-dir.")
    .with("folder", folder)
}

/// The failure to make or write something of a data folder.
pub(crate) fn unusable(folder: &Path, path: &Path, error: &io::Error) -> AgentError {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | StorageFull | QuotaExceeded) {
        return unwritable(folder);
    }
    AgentError::internal("data_dir", format!("{} cannot be used: {error}.", path.display()))
        .hint("Check that the folder exists and belongs to you, or choose another with --data-dir.")
}
