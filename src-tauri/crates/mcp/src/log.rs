//! The last lines of a server's error output, kept in memory so that a person can see why a server
//! does not start. The module knows nothing of processes.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;

/// The maximum number of lines that are kept.
const MAX_LINES: usize = 200;

/// The last lines of one server. A clone is another handle to the same lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerLog(Arc<Mutex<VecDeque<String>>>);

impl ServerLog {
    /// Adds a line. Drops the oldest line if there are too many.
    pub(crate) fn push(&self, line: &str) {
        let mut lines = self.0.lock();
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// Returns the kept lines, oldest first.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().iter().cloned().collect()
    }
}
