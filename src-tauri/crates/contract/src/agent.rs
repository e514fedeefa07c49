//! The prompt of a model, layer by layer, for display: the specialists, the parts of a prompt, the
//! execution instructions of tools, and which of them a turn used. Plain data: writing and sending
//! prompts happens elsewhere.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, PackId, SessionId, ToolId, TurnId, manifest::EntityDefault};

/// The parts of a prompt, in the order in which they are sent.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum PromptPart {
    Base,
    Policy,
    Toolkit,
    EntityDefaults,
    SupervisorInstruction,
    Memories,
    DateTime,
}

/// One part of a prompt as it was sent, after redaction and cutting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PromptPartView {
    pub part: PromptPart,
    pub text: String,
    /// Whether it was longer than allowed and was cut.
    pub cut: bool,
}

/// Whether a tool has execution instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum InstructionState {
    Found,
    Missing,
    Error,
}

/// A section of execution instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SectionView {
    pub title: String,
    pub keywords: Vec<String>,
    /// How many of its keywords occur in the question; 0 without a question.
    pub score: u32,
    /// Whether it was given to the model.
    pub chosen: bool,
}

/// The execution instructions of a tool, as they are now or as a turn used them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct InstructionsView {
    pub tool: ToolId,
    pub title: String,
    pub state: InstructionState,
    /// Where they were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Files that could not be used.
    pub problems: Vec<String>,
    pub sections: Vec<SectionView>,
    /// Whether all sections were given because none fits the question.
    pub whole: bool,
    /// Characters given to the model.
    pub characters: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<DateTime<Utc>>,
}

/// A specialist for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AgentView {
    pub id: AgentId,
    pub name: String,
    pub summary: String,
    pub pack: PackId,
    pub tools: Vec<ToolId>,
    pub defaults: Vec<EntityDefault>,
    /// The most model calls of one run.
    pub rounds: u32,
    pub calls_per_round: u32,
    /// Whether the supervisor may choose it.
    pub enabled: bool,
}

/// The prompt of one model run of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PromptTrace {
    pub session: SessionId,
    pub turn: TurnId,
    pub at: DateTime<Utc>,
    /// The specialist's name; absent for the supervisor and for runs without specialists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub parts: Vec<PromptPartView>,
    pub instructions: Vec<InstructionsView>,
}

/// All layers: specialists, tools with their instructions, and the newest turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct InstructionsResponse {
    pub agents: Vec<AgentView>,
    pub tools: Vec<InstructionsView>,
    /// Newest first; kept in memory only.
    pub turns: Vec<PromptTrace>,
}

/// The specialist and question to preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PromptPreviewParams {
    /// Absent for the supervisor's own prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    pub question: String,
}

/// The prompt, and what would follow the results of each tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PromptPreviewResponse {
    pub parts: Vec<PromptPartView>,
    pub instructions: Vec<InstructionsPreview>,
}

/// Execution instructions as they would follow a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct InstructionsPreview {
    pub view: InstructionsView,
    pub text: String,
}
