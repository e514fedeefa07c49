//! Ends actions that a copy of the database has open again, although the log says that they ended.
//! Runs no action. Must not know how the log is read.

use std::collections::BTreeMap;

use contract::{AgentError, Approval, ApprovalId, ApprovalStatus};

use crate::{approvals::actions::Approvals, texts::Text};

impl Approvals {
    /// Ends the open actions of a copy of the database that have ended by the log. `logged` has each
    /// action whose proposal is in the log, with the status that was recorded last. Must run before
    /// any decision.
    pub async fn settle_copied(
        &self,
        logged: &BTreeMap<ApprovalId, ApprovalStatus>,
    ) -> Result<(), AgentError> {
        for approval in self.shared.world.store.approvals_open().await? {
            if let Some((status, why)) = copied_end(logged.get(&approval.id).copied()) {
                self.end_copied(&approval, status, why).await?;
            }
        }
        self.services.transitions.push_waiting().await;
        Ok(())
    }

    async fn end_copied(
        &self,
        approval: &Approval,
        status: ApprovalStatus,
        why: Text,
    ) -> Result<(), AgentError> {
        let world = &self.shared.world;
        let why = why.in_locale(&world.profile.locale());
        let now = world.clock.now();
        world.store.copy_approval_status(&approval.id, status, Some(why), now).await?;
        self.services.transitions.record_resolved(approval, status, Some(why), "host").await;
        if status == ApprovalStatus::Failed {
            self.end_unknown_call(approval).await?;
        } else {
            self.end_unwaited_call(approval, status, Some(why.to_owned())).await;
        }
        Ok(())
    }
}

/// Returns how an open action of a copy ends, by its status in the log. None if it still waits.
fn copied_end(logged: Option<ApprovalStatus>) -> Option<(ApprovalStatus, Text)> {
    Some(match logged {
        Some(ApprovalStatus::Pending) => return None,
        // A log without the proposal cannot say that the action did not run.
        None
        | Some(ApprovalStatus::Approved | ApprovalStatus::Executing | ApprovalStatus::Failed) => {
            (ApprovalStatus::Failed, Text::UnknownOutcome)
        }
        Some(ApprovalStatus::Done) => (ApprovalStatus::Done, Text::DoneSinceCopy),
        Some(ApprovalStatus::Rejected) => (ApprovalStatus::Rejected, Text::ApprovalRejected),
        Some(ApprovalStatus::Cancelled | ApprovalStatus::Superseded) => {
            (ApprovalStatus::Cancelled, Text::ApprovalCancelled)
        }
        Some(ApprovalStatus::Expired) => (ApprovalStatus::Expired, Text::ApprovalExpired),
    })
}
