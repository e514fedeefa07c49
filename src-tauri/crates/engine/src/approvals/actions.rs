//! The service for pending actions. This file reads actions, `decide` applies decisions, `again`
//! proposes expired actions again, and `ending` ends actions.

use std::sync::Arc;

use contract::{
    AgentError, Approval, ApprovalId, ApprovalStatus, ErrorCode, ItemBody, Reason, SessionId,
    ToolSpec, text,
};

use crate::{
    approvals::{gate::ApprovalGate, services::ApprovalServices},
    destinations::Allowances,
    ports::{Durability, RecordDraft},
    tools::services::ToolServices,
    turn::{locks::Locks, services::TurnServices},
};

/// The pending actions, and a person's operations on them.
pub struct Approvals {
    pub(super) shared: Arc<TurnServices>,
    pub(super) tools: Arc<ToolServices>,
    pub(crate) services: Arc<ApprovalServices>,
    pub(super) allowances: Arc<Allowances>,
    /// The locks under which an expired action is proposed again.
    pub(super) asking_again: Locks,
}

impl Approvals {
    pub(crate) fn new(
        shared: &Arc<TurnServices>,
        tools: &Arc<ToolServices>,
        services: &Arc<ApprovalServices>,
        allowances: &Arc<Allowances>,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            tools: Arc::clone(tools),
            services: Arc::clone(services),
            allowances: Arc::clone(allowances),
            asking_again: Locks::default(),
        }
    }

    /// Returns the pending actions, or all actions.
    pub async fn list(&self, include_decided: bool) -> Result<Vec<Approval>, AgentError> {
        self.expire_overdue().await?;
        self.shared.world.store.approvals(include_decided).await.map_err(AgentError::from)
    }

    /// Returns an action in its current state.
    pub async fn get(&self, id: &ApprovalId) -> Result<Approval, AgentError> {
        let found = self.shared.world.store.approval(id).await?;
        found.ok_or_else(|| {
            AgentError::invalid("There is no such pending action.").reason(Reason::NotFound)
        })
    }

    /// Returns the newest proposed action of a session, in any status.
    pub async fn newest_in(&self, session: &SessionId) -> Result<Option<Approval>, AgentError> {
        let newest = self.shared.world.store.approvals_of(session, 1).await?;
        Ok(newest.into_iter().next())
    }

    /// Returns the result item of an action's tool call.
    pub async fn result_of(&self, approval: &Approval) -> Result<Option<ItemBody>, AgentError> {
        let items = self.shared.world.store.items_of_turn(&approval.turn).await?;
        let is_its = |body: &ItemBody| matches!(body, ItemBody::ToolResult { call, .. } if *call == approval.call);
        Ok(items.into_iter().map(|item| item.body).rev().find(is_its))
    }

    /// Returns the newest action of a caller's session that waits for the caller's decision. No
    /// turn waits for this action.
    pub async fn waiting_in(&self, session: &SessionId) -> Result<Option<Approval>, AgentError> {
        let newest = self.newest_in(session).await?;
        Ok(newest.filter(|approval| self.waits_for_caller(approval)))
    }

    /// Whether an action waits for its caller's next message.
    pub fn waits_for_caller(&self, approval: &Approval) -> bool {
        approval.status == ApprovalStatus::Pending
            && approval.expires_at > self.shared.world.clock.now()
            && !self.services.router.waits(&approval.id)
    }

    /// Returns the tool of an action. Matches the full id first, because packs that were added or
    /// removed since may have changed the short id. Fails if several tools match.
    pub(crate) fn spec_of(&self, approval: &Approval) -> Result<ToolSpec, AgentError> {
        let specs = self.shared.world_of(approval).tools.specs();
        let mut named = specs.iter().filter(|spec| spec.is_named(&approval.tool));
        let exact = specs.iter().find(|spec| spec.id == approval.tool);
        let found = exact.or_else(|| named.next().filter(|_| named.next().is_none())).cloned();
        found.ok_or_else(|| {
            AgentError::new(
                ErrorCode::ToolNotFound,
                text!("{tool} is not available any more.", tool = approval.tool_title),
            )
        })
    }

    pub(crate) async fn record_of(&self, approval: &Approval, draft: RecordDraft) {
        if let Err(error) = self
            .shared
            .world
            .audit
            .append(draft.of(&approval.session, &approval.turn), Durability::Grouped)
            .await
        {
            tracing::warn!(%error, "a record of a decision could not be written");
        }
    }

    /// Creates the gate for a pending action whose turn has ended.
    pub(super) fn gate(&self, approval: &Approval) -> ApprovalGate {
        ApprovalGate::detached((&self.shared, &self.tools), &self.services, approval)
    }
}
