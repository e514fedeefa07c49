//! The lines that an importer writes: progress, and the end.

use std::{
    io::Write,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use contract::sources::ImportEvent;

/// The least time between two lines about progress.
const APART: Duration = Duration::from_millis(100);

/// Writes events as lines of JSON.
pub struct Teller<'a> {
    state: Mutex<State<'a>>,
    is_broken: AtomicBool,
}

struct State<'a> {
    output: &'a mut (dyn Write + Send),
    last: Option<Instant>,
}

impl<'a> Teller<'a> {
    /// Creates a teller.
    pub fn new(output: &'a mut (dyn Write + Send)) -> Self {
        Self { state: Mutex::new(State { output, last: None }), is_broken: AtomicBool::new(false) }
    }

    /// Tells how far the importer is, unless that was told a moment ago.
    pub fn progress(&self, records: u64, done_bytes: u64, total_bytes: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.last.is_some_and(|last| last.elapsed() < APART) {
            return;
        }
        state.last = Some(Instant::now());
        self.put(&mut state, &ImportEvent::Progress { records, done_bytes, total_bytes });
    }

    /// Tells the end.
    pub fn end(&self, event: &ImportEvent) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.put(&mut state, event);
    }

    /// Whether nobody reads the lines any more. The import is then of no use.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    fn put(&self, state: &mut State<'_>, event: &ImportEvent) {
        let written =
            serde_json::to_vec(event).map_err(std::io::Error::other).and_then(|mut line| {
                line.push(b'\n');
                state.output.write_all(&line)?;
                state.output.flush()
            });
        if written.is_err() {
            self.is_broken.store(true, Ordering::Relaxed);
        }
    }
}
