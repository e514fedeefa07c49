//! Builds the specialist of a pack for the supervisor. For a pack without a profile, the profile is
//! built from the pack's title and description, so that every tool has a specialist.

use std::collections::BTreeSet;

use contract::{
    AgentId, PackId, ToolSpec,
    manifest::{AgentProfile, PackManifest},
};
use engine::ports::Agent;

/// Returns the specialist with its tools: those that its profile names, also of other packs, or all
/// tools of the pack. `specs` are the usable tools of all packs.
pub fn agent(manifest: &PackManifest, specs: &[ToolSpec]) -> Agent {
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
        Some(ids) if tool.pack == manifest.id => {
            manifest.entry_of(tool).is_some_and(|entry| ids.contains(&entry.id))
        }
        Some(ids) => ids.contains(&tool.qualified_id()),
        None => tool.pack == manifest.id,
    };
    Agent {
        id: profile.id.clone(),
        pack: manifest.id.clone(),
        name: profile.name.clone(),
        summary: profile.summary.clone(),
        prompt: profile.prompt.clone(),
        tools: specs.iter().filter(named).map(|tool| tool.id.clone()).collect(),
        defaults: profile.defaults.clone(),
        entities: manifest.entities.clone(),
        max_steps: manifest.tools.max_steps,
        calls_per_round: profile.calls_per_round,
        conversation: profile.conversation.clone(),
    }
}

/// Returns the other packs whose tools the specialist names.
pub fn used_packs(manifest: &PackManifest) -> BTreeSet<PackId> {
    let named = manifest.agent.iter().flat_map(|agent| agent.tools.iter().flatten());
    let others = named.filter_map(|id| id.as_str().split_once(':'));
    let is_id = |id: &str| id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let others = others.map(|(pack, _)| pack).filter(|pack| is_id(pack));
    others.filter(|pack| *pack != manifest.id.as_str()).map(PackId::from).collect()
}
