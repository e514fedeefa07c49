//! Named values stored with a session, written by its caller, by hosts and by the engine. Only the
//! code that stores a value knows its name.

use contract::{AgentError, SessionId};
use serde_json::Value;

use crate::{
    Engine,
    ports::{SessionValues, ValueChanges},
};

impl Engine {
    /// Returns the session's values with these names.
    pub async fn values_of(
        &self,
        session: &SessionId,
        names: &[&str],
    ) -> Result<SessionValues, AgentError> {
        self.world.store.session_values_of(session, names).await.map_err(AgentError::from)
    }

    /// Stores these values. A value of None is deleted.
    pub async fn values_put(
        &self,
        session: &SessionId,
        changes: ValueChanges,
    ) -> Result<(), AgentError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.world.store.session_values_put(session, changes).await.map_err(AgentError::from)
    }

    /// Reads, changes and writes back one value. No other task writes the session's values
    /// meanwhile.
    pub async fn value_change(
        &self,
        session: &SessionId,
        name: &str,
        change: impl FnOnce(Option<Value>) -> Option<Value> + Send,
    ) -> Result<(), AgentError> {
        let _one_at_a_time = self.values.lock(session).await;
        let before = self.values_of(session, &[name]).await?.remove(name);
        let after = change(before.clone());
        if after == before {
            Ok(())
        } else {
            self.values_put(session, vec![(name.to_owned(), after)]).await
        }
    }

    /// Deletes all values of a session.
    pub async fn values_clear(&self, session: &SessionId) -> Result<(), AgentError> {
        let all = self.world.store.session_values(session).await?;
        self.values_put(session, all.into_iter().map(|(name, _)| (name, None)).collect()).await
    }

    /// Returns the sessions that have a value with this name.
    pub async fn sessions_with(&self, name: &str) -> Result<Vec<SessionId>, AgentError> {
        self.world.store.sessions_with_value(name).await.map_err(AgentError::from)
    }
}
