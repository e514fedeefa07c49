//! The port for specialists: which specialists can be asked, the format of the supervisor's
//! decision, and the source of execution instructions.

use contract::{
    AgentId, Conversation, PackId, ToolId, ToolSpec,
    manifest::{Entity, EntityDefault},
};
use serde::{Deserialize, Serialize};

/// A specialist of a pack.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    /// The identifier of the specialist.
    pub id: AgentId,
    /// The pack of the specialist.
    pub pack: PackId,
    /// The name for display.
    pub name: String,
    /// A sentence about the specialist's task, which the supervisor reads.
    pub summary: String,
    /// The description of the specialist's role for the prompt.
    pub prompt: String,
    /// The tools that the specialist may call.
    pub tools: Vec<ToolId>,
    /// Parameter values that apply if the user names none.
    pub defaults: Vec<EntityDefault>,
    /// The entities that users mention to the specialist, such as accounts.
    pub entities: Vec<Entity>,
    /// The pack's limit on rounds with tools.
    pub max_steps: u32,
    /// The most tool calls in an answer, if its pack sets a limit.
    pub calls_per_round: Option<u32>,
    /// The specialist's own settings for earlier messages, if they differ from the profile's.
    pub conversation: Option<Conversation>,
}

/// A tool's current execution instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// The place of the instructions and their text.
    pub found: Option<(String, String)>,
    /// Instruction files that were found but could not be used.
    pub problems: Vec<String>,
}

/// The supervisor's decision, in the JSON format that a model writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteDecision {
    /// A specialist's id, or [`FINISH`].
    pub next: String,
    /// The instruction for the specialist. With `FINISH`, the answer to the user or an empty text.
    #[serde(default)]
    pub instruction: String,
    /// A short code for the supervisor's reason, which is logged.
    #[serde(default)]
    pub reason_code: String,
    /// The entities that the instruction is about.
    #[serde(default)]
    pub entities: Vec<RouteEntity>,
}

/// An entity that the instruction is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteEntity {
    /// The kind of entity, such as `account`.
    #[serde(default)]
    pub kind: String,
    /// The identifier of the entity.
    #[serde(default)]
    pub value: String,
}

/// The value of `next` that ends the turn instead of naming a specialist.
pub const FINISH: &str = "FINISH";

/// The specialists that can be asked, and the execution instructions of packs.
pub trait Roster: Send + Sync {
    /// Returns the specialists, always in the same order. Must be fast, because it is called once
    /// per turn.
    fn agents(&self) -> std::sync::Arc<Vec<Agent>>;
    /// Reads the current execution instructions of a tool: those of the specialist's pack, or else
    /// those of the tool's own pack.
    fn instructions(&self, tool: &ToolSpec, agent: Option<&Agent>) -> Instructions;
}

/// Returns the specialist that answers for a tool: that of the tool's own pack, or else the first one
/// that may call it.
pub fn agent_of(agents: &[Agent], specs: &[ToolSpec], tool: &ToolId) -> Option<AgentId> {
    let pack = specs.iter().find(|spec| spec.id == *tool).map(|spec| &spec.pack);
    let may_call = || agents.iter().filter(move |agent| agent.tools.contains(tool));
    let own = may_call().find(|agent| pack == Some(&agent.pack));
    own.or_else(|| may_call().next()).map(|agent| agent.id.clone())
}
