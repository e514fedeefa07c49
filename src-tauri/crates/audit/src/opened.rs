//! The input and the results of opening a log. `open` has the checks.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use contract::VerifyProblem;
use engine::ports::Clock;
use rusqlite::Connection;

use crate::anchor::{Anchor, Mark, Outside};
use crate::chain::Chain;
use crate::entropy::{Entropy, OsEntropy};
use crate::keys::Signer;

/// All inputs of a log.
#[derive(Clone)]
pub struct OpenOptions {
    /// The log's SQLite file.
    pub path: PathBuf,
    /// The installation's id (a UUID), which the host keeps outside the log.
    pub installation: String,
    /// The key that signs checkpoints.
    pub signer: Signer,
    /// The key that the keyring held before `signer`, if it was just replaced. It signs the
    /// replacement.
    pub previous: Option<Signer>,
    /// The places for copies of the newest checkpoint: the state folder, the keyring.
    pub anchors: Vec<Arc<dyn Anchor>>,
    /// Whether a signed copy was stored before. Then a missing or unsigned one is a fault.
    pub marked: bool,
    /// The source of the time in records.
    pub clock: Arc<dyn Clock>,
    /// The source of salts.
    pub entropy: Arc<dyn Entropy>,
    /// Bytes per page in a new file.
    pub page_size: u32,
    /// The lock file of the profile. The writer holds it until its last record and its last mark
    /// are stored: a log that is dropped without being closed still signs its end.
    pub lock: Option<Arc<File>>,
}

impl OpenOptions {
    /// Creates options with the usual page size and the operating system's randomness.
    pub fn new(
        path: impl Into<PathBuf>,
        installation: impl Into<String>,
        signer: Signer,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            path: path.into(),
            installation: installation.into(),
            signer,
            previous: None,
            anchors: Vec::new(),
            marked: false,
            clock,
            entropy: Arc::new(OsEntropy),
            page_size: crate::schema::PAGE_SIZE,
            lock: None,
        }
    }

    /// Adds a place for the copy of the newest checkpoint.
    #[must_use]
    pub fn anchor(mut self, anchor: Arc<dyn Anchor>) -> Self {
        self.anchors.push(anchor);
        self
    }

    pub(crate) fn origin(&self) -> String {
        format!("audit/{}", self.installation)
    }

    /// Reads everything known about the log outside its file.
    pub(crate) fn outside(&self) -> Outside {
        Outside { marked: self.marked, ..Outside::read_all_places(&self.anchors) }
    }
}

/// The fault of a log that cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tampered {
    /// The faults that the verification found.
    pub problems: Vec<VerifyProblem>,
    /// Number of records and root (hex) of the old file, if they can be read.
    pub size: Option<u64>,
    /// The root (hex) over these records.
    pub root: Option<String>,
    /// The outside copy of its newest checkpoint.
    pub mark: Option<Mark>,
}

/// The result of an opening for the writer.
pub(crate) struct Opened {
    pub(crate) db: Connection,
    pub(crate) chain: Chain,
    pub(crate) counter: u64,
    pub(crate) warnings: Vec<String>,
    /// Whether the whole file was checked, and not only its tail.
    pub(crate) checked_whole: bool,
}
