//! Progress and stopping of a reading. Must not know what is read.

use super::fault::TableError;

/// How far a reading is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Records read so far in the present pass.
    pub records: u64,
    /// Bytes of text read so far in the present pass.
    pub bytes: u64,
    /// Bytes of the file.
    pub total_bytes: u64,
}

/// Tells the caller about progress, and asks it whether to stop.
pub(crate) struct TableControl<'a> {
    pub(crate) on_progress: &'a mut dyn FnMut(Progress),
    pub(crate) stop: &'a dyn Fn() -> bool,
    pub(crate) total_bytes: u64,
}

impl TableControl<'_> {
    /// Reports progress. Fails if the caller wants to stop.
    pub(crate) fn report(&mut self, records: u64, bytes: u64) -> Result<(), TableError> {
        (self.on_progress)(Progress { records, bytes, total_bytes: self.total_bytes });
        self.check()
    }

    /// Fails if the caller wants to stop.
    pub(crate) fn check(&self) -> Result<(), TableError> {
        if (self.stop)() { Err(TableError::Stopped) } else { Ok(()) }
    }
}
