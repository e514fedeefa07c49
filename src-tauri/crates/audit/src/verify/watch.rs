//! How far a verification is, and whether it is to stop. Shared between the thread that verifies and
//! the one that shows it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The records between two looks at the watch.
const EVERY: u64 = 1_024;

/// The progress of one verification of a log's file.
#[derive(Debug, Default)]
pub struct VerifyWatch {
    checked: AtomicU64,
    total: AtomicU64,
    stopped: AtomicBool,
}

impl VerifyWatch {
    /// Returns the number of records that were checked, and of those to check.
    pub fn progress(&self) -> (u64, u64) {
        (self.checked.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Makes the verification end soon, without a result.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn begin(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Notes that a record was checked. Returns whether to go on.
    pub(super) fn note(&self, checked: u64) -> bool {
        if !checked.is_multiple_of(EVERY) {
            return true;
        }
        self.checked.store(checked, Ordering::Relaxed);
        !self.is_stopped()
    }
}
