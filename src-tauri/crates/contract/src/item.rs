//! What a turn is made of. Completed items are stored; deltas never are.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    AgentError, ApprovalId, ApprovalStatus, Block, CallId, Effect, ItemId, RedactionCount, RedactionLevel, ResultView, SessionId, SummaryMethod, ToolId, TurnId,
};

/// One stored step of a session, in the order of `seq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Item {
    pub id: ItemId,
    pub session: SessionId,
    pub turn: TurnId,
    /// Position within the session, from 1, without gaps that matter.
    pub seq: u64,
    pub created_at: DateTime<Utc>,
    pub body: ItemBody,
}

/// The kinds of items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ItemBody {
    UserMessage {
        text: String,
    },
    AssistantText {
        text: String,
        /// The rendered text. Never stored: the window's host fills it when items are read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        blocks: Vec<Block>,
        /// Which model answered, as shown to the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The specialist that said it, as shown to the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// What the user may answer with one click.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
        /// True when the turn stopped before the text was complete (cancel, crash, error).
        #[serde(default)]
        partial: bool,
    },
    ToolCall {
        call: CallId,
        tool: ToolId,
        title: String,
        effect: Effect,
        /// Arguments after coercion, as the tool receives them, without caller-owned values.
        #[ts(type = "unknown")]
        arguments: Value,
    },
    ToolResult {
        call: CallId,
        tool: ToolId,
        outcome: ToolOutcome,
        /// One line for the collapsed card.
        summary: String,
        /// The result in full (`null` when there is none). The model may get a shorter form.
        #[ts(type = "unknown")]
        data: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<AgentError>,
        /// How the window shows `data`.
        #[serde(default)]
        view: ResultView,
        duration_ms: u64,
    },
    Approval {
        approval: ApprovalId,
        call: CallId,
        tool: ToolId,
        status: ApprovalStatus,
        /// The reason given with a rejection, or why it expired.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// What was held back from the model in this turn, as counts; never a value.
    Redaction {
        level: RedactionLevel,
        counts: Vec<RedactionCount>,
    },
    /// From here on the model reads this instead of the older messages.
    Summary {
        text: String,
        /// Messages that it stands for.
        messages: u64,
        /// Who made it.
        method: SummaryMethod,
    },
    Notice {
        level: NoticeLevel,
        /// A key of the text catalogue, e.g. `turn_interrupted`.
        code: String,
        text: String,
    },
}

/// How a tool call ended. Every call ends exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    Ok,
    Error,
    /// Refused because the round or the turn had no calls left, or the same call came a third time.
    Limit,
    /// Refused by policy.
    Denied,
    Rejected,
    Expired,
    Cancelled,
    /// The app stopped between intent and outcome: it may or may not have happened.
    Unknown,
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    Info,
    Warning,
    Error,
}

/// An answer offered as a button; clicking sends `message`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Choice {
    pub label: String,
    pub message: String,
}
