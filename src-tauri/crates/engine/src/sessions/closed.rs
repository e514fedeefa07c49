//! Sessions that are closed: during a deletion, and while a deletion can be undone. This file must
//! not know how a session is deleted.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use contract::SessionId;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use crate::turn::lanes::ClosedLane;

/// A session that accepts no messages and runs no actions until this value is dropped.
pub struct ClosedSession {
    _lane: ClosedLane,
    _effects: OwnedMutexGuard<()>,
}

impl ClosedSession {
    pub(super) fn new(lane: ClosedLane, effects: OwnedMutexGuard<()>) -> Self {
        Self { _lane: lane, _effects: effects }
    }
}

/// The hidden sessions of this process, with the time of their deletion. A session that is taken out
/// is either shown again or deleted, so that only one of both happens.
#[derive(Default)]
pub(super) struct Undoable {
    sessions: Mutex<HashMap<SessionId, (DateTime<Utc>, ClosedSession)>>,
}

impl Undoable {
    pub(super) fn put(&self, id: &SessionId, at: DateTime<Utc>, closed: ClosedSession) {
        self.sessions.lock().insert(id.clone(), (at, closed));
    }

    pub(super) fn take(&self, id: &SessionId) -> Option<(DateTime<Utc>, ClosedSession)> {
        self.sessions.lock().remove(id)
    }

    pub(super) fn contains(&self, id: &SessionId) -> bool {
        self.sessions.lock().contains_key(id)
    }

    pub(super) fn deleted_before(&self, before: DateTime<Utc>) -> Vec<SessionId> {
        let sessions = self.sessions.lock();
        sessions.iter().filter(|(_, (at, _))| *at <= before).map(|(id, _)| id.clone()).collect()
    }
}
