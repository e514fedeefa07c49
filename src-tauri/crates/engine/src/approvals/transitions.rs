//! Changes the status of an approval by compare-and-set, records the change, and reports it to the
//! windows.

use std::sync::Arc;

use contract::{Approval, ApprovalStatus, CallerKind, Push, RecordType, Transition};
use serde_json::json;

use crate::{
    ports::{Durability, RecordDraft},
    turn::{refusals::millis_between, services::TurnServices},
};

/// Changes the status of actions.
pub(crate) struct Transitions {
    shared: Arc<TurnServices>,
}

impl Transitions {
    pub(crate) fn new(shared: &Arc<TurnServices>) -> Self {
        Self { shared: Arc::clone(shared) }
    }

    /// Makes a transition of an approval and records it. Returns whether the transition was made by
    /// this call.
    pub(crate) async fn make(
        &self,
        approval: &Approval,
        transition: Transition,
        reason: Option<&str>,
    ) -> bool {
        let now = self.shared.world.clock.now();
        let moved = self
            .shared
            .world
            .store
            .approval_move(&approval.id, transition, reason, now)
            .await
            .unwrap_or(false);
        if moved && transition != Transition::BEGIN {
            self.record_resolved(approval, transition.to, reason, "host").await;
            self.push_waiting().await;
            if transition == Transition::EXPIRE {
                self.shared
                    .world
                    .events
                    .push(Push::ApprovalExpired { approval: Box::new(approval.clone()) });
            }
        }
        moved
    }

    /// Whether a person has decided and the decision is about to reach the waiting call. If the row
    /// is missing or cannot be read, no decision will come, and the action is treated as not
    /// approved.
    pub(crate) async fn is_verdict_coming(&self, approval: &Approval) -> bool {
        let row = self.shared.world.store.approval(&approval.id).await.ok().flatten();
        row.is_some_and(|row| {
            matches!(
                row.status,
                ApprovalStatus::Approved | ApprovalStatus::Rejected | ApprovalStatus::Superseded
            )
        })
    }

    /// Records how an action ended.
    pub(crate) async fn record_resolved(
        &self,
        approval: &Approval,
        status: ApprovalStatus,
        reason: Option<&str>,
        by: &str,
    ) {
        let mut draft = RecordDraft::new(RecordType::ApprovalResolved)
            .of(&approval.session, &approval.turn)
            .field("approval", approval.id.as_str())
            .field("tool", approval.tool.as_str())
            .field("hash", approval.hash.clone())
            .field("status", json!(status))
            .field("by", by)
            .field("level", if status == ApprovalStatus::Failed { "error" } else { "info" })
            .field("agent", self.agent_id_of(approval))
            .field(
                "duration_ms",
                millis_between(approval.created_at, self.shared.world.clock.now()),
            );
        if let Some(reason) = reason {
            draft = draft.commit("reason", reason);
        }
        if CallerKind::is_owner_name(by)
            && let Some(person) = self.shared.world.profile.person()
        {
            draft = draft.commit("person", person);
        }
        if let Err(error) = self.shared.world.audit.append(draft, Durability::Durable).await {
            tracing::error!(%error, "a decision could not be recorded");
        }
    }

    /// Returns the id of the specialist that owns the action's tool, for records. Empty if there is
    /// no specialist.
    pub(crate) fn agent_id_of(&self, approval: &Approval) -> String {
        let agent = self.shared.world_of(approval).tools.agent_of(&approval.tool);
        agent.map(|agent| agent.0).unwrap_or_default()
    }

    /// Notifies the windows of the number of pending actions.
    pub(crate) async fn push_waiting(&self) {
        if !self.shared.world.events.has_listeners() {
            return;
        }
        let waiting =
            self.shared.world.store.approvals(false).await.map_or(0, |list| {
                list.iter().filter(|a| a.status == ApprovalStatus::Pending).count()
            });
        self.shared
            .world
            .events
            .push(Push::Approvals { waiting: u32::try_from(waiting).unwrap_or(u32::MAX) });
    }
}
