//! Parameters and answers of the commands. Parameters about the profile as a whole (packs,
//! settings, keys, data, diagnostics) are in `profile`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

pub use crate::agent::{InstructionsResponse, PromptPreviewParams, PromptPreviewResponse};
use crate::{
    AgentId, Approval, ApprovalId, AuditRecordView, CallerKind, Decision, Grant, GrantId, Item,
    RecordType, SessionFormat, SessionId, SessionSummary, SessionView, Text, ToolId, TurnId,
};
pub use crate::{own_servers::*, servers::*};

macro_rules! wire {
    ($($(#[$m:meta])* struct $name:ident { $($(#[$fm:meta])* $field:ident: $ty:ty),* $(,)? })+) => {$(
        $(#[$m])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
        pub struct $name { $($(#[$fm])* pub $field: $ty),* }
    )+};
}

mod alerts;
mod audit_search;
mod backtest;
mod boards;
mod explain;
mod memories;
mod messages;
mod profile;
mod replay;
mod sources;
mod typing;
mod versions;

pub use alerts::*;
pub use audit_search::*;
pub use backtest::*;
pub use boards::*;
pub use explain::*;
pub use memories::*;
pub use messages::*;
pub use profile::*;
pub use replay::*;
pub use sources::*;
pub use typing::*;
pub use versions::*;

wire! {
    /// No parameters, or a response that only means success.
    struct Empty {}

    /// Selects a page of the sessions list.
    struct SessionsListParams {
        /// A part of a title to search for; empty lists all.
        #[serde(default)]
        query: String,
        /// The number of sessions to skip.
        #[serde(default)]
        offset: u32,
        /// The most sessions of the page: at most 200; 0 means 50.
        #[serde(default)]
        limit: u32,
        /// Lists the archived sessions instead of the others.
        #[serde(default)]
        archived: bool,
    }

    /// A page of the sessions list.
    struct SessionsListResponse {
        /// The sessions: pinned ones first, then newest first.
        sessions: Vec<SessionSummary>,
        /// Whether more sessions follow.
        has_more: bool,
    }

    /// Names a session.
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

    /// Pins or archives a session, or takes a mark back.
    struct SessionMarkParams {
        /// The session to mark.
        session: SessionId,
        /// Whether the session is kept at the top of the list; absent leaves this as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        pinned: Option<bool>,
        /// Whether the session is listed with the archived ones only; absent leaves this as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        archived: Option<bool>,
    }

    /// Deletes a session.
    struct SessionDeleteParams {
        /// The session to delete.
        session: SessionId,
        /// Whether the deletion can be undone for some seconds. The session is hidden at once.
        #[serde(default)]
        undo: bool,
    }

    /// The result of deleting a session.
    struct SessionDeleteResponse {
        /// The seconds in which `session_restore` undoes the deletion. 0 if it cannot be undone.
        undo_seconds: u32,
    }

    /// Writes a session into a file.
    struct SessionExportParams {
        /// The session to write.
        session: SessionId,
        /// The format of the file.
        format: SessionFormat,
        /// The folder for the file, which must exist.
        folder: String,
    }

    /// The written file.
    struct SessionExportResponse {
        /// The path of the file.
        file: String,
        /// The number of questions and answers in the file.
        messages: u64,
        /// The number of results of which the file has a part only.
        cut: u64,
        /// The number of versions of messages that are not in the file, because another is shown.
        #[serde(default)]
        other_versions: u64,
        /// The number of deleted messages.
        #[serde(default)]
        deleted: u64,
    }

    /// Selects older items of a session.
    struct ItemsPageParams {
        /// The session to which the items belong.
        session: SessionId,
        /// Selects items with a `seq` below this number.
        before: u64,
        /// The most items of the page.
        limit: u32,
    }

    /// A page of items.
    struct ItemsPageResponse {
        /// The items, in ascending order of `seq`.
        items: Vec<Item>,
        /// Whether there are further older items.
        has_more: bool,
        /// The turns of the page that have several versions.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<TurnVersions>>", optional)]
        versions: Vec<TurnVersions>,
    }

    /// Sends a message of the user.
    struct TurnStartParams {
        /// The session; absent creates a new session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// The message.
        text: String,
        /// `offline`, or a model of the configured provider; if absent, the model in the settings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The specialist that is to answer; if absent, the supervisor chooses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentId>,
        /// Whether no person can approve. If so, the turn ends with `approval_required` instead of
        /// waiting.
        #[serde(default)]
        headless: bool,
        /// The turn that this message replaces, because its text was edited or the answer is asked
        /// for again. That turn and all after it are hidden, and `turn_show` shows them again.
        /// Such a message is never queued.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        replaces: Option<TurnId>,
    }

    /// The turn that will answer a message.
    struct TurnStartResponse {
        /// The session of the turn, which may be new.
        session: SessionId,
        /// The identifier of the turn, with which it can be cancelled.
        turn: TurnId,
        /// Whether the turn waits for an earlier turn of its session.
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
        /// Whether completed actions are listed, too.
        #[serde(default)]
        include_decided: bool,
    }

    /// Pending actions, and completed actions if requested.
    struct ApprovalsListResponse {
        /// The actions: undecided first, then newest first.
        approvals: Vec<Approval>,
        /// For the approval window: expired actions for which approval can be requested again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<Approval>>")]
        expired: Vec<Approval>,
    }

    /// Names a pending action.
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
        /// The hash that was shown; a decision with another hash is refused.
        hash: String,
        /// The user's decision.
        decision: Decision,
    }

    /// The action after a decision.
    struct ApprovalDecideResponse {
        /// The action with its new status.
        approval: Approval,
        /// The result of the call, if the decision ran the call because the turn no longer waited.
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
        /// The session whose permissions apply; absent means no session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// The caller of the call; absent means the window.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caller: Option<CallerKind>,
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
        /// Whether the call would run, require approval or be refused.
        verdict: crate::PolicyVerdict,
        /// The rule or default that determines the verdict.
        why: crate::Text,
        /// The arguments as the tool would get them.
        #[ts(type = "unknown")]
        arguments: Value,
        /// Parts of the policy file that could not be read.
        faults: Vec<crate::PolicyFault>,
    }

    /// The destinations that reads may send data to without asking.
    struct AllowancesResponse {
        /// The permissions, newest first. A permission for a single conversation has its id.
        allowances: Vec<crate::Allowance>,
    }

    /// A permission for a destination.
    struct AllowanceParams {
        /// The destination.
        destination: crate::Destination,
        /// The conversation in which the permission applies; absent for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
    }

    /// A run of the run contract. The response is its RunResponse, or its AgentError as the error
    /// of the command.
    struct RunParams {
        /// The RunRequest as JSON text, as the caller wrote it.
        request: String,
        /// The namespace of request ids.
        caller: String,
        /// An id that is included in every record and log line of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_id: Option<String>,
        /// Whether events are pushed during the run.
        #[serde(default)]
        stream: bool,
    }

    /// Switches an agent or a tool off or on.
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
        /// The permissions, including expired and revoked ones.
        grants: Vec<Grant>,
    }

    /// Names a permission.
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
        /// Text to search for in tool, status or session.
        #[serde(default)]
        query: String,
        /// Selects records with a number below this; absent selects the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// The most records of the page: at most 500; 0 means 100.
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

    /// Names a record of the audit log.
    struct AuditShowParams {
        /// The number of the record.
        seq: u64,
    }

    /// Writes the audit log, or a part of it with proofs, into files.
    struct AuditExportParams {
        /// The path of a new or empty folder.
        folder: String,
        /// Selects only the records of this session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Selects only the records of the decision to which the record with this number belongs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        record: Option<u64>,
    }

    /// The result of erasing a session.
    struct SessionEraseResponse {
        /// The number of values that were erased from the audit log.
        values: u64,
        /// Logs that were set aside after an alarm and are too damaged to be searched. These logs
        /// may still contain values of the session.
        unreadable: Vec<String>,
        /// Other sessions that received memories of the session. Their own content was not erased.
        used_in: Vec<MemoryUse>,
    }

    /// A session that received memories of another session.
    struct MemoryUse {
        /// The session that received the memories.
        session: SessionId,
        /// The title of the session. Absent if the session was deleted and some of its values
        /// remain in the audit log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    }

    /// The result of an export.
    struct AuditExportResponse {
        /// The path of the folder.
        folder: String,
        /// The number of exported records.
        records: u64,
        /// The number of receipts; each approved action has one.
        #[serde(default)]
        receipts: u64,
        /// The number of receipts with a signed statement. Zero if the signing key is not
        /// available.
        #[serde(default)]
        statements: u64,
        /// The number of figures that can be computed again from the rows in the export.
        #[serde(default)]
        figures: u64,
        /// The figures that cannot be computed again from the export, each with the cause.
        #[serde(default)]
        left_out: Vec<Text>,
        /// The names of the files.
        files: Vec<String>,
    }

    /// A newly signed checkpoint.
    struct AuditCheckpointResponse {
        /// The number of records that the checkpoint covers.
        size: u64,
        /// The root hash (hex) over these records.
        root: String,
        /// The signed text of the checkpoint, with the cosignature of the witness if there is one.
        note: String,
        /// Why a witness or a time stamp authority in the settings did not confirm the checkpoint.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<Text>,
    }

    /// The state of the audit log's alarm.
    struct AuditAlarmResponse {
        /// The alarm; absent if the log has no problem.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alarm: Option<crate::AuditAlarm>,
    }

    /// The location to which the old log was moved.
    struct AuditAcceptResponse {
        /// The path of the old log.
        set_aside: String,
    }
}

/// The target of a kill switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
pub enum SwitchTarget {
    /// A specialist, by its id.
    Agent(crate::AgentId),
    /// A tool, by its id.
    Tool(ToolId),
}

/// The answer to opening a session.
pub type SessionOpenResponse = SessionView;
