//! Verification of a log or an export, from its bytes alone. Reads only, streams, never panics on hostile input.
//! `checker` holds the rules; `database` and `folder` feed it.

mod checker;
mod database;
mod folder;
mod physical;

use std::path::Path;

use contract::{VerifyProblem, VerifyReport};

use crate::anchor::Mark;

/// At most so many problems are listed.
const MAX_PROBLEMS: usize = 50;

/// The faults found so far.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<VerifyProblem>,
}

impl Problems {
    /// Adds a fault of a record, or of the log as a whole.
    pub(crate) fn add(&mut self, seq: Option<u64>, message: impl Into<String>) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(VerifyProblem { seq, message: message.into() });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Earliest record first; faults without a record last, unless there are only such.
    fn sorted(mut self) -> Vec<VerifyProblem> {
        self.list.sort_by_key(|problem| problem.seq.unwrap_or(u64::MAX));
        self.list
    }
}

/// Verifies a log file, or the folder of an export. `mark` is the copy of the newest checkpoint kept outside, if there is one.
pub fn verify(path: &Path, mark: Option<&Mark>) -> VerifyReport {
    let mut problems = Problems::default();
    let summary = if path.is_dir() { folder::read(path, mark, &mut problems) } else { database::read(path, mark, &mut problems) };
    let problems = problems.sorted();
    VerifyReport {
        ok: problems.is_empty(),
        records: summary.records,
        checkpoints: summary.checkpoints,
        root: crate::hex::encode(&summary.root),
        key_fingerprint: summary.key.map(|key| crate::note::fingerprint(key.as_bytes())).unwrap_or_default(),
        anchored: summary.anchored,
        unsigned_tail: summary.records.saturating_sub(summary.signed),
        unknown_outcomes: if problems.is_empty() { summary.unknown_outcomes } else { Vec::new() },
        problems,
    }
}
