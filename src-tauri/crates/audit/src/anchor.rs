//! The copies of the newest checkpoint outside the log. They show whether the log was truncated or
//! replaced with an old copy. The keyring's copy is the authority (the host passes it in through
//! the same trait); the state folder's file is used if it is newer.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use contract::ComparedWith;
use ed25519_dalek::{Signature, Signer as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::keys::Signer;
use crate::note;

/// The size and root of a log when its newest checkpoint was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The installation's id (a UUID) that the log belongs to.
    pub installation: String,
    /// The number of records in the log.
    pub size: u64,
    /// The Merkle root (hex) of these records.
    pub root: String,
    /// A counter that increases with every mark, even when a new log is begun.
    pub counter: u64,
    /// The public signing key (vkey).
    pub key: String,
    /// SHA-256 (hex) of the whole file, computed when the log was closed. The value is `closed` if
    /// the file was large or in use then. Absent while the log is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
    /// The Ed25519 signature (base64) by `key` over all other fields. Version 0.1 wrote marks
    /// without a signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The file size in bytes up to which a file is sealed when it is closed, and checked completely
/// when it is opened. Larger files would take too long.
pub(crate) const WHOLE_UP_TO: u64 = 16 << 20;

/// The value of the seal if the log was closed but its bytes were not hashed.
pub(crate) const CLOSED: &str = "closed";

/// The maximum number of bytes of a mark's file.
const MAX_MARK: u64 = 64 << 10;

/// The maximum counter, which is more marks than any log has. A larger counter is forged, because
/// no later mark could be newer.
pub(crate) const COUNTER_MAX: u64 = 1 << 53;

/// Returns the digest of a closed log file, or None if the file is too large.
pub(crate) fn digest(path: &Path) -> Option<String> {
    let bytes = files::read(path, WHOLE_UP_TO).ok()?;
    Some(crate::hex::encode(&Sha256::digest(bytes)))
}

impl Mark {
    /// Writes the mark as text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses the text that `to_text` writes.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    fn origin(&self) -> String {
        format!("audit/{}", self.installation)
    }

    fn signed_text(&self) -> String {
        let Self { size, root, counter, key, seal, .. } = self;
        format!(
            "countersign audit mark v1\n{}\n{size}\n{root}\n{counter}\n{key}\n{}\n",
            self.origin(),
            seal.as_deref().unwrap_or("-")
        )
    }

    /// Whether a log of `size` records, whose newest checkpoint covers `signed` records, cannot be
    /// a continuation of this mark's log. This is so if the mark's log was closed, because every
    /// opening creates a checkpoint over its first record.
    pub(crate) fn denies_tail(&self, size: u64, signed: u64) -> bool {
        self.seal.is_some() && size > self.size && signed <= self.size
    }

    /// Returns the mark with the signer's key and its signature.
    #[must_use]
    pub fn signed(mut self, signer: &Signer) -> Self {
        self.key = note::vkey_of(&self.origin(), &signer.key.verifying_key());
        self.signature =
            Some(STANDARD.encode(signer.key.sign(self.signed_text().as_bytes()).to_bytes()));
        self
    }

    /// Whether the mark is signed by the key that the mark names. The log decides whether that key
    /// is the right one.
    pub fn has_valid_signature(&self) -> bool {
        let blob = self
            .signature
            .as_ref()
            .and_then(|text| STANDARD.decode(text).ok())
            .and_then(|bytes| <[u8; 64]>::try_from(bytes).ok());
        let (Some(blob), Some(key)) = (blob, note::parse_vkey(&self.origin(), &self.key)) else {
            return false;
        };
        // The check is strict, because under a weak key one signature would be valid for several
        // texts.
        key.verify_strict(self.signed_text().as_bytes(), &Signature::from_bytes(&blob)).is_ok()
    }
}

/// Why there is no mark at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorFault {
    /// The place cannot be read now. There may be a mark.
    #[error("{0}")]
    Unavailable(String),
    /// The content is not a mark.
    #[error("its content is damaged")]
    Damaged,
    /// Something that is not a file is at the mark's path.
    #[error("{0}")]
    Replaced(String),
}

/// A place outside the log that stores its newest mark. Only called from the log's own threads,
/// never from an async thread.
pub trait Anchor: Send + Sync {
    /// Returns the name for messages, such as "the state folder" or "the keyring".
    fn name(&self) -> &str;
    /// Whether only the user can write to the place, so that its mark is trusted without a check.
    fn is_authority(&self) -> bool {
        false
    }
    /// Returns the mark that was stored last, if there is one.
    fn load(&self) -> Result<Option<Mark>, AnchorFault>;
    /// Replaces the mark. The new mark must survive a power cut as soon as this returns.
    fn store(&self, mark: &Mark) -> Result<(), String>;
}

/// Stores a mark in a file that is named after the installation.
#[derive(Clone, Debug)]
pub struct FileAnchor {
    path: PathBuf,
}

impl FileAnchor {
    /// Returns the file for this installation in `folder`.
    pub fn new(folder: &Path, installation: &str) -> Self {
        Self { path: folder.join(format!("{installation}.mark.json")) }
    }

    /// Returns the file for a log of this installation that was set aside. `stem` is the log's file
    /// name without its extension.
    pub fn of_set_aside(folder: &Path, installation: &str, stem: &str) -> Self {
        Self { path: folder.join(format!("{installation}.{stem}.mark.json")) }
    }

    /// Returns the path of the mark's file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Anchor for FileAnchor {
    fn name(&self) -> &str {
        "the state folder"
    }

    fn load(&self) -> Result<Option<Mark>, AnchorFault> {
        match files::read(&self.path, MAX_MARK) {
            Ok(bytes) => std::str::from_utf8(&bytes)
                .ok()
                .and_then(Mark::from_text)
                .map(Some)
                .ok_or(AnchorFault::Damaged),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                Err(AnchorFault::Damaged)
            }
            Err(error) if files::is_not_a_file(&error) => {
                Err(AnchorFault::Replaced(format!("{}: {error}", self.path.display())))
            }
            Err(error) => Err(AnchorFault::Unavailable(error.to_string())),
        }
    }

    fn store(&self, mark: &Mark) -> Result<(), String> {
        let write = || -> std::io::Result<()> {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            // The mark is renamed into place, so that a reader, or a start after a power cut, finds
            // either the old mark or the new mark, and never a part.
            let fresh = self.path.with_extension("new");
            let mut file = files::create(&fresh)?;
            file.write_all(mark.to_text().as_bytes())?;
            file.sync_data()?;
            fs::rename(&fresh, &self.path)?;
            // The file's name must also be on disk, because an effect may run as soon as this
            // returns.
            files::sync_folder(folder)
        };
        write().map_err(|error| error.to_string())
    }
}

/// Everything that is known about a log outside its file.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// The authority's copy of the mark, which is trusted without a check.
    pub keyring: Option<Mark>,
    /// The state folder's copy of the mark. It is used if it is newer than the authority's copy and
    /// signed with the log's key.
    pub state: Option<Mark>,
    /// The public key of the signing key in the keyring.
    pub key: Option<[u8; 32]>,
    /// The installation that the log must belong to.
    pub installation: Option<String>,
    /// Whether a signed copy was stored before. A missing or unsigned copy is then a problem.
    pub marked: bool,
    /// Problems with the places themselves.
    pub problems: Vec<String>,
    /// Places that cannot be read now.
    pub warnings: Vec<String>,
}

impl Outside {
    /// Returns the state in which only this trusted mark is known.
    pub fn of(mark: Option<&Mark>) -> Self {
        Self { keyring: mark.cloned(), ..Self::default() }
    }

    /// Reads all places.
    pub fn read_all_places(anchors: &[Arc<dyn Anchor>]) -> Self {
        let mut outside = Self::default();
        for anchor in anchors {
            let loaded = anchor.load();
            let slot =
                if anchor.is_authority() { &mut outside.keyring } else { &mut outside.state };
            match loaded {
                Ok(mark) => *slot = mark.or(slot.take()),
                Err(fault) => {
                    let text = format!(
                        "the copy of the newest checkpoint in {} cannot be read: {fault}",
                        anchor.name()
                    );
                    match fault {
                        // A locked keyring or a missing permission is not a sign of tampering.
                        AnchorFault::Unavailable(_) => outside.warnings.push(text),
                        AnchorFault::Damaged | AnchorFault::Replaced(_) => {
                            outside.problems.push(text)
                        }
                    }
                }
            }
        }
        outside
    }

    /// Returns the old log's mark, which a new log reports: the keyring's mark, or the state
    /// folder's mark if it is newer and signed with one of the log's `keys`. If the keyring has no
    /// mark, returns the state folder's mark, which may be signed with the key of a run that an old
    /// copy of the log does not know.
    pub(crate) fn mark_for_new_log(&self, keys: &BTreeSet<String>) -> Option<Mark> {
        let state = self.state.as_ref().filter(|mark| {
            mark.counter <= COUNTER_MAX
                && (mark.has_valid_signature() || (mark.signature.is_none() && !self.marked))
        });
        match (&self.keyring, state) {
            (Some(known), Some(newer))
                if newer.counter > known.counter
                    && newer.has_valid_signature()
                    && keys.contains(&newer.key) =>
            {
                Some(newer.clone())
            }
            (Some(known), _) => Some(known.clone()),
            (None, state) => state.cloned(),
        }
    }

    /// Returns the marks that the log must match, and the problems with the marks themselves.
    pub(crate) fn compare(&self) -> ComparedMarks {
        let mut weighed =
            ComparedMarks { problems: self.problems.clone(), ..ComparedMarks::default() };
        if let Some(mark) = &self.keyring {
            if mark.signature.is_some() && !mark.has_valid_signature() {
                weighed.problems.push("the copy of the newest checkpoint in the keyring was changed: its signature does not hold".to_owned());
            }
            weighed.marks.push(mark.clone());
            weighed.compared_with = ComparedWith::Keyring;
        }
        if let Some(mark) = &self.state {
            self.weigh_state(mark, &mut weighed);
        }
        if self.keyring.is_none()
            && self.state.is_none()
            && self.marked
            && self.problems.is_empty()
            // A place that cannot be read now may still contain its mark.
            && self.warnings.is_empty()
        {
            weighed.problems.push(
                "the copy of the newest checkpoint outside the log is missing; there was one"
                    .to_owned(),
            );
        }
        weighed
    }

    fn weigh_state(&self, mark: &Mark, weighed: &mut ComparedMarks) {
        let authority = self.keyring.as_ref();
        let is_newer = authority.is_none_or(|known| known.counter < mark.counter);
        // Version 0.1 signed no marks. A mark of that version is accepted only if the copy in the
        // keyring is unsigned, too, or missing.
        let may_be_unsigned =
            !self.marked && authority.is_none_or(|known| known.signature.is_none());
        match mark.signature {
            _ if mark.counter > COUNTER_MAX => {
                weighed.problems.push("the copy of the newest checkpoint in the state folder was changed: its counter is too large".to_owned());
            }
            Some(_) if !mark.has_valid_signature() => {
                weighed.problems.push("the copy of the newest checkpoint in the state folder was changed: its signature does not hold".to_owned());
            }
            None if !may_be_unsigned => {
                weighed.problems.push("the copy of the newest checkpoint in the state folder was replaced: it is not signed".to_owned());
            }
            // An unsigned mark adds no information to the authority's mark.
            None if authority.is_some() => {}
            Some(_) | None if is_newer => {
                weighed.marks.push(mark.clone());
                if authority.is_none() {
                    weighed.compared_with = ComparedWith::State;
                }
            }
            Some(_) | None => {}
        }
    }
}

/// The marks that a log must match.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComparedMarks {
    pub(crate) marks: Vec<Mark>,
    pub(crate) problems: Vec<String>,
    pub(crate) compared_with: ComparedWith,
}

impl ComparedMarks {
    /// Returns the newest mark.
    pub(crate) fn newest(&self) -> Option<&Mark> {
        self.marks.iter().max_by_key(|mark| mark.counter)
    }

    /// Returns the mark that covers the most records.
    pub(crate) fn largest(&self) -> Option<&Mark> {
        self.marks.iter().max_by_key(|mark| mark.size)
    }
}
