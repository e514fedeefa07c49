//! Parameters and answers of the commands.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

pub use crate::agent::{InstructionsResponse, PromptPreviewParams, PromptPreviewResponse};
use crate::{
    AgentId, Approval, ApprovalId, AuditRecordView, Decision, Grant, GrantId, Item, PackId,
    RecordType, SessionId, SessionSummary, SessionView, Settings, ToolId, ToolOutcome, ToolSpec,
    TurnId,
};
pub use crate::{data::*, servers::*};

macro_rules! wire {
    ($($(#[$m:meta])* struct $name:ident { $($(#[$fm:meta])* $field:ident: $ty:ty),* $(,)? })+) => {$(
        $(#[$m])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
        pub struct $name { $($(#[$fm])* pub $field: $ty),* }
    )+};
}

wire! {
    /// No parameters, or no answer beyond success.
    struct Empty {}

    struct SessionsListParams {
        /// Part of a title; empty lists all.
        #[serde(default)]
        query: String,
        #[serde(default)]
        offset: u32,
        /// At most 200; 0 means 50.
        #[serde(default)]
        limit: u32,
    }
    struct SessionsListResponse { sessions: Vec<SessionSummary>, has_more: bool }
    struct SessionParams { session: SessionId }
    struct SessionRenameParams { session: SessionId, title: String }
    struct ItemsPageParams {
        session: SessionId,
        /// Items with a smaller `seq` than this.
        before: u64,
        limit: u32,
    }
    struct ItemsPageResponse { items: Vec<Item>, has_more: bool }

    struct TurnStartParams {
        /// A new session when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
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
    struct TurnStartResponse { session: SessionId, turn: TurnId, queued: bool }
    /// Stops a running turn, or takes a waiting message out of the queue.
    struct TurnCancelParams { session: SessionId, turn: TurnId }

    struct ApprovalsListParams {
        #[serde(default)]
        include_decided: bool,
    }
    struct ApprovalsListResponse { approvals: Vec<Approval> }
    struct ApprovalParams { id: ApprovalId }
    struct ApprovalDecideParams {
        id: ApprovalId,
        /// The hash that was shown; a decision for another hash is refused.
        hash: String,
        decision: Decision,
    }
    struct ApprovalDecideResponse {
        approval: Approval,
        /// The result of the call, if the decision itself ran it because nothing waited for it any
        /// more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<crate::ItemBody>,
    }
    struct PolicySetParams { policy: crate::PolicyMode }
    struct PolicyCheckParams {
        tool: ToolId,
        #[ts(type = "unknown")]
        arguments: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Whether to assume that untrusted content has entered the turn.
        #[serde(default)]
        untrusted: bool,
    }
    struct PolicyCheckResponse {
        tool: ToolId,
        effect: crate::Effect,
        verdict: crate::PolicyVerdict,
        /// The rule or default that decides.
        why: crate::Text,
        /// The arguments as the tool would get them.
        #[ts(type = "unknown")]
        arguments: Value,
        faults: Vec<crate::PolicyFault>,
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
        target: SwitchTarget,
        on: bool,
    }
    /// Whether a person at a terminal may decide approvals with csign.
    struct TerminalDecisionsParams { enabled: bool }
    struct GrantsListResponse { grants: Vec<Grant> }
    struct GrantParams { id: GrantId }

    struct AuditListParams {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        record_type: Option<RecordType>,
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
    struct AuditListResponse { records: Vec<AuditRecordView>, has_more: bool, total: u64 }
    struct AuditShowParams { seq: u64 }
    struct AuditExportParams { folder: String }
    struct AuditExportResponse { folder: String, records: u64, files: Vec<String> }
    struct AuditCheckpointResponse { size: u64, root: String, note: String }
    struct AuditAlarmResponse { #[serde(default, skip_serializing_if = "Option::is_none")] alarm: Option<crate::AuditAlarm> }
    /// Where the old log was moved to.
    struct AuditAcceptResponse { set_aside: String }

    struct PacksListResponse { packs: Vec<PackView>, servers: Vec<ServerView>, isolation: IsolationView }
    /// How far programs of packs are isolated on this machine.
    struct IsolationView {
        level: Isolation,
        /// Landlock's version in this kernel; 0 = none.
        landlock_abi: u32,
        /// Whether system calls are filtered.
        seccomp: bool,
        /// The level in a sentence.
        message: crate::Text,
    }
    /// A pack as read: usable, or with the faults that keep it out.
    struct PackView {
        id: PackId,
        title: String,
        version: String,
        description: String,
        folder: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The agent's id, for its switch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<crate::AgentId>,
        /// The data that it handles, and what of it may go to a model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data_flow: Option<crate::manifest::DataFlow>,
        tools: Vec<ToolSpec>,
        faults: Vec<PackFault>,
        /// Warnings for the author of the pack. The pack is used despite them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<PackFault>>")]
        warnings: Vec<PackFault>,
        /// Example questions by language.
        examples: std::collections::BTreeMap<String, Vec<String>>,
        /// Its settings with their defaults; what is set instead is in `Settings::packs`.
        #[serde(default)]
        #[ts(type = "Record<string, unknown>")]
        settings: Map<String, Value>,
    }
    struct PackFault {
        file: String,
        /// JSON pointer, or a line number for files that are not JSON.
        field: String,
        problem: crate::Text,
        fix: crate::Text,
    }
    struct ToolCallParams {
        tool: ToolId,
        #[ts(type = "unknown")]
        arguments: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Whether nobody can approve. A write then ends with `approval_required` and the pending
        /// action's id.
        #[serde(default)]
        headless: bool,
    }
    struct ToolCallResponse {
        outcome: ToolOutcome,
        #[ts(type = "unknown")]
        data: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<crate::AgentError>,
    }

    struct SettingsView {
        settings: Settings,
        /// Settings that a variable or flag overrides, by dotted name, with its source.
        forced: std::collections::BTreeMap<String, String>,
        keyring: KeyringView,
        /// Names of keys that have a value (keyring or this run).
        secrets_set: Vec<String>,
        /// Credentials that tools need.
        credentials: Vec<CredentialView>,
        data_dir: String,
        version: String,
        /// The language that the UI uses.
        locale: String,
    }
    /// A credential that tools of a pack need.
    struct CredentialView {
        /// `pack/NAME`, by which it is stored and deleted.
        name: String,
        pack: PackId,
        pack_title: String,
        env_var: String,
        /// Titles of the tools that need it.
        tools: Vec<String>,
        state: CredentialState,
    }
    struct SettingsSetParams { settings: Settings }
    /// One change that a person has to confirm. Texts are shown as they are.
    struct SettingChange {
        /// Its place in the settings, or `key` with the name of a key.
        setting: String,
        before: String,
        after: String,
    }
    /// Changes that the chat window requested and the approval window has not confirmed yet.
    struct Confirmation { id: String, changes: Vec<SettingChange> }
    struct ConfirmationsResponse { confirmations: Vec<Confirmation> }
    struct ConfirmationDecideParams { id: String, accept: bool }
    struct KeyringView {
        state: KeyringState,
        message: String,
    }
    struct SecretSetParams {
        name: String,
        value: String,
        /// Whether to keep it for this run only, and not in the keyring.
        #[serde(default)]
        this_run_only: bool,
    }
    struct SecretParams { name: String }
    struct ModelTestResponse {
        ok: bool,
        message: crate::Text,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<crate::Text>,
        /// The problem, as a code for the user's language.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<crate::ConnectionProblem>,
        /// The server that was tested.
        #[serde(default)]
        host: String,
        /// The issuer of an untrusted certificate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<String>,
        /// Models that the server lists.
        #[serde(default)]
        models: Vec<String>,
        capabilities: crate::ModelCapabilities,
    }
    /// Model servers found on this machine.
    struct LocalServersResponse { servers: Vec<LocalServer> }
    struct LocalServer { name: String, base_url: String, models: Vec<String> }

    /// Reads files into a pack.
    struct DataImportParams { pack: PackId, paths: Vec<String> }
    struct DataImportResponse { job: String }
    struct ImportParams { job: String }

    struct DoctorResponse { checks: Vec<DoctorCheck>, ok: bool }
    struct DoctorCheck { name: String, state: CheckState, message: crate::Text, #[serde(default, skip_serializing_if = "Option::is_none")] hint: Option<crate::Text> }

    /// A notice for the start. `code` names its kind.
    struct StartNotice { code: String, text: crate::Text }

    struct AppStatus {
        /// Turns that run now, over all sessions.
        running: u32,
        waiting_approvals: u32,
        audit_ok: bool,
        agent_enabled: bool,
        model_label: String,
        /// Notices for the start: a recovered file, or a log that does not verify.
        notices: Vec<StartNotice>,
        now: DateTime<Utc>,
    }
}

/// The target of a kill switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
pub enum SwitchTarget {
    Agent(crate::AgentId),
    Tool(ToolId),
}

/// How far programs of packs are isolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// No access to the user's files, and a filter on system calls.
    Full,
    /// One of the two.
    Partial,
    /// Only a minimal environment and limits.
    Limits,
}

/// Where a credential comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CredentialState {
    Stored,
    ThisRun,
    Environment,
    Missing,
}

/// The state of the keyring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyringState {
    Ready,
    Locked,
    Missing,
}

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Ok,
    Warning,
    Failed,
}

/// Messages that the host pushes to its windows and clients, besides command answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "push", rename_all = "snake_case")]
pub enum Push {
    Turn {
        event: crate::TurnEvent,
    },
    Session {
        summary: SessionSummary,
    },
    SessionDeleted {
        session: SessionId,
    },
    Queue {
        session: SessionId,
        queue: Vec<crate::QueuedMessage>,
    },
    /// Approvals changed: read them again.
    Approvals {
        waiting: u32,
    },
    Import {
        import: ImportView,
    },
    Server {
        server: ServerView,
    },
    /// The definitions of servers' tools changed: read them again. `waiting` is the number to be
    /// accepted.
    ServerTools {
        waiting: u32,
    },
    /// Changes of settings wait in the approval window: read them again.
    Confirmations {
        waiting: u32,
    },
    /// Servers ask the user something: read them again.
    Questions {
        waiting: u32,
    },
    /// A server's question was declined, because nobody could answer it.
    QuestionDeclined {
        pack: crate::PackId,
        server: String,
        message: String,
    },
    /// Boxed, so that a delta is not as large as all settings.
    Settings {
        settings: Box<Settings>,
    },
    Audit {
        total: u64,
    },
    /// An event of a streamed run. The last one is the command's answer.
    Run {
        caller: String,
        request_id: String,
        event: crate::RunEvent,
    },
    /// Files are dragged over the window, or (with `paths`) were dropped on it.
    Files {
        over: bool,
        paths: Vec<String>,
    },
    /// The receiver was too slow and missed pushes: read everything again.
    Lagged {},
}

/// The answer to opening a session.
pub type SessionOpenResponse = SessionView;
