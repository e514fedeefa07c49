//! A pending action and its decision. Decisions come only from the approval window or from a person
//! at a terminal.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    AllowanceScope, ApprovalId, CallId, CallerKind, Destination, Effect, GrantId, ResultView,
    SessionId, Text, ToolId, TurnId,
};

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// The status of an action. `may_become` defines the allowed transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// No decision has been made.
    Pending,
    /// A person approved the action; the call has not begun.
    Approved,
    /// The call is being made.
    Executing,
    /// The call succeeded.
    Done,
    /// The call failed, or its outcome is unknown.
    Failed,
    /// A person rejected the action.
    Rejected,
    /// The time for a decision ran out, or the process that was to make the call has ended.
    Expired,
    /// The turn or session ended before the call.
    Cancelled,
    /// Replaced by an edited proposal or by a proposal with a changed preview.
    Superseded,
}

impl ApprovalStatus {
    /// Whether the status can no longer change.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Approved | Self::Executing)
    }

    /// Whether an action may change from this status to another. All transitions are defined here.
    pub fn may_become(self, to: Self) -> bool {
        match self {
            Self::Pending => match to {
                Self::Approved
                | Self::Rejected
                | Self::Expired
                | Self::Cancelled
                | Self::Superseded => true,
                Self::Pending | Self::Executing | Self::Done | Self::Failed => false,
            },
            Self::Approved => match to {
                Self::Executing
                | Self::Failed
                | Self::Expired
                | Self::Cancelled
                | Self::Superseded => true,
                Self::Pending | Self::Approved | Self::Done | Self::Rejected => false,
            },
            Self::Executing => match to {
                Self::Done | Self::Failed => true,
                Self::Pending
                | Self::Approved
                | Self::Executing
                | Self::Rejected
                | Self::Expired
                | Self::Cancelled
                | Self::Superseded => false,
            },
            Self::Done
            | Self::Failed
            | Self::Rejected
            | Self::Expired
            | Self::Cancelled
            | Self::Superseded => false,
        }
    }
}

/// A change of an action's status, made as a compare-and-set. A store makes no transition that
/// `may_become` does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The status that the action must have before the transition.
    pub from: ApprovalStatus,
    /// The status of the action after the transition.
    pub to: ApprovalStatus,
}

impl Transition {
    /// A person approves the action.
    pub const APPROVE: Self = Self::new(ApprovalStatus::Pending, ApprovalStatus::Approved);
    /// A person rejects the action.
    pub const REJECT: Self = Self::new(ApprovalStatus::Pending, ApprovalStatus::Rejected);
    /// The time for a decision ran out.
    pub const EXPIRE: Self = Self::new(ApprovalStatus::Pending, ApprovalStatus::Expired);
    /// The turn or the session ended before a decision.
    pub const CANCEL: Self = Self::new(ApprovalStatus::Pending, ApprovalStatus::Cancelled);
    /// Another proposal replaces the action before a decision.
    pub const REPLACE: Self = Self::new(ApprovalStatus::Pending, ApprovalStatus::Superseded);
    /// The approved call begins.
    pub const BEGIN: Self = Self::new(ApprovalStatus::Approved, ApprovalStatus::Executing);
    /// The check right before the call refuses the call.
    pub const REFUSE: Self = Self::new(ApprovalStatus::Approved, ApprovalStatus::Failed);
    /// The process that was to make the call has ended.
    pub const LAPSE: Self = Self::new(ApprovalStatus::Approved, ApprovalStatus::Expired);
    /// The turn is stopped between the decision and the call.
    pub const STOP: Self = Self::new(ApprovalStatus::Approved, ApprovalStatus::Cancelled);
    /// The action changes between the decision and the call.
    pub const OUTDATE: Self = Self::new(ApprovalStatus::Approved, ApprovalStatus::Superseded);
    /// The call succeeds.
    pub const COMPLETE: Self = Self::new(ApprovalStatus::Executing, ApprovalStatus::Done);
    /// The call fails, or its outcome is unknown.
    pub const FAIL: Self = Self::new(ApprovalStatus::Executing, ApprovalStatus::Failed);

    const fn new(from: ApprovalStatus, to: ApprovalStatus) -> Self {
        Self { from, to }
    }

    /// Whether `may_become` allows this transition.
    pub fn is_allowed(self) -> bool {
        self.from.may_become(self.to)
    }
}

/// A pending action in full, as the approval window shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Approval {
    /// The identifier of the pending action.
    pub id: ApprovalId,
    /// The session in which the action was proposed.
    pub session: SessionId,
    /// The turn that proposed the action.
    pub turn: TurnId,
    /// The tool call that waits for the decision.
    pub call: CallId,
    /// The tool that would be called.
    pub tool: ToolId,
    /// The tool's title for display.
    pub tool_title: String,
    /// The name of the server, service, host or program that would receive the call.
    pub server: String,
    /// The name of the specialist that proposed the action.
    pub agent: String,
    /// The kind of change that the tool makes.
    pub effect: Effect,
    /// How clients show the tool's result. A pending action is shown beside the result that the
    /// tool's own result would replace.
    #[serde(default, skip_serializing_if = "ResultView::is_plain")]
    #[ts(optional, as = "Option<ResultView>")]
    pub view: ResultView,
    /// Canonical JSON (RFC 8785) of the arguments, caller-owned values included.
    pub arguments: String,
    /// SHA-256 (hex) over server, tool, definition hash, arguments and caller-owned values.
    pub hash: String,
    /// Why a person must decide: the rule or default that requires it.
    pub why: Text,
    /// The change that the action would make; absent if the tool has no preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<PreviewView>,
    /// The language that `preview` is written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// The time of the proposal.
    pub created_at: DateTime<Utc>,
    /// The time after which no decision is accepted.
    pub expires_at: DateTime<Utc>,
    /// The current status of the action.
    pub status: ApprovalStatus,
    /// Whether the action may be approved for the rest of the session.
    pub grantable: bool,
    /// For destructive actions: the word that the user has to type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_word: Option<String>,
    /// Whether no person could approve when the action was created. In that case, the action waits
    /// for a decision beyond its turn.
    #[serde(default)]
    pub headless: bool,
    /// The caller that requested the action. Actions stored by older versions do not name the
    /// caller.
    #[serde(default)]
    pub caller: CallerKind,
    /// Untrusted content that had entered the turn before the proposal. Content that the arguments
    /// quote comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<UntrustedContent>>")]
    pub follows: Vec<UntrustedContent>,
    /// For a read: the destinations of data that nobody has allowed yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Destination>>")]
    pub destinations: Vec<Destination>,
    /// For a read: the number of bytes that it would send.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(optional, as = "Option<u64>")]
    pub sends_bytes: u64,
    /// Words of the arguments that mix alphabets, so that they could be mistaken for other words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<LookAlike>>")]
    pub look_alikes: Vec<LookAlike>,
    /// The hash of the tool's definition, if a person accepted the definition and chose the effect.
    /// None if the pack declares the effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The message that led to the proposal, and the sources of its values.
    #[serde(default, skip_serializing_if = "ProposalDetails::is_empty")]
    #[ts(optional, as = "Option<ProposalDetails>")]
    pub details: ProposalDetails,
    /// The proposal this one replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ApprovalId>,
    /// The reason of a rejection, or why the action ended otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The time of the decision; absent while the action is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<DateTime<Utc>>,
}

/// The message that led to a proposal, and the sources of its values. These details are shown
/// beside the request and do not affect decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct ProposalDetails {
    /// The user's message that led to the proposal; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub words: String,
    /// The title of the conversation; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub conversation: String,
    /// Values that the person neither typed nor chose and that outside content contains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<OutsideValue>>")]
    pub from_outside: Vec<OutsideValue>,
    /// JSON Pointers of values that the person neither typed nor chose and that no outside content
    /// contains, so that the assistant chose them. Empty unless the turn had outside content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub by_assistant: Vec<String>,
    /// The values that a person changed in the proposal that this one replaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<ChangedValue>>")]
    pub changed: Vec<ChangedValue>,
}

impl ProposalDetails {
    /// Whether the details are empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A value of the arguments that comes from outside content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct OutsideValue {
    /// The JSON Pointer of the value in the arguments.
    pub path: String,
    /// The passage that contains the value. None if the content was too long to be searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<UntrustedContent>,
}

/// A value that a person changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ChangedValue {
    /// The JSON Pointer of the value in the arguments.
    pub path: String,
    /// The previous value as JSON text; absent if the value was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The new value as JSON text; absent if the value was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A piece of untrusted content, which is shown as plain text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct UntrustedContent {
    /// The tool that returned the content; empty for remembered content of earlier messages.
    pub tool: ToolId,
    /// The title of that tool for display.
    pub tool_title: String,
    /// The name of the server that the content came from.
    pub server: String,
    /// The call that returned the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// A part of the content, on a single line.
    pub excerpt: String,
    /// Whether the arguments contain a text from this excerpt.
    pub quoted: bool,
}

/// A word with letters of more than one alphabet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct LookAlike {
    /// The word as it occurs in the arguments.
    pub word: String,
    /// The first letter from another alphabet than the word's other letters.
    pub letter: String,
    /// The code point of the letter, such as `U+0430`.
    pub code: String,
    /// The English name of the letter's alphabet, such as `Cyrillic`.
    pub script: String,
}

/// The change that an action would make, computed by the host from read calls and the manifest's
/// template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PreviewView {
    /// A sentence such as "Add 2 × Ridge Runner (42, black)".
    pub summary: String,
    /// The current state according to the read calls.
    pub before: PreviewState,
    /// The state after the action.
    pub after: PreviewState,
}

/// One side of a preview.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PreviewState {
    /// The lines of this side, in display order.
    pub rows: Vec<PreviewRow>,
    /// The total, such as "2 598.00 SEK"; empty if there is none.
    #[serde(default)]
    pub total: String,
}

/// One line of a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PreviewRow {
    /// The name of the thing in the line.
    pub label: String,
    /// The number of things, as text for display.
    #[serde(default)]
    pub quantity: String,
    /// The amount of the line with its currency, as text for display.
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
    /// Approves only this call.
    ApproveOnce {
        /// For destructive actions: the typed word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirm_word: Option<String>,
    },
    /// Approves this call and equal calls for the rest of the session.
    ApproveForSession,
    /// Approves this read and also allows its destinations for other reads.
    AllowDestinations {
        /// How long the destinations are allowed.
        scope: AllowanceScope,
    },
    /// Replaces the arguments, which creates a new proposal with a new hash.
    Edit {
        /// JSON text as typed, because parsing in the window would round its numbers.
        arguments: String,
    },
    /// Rejects the action; the call is not made.
    Reject {
        /// The user's reason, which is passed to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A remembered permission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Grant {
    /// The identifier of the permission, by which it is revoked.
    pub id: GrantId,
    /// The session in which the permission applies.
    pub session: SessionId,
    /// The permitted tool.
    pub tool: ToolId,
    /// The server that the tool must belong to.
    pub server: String,
    /// The hash of the tool's definition; for another definition, the permission does not apply.
    pub definition_hash: String,
    /// Argument values that must be equal, by name; other parameters may have any value.
    #[ts(type = "Record<string, unknown>")]
    pub pattern: serde_json::Map<String, Value>,
    /// The place where the person gave the permission: `window`, `terminal` or `caller`; absent in
    /// older permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_by: Option<String>,
    /// The time of the approval that created the permission.
    pub created_at: DateTime<Utc>,
    /// The time at which the permission expires.
    pub expires_at: DateTime<Utc>,
    /// The time of the last call under the permission; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
    /// The time at which a person revoked the permission; absent while it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<DateTime<Utc>>,
}

#[cfg(test)]
mod tests {
    use super::{ApprovalStatus::*, *};

    #[test]
    fn the_status_table_allows_only_the_named_transitions() {
        let all =
            [Pending, Approved, Executing, Done, Failed, Rejected, Expired, Cancelled, Superseded];
        let named = [
            Transition::APPROVE,
            Transition::REJECT,
            Transition::EXPIRE,
            Transition::CANCEL,
            Transition::REPLACE,
            Transition::BEGIN,
            Transition::REFUSE,
            Transition::LAPSE,
            Transition::STOP,
            Transition::OUTDATE,
            Transition::COMPLETE,
            Transition::FAIL,
        ];
        for from in all {
            for to in all {
                let transition = Transition { from, to };
                assert_eq!(
                    transition.is_allowed(),
                    named.contains(&transition),
                    "{from:?} -> {to:?}"
                );
                assert!(!(from.is_final() && transition.is_allowed()), "{from:?} is final");
            }
        }
    }
}
