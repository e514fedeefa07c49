//! The copy of the newest checkpoint outside the log, which tells when the log was cut or replaced by an old copy.
//! A file in the state folder is one place for it; the host adds the keyring through the same trait.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// How far the log had come when its newest checkpoint was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    pub installation: String,
    /// Records in the log.
    pub size: u64,
    /// Root (hex) over them.
    pub root: String,
    /// Grows with every mark, also when a new log is begun.
    pub counter: u64,
    /// The signing key (vkey).
    pub key: String,
    /// SHA-256 (hex) of the whole file, taken when it was closed; absent while it is open and for large files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// Files up to this size are sealed when they are closed; more would make closing slow.
const SEAL_UP_TO: u64 = 16 << 20;

/// The digest of a closed log file that is small enough.
pub(crate) fn digest(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok()?.len();
    if size > SEAL_UP_TO {
        return None;
    }
    fs::read(path).ok().map(|bytes| crate::hex::encode(&Sha256::digest(bytes)))
}

impl Mark {
    /// The mark as text for places that keep text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what `to_text` wrote.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// A place outside the log that keeps its newest mark. Called from the log's own threads, never from an async one.
pub trait Anchor: Send + Sync {
    /// For messages: "the state folder", "the keyring".
    fn name(&self) -> &str;
    /// The mark that was stored last, if any. An error means that the place cannot be read now.
    fn load(&self) -> Result<Option<Mark>, String>;
    /// Replaces the mark.
    fn store(&self, mark: &Mark) -> Result<(), String>;
}

/// A mark in a file of its own, named after the installation.
#[derive(Clone, Debug)]
pub struct FileAnchor {
    path: PathBuf,
}

impl FileAnchor {
    /// The file for this installation in `folder`.
    pub fn new(folder: &Path, installation: &str) -> Self {
        Self { path: folder.join(format!("{installation}.mark.json")) }
    }

    /// Where the mark lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Anchor for FileAnchor {
    fn name(&self) -> &str {
        "the state folder"
    }

    fn load(&self) -> Result<Option<Mark>, String> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        Mark::from_text(&text).map(Some).ok_or_else(|| "its content is damaged".to_owned())
    }

    fn store(&self, mark: &Mark) -> Result<(), String> {
        let write = || -> std::io::Result<()> {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            let fresh = self.path.with_extension("new");
            let mut file = fs::File::create(&fresh)?;
            file.write_all(mark.to_text().as_bytes())?;
            file.sync_data()?;
            fs::rename(&fresh, &self.path)
        };
        write().map_err(|error| error.to_string())
    }
}

/// The newest of the marks that the places hold, and what could not be read.
pub(crate) fn newest(anchors: &[std::sync::Arc<dyn Anchor>]) -> (Option<Mark>, Vec<String>) {
    let mut best: Option<Mark> = None;
    let mut faults = Vec::new();
    for anchor in anchors {
        match anchor.load() {
            Ok(Some(mark)) if best.as_ref().is_none_or(|b| b.counter < mark.counter) => best = Some(mark),
            Ok(_) => {}
            Err(error) => faults.push(format!("the copy of the newest checkpoint in {} cannot be read: {error}", anchor.name())),
        }
    }
    (best, faults)
}
