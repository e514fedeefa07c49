//! Verification of a log or an export, from its bytes alone. Reads only, streams, never panics on hostile input.
//! `checker` holds the rules; `database` and `folder` feed it.

mod checker;
mod database;
mod folder;
mod physical;

use std::path::Path;

use contract::{VerifyProblem, VerifyReport};

use crate::anchor::{Mark, Outside};

pub(crate) use checker::ADDED;

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

/// Verifies a log file, or the folder of an export. `mark` is a copy of the newest checkpoint that counts as it stands, if there is one.
pub fn verify(path: &Path, mark: Option<&Mark>) -> VerifyReport {
    verify_against(path, &Outside::of(mark))
}

/// Verifies a log file, or the folder of an export, against all that is known of it outside.
pub fn verify_against(path: &Path, outside: &Outside) -> VerifyReport {
    let mut problems = Problems::default();
    let weighed = outside.weigh();
    for problem in &weighed.problems {
        problems.add(None, problem.as_str());
    }
    let expected = Expected { marks: &weighed.marks, key: outside.key, installation: outside.installation.as_deref() };
    // Faults of the marks must not keep those of the log from being found.
    let mut own = Problems::default();
    let summary = if path.is_dir() { folder::read(path, expected, &mut own) } else { database::read(path, expected, &mut own) };
    problems.list.extend(own.list);
    let problems = problems.sorted();
    VerifyReport {
        ok: problems.is_empty(),
        records: summary.records,
        checkpoints: summary.checkpoints,
        root: crate::hex::encode(&summary.root),
        key_fingerprint: summary.key.map(|key| crate::note::fingerprint(key.as_bytes())).unwrap_or_default(),
        anchored: summary.anchored,
        compared_with: weighed.compared_with,
        unsigned_tail: summary.records.saturating_sub(summary.signed),
        unknown_outcomes: if problems.is_empty() { summary.unknown_outcomes } else { Vec::new() },
        problems,
    }
}

/// What a log has to be, as it is known outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'a> {
    pub(crate) marks: &'a [Mark],
    /// The keyring's signing key.
    pub(crate) key: Option<[u8; 32]>,
    pub(crate) installation: Option<&'a str>,
}
