//! For whom calls are made: the specialist, and what it sees of earlier messages.

use std::sync::Arc;

use contract::{ToolId, ToolSpec};

use crate::{
    Engine,
    memory::recalled::Recalled,
    ports::Agent,
    turn::{audience::Place, context::TurnContext},
};

/// For whom calls are made.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    pub(crate) agent: Option<Arc<Agent>>,
    /// The earlier messages that the specialist sees.
    pub(crate) recalled: Option<Arc<Recalled>>,
}

impl Scope {
    /// The specialist of a tool, for a call that no specialist asked for.
    pub(crate) fn of_tool(engine: &Engine, tool: &ToolId) -> Self {
        let agents = engine.world.roster.agents();
        let agent = agents.iter().find(|agent| agent.tools.contains(tool)).cloned();
        Self { agent: agent.map(Arc::new), recalled: None }
    }

    /// The specialist's id, as records name it; empty if there is none.
    pub(crate) fn agent_id(&self) -> String {
        self.agent.as_ref().map(|agent| agent.id.0.clone()).unwrap_or_default()
    }

    /// Whether a tool may be called. A specialist has its own tools. Without one, a conversation
    /// has tools only if there are no specialists.
    pub(crate) fn has(&self, context: &TurnContext, spec: &ToolSpec) -> bool {
        match &self.agent {
            Some(agent) => agent.tools.contains(&spec.id),
            None => {
                context.place != Place::Conversation || context.world().roster.agents().is_empty()
            }
        }
    }
}
