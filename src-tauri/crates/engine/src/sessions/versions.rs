//! Shows other versions of messages, and deletes messages. Each change is recorded before it is
//! made, so that the log has every change. The signed records of the messages themselves stay.
//!
//! A deleted message is hidden on disk. Its data is deleted when the time for an undo is over, when
//! the profile is closed, or at the next start. So a deletion that was confirmed holds after a
//! crash, and so does a confirmed undo.
//!
//! A change needs no wait for a turn that has sent its last event: all that such a turn still does
//! checks whether its messages are shown.

use chrono::{DateTime, TimeDelta, Utc};
use contract::{
    AgentError, Approval, ApprovalStatus, Push, Reason, RecordType, SessionId, Transition, TurnId,
};

use crate::{
    ports::{
        Durability, RecordDraft, StoreError, VersionChange, VersionCounts, VersionOutcome,
        VersionRefusal,
    },
    sessions::{
        deletion::UNDO_SECONDS,
        reading::Sessions,
        titles::{renew_title, settle_title},
    },
    texts::Text,
    turn::{
        caller_records::add_person,
        lanes::Closing,
        versions::{check_has_versions, refusal_error},
    },
};

impl Sessions {
    /// Shows another version of a message, with the messages that followed it.
    pub async fn show_version(&self, session: &SessionId, turn: &TurnId) -> Result<(), AgentError> {
        let change = VersionChange::Show(turn.clone());
        self.change_versions((session, turn), change, "shown").await?;
        Ok(())
    }

    /// Deletes a message with its answer, in all its versions. The messages after it stay. Returns
    /// the number of other versions. For `UNDO_SECONDS`, the messages are only hidden.
    pub async fn delete_message(
        &self,
        session: &SessionId,
        turn: &TurnId,
    ) -> Result<u32, AgentError> {
        let change = VersionChange::Delete(turn.clone());
        let outcome = self.change_versions((session, turn), change, "deleted").await?;
        Ok(outcome.other_versions)
    }

    /// Undoes the deletion of a message. Fails if its data is deleted already.
    pub async fn restore_message(
        &self,
        session: &SessionId,
        turn: &TurnId,
    ) -> Result<(), AgentError> {
        let change = VersionChange::Restore(turn.clone());
        self.change_versions((session, turn), change, "restored").await?;
        Ok(())
    }

    /// Deletes messages for good that a copy of the database has again. The log has their deletion.
    pub async fn repeat_deletions(&self, turns: &[(SessionId, TurnId)]) -> Result<(), AgentError> {
        for (session, turn) in turns {
            self.repeat_deletion(session, turn).await?;
        }
        Ok(())
    }

    /// Counts the messages of a session that are not shown.
    pub async fn version_counts(&self, session: &SessionId) -> Result<VersionCounts, AgentError> {
        self.shared.world.store.version_counts(session).await.map_err(AgentError::from)
    }

    async fn repeat_deletion(&self, session: &SessionId, turn: &TurnId) -> Result<(), StoreError> {
        let (store, now) = (&self.shared.world.store, self.shared.world.clock.now());
        // The message was shown when it was deleted. A copy from before may show another version,
        // or not have the message. Then the store refuses, and no data is deleted below.
        for change in [VersionChange::Show(turn.clone()), VersionChange::Delete(turn.clone())] {
            let _ = store.version_change(session, &change, now).await?;
        }
        self.delete_turn_data(session, turn).await
    }

    /// Makes a change while no turn answers a message and no action of the session runs.
    async fn change_versions(
        &self,
        (session, turn): (&SessionId, &TurnId),
        change: VersionChange,
        action: &str,
    ) -> Result<VersionOutcome, AgentError> {
        check_has_versions(session)?;
        let _closed = self.close_session(session, Closing::Change).await?;
        let world = &self.shared.world;
        let refused = |refusal| match (&change, refusal) {
            (VersionChange::Restore(_), VersionRefusal::Unknown) => gone_error(),
            (_, refusal) => refusal_error(refusal),
        };
        if matches!(change, VersionChange::Restore(_)) && self.is_overdue(session, turn).await? {
            return Err(gone_error());
        }
        let planned = world.store.version_check(session, &change).await?.map_err(refused)?;
        if !planned.is_changed {
            return Ok(planned);
        }
        let draft = RecordDraft::new(RecordType::MessageChanged)
            .of(session, turn)
            .field("action", action)
            .field("other_versions", planned.other_versions);
        self.record_change(draft).await?;
        let changing = world.store.version_change(session, &change, world.clock.now());
        let outcome = self.conversation.memory.exclusive(changing).await?.map_err(refused)?;
        self.memories.index.prepare_again().await;
        let settled = match change {
            VersionChange::Restore(_) => renew_title(&self.shared, session).await,
            _ => settle_title(&self.shared, session).await,
        };
        if let Err(error) = settled {
            tracing::warn!(%error, "a title could not follow its message");
        }
        world.events.push(Push::ItemsChanged { session: session.clone() });
        self.shared.summaries.push(session).await;
        Ok(outcome)
    }

    /// Records a change of a person before it is made. A change that cannot be recorded is not made.
    pub(super) async fn record_change(&self, draft: RecordDraft) -> Result<(), AgentError> {
        let world = &self.shared.world;
        let draft = add_person(draft, world.profile.as_ref());
        world.audit.append(draft, Durability::Durable).await.map(drop).map_err(|_| {
            AgentError::internal(
                Reason::AuditUnavailable,
                "Nothing was changed: the audit log cannot be written.",
            )
        })
    }

    /// Whether the time for undoing the deletion of a turn is over.
    async fn is_overdue(&self, session: &SessionId, turn: &TurnId) -> Result<bool, StoreError> {
        let until = self.shared.world.clock.now() - TimeDelta::seconds(i64::from(UNDO_SECONDS));
        let overdue = self.shared.world.store.turns_deleted(Some(until)).await?;
        Ok(overdue.iter().any(|(of, deleted)| of == session && deleted == turn))
    }

    /// Deletes the data of messages that were deleted at or before a time, or of all deleted
    /// messages. A failed deletion is tried again, and so is one in a session that is busy: a turn
    /// that runs stores with its recording which actions were hidden when it began.
    pub(super) async fn finish_turn_deletions(&self, until: Option<DateTime<Utc>>) {
        let deleted = self.shared.world.store.turns_deleted(until).await;
        let deleted = deleted.unwrap_or_else(|error| {
            tracing::warn!(%error, "the deleted messages could not be read");
            Vec::new()
        });
        for (session, turn) in deleted {
            let Ok(_closed) = self.close_session(&session, Closing::Change).await else { continue };
            if let Err(error) = self.delete_turn_data(&session, &turn).await {
                tracing::warn!(%error, "the deletion of a message could not be finished");
            }
        }
    }

    /// Deletes the data of a deleted turn. Only the title and actions that still wait change if the
    /// deletion was undone meanwhile.
    async fn delete_turn_data(&self, session: &SessionId, turn: &TurnId) -> Result<(), StoreError> {
        if !self.end_hidden_approvals(session).await? {
            return Ok(());
        }
        // A crash may have come between the deletion and the change of the title. Afterwards, the
        // deleted messages are missing for the comparison with it.
        settle_title(&self.shared, session).await?;
        let store = &self.shared.world.store;
        self.conversation.memory.exclusive(store.turn_delete(session, turn)).await?;
        self.memories.index.prepare_again().await;
        self.shared.traces.forget(session);
        // The table of placeholders in memory has the values of the deleted messages. An answered
        // turn may still use the table for a summary.
        if self.shared.lanes.running(session).is_none() {
            self.conversation.egress.forget(session);
        }
        self.shared.summaries.push(session).await;
        Ok(())
    }

    /// Cancels the pending actions of messages that are not shown. Returns false if one of these
    /// actions runs now, so that its items must stay.
    async fn end_hidden_approvals(&self, session: &SessionId) -> Result<bool, StoreError> {
        let store = &self.shared.world.store;
        let locale = self.shared.world.profile.locale();
        let all = store.approvals_of(session, u32::MAX).await?;
        let open: Vec<Approval> = all.into_iter().filter(|one| !one.status.is_final()).collect();
        for approval in open {
            if !store.turn_is_hidden(&approval.turn).await? {
                continue;
            }
            let why = Some(Text::MessageDeleted.in_locale(&locale));
            let transitions = &self.approvals.services.transitions;
            if approval.status != ApprovalStatus::Pending
                || !transitions.make(&approval, Transition::CANCEL, why).await
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn gone_error() -> AgentError {
    AgentError::invalid("This message is deleted for good.").reason(Reason::NotFound)
}
