//! Verification of a log or an export, from its bytes alone. Reads only, streams, never panics on hostile input.
//! `checker` holds the rules; `database` and `folder` feed it.

mod checker;
mod database;
mod folder;
mod physical;

use std::path::Path;

use contract::{VerifyProblem, VerifyReport};

use crate::anchor::{ComparedMarks, Mark, Outside};
use crate::open::Tampered;
use crate::schema;

pub(crate) use checker::{ADDED, BeyondMark};

/// At most so many problems are listed.
const MAX_PROBLEMS: usize = 50;

/// The faults found so far.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<VerifyProblem>,
    /// The file could not be read; that is the only one of the problems that is no fault of its content.
    unreadable: bool,
}

impl Problems {
    /// Adds a fault of a record, or of the log as a whole.
    pub(crate) fn add(&mut self, seq: Option<u64>, message: impl Into<String>) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(VerifyProblem { seq, message: message.into() });
        }
    }

    /// Adds that the file cannot be read now.
    pub(crate) fn unreadable(&mut self, message: impl Into<String>) {
        self.add(Some(1), message);
        self.unreadable = true;
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
    judge(path, outside).report
}

/// A report, with what an alarm needs to know beside it.
#[derive(Clone, Debug)]
pub struct Judged {
    pub report: VerifyReport,
    /// The copy of a checkpoint that a new log tells of.
    pub mark: Option<Mark>,
    /// Whether the log itself, or a copy of its checkpoint, is at fault. A file is not that could only not be read (permissions, disk,
    /// memory, a newer format), or that nothing is known of and that holds no record yet.
    pub at_fault: bool,
}

impl Judged {
    /// The fault as an alarm keeps it.
    pub fn found(&self) -> Tampered {
        let VerifyReport { problems, records, root, .. } = &self.report;
        let read = *records > 0;
        Tampered { problems: problems.clone(), size: read.then_some(*records), root: read.then(|| root.clone()), mark: self.mark.clone() }
    }
}

/// Whether this is a folder as an export is one. A folder in the place of a log is none.
pub fn is_export(path: &Path) -> bool {
    path.is_dir() && path.extension().is_none_or(|ending| ending != "db")
}

/// Verifies like `verify_against`, and tells a file that cannot be read now from one that is at fault.
pub fn judge(path: &Path, outside: &Outside) -> Judged {
    let mut problems = Problems::default();
    let weighed = outside.compare();
    for problem in &weighed.problems {
        problems.add(None, problem.as_str());
    }
    let expected = Expected { marks: &weighed.marks, newest: weighed.newest(), key: outside.key, installation: outside.installation.as_deref() };
    // Faults of the marks must not keep those of the log from being found.
    let mut own = Problems::default();
    // A profile's log is never a folder.
    let is_export = is_export(path) && outside.installation.is_none();
    let summary = if is_export { folder::read(path, expected, &mut own) } else { database::read(path, expected, &mut own) };
    problems.list.extend(own.list);
    let only_unreadable = own.unreadable && problems.list.len() == 1;
    let at_fault = !problems.is_empty() && !only_unreadable && (is_export || !is_beginning(path, outside, &weighed));
    let problems = problems.sorted();
    let report = VerifyReport {
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
    };
    Judged { report, mark: outside.evidence(&summary.keys), at_fault }
}

/// Whether nothing is known of the log and its file holds no record: its first start is under way, or was killed.
pub(crate) fn is_beginning(path: &Path, outside: &Outside, weighed: &ComparedMarks) -> bool {
    let is_known = outside.marked || !weighed.marks.is_empty() || !weighed.problems.is_empty();
    !is_known && path.is_file() && !schema::has_begun(path)
}

/// What a log has to be, as it is known outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'a> {
    pub(crate) marks: &'a [Mark],
    /// The one of them that was stored last.
    pub(crate) newest: Option<&'a Mark>,
    /// The keyring's signing key.
    pub(crate) key: Option<[u8; 32]>,
    pub(crate) installation: Option<&'a str>,
}
