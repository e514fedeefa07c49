//! The rules of a valid log, applied record by record: canonical bodies, chain, tree, checkpoints,
//! keys, reveals, the mark. After an invalid record the chain is broken, so the check stops there.

use contract::{Text, text};
use std::collections::{BTreeMap, BTreeSet};

use ed25519_dalek::VerifyingKey;

use super::unchecked::Unchecked;
use super::{Expected, Problems};
use crate::anchor::Mark;
use crate::body::{self, Body, Reveal};
use crate::keys::{self, KeyState};
use crate::note::{self, Note};
use crate::tree::{self, Frontier, Hash};

/// The message for records after the end of a closed log.
pub(crate) const ADDED: &str = "records were added after the log was closed";

/// Finds records that were added after the newest mark. Every start stores a mark before it accepts
/// any record except those of its opening. Therefore, only two kinds of records can follow the
/// newest mark: the last records of the run that stored the mark (unless that run closed the log),
/// and then openings of starts that ended before they stored a mark.
#[derive(Debug)]
pub(crate) struct BeyondMark<'a> {
    newest: Option<&'a Mark>,
    /// The first record of an opening after the mark.
    opened: Option<u64>,
}

impl<'a> BeyondMark<'a> {
    pub(crate) fn new(newest: Option<&'a Mark>) -> Self {
        Self { newest, opened: None }
    }

    /// Checks the next record. If this record proves that a record was added, returns the first
    /// added record and the problem.
    pub(crate) fn check_record(&mut self, body: &Body) -> Option<(u64, &'static str)> {
        let mark = self.newest.filter(|mark| body.seq > mark.size)?;
        if keys::belongs_to_an_opening(body) {
            self.opened.get_or_insert(body.seq);
            return None;
        }
        match (mark.seal.is_some(), self.opened) {
            (true, opened) => Some((opened.unwrap_or(body.seq), ADDED)),
            (false, Some(opened)) => Some((
                opened,
                "records were added: no copy of the checkpoint outside the log covers this start",
            )),
            (false, None) => None,
        }
    }
}

/// The result of a verification.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) records: u64,
    pub(crate) checkpoints: u64,
    pub(crate) root: Hash,
    pub(crate) key: Option<VerifyingKey>,
    pub(crate) anchored: bool,
    /// Whether only some records of the log were checked.
    pub(crate) part: bool,
    /// How many records the newest valid checkpoint covers.
    pub(crate) signed: u64,
    pub(crate) unknown_outcomes: Vec<u64>,
    /// All public keys that the log has used for its signatures, as vkey strings.
    pub(crate) keys: BTreeSet<String>,
    /// The files of an export that were not read.
    pub(crate) unchecked: Unchecked,
}

/// The intents without an outcome so far, by call.
#[derive(Debug, Default)]
pub(super) struct OpenCalls(BTreeMap<String, u64>);

impl OpenCalls {
    /// Notes the next record.
    pub(super) fn note(&mut self, body: &Body) {
        let Some(call) = body.text("call") else { return };
        match body.kind.as_str() {
            "tool_intent" => {
                self.0.insert(call.to_owned(), body.seq);
            }
            "tool_outcome" => {
                self.0.remove(call);
            }
            _ => {}
        }
    }

    /// Returns the numbers of the intents without an outcome, ascending.
    pub(super) fn unknown(self) -> Vec<u64> {
        let mut unknown: Vec<u64> = self.0.into_values().collect();
        unknown.sort_unstable();
        unknown
    }
}

/// A valid record: its body, its leaf, and the inner nodes that the leaf completes with their
/// numbers.
pub(crate) type Accepted = (Body, Hash, Vec<(u64, Hash)>);

/// The state of the check between records.
pub(crate) struct Checker<'a> {
    problems: &'a mut Problems,
    expected: Expected<'a>,
    installation: String,
    frontier: Frontier,
    prev: Hash,
    keys: Option<KeyState>,
    /// Whether the version that made the newest opening signs marks.
    signs_marks: bool,
    /// The texts of the checkpoints, by size.
    notes: BTreeMap<u64, String>,
    checkpoints: u64,
    signed: u64,
    /// The commitments of the newest record that no reveal has matched so far.
    open_commitments: BTreeMap<String, String>,
    calls: OpenCalls,
    beyond: BeyondMark<'a>,
    /// Whether an added record has been reported.
    added: bool,
    keys_seen: BTreeSet<String>,
    /// Missing values, by record and member, until a record of their erasure follows. None for an
    /// export, in which values may be omitted.
    missing_values: Option<BTreeSet<(u64, String)>>,
    stopped: bool,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(
        problems: &'a mut Problems,
        expected: Expected<'a>,
        notes: BTreeMap<u64, String>,
    ) -> Self {
        Self {
            problems,
            expected,
            installation: String::new(),
            frontier: Frontier::default(),
            prev: [0; 32],
            keys: None,
            signs_marks: false,
            notes,
            checkpoints: 0,
            signed: 0,
            open_commitments: BTreeMap::new(),
            calls: OpenCalls::default(),
            beyond: BeyondMark::new(expected.newest),
            added: false,
            keys_seen: BTreeSet::new(),
            missing_values: None,
            stopped: false,
        }
    }

    /// Also reports values that are missing without a record of their erasure.
    pub(crate) fn expect_values(mut self) -> Self {
        self.missing_values = Some(BTreeSet::new());
        self
    }

    /// Returns the number of valid records so far.
    pub(crate) fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// Returns the root over the valid records so far.
    pub(crate) fn root(&self) -> Hash {
        self.frontier.root()
    }

    /// Whether a record was invalid, so that the following records cannot be checked.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Reports that the next record is invalid.
    pub(crate) fn report_record(&mut self, message: impl Into<Text>) {
        self.problems.add(Some(self.size() + 1), message);
        self.stopped = true;
    }

    fn origin(&self) -> String {
        format!("audit/{}", self.installation)
    }

    /// Checks the next record's body. If the body is valid, returns it with the inner nodes that it
    /// completes.
    pub(crate) fn check_record(&mut self, bytes: &[u8]) -> Option<Accepted> {
        let seq = self.size() + 1;
        let body = match body::parse(bytes) {
            Ok(body) => body,
            Err(why) => {
                self.report_record(text!("record {seq} was changed: {why}", seq, why));
                return None;
            }
        };
        if body.seq != seq {
            self.report_record(text!(
                "record {seq} is missing; record {other} is in its place",
                seq,
                other = body.seq
            ));
            return None;
        }
        if body.prev != crate::hex::encode(&self.prev) {
            let message = if seq == 1 {
                "record 1 does not begin a log".into()
            } else {
                text!(
                    "record {seq} does not follow record {before}: one of the two was changed",
                    seq,
                    before = seq - 1
                )
            };
            self.report_record(message);
            return None;
        }
        if seq == 1 {
            body.text("installation").unwrap_or_default().clone_into(&mut self.installation);
            if self.expected.installation.is_some_and(|known| known != self.installation) {
                self.problems.add(Some(1), "the log belongs to another installation: it was put in the place of the one that was here");
            }
        }
        match keys::step(&self.origin(), &self.installation, self.keys.as_ref(), &body) {
            Ok(Some(state)) => {
                self.keys_seen.insert(note::vkey_of(&self.origin(), &state.current));
                self.keys = Some(state);
            }
            Ok(None) => {}
            Err(why) => {
                self.report_record(text!("record {seq} is not acceptable: {why}", seq, why));
                return None;
            }
        }
        if body.kind == "log_opened" {
            self.signs_marks = keys::signs_marks(&body);
        }
        if let Some((first, why)) = self.beyond.check_record(&body)
            && !std::mem::replace(&mut self.added, true)
        {
            self.problems.add(Some(first), why);
        }
        self.calls.note(&body);
        self.note_erasure(&body);
        self.open_commitments.clone_from(&body.commitments);
        let leaf = tree::leaf_hash(bytes);
        let nodes = self.frontier.push(leaf);
        self.prev = leaf;
        Some((body, leaf, nodes))
    }

    fn note_erasure(&mut self, body: &Body) {
        let Some(missing) = self.missing_values.as_mut() else { return };
        let number = |name: &str| body.fields.get(name).and_then(serde_json::Value::as_u64);
        match body.kind.as_str() {
            "value_erased" => {
                if let (Some(seq), Some(member)) = (number("record"), body.text("member")) {
                    missing.remove(&(seq, member.to_owned()));
                }
            }
            "values_expired" => {
                if let Some(until) = number("until") {
                    *missing = missing.split_off(&(until.saturating_add(1), String::new()));
                }
            }
            _ => {}
        }
    }

    /// Checks a value that was revealed for the newest record.
    pub(crate) fn check_reveal(&mut self, reveal: &Reveal) {
        let seq = self.size();
        let expected = self.open_commitments.remove(&reveal.member);
        let matches = expected.is_some()
            && reveal.commitment().map(|hash| crate::hex::encode(&hash)) == expected;
        if !matches {
            self.problems.add(
                Some(seq),
                text!(
                    "record {seq}: the value shown for \"{name}\" is not the one that was recorded",
                    seq,
                    name = reveal.member
                ),
            );
        }
    }

    /// Reports another problem of the newest record. The check continues.
    pub(crate) fn report_fault(&mut self, message: impl Into<Text>) {
        self.problems.add(Some(self.size()), message);
    }

    /// Reports a problem of the newest record after which the check cannot continue.
    pub(crate) fn report_spoilt(&mut self, message: impl Into<Text>) {
        self.report_fault(message);
        self.stopped = true;
    }

    /// Reports that there should be records after the last record.
    pub(crate) fn report_missing_records(&mut self, message: impl Into<Text>) {
        self.problems.add(Some(self.size() + 1), message);
    }

    /// Checks the checkpoint and mark of the current size. Must be called after each record and its
    /// reveals.
    pub(crate) fn check_size(&mut self) {
        let size = self.size();
        if let Some(missing) = &mut self.missing_values {
            missing.extend(
                std::mem::take(&mut self.open_commitments).into_keys().map(|member| (size, member)),
            );
        }
        if let Some(text) = self.notes.remove(&size) {
            match self.check_note(&text) {
                Ok(()) => {
                    self.checkpoints += 1;
                    self.signed = size;
                }
                Err(why) => {
                    // It is unknown which record since the last valid checkpoint was changed, so
                    // the first of these records is reported.
                    let first = self.signed + 1;
                    self.problems.add(Some(first), text!("the checkpoint of {size} records does not match the log from record {first}: {why}", size, first, why));
                    self.stopped = true;
                }
            }
        }
        let expected = self.expected;
        for mark in expected.marks.iter().filter(|mark| mark.size == size) {
            self.check_mark(mark);
        }
    }

    fn check_note(&self, text: &str) -> Result<(), String> {
        let note: Note = note::parse(text).map_err(|error| error.to_string())?;
        let state = self.keys.as_ref().ok_or("there is no key")?;
        if note.origin != self.origin() || note.size != self.size() {
            return Err("it names another log or size".to_owned());
        }
        note.check(&state.current).map_err(|error| error.to_string())?;
        if note.root != self.frontier.root() {
            return Err("the records are not those that were signed".to_owned());
        }
        Ok(())
    }

    fn check_mark(&mut self, mark: &Mark) {
        let size = mark.size;
        let known = self.keys.as_ref().map(|state| note::vkey_of(&self.origin(), &state.current));
        if known.as_deref() != Some(mark.key.as_str()) || mark.installation != self.installation {
            self.problems.add(
                Some(1),
                "the log was signed anew with another key than the one kept outside it",
            );
        } else if mark.root != crate::hex::encode(&self.frontier.root()) {
            self.problems
                .add(None, text!("one of the first {size} records is not the one that was signed: the root differs from the copy kept outside the log", size));
        } else if self.signed != size {
            self.problems.add(
                Some(self.signed + 1),
                text!("the checkpoint over {size} records is missing from the log", size),
            );
        } else if mark.signature.is_none() && self.signs_marks {
            self.problems.add(
                None,
                "the copy of the newest checkpoint outside the log was replaced: it is not signed",
            );
        }
    }

    /// Ends the check.
    pub(crate) fn finish(self) -> Summary {
        let size = self.size();
        if !self.stopped {
            if let Some((seq, member)) = self.missing_values.as_ref().and_then(BTreeSet::first) {
                self.problems.add(
                    Some(*seq),
                    text!("record {seq}: the value of \"{member}\" was removed, and no record says so", seq, member),
                );
            }
            if let Some(known) =
                self.expected.marks.iter().map(|mark| mark.size).max().filter(|known| *known > size)
            {
                self.problems.add(Some(size + 1), text!("records {first} to {last} are missing: the log was cut, or an old copy was put in its place", first = size + 1, last = known));
            }
            if !self.added
                && let Some(closed) =
                    self.expected.marks.iter().find(|mark| mark.denies_tail(size, self.signed))
            {
                self.problems.add(Some(closed.size + 1), ADDED);
            }
            let trusted = self.keys.as_ref().and_then(|state| state.trusted);
            if let (Some(known), Some(trusted)) = (self.expected.key, trusted)
                && known != trusted.to_bytes()
            {
                self.problems.add(
                    Some(1),
                    "the log was signed with another key than the one in the keyring",
                );
            }
            if let Some(beyond) = self.notes.keys().next().copied() {
                let message = if beyond > size {
                    text!(
                        "a checkpoint covers {beyond} records, but record {seq} is missing",
                        beyond,
                        seq = size + 1
                    )
                } else {
                    text!(
                        "there is a checkpoint of size {beyond} that belongs to no record",
                        beyond
                    )
                };
                self.problems.add(Some(size + 1), message);
            }
            if size > 0 && self.checkpoints == 0 {
                self.problems.add(Some(1), "no checkpoint signs the records");
            }
            if size == 0 && self.expected.marks.is_empty() {
                self.problems.add(Some(1), "the log is empty");
            }
        }
        Summary {
            records: size,
            checkpoints: self.checkpoints,
            root: self.frontier.root(),
            key: self.keys.as_ref().map(|state| state.current),
            anchored: self.keys.as_ref().is_some_and(|state| state.anchored),
            part: false,
            signed: self.signed,
            unknown_outcomes: self.calls.unknown(),
            keys: self.keys_seen,
            unchecked: Unchecked::default(),
        }
    }
}
