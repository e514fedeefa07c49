//! Verifies a log or an export from its bytes. The verification only reads, reads in a streaming
//! way, and never panics on hostile input. `checker` has the rules; `database` and `folder` pass
//! data to it.

mod checker;
mod database;
mod figure_rows;
mod figures;
mod folder;
mod physical;
mod receipts;
mod tiles;
mod unchecked;
mod watch;

use std::path::Path;

use contract::{Text, VerifyProblem, VerifyReport, text};

use crate::anchor::{ComparedMarks, Mark, Outside};
use crate::opened::Tampered;
use crate::schema;

use checker::Summary;
pub(crate) use checker::{ADDED, BeyondMark};
use unchecked::Unchecked;
pub use watch::VerifyWatch;

/// The maximum number of problems that are listed.
const MAX_PROBLEMS: usize = 50;

/// The problems found so far.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<VerifyProblem>,
    /// Whether the file could not be read. Only this problem does not concern the content.
    unreadable: bool,
}

impl Problems {
    /// Adds a problem of a record, or of the whole log.
    pub(crate) fn add(&mut self, seq: Option<u64>, message: impl Into<Text>) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(VerifyProblem { seq, message: message.into() });
        }
    }

    /// Adds that the file cannot be read now.
    pub(crate) fn unreadable(&mut self, message: impl Into<Text>) {
        self.add(Some(1), message);
        self.unreadable = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Sorts problems by record. Problems without a record come last.
    fn sorted(mut self) -> Vec<VerifyProblem> {
        self.list.sort_by_key(|problem| problem.seq.unwrap_or(u64::MAX));
        self.list
    }
}

/// Verifies a log file, or the folder of an export. `mark` is a trusted copy of the newest
/// checkpoint, if there is one.
pub fn verify(path: &Path, mark: Option<&Mark>) -> VerifyReport {
    verify_against(path, &Outside::of(mark))
}

/// Verifies a log file, or the folder of an export, against everything that is known about it
/// outside.
pub fn verify_against(path: &Path, outside: &Outside) -> VerifyReport {
    judge_all(path, outside, None).report
}

/// A report with further data for an alarm.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The result as it is shown.
    pub report: VerifyReport,
    /// The copy of a checkpoint that a new log will report.
    pub mark: Option<Mark>,
    /// Whether the log itself, or a copy of its checkpoint, is invalid. This is false for a file
    /// that could not be read (permissions, disk, memory, a newer format), and for a file without
    /// records about which nothing is known outside.
    pub at_fault: bool,
}

impl Judged {
    /// Returns the problems in the form that an alarm stores.
    pub fn found(&self) -> Tampered {
        let VerifyReport { problems, records, root, .. } = &self.report;
        let read = *records > 0;
        Tampered {
            problems: problems.clone(),
            size: read.then_some(*records),
            root: read.then(|| root.clone()),
            mark: self.mark.clone(),
        }
    }
}

/// Whether this is the folder of an export. A folder at the log's own path is not an export.
pub fn is_export(path: &Path) -> bool {
    path.is_dir() && path.extension().is_none_or(|ending| ending != "db")
}

/// Verifies like `verify_against`. The result distinguishes between a file that cannot be read now
/// and a file with invalid content.
pub fn judge(path: &Path, outside: &Outside) -> Judged {
    judge_twice(path, outside, None)
}

/// Judges like `judge`, and can be watched and stopped. Returns None if it was stopped.
pub(crate) fn judge_watched(path: &Path, outside: &Outside, watch: &VerifyWatch) -> Option<Judged> {
    let judged = judge_twice(path, outside, Some(watch));
    (!watch.is_stopped()).then_some(judged)
}

/// Judges a second time if there is a problem, because a failed read can look like a problem of the
/// content.
fn judge_twice(path: &Path, outside: &Outside, watch: Option<&VerifyWatch>) -> Judged {
    let judged = judge_all(path, outside, watch);
    // A problem of the marks themselves does not disappear when the file is read again.
    if !judged.at_fault || is_export(path) || !outside.compare().problems.is_empty() {
        return judged;
    }
    match schema::read_through(path) {
        Ok(()) => judge_all(path, outside, watch),
        Err(error) => {
            let mut problems = Problems::default();
            problems.unreadable(text!(
                "the log file cannot be read ({error})",
                error = error.to_string()
            ));
            let problems = problems.sorted();
            Judged {
                report: VerifyReport { ok: false, problems, ..judged.report },
                at_fault: false,
                ..judged
            }
        }
    }
}

fn judge_all(path: &Path, outside: &Outside, watch: Option<&VerifyWatch>) -> Judged {
    let mut problems = Problems::default();
    let weighed = outside.compare();
    for problem in &weighed.problems {
        problems.add(None, problem.as_str());
    }
    let expected = Expected {
        marks: &weighed.marks,
        newest: weighed.newest(),
        key: outside.key,
        installation: outside.installation.as_deref(),
        watch,
    };
    // The problems of the log are collected separately, because problems of the marks must not
    // prevent the search for problems of the log.
    let mut own = Problems::default();
    // A profile's log is never a folder.
    let is_export = is_export(path) && outside.installation.is_none();
    let summary = if is_export {
        folder::verify_folder(path, expected, &mut own)
    } else if let Some(why) = not_a_file(path) {
        own.unreadable(why);
        Summary::default()
    } else {
        database::verify_database(path, expected, &mut own)
    };
    problems.list.extend(own.list);
    let only_unreadable = own.unreadable && problems.list.len() == 1;
    let at_fault = !problems.is_empty()
        && !only_unreadable
        && (is_export || !is_beginning(path, outside, &weighed));
    let problems = problems.sorted();
    let unchecked = if problems.is_empty() { summary.unchecked } else { Unchecked::default() };
    let report = VerifyReport {
        ok: problems.is_empty(),
        part: summary.part,
        records: summary.records,
        checkpoints: summary.checkpoints,
        root: crate::hex::encode(&summary.root),
        key_fingerprint: summary
            .key
            .map(|key| crate::note::fingerprint(key.as_bytes()))
            .unwrap_or_default(),
        anchored: summary.anchored,
        compared_with: weighed.compared_with,
        unsigned_tail: summary.records.saturating_sub(summary.signed),
        unknown_outcomes: if problems.is_empty() { summary.unknown_outcomes } else { Vec::new() },
        unchecked_total: unchecked.total,
        unchecked: unchecked.names,
        problems,
    };
    Judged { report, mark: outside.mark_for_new_log(&summary.keys), at_fault }
}

/// Returns a message if a path leads to something other than a file, such as a pipe that blocks
/// readers.
fn not_a_file(path: &Path) -> Option<Text> {
    let error = files::open(path).err().filter(files::is_not_a_file)?;
    Some(text!("the log file cannot be read ({error})", error = error.to_string()))
}

/// Whether nothing is known about the log outside and its file has no record, because its first
/// start is still running or was killed.
pub(crate) fn is_beginning(path: &Path, outside: &Outside, weighed: &ComparedMarks) -> bool {
    let is_known = outside.marked || !weighed.marks.is_empty() || !weighed.problems.is_empty();
    !is_known && path.is_file() && !schema::has_begun(path)
}

/// The properties that a log must have, according to the data stored outside of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'a> {
    pub(crate) marks: &'a [Mark],
    /// The mark that was stored last.
    pub(crate) newest: Option<&'a Mark>,
    /// The keyring's signing key.
    pub(crate) key: Option<[u8; 32]>,
    pub(crate) installation: Option<&'a str>,
    pub(crate) watch: Option<&'a VerifyWatch>,
}
