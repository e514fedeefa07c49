//! The runs that compute tiles, so that a person can stop a slow one. It must not know what a run does.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// The runs by the names that their callers chose.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs(Arc<Mutex<HashMap<String, CancellationToken>>>);

/// A run. It is forgotten when it is dropped.
pub(super) struct Run {
    runs: Runs,
    name: String,
    token: CancellationToken,
}

impl Runs {
    /// Begins a run. Another one with the same name is stopped.
    pub(super) fn begin(&self, name: &str) -> Run {
        let token = CancellationToken::new();
        let before = self.0.lock().insert(name.to_owned(), token.clone());
        if let Some(before) = before {
            before.cancel();
        }
        Run { runs: self.clone(), name: name.to_owned(), token }
    }

    /// Stops a run. One that has ended, or never began, is left alone.
    pub(super) fn stop(&self, name: &str) {
        if let Some(token) = self.0.lock().remove(name) {
            token.cancel();
        }
    }
}

impl Run {
    pub(super) fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.token.is_cancelled()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // The name may belong to a later run, which stopped this one.
        if !self.is_stopped() {
            self.runs.0.lock().remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_stopped_by_its_name_and_forgotten_at_its_end() {
        let runs = Runs::default();
        let (first, other) = (runs.begin("a"), runs.begin("b"));
        runs.stop("a");
        runs.stop("unknown");
        assert!(first.is_stopped() && !other.is_stopped());
        drop(first);
        drop(other);
        assert!(runs.0.lock().is_empty());
        let (before, after) = (runs.begin("a"), runs.begin("a"));
        assert!(before.is_stopped() && !after.is_stopped());
        drop(before);
        runs.stop("a");
        assert!(after.is_stopped());
    }
}
