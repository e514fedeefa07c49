//! Sessions of callers: the lock that allows one turn at a time (across all gateways that share the
//! session), the stored state, and expiry. `session_ids` derives the ids of sessions, `sharing`
//! loads and stores shared sessions.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak},
    time::Duration,
};

use chrono::{DateTime, Utc};
use contract::{AgentError, Reason, SessionId};
use engine::{
    VISITOR,
    ports::{Loaded, SessionValues},
};
use host::{AgeJudge, Host};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::sync::OwnedMutexGuard;

use crate::chat::{
    sharing::{self, Fetched, Held},
    state::State,
};

/// The session value that stores the gateway's own state.
const KEY: &str = "$gateway";
/// Session values that the caller sends with each message and that the host reads for tools.
pub(crate) const CLIENT_IP: &str = "clientIp";
pub(crate) const CONTEXT: &str = "context";
pub(crate) const STATUS_SEED: &str = "statusSeed";
/// How many lanes of sessions are kept before unused lanes are removed.
const LANES: usize = 1_024;
/// How many items are stored per session. Models see fewer items.
const ITEMS: u32 = 500;

/// How long the clean-up waits for a session with a running turn.
const SHORT_WAIT: Duration = Duration::from_millis(500);

/// A message that waited for earlier turns of its session. The customer sent the message before
/// seeing questions that were asked in the meantime. Times cannot show this, because gateways that
/// share a session have different clocks and a question is shown later than its action is stored.
#[derive(Debug, PartialEq)]
pub(crate) struct Waited {
    /// The question that was open when the message arrived, if any.
    pub(crate) asked: Option<String>,
}

/// The lock for turns of one session in this process.
#[derive(Default)]
struct Lane {
    turn: Weak<tokio::sync::Mutex<()>>,
    /// The question that was open when the newest turn in this process began.
    asked: Option<String>,
}

pub(crate) struct Sessions {
    ttl: Duration,
    lanes: Mutex<HashMap<SessionId, Lane>>,
    /// Sessions that could not be saved in the shared store after their turn.
    unsaved: Mutex<HashSet<SessionId>>,
}

impl Sessions {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self { ttl, lanes: Mutex::default(), unsaved: Mutex::default() }
    }

    /// Waits until the message may be answered, and returns whether it had to wait. Reads the open
    /// question before waiting, so that the message answers the question that its sender has seen.
    /// The question of a turn at another gateway is known only if it is already stored at that
    /// moment.
    pub(crate) async fn lock_for_message(
        &self,
        host: &Host,
        id: &SessionId,
    ) -> Result<(Held, Option<Waited>), AgentError> {
        let turn = self.turn_mutex(id);
        // The lock is first tried without waiting, because only a message that had to wait may
        // answer an older question.
        let Ok(here) = Arc::clone(&turn).try_lock_owned() else {
            let asked = self.lanes().get(id).and_then(|lane| lane.asked.clone());
            return Ok((
                lock_everywhere(host, id, turn.lock_owned().await).await?,
                Some(Waited { asked }),
            ));
        };
        let Some(shared) = host.shared_sessions() else {
            return Ok((Held::from_local_lock(here), None));
        };
        match Held::try_lock_everywhere(here, Arc::clone(shared), id.clone()).await? {
            Ok(held) => Ok((held, None)),
            Err(here) => {
                let asked = open_question(host, id).await;
                Ok((lock_everywhere(host, id, here).await?, Some(Waited { asked })))
            }
        }
    }

    fn lanes(&self) -> MutexGuard<'_, HashMap<SessionId, Lane>> {
        self.lanes.lock()
    }

    fn turn_mutex(&self, id: &SessionId) -> Arc<tokio::sync::Mutex<()>> {
        let mut lanes = self.lanes();
        if lanes.len() > LANES {
            // A lane in use must stay, because two turns of one session would run at the same time
            // otherwise.
            lanes.retain(|_, lane| lane.turn.strong_count() > 0);
        }
        let lane = lanes.entry(id.clone()).or_default();
        lane.turn.upgrade().unwrap_or_else(|| {
            let turn = Arc::default();
            lane.turn = Arc::downgrade(&turn);
            turn
        })
    }

    /// Locks a session for one turn. Other turns of the session wait, including turns at other
    /// gateways.
    pub(crate) async fn lock_session(
        &self,
        host: &Host,
        id: &SessionId,
    ) -> Result<Held, AgentError> {
        lock_everywhere(host, id, self.turn_mutex(id).lock_owned().await).await
    }

    /// Loads the newest state of a session from all gateways, together with its caller's values. An
    /// expired session counts as new. The caller must hold the session's lock.
    pub(crate) async fn load_state(
        &self,
        host: &Host,
        id: &SessionId,
        now_ms: i64,
    ) -> Result<(State, SessionValues), AgentError> {
        let found = newest_state(host, id, now_ms).await?;
        self.lanes().entry(id.clone()).or_default().asked = found.0.open.last_question().cloned();
        Ok(found)
    }

    /// Whether a loaded state belongs to a session without any stored data.
    pub(crate) fn is_new(state: &State) -> bool {
        *state == State::default()
    }

    /// Returns the first state of a new session. The state has an expiry time from the beginning,
    /// in case the first turn never ends.
    pub(crate) fn first_state(&self, now_ms: i64) -> (String, Option<Value>) {
        (
            KEY.to_owned(),
            Some(json!(State {
                saved_at: now_ms,
                expires_at: self.end_after(now_ms),
                ..State::default()
            })),
        )
    }

    fn end_after(&self, now_ms: i64) -> i64 {
        now_ms.saturating_add(i64::try_from(self.ttl.as_millis()).unwrap_or(i64::MAX))
    }

    /// Stores the state locally and, if sessions are shared, in the shared store.
    pub(crate) async fn save_state(
        &self,
        host: &Host,
        id: &SessionId,
        state: &mut State,
        now_ms: i64,
    ) -> Result<(), AgentError> {
        let engine = host.engine();
        let keep = async |state: &State| {
            engine.values.put(id, vec![(KEY.to_owned(), Some(json!(state)))]).await
        };
        (state.saved_at, state.expires_at) = (now_ms, self.end_after(now_ms));
        state.unshared = false;
        let Some(shared) = host.shared_sessions() else {
            state.rev.clear();
            return keep(state).await;
        };
        // The revision is random and not a counter, because two gateways that continue from the
        // same state must not create the same revision.
        state.rev = uuid::Uuid::new_v4().simple().to_string();
        keep(state).await?;
        let saved = sharing::store(host, shared.as_ref(), id, state).await;
        if saved.is_err() {
            // This is stored on disk, so that the next start saves the session in the shared store
            // if this process ends first.
            state.unshared = true;
            self.unsaved().insert(id.clone());
            keep(state).await?;
        } else {
            state.base.clone_from(&state.rev);
            self.unsaved().remove(id);
        }
        saved
    }

    fn unsaved(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.unsaved.lock()
    }

    /// Finds sessions that an earlier process could not save in the shared store.
    pub(crate) async fn find_unsaved(&self, host: &Host) -> Result<(), AgentError> {
        for id in host.engine().values.sessions_with(KEY).await? {
            if local_state(host, &id).await?.0.unshared {
                self.unsaved().insert(id);
            }
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Saves sessions in the shared store that could not be saved when their turns ended.
    pub(crate) async fn share_unsaved(&self, host: &Host) {
        let waiting: Vec<SessionId> = self.unsaved().iter().cloned().collect();
        for id in waiting {
            if let Err(error) = self.retry_share(host, &id).await {
                return tracing::debug!(%error, "sessions wait to be shared");
            }
            tokio::task::yield_now().await;
        }
    }

    /// Saves one session in the shared store. A session that is in use is skipped until the next
    /// attempt.
    async fn retry_share(&self, host: &Host, id: &SessionId) -> Result<(), AgentError> {
        let Ok(held) = tokio::time::timeout(SHORT_WAIT, self.lock_session(host, id)).await else {
            return Ok(());
        };
        let held = held?;
        let now_ms = host.now().timestamp_millis();
        let (mut state, _) = self.load_state(host, id, now_ms).await?;
        // Another turn may have saved the session in the meantime.
        let missing = !state.rev.is_empty() && state.rev != state.base;
        let shared =
            if missing { self.save_state(host, id, &mut state, now_ms).await } else { Ok(()) };
        if shared.is_ok() {
            self.unsaved().remove(id);
        }
        held.release().await;
        shared
    }
}

/// Locks the session in this process and in the shared store.
async fn lock_everywhere(
    host: &Host,
    id: &SessionId,
    here: OwnedMutexGuard<()>,
) -> Result<Held, AgentError> {
    match host.shared_sessions() {
        None => Ok(Held::from_local_lock(here)),
        Some(shared) => Held::lock_everywhere(here, Arc::clone(shared), id.clone()).await,
    }
}

async fn newest_state(
    host: &Host,
    id: &SessionId,
    now_ms: i64,
) -> Result<(State, SessionValues), AgentError> {
    let (state, values) = local_state(host, id).await?;
    if let Some(shared) = host.shared_sessions() {
        match sharing::fetch_session(host, shared.as_ref(), id, &state).await? {
            // The shared copy still exists, so the session has not expired, even if this computer's
            // clock says so.
            Fetched::Revision(found) => {
                let (state, values) = local_state(host, id).await?;
                return Ok((State { base: found, ..state }, values));
            }
            Fetched::Deleted => return clear_session(host, id).await,
            Fetched::Nothing => {}
        }
    }
    if state == State::default() {
        return Ok((state, values));
    }
    if state.expires_at > now_ms || !is_over(&state, host, &host.age_judge().await) {
        return Ok((State { base: String::new(), ..state }, values));
    }
    clear_session(host, id).await
}

/// Deletes the local data of a session that has ended. Returns the state of a new session.
async fn clear_session(host: &Host, id: &SessionId) -> Result<(State, SessionValues), AgentError> {
    // The caller can only repeat the message, because the session could not be deleted.
    delete_session(host, id).await.map_err(|error| {
        tracing::warn!(%error, "an ended session could not be cleared away");
        AgentError::internal(Reason::SessionsAway, "An ended session could not be cleared away.")
    })?;
    Ok((State::default(), SessionValues::default()))
}

/// Whether a session has expired. With a shared store, which expires sessions by its own clock, the
/// local clock needs no further check.
fn is_over(state: &State, host: &Host, judge: &AgeJudge) -> bool {
    if host.shared_sessions().is_some() {
        return state.expires_at <= host.now().timestamp_millis();
    }
    let at = |ms| DateTime::from_timestamp_millis(ms).unwrap_or(DateTime::<Utc>::MAX_UTC);
    judge.is_over(at(state.saved_at), at(state.expires_at))
}

/// Reads the local state of a session, even if it has expired.
async fn local_state(host: &Host, id: &SessionId) -> Result<(State, SessionValues), AgentError> {
    let mut values =
        host.engine().values.read(id, &[KEY, CLIENT_IP, CONTEXT, STATUS_SEED, VISITOR]).await?;
    let state =
        values.remove(KEY).and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default();
    Ok((state, values))
}

/// Returns the open question of a session, as stored at this moment.
async fn open_question(host: &Host, id: &SessionId) -> Option<String> {
    let (state, _) = local_state(host, id).await.ok()?;
    let Some(shared) = host.shared_sessions() else { return state.open.last_question().cloned() };
    match shared.load(id, &[&state.rev, &state.base]).await.ok()? {
        Loaded::Nothing | Loaded::Deleted => None,
        Loaded::Known(_) => state.open.last_question().cloned(),
        Loaded::Other(image) => serde_json::from_value::<State>(image.values.get(KEY)?.clone())
            .ok()?
            .open
            .last_question()
            .cloned(),
    }
}

/// Deletes a session and its pending actions, but not the log.
async fn delete_session(host: &Host, id: &SessionId) -> Result<(), AgentError> {
    match host.engine().sessions.expire(id, host.shared_sessions().map(AsRef::as_ref)).await {
        // This session has values but no messages.
        Err(error) if error.has_reason(Reason::NotFound) => host.engine().values.clear(id).await,
        other => other,
    }
}

/// Returns the number of sessions that have not expired.
pub(crate) async fn count_sessions(host: &Host) -> usize {
    host.engine().values.sessions_with(KEY).await.map_or(0, |sessions| sessions.len())
}

/// Deletes the local data of expired sessions, and the oldest items of long sessions.
pub(crate) async fn delete_expired(sessions: &Sessions, host: &Host) {
    let engine = host.engine();
    if let Err(error) = engine.sessions.trim_items(KEY, ITEMS).await {
        tracing::warn!(%error, "long sessions could not be cut");
    }
    let found = match engine.values.sessions_with(KEY).await {
        Ok(found) => found,
        Err(error) => return tracing::warn!(%error, "sessions could not be looked through"),
    };
    let judge = host.age_judge().await;
    for id in found {
        if let Err(error) = sweep_one(sessions, host, &judge, &id).await {
            tracing::warn!(%error, "an ended session could not be cleared away");
        }
        // There may be very many sessions, so other turns may run in between.
        tokio::task::yield_now().await;
    }
}

async fn sweep_one(
    sessions: &Sessions,
    host: &Host,
    judge: &AgeJudge,
    id: &SessionId,
) -> Result<(), AgentError> {
    let over = async || Ok::<_, AgentError>(is_over(&local_state(host, id).await?.0, host, judge));
    if !over().await? {
        return Ok(());
    }
    // A turn is running in the session, so the session is still in use.
    let Ok(held) = tokio::time::timeout(SHORT_WAIT, sessions.lock_session(host, id)).await else {
        return Ok(());
    };
    let held = held?;
    if over().await? {
        delete_session(host, id).await?;
    }
    held.release().await;
    Ok(())
}
