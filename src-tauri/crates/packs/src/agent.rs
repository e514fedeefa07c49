//! Builds the specialist of a pack for the supervisor. For a pack without a profile, the profile is
//! built from the pack's title and description, so that every tool has a specialist.

use contract::{
    AgentId, ToolSpec,
    manifest::{AgentProfile, PackManifest},
};
use engine::ports::Agent;

/// Returns the specialist with its tools: the tools that its profile names, or all tools of the
/// pack.
pub fn agent(manifest: &PackManifest, tools: &[ToolSpec]) -> Agent {
    let profile = manifest.agent.clone().unwrap_or_else(|| AgentProfile {
        id: AgentId(manifest.id.0.clone()),
        name: manifest.title.clone(),
        summary: manifest.description.clone(),
        prompt: manifest.description.clone(),
        tools: None,
        defaults: Vec::new(),
        calls_per_round: None,
        conversation: None,
    });
    let named = |tool: &&ToolSpec| match &profile.tools {
        Some(ids) => manifest.entry_of(tool).is_some_and(|entry| ids.contains(&entry.id)),
        None => true,
    };
    Agent {
        id: profile.id.clone(),
        pack: manifest.id.clone(),
        name: profile.name.clone(),
        summary: profile.summary.clone(),
        prompt: profile.prompt.clone(),
        tools: tools.iter().filter(named).map(|tool| tool.id.clone()).collect(),
        defaults: profile.defaults.clone(),
        entities: manifest.entities.clone(),
        max_steps: manifest.tools.max_steps,
        calls_per_round: profile.calls_per_round,
        conversation: profile.conversation.clone(),
    }
}
