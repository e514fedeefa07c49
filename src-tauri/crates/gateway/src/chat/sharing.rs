//! A session between gateways that share it: held by one at a time, fetched before a turn, stored
//! behind it. What came of a turn while the shared place was away stays here and goes there later,
//! unless another gateway has gone on meanwhile.

use std::{sync::Arc, time::Duration};

use contract::{AgentError, SessionId};
use engine::ports::{Loaded, SharedSessions, StoreError};
use host::Host;
use tokio::{runtime::Handle, sync::OwnedMutexGuard, task::JoinHandle};

use crate::chat::state::State;

/// How often a holder says that it still is; a fraction of how long a lock lasts by itself.
const RENEWAL: Duration = Duration::from_secs(3);
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_millis(150);

/// A session that nobody else answers in.
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
    /// Held in this process.
    pub(crate) fn here(here: OwnedMutexGuard<()>) -> Self {
        Self { _here: here, there: None }
    }

    /// Held in this process and before all others; while somebody else holds it, in this process
    /// alone.
    pub(crate) async fn everywhere_at_once(
        here: OwnedMutexGuard<()>,
        shared: Arc<dyn SharedSessions>,
        session: SessionId,
    ) -> Result<Result<Self, OwnedMutexGuard<()>>, AgentError> {
        let mut there = There::of(shared, session);
        there.released = !there.take().await?;
        Ok(if there.released { Err(here) } else { Ok(Self::of(here, there)) })
    }

    fn of(here: OwnedMutexGuard<()>, mut there: There) -> Self {
        there.renewing = Some(tokio::spawn(renew(
            Arc::clone(&there.shared),
            there.session.clone(),
            there.holder.clone(),
        )));
        Self { _here: here, there: Some(there) }
    }

    /// Held in this process and before all others. Waits for who holds it; dropped meanwhile, it
    /// lets go.
    pub(crate) async fn everywhere(
        here: OwnedMutexGuard<()>,
        shared: Arc<dyn SharedSessions>,
        session: SessionId,
    ) -> Result<Self, AgentError> {
        let there = There::of(shared, session);
        let mut wait = FIRST_WAIT;
        while !there.take().await? {
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        Ok(Self::of(here, there))
    }

    /// Lets the next one in, wherever it waits.
    pub(crate) async fn release(mut self) {
        if let Some(there) = &mut self.there {
            there.renewing.take().inspect(JoinHandle::abort);
            there.released = true;
            if let Err(error) = there.shared.unlock(&there.session, &there.holder).await {
                tracing::debug!(%error, "a session's lock runs out by itself");
            }
        }
    }
}

impl There {
    /// Made before it is taken: a lock whose reply nobody hears any more is given back all the
    /// same.
    fn of(shared: Arc<dyn SharedSessions>, session: SessionId) -> Self {
        Self {
            shared,
            session,
            holder: uuid::Uuid::new_v4().to_string(),
            renewing: None,
            released: false,
        }
    }

    async fn take(&self) -> Result<bool, AgentError> {
        self.shared.lock(&self.session, &self.holder).await.map_err(|error| away(&error))
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
        // When it fails the lock runs out by itself.
        runtime.spawn(async move { shared.unlock(&session, &holder).await });
    }
}

/// Holds a lock for longer than it lasts by itself. A holder that was away for too long may find
/// another in its place: then what it stores is refused, and an approval that it decides, too.
async fn renew(shared: Arc<dyn SharedSessions>, session: SessionId, holder: String) {
    loop {
        tokio::time::sleep(RENEWAL).await;
        match shared.lock(&session, &holder).await {
            Ok(true) => {}
            Ok(false) => tracing::warn!("a session is held by another gateway, too"),
            Err(error) => tracing::debug!(%error, "a session's lock could not be renewed"),
        }
    }
}

/// Takes over the session when it is newer elsewhere. Gives the state that is shared now; nothing:
/// none is.
pub(crate) async fn fetch(
    host: &Host,
    shared: &dyn SharedSessions,
    id: &SessionId,
    state: &State,
) -> Result<Option<String>, AgentError> {
    let engine = host.engine();
    let found =
        match shared.load(id, &[&state.rev, &state.base]).await.map_err(|error| away(&error))? {
            Loaded::Nothing => None,
            Loaded::Known(rev) => Some(rev),
            Loaded::Other(image) => {
                engine.session_adopt(&image).await?;
                Some(image.rev)
            }
        };
    engine.session_settle(id, shared).await?;
    Ok(found)
}

/// Stores the session as it is now.
pub(crate) async fn store(
    host: &Host,
    shared: &dyn SharedSessions,
    id: &SessionId,
    state: &State,
) -> Result<(), AgentError> {
    let image = host.engine().session_image(id, state.rev.clone()).await?;
    if shared.save(&image, &state.base).await.map_err(|error| away(&error))? {
        return Ok(());
    }
    tracing::warn!(
        "a session went on at another gateway meanwhile; what was said here is not kept"
    );
    Err(AgentError::internal("sessions_away", "The session went on elsewhere."))
}

fn away(error: &StoreError) -> AgentError {
    tracing::warn!(%error, "sessions");
    AgentError::internal("sessions_away", "The sessions cannot be reached at the moment.")
}
