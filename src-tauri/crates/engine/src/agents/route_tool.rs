//! Implements the tool with which a model routes a message to specialists: its definition for the
//! model, and the decisions in the calls. `assistant` acts on the decisions.

use std::sync::Arc;

use contract::ToolSpec;

use crate::{
    agents::route::{self, Next},
    context::egress::EgressSession,
    ports::{Agent, AskedCall, Message, Purpose, RouteDecision, ToolDef},
};

const NAME: &str = "route";
/// The name of the tool if a pack has a tool with the first name.
const OTHER_NAME: &str = "route_message";
/// The reason that a model gives if it makes one call at a time and has more specialists to ask.
const ONE_OF_SEVERAL: &str = "one_of_several";
const REASONS: [&str; 3] = ["in_field", "new_request", ONE_OF_SEVERAL];
const DESCRIPTION: &str = "Hands the user's message, or a part of it, to a specialist, who answers the user. Call it once for each specialist that is needed. Do not call it for a message that you can answer yourself.";

/// A valid decision.
pub(crate) type Decided = (Next, RouteDecision);

/// The route tool for the specialists that can be asked.
#[derive(Clone)]
pub(crate) struct RouteTool {
    name: &'static str,
    agents: Arc<[Arc<Agent>]>,
}

impl RouteTool {
    pub(crate) fn new(agents: &[Arc<Agent>], specs: &[ToolSpec]) -> Self {
        Self { name: name(specs), agents: agents.into() }
    }

    pub(crate) fn is_called_by(&self, call: &AskedCall) -> bool {
        call.name == self.name
    }

    pub(crate) fn definition(&self, words: &EgressSession) -> ToolDef {
        let next = self.agents.iter().map(|agent| agent.id.as_str()).collect();
        ToolDef {
            name: words.redact_name(self.name),
            description: words.redact_name(DESCRIPTION),
            parameters: words.redact_schema(&route::decision_schema(next, &REASONS)),
        }
    }

    /// Returns the purpose of a call that may use the tool.
    pub(crate) fn purpose(&self, specs: &[ToolSpec]) -> Purpose {
        let by_name = |agent: &Arc<Agent>| (agent.id.clone(), tool_names(agent, specs));
        Purpose::Assist {
            route: self.name.to_owned(),
            agents: self.agents.iter().map(by_name).collect(),
        }
    }

    /// Returns the text for a model that also makes other calls.
    pub(crate) fn accepted() -> &'static str {
        "The specialist is asked after you. Do your own part only."
    }

    /// Reads the decision in a call. An error is written for the model.
    pub(crate) fn read(&self, call: &AskedCall) -> Result<Decided, String> {
        route::read(&call.arguments, &self.agents)
    }

    /// Returns the result of a call for the model.
    pub(crate) fn result(&self, call: &AskedCall, text: &str, words: &EgressSession) -> Message {
        let (content, data) = words.redact_value(serde_json::json!({ "note": text }));
        Message::Tool { call: call.id.clone(), name: words.redact_name(self.name), content, data }
    }
}

/// Returns a name for the route tool that differs from the names of these tools.
pub(crate) fn name(specs: &[ToolSpec]) -> &'static str {
    if specs.iter().any(|spec| spec.model_name == NAME) { OTHER_NAME } else { NAME }
}

/// Returns the names of a specialist's tools, as shown to the model.
pub(crate) fn tool_names(agent: &Agent, specs: &[ToolSpec]) -> Vec<String> {
    let own = specs.iter().filter(|spec| agent.tools.contains(&spec.id));
    own.map(|spec| spec.model_name.clone()).collect()
}

/// Whether the model states that further specialists must be asked besides the named ones.
pub(crate) fn has_more(decided: &[Decided]) -> bool {
    matches!(decided, [(_, decision)] if decision.reason_code.trim() == ONE_OF_SEVERAL)
}

/// Joins the instructions for the same specialist, so that each specialist is asked once.
pub(crate) fn joined(decided: Vec<Decided>) -> Vec<Decided> {
    let mut joined: Vec<Decided> = Vec::new();
    for (next, decision) in decided {
        match joined.iter_mut().find(|(known, _)| *known == next) {
            Some((_, known)) => {
                known.instruction.push('\n');
                known.instruction.push_str(&decision.instruction);
                known.entities.extend(decision.entities);
            }
            None => joined.push((next, decision)),
        }
    }
    joined
}
