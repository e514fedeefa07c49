//! Specialists as the engine needs them: who can be asked, what the supervisor decides, and where
//! instructions are read.

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
    /// The pack that brings it.
    pub pack: PackId,
    /// The name for display.
    pub name: String,
    /// One sentence about its task, which the supervisor reads.
    pub summary: String,
    /// The description of its role in the prompt.
    pub prompt: String,
    /// All it may call.
    pub tools: Vec<ToolId>,
    /// Parameter values that apply if the user names none.
    pub defaults: Vec<EntityDefault>,
    /// The entities that users mention to it, such as accounts.
    pub entities: Vec<Entity>,
    /// Rounds with tools, as its pack limits them.
    pub max_steps: u32,
    /// The most tool calls in one answer, if its pack sets a limit.
    pub calls_per_round: Option<u32>,
    /// Its own settings for earlier messages, if they differ from the profile's.
    pub conversation: Option<Conversation>,
}

/// A tool's execution instructions as they lie there now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// Where they are, and their text.
    pub found: Option<(String, String)>,
    /// Files on the way that could not be used.
    pub problems: Vec<String>,
}

/// The supervisor's decision, as a model writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteDecision {
    /// A specialist's id, or [`FINISH`].
    pub next: String,
    /// The order for the specialist; with `FINISH` the answer to the user, or nothing.
    #[serde(default)]
    pub instruction: String,
    /// A short code of the supervisor for its reason, kept in the log.
    #[serde(default)]
    pub reason_code: String,
    /// The things that the order is about.
    #[serde(default)]
    pub entities: Vec<RouteEntity>,
}

/// Something that the order is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteEntity {
    /// The kind of entity, such as `account`.
    #[serde(default)]
    pub kind: String,
    /// The identifier of the entity.
    #[serde(default)]
    pub value: String,
}

/// In place of a specialist: the turn is over.
pub const FINISH: &str = "FINISH";

/// The specialists that can be asked, and the texts of packs for models.
pub trait Roster: Send + Sync {
    /// The specialists, always in the same order. Cheap: called once per turn.
    fn agents(&self) -> std::sync::Arc<Vec<Agent>>;
    /// The execution instructions of a tool, read anew.
    fn instructions(&self, tool: &ToolSpec) -> Instructions;
}
