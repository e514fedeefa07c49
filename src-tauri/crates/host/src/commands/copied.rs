//! Repeats in a copy of the database what happened after the copy was made, as far as the log has it:
//! ends of actions, deletions, and revoked permissions. Must not know how the copy got its place.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use audit::Selection;
use chrono::{DateTime, Utc};
use contract::{
    AgentError, Allowance, ApprovalId, ApprovalStatus, AuditRecordView, Destination, GrantId,
    MemoryId, RecordType, SessionId, TurnId,
};
use engine::ports::{Destinations as _, Grants as _, LongTermMemories as _, StoreError};
use serde_json::Value;

use crate::host::Host;

/// The types of the records that have what a copy may lack.
const TYPES: [RecordType; 8] = [
    RecordType::ApprovalRequested,
    RecordType::ApprovalResolved,
    RecordType::ToolIntent,
    RecordType::MessageChanged,
    RecordType::SessionChanged,
    RecordType::SessionErased,
    RecordType::GrantRevoked,
    RecordType::Memory,
];

/// The records of the log that a copy of the database may lack.
#[derive(Default)]
pub(super) struct Missed {
    /// The status that was recorded last of each action.
    actions: BTreeMap<ApprovalId, ApprovalStatus>,
    messages: BTreeSet<(SessionId, TurnId)>,
    /// The deleted sessions, with the time of their last deletion.
    sessions: BTreeMap<SessionId, DateTime<Utc>>,
    /// The messages and sessions whose deletion was undone. A copy may have been made in between.
    restored_messages: BTreeSet<(SessionId, TurnId)>,
    restored_sessions: BTreeSet<SessionId>,
    grants: BTreeMap<GrantId, DateTime<Utc>>,
    destinations: Vec<RevokedDestinations>,
    memories: BTreeSet<MemoryId>,
}

/// Permissions for destinations that were revoked at a time.
struct RevokedDestinations {
    at: DateTime<Utc>,
    /// None if the names were erased from the log.
    names: Option<Vec<Destination>>,
    /// Whether the permissions held for one conversation.
    in_session: bool,
}

impl RevokedDestinations {
    fn covers(&self, allowance: &Allowance) -> bool {
        allowance.given_at <= self.at
            && allowance.session.is_some() == self.in_session
            && self.names.as_ref().is_none_or(|names| names.contains(&allowance.destination))
    }
}

impl Missed {
    fn note(&mut self, record: AuditRecordView) {
        const ACTIONS: [RecordType; 3] =
            [RecordType::ApprovalRequested, RecordType::ApprovalResolved, RecordType::ToolIntent];
        let kind = record.record_type;
        if ACTIONS.contains(&kind) {
            self.note_action(&record);
        } else if kind == RecordType::GrantRevoked {
            self.note_revocation(&record);
        } else if kind == RecordType::Memory {
            if text(&record, "action") == Some("deleted") {
                self.memories.extend(text(&record, "memory").map(MemoryId::from));
            }
        } else {
            self.note_deletion(record);
        }
    }

    fn note_action(&mut self, record: &AuditRecordView) {
        let Some(id) = text(record, "approval").map(ApprovalId::from) else { return };
        let status = if record.record_type == RecordType::ApprovalRequested {
            ApprovalStatus::Pending
        } else if record.record_type == RecordType::ToolIntent {
            // Without this record no action runs. An action may run without a recorded decision.
            ApprovalStatus::Executing
        } else {
            let status = record.status.clone().map(Value::String);
            // An unknown status must not let the action run.
            status
                .and_then(|status| serde_json::from_value(status).ok())
                .unwrap_or(ApprovalStatus::Failed)
        };
        self.actions.insert(id, status);
    }

    fn note_revocation(&mut self, record: &AuditRecordView) {
        if let Some(grant) = text(record, "grant") {
            self.grants.insert(GrantId::from(grant), record.at);
            return;
        }
        let names = record.revealed.get("destinations").and_then(Value::as_str);
        self.destinations.push(RevokedDestinations {
            at: record.at,
            names: names.and_then(|names| serde_json::from_str(names).ok()),
            in_session: text(record, "scope") == Some("conversation"),
        });
    }

    /// Adds the message or the session that a record deletes, or removes the one that it restores.
    fn note_deletion(&mut self, record: AuditRecordView) {
        let is_erased = record.record_type == RecordType::SessionErased;
        let is_deleted = is_erased || text(&record, "action") == Some("deleted");
        let is_restored = text(&record, "action") == Some("restored");
        let Some(session) = record.session.map(SessionId) else { return };
        if record.record_type == RecordType::MessageChanged {
            let Some(turn) = record.turn.map(TurnId) else { return };
            let message = (session, turn);
            if is_deleted {
                self.restored_messages.remove(&message);
                self.messages.insert(message);
            } else if is_restored {
                self.messages.remove(&message);
                self.restored_messages.insert(message);
            }
        } else if is_deleted {
            self.restored_sessions.remove(&session);
            self.sessions.insert(session, record.at);
        } else if is_restored {
            self.sessions.remove(&session);
            self.restored_sessions.insert(session);
        }
    }
}

fn text<'a>(record: &'a AuditRecordView, name: &str) -> Option<&'a str> {
    record.fields.get(name).and_then(Value::as_str)
}

impl Host {
    /// Deletes the sessions again that only a copy of the database has, undoes deletions that were
    /// undone, and ends the actions that only the copy has open. Must run before any decision and
    /// before deletions are finished. Returns what else the copy lacks. None if the database is no
    /// copy, or if the log cannot be read; then no action of the copy can run any more, and the rest
    /// is tried at the next start.
    pub(super) async fn settle_copy(&self) -> Result<Option<Missed>, AgentError> {
        if !self.database.store.is_copy().await? {
            return Ok(None);
        }
        let selection = Selection { types: TYPES.to_vec(), ..Selection::default() };
        let see = |missed: &mut Missed, record: AuditRecordView| {
            missed.note(record);
            ControlFlow::Continue(())
        };
        let missed = match self.log.visit(selection, Missed::default(), see).await {
            Ok(missed) => Some(missed),
            Err(error) => {
                tracing::warn!(message = error.message, "the log of a copy could not be read");
                None
            }
        };
        if let Some(missed) = &missed {
            let sessions = &self.engine.sessions;
            let (restored, messages) = (&missed.restored_sessions, &missed.restored_messages);
            sessions.repeat_restorations(restored, messages).await?;
            // The end of an action is stored in its session, which counts as a use.
            sessions.repeat_session_deletions(&missed.sessions).await?;
        }
        let unknown = BTreeMap::new();
        let actions = missed.as_ref().map_or(&unknown, |missed| &missed.actions);
        self.engine.approvals.settle_copied(actions).await?;
        Ok(missed)
    }

    /// Repeats in a copy of the database what it lacks. A failed repetition is tried at the next
    /// start.
    pub(super) async fn complete_copy(&self, missed: Missed) {
        if let Err(error) = self.try_to_complete_copy(missed).await {
            tracing::warn!(message = error.message, "a copy of the database is not complete yet");
        }
    }

    async fn try_to_complete_copy(&self, missed: Missed) -> Result<(), AgentError> {
        let store = &self.database.store;
        let turns: Vec<_> = missed.messages.into_iter().collect();
        self.engine.sessions.repeat_deletions(&turns).await?;
        for memory in &missed.memories {
            store.entry_delete(memory).await?;
        }
        for (grant, at) in &missed.grants {
            match store.grant_revoke(grant, *at).await {
                Ok(()) | Err(StoreError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        for allowance in store.allowances().await? {
            if missed.destinations.iter().any(|revoked| revoked.covers(&allowance)) {
                store.allowance_delete(allowance.session.as_ref(), &allowance.destination).await?;
            }
        }
        store.unmark_copy().await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn record(record_type: RecordType, fields: Value) -> AuditRecordView {
        AuditRecordView {
            seq: 1,
            at: DateTime::UNIX_EPOCH,
            record_type,
            session: None,
            turn: None,
            tool: None,
            status: fields["status"].as_str().map(str::to_owned),
            leaf: String::new(),
            fields: fields.as_object().unwrap().clone(),
            revealed: Map::new(),
        }
    }

    #[test]
    fn an_action_with_a_recorded_intent_may_have_run_without_a_recorded_decision() {
        let mut missed = Missed::default();
        let action = ApprovalId::from("a");
        missed.note(record(RecordType::ApprovalRequested, json!({"approval": "a"})));
        assert_eq!(missed.actions[&action], ApprovalStatus::Pending);
        missed.note(record(RecordType::ToolIntent, json!({"approval": "a"})));
        missed.note(record(RecordType::ToolIntent, json!({"call": "of a read"})));
        assert_eq!(missed.actions[&action], ApprovalStatus::Executing);
        let done = json!({"approval": "a", "status": "done"});
        missed.note(record(RecordType::ApprovalResolved, done));
        assert_eq!(missed.actions, BTreeMap::from([(action, ApprovalStatus::Done)]));
    }
}
