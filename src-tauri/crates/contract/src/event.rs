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
    pub session: SessionId,
    pub turn: TurnId,
    pub n: u64,
    pub at: DateTime<Utc>,
    #[serde(flatten)]
    pub event: EventBody,
}

/// The kinds of events. Exactly one `final` ends a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    Status {
        stage: Stage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    DevStatus {
        text: String,
        #[ts(type = "unknown")]
        data: Value,
    },
    /// A specialist works from here on.
    AgentStart {
        agent: AgentId,
        name: String,
    },
    AgentEnd {
        agent: AgentId,
        name: String,
    },
    ToolStart {
        call: CallId,
        tool: ToolId,
        title: String,
        #[ts(type = "unknown")]
        arguments: Value,
    },
    ToolEnd {
        call: CallId,
        tool: ToolId,
        outcome: ToolOutcome,
        summary: String,
    },
    ApprovalRequested {
        approval: Box<Approval>,
    },
    ApprovalResolved {
        id: ApprovalId,
        status: ApprovalStatus,
    },
    Reasoning {
        text: String,
    },
    /// Provisional text of the answer.
    Delta {
        text: String,
    },
    /// The rendered form of the deltas so far. The window gets it instead of `delta`.
    Blocks {
        patch: BlockPatch,
    },
    /// A completed item, as stored.
    Item {
        item: Box<Item>,
    },
    /// Something failed; `final` still follows.
    Error {
        error: AgentError,
    },
    Final {
        status: TurnStatus,
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<AgentError>,
        usage: Usage,
    },
}

/// The stage that a turn has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Queued,
    Started,
    Thinking,
    Tools,
    WaitingForApproval,
    Retrying,
    OutputReplaced,
    Finalizing,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    Ok,
    /// The bound was reached; the text is the best there is.
    Limit,
    Cancelled,
    Error,
    /// No one could approve: the pending action's id is in the error.
    ApprovalRequired,
}

/// Tokens as the provider counted them, summed over the model calls of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub model_calls: u32,
}
