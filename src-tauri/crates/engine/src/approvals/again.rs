//! Returns the form of an action's arguments, and proposes an expired action again. The new
//! proposal gets all checks of a new call and needs a new decision.

use contract::{
    AgentError, Approval, ApprovalFormResponse, ApprovalId, ApprovalStatus, Caller, ItemBody,
    Reason, RecordType,
};
use policy::Decision;
use serde_json::{Value, json};

use crate::{
    approvals::{
        actions::Approvals,
        decide::{call_of, without_caller_values},
    },
    ports::{Reach, RecordDraft},
    tools::{
        call::{CallDone, Ready},
        policy_decision::policy_decision,
    },
    turn::refusals::millis,
};

/// The reason that the new proposal shows.
const AGAIN: &str = "The time for a decision had run out, and you asked again.";

impl Approvals {
    /// Returns the actions that can be proposed again: expired actions of shown messages that were
    /// not proposed again yet, newest first.
    pub async fn expired(&self) -> Result<Vec<Approval>, AgentError> {
        let all = self.list(true).await?;
        let is_open = |approval: &&Approval| {
            approval.status == ApprovalStatus::Expired
                && !all.iter().any(|other| other.replaces.as_ref() == Some(&approval.id))
        };
        let mut expired = Vec::new();
        for approval in all.iter().filter(is_open) {
            if !self.shared.world.store.turn_is_hidden(&approval.turn).await? {
                expired.push(approval.clone());
            }
        }
        Ok(expired)
    }

    /// Returns the schema of an action's arguments, and the names of the arguments that the host
    /// sets.
    pub async fn form(&self, id: &ApprovalId) -> Result<ApprovalFormResponse, AgentError> {
        let spec = self.spec_of(&self.get(id).await?)?;
        let set_by_host = spec.caller_owned.iter().map(|parameter| parameter.name.clone());
        Ok(ApprovalFormResponse {
            set_by_host: set_by_host.collect(),
            schema: spec.input_schema.clone(),
        })
    }

    /// Creates a new proposal with the arguments of an expired action.
    pub async fn ask_again(&self, id: &ApprovalId, by: &Caller) -> Result<Approval, AgentError> {
        self.shared.switches.check_enabled()?;
        let expired = self.get(id).await?;
        // Without the lock, two simultaneous requests would both create a proposal.
        let _one_at_a_time = self.asking_again.lock(&expired.session).await;
        self.shared.lanes.wait_while_changing(&expired.session).await;
        self.shared.lanes.check_open(&expired.session)?;
        self.check_may_ask_again(&expired).await?;
        let tools = self.shared.world.tools.as_ref();
        self.shared.switches.check_tools_named(tools, &expired.tool)?;
        self.shared.secrets.reload().await;
        let ready = self.call_again(&expired)?;
        let agent = self.services.transitions.agent_id_of(&expired);
        let began = tokio::time::Instant::now();
        let started = RecordDraft::new(RecordType::RunStarted)
            .field("model", "")
            .field("agent", agent.as_str())
            .field("duration_ms", 0)
            .field("asks_again", id.as_str())
            .field("by", by.kind.name());
        self.record_of(&expired, started).await;
        let asked = self.propose_again(&expired, ready).await;
        let (status, code) = match &asked {
            Ok(_) => ("approval_required", None),
            Err(error) => ("error", Some(json!(error.code))),
        };
        let ended = RecordDraft::new(RecordType::RunEnded)
            .field("status", status)
            .field("level", if asked.is_ok() { "info" } else { "error" })
            .field("agent", agent)
            .field("duration_ms", millis(began.elapsed()))
            .field("model_calls", 0);
        let ended = code.into_iter().fold(ended, |draft, code| draft.field("code", code));
        self.record_of(&expired, ended).await;
        if let Err(error) = self.shared.world.audit.flush().await {
            tracing::warn!(%error, "the audit log could not be flushed after a request");
        }
        asked
    }

    async fn check_may_ask_again(&self, expired: &Approval) -> Result<(), AgentError> {
        if !self.expired().await?.iter().any(|open| open.id == expired.id) {
            return Err(AgentError::invalid(
                "Only an action whose time ran out can be asked about again, and only once.",
            )
            .reason("not_expired"));
        }
        match self.shared.world.store.approval_reach(expired).await? {
            Reach::Here => Ok(()),
            Reach::Everywhere | Reach::HereAlone => Err(AgentError::invalid(
                "Several gateways share this conversation, so only the customer can ask for it again.",
            )
            .reason("callers_word")),
        }
    }

    /// Rebuilds the call with a new identifier, because the expired call already has a result.
    fn call_again(&self, expired: &Approval) -> Result<Ready, AgentError> {
        let spec = self.spec_of(expired)?;
        let arguments: Value = contract::arguments::parse(&expired.arguments)?;
        self.shared.secrets.check_no_secret(&arguments)?;
        let arguments = without_caller_values(&spec, arguments);
        self.tools.validators.check_arguments(&spec, &arguments)?;
        let call = contract::CallId(self.shared.world.ids.next("call"));
        Ok(Ready { call, is_adapted: true, ..call_of(expired, spec, arguments) })
    }

    async fn propose_again(
        &self,
        expired: &Approval,
        ready: Ready,
    ) -> Result<Approval, AgentError> {
        let gate = self.gate(expired);
        let verdict = policy_decision(&gate.context, &ready.spec, &ready.arguments).await;
        if let Decision::Deny { why } = verdict.decision {
            return Err(AgentError::new(contract::ErrorCode::ApprovalRequired, why)
                .reason(Reason::SideEffectDisallowed));
        }
        let call = gate.context.item(ItemBody::ToolCall {
            call: ready.call.clone(),
            tool: ready.spec.id.clone(),
            title: ready.spec.title.clone(),
            effect: ready.spec.effect,
            arguments: ready.arguments.clone(),
            local_only: gate.context.has_local_data(),
            untrusted: ready.follows_untrusted,
            kept: None,
        });
        gate.context.save(vec![call]).await?;
        match gate.propose(&ready, AGAIN, Some(expired.id.clone())).await {
            Ok(proposal) => Ok(proposal.approval),
            Err(error) => {
                let done = CallDone::failed(&ready, contract::ToolOutcome::Error, error.clone());
                gate.close(done, None).await;
                Err(error)
            }
        }
    }
}
