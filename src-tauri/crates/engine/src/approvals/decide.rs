//! Handles a person's decision about a pending action: checks it, stores it by compare-and-set,
//! records it, and passes it to the waiting call.

use std::sync::Arc;

use contract::{
    AgentError, Approval, ApprovalDecideParams, ApprovalId, ApprovalStatus, Caller, CallerKind,
    Decision, ErrorCode, EventBody, ItemBody, RecordType, ToolOutcome, ToolSpec, Transition, text,
};
use serde_json::{Value, json};

use crate::{
    Engine, World,
    approvals::{
        gate::{ApprovalGate, Gated},
        proposal::{EDITED, may_be_granted},
        router::{Holds, Verdict},
    },
    ports::{Durability, Reach, RecordDraft},
    texts::Text,
    tools::{call::Ready, coerce::fit_arguments},
    turn::refusals::{Refused, millis},
};

/// A decision that is being applied, and where it was made.
#[derive(Clone, Copy)]
struct Made<'a> {
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

impl Engine {
    /// Returns the pending actions, or all actions.
    pub async fn approvals_list(
        self: &Arc<Self>,
        include_decided: bool,
    ) -> Result<Vec<Approval>, AgentError> {
        self.expire_overdue().await?;
        self.world.store.approvals(include_decided).await.map_err(AgentError::from)
    }

    /// Applies a decision. The hash in the decision must equal the hash of the action that was
    /// shown.
    pub async fn approval_decide(
        self: &Arc<Self>,
        params: ApprovalDecideParams,
        by: &Caller,
    ) -> Result<Decided, AgentError> {
        let approval = self.approval(&params.id).await?;
        if let Err(error) = self.check_decision(&approval, &params, by).await {
            let refused = Refused {
                session: Some(&approval.session),
                ..Refused::of("decision", &error, approval.id.as_str())
            };
            let run = self.runs.of(&approval.turn);
            self.refused_requests.note(refused.asked_by(run.as_deref())).await;
            return Err(error);
        }
        // If no turn waits for the action any more, the decision gets its own run records under the
        // action's turn id.
        let run = (!self.router.waits(&approval.id))
            .then(|| (tokio::time::Instant::now(), self.agent_id_of(&approval)));
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
        let decided = self.apply(&approval, Made { decision: &params.decision, by }).await;
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
            if let Err(error) = self.world.audit.flush().await {
                tracing::warn!(%error, "the audit log could not be flushed after a decision");
            }
        }
        decided
    }

    async fn check_decision(
        self: &Arc<Self>,
        approval: &Approval,
        params: &ApprovalDecideParams,
        by: &Caller,
    ) -> Result<(), AgentError> {
        // Rejecting is possible even if the tool is switched off.
        if !matches!(params.decision, Decision::Reject { .. }) {
            self.switches.check_tools_named(&approval.tool)?;
        }
        self.check_open(approval, &params.hash).await?;
        self.check_reach(approval, &params.decision, by).await
    }

    async fn apply(
        self: &Arc<Self>,
        approval: &Approval,
        made: Made<'_>,
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
                self.decide(approval, Transition::APPROVE, None, made).await?;
                let allowed =
                    self.allowances.give_approved(approval, *scope, made.by.kind.name()).await;
                result = self.pass_on_approval(approval, Holds::Once, made.by).await?;
                allowed.map_err(|error| {
                    error.hint("The read was approved. It will be asked about again.")
                })?;
            }
            Decision::Edit { arguments } => {
                self.world.secrets.reload_secrets().await;
                is_proposed_next = self.edit(approval, arguments, made).await?;
            }
            Decision::Reject { reason } => {
                self.world.secrets.reload_secrets().await;
                let reason = reason
                    .as_deref()
                    .map(|r| self.secrets.matcher().redact_secrets(r).into_owned());
                let reason = reason
                    .map(|r| r.trim().chars().take(500).collect::<String>())
                    .filter(|r| !r.is_empty());
                self.decide(approval, Transition::REJECT, reason.as_deref(), made).await?;
                if !self.router.send_verdict(&approval.id, Verdict::Rejected(reason.clone())) {
                    self.end_unwaited_call(approval, ApprovalStatus::Rejected, reason).await;
                }
            }
        }
        // The approval window would close between an edited proposal and the next one.
        if !is_proposed_next {
            self.push_approvals().await;
        }
        Ok(Decided { approval: self.approval(&approval.id).await?, result })
    }

    pub(crate) async fn record_of(&self, approval: &Approval, draft: RecordDraft) {
        if let Err(error) = self
            .world
            .audit
            .append(draft.of(&approval.session, &approval.turn), Durability::Grouped)
            .await
        {
            tracing::warn!(%error, "a record of a decision could not be written");
        }
    }

    /// Returns the id of the specialist that owns the action's tool, for records. Empty if there is
    /// no specialist.
    pub(crate) fn agent_id_of(&self, approval: &Approval) -> String {
        self.world_of(approval)
            .tools
            .agent_of(&approval.tool)
            .map(|agent| agent.0)
            .unwrap_or_default()
    }

    /// Returns the ports as the caller of an action's turn has them. If no caller waits for the turn
    /// any more, the owner decides, who has all packs.
    fn world_of(&self, approval: &Approval) -> World {
        let run = self.runs.of(&approval.turn);
        run.map_or_else(|| self.world.clone(), |run| self.world.of(&run.caller()))
    }

    /// Returns an action in its current state.
    pub async fn approval(&self, id: &ApprovalId) -> Result<Approval, AgentError> {
        let found = self.world.store.approval(id).await?;
        found.ok_or_else(|| {
            AgentError::invalid("There is no such pending action.").reason("not_found")
        })
    }

    async fn check_open(
        self: &Arc<Self>,
        approval: &Approval,
        hash: &str,
    ) -> Result<(), AgentError> {
        let ended = |status: ApprovalStatus| {
            AgentError::invalid("This action has been decided already or has ended.")
                .reason("not_pending")
                .with("status", json!(status))
                .hint("Close it; nothing more will happen to it.")
        };
        if approval.status != ApprovalStatus::Pending {
            return Err(ended(approval.status));
        }
        if self.world.clock.now() >= approval.expires_at {
            let text = Text::ApprovalExpired.in_locale(&self.world.profile.locale());
            let waits = self.router.waits(&approval.id);
            let settled = self.transition(approval, Transition::EXPIRE, Some(text)).await;
            if settled && !waits {
                self.end_unwaited_call(approval, ApprovalStatus::Expired, Some(text.to_owned()))
                    .await;
            }
            return Err(ended(ApprovalStatus::Expired));
        }
        if approval.hash != hash {
            return Err(AgentError::invalid("The pending action is not the one that was shown.")
                .reason("hash_mismatch")
                .hint("Review the action before you decide."));
        }
        Ok(())
    }

    /// Checks who may decide an action of a session that several processes share. Only its caller
    /// may approve, because the caller's decision reaches the process that holds the session, which
    /// informs the others. Anybody may reject if all processes are informed.
    async fn check_reach(
        &self,
        approval: &Approval,
        decision: &Decision,
        by: &Caller,
    ) -> Result<(), AgentError> {
        let is_no = matches!(decision, Decision::Reject { .. });
        let reach = self.world.store.approval_reach(approval).await?;
        match (reach, &by.kind) {
            (Reach::Here, _) | (Reach::Everywhere, CallerKind::ChatApi) => Ok(()),
            (Reach::Everywhere, _) | (Reach::HereAlone, CallerKind::ChatApi) if is_no => Ok(()),
            (Reach::Everywhere, _) => {
                Err(AgentError::new(ErrorCode::ApprovalRequired, "Several gateways share this conversation, so only its customer approves this.")
                    .reason("callers_word")
                    .hint("The customer answers in the chat; here it can be rejected."))
            }
            (Reach::HereAlone, _) => {
                Err(AgentError::new(ErrorCode::ApprovalRequired, "Several gateways share this conversation, and a decision made here would not reach them.")
                    .reason("not_shared_here")
                    .hint("Start the gateway of this folder again with its Redis; the customer answers in the chat."))
            }
        }
    }

    /// Makes the transition that a person decided, and records who decided it. Before the waiting
    /// call hears of it, the decision is noted for a replay of the turn.
    async fn decide(
        &self,
        approval: &Approval,
        transition: Transition,
        reason: Option<&str>,
        made: Made<'_>,
    ) -> Result<(), AgentError> {
        let moved = self
            .world
            .store
            .approval_move(&approval.id, transition, reason, self.world.clock.now())
            .await?;
        if !moved {
            return Err(
                AgentError::invalid("This action has been decided already.").reason("not_pending")
            );
        }
        self.recordings.note_decision(approval, made.decision, made.by.kind.name());
        self.record_resolved(approval, transition.to, reason, made.by.kind.name()).await;
        Ok(())
    }

    /// Passes the approval to the waiting call. If no call waits any more, runs the action here.
    async fn approve(
        self: &Arc<Self>,
        approval: &Approval,
        holds: Holds,
        made: Made<'_>,
    ) -> Result<Option<ItemBody>, AgentError> {
        self.decide(approval, Transition::APPROVE, None, made).await?;
        self.pass_on_approval(approval, holds, made.by).await
    }

    async fn pass_on_approval(
        self: &Arc<Self>,
        approval: &Approval,
        holds: Holds,
        by: &Caller,
    ) -> Result<Option<ItemBody>, AgentError> {
        if self.router.send_verdict(&approval.id, Verdict::Approved(holds)) {
            return Ok(None);
        }
        self.run_approved(approval, holds, by).await
    }

    fn check_grantable(&self, approval: &Approval) -> Result<(), AgentError> {
        if may_be_granted(&self.spec_of(approval)?) {
            return Ok(());
        }
        Err(AgentError::invalid("This tool can only be approved one call at a time.")
            .reason("not_grantable"))
    }

    /// Replaces a pending action by one with edited arguments. `arguments` is JSON text that a
    /// person wrote. Returns whether the waiting turn makes the new proposal.
    async fn edit(
        self: &Arc<Self>,
        approval: &Approval,
        arguments: &str,
        made: Made<'_>,
    ) -> Result<bool, AgentError> {
        let spec = self.spec_of(approval)?;
        let arguments = contract::arguments::parse(arguments)?;
        self.check_no_secret(&arguments)?;
        let (arguments, _) =
            fit_arguments(&spec, without_caller_values(&spec, arguments), |full| {
                self.validators.check_arguments(&spec, full).is_ok()
            });
        let arguments = contract::arguments::normalize_and_check_length(arguments)?;
        self.validators.check_arguments(&spec, &arguments)?;
        if !self.router.waits(&approval.id) {
            return self.propose_edited(approval, spec, arguments, made).await.map(|()| false);
        }
        self.decide(approval, Transition::REPLACE, None, made).await?;
        if self.router.send_verdict(&approval.id, Verdict::Edited(arguments)) {
            return Ok(true);
        }
        Err(AgentError::invalid("The turn that proposed this has ended, so it cannot be edited.")
            .hint("Ask for it again with the right values."))
    }

    /// Proposes the edited action if no turn waits. The old action stays pending until the new one
    /// is stored.
    async fn propose_edited(
        self: &Arc<Self>,
        approval: &Approval,
        spec: ToolSpec,
        arguments: Value,
        made: Made<'_>,
    ) -> Result<(), AgentError> {
        let ready = call_of(approval, spec, arguments);
        let fresh = ApprovalGate::detached(self, approval, made.by)
            .propose(&ready, EDITED, Some(approval.id.clone()))
            .await?
            .approval;
        let moved = self.decide(approval, Transition::REPLACE, None, made).await;
        if moved.is_err() {
            let why = Text::ApprovalCancelled.in_locale(&self.world.profile.locale());
            self.transition(&fresh, Transition::CANCEL, Some(why)).await;
        }
        moved
    }

    /// Returns the tool of an action. Matches the full id first, because packs that were added or
    /// removed since may have changed the short id. Fails if several tools match.
    pub(crate) fn spec_of(&self, approval: &Approval) -> Result<ToolSpec, AgentError> {
        let specs = self.world_of(approval).tools.specs();
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

    /// Runs an approved action whose turn has ended or was not able to wait.
    async fn run_approved(
        self: &Arc<Self>,
        approval: &Approval,
        holds: Holds,
        by: &Caller,
    ) -> Result<Option<ItemBody>, AgentError> {
        let spec = match self.spec_of(approval) {
            Ok(spec) => spec,
            Err(error) => {
                self.transition(approval, Transition::REFUSE, Some(&error.message)).await;
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
        let gate = ApprovalGate::detached(self, approval, by);
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

/// Only the owner of the profile allows destinations, and only those that the action was asked for.
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
