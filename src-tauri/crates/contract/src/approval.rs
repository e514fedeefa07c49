//! A pending action and its decision. Only the approval window (or a person at a terminal) decides.

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

/// Where an action stands. `may_become` has the ways from one status to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// No decision has been made.
    Pending,
    /// A person approved it; the call has not begun.
    Approved,
    /// The call is being made.
    Executing,
    /// The call succeeded.
    Done,
    /// The call failed, or its outcome is unknown.
    Failed,
    /// A person rejected it.
    Rejected,
    /// The time for a decision ran out, or the process that was to make the call is gone.
    Expired,
    /// The turn or session ended before the call.
    Cancelled,
    /// Replaced by an edited proposal or by one with a changed preview.
    Superseded,
}

impl ApprovalStatus {
    /// Whether the status can no longer change.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Approved | Self::Executing)
    }

    /// Whether an action in this status may go on to another one. This is the only table of it.
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

/// One step of an action: a compare-and-set of its status. A store makes no step that `may_become`
/// does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The status that the action must have now.
    pub from: ApprovalStatus,
    /// The status that it gets.
    pub to: ApprovalStatus,
}

impl Transition {
    /// A person approves it.
    pub const APPROVE: Self = Self::new(ApprovalStatus::Pending, ApprovalStatus::Approved);
    /// A person rejects it.
    pub const REJECT: Self = Self::new(ApprovalStatus::Pending, ApprovalStatus::Rejected);
    /// Nobody decided in time.
    pub const EXPIRE: Self = Self::new(ApprovalStatus::Pending, ApprovalStatus::Expired);
    /// The turn or the session ended before a decision.
    pub const CANCEL: Self = Self::new(ApprovalStatus::Pending, ApprovalStatus::Cancelled);
    /// Another proposal takes its place before a decision.
    pub const REPLACE: Self = Self::new(ApprovalStatus::Pending, ApprovalStatus::Superseded);
    /// The approved call begins.
    pub const BEGIN: Self = Self::new(ApprovalStatus::Approved, ApprovalStatus::Executing);
    /// The check right before the call refused it.
    pub const REFUSE: Self = Self::new(ApprovalStatus::Approved, ApprovalStatus::Failed);
    /// The process that was to make the call is gone.
    pub const LAPSE: Self = Self::new(ApprovalStatus::Approved, ApprovalStatus::Expired);
    /// The turn was stopped between the decision and the call.
    pub const STOP: Self = Self::new(ApprovalStatus::Approved, ApprovalStatus::Cancelled);
    /// The action changed between the decision and the call.
    pub const OUTDATE: Self = Self::new(ApprovalStatus::Approved, ApprovalStatus::Superseded);
    /// The call succeeded.
    pub const COMPLETE: Self = Self::new(ApprovalStatus::Executing, ApprovalStatus::Done);
    /// The call failed, or its outcome is unknown.
    pub const FAIL: Self = Self::new(ApprovalStatus::Executing, ApprovalStatus::Failed);

    const fn new(from: ApprovalStatus, to: ApprovalStatus) -> Self {
        Self { from, to }
    }

    /// Whether the table of `may_become` contains this step.
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
    /// How clients show the tool's result. A pending action stands beside the result whose place the
    /// tool's own result would take.
    #[serde(default, skip_serializing_if = "ResultView::is_plain")]
    #[ts(optional, as = "Option<ResultView>")]
    pub view: ResultView,
    /// Canonical JSON (RFC 8785) of the arguments, caller-owned values included.
    pub arguments: String,
    /// SHA-256 (hex) over server, tool, definition hash, arguments and caller-owned values.
    pub hash: String,
    /// Why a person must decide: the rule or default that requires it.
    pub why: Text,
    /// The change that the action would make; absent if the tool declares no preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<PreviewView>,
    /// The language that `preview` is written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// The moment of the proposal.
    pub created_at: DateTime<Utc>,
    /// The moment after which no decision is accepted.
    pub expires_at: DateTime<Utc>,
    /// The present status of the action.
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
    /// The caller that asked for the action. Actions that older versions stored name nobody.
    #[serde(default)]
    pub caller: CallerKind,
    /// Untrusted content that had entered the turn before. Content that the arguments quote comes
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<UntrustedContent>>")]
    pub follows: Vec<UntrustedContent>,
    /// A read: the places that it would send data to and that nobody allowed yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Destination>>")]
    pub destinations: Vec<Destination>,
    /// A read: the bytes that it would send.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(optional, as = "Option<u64>")]
    pub sends_bytes: u64,
    /// Words of the arguments that mix alphabets, so that they could be mistaken for other words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<LookAlike>>")]
    pub look_alikes: Vec<LookAlike>,
    /// The hash of the tool's definition, if a person accepted it: the effect is the one that the
    /// person chose. None if the tool's pack states what it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The message that led to the proposal, and where its values come from.
    #[serde(default, skip_serializing_if = "ProposalDetails::is_empty")]
    #[ts(optional, as = "Option<ProposalDetails>")]
    pub details: ProposalDetails,
    /// The proposal this one replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ApprovalId>,
    /// The reason given with a rejection, or why the action ended otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The moment of the decision; absent while it is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<DateTime<Utc>>,
}

/// The message that led to a proposal, and where its values come from. It is shown beside the
/// request and decides nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct ProposalDetails {
    /// The message of the person that led to the proposal; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub words: String,
    /// The title of the conversation; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub conversation: String,
    /// Values that the person neither typed nor chose and that content from outside holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<OutsideValue>>")]
    pub from_outside: Vec<OutsideValue>,
    /// JSON Pointers of values that the person neither typed nor chose and that no content from
    /// outside holds: the assistant chose them. Only if the turn had content from outside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub by_assistant: Vec<String>,
    /// The values that a person changed in the proposal that this one replaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<ChangedValue>>")]
    pub changed: Vec<ChangedValue>,
}

impl ProposalDetails {
    /// Whether there is none of them.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A value of the arguments that comes from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct OutsideValue {
    /// The JSON Pointer of the value in the arguments.
    pub path: String,
    /// The passage that holds it. None if the content was too long to be looked through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<UntrustedContent>,
}

/// A value that a person changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ChangedValue {
    /// The JSON Pointer of the value in the arguments.
    pub path: String,
    /// The value before, as JSON text; absent if it was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The value now, as JSON text; absent if it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A piece of untrusted content. It is shown as plain text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct UntrustedContent {
    /// The tool that returned it; empty for remembered content of earlier messages.
    pub tool: ToolId,
    /// The title of that tool for display.
    pub tool_title: String,
    /// The name of the server that the content came from.
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
    /// The word as it occurs in the arguments.
    pub word: String,
    /// The first letter that does not belong to the word's other letters.
    pub letter: String,
    /// Its code point, such as `U+0430`.
    pub code: String,
    /// Its alphabet by its English name, such as `Cyrillic`.
    pub script: String,
}

/// The change that an action would make, computed by the host from read calls and the manifest's
/// template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PreviewView {
    /// One sentence, e.g. "Add 2 × Ridge Runner (42, black)".
    pub summary: String,
    /// The state that the reads found.
    pub before: PreviewState,
    /// The state that the action would lead to.
    pub after: PreviewState,
}

/// One side of a preview.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PreviewState {
    /// The lines of this side, in display order.
    pub rows: Vec<PreviewRow>,
    /// e.g. "2 598.00 SEK"; empty when there is none.
    #[serde(default)]
    pub total: String,
}

/// One line of a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PreviewRow {
    /// The name of the thing that the line is about.
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
    /// Approves this one call.
    ApproveOnce {
        /// For destructive actions, the typed word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirm_word: Option<String>,
    },
    /// Approves this call and equal ones for the rest of the session.
    ApproveForSession,
    /// Approves this read, and allows its destinations for other reads, too.
    AllowDestinations {
        /// How long the destinations are allowed.
        scope: AllowanceScope,
    },
    /// Replaces the arguments. This makes a new proposal with its own hash.
    Edit {
        /// JSON text as it was typed. A window that read it would round its numbers.
        arguments: String,
    },
    /// Rejects the action; the call is not made.
    Reject {
        /// The person's reason, which the model is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A remembered permission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Grant {
    /// The identifier of the permission, by which it is revoked.
    pub id: GrantId,
    /// The session in which it applies.
    pub session: SessionId,
    /// The tool that it permits.
    pub tool: ToolId,
    /// The server that the tool must be at.
    pub server: String,
    /// The hash of the tool's definition; with another definition the permission does not apply.
    pub definition_hash: String,
    /// Argument values that must be equal, by name; parameters not named are free.
    #[ts(type = "Record<string, unknown>")]
    pub pattern: serde_json::Map<String, Value>,
    /// Where the person gave it: `window`, `terminal` or `caller`; absent in older permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_by: Option<String>,
    /// The moment of the approval that created it.
    pub created_at: DateTime<Utc>,
    /// The moment at which it ends by itself.
    pub expires_at: DateTime<Utc>,
    /// The moment of the last call that it permitted; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
    /// The moment at which a person revoked it; absent while it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<DateTime<Utc>>,
}

#[cfg(test)]
mod tests {
    use super::{ApprovalStatus::*, *};

    #[test]
    fn the_named_transitions_are_all_that_the_table_allows() {
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
