//! The recording of a turn: its state at the start, and everything that models, tools and people
//! gave it, in the order in which it came. Does no work.

pub(crate) mod keeping;
pub(crate) mod of_turn;
pub(crate) mod recorder;
pub(crate) mod taps;

use chrono::{DateTime, Utc};
use contract::{
    AgentError, Approval, CallerKind, Decision, Grant, MemoryHit, ModelCapabilities, PolicyFault,
    PolicyRule, Settings, StandingGrant, ToolId, TurnId, TurnStartParams,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ports::{Memory, ModelError, ModelEvent, SessionValues};

/// A recorded turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// The turn.
    pub turn: TurnId,
    /// The message, with its session.
    pub message: TurnStartParams,
    /// The moment at which the turn began.
    pub started_at: DateTime<Utc>,
    /// The state in which it began.
    pub start: StartState,
    /// The model as it described itself.
    pub model: RecordedModel,
    /// The model's answers, one for each call.
    pub answers: Vec<RecordedAnswer>,
    /// The attempts of tool calls.
    pub attempts: Vec<RecordedAttempt>,
    /// Why tools could not be called, by tool.
    pub refusals: Vec<(ToolId, AgentError)>,
    /// How actions that waited for a person ended, in the order in which they ended.
    pub decisions: Vec<RecordedDecision>,
    /// The long-term memories that fitted the message.
    pub memories: Vec<MemoryHit>,
}

/// The state of the profile and the session before a turn, besides its items.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StartState {
    /// Through what the message came.
    #[serde(alias = "origin")]
    pub caller: CallerKind,
    /// The name of the person who runs the process.
    pub person: Option<String>,
    /// The settings of the profile.
    pub settings: Settings,
    /// The rules of the profile.
    pub rules: Vec<PolicyRule>,
    /// The standing permissions of the profile.
    pub standing_grants: Vec<StandingGrant>,
    /// The faults of the rules.
    pub faults: Vec<PolicyFault>,
    /// The language of the profile.
    pub locale: String,
    /// The time zone of the profile.
    pub time_zone: String,
    /// Whether a general assistant answers.
    pub is_generalist: bool,
    /// The values that the profile gives to tools.
    pub caller_values: SessionValues,
    /// The values of the session.
    pub session_values: SessionValues,
    /// The summaries of the session.
    pub summaries: Vec<Memory>,
    /// The permissions of the session.
    pub grants: Vec<Grant>,
}

/// A model as it described itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RecordedModel {
    /// Its name for the user.
    pub label: String,
    /// The names of all models that may answer.
    pub possible_labels: Vec<String>,
    /// Its capabilities.
    pub capabilities: ModelCapabilities,
    /// The length of its longest answer.
    pub longest_answer: u32,
    /// Whether it runs on this computer.
    pub is_local: bool,
    /// Whether it is built into this program.
    pub in_process: bool,
    /// Whether it reads results as values.
    pub reads_values: bool,
    /// Whether it had refused tools.
    #[serde(default)]
    pub refuses_tools: bool,
}

/// One answer of a model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// Its events. Pieces of text that follow each other are joined.
    pub events: Vec<Result<ModelEvent, ModelError>>,
    /// Whether it was read to its end. If not, the turn was cancelled.
    pub is_complete: bool,
}

/// One attempt of a tool call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedAttempt {
    /// The tool.
    pub tool: ToolId,
    /// The arguments as they were sent.
    pub arguments: Value,
    /// The further requests that it made.
    pub further: Vec<RecordedFurther>,
    /// Its result. Absent if it was stopped before it had one.
    pub result: Option<Result<Value, RecordedFailure>>,
}

/// A further request of a tool call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedFurther {
    /// The same request with answers that the server asked for.
    Answers(Value),
    /// A request with other arguments.
    Arguments(Value),
}

/// Why an attempt failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedFailure {
    /// The error.
    pub error: AgentError,
    /// Whether the call may have taken effect.
    pub may_have_happened: bool,
}

/// How an action that waited for a person ended. The actions of one round wait together, so each
/// decision says which one it is about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedDecision {
    /// The tool of the action.
    pub tool: ToolId,
    /// The arguments of the action as canonical JSON.
    pub arguments: String,
    /// How it ended.
    pub end: RecordedEnd,
}

impl RecordedDecision {
    pub(crate) fn of(approval: &Approval, end: RecordedEnd) -> Self {
        Self { tool: approval.tool.clone(), arguments: approval.arguments.clone(), end }
    }

    /// Whether the decision is about this action.
    pub(crate) fn is_about(&self, approval: &Approval) -> bool {
        self.tool == approval.tool && self.arguments == approval.arguments
    }
}

/// The end of an action that waited for a person.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedEnd {
    /// A person decided.
    Decided {
        /// The decision.
        decision: Decision,
        /// Where the person was: `window`, `terminal` or `caller`.
        by: String,
    },
    /// Its time was over.
    Expired,
    /// The turn was cancelled.
    Cancelled,
}
