//! The inputs and results of opening a log. The checks are in `open`.

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
    /// The key that was in the keyring before `signer`, if the key was just replaced. The old key
    /// signs the replacement.
    pub previous: Option<Signer>,
    /// The places for copies of the newest checkpoint, such as the state folder and the keyring.
    pub anchors: Vec<Arc<dyn Anchor>>,
    /// Whether a signed copy was stored before. A missing or unsigned copy is then a problem.
    pub marked: bool,
    /// The source of the time in records.
    pub clock: Arc<dyn Clock>,
    /// The source of salts.
    pub entropy: Arc<dyn Entropy>,
    /// The number of bytes per page in a new file.
    pub page_size: u32,
    /// The lock file of the profile. The writer keeps the lock until its last record and mark are
    /// stored, because a log that is dropped without being closed still signs its end.
    pub lock: Option<Arc<File>>,
}

impl OpenOptions {
    /// Creates options with the default page size and the operating system's randomness.
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

/// The problems of a log that cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tampered {
    /// The problems that the verification found.
    pub problems: Vec<VerifyProblem>,
    /// The number of records of the old file, if it can be read.
    pub size: Option<u64>,
    /// The root (hex) over the records of the old file, if they can be read.
    pub root: Option<String>,
    /// The copy of the log's newest checkpoint outside the log.
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
