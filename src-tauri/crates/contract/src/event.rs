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

/// An event with its address. `n` counts from 1 within a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TurnEvent {
    /// The session to which the turn belongs.
    pub session: SessionId,
    /// The turn to which the event belongs.
    pub turn: TurnId,
    /// The number of the event within its turn.
    pub n: u64,
    /// The time at which the event was emitted.
    pub at: DateTime<Utc>,
    /// The kind of event, with its values.
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
        /// A sentence about the stage, if there is more information.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// Information for developers that users do not need.
    DevStatus {
        /// The key or sentence that names the information.
        text: String,
        /// The values of the information; `null` if there are none.
        #[ts(type = "unknown")]
        data: Value,
    },
    /// A specialist begins to work.
    AgentStart {
        /// The identifier of the specialist.
        agent: AgentId,
        /// The specialist's name for display.
        name: String,
    },
    /// A specialist's work ended.
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
        /// The new status of the action.
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
    /// The turn ended. This is the last event.
    Final {
        /// How the turn ended.
        status: TurnStatus,
        /// The whole text of the answer.
        text: String,
        /// Answers that the user may choose with one click.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
        /// The error, unless the turn succeeded.
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
    /// The text shown so far is withdrawn; the final text replaces it.
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
    /// The turn reached a limit; the text is the best available answer.
    Limit,
    /// The user or the caller stopped the turn.
    Cancelled,
    /// The turn failed; the event has the error.
    Error,
    /// No person could approve; the error contains the pending action's id.
    ApprovalRequired,
}

/// The provider's token counts, summed over the model calls of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Usage {
    /// Tokens of the requests.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// The number of model calls.
    pub model_calls: u32,
}
