//! Locks by session, a fixed number of them: two sessions may share one and then wait for each
//! other, which is harmless; a single one for all would make every session wait for every other's
//! disk.

use std::hash::{BuildHasher as _, RandomState};

use contract::SessionId;
use tokio::sync::{Mutex, MutexGuard};

/// More than the sessions that are likely to write at the same moment.
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
    /// Locks a session. Nobody else can change it until the guard is dropped.
    pub(crate) async fn lock(&self, session: &SessionId) -> MutexGuard<'_, ()> {
        let at = self.hash.hash_one(session) % self.locks.len() as u64;
        self.locks[usize::try_from(at).unwrap_or_default()].lock().await
    }
}
