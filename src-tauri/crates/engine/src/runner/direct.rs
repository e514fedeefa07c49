//! Calls one tool directly (`csign tools call`, a panel of the window), with the same checks,
//! approvals and records as in a conversation.

use std::sync::Arc;

use contract::{
    AgentError, CallId, Caller, ErrorCode, PolicyCheckParams, PolicyCheckResponse, PolicyVerdict,
    SessionId, ToolCallParams, ToolCallResponse, ToolId, TurnId, text,
};
use policy::Decision;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    Engine,
    agents::executor::ToolExecutor,
    ports::AskedCall,
    tools::{dispatch::Dispatcher, scope::Scope},
    turn::{
        context::{TurnContext, TurnStart},
        lanes::{Accepted, DIRECT},
        outcome::End,
        place::Place,
        refusals::Refused,
    },
};

impl Engine {
    /// Calls a tool by its id. For callers that do not wait, a write returns `approval_required` with
    /// the id of the pending action.
    pub async fn tool_call(
        self: &Arc<Self>,
        caller: Caller,
        params: ToolCallParams,
    ) -> Result<ToolCallResponse, AgentError> {
        let turn = TurnId(self.world.ids.next("turn"));
        self.tool_call_in(turn, caller, params, CancellationToken::new()).await
    }

    /// Calls a tool in a turn whose id the caller chose. The pending action names that turn.
    /// `cancel` stops the call and still records its effect; dropping the future might not.
    pub async fn tool_call_in(
        self: &Arc<Self>,
        turn: TurnId,
        caller: Caller,
        params: ToolCallParams,
        cancel: CancellationToken,
    ) -> Result<ToolCallResponse, AgentError> {
        self.tool_call_as((turn, caller), params, Place::Outside, cancel).await
    }

    /// Calls a tool in a turn that already exists.
    pub(crate) async fn tool_call_as(
        self: &Arc<Self>,
        turn: (TurnId, Caller),
        params: ToolCallParams,
        place: Place,
        cancel: CancellationToken,
    ) -> Result<ToolCallResponse, AgentError> {
        self.world.secrets.reload_secrets().await;
        let run = self.runs.of(&turn.0);
        let (context, spec, call) = match self.take_call(turn, &params, place, cancel) {
            Ok(taken) => taken,
            Err(error) => {
                let asked = format!("{} {}", params.tool, params.arguments);
                let refused = Refused {
                    session: params.session.as_ref(),
                    ..Refused::of("tool_call", &error, &asked)
                };
                self.refused_requests.note(refused.asked_by(run.as_deref())).await;
                return Err(error);
            }
        };
        // In a conversation, a tool runs in the scope of its specialist.
        let scope = if place == Place::Outside {
            Scope::default()
        } else {
            Scope::of_tool(context.world(), &spec)
        };
        let result =
            ToolExecutor::new(Dispatcher::new(&context, scope, None)).run_calls(vec![call]).await;
        if let Err(error) = self.world.audit.flush().await {
            tracing::warn!(%error, "the audit log could not be flushed after a direct call");
        }
        match result {
            Ok(mut done) => {
                let done = done.pop().ok_or_else(|| {
                    AgentError::internal("unexpected", "The tool gave no result.")
                })?;
                Ok(ToolCallResponse {
                    outcome: done.outcome,
                    data: (*done.data).clone(),
                    error: done.error,
                })
            }
            Err(End::ApprovalRequired { error } | End::Failed { error, .. }) => Err(error),
            Err(End::Cancelled { .. } | End::Answer { .. }) => {
                Err(AgentError::internal("cancelled", "The call was stopped."))
            }
        }
    }

    fn take_call(
        self: &Arc<Self>,
        (id, caller): (TurnId, Caller),
        params: &ToolCallParams,
        place: Place,
        cancel: CancellationToken,
    ) -> Result<(Arc<TurnContext>, ToolId, AskedCall), AgentError> {
        self.switches.check_enabled()?;
        self.check_no_secret(&params.arguments)?;
        self.check_stored_names(&[
            params.session.as_ref().map_or("", SessionId::as_str),
            params.tool.as_str(),
        ])?;
        let caller = caller.headless(params.headless);
        let accepted = Accepted { caller, ..Accepted::without_message(id) };
        let session = params.session.clone().unwrap_or_else(|| SessionId::new(DIRECT));
        self.call_directly(
            TurnStart { session, accepted, place, cancel },
            &params.tool,
            &params.arguments,
        )
    }

    /// Returns the policy decision that a call would get now. Runs the same checks as a real call
    /// and stops before the approval and the run.
    pub async fn policy_check(
        self: &Arc<Self>,
        params: PolicyCheckParams,
    ) -> Result<PolicyCheckResponse, AgentError> {
        self.switches.check_enabled()?;
        let accepted = Accepted {
            caller: Caller::inside().headless(true),
            ..Accepted::without_message(TurnId(self.world.ids.next("turn")))
        };
        let session = params.session.unwrap_or_else(|| SessionId::new(DIRECT));
        let start =
            TurnStart { session, accepted, place: Place::Trial, cancel: CancellationToken::new() };
        let (context, _, call) = self.call_directly(start, &params.tool, &params.arguments)?;
        if params.untrusted {
            context.sources.add_remembered_text("");
        }
        let unexplained =
            || AgentError::internal("unexpected", "The call was refused without a reason.");
        let mut executor = ToolExecutor::new(Dispatcher::new(&context, Scope::default(), None));
        let ready = executor
            .check(call, true)
            .await
            .map_err(|done| done.error.unwrap_or_else(unexplained))?;
        let (verdict, why) = match ready.decision {
            Decision::Allow { why, .. } => (PolicyVerdict::Allow, why),
            Decision::Ask { why } => (PolicyVerdict::Ask, why),
            Decision::Deny { why } => (PolicyVerdict::Deny, why),
        };
        let (spec, arguments) = (ready.spec, ready.arguments);
        let faults = self.world.profile.rules().faults.clone();
        Ok(PolicyCheckResponse {
            tool: spec.id.clone(),
            effect: spec.effect,
            verdict,
            why,
            arguments,
            faults,
        })
    }

    /// Refuses arguments that contain a stored key, because arguments are recorded and shown.
    /// Removing the key would change the call.
    pub(crate) fn check_no_secret(&self, arguments: &Value) -> Result<(), AgentError> {
        if !self.holds_secret(arguments) {
            return Ok(());
        }
        Err(AgentError::invalid("The arguments contain a stored key, and arguments are recorded. The tool was not called.")
            .reason("holds_secret")
            .hint("Leave the key out. A tool that needs a key gets it from the keyring: enter it under Settings, \u{201c}Keys and access of packs\u{201d}."))
    }

    /// Whether a value contains a secret that is known now.
    pub fn holds_secret(&self, value: &Value) -> bool {
        let mut scrubbed = value.clone();
        self.secrets.matcher().scrub_value(&mut scrubbed);
        scrubbed != *value
    }

    /// Refuses names and ids that contain a stored key, because they are stored unchanged.
    pub(crate) fn check_stored_names(&self, given: &[&str]) -> Result<(), AgentError> {
        if given.iter().any(|text| self.holds_secret(&Value::from(*text))) {
            Err(key_refused_error())
        } else {
            Ok(())
        }
    }

    /// Reads the stored keys again and refuses a value that contains one of them.
    pub async fn check_keepable(&self, value: &Value) -> Result<(), AgentError> {
        self.world.secrets.reload_secrets().await;
        if self.holds_secret(value) { Err(key_refused_error()) } else { Ok(()) }
    }

    /// Starts a direct call of a tool.
    fn call_directly(
        self: &Arc<Self>,
        start: TurnStart,
        tool: &ToolId,
        arguments: &Value,
    ) -> Result<(Arc<TurnContext>, ToolId, AskedCall), AgentError> {
        let specs = self.world.of(&start.accepted.caller).tools.specs();
        // Ids take precedence over model names: a model name may equal another tool's id.
        let by_id = specs.iter().find(|spec| spec.id == *tool || spec.qualified_id() == *tool);
        let Some(spec) =
            by_id.or_else(|| specs.iter().find(|spec| spec.model_name == tool.as_str()))
        else {
            let known: Vec<&str> = specs.iter().map(|spec| spec.id.as_str()).collect();
            return Err(AgentError::new(
                ErrorCode::ToolNotFound,
                text!("There is no tool named {name}.", name = tool),
            )
            .hint(text!("Known tools: {tools}.", tools = known.join(", "))));
        };
        let call = AskedCall {
            id: CallId(self.world.ids.next("call")),
            name: spec.model_name.clone(),
            arguments: arguments.to_string(),
        };
        Ok((Arc::new(TurnContext::new(self, start)), spec.id.clone(), call))
    }
}

/// Returns the error for a stored key in a value that would be stored.
pub fn key_refused_error() -> AgentError {
    AgentError::invalid("The request contains a stored key where a name, an id or a setting belongs. Nothing was done.")
        .reason("holds_secret")
        .hint("Leave the key out. Enter keys only in Settings. If it is no key, look for an environment variable with this value and rename it.")
}
