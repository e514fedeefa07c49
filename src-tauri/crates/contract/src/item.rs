//! The items of a turn. Completed items are stored; deltas are not.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    AgentError, ApprovalId, ApprovalStatus, Block, CallId, Effect, ItemId, RedactionCount,
    RedactionLevel, ResultView, SessionId, SummaryMethod, Text, ToolId, TurnId,
};

/// A stored step of a session, in the order of `seq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Item {
    pub id: ItemId,
    pub session: SessionId,
    pub turn: TurnId,
    /// Position within the session, from 1. Gaps have no meaning.
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
        /// The model that answered, as shown to the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The specialist that answered, as shown to the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// Answers that the user may choose with one click.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
        /// Whether the turn stopped before the text was complete (cancel, crash, error).
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
        /// The full result (`null` without one). The model may get a shorter form.
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
    /// The counts of what was redacted in this turn. Contains no values.
    Redaction {
        level: RedactionLevel,
        counts: Vec<RedactionCount>,
    },
    /// From here on, the model reads this summary instead of the older messages.
    Summary {
        text: String,
        /// How many messages it replaces.
        messages: u64,
        /// How it was made.
        method: SummaryMethod,
    },
    Notice {
        level: NoticeLevel,
        /// A key of the text catalogue, e.g. `turn_interrupted`.
        code: String,
        text: Text,
    },
}

/// How a tool call ended. Every call ends exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    Ok,
    Error,
    /// Refused because the round or turn had no calls left, or because the same call came a third
    /// time.
    Limit,
    /// Refused by policy.
    Denied,
    Rejected,
    Expired,
    Cancelled,
    /// The app stopped between intent and outcome. The call may have taken effect.
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
