//! Sessions of callers: their names in the engine, one turn at a time each, what is kept beside them, and when they end.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use contract::{AgentError, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::OwnedMutexGuard;

use crate::App;

/// Where the gateway's own things are kept among a session's values.
const KEY: &str = "$gateway";
/// Names of locks that are kept before those without a holder are cleared away.
const LOCKS: usize = 1_024;

/// What the gateway keeps of a session between turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct State {
    /// Milliseconds since the epoch.
    pub(crate) expires_at: i64,
    /// The cart as it was shown last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cart: Option<Value>,
    /// Choices that the next message may answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) choices: Option<Value>,
    /// The newest message confirmed a change: a repeat of it confirms nothing more.
    pub(crate) confirmed: bool,
    /// The answer to that message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<Value>,
}

pub(crate) struct Sessions {
    ttl: Duration,
    locks: Mutex<HashMap<SessionId, Weak<tokio::sync::Mutex<()>>>>,
}

/// The engine's name of a caller's session. Both parts may hold a colon, so the first one's are written otherwise.
pub(crate) fn id_of(application: &str, session: &str) -> SessionId {
    SessionId::new(format!("{}:{session}", application.replace('%', "%25").replace(':', "%3A")))
}

impl Sessions {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self { ttl, locks: Mutex::default() }
    }

    /// One turn at a time; the others of the session wait here.
    pub(crate) async fn lock(&self, id: &SessionId) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            if locks.len() > LOCKS {
                locks.retain(|_, lock| lock.strong_count() > 0);
            }
            let known = locks.get(id).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::new(tokio::sync::Mutex::new(()));
                locks.insert(id.clone(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }

    /// What is kept of a session; one whose time is over is gone.
    pub(crate) async fn load(&self, app: &App, id: &SessionId, now_ms: i64) -> Result<State, AgentError> {
        let engine = app.host.engine();
        let values = engine.values_change(id, |_| ()).await?;
        let Some(kept) = values.get(KEY) else { return Ok(State::default()) };
        let state: State = serde_json::from_value(kept.clone()).unwrap_or_default();
        if state.expires_at > now_ms {
            return Ok(state);
        }
        forget(app, id).await?;
        Ok(State::default())
    }

    pub(crate) async fn save(&self, app: &App, id: &SessionId, state: &State, now_ms: i64) -> Result<(), AgentError> {
        let expires_at = now_ms.saturating_add(i64::try_from(self.ttl.as_millis()).unwrap_or(i64::MAX));
        let kept = json!(State { expires_at, ..state.clone() });
        app.host.engine().values_change(id, |values| drop(values.insert(KEY.into(), kept))).await.map(drop)
    }
}

/// Deletes a session with what waits in it. The log stays.
async fn forget(app: &App, id: &SessionId) -> Result<(), AgentError> {
    match app.host.engine().session_delete(id).await {
        // Only values were kept, without a message.
        Err(error) if error.reason_text() == Some("not_found") => app.host.engine().values_change(id, |values| values.clear()).await.map(drop),
        other => other,
    }
}

/// Deletes all sessions whose time is over.
pub(crate) async fn sweep(app: &App) {
    let sessions = match app.host.engine().sessions_with(KEY).await {
        Ok(sessions) => sessions,
        Err(error) => return tracing::warn!(%error, "sessions could not be looked through"),
    };
    for id in sessions {
        let _lock = app.sessions.lock(&id).await;
        let now_ms = chrono::Utc::now().timestamp_millis();
        if let Err(error) = app.sessions.load(app, &id, now_ms).await {
            tracing::warn!(%error, "a session could not be cleared away");
        }
    }
}
