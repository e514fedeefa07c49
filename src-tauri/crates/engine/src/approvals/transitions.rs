//! Changes the status of an approval by compare-and-set, records the change, and reports it to the
//! windows.

use std::sync::Arc;

use contract::{
    AgentError, Approval, ApprovalStatus, Caller, CallerKind, ErrorCode, ItemBody, Push,
    RecordType, ResultView, ToolOutcome, Transition,
};
use serde_json::{Value, json};

use crate::{
    Engine,
    ports::{Durability, RecordDraft},
    texts::Text,
    turn::{context::TurnContext, refusals::millis_between},
};

impl Engine {
    /// Makes a transition of an approval and records it. Returns whether this call made it.
    pub(crate) async fn transition(
        &self,
        approval: &Approval,
        transition: Transition,
        reason: Option<&str>,
    ) -> bool {
        let now = self.world.clock.now();
        let moved = self
            .world
            .store
            .approval_move(&approval.id, transition, reason, now)
            .await
            .unwrap_or(false);
        if moved && transition != Transition::BEGIN {
            self.record_resolved(approval, transition.to, reason, "host").await;
            self.push_approvals().await;
            if transition == Transition::EXPIRE {
                self.push(Push::ApprovalExpired { approval: Box::new(approval.clone()) });
            }
        }
        moved
    }

    /// Whether a person has decided and the decision is about to reach the waiting call. A row that
    /// is missing or cannot be read brings no decision; the action then counts as not approved.
    pub(crate) async fn is_verdict_coming(&self, approval: &Approval) -> bool {
        let row = self.world.store.approval(&approval.id).await.ok().flatten();
        row.is_some_and(|row| {
            matches!(
                row.status,
                ApprovalStatus::Approved | ApprovalStatus::Rejected | ApprovalStatus::Superseded
            )
        })
    }

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
            .field("duration_ms", millis_between(approval.created_at, self.world.clock.now()));
        if let Some(reason) = reason {
            draft = draft.commit("reason", reason);
        }
        if CallerKind::is_owner_name(by)
            && let Some(person) = self.world.profile.person()
        {
            draft = draft.commit("person", person);
        }
        if let Err(error) = self.world.audit.append(draft, Durability::Durable).await {
            tracing::error!(%error, "a decision could not be recorded");
        }
    }

    /// Ends the call of an action that no turn waits for.
    pub(crate) async fn end_unwaited_call(
        self: &Arc<Self>,
        approval: &Approval,
        status: ApprovalStatus,
        reason: Option<String>,
    ) {
        let (outcome, code) = match status {
            ApprovalStatus::Rejected => (ToolOutcome::Rejected, Some(ErrorCode::ApprovalRequired)),
            ApprovalStatus::Failed | ApprovalStatus::Executing => {
                (ToolOutcome::Unknown, Some(ErrorCode::InternalError))
            }
            ApprovalStatus::Done => (ToolOutcome::Ok, None),
            ApprovalStatus::Cancelled | ApprovalStatus::Superseded => {
                (ToolOutcome::Cancelled, Some(ErrorCode::ApprovalRequired))
            }
            ApprovalStatus::Pending | ApprovalStatus::Approved | ApprovalStatus::Expired => {
                (ToolOutcome::Expired, Some(ErrorCode::ApprovalRequired))
            }
        };
        let said = reason.clone().unwrap_or_else(|| {
            Text::ApprovalRejected.in_locale(&self.world.profile.locale()).to_owned()
        });
        self.end_call(
            approval,
            (status, outcome),
            code.map(|code| AgentError::new(code, said)),
            reason,
        )
        .await;
    }

    pub(crate) async fn end_call(
        self: &Arc<Self>,
        approval: &Approval,
        (status, outcome): (ApprovalStatus, ToolOutcome),
        error: Option<AgentError>,
        reason: Option<String>,
    ) {
        let context = TurnContext::detached(self, approval, &Caller::inside());
        let said = error
            .as_ref()
            .map(|error| error.message.clone())
            .or_else(|| reason.clone())
            .unwrap_or_default();
        let items = vec![
            context.item(ItemBody::Approval {
                approval: approval.id.clone(),
                call: approval.call.clone(),
                tool: approval.tool.clone(),
                status,
                reason,
            }),
            context.item(ItemBody::ToolResult {
                call: approval.call.clone(),
                tool: approval.tool.clone(),
                outcome,
                summary: said.clone(),
                data: if error.is_none() { json!({"message": said}) } else { Value::Null },
                error,
                local_only: Some(false),
                view: ResultView::Plain,
                parsed: None,
                untrusted: false,
                duration_ms: 0,
            }),
        ];
        let _ = context.save(items).await;
    }

    pub(crate) async fn push_approvals(&self) {
        if !self.world.events.has_listeners() {
            return;
        }
        let waiting =
            self.world.store.approvals(false).await.map_or(0, |list| {
                list.iter().filter(|a| a.status == ApprovalStatus::Pending).count()
            });
        self.push(Push::Approvals { waiting: u32::try_from(waiting).unwrap_or(u32::MAX) });
    }
}
