//! Deletes, erases and expires sessions. A session accepts no messages during its deletion. The
//! values of its audit records are not erased here.
//!
//! A deletion that can be undone hides the session on disk and keeps it closed. Its data is deleted
//! when the time is over, when the profile is closed, or at the next start. So a deletion that was
//! confirmed holds after a crash, and so does a confirmed undo.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{
    AgentError, ApprovalStatus, Push, Reason, RecordType, SessionId, Transition, TurnId,
};

use tokio::sync::OwnedMutexGuard;

use crate::{
    ports::{Loaded, RecordDraft, SharedSessions, StoreError, VersionChange},
    sessions::{closed::ClosedSession, reading::Sessions},
    texts::Text,
    turn::lanes::{Closing, busy_error},
};

const ACTION_RUNS: &str = "An approved action of this session runs right now.";

/// The seconds in which a deletion can be undone.
pub const UNDO_SECONDS: u32 = 30;

impl Sessions {
    /// Deletes a session and its items. Its audit records are kept. Its pending approvals are
    /// cancelled.
    pub async fn delete(&self, id: &SessionId) -> Result<(), AgentError> {
        let _closed = self.close_session(id, Closing::Deletion).await?;
        self.cancel_pending_approvals(id).await?;
        let is_recorded = self.record_deletion(id).await?;
        let deleted = self.delete_session_data(id, self.delete_everywhere(id)).await;
        if is_recorded && deleted.is_err() {
            self.correct_record(id, "restored").await;
        }
        deleted
    }

    /// Deletes a session like `delete`, but only hides it for `UNDO_SECONDS`. Its pending approvals
    /// stay cancelled if the deletion is undone.
    pub async fn delete_undoably(&self, id: &SessionId) -> Result<(), AgentError> {
        let closed = self.close_session(id, Closing::Deletion).await?;
        self.cancel_pending_approvals(id).await?;
        let is_recorded = self.record_deletion(id).await?;
        let at = self.shared.world.clock.now();
        // The session stays closed even if the caller does not wait for the answer.
        self.undoable.put(id, at, closed);
        if let Err(error) = self.shared.world.store.session_hide(id, at).await {
            let _closed = self.undoable.take(id);
            if is_recorded {
                self.correct_record(id, "restored").await;
            }
            return Err(error.into());
        }
        self.shared.world.events.push(Push::SessionDeleted { session: id.clone() });
        Ok(())
    }

    /// Undoes the deletion of a session. Fails if its data is deleted already.
    pub async fn restore(&self, id: &SessionId) -> Result<(), AgentError> {
        let (at, closed) = self.undoable.take(id).ok_or_else(|| {
            AgentError::invalid("This session is deleted for good.").reason(Reason::NotFound)
        })?;
        let restored = async {
            self.record_session_change(id, "restored").await?;
            self.shared.world.store.session_restore(id).await.map_err(AgentError::from)
        };
        if let Err(error) = restored.await {
            if !error.has_reason(Reason::AuditUnavailable) {
                self.correct_record(id, "deleted").await;
            }
            self.undoable.put(id, at, closed);
            return Err(error);
        }
        drop(closed);
        self.shared.summaries.push(id).await;
        Ok(())
    }

    /// Deletes the data of the sessions and messages whose deletion can no longer be undone. A failed
    /// deletion is tried again.
    pub async fn finish_due_deletions(&self) {
        let until = self.shared.world.clock.now() - TimeDelta::seconds(i64::from(UNDO_SECONDS));
        self.finish_deletions(until).await;
        self.finish_turn_deletions(Some(until)).await;
    }

    /// Deletes the data of all hidden sessions of this process and of all deleted messages, before
    /// its end.
    pub async fn finish_all_deletions(&self) {
        self.finish_deletions(DateTime::<Utc>::MAX_UTC).await;
        self.finish_turn_deletions(None).await;
    }

    async fn finish_deletions(&self, before: DateTime<Utc>) {
        for id in self.undoable.deleted_before(before) {
            let Some((at, closed)) = self.undoable.take(&id) else { continue };
            let deleted = async {
                match self.delete_everywhere(&id).await {
                    // An erasure that failed later has deleted the rows.
                    Ok(()) | Err(StoreError::NotFound(_)) => Ok(()),
                    Err(error) => Err(error),
                }
            };
            if let Err(error) = self.delete_session_data(&id, deleted).await {
                tracing::warn!(message = error.message, "a deletion could not be finished");
                self.undoable.put(&id, at, closed);
            }
        }
    }

    /// Deletes the data of sessions and messages that an earlier process hid. Must run before any
    /// turn.
    pub async fn finish_earlier_deletions(&self) -> Result<(), AgentError> {
        for id in self.shared.world.store.sessions_hidden().await? {
            if self.undoable.contains(&id) {
                continue;
            }
            let deleted = async {
                // The process may have ended between the record of an undo and the undo.
                self.record_session_change(&id, "deleted").await?;
                self.delete_session_data(&id, self.delete_everywhere(&id)).await
            };
            // The shared store of one session may be away.
            if let Err(error) = deleted.await {
                tracing::warn!(message = error.message, "a deletion could not be finished");
            }
        }
        self.finish_turn_deletions(None).await;
        Ok(())
    }

    /// Shows again the sessions and messages that a copy of the database has hidden, although the log
    /// says that their deletion was undone. Must run before deletions are finished.
    pub async fn repeat_restorations(
        &self,
        sessions: &BTreeSet<SessionId>,
        turns: &BTreeSet<(SessionId, TurnId)>,
    ) -> Result<(), AgentError> {
        let (store, now) = (&self.shared.world.store, self.shared.world.clock.now());
        for id in store.sessions_hidden().await? {
            if sessions.contains(&id) {
                store.session_restore(&id).await?;
            }
        }
        for deleted in store.turns_deleted(None).await? {
            if turns.contains(&deleted) {
                let (session, turn) = deleted;
                let _ = store.version_change(&session, &VersionChange::Restore(turn), now).await?;
            }
        }
        Ok(())
    }

    /// Deletes sessions for good that a copy of the database has again. The log has the times of
    /// their deletion. A session that was used later stays: it is another one of the same name, or its
    /// deletion was recorded but not made. Must run before anything is stored in a session.
    pub async fn repeat_session_deletions(
        &self,
        deleted: &BTreeMap<SessionId, DateTime<Utc>>,
    ) -> Result<(), AgentError> {
        let store = &self.shared.world.store;
        for (id, at) in deleted {
            let found = store.session(id).await?;
            if found.is_some_and(|session| session.updated_at <= *at) {
                self.delete_session_data(id, store.session_delete(id)).await?;
            }
        }
        Ok(())
    }

    /// Deletes the rows of a session, and first the copy that other processes share: they would
    /// continue the session.
    async fn delete_everywhere(&self, id: &SessionId) -> Result<(), StoreError> {
        let store = &self.shared.world.store;
        store.session_unshare(id).await?;
        store.session_delete(id).await
    }

    /// Records the deletion of a session, unless it is not stored. Returns whether it was recorded.
    async fn record_deletion(&self, id: &SessionId) -> Result<bool, AgentError> {
        let is_stored = self.shared.world.store.session(id).await?.is_some();
        if is_stored {
            self.record_session_change(id, "deleted").await?;
        }
        Ok(is_stored)
    }

    /// Records a deletion or its undo before it is made, so that it can be repeated in a copy of the
    /// database.
    async fn record_session_change(&self, id: &SessionId, action: &str) -> Result<(), AgentError> {
        let mut draft = RecordDraft::new(RecordType::SessionChanged).field("action", action);
        draft.session = Some(id.clone());
        self.record_change(draft).await
    }

    /// Records that a change which is in the log was not made. Otherwise it would be repeated in a copy
    /// of the database.
    async fn correct_record(&self, id: &SessionId, action: &str) {
        if let Err(error) = self.record_session_change(id, action).await {
            tracing::warn!(message = error.message, "a change that failed stays in the log");
        }
    }

    async fn cancel_pending_approvals(&self, id: &SessionId) -> Result<(), AgentError> {
        self.end_open_approvals(id, |status| {
            (status == ApprovalStatus::Pending)
                .then_some((ApprovalStatus::Cancelled, Text::SessionDeleted))
        })
        .await
    }

    /// Erases a session with its items, also from the copies of the database. Its pending approvals
    /// are cancelled. The caller must erase the values of its audit records. Until then, the
    /// returned value keeps the session closed.
    pub async fn erase(&self, id: &SessionId) -> Result<ClosedSession, AgentError> {
        let (at, closed) = match self.undoable.take(id) {
            // A hidden session is closed already and has no pending approvals.
            Some((at, closed)) => (Some(at), closed),
            None => {
                let closed = self.close_session(id, Closing::Deletion).await?;
                self.cancel_pending_approvals(id).await?;
                (None, closed)
            }
        };
        let store = &self.shared.world.store;
        let erased = async {
            store.session_unshare(id).await?;
            store.session_erase(id).await
        };
        match (self.delete_session_data(id, erased).await, at) {
            (Ok(()), _) => Ok(closed),
            (Err(error), Some(at)) => {
                self.undoable.put(id, at, closed);
                Err(error)
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Closes a session. The session accepts no messages until the result is dropped.
    pub(super) async fn close_session(
        &self,
        id: &SessionId,
        why: Closing,
    ) -> Result<ClosedSession, AgentError> {
        let lanes = &self.shared.lanes;
        lanes.wait_to_close(id, why).await;
        let lane = lanes.close(id, why).ok_or_else(|| {
            let answered = match why {
                Closing::Deletion => answered_error,
                Closing::Change => busy_error,
            };
            lanes.check_open(id).err().unwrap_or_else(answered)
        })?;
        let effects = lanes.effects(id).try_lock_owned().map_err(|_| match why {
            Closing::Deletion => action_runs_error(),
            Closing::Change => {
                AgentError::invalid(ACTION_RUNS).hint("Try again when it has ended.")
            }
        })?;
        Ok(ClosedSession::new(lane, effects))
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
            let loaded = shared.load(id, &[]).await?;
            goes_on = matches!(loaded, Loaded::Known(_) | Loaded::Other(_));
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
        self.conversation.memory.exclusive(deleted).await?;
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
    AgentError::invalid(ACTION_RUNS).hint("Delete the session when it has ended.")
}
