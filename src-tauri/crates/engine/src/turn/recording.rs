//! Defines the recording of a turn: its state at the start, and the answers, results and decisions
//! of models, tools and people, in order.

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

use crate::ports::{HiddenAction, Memory, ModelError, ModelEvent, SessionValues};

/// A recorded turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// The identifier of the turn.
    pub turn: TurnId,
    /// The message, with its session.
    pub message: TurnStartParams,
    /// The time at which the turn began.
    pub started_at: DateTime<Utc>,
    /// The state of the profile and the session before the turn.
    pub start: StartState,
    /// The properties of the model.
    pub model: RecordedModel,
    /// The model's answers, one for each call.
    pub answers: Vec<RecordedAnswer>,
    /// The attempts of tool calls.
    pub attempts: Vec<RecordedAttempt>,
    /// Why tools could not be called, by tool.
    pub refusals: Vec<(ToolId, AgentError)>,
    /// How pending actions ended, in order.
    pub decisions: Vec<RecordedDecision>,
    /// The long-term memories that matched the message.
    pub memories: Vec<MemoryHit>,
}

/// The state of the profile and the session before a turn, except its items.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StartState {
    /// The caller that sent the message.
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
    /// The problems in the rules.
    pub faults: Vec<PolicyFault>,
    /// The language of the profile.
    pub locale: String,
    /// The time zone of the profile.
    pub time_zone: String,
    /// Whether a general assistant answers.
    pub is_generalist: bool,
    /// The values of the profile for caller-owned parameters.
    pub caller_values: SessionValues,
    /// The values of the session.
    pub session_values: SessionValues,
    /// The summaries of the session.
    pub summaries: Vec<Memory>,
    /// The permissions of the session.
    pub grants: Vec<Grant>,
    /// The changes that tools made in versions of messages that were not shown.
    #[serde(default)]
    pub hidden_actions: Vec<HiddenAction>,
}

/// The properties of a model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RecordedModel {
    /// The name of the model for the user.
    pub label: String,
    /// The names of all models that may answer.
    pub possible_labels: Vec<String>,
    /// The model's capabilities.
    pub capabilities: ModelCapabilities,
    /// The length of the model's longest answer.
    pub longest_answer: u32,
    /// Whether the model runs on this computer.
    pub is_local: bool,
    /// Whether the model is built into this program.
    pub in_process: bool,
    /// Whether the model reads results as values.
    pub reads_values: bool,
    /// Whether the model had refused tools before the turn.
    #[serde(default)]
    pub refuses_tools: bool,
}

/// An answer of a model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// The events of the answer. Consecutive pieces of text are joined.
    pub events: Vec<Result<ModelEvent, ModelError>>,
    /// Whether the answer was read to its end. If not, the turn was cancelled.
    pub is_complete: bool,
}

/// An attempt of a tool call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedAttempt {
    /// The tool.
    pub tool: ToolId,
    /// The sent arguments.
    pub arguments: Value,
    /// The further requests that the call made.
    pub further: Vec<RecordedFurther>,
    /// The result. Absent if the attempt was stopped before a result.
    pub result: Option<Result<Value, RecordedFailure>>,
}

/// A further request of a tool call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedFurther {
    /// The same request, with answers that the server requested.
    Answers(Value),
    /// A request with other arguments.
    Arguments(Value),
}

/// The failure of an attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedFailure {
    /// The error.
    pub error: AgentError,
    /// Whether the call may have taken effect.
    pub may_have_happened: bool,
}

/// How a pending action ended. The actions of a round wait at the same time, so each decision names
/// its action.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedDecision {
    /// The tool of the action.
    pub tool: ToolId,
    /// The arguments of the action as canonical JSON.
    pub arguments: String,
    /// How the action ended.
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

/// The end of a pending action.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedEnd {
    /// A person decided.
    Decided {
        /// The decision.
        decision: Decision,
        /// The place where the person decided: `window`, `terminal` or `caller`.
        by: String,
    },
    /// The time for a decision ran out.
    Expired,
    /// The turn was cancelled.
    Cancelled,
}
