//! Lists the actions that wait for a person, and allows destinations for reads.

use contract::{
    AgentError, AllowanceParams, ApprovalId, ApprovalStatus, ApprovalsListResponse, CallerKind,
    Empty, Reason,
};

use crate::host::Host;

/// The maximum number of expired actions that the approval window shows, and for how long they are
/// shown.
const EXPIRED_SHOWN: usize = 10;
const EXPIRED_FOR: chrono::TimeDelta = chrono::TimeDelta::hours(24);

impl Host {
    /// Fails if there is no such pending action. The desktop shell then opens the approval window.
    pub(crate) async fn check_action(&self, id: &ApprovalId) -> Result<(), AgentError> {
        let known = self.engine.approvals.list(true).await?.iter().any(|a| a.id == *id);
        if known {
            Ok(())
        } else {
            Err(AgentError::invalid("There is no such pending action.").reason(Reason::NotFound))
        }
    }

    /// Returns the pending actions, oldest first, and those that expired recently.
    pub(crate) async fn list_pending_actions(&self) -> Result<ApprovalsListResponse, AgentError> {
        let mut approvals = self.engine.approvals.list(false).await?;
        approvals.retain(|a| a.status == ApprovalStatus::Pending);
        approvals.sort_by_key(|a| a.created_at);
        let mut expired = self.engine.approvals.expired().await?;
        let now = self.now();
        expired.retain(|a| a.decided_at.is_some_and(|at| now - at < EXPIRED_FOR));
        expired.truncate(EXPIRED_SHOWN);
        Ok(ApprovalsListResponse { approvals, expired })
    }

    /// Stores the permission to send data to a destination with reads.
    pub(crate) async fn give_allowance(
        &self,
        params: &AllowanceParams,
        by: &CallerKind,
    ) -> Result<Empty, AgentError> {
        let (destination, session) = (&params.destination, params.session.as_ref());
        self.engine.allowances.give(destination, session, by).await.map(|()| Empty {})
    }
}
