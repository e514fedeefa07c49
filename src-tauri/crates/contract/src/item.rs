//! The items of a turn. Completed items are stored; deltas are not.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    AgentError, ApprovalId, ApprovalStatus, Block, CallId, Effect, ItemId, MemoryId,
    RedactionCount, RedactionLevel, ResultView, SessionId, SummaryMethod, Text, ToolId, TurnId,
};

/// A stored step of a session, in the order of `seq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Item {
    /// The identifier of the item.
    pub id: ItemId,
    /// The session that the item belongs to.
    pub session: SessionId,
    /// The turn that made the item.
    pub turn: TurnId,
    /// Position within the session, from 1. Gaps have no meaning.
    pub seq: u64,
    /// The moment at which the item was completed.
    pub created_at: DateTime<Utc>,
    /// The kind of item with its values.
    pub body: ItemBody,
}

/// The kinds of items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ItemBody {
    /// A message of the user.
    UserMessage {
        /// The message, with known secrets removed.
        text: String,
    },
    /// Text that the assistant answered.
    AssistantText {
        /// The text as Markdown.
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
        /// The long-term memories that the model read for this answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remembered: Vec<MemoryId>,
        /// Whether the turn had seen data that must stay on this computer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        local_only: bool,
        /// Whether the turn had seen content from untrusted sources.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        untrusted: bool,
        /// Whether the turn stopped before the text was complete (cancel, crash, error).
        #[serde(default)]
        partial: bool,
        /// The members that the model's server gets back with the text. Stored, and shown to nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(skip)]
        #[ts(skip)]
        kept: Option<Box<Kept>>,
    },
    /// A tool call that the model asked for.
    ToolCall {
        /// The identifier of the call, which its result repeats.
        call: CallId,
        /// The tool that is called.
        tool: ToolId,
        /// The tool's title for display.
        title: String,
        /// The kind of change that the tool makes.
        effect: Effect,
        /// Arguments after coercion, as the tool receives them, without caller-owned values.
        #[ts(type = "unknown")]
        arguments: Value,
        /// Whether the turn had seen data that must stay on this computer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        local_only: bool,
        /// Whether the turn had seen content from untrusted sources, which the arguments may repeat.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        untrusted: bool,
        /// The members that the model's server gets back with the call. Stored, and shown to nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(skip)]
        #[ts(skip)]
        kept: Option<Box<Kept>>,
    },
    /// The end of a tool call.
    ToolResult {
        /// The identifier of the call.
        call: CallId,
        /// The tool that was called.
        tool: ToolId,
        /// How the call ended.
        outcome: ToolOutcome,
        /// One line for the collapsed card.
        summary: String,
        /// The full result (`null` without one). The model may get a shorter form.
        #[ts(type = "unknown")]
        data: Value,
        /// The error, unless the call succeeded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<AgentError>,
        /// Whether the result must stay on this computer, as the host says. None if an older version
        /// stored it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        local_only: Option<bool>,
        /// How clients show `data`, as the tool declared it at the time of the call.
        #[serde(default)]
        view: ResultView,
        /// The content that the window draws for `view`, read from `data`: a `ResultContent`, or the own
        /// form of a named view. Never stored: the window's host fills it when items are read. None if
        /// `data` cannot be read as this view.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "unknown")]
        parsed: Option<Value>,
        /// Whether the result may contain content from untrusted sources. Results that were stored
        /// without this member count as untrusted.
        #[serde(default = "is_untrusted_unless_said")]
        untrusted: bool,
        /// The milliseconds that the call took.
        duration_ms: u64,
    },
    /// A pending action and its present status.
    Approval {
        /// The identifier of the action.
        approval: ApprovalId,
        /// The call that waits, or waited, for the decision.
        call: CallId,
        /// The tool of the call.
        tool: ToolId,
        /// The status of the action.
        status: ApprovalStatus,
        /// The reason given with a rejection, or why it expired.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The counts of what was redacted in this turn. Contains no values.
    Redaction {
        /// The redaction level of the turn.
        level: RedactionLevel,
        /// The number of redacted values of each kind.
        counts: Vec<RedactionCount>,
    },
    /// From here on, the model reads this summary instead of the older messages.
    Summary {
        /// The text of the summary.
        text: String,
        /// How many messages it replaces.
        messages: u64,
        /// How it was made.
        method: SummaryMethod,
    },
    /// A statement of the app, neither the user's nor the model's.
    Notice {
        /// How much the notice matters.
        level: NoticeLevel,
        /// A key of the text catalogue, e.g. `turn_interrupted`.
        code: String,
        /// The statement in English.
        text: Text,
    },
}

/// Members of an answer that only the server knows which sent them, such as signatures of thoughts. They
/// go back unchanged to the same address and model, and nowhere else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The protocol, the server and the model that sent them.
    pub maker: String,
    /// The members of the message. With several calls, the first one has them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub message: Value,
    /// The members of the call.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub call: Value,
}

impl ItemBody {
    /// Takes out what only the model's server reads, before the item is shown.
    pub fn forget_kept(&mut self) {
        if let Self::AssistantText { kept, .. } | Self::ToolCall { kept, .. } = self {
            *kept = None;
        }
    }
}

fn is_untrusted_unless_said() -> bool {
    true
}

/// How a tool call ended. Every call ends exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// The call succeeded.
    Ok,
    /// The call failed; the result has the error.
    Error,
    /// Refused because the round or turn had no calls left, or because the same call came a third
    /// time.
    Limit,
    /// Refused by policy.
    Denied,
    /// A person rejected the call.
    Rejected,
    /// The time for a decision ran out.
    Expired,
    /// The turn was stopped before the call ended.
    Cancelled,
    /// The app stopped between intent and outcome. The call may have taken effect.
    Unknown,
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Information that needs no reaction.
    Info,
    /// Something that the user should know.
    Warning,
    /// A failure.
    Error,
}

/// An answer offered as a button; clicking sends `message`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Choice {
    /// The text on the button.
    pub label: String,
    /// The message that a click sends.
    pub message: String,
}
