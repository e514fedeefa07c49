//! The prompt of a model, layer by layer, for display: the specialists, the parts of a prompt, the
//! execution instructions of tools, and the instructions that a turn used. These types only contain
//! data. Prompts are written and sent elsewhere.

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
    /// The instructions that every prompt begins with.
    Base,
    /// The rules about calls and approvals that the model must follow.
    Policy,
    /// The tools on offer, with hints on when to use each.
    Toolkit,
    /// The parameter values that apply if the user gives none.
    EntityDefaults,
    /// Examples of answers and of what to do if no answer is possible.
    Examples,
    /// The instruction that the supervisor gives a specialist for this turn.
    SupervisorInstruction,
    /// The memory of earlier messages, and the answers of specialists so far.
    Memories,
    /// The user's local date, time and zone.
    DateTime,
}

/// One part of a prompt as it was sent, after redaction and cutting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PromptPartView {
    /// The part that the text belongs to.
    pub part: PromptPart,
    /// The text as sent to the model.
    pub text: String,
    /// Whether the text was longer than allowed and was cut.
    pub cut: bool,
}

/// Whether a tool has execution instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum InstructionState {
    /// At least one file has instructions for the tool.
    Found,
    /// No file has instructions for the tool.
    Missing,
    /// A file exists but could not be used; `problems` has the reason.
    Error,
}

/// A section of execution instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SectionView {
    /// The heading of the section.
    pub title: String,
    /// Words that select this section if they occur in the question.
    pub keywords: Vec<String>,
    /// The number of the section's keywords that occur in the question; 0 without a question.
    pub score: u32,
    /// Whether the section was given to the model.
    pub chosen: bool,
}

/// The execution instructions of a tool, as they are now or as a turn used them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct InstructionsView {
    /// The tool whose results the instructions explain.
    pub tool: ToolId,
    /// The tool's title for display.
    pub title: String,
    /// Whether instructions were found for the tool.
    pub state: InstructionState,
    /// The place where the instructions were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Files that could not be used.
    pub problems: Vec<String>,
    /// All sections, in the order of the file.
    pub sections: Vec<SectionView>,
    /// Whether all sections were given to the model because none matches the question.
    pub whole: bool,
    /// Characters given to the model.
    pub characters: u32,
    /// The last time a turn used the instructions; absent if no turn has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<DateTime<Utc>>,
}

/// A specialist for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AgentView {
    /// The identifier of the specialist, by which its switch is set.
    pub id: AgentId,
    /// The specialist's name for display.
    pub name: String,
    /// A sentence about the specialist's task, which the supervisor also reads.
    pub summary: String,
    /// The pack that brings the specialist.
    pub pack: PackId,
    /// The tools that the specialist may call.
    pub tools: Vec<ToolId>,
    /// Parameter values that apply if the user names none.
    pub defaults: Vec<EntityDefault>,
    /// The most model calls of one run.
    pub rounds: u32,
    /// The most tool calls in one answer of the model.
    pub calls_per_round: u32,
    /// Whether the supervisor may choose the specialist.
    pub enabled: bool,
}

/// The prompt of a model run of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PromptTrace {
    /// The session that the turn belongs to.
    pub session: SessionId,
    /// The turn to which the model run belongs.
    pub turn: TurnId,
    /// The time at which the prompt was made.
    pub at: DateTime<Utc>,
    /// The specialist's name; absent for the supervisor and for runs without specialists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The parts of the prompt, in the order in which they were sent.
    pub parts: Vec<PromptPartView>,
    /// The execution instructions that the run used, one entry per tool.
    pub instructions: Vec<InstructionsView>,
}

/// All layers: specialists, tools with their instructions, and the newest turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct InstructionsResponse {
    /// All specialists of the installed packs.
    pub agents: Vec<AgentView>,
    /// All tools, with the instructions that were found for each.
    pub tools: Vec<InstructionsView>,
    /// The newest turns, newest first; kept in memory only.
    pub turns: Vec<PromptTrace>,
}

/// The specialist and question to preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PromptPreviewParams {
    /// The specialist; absent for the supervisor's prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The user's message for which the prompt is made.
    pub question: String,
}

/// The prompt, and the instructions that would follow the results of each tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PromptPreviewResponse {
    /// The parts of the prompt, in the order in which they would be sent.
    pub parts: Vec<PromptPartView>,
    /// The instructions for each tool of the specialist.
    pub instructions: Vec<InstructionsPreview>,
}

/// Execution instructions as they would be appended to a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct InstructionsPreview {
    /// The instructions and the sections that the question selects.
    pub view: InstructionsView,
    /// The text that would be appended to a result of the tool.
    pub text: String,
}
