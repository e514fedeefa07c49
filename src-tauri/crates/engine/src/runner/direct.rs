//! Calls a tool directly (`csign tools call`, a panel of the window), with the same checks,
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
    agents::{executor::ToolExecutor, services::CallServices},
    ports::AskedCall,
    tools::scope::Scope,
    turn::{
        context::{TurnContext, TurnStart},
        kind::TurnKind,
        lanes::{Accepted, DIRECT},
        outcome::End,
        refusals::Refused,
        services::TurnServices,
    },
};

/// Calls tools outside of turns.
pub struct DirectCalls {
    shared: Arc<TurnServices>,
    calls: Arc<CallServices>,
}

impl DirectCalls {
    pub(crate) fn new(shared: &Arc<TurnServices>, calls: &Arc<CallServices>) -> Self {
        Self { shared: Arc::clone(shared), calls: Arc::clone(calls) }
    }

    /// Calls a tool by its id. If the caller does not wait, a write returns `approval_required`
    /// with the id of the pending action.
    pub async fn call(
        &self,
        caller: Caller,
        params: ToolCallParams,
    ) -> Result<ToolCallResponse, AgentError> {
        let turn = TurnId(self.shared.world.ids.next("turn"));
        self.call_in(turn, caller, params, CancellationToken::new()).await
    }

    /// Calls a tool in a turn whose id the caller chose. The pending action names that turn.
    /// `cancel` stops the call and still records its effect, which dropping the future may not do.
    pub async fn call_in(
        &self,
        turn: TurnId,
        caller: Caller,
        params: ToolCallParams,
        cancel: CancellationToken,
    ) -> Result<ToolCallResponse, AgentError> {
        self.call_as((turn, caller), params, TurnKind::Direct, cancel).await
    }

    /// Calls a tool in a turn that already exists.
    pub(crate) async fn call_as(
        &self,
        turn: (TurnId, Caller),
        params: ToolCallParams,
        kind: TurnKind,
        cancel: CancellationToken,
    ) -> Result<ToolCallResponse, AgentError> {
        self.shared.secrets.reload().await;
        if let Some(session) = &params.session {
            self.shared.lanes.wait_while_changing(session).await;
        }
        let run = self.shared.runs.of(&turn.0);
        let (context, spec, call) = match self.take_call(turn, &params, kind, cancel) {
            Ok(taken) => taken,
            Err(error) => {
                let asked = format!("{} {}", params.tool, params.arguments);
                let refused = Refused {
                    session: params.session.as_ref(),
                    ..Refused::of("tool_call", &error, &asked)
                };
                self.shared.refused_requests.note(refused.asked_by(run.as_deref())).await;
                return Err(error);
            }
        };
        // In a conversation, a tool runs in its specialist's scope.
        let scope = if kind == TurnKind::Direct {
            Scope::default()
        } else {
            Scope::of_tool(context.world(), &spec)
        };
        let result =
            ToolExecutor::new(&self.calls, &context, scope, None).run_calls(vec![call]).await;
        if let Err(error) = self.shared.world.audit.flush().await {
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
                    view: done.view,
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
        &self,
        (id, caller): (TurnId, Caller),
        params: &ToolCallParams,
        kind: TurnKind,
        cancel: CancellationToken,
    ) -> Result<(Arc<TurnContext>, ToolId, AskedCall), AgentError> {
        self.shared.switches.check_enabled()?;
        if let Some(session) = &params.session {
            self.shared.lanes.check_open(session)?;
        }
        self.shared.secrets.check_no_secret(&params.arguments)?;
        self.shared.secrets.check_stored_names(&[
            params.session.as_ref().map_or("", SessionId::as_str),
            params.tool.as_str(),
        ])?;
        let caller = caller.headless(params.headless);
        let accepted = Accepted { caller, ..Accepted::without_message(id) };
        let session = params.session.clone().unwrap_or_else(|| SessionId::new(DIRECT));
        self.call_directly(
            TurnStart { session, accepted, kind, cancel },
            &params.tool,
            &params.arguments,
        )
    }

    /// Returns the policy decision that a call would get now. Runs the same checks as a real call,
    /// but no approval is requested and the tool does not run.
    pub async fn check_policy(
        &self,
        params: PolicyCheckParams,
    ) -> Result<PolicyCheckResponse, AgentError> {
        self.shared.switches.check_enabled()?;
        let accepted = Accepted {
            caller: params.caller.map_or_else(Caller::window, Caller::new).headless(true),
            ..Accepted::without_message(TurnId(self.shared.world.ids.next("turn")))
        };
        let session = params.session.unwrap_or_else(|| SessionId::new(DIRECT));
        let start = TurnStart {
            session,
            accepted,
            kind: TurnKind::Trial,
            cancel: CancellationToken::new(),
        };
        let (context, _, call) = self.call_directly(start, &params.tool, &params.arguments)?;
        if params.untrusted {
            context.sources.add_remembered_text("");
        }
        let unexplained =
            || AgentError::internal("unexpected", "The call was refused without a reason.");
        let mut executor = ToolExecutor::new(&self.calls, &context, Scope::default(), None);
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
        let faults = self.shared.world.profile.rules().faults.clone();
        Ok(PolicyCheckResponse {
            tool: spec.id.clone(),
            effect: spec.effect,
            verdict,
            why,
            arguments,
            faults,
        })
    }

    /// Starts a direct call of a tool.
    fn call_directly(
        &self,
        start: TurnStart,
        tool: &ToolId,
        arguments: &Value,
    ) -> Result<(Arc<TurnContext>, ToolId, AskedCall), AgentError> {
        let specs = self.shared.world.of(&start.accepted.caller).tools.specs();
        // Ids take precedence over model names, because a model name may equal another tool's id.
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
            id: CallId(self.shared.world.ids.next("call")),
            name: spec.model_name.clone(),
            arguments: arguments.to_string(),
        };
        Ok((Arc::new(TurnContext::new(&self.shared, start)), spec.id.clone(), call))
    }
}
