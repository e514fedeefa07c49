//! The paths of a profile's files, and the lock that lets only one process open the profile.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use contract::{AgentError, Reason, text};

/// The prefix of the name of a folder that earlier versions made for a server under test.
pub(crate) const SERVER_TEST: &str = "server-test-";

/// The paths of a profile's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    pub data: PathBuf,
    /// The state folder, outside the data folder. It contains the copy of the newest checkpoint.
    pub state: PathBuf,
}

impl Paths {
    /// Uses the given data folder, or the user's default folder.
    pub fn new(data: Option<PathBuf>) -> Self {
        let data = data
            .unwrap_or_else(|| base_folder("XDG_DATA_HOME", ".local/share").join("countersign"));
        // The data processes have other working folders, in which a relative path would be another.
        let data = std::path::absolute(&data).unwrap_or(data);
        Self { data, state: base_folder("XDG_STATE_HOME", ".local/state").join("countersign") }
    }

    pub fn database(&self) -> PathBuf {
        self.data.join("countersign.db")
    }
    pub fn audit(&self) -> PathBuf {
        self.data.join("audit.db")
    }
    /// Returns the path of the copy of the log.
    pub(crate) fn audit_copy(&self) -> PathBuf {
        self.data.join("backups").join("audit.db")
    }
    /// Returns the folder with confirmations of checkpoints by others.
    pub fn attestations(&self) -> PathBuf {
        self.data.join("attestations")
    }
    pub fn settings(&self) -> PathBuf {
        self.data.join("countersign.toml")
    }
    /// Returns the path of the file with accepted tool definitions.
    pub fn definitions(&self) -> PathBuf {
        self.data.join("tool-definitions.json")
    }
    pub fn rules(&self) -> PathBuf {
        self.data.join("policy.json")
    }
    /// Returns the path of the file with the user's model prices.
    pub fn prices(&self) -> PathBuf {
        self.data.join("prices.toml")
    }
    pub fn installation(&self) -> PathBuf {
        self.data.join("installation")
    }
    /// Returns the path of the token that clients of the local socket must send. The file exists
    /// while the profile is served.
    pub(crate) fn token(&self) -> PathBuf {
        self.data.join("socket-token")
    }
    /// Returns the path of the token that callers of the gateway must send.
    pub fn gateway_token(&self) -> PathBuf {
        self.data.join("gateway.token")
    }
    /// Returns the folder of the user's own packs.
    pub fn packs(&self) -> PathBuf {
        self.data.join("tools")
    }
    /// Returns the folder of the MCP servers that the user added, one folder each.
    pub fn own_servers(&self) -> PathBuf {
        self.data.join("servers")
    }
    /// Returns the folder for copies of data that a terminal reads from a pipe.
    pub fn piped_data(&self) -> PathBuf {
        self.sources().join("pipe")
    }
    /// Returns the folder of the sources of data, with their rows and definitions.
    pub(crate) fn sources(&self) -> PathBuf {
        self.data.join("data")
    }
    /// Returns the folder of the boards.
    pub(crate) fn boards(&self) -> PathBuf {
        self.data.join("boards")
    }
    /// Returns the folder of the rules of alerts, with what they found.
    pub(crate) fn alerts(&self) -> PathBuf {
        self.data.join("alerts")
    }
    /// Returns the folder that keeps the downloads of servers that could not be added.
    pub(crate) fn server_downloads(&self) -> PathBuf {
        self.data.join("server-downloads")
    }
    /// Returns the folder with the data of the window's web view.
    pub(crate) fn web_view() -> PathBuf {
        base_folder("XDG_DATA_HOME", ".local/share").join("io.countersign.desktop")
    }

    /// Returns everything in the data folder that this program reads as its configuration. No
    /// server, program of a pack or importer may write to it.
    pub fn configuration(&self) -> Vec<PathBuf> {
        vec![
            self.settings(),
            self.definitions(),
            self.rules(),
            self.prices(),
            self.installation(),
            self.token(),
            self.gateway_token(),
            self.packs(),
            self.own_servers(),
            self.server_downloads(),
            self.sources(),
            self.boards(),
            self.alerts(),
        ]
    }
    /// Returns the folder with a pack's data.
    pub fn pack_data(&self, pack: &str) -> PathBuf {
        self.data.join("packs").join(pack)
    }

    /// Creates the data folder with access for its user only. If the folder already contains a
    /// profile, other users lose access. Another existing folder keeps its mode.
    pub fn create_folders(&self) -> Result<(), AgentError> {
        create_private_folder(&self.data).map_err(|e| unusable_file(&self.data, &self.data, &e))?;
        if self.is_open_to_others() && self.installation().is_file() {
            let closed = fs::set_permissions(&self.data, fs::Permissions::from_mode(0o700));
            if let Err(error) = closed {
                tracing::warn!(%error, folder = %self.data.display(), "others may enter the data folder");
            }
        }
        Ok(())
    }

    /// Whether other users may list or enter the data folder.
    pub(crate) fn is_open_to_others(&self) -> bool {
        fs::metadata(&self.data).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
    }

    /// Creates the data folder and takes its lock. Returns None if another process holds the lock.
    pub(crate) fn lock_profile(&self) -> Result<Option<Arc<File>>, AgentError> {
        self.create_folders()?;
        let path = self.data.join("lock");
        let mut options = OpenOptions::new();
        let file = files::open_to_write(&path, options.create(true).truncate(false).write(true))
            .map_err(|e| unusable_file(&self.data, &path, &e))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Arc::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(unusable_file(&self.data, &path, &e)),
        }
    }
}

/// A file's modification time, size and inode, which are compared to detect changes. None if the
/// file cannot be read.
pub(crate) type Stamp = Option<(std::time::SystemTime, u64, u64)>;

pub(crate) fn read_stamp(path: &Path) -> Stamp {
    use std::os::unix::fs::MetadataExt as _;
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len(), meta.ino()))
}

/// Restricts all files that this process creates to its user, including files of libraries, and
/// prevents core dumps. Every program must call this first.
pub fn keep_private() {
    // SAFETY: umask takes a number, changes only the mask of this process, and cannot fail.
    unsafe { libc::umask(0o077) };
    write_no_core();
}

/// Prevents the system from writing a core dump of this process: its memory contains keys, and a
/// server could crash the process to get the dump. No other process of the user can raise the limit
/// again.
fn write_no_core() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is live. A limit can always be lowered.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
}

/// Creates a folder that only its user can enter.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    if folder.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Writes a file completely. If writing fails, the old file is kept.
pub(crate) fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write as _;
    let fresh = path.with_extension("new");
    let mut file = files::create(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    // The renamed file must survive a power cut, so its folder is synced.
    path.parent().map_or(Ok(()), files::sync_folder)
}

/// Keeps a copy of an unreadable file before it is written again. A pipe or a device has no content
/// to keep. Fails if the copy cannot be made.
pub(crate) fn keep_unreadable(path: &Path, ending: &str) -> io::Result<()> {
    match files::open(path) {
        Err(error) if files::is_not_a_file(&error) => Ok(()),
        Err(error) => Err(error),
        Ok(_) => files::copy(path, &path.with_extension(ending)).map(drop),
    }
}

fn base_folder(variable: &str, below_home: &str) -> PathBuf {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.unwrap_or_else(|| {
        std::env::home_dir().unwrap_or_else(|| PathBuf::from("/")).join(below_home)
    })
}

/// Returns the error for a data folder that cannot be written. The profile is not even opened for
/// reading, because no call may run without records.
pub(crate) fn unwritable_folder(folder: &Path) -> AgentError {
    let folder = folder.display().to_string();
    AgentError::internal(
        Reason::DataDirUnwritable,
        text!("{folder} cannot be written: it is read-only, belongs to someone else, or its disk is full. Countersign records every step there, so it did not start; nothing was changed.", folder),
    )
    .hint("Free some space or make the folder writable, then start again, or choose another folder with --data-dir.")
    .with("folder", folder)
}

/// Returns the error for a file or folder in the data folder that cannot be created or written.
pub(crate) fn unusable_file(folder: &Path, path: &Path, error: &io::Error) -> AgentError {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | StorageFull | QuotaExceeded) {
        return unwritable_folder(folder);
    }
    AgentError::internal(
        "data_dir",
        text!("{path} cannot be used: {error}.", path = path.display(), error),
    )
    .hint("Check that the folder exists and belongs to you, or choose another with --data-dir.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_folder_is_absolute_for_processes_with_other_working_folders() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(Paths::new(Some("data".into())).data, here.join("data"));
    }

    #[test]
    fn core_dumps_are_disabled() {
        write_no_core();
        let mut limit = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
        // SAFETY: the structure is live.
        assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit) }, 0);
        assert_eq!((limit.rlim_cur, limit.rlim_max), (0, 0));
    }

    #[test]
    fn an_unreadable_file_is_kept_as_a_copy_unless_it_is_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let (file, copy) = (folder.path().join("a.toml"), folder.path().join("a.toml.unreadable"));
        let make_pipe = |path: &Path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        };
        fs::write(&file, "broken").unwrap();
        keep_unreadable(&file, "toml.unreadable").unwrap();
        assert_eq!(fs::read_to_string(&copy).unwrap(), "broken");

        fs::remove_file(&copy).unwrap();
        make_pipe(&copy);
        let error = keep_unreadable(&file, "toml.unreadable").unwrap_err();
        assert!(error.to_string().contains("a.toml.unreadable is a pipe"), "{error}");

        fs::remove_file(&file).unwrap();
        make_pipe(&file);
        keep_unreadable(&file, "toml.unreadable").unwrap();
    }
}
