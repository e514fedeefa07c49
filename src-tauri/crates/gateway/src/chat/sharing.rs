//! Locks, loads and stores a session that several gateways share. One gateway holds the session at
//! a time, loads it before a turn and stores it after the turn. If the shared store is unreachable,
//! the result of a turn stays local and is saved later, unless another gateway has continued the
//! session meanwhile.

use std::{sync::Arc, time::Duration};

use contract::{AgentError, Reason, SessionId};
use engine::ports::{Loaded, SharedSessions, StoreError};
use host::Host;
use tokio::{runtime::Handle, sync::OwnedMutexGuard, task::JoinHandle};

use crate::chat::state::State;

/// How often the holder extends its lock, which must be a fraction of the lock's lifetime.
const RENEWAL: Duration = Duration::from_secs(3);
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_millis(150);

/// A session that is locked for the current turn.
pub(crate) struct Held {
    _here: OwnedMutexGuard<()>,
    there: Option<There>,
}

struct There {
    shared: Arc<dyn SharedSessions>,
    session: SessionId,
    holder: String,
    renewing: Option<JoinHandle<()>>,
    released: bool,
}

impl Held {
    /// Locks the session in this process only.
    pub(crate) fn from_local_lock(here: OwnedMutexGuard<()>) -> Self {
        Self { _here: here, there: None }
    }

    /// Locks the session in this process and in the shared store without waiting. If another
    /// gateway has the shared lock, returns the local lock.
    pub(crate) async fn try_lock_everywhere(
        here: OwnedMutexGuard<()>,
        shared: Arc<dyn SharedSessions>,
        session: SessionId,
    ) -> Result<Result<Self, OwnedMutexGuard<()>>, AgentError> {
        let mut there = There::new(shared, session);
        there.released = !there.try_lock().await?;
        Ok(if there.released { Err(here) } else { Ok(Self::with_renewal(here, there)) })
    }

    fn with_renewal(here: OwnedMutexGuard<()>, mut there: There) -> Self {
        there.renewing = Some(tokio::spawn(keep_renewing(
            Arc::clone(&there.shared),
            there.session.clone(),
            there.holder.clone(),
        )));
        Self { _here: here, there: Some(there) }
    }

    /// Locks the session in this process and in the shared store. Waits while another gateway holds
    /// the lock. Dropping the future releases the lock.
    pub(crate) async fn lock_everywhere(
        here: OwnedMutexGuard<()>,
        shared: Arc<dyn SharedSessions>,
        session: SessionId,
    ) -> Result<Self, AgentError> {
        let there = There::new(shared, session);
        let mut wait = FIRST_WAIT;
        while !there.try_lock().await? {
            tokio::time::sleep(wait).await;
            // The pauses grow, because a turn can take long and many waiting gateways would keep
            // Redis busy.
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        Ok(Self::with_renewal(here, there))
    }

    /// Releases the locks.
    pub(crate) async fn release(mut self) {
        if let Some(there) = &mut self.there {
            // The renewal must end first, because a renewal after the release would take the lock
            // again.
            there.renewing.take().inspect(JoinHandle::abort);
            there.released = true;
            if let Err(error) = there.shared.unlock(&there.session, &there.holder).await {
                tracing::debug!(%error, "a session's lock runs out by itself");
            }
        }
    }
}

impl There {
    /// Makes the shared lock's handle before taking the lock, so that the lock is released even if
    /// the reply to the lock request gets lost.
    fn new(shared: Arc<dyn SharedSessions>, session: SessionId) -> Self {
        Self {
            shared,
            session,
            holder: uuid::Uuid::new_v4().to_string(),
            renewing: None,
            released: false,
        }
    }

    async fn try_lock(&self) -> Result<bool, AgentError> {
        self.shared
            .lock(&self.session, &self.holder)
            .await
            .map_err(|error| unavailable_error(&error))
    }
}

impl Drop for There {
    fn drop(&mut self) {
        self.renewing.take().inspect(JoinHandle::abort);
        let Ok(runtime) = Handle::try_current() else { return };
        if self.released {
            return;
        }
        let (shared, session, holder) =
            (Arc::clone(&self.shared), self.session.clone(), self.holder.clone());
        // If the release fails, the lock expires later.
        runtime.spawn(async move { shared.unlock(&session, &holder).await });
    }
}

/// Extends a lock repeatedly. If this gateway was unreachable for too long, another gateway may
/// have taken the lock; then the shared store refuses the images and approvals of this gateway.
async fn keep_renewing(shared: Arc<dyn SharedSessions>, session: SessionId, holder: String) {
    loop {
        tokio::time::sleep(RENEWAL).await;
        match shared.lock(&session, &holder).await {
            Ok(true) => {}
            Ok(false) => tracing::warn!("a session is held by another gateway, too"),
            Err(error) => tracing::debug!(%error, "a session's lock could not be renewed"),
        }
    }
}

/// The shared copy of a session.
pub(crate) enum Fetched {
    /// No copy exists.
    Nothing,
    /// The session was deleted in another process.
    Deleted,
    /// The copy has this revision, and so has the local session.
    Revision(String),
}

/// Replaces the local session with the shared copy if the copy is newer.
pub(crate) async fn fetch_session(
    host: &Host,
    shared: &dyn SharedSessions,
    id: &SessionId,
    state: &State,
) -> Result<Fetched, AgentError> {
    let engine = host.engine();
    let found = match shared
        .load(id, &[&state.rev, &state.base])
        .await
        .map_err(|error| unavailable_error(&error))?
    {
        Loaded::Nothing => Fetched::Nothing,
        Loaded::Deleted => Fetched::Deleted,
        Loaded::Known(rev) => Fetched::Revision(rev),
        Loaded::Other(image) => {
            engine.sessions.import_image(&image).await?;
            Fetched::Revision(image.rev)
        }
    };
    engine.sessions.reconcile(id, shared).await?;
    Ok(found)
}

/// Stores the session's current state in the shared store.
pub(crate) async fn store(
    host: &Host,
    shared: &dyn SharedSessions,
    id: &SessionId,
    state: &State,
) -> Result<(), AgentError> {
    let image = host.engine().sessions.image(id, state.rev.clone()).await?;
    // The image is saved only if the shared state is still the state that this turn began with,
    // because another gateway may have continued from that state.
    if shared.save(&image, &state.base).await.map_err(|error| unavailable_error(&error))? {
        return Ok(());
    }
    tracing::warn!(
        "a session went on at another gateway meanwhile; what was said here is not kept"
    );
    Err(AgentError::internal(Reason::SessionsAway, "The session went on elsewhere."))
}

fn unavailable_error(error: &StoreError) -> AgentError {
    tracing::warn!(%error, "sessions");
    AgentError::internal(Reason::SessionsAway, "The sessions cannot be reached at the moment.")
}
