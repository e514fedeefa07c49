//! The options for storing the sessions of a profile: in its database, in memory, or shared with
//! other processes.

use std::{
    env, fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::ports::SharedSessions;

/// Where sessions are stored.
#[derive(Clone, Default)]
pub enum Sessions {
    /// In the database in the data folder.
    #[default]
    InFile,
    /// In a database in memory, until the process ends.
    InMemory,
    /// In the database in the data folder, as a copy of sessions that several processes share.
    Shared(Arc<dyn SharedSessions>),
}

impl Sessions {
    pub(crate) fn shared_sessions(&self) -> Option<&Arc<dyn SharedSessions>> {
        match self {
            Self::Shared(shared) => Some(shared),
            Self::InFile | Self::InMemory => None,
        }
    }
}

/// The prefix of the names of folders in memory, including those of replays, and the database file
/// in these folders.
pub(crate) const IN_MEMORY: &str = "countersign-";
const DATABASE: &str = "countersign.db";
pub(crate) const REPLAY_DATABASE: &str = "replay.db";

/// Returns the folders that may contain databases of replays and of sessions in memory, starting
/// with folders in memory.
pub(crate) fn list_memory_places() -> Vec<PathBuf> {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    [runtime, Some(PathBuf::from("/dev/shm")), Some(env::temp_dir())]
        .into_iter()
        .flatten()
        .filter(|place| place.is_absolute() && place.is_dir())
        .collect()
}

/// Returns the existing folders in memory of this user's profiles, in these places.
pub(crate) fn find_memory_folders(places: &[PathBuf], user: u32) -> Vec<PathBuf> {
    let entries = places.iter().flat_map(fs::read_dir).flatten().flatten();
    let is_ours = |entry: &fs::DirEntry| {
        entry.file_name().as_encoded_bytes().starts_with(IN_MEMORY.as_bytes())
            && entry.metadata().is_ok_and(|about| about.is_dir() && about.uid() == user)
            && [DATABASE, REPLAY_DATABASE].iter().any(|name| entry.path().join(name).exists())
    };
    entries.filter(is_ours).map(|entry| entry.path()).collect()
}

/// A folder in memory for a database that ends with the process. Creating it deletes folders that
/// killed processes left behind.
pub(crate) struct MemoryFolder(PathBuf);

impl MemoryFolder {
    pub(crate) fn create(installation: &str) -> io::Result<Self> {
        let runtime = env::var_os("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute() && path.is_dir());
        let place = runtime.unwrap_or_else(|| {
            if Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { env::temp_dir() }
        });
        let folder = place.join(format!("{IN_MEMORY}{installation}"));
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        // This fails if the folder exists, so that another user cannot prepare it.
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join(DATABASE)
    }
}

impl Drop for MemoryFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, "sessions in memory could not be taken away");
        }
    }
}
