//! Named values stored with a session, written by its caller, by hosts and by the engine. Only the
//! code that stores a value knows its name.

use std::sync::Arc;

use contract::{AgentError, SessionId};
use serde_json::Value;
use tokio::sync::MutexGuard;

use crate::{
    ports::{SessionValues, Store, ValueChanges, World},
    turn::locks::Locks,
};

/// The named values of sessions.
pub struct StoredValues {
    store: Arc<dyn Store>,
    /// The locks under which values are read, changed and written back.
    locks: Locks,
}

impl StoredValues {
    pub(crate) fn new(world: &World) -> Self {
        Self { store: Arc::clone(&world.store), locks: Locks::default() }
    }

    /// Locks the values of a session. No other task changes them until the guard is dropped.
    pub(crate) async fn lock(&self, session: &SessionId) -> MutexGuard<'_, ()> {
        self.locks.lock(session).await
    }

    /// Returns the session's values with these names.
    pub async fn read(
        &self,
        session: &SessionId,
        names: &[&str],
    ) -> Result<SessionValues, AgentError> {
        self.store.session_values_of(session, names).await.map_err(AgentError::from)
    }

    /// Stores these values. A value of `None` is deleted.
    pub async fn put(&self, session: &SessionId, changes: ValueChanges) -> Result<(), AgentError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.store.session_values_put(session, changes).await.map_err(AgentError::from)
    }

    /// Reads, changes and writes back a value. No other task writes the session's values in the
    /// meantime.
    pub async fn change(
        &self,
        session: &SessionId,
        name: &str,
        change: impl FnOnce(Option<Value>) -> Option<Value> + Send,
    ) -> Result<(), AgentError> {
        let _one_at_a_time = self.lock(session).await;
        let before = self.read(session, &[name]).await?.remove(name);
        let after = change(before.clone());
        if after == before {
            Ok(())
        } else {
            self.put(session, vec![(name.to_owned(), after)]).await
        }
    }

    /// Deletes all values of a session.
    pub async fn clear(&self, session: &SessionId) -> Result<(), AgentError> {
        let all = self.store.session_values(session).await?;
        self.put(session, all.into_iter().map(|(name, _)| (name, None)).collect()).await
    }

    /// Returns the sessions that have a value with this name.
    pub async fn sessions_with(&self, name: &str) -> Result<Vec<SessionId>, AgentError> {
        self.store.sessions_with_value(name).await.map_err(AgentError::from)
    }
}
