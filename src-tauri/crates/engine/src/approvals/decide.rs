//! Handles a person's decision about a pending action: checks the decision, stores it by
//! compare-and-set, records it, and passes it to the waiting call.

use std::sync::Arc;

use contract::{
    AgentError, Approval, ApprovalDecideParams, ApprovalStatus, Caller, Decision, ErrorCode,
    EventBody, ItemBody, Reason, RecordType, ToolOutcome, ToolSpec, Transition, text,
};
use serde_json::{Value, json};

use crate::{
    approvals::{
        actions::Approvals,
        gate::Gated,
        proposal::{EDITED, may_be_granted},
        router::{Holds, Verdict},
    },
    ports::{Reach, RecordDraft},
    texts::Text,
    tools::{call::Ready, coerce::fit_arguments},
    turn::refusals::{Refused, millis},
};

/// A decision being applied, with the caller who made it.
#[derive(Clone, Copy)]
struct CallerDecision<'a> {
    decision: &'a Decision,
    by: &'a Caller,
}

/// A decided action, with the call's result if the decision itself ran the call.
#[derive(Debug)]
pub struct Decided {
    /// The action with its new status.
    pub approval: Approval,
    /// The result of the call, if the decision itself ran it.
    pub result: Option<ItemBody>,
}

impl Approvals {
    /// Applies a decision. The hash in the decision must equal the hash of the shown action.
    pub async fn decide(
        &self,
        params: ApprovalDecideParams,
        by: &Caller,
    ) -> Result<Decided, AgentError> {
        let approval = self.get(&params.id).await?;
        if let Err(error) = self.check_decision(&approval, &params, by).await {
            let refused = Refused {
                session: Some(&approval.session),
                ..Refused::of("decision", &error, approval.id.as_str())
            };
            let run = self.shared.runs.of(&approval.turn);
            self.shared.refused_requests.note(refused.asked_by(run.as_deref())).await;
            return Err(error);
        }
        // If no turn waits for the action any more, the decision has its own run records with the
        // action's turn id.
        let run = (!self.services.router.waits(&approval.id)).then(|| {
            (tokio::time::Instant::now(), self.services.transitions.agent_id_of(&approval))
        });
        if let Some((_, agent)) = &run {
            let draft = RecordDraft::new(RecordType::RunStarted)
                .field("model", "")
                .field("agent", agent.as_str())
                .field("duration_ms", 0);
            self.record_of(
                &approval,
                draft.field("decides", approval.id.as_str()).field("by", by.kind.name()),
            )
            .await;
        }
        let decided =
            self.apply(&approval, CallerDecision { decision: &params.decision, by }).await;
        if let Some((began, agent)) = run {
            let (status, level, code) = match &decided {
                Ok(decided) if decided.approval.status == ApprovalStatus::Failed => {
                    ("error", "error", None)
                }
                Ok(_) => ("ok", "info", None),
                Err(error) if error.code == ErrorCode::ApprovalRequired => {
                    ("approval_required", "info", None)
                }
                Err(error) => ("error", "error", Some(error.code.name())),
            };
            let draft = RecordDraft::new(RecordType::RunEnded)
                .field("status", status)
                .field("level", level)
                .field("agent", agent);
            let draft = draft.field("duration_ms", millis(began.elapsed())).field("model_calls", 0);
            self.record_of(
                &approval,
                code.into_iter().fold(draft, |draft, code| draft.field("code", code)),
            )
            .await;
            if let Err(error) = self.shared.world.audit.flush().await {
                tracing::warn!(%error, "the audit log could not be flushed after a decision");
            }
        }
        decided
    }

    async fn check_decision(
        &self,
        approval: &Approval,
        params: &ApprovalDecideParams,
        by: &Caller,
    ) -> Result<(), AgentError> {
        // Rejecting is possible even if the tool is switched off.
        if !matches!(params.decision, Decision::Reject { .. }) {
            let world = self.shared.world_of(approval);
            self.shared.switches.check_tools_named(world.tools.as_ref(), &approval.tool)?;
        }
        self.check_open(approval, &params.hash).await?;
        self.check_reach(approval, &params.decision, by).await
    }

    async fn apply(
        &self,
        approval: &Approval,
        made: CallerDecision<'_>,
    ) -> Result<Decided, AgentError> {
        let mut result = None;
        let mut is_proposed_next = false;
        match made.decision {
            Decision::ApproveOnce { confirm_word } => {
                check_word(approval, confirm_word.as_deref())?;
                result = self.approve(approval, Holds::Once, made).await?;
            }
            Decision::ApproveForSession => {
                self.check_grantable(approval)?;
                result =
                    self.approve(approval, Holds::ForSession(made.by.kind.name()), made).await?;
            }
            Decision::AllowDestinations { scope } => {
                check_allowable(approval, made.by)?;
                self.store_decision(approval, Transition::APPROVE, None, made).await?;
                let allowed =
                    self.allowances.give_approved(approval, *scope, made.by.kind.name()).await;
                // The read was approved in any case, so it runs even if the permission could not be
                // stored.
                result = self.pass_on_approval(approval, Holds::Once).await?;
                allowed.map_err(|error| {
                    error.hint("The read was approved. It will be asked about again.")
                })?;
            }
            Decision::Edit { arguments } => {
                self.shared.secrets.reload().await;
                is_proposed_next = self.edit(approval, arguments, made).await?;
            }
            Decision::Reject { reason } => {
                self.shared.secrets.reload().await;
                let reason = reason
                    .as_deref()
                    .map(|r| self.shared.secrets.matcher().redact_secrets(r).into_owned());
                let reason = reason
                    .map(|r| r.trim().chars().take(500).collect::<String>())
                    .filter(|r| !r.is_empty());
                self.store_decision(approval, Transition::REJECT, reason.as_deref(), made).await?;
                if !self
                    .services
                    .router
                    .send_verdict(&approval.id, Verdict::Rejected(reason.clone()))
                {
                    self.end_unwaited_call(approval, ApprovalStatus::Rejected, reason).await;
                }
            }
        }
        // Otherwise the approval window would close between the edited proposal and the next one.
        if !is_proposed_next {
            self.services.transitions.push_waiting().await;
        }
        Ok(Decided { approval: self.get(&approval.id).await?, result })
    }

    async fn check_open(&self, approval: &Approval, hash: &str) -> Result<(), AgentError> {
        let ended = |status: ApprovalStatus| {
            AgentError::invalid("This action has been decided already or has ended.")
                .reason(Reason::NotPending)
                .with("status", json!(status))
                .hint("Close it; nothing more will happen to it.")
        };
        if approval.status != ApprovalStatus::Pending {
            return Err(ended(approval.status));
        }
        if self.shared.world.clock.now() >= approval.expires_at {
            let text = Text::ApprovalExpired.in_locale(&self.shared.world.profile.locale());
            let waits = self.services.router.waits(&approval.id);
            let settled =
                self.services.transitions.make(approval, Transition::EXPIRE, Some(text)).await;
            if settled && !waits {
                self.end_unwaited_call(approval, ApprovalStatus::Expired, Some(text.to_owned()))
                    .await;
            }
            return Err(ended(ApprovalStatus::Expired));
        }
        // The user may have seen an outdated window. The decision applies only to the action that
        // was shown.
        if approval.hash != hash {
            return Err(AgentError::invalid("The pending action is not the one that was shown.")
                .reason("hash_mismatch")
                .hint("Review the action before you decide."));
        }
        Ok(())
    }

    /// Checks whether the caller may decide an action of a session that several processes share.
    /// Only the session's caller may approve, because this decision reaches the process that owns
    /// the session and informs the others. Any caller may reject if all processes are informed.
    async fn check_reach(
        &self,
        approval: &Approval,
        decision: &Decision,
        by: &Caller,
    ) -> Result<(), AgentError> {
        let is_no = matches!(decision, Decision::Reject { .. });
        let reach = self.shared.world.store.approval_reach(approval).await?;
        match (reach, by.is_remote()) {
            (Reach::Here, _) | (Reach::Everywhere, true) => Ok(()),
            (Reach::Everywhere, _) | (Reach::HereAlone, true) if is_no => Ok(()),
            (Reach::Everywhere, _) => {
                Err(AgentError::new(ErrorCode::ApprovalRequired, "Several gateways share this conversation, so only its customer approves this.")
                    .reason("callers_word")
                    .hint("The customer approves in the chat. Here you can only reject it."))
            }
            (Reach::HereAlone, _) => {
                Err(AgentError::new(ErrorCode::ApprovalRequired, "Several gateways share this conversation, and a decision made here would not reach them.")
                    .reason("not_shared_here")
                    .hint("Start the gateway of this folder again with its Redis; the customer answers in the chat."))
            }
        }
    }

    /// Makes the transition that a person decided, and records the person. The decision is recorded
    /// for a replay before the waiting call is notified.
    async fn store_decision(
        &self,
        approval: &Approval,
        transition: Transition,
        reason: Option<&str>,
        made: CallerDecision<'_>,
    ) -> Result<(), AgentError> {
        let moved = self
            .shared
            .world
            .store
            .approval_move(&approval.id, transition, reason, self.shared.world.clock.now())
            .await?;
        if !moved {
            return Err(AgentError::invalid("This action has been decided already.")
                .reason(Reason::NotPending));
        }
        self.shared.recordings.note_decision(approval, made.decision, made.by.kind.name());
        self.services
            .transitions
            .record_resolved(approval, transition.to, reason, made.by.kind.name())
            .await;
        Ok(())
    }

    /// Passes the approval to the waiting call. If no call is waiting, runs the action here.
    async fn approve(
        &self,
        approval: &Approval,
        holds: Holds,
        made: CallerDecision<'_>,
    ) -> Result<Option<ItemBody>, AgentError> {
        self.store_decision(approval, Transition::APPROVE, None, made).await?;
        self.pass_on_approval(approval, holds).await
    }

    async fn pass_on_approval(
        &self,
        approval: &Approval,
        holds: Holds,
    ) -> Result<Option<ItemBody>, AgentError> {
        if self.services.router.send_verdict(&approval.id, Verdict::Approved(holds)) {
            return Ok(None);
        }
        self.run_approved(approval, holds).await
    }

    fn check_grantable(&self, approval: &Approval) -> Result<(), AgentError> {
        if may_be_granted(&self.spec_of(approval)?) {
            return Ok(());
        }
        Err(AgentError::invalid("This tool can only be approved one call at a time.")
            .reason("not_grantable"))
    }

    /// Replaces a pending action by an action with edited arguments. `arguments` is JSON text that
    /// a person wrote. Returns whether the waiting turn creates the new proposal.
    async fn edit(
        &self,
        approval: &Approval,
        arguments: &str,
        made: CallerDecision<'_>,
    ) -> Result<bool, AgentError> {
        let spec = self.spec_of(approval)?;
        let arguments = contract::arguments::parse(arguments)?;
        self.shared.secrets.check_no_secret(&arguments)?;
        let (arguments, _) =
            fit_arguments(&spec, without_caller_values(&spec, arguments), |full| {
                self.tools.validators.check_arguments(&spec, full).is_ok()
            });
        let arguments = contract::arguments::normalize_and_check_length(arguments)?;
        self.tools.validators.check_arguments(&spec, &arguments)?;
        if !self.services.router.waits(&approval.id) {
            return self.propose_edited(approval, spec, arguments, made).await.map(|()| false);
        }
        self.store_decision(approval, Transition::REPLACE, None, made).await?;
        if self.services.router.send_verdict(&approval.id, Verdict::Edited(arguments)) {
            return Ok(true);
        }
        Err(AgentError::invalid("The turn that proposed this has ended, so it cannot be edited.")
            .hint("Ask for it again with the right values."))
    }

    /// Proposes the edited action if no turn waits. The old action stays pending until the new one
    /// is stored.
    async fn propose_edited(
        &self,
        approval: &Approval,
        spec: ToolSpec,
        arguments: Value,
        made: CallerDecision<'_>,
    ) -> Result<(), AgentError> {
        let ready = call_of(approval, spec, arguments);
        let fresh =
            self.gate(approval).propose(&ready, EDITED, Some(approval.id.clone())).await?.approval;
        let moved = self.store_decision(approval, Transition::REPLACE, None, made).await;
        // The old action was decided in the meantime. Two open actions would both run.
        if moved.is_err() {
            let why = Text::ApprovalCancelled.in_locale(&self.shared.world.profile.locale());
            self.services.transitions.make(&fresh, Transition::CANCEL, Some(why)).await;
        }
        moved
    }

    /// Runs an approved action whose turn has ended or was not able to wait.
    async fn run_approved(
        &self,
        approval: &Approval,
        holds: Holds,
    ) -> Result<Option<ItemBody>, AgentError> {
        let spec = match self.spec_of(approval) {
            Ok(spec) => spec,
            Err(error) => {
                self.services
                    .transitions
                    .make(approval, Transition::REFUSE, Some(&error.message))
                    .await;
                self.end_call(
                    approval,
                    (ApprovalStatus::Failed, ToolOutcome::Denied),
                    Some(error.clone()),
                    Some(error.message.clone()),
                )
                .await;
                return Err(error);
            }
        };
        let gate = self.gate(approval);
        let arguments = without_caller_values(
            &spec,
            serde_json::from_str(&approval.arguments).unwrap_or_default(),
        );
        let ready = Ready { is_adapted: true, ..call_of(approval, spec, arguments) };
        gate.context.emit(EventBody::ApprovalResolved {
            id: approval.id.clone(),
            status: ApprovalStatus::Approved,
        });
        match gate.run_approved(&ready, approval, holds).await? {
            Gated::Done { result, .. } => Ok(Some(result.item_body())),
            Gated::Waiting(error) => {
                Err(error.hint("It changed since it was proposed. Look at the new proposal."))
            }
        }
    }
}

/// Rebuilds the tool call of a pending action.
pub(crate) fn call_of(approval: &Approval, spec: ToolSpec, arguments: Value) -> Ready {
    let decision = policy::Decision::Ask { why: approval.why.clone() };
    Ready {
        call: approval.call.clone(),
        spec: Arc::new(spec),
        arguments,
        decision,
        coerced: Vec::new(),
        defaults: Vec::new(),
        is_adapted: false,
        follows_untrusted: !approval.follows.is_empty(),
        typed: Vec::new(),
    }
}

/// Checks that the caller is the owner of the profile and allows only destinations of this action.
fn check_allowable(approval: &Approval, by: &Caller) -> Result<(), AgentError> {
    if by.kind.is_owner() && !approval.destinations.is_empty() {
        return Ok(());
    }
    Err(AgentError::invalid("This action has no destination to allow.")
        .reason("not_grantable")
        .hint("Approve it once, or reject it."))
}

fn check_word(approval: &Approval, typed: Option<&str>) -> Result<(), AgentError> {
    match &approval.confirm_word {
        Some(word) if typed.map(str::trim) != Some(word.as_str()) => {
            Err(AgentError::invalid(text!("Type {word} to confirm.", word)).reason("confirm_word"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Removes the caller-owned arguments, because only the host may set them.
pub(crate) fn without_caller_values(spec: &ToolSpec, arguments: Value) -> Value {
    let Value::Object(mut all) = arguments else { return arguments };
    all.retain(|name, _| !spec.caller_owned.iter().any(|p| p.name == *name));
    Value::Object(all)
}
