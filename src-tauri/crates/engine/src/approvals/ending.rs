//! Ends actions for which no turn waits, and gives their calls a result.

use contract::{
    AgentError, Approval, ApprovalStatus, ErrorCode, ItemBody, ResultView, ToolOutcome, Transition,
};
use serde_json::{Value, json};

use crate::{
    approvals::actions::Approvals, ports::StoreError, texts::Text, turn::context::TurnContext,
};

impl Approvals {
    /// Expires overdue pending actions. Actions of headless turns stay pending after the turn's end
    /// until they expire.
    pub(crate) async fn expire_overdue(&self) -> Result<u32, StoreError> {
        let now = self.shared.world.clock.now();
        let text = Text::ApprovalExpired.in_locale(&self.shared.world.profile.locale());
        let mut expired = 0;
        for approval in self.shared.world.store.approvals_overdue(now).await? {
            if !self.services.router.waits(&approval.id)
                && self.services.transitions.make(&approval, Transition::EXPIRE, Some(text)).await
            {
                self.end_unwaited_call(&approval, ApprovalStatus::Expired, Some(text.to_owned()))
                    .await;
                expired += 1;
            }
        }
        Ok(expired)
    }

    /// Ends the call of an action for which no turn waits.
    pub(crate) async fn end_unwaited_call(
        &self,
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
            Text::ApprovalRejected.in_locale(&self.shared.world.profile.locale()).to_owned()
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
        &self,
        approval: &Approval,
        (status, outcome): (ApprovalStatus, ToolOutcome),
        error: Option<AgentError>,
        reason: Option<String>,
    ) {
        let context = TurnContext::detached(&self.shared, approval);
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
                view: ResultView::default(),
                parsed: None,
                untrusted: false,
                duration_ms: 0,
            }),
        ];
        let _ = context.save(items).await;
    }

    /// Ends the call of an executing action whose turn had ended before the crash, with the result
    /// "outcome unknown". Does nothing if the call already has a result, because the action's own
    /// status is written last.
    pub(crate) async fn end_unknown_call(&self, approval: &Approval) -> Result<(), StoreError> {
        let items = self.shared.world.store.items_of_turn(&approval.turn).await?;
        let ended = items.iter().any(|item| matches!(&item.body, ItemBody::ToolResult { call, .. } if *call == approval.call));
        if !ended {
            let why = Text::UnknownOutcome.in_locale(&self.shared.world.profile.locale());
            self.end_unwaited_call(approval, ApprovalStatus::Failed, Some(why.to_owned())).await;
        }
        Ok(())
    }
}
