//! Creates summaries of sessions for lists, with the running turn and the pending actions.

use std::sync::Arc;

use contract::{Push, SessionId, SessionSummary};

use crate::{
    ports::{Events, Store, StoreError, World},
    turn::lanes::Lanes,
};

/// Creates the summaries of sessions, and sends them to the windows.
pub(crate) struct Summaries {
    store: Arc<dyn Store>,
    events: Arc<dyn Events>,
    lanes: Arc<Lanes>,
}

impl Summaries {
    pub(crate) fn new(world: &World, lanes: &Arc<Lanes>) -> Self {
        Self {
            store: Arc::clone(&world.store),
            events: Arc::clone(&world.events),
            lanes: Arc::clone(lanes),
        }
    }

    /// Returns the summary of a session. Returns none if the session does not exist.
    pub(crate) async fn of(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError> {
        let Some(mut summary) = self.store.session(id).await? else { return Ok(None) };
        self.fill(std::slice::from_mut(&mut summary)).await?;
        Ok(Some(summary))
    }

    /// Adds the current state of the sessions to stored summaries.
    pub(crate) async fn fill(&self, summaries: &mut [SessionSummary]) -> Result<(), StoreError> {
        let waiting = self.store.approvals(false).await?;
        for summary in summaries {
            summary.running = self.lanes.running(&summary.id).is_some();
            let count = waiting.iter().filter(|approval| approval.session == summary.id).count();
            summary.waiting_approvals = u32::try_from(count).unwrap_or(u32::MAX);
        }
        Ok(())
    }

    /// Sends the summary of a session to the windows.
    pub(crate) async fn push(&self, session: &SessionId) {
        if !self.events.has_listeners() {
            return;
        }
        if let Ok(Some(summary)) = self.of(session).await {
            self.events.push(Push::Session { summary });
        }
    }
}
