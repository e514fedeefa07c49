//! The scope of calls: the specialist that makes them, and the earlier messages that it sees.

use std::sync::Arc;

use contract::{ToolId, ToolSpec};

use crate::{
    conversation::recalled::Recalled,
    ports::{Agent, World, agent_of},
    turn::{context::TurnContext, kind::TurnKind},
};

/// The specialist that makes calls, with the earlier messages that it sees.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    pub(crate) agent: Option<Arc<Agent>>,
    /// The earlier messages that the specialist sees.
    pub(crate) recalled: Option<Arc<Recalled>>,
}

impl Scope {
    /// Returns the scope of a tool's own specialist, for a call that no specialist made.
    pub(crate) fn of_tool(world: &World, tool: &ToolId) -> Self {
        let (agents, specs) = (world.roster.agents(), world.tools.specs());
        let id = agent_of(&agents, &specs, tool);
        let agent = agents.iter().find(|agent| Some(&agent.id) == id.as_ref()).cloned();
        Self { agent: agent.map(Arc::new), recalled: None }
    }

    /// Returns the specialist's id for records, or an empty string if there is no specialist.
    pub(crate) fn agent_id(&self) -> String {
        self.agent.as_ref().map(|agent| agent.id.0.clone()).unwrap_or_default()
    }

    /// Whether a tool may be called. A specialist has its own tools. Without a specialist, a
    /// conversation has tools only if no specialists exist.
    pub(crate) fn allows_tool(&self, context: &TurnContext, spec: &ToolSpec) -> bool {
        match &self.agent {
            Some(agent) => agent.tools.contains(&spec.id),
            None => {
                context.kind != TurnKind::Conversation || context.world().roster.agents().is_empty()
            }
        }
    }
}
