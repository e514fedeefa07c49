//! The approval gate of a tool call: propose the action, wait for the decision, check again, and
//! execute once. Both a running turn and a decision after the turn's end use this gate. `decide`
//! handles the decisions.

use std::sync::Arc;

use contract::{
    AgentError, Approval, ApprovalId, ApprovalStatus, Effect, ErrorCode, EventBody, ItemBody,
    NoticeLevel, Stage, ToolOutcome, Transition,
};
use policy::Decision;

use crate::{
    approvals::{
        proposal::{CHANGED, EDITED, Listener, Proposal, Waited, propose, wait},
        recheck::{Rechecked, check_still_allowed, recheck},
        repeats::{RejectedChanges, rejected_before_result},
        router::{Holds, approval_required},
        services::ApprovalServices,
    },
    canonical::canonical,
    destinations::{note_read, note_signed_read},
    ports::Point,
    texts::Text,
    tools::{
        call::{CallDone, Ready},
        dispatch::Dispatcher,
        policy_decision::policy_decision,
        refused_calls::note_refused,
        scope::Scope,
        services::ToolServices,
    },
    turn::{context::TurnContext, services::TurnServices},
};

/// How a call ended at the gate.
pub(crate) enum Gated {
    Done {
        result: Box<CallDone>,
        saved: bool,
    },
    /// No person can approve now. The action stays pending and the turn ends.
    Waiting(Box<AgentError>),
}

/// How an execution ended. `Changed` means that the action must be proposed again.
enum Executed {
    Done(Gated),
    Changed,
}

/// The approval of a call and its duration.
type Signature<'a> = (&'a Approval, Holds);

/// An approval, its final status and the reason.
type Ended<'a> = (&'a Approval, ApprovalStatus, Option<String>);

pub(crate) struct ApprovalGate {
    pub(crate) context: Arc<TurnContext>,
    pub(crate) dispatcher: Dispatcher,
    pub(super) services: Arc<ApprovalServices>,
    rejected: RejectedChanges,
}

impl ApprovalGate {
    pub(crate) fn new(dispatcher: Dispatcher, services: &Arc<ApprovalServices>) -> Self {
        Self {
            context: Arc::clone(&dispatcher.context),
            dispatcher,
            services: Arc::clone(services),
            rejected: RejectedChanges::default(),
        }
    }

    /// Creates the gate for a pending action whose turn has ended.
    pub(crate) fn detached(
        (shared, tools): (&Arc<TurnServices>, &Arc<ToolServices>),
        services: &Arc<ApprovalServices>,
        approval: &Approval,
    ) -> Self {
        let context = Arc::new(TurnContext::detached(shared, approval));
        let scope = Scope::of_tool(context.world(), &approval.tool);
        Self::new(Dispatcher::new(&context, tools, scope, None), services)
    }

    /// Runs a call through the gate. Saves the call's result as soon as it is known.
    pub(crate) async fn run(&self, ready: &Ready) -> Gated {
        if !matches!(ready.decision, Decision::Ask { .. }) {
            return self.propose_and_follow(ready).await;
        }
        let mut ready = ready.clone();
        let _one_read = if ready.spec.effect == Effect::ReadOnly {
            // Reads that need an approval are decided one after the other, because a decision may
            // also allow the destination of the next read.
            let turn = self.rejected.lane_of_reads().lock_owned().await;
            ready.decision =
                policy_decision(&self.context, &ready.spec, &ready.arguments).await.decision;
            Some(turn)
        } else {
            None
        };
        let ready = &ready;
        // Two equal changes are proposed one after the other. If the first is rejected, the second
        // is not proposed.
        let entry = self.rejected.entry(ready);
        let mut is_rejected = entry.lock().await;
        if *is_rejected {
            return self.close(rejected_before_result(ready, &self.context.locale), None).await;
        }
        if self.context.cancel.is_cancelled() {
            let said = self.text(Text::CancelledCall);
            return self
                .close(refused_call(ready, ToolOutcome::Cancelled, "cancelled", said), None)
                .await;
        }
        let gated = self.propose_and_follow(ready).await;
        if let Gated::Done { result, .. } = &gated {
            *is_rejected = result
                .error
                .as_ref()
                .is_some_and(|error| error.has_reason(contract::Reason::Rejected));
        }
        gated
    }

    async fn propose_and_follow(&self, ready: &Ready) -> Gated {
        let gated = match &ready.decision {
            Decision::Ask { why } => match self.propose(ready, why, None).await {
                Ok(proposal) => self.follow_proposal(ready.clone(), Some(proposal)).await,
                Err(error) => Err(error),
            },
            Decision::Allow { .. } | Decision::Deny { .. } => {
                self.follow_proposal(ready.clone(), None).await
            }
        };
        match gated {
            Ok(gated) => gated,
            Err(error) => {
                self.close(CallDone::failed(ready, ToolOutcome::Error, error), None).await
            }
        }
    }

    pub(crate) async fn propose(
        &self,
        ready: &Ready,
        why: impl Into<contract::Text>,
        replaces: Option<ApprovalId>,
    ) -> Result<Proposal, AgentError> {
        let listener = if self.context.may_wait() { Listener::Call } else { Listener::None };
        propose(&self.services, &self.dispatcher, ready, (why.into(), replaces), listener).await
    }

    /// Follows a proposal and its replacements to the end of the call. Fails if a proposal cannot
    /// be made.
    async fn follow_proposal(
        &self,
        mut ready: Ready,
        mut proposal: Option<Proposal>,
    ) -> Result<Gated, AgentError> {
        loop {
            let mut holds = Holds::Once;
            if let Some(waiting) = &mut proposal {
                if !self.context.may_wait() {
                    return Ok(Gated::Waiting(Box::new(approval_required(&waiting.approval))));
                }
                match self.await_decision(&mut ready, waiting).await {
                    Decided::Approved(how_far) => holds = how_far,
                    Decided::Replaced(why) => {
                        let before = waiting.approval.id.clone();
                        let next = self.propose(&ready, why, Some(before)).await;
                        // The replaced proposal stays in the window until the list is sent again,
                        // which no new proposal does here.
                        if next.is_err() {
                            self.services.transitions.push_waiting().await;
                        }
                        proposal = Some(next?);
                        continue;
                    }
                    Decided::Ended(gated) => return Ok(gated),
                }
            }
            match self.execute(&ready, proposal.as_ref().map(|p| (&p.approval, holds))).await {
                Executed::Done(gated) => return Ok(gated),
                Executed::Changed => {
                    let before = proposal.take().map(|p| p.approval.id);
                    proposal = Some(self.propose(&ready, CHANGED, before).await?);
                }
            }
        }
    }

    /// Runs an action that was approved after its turn had ended. If the action has changed since,
    /// a new proposal is made instead.
    pub(crate) async fn run_approved(
        &self,
        ready: &Ready,
        approval: &Approval,
        holds: Holds,
    ) -> Result<Gated, AgentError> {
        match self.execute(ready, Some((approval, holds))).await {
            Executed::Done(gated) => Ok(gated),
            Executed::Changed => {
                match self.propose(ready, CHANGED, Some(approval.id.clone())).await {
                    Ok(proposal) => self.follow_proposal(ready.clone(), Some(proposal)).await,
                    Err(error) => {
                        self.close(
                            CallDone::failed(ready, ToolOutcome::Error, error.clone()),
                            None,
                        )
                        .await;
                        Err(error)
                    }
                }
            }
        }
    }

    /// Waits for the decision about a proposal.
    async fn await_decision(&self, ready: &mut Ready, waiting: &mut Proposal) -> Decided {
        let began = tokio::time::Instant::now();
        let waited = wait(&self.services, &self.dispatcher, ready, waiting).await;
        // The time until a person's decision is not counted as time of the turn.
        self.context.account.entries().waited += began.elapsed();
        let approval = &waiting.approval;
        let (outcome, reason, status, said, given) = match waited {
            Waited::Approved(holds) => {
                // The windows show the approval immediately, because the call may take a while.
                self.context.emit(EventBody::ApprovalResolved {
                    id: approval.id.clone(),
                    status: ApprovalStatus::Approved,
                });
                self.context.emit(EventBody::Status { stage: Stage::Tools, text: None });
                return Decided::Approved(holds);
            }
            Waited::Edited(arguments) => {
                ready.arguments = arguments;
                return Decided::Replaced(EDITED);
            }
            Waited::Changed => return Decided::Replaced(CHANGED),
            Waited::Rejected(given) => {
                self.rejected.note(ready);
                let rejected = self.text(Text::ApprovalRejected);
                let said = given
                    .as_ref()
                    .map_or_else(|| rejected.clone(), |given| format!("{rejected} {given}"));
                (ToolOutcome::Rejected, "rejected", ApprovalStatus::Rejected, said, given)
            }
            Waited::Expired => {
                let said = self.text(Text::ApprovalExpired);
                (ToolOutcome::Expired, "expired", ApprovalStatus::Expired, said.clone(), Some(said))
            }
            Waited::Cancelled => {
                let said = self.text(Text::ApprovalCancelled);
                (
                    ToolOutcome::Cancelled,
                    "cancelled",
                    ApprovalStatus::Cancelled,
                    said.clone(),
                    Some(said),
                )
            }
        };
        Decided::Ended(
            self.close(refused_call(ready, outcome, reason, said), Some((approval, status, given)))
                .await,
        )
    }

    /// Repeats all checks directly before the effect, then executes the call once.
    async fn execute(&self, ready: &Ready, signature: Option<Signature<'_>>) -> Executed {
        let (context, approval) = (&self.context, signature.map(|(approval, _)| approval));
        let lane = context.services.lanes.effects(&context.session);
        // The checks and the effect form one step. Otherwise an effect of another turn could change
        // the checked state in between.
        let _in_order = lane.lock().await;
        match self.begin(ready, approval).await {
            Ok(()) => {}
            Err(executed) => return executed,
        }
        if let Some((approval, holds)) = signature {
            self.store_session_grant(approval, holds, ready).await;
            note_signed_read(context, &ready.spec, &ready.arguments).await;
        } else {
            note_read(context, &ready.spec, &ready.arguments).await;
        }
        let done = self.dispatcher.dispatch(ready, approval, Some(self)).await;
        self.dispatcher.note_content(&ready.spec, &done);
        context.probe(Point::AfterOutcome);
        // The effect may have changed the results of earlier reads, so a repeated read runs again.
        self.dispatcher.reads.clear();
        // An unknown outcome is also reported, because the change may have happened.
        if approval.is_none()
            && done.effect != Effect::ReadOnly
            && matches!(done.outcome, ToolOutcome::Ok | ToolOutcome::Unknown)
        {
            context.account.entries().unasked_writes.push(self.write_line(&done));
        }
        let ended = approval.map(|approval| {
            let transition = if done.outcome == ToolOutcome::Ok {
                Transition::COMPLETE
            } else {
                Transition::FAIL
            };
            (approval, transition, done.error.as_ref().map(|error| error.message.clone()))
        });
        if let Some((approval, transition, reason)) = &ended {
            self.services.transitions.make(approval, *transition, reason.as_deref()).await;
        }
        self.note_grant_used(ready).await;
        let gated = self
            .close(
                done,
                ended.map(|(approval, transition, reason)| (approval, transition.to, reason)),
            )
            .await;
        // Notified after the effect, so that waiting proposals compute their previews from the new
        // state.
        context.services.lanes.note_effect_done(&context.session);
        Executed::Done(gated)
    }

    /// Makes the last checks before the effect and moves the approval to executing, so that it
    /// cannot be used again.
    async fn begin(&self, ready: &Ready, approval: Option<&Approval>) -> Result<(), Executed> {
        let transitions = &self.services.transitions;
        if self.context.cancel.is_cancelled() {
            let said = self.text(Text::CancelledCall);
            if let Some(approval) = approval {
                transitions.make(approval, Transition::STOP, Some(&said)).await;
            }
            let ended =
                approval.map(|approval| (approval, ApprovalStatus::Cancelled, Some(said.clone())));
            return Err(Executed::Done(
                self.close(refused_call(ready, ToolOutcome::Cancelled, "cancelled", said), ended)
                    .await,
            ));
        }
        let Some(approval) = approval else {
            return match check_still_allowed(&self.dispatcher, ready).await {
                Ok(()) => Ok(()),
                Err(error) => Err(self.deny(ready, error, None).await),
            };
        };
        match recheck(&self.dispatcher, ready, approval).await {
            Rechecked::Same => {}
            Rechecked::Changed => {
                transitions.make(approval, Transition::OUTDATE, None).await;
                return Err(Executed::Changed);
            }
            Rechecked::Refused(error) => {
                transitions.make(approval, Transition::REFUSE, Some(&error.message)).await;
                let ended = (approval, ApprovalStatus::Failed, Some(error.message.clone()));
                return Err(self.deny(ready, error, Some(ended)).await);
            }
        }
        self.context.probe(Point::AfterApprovalDecided);
        if transitions.make(approval, Transition::BEGIN, None).await {
            return Ok(());
        }
        let error = AgentError::internal(
            "approval_used",
            "This approval has been used or has ended already.",
        );
        Err(self.deny(ready, error, None).await)
    }

    async fn deny(&self, ready: &Ready, error: AgentError, ended: Option<Ended<'_>>) -> Executed {
        Executed::Done(self.close(CallDone::failed(ready, ToolOutcome::Denied, error), ended).await)
    }

    /// Stores the permission for the session if the approval includes one. Must be called after the
    /// action was rechecked.
    pub(crate) async fn store_session_grant(
        &self,
        approval: &Approval,
        holds: Holds,
        ready: &Ready,
    ) {
        if let Holds::ForSession(by) = holds
            && let Err(error) = self.services.grants.give(approval, &ready.spec, by).await
        {
            tracing::error!(%error, "a permission could not be stored; the tool asks again");
            let notice = ItemBody::Notice {
                level: NoticeLevel::Warning,
                code: "permission_not_stored".into(),
                text: self.text(Text::PermissionLost).into(),
            };
            if self.context.save(vec![self.context.item(notice)]).await.is_err() {
                tracing::warn!("the notice of a lost permission could not be saved");
            }
        }
    }

    async fn note_grant_used(&self, ready: &Ready) {
        if let Decision::Allow { grant: Some(id), .. } = &ready.decision {
            let world = self.context.world();
            if let Err(error) = world.store.record_grant_use(id, world.clock.now()).await {
                tracing::warn!(%error, "the use of a grant could not be noted");
            }
        }
    }

    /// Saves the call's result and the end of its approval, and ends the call.
    pub(crate) async fn close(&self, done: CallDone, ended: Option<Ended<'_>>) -> Gated {
        let context = &self.context;
        let is_decided = ended.is_some()
            && matches!(
                done.outcome,
                ToolOutcome::Rejected | ToolOutcome::Expired | ToolOutcome::Cancelled
            );
        // The end of an approval is recorded separately.
        if !is_decided {
            note_refused(context, &done, self.dispatcher.scope.agent_id()).await;
        }
        let mut items = Vec::new();
        if let Some((approval, status, reason)) = ended {
            let (id, call, tool) =
                (approval.id.clone(), approval.call.clone(), approval.tool.clone());
            items.push(context.item(ItemBody::Approval {
                approval: id.clone(),
                call,
                tool,
                status,
                reason,
            }));
            context.emit(EventBody::ApprovalResolved { id, status });
        }
        items.push(context.item(done.item_body()));
        let saved = context.save(items).await.is_ok();
        Gated::Done { result: Box::new(done), saved }
    }

    /// Returns the line that reports a write that ran without an approval.
    fn write_line(&self, done: &CallDone) -> String {
        let unknown = if done.outcome == ToolOutcome::Unknown {
            format!(" ({})", self.text(Text::UnknownOutcome))
        } else {
            String::new()
        };
        format!("{} {}{unknown}", done.title, canonical(&done.arguments))
    }

    fn text(&self, text: Text) -> String {
        text.in_locale(&self.context.locale).to_owned()
    }
}

/// The effect of a decision on the waiting call.
enum Decided {
    Approved(Holds),
    /// Another proposal replaces this proposal for the given reason.
    Replaced(&'static str),
    Ended(Gated),
}

fn refused_call(ready: &Ready, outcome: ToolOutcome, reason: &str, said: String) -> CallDone {
    let error = AgentError::new(ErrorCode::ApprovalRequired, said.clone()).reason(reason);
    CallDone::of(ready, outcome, Some(error), said)
}
