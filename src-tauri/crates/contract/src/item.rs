//! The items of a turn. Completed items are stored; deltas are not.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    AgentError, ApprovalId, ApprovalStatus, Block, CallId, Effect, ItemId, MemoryId,
    RedactionCount, RedactionLevel, ResultView, SessionId, SourceName, SummaryMethod, Text, ToolId,
    TurnId,
};

/// A stored step of a session, in the order of `seq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Item {
    /// The identifier of the item.
    pub id: ItemId,
    /// The session that the item belongs to.
    pub session: SessionId,
    /// The turn to which the item belongs.
    pub turn: TurnId,
    /// The position within the session, from 1. Gaps have no meaning.
    pub seq: u64,
    /// The time at which the item was completed.
    pub created_at: DateTime<Utc>,
    /// The kind of item, with its values.
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
    /// The text of the assistant's answer.
    AssistantText {
        /// The text as Markdown.
        text: String,
        /// The rendered text, which is never stored. The window's host sets this member when items
        /// are read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        blocks: Vec<Block>,
        /// The display name of the model that answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The display name of the specialist that answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// Answers that the user may choose with one click.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
        /// The long-term memories that the model read for this answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remembered: Vec<MemoryId>,
        /// Whether the turn had read data that must stay on this computer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        local_only: bool,
        /// Whether the turn had read content from untrusted sources.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        untrusted: bool,
        /// Whether the turn ended before the text was complete (cancel, crash, error).
        #[serde(default)]
        partial: bool,
        /// The members that must be returned to the model's server with the text. They are stored
        /// but never shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(skip)]
        #[ts(skip)]
        kept: Option<Box<Kept>>,
    },
    /// A tool call that the model asked for.
    ToolCall {
        /// The identifier of the call, which its result refers to.
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
        /// Whether the turn had read data that must stay on this computer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        local_only: bool,
        /// Whether the turn had read content from untrusted sources, which the arguments may
        /// repeat.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        untrusted: bool,
        /// The members that must be returned to the model's server with the call. They are stored
        /// but never shown.
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
        /// A one-line summary for the collapsed card.
        summary: String,
        /// The full result, or `null` if there is none. The model may get a shorter form.
        #[ts(type = "unknown")]
        data: Value,
        /// The error, unless the call succeeded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<AgentError>,
        /// Whether the host requires the result to stay on this computer. None if an older version
        /// stored the result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        local_only: Option<bool>,
        /// How clients show `data`, as the tool declared it at the time of the call.
        #[serde(default)]
        view: ResultView,
        /// The content that the window draws for `view`, read from `data`: a `ResultContent`, or
        /// the format of a named view. The content is never stored. The window's host sets this
        /// member when items are read. None if `data` cannot be read as this view.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "unknown")]
        parsed: Option<Value>,
        /// Whether the result may contain content from untrusted sources. Results that were stored
        /// without this member are treated as untrusted.
        #[serde(default = "is_untrusted_unless_said")]
        untrusted: bool,
        /// The milliseconds that the call took.
        duration_ms: u64,
    },
    /// A pending action and its current status.
    Approval {
        /// The identifier of the action.
        approval: ApprovalId,
        /// The call that waits, or waited, for the decision.
        call: CallId,
        /// The tool of the call.
        tool: ToolId,
        /// The status of the action.
        status: ApprovalStatus,
        /// The reason given with a rejection, or why the action expired.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The numbers of redacted values in this turn, without the values.
    Redaction {
        /// The redaction level of the turn.
        level: RedactionLevel,
        /// The number of redacted values of each kind.
        counts: Vec<RedactionCount>,
    },
    /// A summary that replaces the older messages for the model from here on.
    Summary {
        /// The text of the summary.
        text: String,
        /// The number of messages that the summary replaces.
        messages: u64,
        /// How the summary was made.
        method: SummaryMethod,
    },
    /// A statement of the app, neither the user's nor the model's.
    Notice {
        /// The importance of the notice.
        level: NoticeLevel,
        /// A key of the text catalogue, e.g. `turn_interrupted`.
        code: String,
        /// The statement as an English text.
        text: Text,
    },
}

/// Members of an answer that only the sending server understands, such as signatures of thoughts.
/// They are returned unchanged to the same address and model, and sent nowhere else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The protocol, the server and the model that sent them.
    pub maker: String,
    /// The members of the message. With several calls, the first call has them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub message: Value,
    /// The members of the call.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub call: Value,
}

impl ItemBody {
    /// Removes the members that only the model's server reads, before the item is shown.
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
    /// Refused because the round or turn had no calls left, or because the same call came for the
    /// third time.
    Limit,
    /// Refused by policy.
    Denied,
    /// A person rejected the call.
    Rejected,
    /// The time for a decision expired.
    Expired,
    /// The turn was stopped before the call ended.
    Cancelled,
    /// The app stopped between the intent and the outcome. The call may have taken effect.
    Unknown,
}

/// The importance of a notice.
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

/// An answer offered as a button; a click sends `message`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Choice {
    /// The text on the button.
    pub label: String,
    /// The message that a click sends.
    pub message: String,
    /// The word that this choice understands in its own way, if a person can have it understood so
    /// from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub remember: Option<RememberedWord>,
}

impl Choice {
    /// Creates a choice that stands for its message only.
    pub fn new(label: impl Into<String>, message: impl Into<String>) -> Self {
        Self { label: label.into(), message: message.into(), remember: None }
    }
}

/// A word of a question that a choice reads as a measure or dimension. A person can store it as another
/// name of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RememberedWord {
    /// The source.
    pub source: SourceName,
    /// The measure or dimension.
    pub name: String,
    /// The word.
    pub word: String,
    /// The language of the word, such as `sv`.
    pub language: String,
}
