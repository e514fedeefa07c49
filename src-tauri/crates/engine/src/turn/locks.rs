//! A fixed number of locks for all sessions. Sessions that share a lock wait for each other, which
//! is harmless. With a single lock, every session would wait for every other session's disk access.

use std::hash::{BuildHasher as _, RandomState};

use contract::SessionId;
use tokio::sync::{Mutex, MutexGuard};

/// The number of locks, which exceeds the number of sessions that are likely to write at the same
/// time.
const LOCKS: usize = 64;

pub(crate) struct Locks {
    locks: Box<[Mutex<()>]>,
    hash: RandomState,
}

impl Default for Locks {
    fn default() -> Self {
        Self { locks: (0..LOCKS).map(|_| Mutex::default()).collect(), hash: RandomState::new() }
    }
}

impl Locks {
    /// Locks a session. No other task can change the session until the guard is dropped.
    pub(crate) async fn lock(&self, session: &SessionId) -> MutexGuard<'_, ()> {
        let at = self.hash.hash_one(session) % self.locks.len() as u64;
        self.locks[usize::try_from(at).unwrap_or_default()].lock().await
    }
}
