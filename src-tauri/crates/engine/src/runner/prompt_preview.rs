//! Computes the prompt that a question would send, for the page that shows the prompt. The prompt
//! is neither sent nor stored.

use std::sync::Arc;

use contract::{
    AgentError, Caller, InstructionsPreview, PromptPreviewParams, PromptPreviewResponse, SessionId,
    ToolSpec, TurnId,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    agents::{
        instructions::{InstructedCall, instructions_for_call},
        prompts::{PromptWriter, agents_of},
        route_tool,
        supervisor::single_agent,
        tool_limit,
    },
    context::{
        egress::{Egress, EgressSession},
        guidance::Told,
        prompt::{AgentPart, Voice},
    },
    turn::{
        context::{TurnContext, TurnStart},
        kind::TurnKind,
        lanes::Accepted,
        services::TurnServices,
    },
};

/// The session id of previews, which is not a session of a user.
const PREVIEW: &str = "preview";

/// Computes prompts without sending them.
pub struct PromptPreviews {
    shared: Arc<TurnServices>,
    egress: Arc<Egress>,
}

impl PromptPreviews {
    pub(crate) fn new(shared: &Arc<TurnServices>, egress: &Arc<Egress>) -> Self {
        Self { shared: Arc::clone(shared), egress: Arc::clone(egress) }
    }

    /// Returns the prompt that a question would send now in a new conversation, and the
    /// instructions that would follow tool results. The prompt is neither sent nor stored.
    pub async fn compute(
        &self,
        params: &PromptPreviewParams,
    ) -> Result<PromptPreviewResponse, AgentError> {
        self.shared.switches.check_enabled()?;
        let session = SessionId::new(PREVIEW);
        let accepted = Accepted {
            text: params.question.clone(),
            caller: Caller::window().headless(true),
            ..Accepted::without_message(TurnId::new(PREVIEW))
        };
        let start = TurnStart {
            session: session.clone(),
            accepted,
            kind: TurnKind::Conversation,
            cancel: CancellationToken::new(),
        };
        let context = TurnContext::new(&self.shared, start);
        let words = &EgressSession::open(&self.egress, &context)
            .await
            .map_err(|_| AgentError::internal("preview", "The prompt could not be made."))?;
        // Specialists that are switched off are neither used nor mentioned.
        let agents = agents_of(&context);
        let wanted = match &params.agent {
            Some(id) => {
                let roster = context.world().roster.as_ref();
                self.shared.switches.check_specialist(roster, id)?;
                agents.iter().find(|agent| agent.id == *id).map(|agent| &**agent)
            }
            None => single_agent(&agents),
        };
        let alone = context.world().roster.agents().is_empty();
        let specs: Vec<&ToolSpec> = context
            .offered()
            .into_iter()
            .filter(|spec| wanted.map_or(alone, |agent| agent.tools.contains(&spec.id)))
            .collect();
        let specs = tool_limit::fit(specs, context.model.most_tools()).specs;
        let prompts = PromptWriter { context: &context, words, recalled: None, remembered: &[] };
        let is_generalist = context.is_generalist();
        let route = route_tool::name(&context.specs);
        let part = match (agents.len() > 1, is_generalist && params.agent.is_none()) {
            (true, _) => AgentPart::Ordered,
            (false, true) => AgentPart::AllAndGeneral,
            (false, false) => AgentPart::All,
        };
        let can_route = context.can_route() && is_generalist;
        let prompt = match wanted {
            Some(agent) => prompts.of_run(&Voice::Agent { agent, part }, &specs, None),
            None if alone => prompts.of_run(&Voice::Alone { is_generalist }, &specs, None),
            None if is_generalist && (agents.is_empty() || context.model.refuses_tools()) => {
                prompts.of_run(&Voice::Assistant { route: None }, &specs, None)
            }
            None if agents.is_empty() => prompts.of_run(&Voice::Orchestrator, &specs, None),
            None if can_route => {
                prompts.of_run(&Voice::Assistant { route: Some(route) }, &specs, None)
            }
            None => prompts.of_supervisor(&agents, &[]),
        };
        let one = |spec: &&ToolSpec| {
            let call = InstructedCall {
                spec,
                agent: wanted,
                arguments: &Value::Null,
                question: &params.question,
                names: None,
            };
            let given = instructions_for_call(&context, &call, &mut Told::default(), words);
            given.text.map(|text| InstructionsPreview { view: given.view, text: text.to_string() })
        };
        let instructions = specs.iter().filter_map(one).collect();
        let parts = prompt.views();
        self.egress.forget(&session);
        Ok(PromptPreviewResponse { parts, instructions })
    }
}
