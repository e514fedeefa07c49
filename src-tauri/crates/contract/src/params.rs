//! Parameters and answers of the commands. Those about the profile as a whole (packs, settings,
//! keys, data, diagnostics) are in `profile`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

pub use crate::agent::{InstructionsResponse, PromptPreviewParams, PromptPreviewResponse};
use crate::{
    AgentId, Approval, ApprovalId, AuditRecordView, Decision, Grant, GrantId, Item, RecordType,
    SessionId, SessionSummary, SessionView, Text, ToolId, TurnId,
};
pub use crate::{data::*, entries::*, own_servers::*, servers::*, survey::*};

macro_rules! wire {
    ($($(#[$m:meta])* struct $name:ident { $($(#[$fm:meta])* $field:ident: $ty:ty),* $(,)? })+) => {$(
        $(#[$m])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
        pub struct $name { $($(#[$fm])* pub $field: $ty),* }
    )+};
}

mod audit_search;
mod backtest;
mod explain;
mod memories;
mod messages;
mod profile;
mod replay;

pub use audit_search::*;
pub use backtest::*;
pub use explain::*;
pub use memories::*;
pub use messages::*;
pub use profile::*;
pub use replay::*;

wire! {
    /// No parameters, or no answer beyond success.
    struct Empty {}

    /// Selects a page of the sessions list.
    struct SessionsListParams {
        /// Part of a title; empty lists all.
        #[serde(default)]
        query: String,
        /// The number of sessions to skip.
        #[serde(default)]
        offset: u32,
        /// At most 200; 0 means 50.
        #[serde(default)]
        limit: u32,
    }

    /// A page of the sessions list.
    struct SessionsListResponse {
        /// The sessions, newest first.
        sessions: Vec<SessionSummary>,
        /// Whether more sessions follow.
        has_more: bool,
    }

    /// Names one session.
    struct SessionParams {
        /// The identifier of the session.
        session: SessionId,
    }

    /// Gives a session another title.
    struct SessionRenameParams {
        /// The session to rename.
        session: SessionId,
        /// The new title, 1 to 200 characters.
        title: String,
    }

    /// Selects older items of a session.
    struct ItemsPageParams {
        /// The session that the items belong to.
        session: SessionId,
        /// Items with a smaller `seq` than this.
        before: u64,
        /// The most items of the page.
        limit: u32,
    }

    /// A page of items.
    struct ItemsPageResponse {
        /// The items, in ascending order of `seq`.
        items: Vec<Item>,
        /// Whether there are still older items.
        has_more: bool,
    }

    /// Sends a message of the user.
    struct TurnStartParams {
        /// A new session when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// The message.
        text: String,
        /// `offline`, or a model of the configured provider; the settings' model when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The specialist that shall answer; the supervisor chooses if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentId>,
        /// Whether nobody can approve. The turn then ends with `approval_required` instead of
        /// waiting.
        #[serde(default)]
        headless: bool,
    }

    /// The turn that will answer a message.
    struct TurnStartResponse {
        /// The session of the turn, also if it was created now.
        session: SessionId,
        /// The identifier of the turn, by which it is cancelled.
        turn: TurnId,
        /// Whether it waits for an earlier turn of its session.
        queued: bool,
    }

    /// Stops a running turn, or takes a waiting message out of the queue.
    struct TurnCancelParams {
        /// The session of the turn.
        session: SessionId,
        /// The turn to stop.
        turn: TurnId,
    }

    /// Selects pending actions.
    struct ApprovalsListParams {
        /// Whether ended actions are listed, too.
        #[serde(default)]
        include_decided: bool,
    }

    /// Pending actions, and ended ones if they were requested.
    struct ApprovalsListResponse {
        /// The actions: undecided first, then newest first.
        approvals: Vec<Approval>,
        /// For the approval window: actions whose time ran out and that may be asked about again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<Approval>>")]
        expired: Vec<Approval>,
    }

    /// Names one pending action.
    struct ApprovalParams {
        /// The identifier of the action.
        id: ApprovalId,
    }

    /// Describes the arguments of an action, for a form that edits them.
    struct ApprovalFormResponse {
        /// The JSON schema of the arguments.
        #[ts(type = "unknown")]
        schema: Value,
        /// The names of arguments that the host sets.
        set_by_host: Vec<String>,
    }

    /// Decides about a pending action.
    struct ApprovalDecideParams {
        /// The identifier of the action.
        id: ApprovalId,
        /// The hash that was shown; a decision for another hash is refused.
        hash: String,
        /// The decision of the person.
        decision: Decision,
    }

    /// The action after a decision.
    struct ApprovalDecideResponse {
        /// The action with its new status.
        approval: Approval,
        /// The result of the call, if the decision itself ran it because nothing waited for it any
        /// more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<crate::ItemBody>,
    }

    /// Sets the default for tools without a rule.
    struct PolicySetParams {
        /// The default from now on.
        policy: crate::PolicyMode,
    }

    /// A call whose verdict is requested; nothing is called.
    struct PolicyCheckParams {
        /// The tool of the call.
        tool: ToolId,
        /// The arguments of the call, as a JSON object.
        #[ts(type = "unknown")]
        arguments: Value,
        /// The session whose permissions count; absent for none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Whether to assume that untrusted content has entered the turn.
        #[serde(default)]
        untrusted: bool,
    }

    /// The verdict on a call.
    struct PolicyCheckResponse {
        /// The tool of the call, with its full id.
        tool: ToolId,
        /// The kind of change that the tool makes.
        effect: crate::Effect,
        /// Whether the call would run, ask or be refused.
        verdict: crate::PolicyVerdict,
        /// The rule or default that decides.
        why: crate::Text,
        /// The arguments as the tool would get them.
        #[ts(type = "unknown")]
        arguments: Value,
        /// Parts of the policy file that could not be read.
        faults: Vec<crate::PolicyFault>,
    }

    /// The destinations that reads may send data to without a question.
    struct AllowancesResponse {
        /// The permissions, newest first. Those of one conversation have its id.
        allowances: Vec<crate::Allowance>,
    }

    /// A permission for a destination.
    struct AllowanceParams {
        /// The place.
        destination: crate::Destination,
        /// The conversation in which it holds; absent for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
    }

    /// One run of the run contract. The answer is its RunResponse, or its AgentError as the failure
    /// of the command.
    struct RunParams {
        /// The RunRequest as JSON text, as the caller wrote it.
        request: String,
        /// The namespace of request ids.
        caller: String,
        /// Carried into every record and log line of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_id: Option<String>,
        /// Whether events are pushed while it runs.
        #[serde(default)]
        stream: bool,
    }

    /// Switches one agent or tool off or on.
    struct SwitchSetParams {
        /// The agent or tool to switch.
        target: SwitchTarget,
        /// Whether it may be used from now on.
        on: bool,
    }

    /// Whether a person at a terminal may decide approvals with csign.
    struct TerminalDecisionsParams {
        /// Whether decisions at a terminal are accepted.
        enabled: bool,
    }

    /// Permissions that a person gave for the rest of a session.
    struct GrantsListResponse {
        /// The permissions, ended and revoked ones included.
        grants: Vec<Grant>,
    }

    /// Names one permission.
    struct GrantParams {
        /// The identifier of the permission.
        id: GrantId,
    }

    /// Selects records of the audit log.
    struct AuditListParams {
        /// Only records of this kind; all kinds when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        record_type: Option<RecordType>,
        /// Only records of this session; all sessions when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Text found in tool, status or session.
        #[serde(default)]
        query: String,
        /// Records with a smaller number than this; the newest when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// At most 500; 0 means 100.
        #[serde(default)]
        limit: u32,
    }

    /// A page of records of the audit log.
    struct AuditListResponse {
        /// The records, newest first.
        records: Vec<AuditRecordView>,
        /// Whether older records follow.
        has_more: bool,
        /// The number of all records in the log.
        total: u64,
    }

    /// Names one record of the audit log.
    struct AuditShowParams {
        /// The number of the record.
        seq: u64,
    }

    /// Writes the audit log, or a part of it with proofs, into files.
    struct AuditExportParams {
        /// The path of a new or empty folder.
        folder: String,
        /// Only the records of this session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Only the records of the decision to which the record of this number belongs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        record: Option<u64>,
    }

    /// The result of erasing a session.
    struct SessionEraseResponse {
        /// The number of values that were erased from the audit log.
        values: u64,
        /// Logs that were set aside after an alarm and are too damaged to be searched. They may
        /// still have values of the session.
        unreadable: Vec<String>,
        /// Other sessions that got memories of the session. Their own content was not erased.
        used_in: Vec<MemoryUse>,
    }

    /// A session that got memories of another one.
    struct MemoryUse {
        /// The session that got them.
        session: SessionId,
        /// Its title. Absent if the session was deleted and values of it are left in the audit log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    }

    /// The result of an export.
    struct AuditExportResponse {
        /// The path of the folder.
        folder: String,
        /// The number of exported records.
        records: u64,
        /// The number of receipts, one for each approved action.
        #[serde(default)]
        receipts: u64,
        /// The number of receipts that have a signed statement, too. Zero if the signing key is not
        /// at hand.
        #[serde(default)]
        statements: u64,
        /// The names of the files.
        files: Vec<String>,
    }

    /// A checkpoint that was just signed.
    struct AuditCheckpointResponse {
        /// The number of records that it covers.
        size: u64,
        /// The root hash (hex) over these records.
        root: String,
        /// The signed text of the checkpoint, with the cosignature of the witness if there is one.
        note: String,
        /// Why a witness or a time stamp authority of the settings did not confirm it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<Text>,
    }

    /// The state of the audit log's alarm.
    struct AuditAlarmResponse {
        /// The alarm; absent if the log is in order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alarm: Option<crate::AuditAlarm>,
    }

    /// Where the old log was moved to.
    struct AuditAcceptResponse {
        /// The path of the old log.
        set_aside: String,
    }
}

/// The target of a kill switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
pub enum SwitchTarget {
    /// One specialist, by its id.
    Agent(crate::AgentId),
    /// One tool, by its id.
    Tool(ToolId),
}

/// The answer to opening a session.
pub type SessionOpenResponse = SessionView;
