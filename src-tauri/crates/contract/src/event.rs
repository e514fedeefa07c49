//! The events of a running turn. The window, `csign` and the HTTP API get the same events.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    AgentError, AgentId, Approval, ApprovalId, ApprovalStatus, BlockPatch, CallId, Choice, Item,
    SessionId, ToolId, ToolOutcome, TurnId,
};

/// One event with its address. `n` counts from 1 within a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TurnEvent {
    /// The session that the turn belongs to.
    pub session: SessionId,
    /// The turn that the event belongs to.
    pub turn: TurnId,
    /// The number of the event within its turn.
    pub n: u64,
    /// The moment at which the event was emitted.
    pub at: DateTime<Utc>,
    /// The kind of event with its values.
    #[serde(flatten)]
    pub event: EventBody,
}

/// The kinds of events. Exactly one `final` ends a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// The turn reached another stage.
    Status {
        /// The stage that was reached.
        stage: Stage,
        /// A sentence about it, if there is more to say than the stage.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// Information for developers that a user need not see.
    DevStatus {
        /// The key or sentence that names the information.
        text: String,
        /// Values that belong to it; `null` without any.
        #[ts(type = "unknown")]
        data: Value,
    },
    /// A specialist works from here on.
    AgentStart {
        /// The identifier of the specialist.
        agent: AgentId,
        /// The specialist's name for display.
        name: String,
    },
    /// The specialist's work ended.
    AgentEnd {
        /// The identifier of the specialist.
        agent: AgentId,
        /// The specialist's name for display.
        name: String,
    },
    /// A tool call began.
    ToolStart {
        /// The identifier of the call.
        call: CallId,
        /// The tool that is called.
        tool: ToolId,
        /// The tool's title for display.
        title: String,
        /// The arguments that the model gave, without caller-owned values.
        #[ts(type = "unknown")]
        arguments: Value,
    },
    /// A tool call ended.
    ToolEnd {
        /// The identifier of the call.
        call: CallId,
        /// The tool that was called.
        tool: ToolId,
        /// How the call ended.
        outcome: ToolOutcome,
        /// One line about the result.
        summary: String,
    },
    /// An action waits for a person's decision.
    ApprovalRequested {
        /// The pending action in full.
        approval: Box<Approval>,
    },
    /// A pending action was decided, expired, or was replaced.
    ApprovalResolved {
        /// The identifier of the action.
        id: ApprovalId,
        /// The status that it has now.
        status: ApprovalStatus,
    },
    /// A piece of the model's thoughts before its answer.
    Reasoning {
        /// The text to append.
        text: String,
    },
    /// Provisional text of the answer.
    Delta {
        /// The text to append.
        text: String,
    },
    /// The rendered form of the deltas so far. The window gets it instead of `delta`.
    Blocks {
        /// The blocks that changed since the last frame.
        patch: BlockPatch,
    },
    /// A completed item, as stored.
    Item {
        /// The item with its number.
        item: Box<Item>,
    },
    /// Something failed; `final` still follows.
    Error {
        /// The failure, safe to show.
        error: AgentError,
    },
    /// The turn ended. It is the last event.
    Final {
        /// How the turn ended.
        status: TurnStatus,
        /// The whole text of the answer.
        text: String,
        /// Answers that the user may choose with one click.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
        /// The error, unless the turn ended well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<AgentError>,
        /// Tokens and model calls of the turn.
        usage: Usage,
    },
}

/// The stage that a turn has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The message waits for an earlier turn of its session.
    Queued,
    /// The turn began.
    Started,
    /// A model is being called.
    Thinking,
    /// Tool calls are being made.
    Tools,
    /// A person has to decide about an action.
    WaitingForApproval,
    /// A failed model call is made again, or another model takes over.
    Retrying,
    /// The text shown so far is withdrawn; the final text takes its place.
    OutputReplaced,
    /// The answer is being saved.
    Finalizing,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// The turn ended with an answer.
    Ok,
    /// The bound was reached; the text is the best there is.
    Limit,
    /// The user or the caller stopped the turn.
    Cancelled,
    /// The turn failed; the event has the error.
    Error,
    /// No one could approve: the pending action's id is in the error.
    ApprovalRequired,
}

/// Tokens as the provider counted them, summed over the model calls of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Usage {
    /// Tokens of the requests.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// The number of calls.
    pub model_calls: u32,
}
