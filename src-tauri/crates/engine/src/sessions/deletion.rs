//! Deletes, erases and expires sessions. A session accepts no messages during its deletion. The
//! values of its audit records are not erased here.

use contract::{AgentError, ApprovalStatus, Push, SessionId, Transition};
use tokio::sync::OwnedMutexGuard;

use crate::{
    ports::{Loaded, SharedSessions, StoreError},
    sessions::reading::Sessions,
    texts::Text,
    turn::lanes::{ClosedLane, closed_error},
};

/// A session that accepts no messages and runs no actions until this value is dropped.
pub struct ClosedSession {
    _lane: ClosedLane,
    _effects: OwnedMutexGuard<()>,
}

impl Sessions {
    /// Deletes a session and its items. Its audit records are kept. Its pending approvals are
    /// cancelled.
    pub async fn delete(&self, id: &SessionId) -> Result<(), AgentError> {
        let _closed = self.close_session(id)?;
        self.end_open_approvals(id, |status| {
            (status == ApprovalStatus::Pending)
                .then_some((ApprovalStatus::Cancelled, Text::SessionDeleted))
        })
        .await?;
        self.delete_session_data(id, self.shared.world.store.session_delete(id)).await
    }

    /// Erases a session with its items, also from the copies of the database. Its pending approvals
    /// are cancelled. The caller must erase the values of its audit records. Until then, the
    /// returned value keeps the session closed.
    pub async fn erase(&self, id: &SessionId) -> Result<ClosedSession, AgentError> {
        let closed = self.close_session(id)?;
        self.end_open_approvals(id, |status| {
            (status == ApprovalStatus::Pending)
                .then_some((ApprovalStatus::Cancelled, Text::SessionDeleted))
        })
        .await?;
        self.delete_session_data(id, self.shared.world.store.session_erase(id)).await?;
        Ok(closed)
    }

    /// Closes a session before its deletion. The session accepts no messages until the result is
    /// dropped.
    fn close_session(&self, id: &SessionId) -> Result<ClosedSession, AgentError> {
        let lane =
            self.shared.lanes.close(id).ok_or_else(|| match self.shared.lanes.is_closed(id) {
                true => closed_error(),
                false => answered_error(),
            })?;
        let effects =
            self.shared.lanes.effects(id).try_lock_owned().map_err(|_| action_runs_error())?;
        Ok(ClosedSession { _lane: lane, _effects: effects })
    }

    /// Deletes the local data of an expired session. Its pending approvals expire, unless another
    /// process continues the session. Effects that began but did not finish are recorded with the
    /// outcome "unknown".
    pub async fn expire(
        &self,
        id: &SessionId,
        shared: Option<&dyn SharedSessions>,
    ) -> Result<(), AgentError> {
        let _quiet = self.lock_idle_session(id)?;
        let mut goes_on = false;
        if let Some(shared) = shared {
            self.reconcile(id, shared).await?;
            goes_on = !matches!(shared.load(id, &[]).await?, Loaded::Nothing);
        }
        if !goes_on {
            self.end_open_approvals(id, |status| {
                Some(match status {
                    ApprovalStatus::Executing => (ApprovalStatus::Failed, Text::UnknownOutcome),
                    ApprovalStatus::Approved => (ApprovalStatus::Expired, Text::ApprovalDied),
                    ApprovalStatus::Pending
                    | ApprovalStatus::Done
                    | ApprovalStatus::Failed
                    | ApprovalStatus::Rejected
                    | ApprovalStatus::Cancelled
                    | ApprovalStatus::Superseded
                    | ApprovalStatus::Expired => (ApprovalStatus::Expired, Text::ApprovalExpired),
                })
            })
            .await?;
        }
        self.delete_session_data(id, self.shared.world.store.session_delete(id)).await
    }

    /// Locks the session's effects. Fails while a turn or an action of the session runs. While the
    /// returned guard exists, no action begins.
    fn lock_idle_session(&self, id: &SessionId) -> Result<OwnedMutexGuard<()>, AgentError> {
        if self.shared.lanes.running(id).is_some() {
            return Err(answered_error());
        }
        self.shared.lanes.effects(id).try_lock_owned().map_err(|_| action_runs_error())
    }

    /// Ends all open approvals of a session and records how each one ended, before their rows are
    /// deleted. `end` maps the current status to the new one. Fails if `end` returns None for an
    /// approval.
    async fn end_open_approvals(
        &self,
        id: &SessionId,
        end: impl Fn(ApprovalStatus) -> Option<(ApprovalStatus, Text)>,
    ) -> Result<(), AgentError> {
        let all = self.shared.world.store.approvals_of(id, u32::MAX).await?;
        let locale = self.shared.world.profile.locale();
        for approval in all.iter().filter(|approval| !approval.status.is_final()) {
            let ended = match end(approval.status) {
                Some((how, why)) => {
                    self.approvals
                        .services
                        .transitions
                        .make(
                            approval,
                            Transition { from: approval.status, to: how },
                            Some(why.in_locale(&locale)),
                        )
                        .await
                }
                None => false,
            };
            if !ended {
                return Err(action_runs_error());
            }
        }
        Ok(())
    }

    async fn delete_session_data(
        &self,
        id: &SessionId,
        deleted: impl Future<Output = Result<(), StoreError>> + Send,
    ) -> Result<(), AgentError> {
        self.conversation.memory.delete(deleted).await?;
        self.memories.index.prepare_again().await;
        self.shared.lanes.forget(id);
        self.conversation.egress.forget(id);
        self.shared.traces.forget(id);
        self.shared.world.events.push(Push::SessionDeleted { session: id.clone() });
        Ok(())
    }
}

fn answered_error() -> AgentError {
    AgentError::invalid("This session is being answered right now.")
        .hint("Stop the turn first, then delete the session.")
}

fn action_runs_error() -> AgentError {
    AgentError::invalid("An approved action of this session runs right now.")
        .hint("Delete the session when it has ended.")
}
