//! Knows which records and erasures were acknowledged, and when, for the tests that cut the power.
//! Each value has a unique word, so that files can be searched for it.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use audit::Log;
use chrono::{DateTime, TimeZone as _, Utc};
use contract::{RecordType, SessionId};
use engine::ports::{AuditLog as _, Clock, Durability, RecordDraft};
use soak::{Disk, Random};

/// The file name of the copy.
pub(crate) const COPY: &str = "copy.db";
/// The number of letters of a word that are searched for. The index omits the first letters of a
/// word if the previous word has the same letters.
const SEARCHED: usize = 12;

/// The suffix of files that are memory-mapped and recreated at each start. They are not searched,
/// because SQLite may copy unused memory of the program into them.
const SHARED: &str = "-shm";

/// A clock that advances one second with each read, and continues over all starts of a log.
pub(crate) struct Moving(AtomicI64);

impl Moving {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(1_770_000_000)))
    }
}

impl Clock for Moving {
    fn now(&self) -> DateTime<Utc> {
        Utc.timestamp_opt(self.0.fetch_add(1, Ordering::SeqCst), 0).unwrap()
    }
}

/// The state of a record's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Kept,
    /// The value was erased between these moments. `sure` says whether it certainly existed until
    /// then, and `copied` is the end of the next update of the copy.
    Erased {
        begun: usize,
        done: usize,
        sure: bool,
        copied: Option<usize>,
    },
    /// The power was cut during the erasure of the value.
    Unknown,
}

/// An acknowledged record: its number and content.
#[derive(Clone, Debug)]
pub(crate) struct AcknowledgedRecord {
    moment: usize,
    pub(crate) seq: u64,
    pub(crate) n: u64,
    session: u64,
    pub(crate) value: Value,
}

/// Everything that is known about one environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) acknowledged: Vec<AcknowledgedRecord>,
    /// Records that were appended, but not acknowledged as durable.
    waiting: Vec<AcknowledgedRecord>,
    /// The end of the first update of the copy.
    pub(crate) copied: Option<usize>,
    /// The content number of the next record.
    pub(crate) next: u64,
}

/// Returns the unique word of a value.
pub(crate) fn word(n: u64) -> String {
    let mut random = Random::new(n);
    (0..SEARCHED + 4).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
}

/// Returns a value that repeats its unique word, so that every part contains it. One in six values
/// may have up to about 3,000 bytes.
pub(crate) fn value(n: u64) -> String {
    let most = if n.is_multiple_of(6) { 180 } else { 8 };
    vec![word(n); 1 + Random::new(!n).index(most)].join(" ")
}

fn session(n: u64) -> SessionId {
    SessionId(format!("desktop:s{n}"))
}

/// Returns a draft with this value, in one of the sessions.
pub(crate) fn numbered(n: u64, of: u64) -> RecordDraft {
    RecordDraft::new(RecordType::RunStarted)
        .of(&session(of), &format!("turn-{n}").as_str().into())
        .field("n", n)
        .commit("input", value(n))
}

/// Returns the matching files, with those of the given values that they contain.
pub(crate) fn files_with(
    folder: &Path,
    values: &[u64],
    fits: impl Fn(&str) -> bool,
) -> Vec<(String, Vec<u64>)> {
    let words: Vec<(u64, String)> = values.iter().map(|n| (*n, word(*n))).collect();
    let wanted: HashSet<&[u8]> = words.iter().map(|(_, word)| &word.as_bytes()[4..]).collect();
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !fits(&name) || name.ends_with(SHARED) || !entry.path().is_file() {
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        let runs: HashSet<&[u8]> = bytes
            .split(|byte| !byte.is_ascii_lowercase())
            .filter(|run| run.len() >= SEARCHED)
            .collect();
        let there: HashSet<&[u8]> = runs
            .iter()
            .flat_map(|run| run.windows(SEARCHED))
            .filter(|part| wanted.contains(part))
            .collect();
        let has = |word: &str| there.contains(&word.as_bytes()[4..]);
        let numbers: Vec<u64> =
            words.iter().filter(|(_, word)| has(word)).map(|(n, _)| *n).collect();
        if !numbers.is_empty() {
            found.push((name, numbers));
        }
    }
    found
}

impl Known {
    /// Appends a record. The record must survive when it, or a later record, is acknowledged.
    pub(crate) async fn append(&mut self, log: &Log, disk: &Disk, random: &mut Random) {
        let (n, of) = (self.next, random.below(3));
        let how = *random.pick(&[
            Durability::Durable,
            Durability::Durable,
            Durability::Signed,
            Durability::Grouped,
        ]);
        self.next += 1;
        let seq = log.append(numbered(n, of), how).await.unwrap();
        self.waiting.push(AcknowledgedRecord {
            moment: 0,
            seq,
            n,
            session: of,
            value: Value::Kept,
        });
        if how != Durability::Grouped {
            self.tell(disk.moment());
        }
    }

    /// Records that everything appended is on disk.
    pub(crate) fn tell(&mut self, moment: usize) {
        self.acknowledged
            .extend(self.waiting.drain(..).map(|record| AcknowledgedRecord { moment, ..record }));
    }

    /// Records that the copy was updated.
    pub(crate) fn note_copy(&mut self, moment: usize) {
        self.copied.get_or_insert(moment);
        for record in &mut self.acknowledged {
            if let Value::Erased { copied, .. } = &mut record.value {
                copied.get_or_insert(moment);
            }
        }
    }

    /// Erases one value, the values of a session, or old values.
    pub(crate) async fn erase(
        &mut self,
        log: &Log,
        folder: &Path,
        (disk, begun): (&Disk, usize),
        random: &mut Random,
    ) {
        let kept: Vec<usize> = (0..self.acknowledged.len())
            .filter(|at| self.acknowledged[*at].value == Value::Kept)
            .collect();
        if kept.is_empty() {
            return;
        }
        let AcknowledgedRecord { seq, n, session: of, .. } = self.acknowledged[*random.pick(&kept)];
        assert!(!files_with(folder, &[n], |_| true).is_empty(), "the value is in a file");
        match random.below(4) {
            0 | 1 => {
                assert!(log.erase(seq, "input").await.unwrap(), "{seq}");
                self.note_erased(begun, disk.moment(), |record| record.seq == seq);
            }
            2 => {
                assert!(log.erase_session(&session(of)).await.unwrap() > 0, "{of}");
                self.note_erased(begun, disk.moment(), |record| record.session == of);
            }
            _ => {
                let at = log.show(seq).await.unwrap().at;
                log.erase_before(at).await.unwrap();
                self.note_erased(begun, disk.moment(), |record| record.seq < seq);
            }
        }
    }

    fn note_erased(
        &mut self,
        begun: usize,
        done: usize,
        is_erased: impl Fn(&AcknowledgedRecord) -> bool,
    ) {
        self.tell(done);
        for record in &mut self.acknowledged {
            if !matches!(record.value, Value::Erased { .. }) && is_erased(record) {
                let sure = record.value == Value::Kept;
                record.value = Value::Erased { begun, done, sure, copied: None };
            }
        }
    }

    /// Returns what must be true if the power is cut at this moment.
    pub(crate) fn at(&self, moment: usize) -> Self {
        let is_past = |of: &usize| *of <= moment;
        let value = |value: Value| match value {
            Value::Erased { begun, sure: true, .. } if moment <= begun && begun > 0 => Value::Kept,
            Value::Erased { done, .. } if done > moment => Value::Unknown,
            Value::Erased { sure, copied, .. } => {
                let copied = copied.filter(is_past).map(|_| 0);
                Value::Erased { begun: 0, done: 0, sure, copied }
            }
            other => other,
        };
        let acknowledged = self.acknowledged.iter().filter(|record| record.moment <= moment);
        Self {
            acknowledged: acknowledged
                .map(|t| AcknowledgedRecord { moment: 0, value: value(t.value), ..t.clone() })
                .collect(),
            waiting: Vec::new(),
            copied: self.copied.filter(is_past).map(|_| 0),
            next: self.next,
        }
    }

    /// Returns a moment at which the power is cut: often right after an erasure or a copy.
    pub(crate) fn pick_moment(&self, last: usize, random: &mut Random) -> usize {
        let mut ends = Vec::new();
        for record in &self.acknowledged {
            if let Value::Erased { done, copied, .. } = record.value {
                ends.extend([Some(done), copied].into_iter().flatten().filter(|at| *at > 0));
            }
        }
        match ends.get(random.index(ends.len())) {
            Some(end) if random.chance(40) => last.min(end + random.index(4)),
            _ => random.index(last + 1),
        }
    }

    /// Returns the erased values. With `copied`, returns only those that are also removed from the
    /// copy.
    pub(crate) fn erased(&self, copied: bool) -> Vec<u64> {
        let is_erased = |record: &&AcknowledgedRecord| match record.value {
            Value::Erased { copied: at, .. } => !copied || at.is_some(),
            Value::Kept | Value::Unknown => false,
        };
        self.acknowledged.iter().filter(is_erased).map(|record| record.n).collect()
    }
}
