//! A pending action and its decision. Only the approval window (or a person at a terminal) decides.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{ApprovalId, CallId, Effect, GrantId, SessionId, ToolId, TurnId};

/// pending -> approved -> executing -> done | failed; pending -> rejected | expired | cancelled; approved -> expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    Pending,
    Approved,
    Executing,
    Done,
    Failed,
    Rejected,
    Expired,
    Cancelled,
    /// Replaced by an edited proposal or by one with a changed preview.
    Superseded,
}

impl ApprovalStatus {
    /// Whether the status can no longer change.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Approved | Self::Executing)
    }
}

/// A pending action in full, as the approval window shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Approval {
    pub id: ApprovalId,
    pub session: SessionId,
    pub turn: TurnId,
    pub call: CallId,
    pub tool: ToolId,
    pub tool_title: String,
    pub server: String,
    pub agent: String,
    pub effect: Effect,
    /// Canonical JSON (RFC 8785) of the arguments, caller-owned values included.
    pub arguments: String,
    /// SHA-256 (hex) over server, tool, definition hash, arguments and caller-owned values.
    pub hash: String,
    /// Why a person must decide: the rule or default that requires it.
    pub why: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<PreviewView>,
    /// The language that `preview` is written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub status: ApprovalStatus,
    /// Whether it may be approved for the rest of the session.
    pub grantable: bool,
    /// Destructive actions: the word the person has to type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_word: Option<String>,
    /// Whether nobody could approve when it was created. It then waits for a later decision, beyond
    /// its turn.
    #[serde(default)]
    pub headless: bool,
    /// Untrusted content that had entered the turn before. Content that the arguments quote comes
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<UntrustedContent>>")]
    pub follows: Vec<UntrustedContent>,
    /// Words of the arguments that mix alphabets, so that they could be mistaken for other words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<LookAlike>>")]
    pub look_alikes: Vec<LookAlike>,
    /// The proposal this one replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ApprovalId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<DateTime<Utc>>,
}

/// A piece of untrusted content. It is shown as plain text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct UntrustedContent {
    /// The tool that returned it; empty for remembered content of earlier messages.
    pub tool: ToolId,
    pub tool_title: String,
    pub server: String,
    /// The call that returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// A part of it, on one line.
    pub excerpt: String,
    /// Whether the arguments contain a text from this excerpt.
    pub quoted: bool,
}

/// A word with letters of more than one alphabet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct LookAlike {
    pub word: String,
    /// The first letter that does not belong to the word's other letters.
    pub letter: String,
    /// Its code point, such as `U+0430`.
    pub code: String,
    /// Its alphabet by its English name, such as `Cyrillic`.
    pub script: String,
}

/// The change that an action would make, computed by the host from read calls and the manifest's template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PreviewView {
    /// One sentence, e.g. "Add 2 × Ridge Runner (42, black)".
    pub summary: String,
    pub before: PreviewState,
    pub after: PreviewState,
}

/// One side of a preview.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PreviewState {
    pub rows: Vec<PreviewRow>,
    /// e.g. "2 598.00 SEK"; empty when there is none.
    #[serde(default)]
    pub total: String,
}

/// One line of a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PreviewRow {
    pub label: String,
    #[serde(default)]
    pub quantity: String,
    #[serde(default)]
    pub amount: String,
    /// Whether the action adds or changes this line.
    #[serde(default)]
    pub changed: bool,
}

/// A person's decision. Only the approval window or a terminal sends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    ApproveOnce {
        /// For destructive actions, the typed word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirm_word: Option<String>,
    },
    ApproveForSession,
    /// Replaces the arguments. This makes a new proposal with its own hash.
    Edit {
        /// JSON text as it was typed. A window that read it would round its numbers.
        arguments: String,
    },
    Reject {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A remembered permission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Grant {
    pub id: GrantId,
    pub session: SessionId,
    pub tool: ToolId,
    pub server: String,
    pub definition_hash: String,
    /// Argument values that must be equal, by name; parameters not named are free.
    #[ts(type = "Record<string, unknown>")]
    pub pattern: serde_json::Map<String, Value>,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<DateTime<Utc>>,
}
