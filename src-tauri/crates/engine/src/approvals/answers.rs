//! Handles a change whose server asks for answers before continuing. The call with the answers is a
//! new call, whose approval is proposed, decided and rechecked here.

use async_trait::async_trait;
use contract::{
    AgentError, Approval, ApprovalStatus, ErrorCode, EventBody, ItemBody, Reason, Text, Transition,
    text,
};
use policy::Decision;

use crate::{
    approvals::{
        gate::ApprovalGate,
        proposal::{Listener, Waited, propose, wait},
        recheck::{Rechecked, recheck},
    },
    tools::{
        bound_error::sanitize_error, call::Ready, policy_decision::policy_decision,
        resume::AnswerSigner,
    },
};

#[async_trait]
impl AnswerSigner for ApprovalGate {
    async fn sign(&self, ready: &Ready) -> Result<(Decision, Option<Approval>), AgentError> {
        let verdict = policy_decision(&self.context, &ready.spec, &ready.arguments).await;
        let decision = verdict.decision;
        let approval = match &decision {
            Decision::Allow { .. } => None,
            Decision::Deny { why } => {
                return Err(AgentError::new(ErrorCode::ApprovalRequired, why)
                    .reason(Reason::SideEffectDisallowed)
                    .with("approvable", false));
            }
            Decision::Ask { .. } if !self.context.is_attended() => {
                let why = text!(
                    "{tool} asks for input before it goes on, and nobody can approve that here.",
                    tool = ready.spec.title
                );
                return Err(AgentError::new(ErrorCode::ApprovalRequired, why)
                    .reason("approval_required")
                    .with("approvable", false));
            }
            Decision::Ask { why } => Some(self.ask_new_approval(ready, why).await?),
        };
        Ok((decision, approval))
    }

    async fn end(&self, approval: &Approval, done: Result<(), AgentError>) {
        let (transition, reason) = match done {
            Ok(()) => (Transition::COMPLETE, None),
            Err(mut error) => {
                sanitize_error(&self.context, &mut error);
                (Transition::FAIL, Some(error.message))
            }
        };
        self.services.transitions.make(approval, transition, reason.as_deref()).await;
        self.report_end(approval, transition.to, reason).await;
    }
}

impl ApprovalGate {
    /// Asks for an approval of the call with its answers, and marks the approval as executing.
    async fn ask_new_approval(&self, ready: &Ready, why: &Text) -> Result<Approval, AgentError> {
        let why = text!("{why} Its server asked for this input first, so it is a new call.", why);
        let mut proposal =
            propose(&self.services, &self.dispatcher, ready, (why, None), Listener::Call).await?;
        let waited = wait(&self.services, &self.dispatcher, ready, &mut proposal).await;
        let (approval, transitions) = (proposal.approval, &self.services.transitions);
        let (status, reason, said) = match waited {
            Waited::Approved(holds) => match recheck(&self.dispatcher, ready, &approval).await {
                Rechecked::Same if transitions.make(&approval, Transition::BEGIN, None).await => {
                    self.store_session_grant(&approval, holds, ready).await;
                    return Ok(approval);
                }
                Rechecked::Same => {
                    return Err(AgentError::internal(
                        "approval_used",
                        "This approval has been used or has ended already.",
                    ));
                }
                Rechecked::Changed => (
                    ApprovalStatus::Superseded,
                    "changed",
                    "Its effect has changed since it was shown.".into(),
                ),
                Rechecked::Refused(error) => (ApprovalStatus::Failed, "denied", error.text()),
            },
            Waited::Rejected(reason) => (
                ApprovalStatus::Rejected,
                "rejected",
                reason.map_or_else(|| "The user rejected it.".into(), Text::from),
            ),
            Waited::Edited(_) => (
                ApprovalStatus::Superseded,
                "edited",
                "Input for a server cannot be edited here; call it again.".into(),
            ),
            Waited::Expired => {
                (ApprovalStatus::Expired, "expired", "Expired – no decision.".into())
            }
            Waited::Cancelled => (ApprovalStatus::Cancelled, "cancelled", "It was stopped.".into()),
            Waited::Changed => (
                ApprovalStatus::Superseded,
                "changed",
                "Its effect has changed since it was shown.".into(),
            ),
        };
        // Only an approved action can still change its status here.
        let transition = Transition { from: ApprovalStatus::Approved, to: status };
        if transition.is_allowed() {
            transitions.make(&approval, transition, Some(&said)).await;
        }
        self.report_end(&approval, status, Some(said.clone().into())).await;
        transitions.push_waiting().await;
        Err(AgentError::new(ErrorCode::ApprovalRequired, said).reason(reason))
    }

    /// Saves the end of an approval to the transcript and emits it as an event.
    async fn report_end(
        &self,
        approval: &Approval,
        status: ApprovalStatus,
        reason: Option<String>,
    ) {
        let (id, call, tool) = (approval.id.clone(), approval.call.clone(), approval.tool.clone());
        // A failure to save is ignored here, because saving the following result reports it.
        let _ = self
            .context
            .save(vec![self.context.item(ItemBody::Approval {
                approval: id.clone(),
                call,
                tool,
                status,
                reason,
            })])
            .await;
        self.context.emit(EventBody::ApprovalResolved { id, status });
    }
}
