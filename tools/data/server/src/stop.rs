//! Ends a question: by its time limit, or because the caller cancelled it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

use adbc_core::CancelHandle;

use crate::DataError;

/// How often a running query is told to stop. One signal can come too early to be seen.
const AGAIN: Duration = Duration::from_millis(100);
/// How long a query may go on after it was told to stop.
const GRACE: Duration = Duration::from_secs(5);
/// The longest time limit in milliseconds: a week.
const LONGEST: u64 = 7 * 24 * 3_600_000;
/// The exit code of a process that ends because a query does not stop.
const STUCK: i32 = 70;

const RUNS: u8 = 0;
const CANCELLED: u8 = 1;
const TOO_LONG: u8 = 2;
const ENDED: u8 = 3;

/// Whether a question goes on.
#[derive(Clone)]
pub struct Stop {
    shared: Arc<Shared>,
    millis: u64,
}

/// Ends the watch of a question when it is dropped, also after a panic.
pub struct Ending(Stop);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.shared.state.store(ENDED, Ordering::SeqCst);
    }
}

struct Shared {
    state: AtomicU8,
    running: Mutex<Option<Arc<dyn CancelHandle>>>,
}

impl Stop {
    /// Creates the stop of a question with a time limit, and watches it until `Ending` is dropped.
    pub fn after(millis: u64) -> Self {
        let stop = Self {
            shared: Arc::new(Shared { state: AtomicU8::new(RUNS), running: Mutex::new(None) }),
            millis,
        };
        let watched = stop.clone();
        std::thread::spawn(move || watched.watch());
        stop
    }

    /// Creates the stop of work without a limit, which nobody watches.
    pub fn never() -> Self {
        let shared = Shared { state: AtomicU8::new(RUNS), running: Mutex::new(None) };
        Self { shared: Arc::new(shared), millis: u64::MAX }
    }

    /// Cancels the question.
    pub fn cancel(&self) {
        self.change(RUNS, CANCELLED);
    }

    /// Ends the watch when the returned value is dropped.
    #[must_use]
    pub fn until_dropped(&self) -> Ending {
        Ending(self.clone())
    }

    /// Fails if the question was cancelled or took too long.
    pub fn check(&self) -> Result<(), DataError> {
        match self.shared.state.load(Ordering::SeqCst) {
            CANCELLED => Err(DataError::Cancelled),
            TOO_LONG => Err(DataError::TooLong(self.millis)),
            _ => Ok(()),
        }
    }

    /// Names what is interrupted when the question ends early.
    pub(crate) fn runs(&self, handle: Option<Arc<dyn CancelHandle>>) -> Result<(), DataError> {
        *self.shared.running.lock().unwrap_or_else(PoisonError::into_inner) = handle;
        self.check()
    }

    fn change(&self, from: u8, to: u8) {
        // Only the first cause counts, so a lost exchange needs no answer.
        let _ = self.shared.state.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
    }

    fn watch(&self) {
        let limit = Instant::now() + Duration::from_millis(self.millis.min(LONGEST));
        let mut told = None;
        loop {
            std::thread::sleep(AGAIN.min(Duration::from_millis(self.millis.max(1))));
            match self.shared.state.load(Ordering::SeqCst) {
                ENDED => return,
                RUNS if Instant::now() >= limit => self.change(RUNS, TOO_LONG),
                RUNS => {}
                _ => {
                    let began = *told.get_or_insert_with(Instant::now);
                    if began.elapsed() > GRACE {
                        // The library is in a step that it does not interrupt. The caller starts
                        // this program again; no state is lost.
                        std::process::exit(STUCK);
                    }
                    self.interrupt();
                }
            }
        }
    }

    fn interrupt(&self) {
        let running = self.shared.running.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(running) = running {
            // A query that has just ended cannot be interrupted, which is no fault.
            let _ = running.try_cancel();
        }
    }
}
