//! Stores the newest mark in all places outside the log, on a separate thread, so that a slow
//! keyring delays no record. Effects wait here: an effect runs only after its intent is covered by
//! a mark outside the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use batch::{Inbox, Worker};
use engine::ports::AuditUnavailable;
use tokio::sync::oneshot;

use crate::anchor::{Anchor, Mark};
use crate::chain::Chain;
use crate::keys::Signer;

/// A waiting caller and its record's number. The caller gets the answer when the record's mark is
/// stored.
pub(crate) type Waiter = (oneshot::Sender<Result<u64, AuditUnavailable>>, u64);

struct Job {
    mark: Mark,
    waiting: Vec<Waiter>,
}

pub(crate) struct Marks {
    worker: Worker<Job>,
    installation: String,
    signer: Signer,
    counter: u64,
}

/// Creates the signed mark of a log's current state.
pub(crate) fn sign_mark(
    chain: &Chain,
    installation: &str,
    signer: &Signer,
    counter: u64,
    seal: Option<String>,
) -> Mark {
    let root = crate::hex::encode(&chain.frontier.root());
    let mark = Mark {
        installation: installation.to_owned(),
        size: chain.signed,
        root,
        counter,
        key: String::new(),
        seal,
        signature: None,
    };
    mark.signed(signer)
}

fn store_in(anchor: &Arc<dyn Anchor>, mark: &Mark) -> Result<(), String> {
    anchor.store(mark).map_err(|error| {
        format!("the copy of the newest checkpoint in {} cannot be stored: {error}", anchor.name())
    })
}

/// Stores a mark in all places. Returns the errors.
pub(crate) fn store(anchors: &[Arc<dyn Anchor>], mark: &Mark) -> Vec<String> {
    anchors.iter().filter_map(|anchor| store_in(anchor, mark).err()).collect()
}

/// Stores a mark in the first place that accepts it. Returns the errors if no place does.
pub(crate) fn store_in_one(anchors: &[Arc<dyn Anchor>], mark: &Mark) -> Result<(), Vec<String>> {
    let mut failures = Vec::new();
    for anchor in anchors {
        match store_in(anchor, mark) {
            Ok(()) => return Ok(()),
            Err(failure) => failures.push(failure),
        }
    }
    if anchors.is_empty() { Ok(()) } else { Err(failures) }
}

impl Marks {
    /// Starts the thread. `failing` is set as long as the last mark could not be stored in all
    /// places.
    pub(crate) fn start(
        anchors: Vec<Arc<dyn Anchor>>,
        installation: String,
        signer: Signer,
        counter: u64,
        failing: Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let worker =
            Worker::start("audit-marks", move |jobs| store_queued_marks(jobs, &anchors, &failing))?;
        Ok(Self { worker, installation, signer, counter })
    }

    /// Queues a mark of the log's size, which must be covered by a checkpoint. The waiting callers
    /// get their answers when the mark is stored.
    pub(crate) fn send(&mut self, chain: &Chain, seal: Option<String>, waiting: Vec<Waiter>) {
        self.counter = self.counter.saturating_add(1);
        let mark = sign_mark(chain, &self.installation, &self.signer, self.counter, seal);
        // The thread only ends after `finish`, and no job is sent after that.
        let _ = self.worker.send(Job { mark, waiting });
    }

    /// Waits until the last mark is stored.
    pub(crate) fn finish(&self) {
        self.worker.end(None);
    }
}

fn store_queued_marks(mut jobs: Inbox<Job>, anchors: &[Arc<dyn Anchor>], failing: &AtomicBool) {
    while let Some(mut job) = jobs.first() {
        // A newer mark covers all records of an older mark, so only the newest mark is stored,
        // because a keyring is slow.
        while let Some(newer) = jobs.next_if(|_| true) {
            job.mark = newer.mark;
            job.waiting.extend(newer.waiting);
        }
        let failures = store(anchors, &job.mark);
        for failure in &failures {
            tracing::warn!("{failure}");
        }
        failing.store(!failures.is_empty(), Ordering::Relaxed);
        // One place is enough to prove the record. If no place has the mark, the record could be
        // removed unnoticed after its effect.
        let nowhere = failures.len() == anchors.len() && !anchors.is_empty();
        for (reply, seq) in job.waiting {
            let answer =
                if nowhere { Err(AuditUnavailable(failures.join("; ").into())) } else { Ok(seq) };
            // The caller may have stopped waiting.
            let _ = reply.send(answer);
        }
    }
}
