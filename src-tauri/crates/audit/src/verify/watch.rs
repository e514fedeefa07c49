//! The progress of a verification, and the request to stop it. Shared between the thread that
//! verifies and the thread that shows the progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many records are checked between two updates of the progress.
const EVERY: u64 = 1_024;

/// The progress of one verification of a log's file.
#[derive(Debug, Default)]
pub struct VerifyWatch {
    checked: AtomicU64,
    total: AtomicU64,
    stopped: AtomicBool,
}

impl VerifyWatch {
    /// Returns how many records were checked, and how many must be checked.
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

    /// Records that a record was checked. Returns whether the verification continues.
    pub(super) fn note(&self, checked: u64) -> bool {
        if !checked.is_multiple_of(EVERY) {
            return true;
        }
        self.checked.store(checked, Ordering::Relaxed);
        !self.is_stopped()
    }
}
