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
    }

    /// Names one pending action.
    struct ApprovalParams {
        /// The identifier of the action.
        id: ApprovalId,
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
        why: String,
        /// The arguments as the tool would get them.
        #[ts(type = "unknown")]
        arguments: Value,
        /// Parts of the policy file that could not be read.
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

    /// Writes the audit log into files.
    struct AuditExportParams {
        /// The path of a new or empty folder.
        folder: String,
    }

    /// The result of an export.
    struct AuditExportResponse {
        /// The path of the folder.
        folder: String,
        /// The number of exported records.
        records: u64,
        /// The names of the files.
        files: Vec<String>,
    }

    /// A checkpoint that was just signed.
    struct AuditCheckpointResponse {
        /// The number of records that it covers.
        size: u64,
        /// The root hash (hex) over these records.
        root: String,
        /// The signed text of the checkpoint.
        note: String,
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

    /// Installed packs and their servers.
    struct PacksListResponse {
        /// All packs, those with faults included.
        packs: Vec<PackView>,
        /// The MCP servers of the packs.
        servers: Vec<ServerView>,
        /// How far programs of packs are isolated.
        isolation: IsolationView,
    }

    /// How far programs of packs are isolated on this machine.
    struct IsolationView {
        /// The level of isolation.
        level: Isolation,
        /// Landlock's version in this kernel; 0 = none.
        landlock_abi: u32,
        /// Whether system calls are filtered.
        seccomp: bool,
        /// The level in a sentence.
        message: String,
    }

    /// A pack as read: usable, or with the faults that keep it out.
    struct PackView {
        /// The identifier of the pack.
        id: PackId,
        /// The pack's name for display.
        title: String,
        /// The version of the pack.
        version: String,
        /// The purpose of the pack.
        description: String,
        /// The path of the pack's folder.
        folder: String,
        /// The name of its specialist; absent without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The agent's id, for its switch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<crate::AgentId>,
        /// The data that it handles, and what of it may go to a model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data_flow: Option<crate::manifest::DataFlow>,
        /// Its tools, without those of a pack with faults.
        tools: Vec<ToolSpec>,
        /// The faults that keep it out of use; empty if there are none.
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

    /// A fault or warning about a file of a pack.
    struct PackFault {
        /// The name of the file within the pack.
        file: String,
        /// JSON pointer, or a line number for files that are not JSON.
        field: String,
        /// A sentence that says what is wrong.
        problem: String,
        /// A sentence that says how to correct it.
        fix: String,
    }

    /// Calls a tool without a model.
    struct ToolCallParams {
        /// The tool to call.
        tool: ToolId,
        /// The arguments, as a JSON object.
        #[ts(type = "unknown")]
        arguments: Value,
        /// The session of the call; a new one when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Whether nobody can approve. A write then ends with `approval_required` and the pending
        /// action's id.
        #[serde(default)]
        headless: bool,
    }

    /// The result of a call.
    struct ToolCallResponse {
        /// How the call ended.
        outcome: ToolOutcome,
        /// The result of the tool; `null` without one.
        #[ts(type = "unknown")]
        data: Value,
        /// The error, unless the call succeeded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<crate::AgentError>,
    }

    /// Settings, and facts about the profile that the settings page shows.
    struct SettingsView {
        /// The settings in force.
        settings: Settings,
        /// Settings that a variable or flag overrides, by dotted name, with its source.
        forced: std::collections::BTreeMap<String, String>,
        /// The state of the keyring.
        keyring: KeyringView,
        /// Names of keys that have a value (keyring or this run).
        secrets_set: Vec<String>,
        /// Credentials that tools need.
        credentials: Vec<CredentialView>,
        /// The path of the profile's data folder.
        data_dir: String,
        /// The version of the app.
        version: String,
        /// The language that the UI uses.
        locale: String,
    }

    /// A credential that tools of a pack need.
    struct CredentialView {
        /// `pack/NAME`, by which it is stored and deleted.
        name: String,
        /// The pack that needs it.
        pack: PackId,
        /// The name of that pack for display.
        pack_title: String,
        /// The environment variable that may hold it.
        env_var: String,
        /// Titles of the tools that need it.
        tools: Vec<String>,
        /// Where its value comes from, if there is one.
        state: CredentialState,
    }

    /// Replaces the settings.
    struct SettingsSetParams {
        /// All settings, the unchanged ones included.
        settings: Settings,
    }

    /// One change that a person has to confirm. Texts are shown as they are.
    struct SettingChange {
        /// Its place in the settings, or `key` with the name of a key.
        setting: String,
        /// The value now, as text.
        before: String,
        /// The value that was requested, as text.
        after: String,
    }

    /// Changes that the chat window requested and the approval window has not confirmed yet.
    struct Confirmation {
        /// The identifier, by which the changes are confirmed.
        id: String,
        /// The changes, which are confirmed or declined together.
        changes: Vec<SettingChange>,
    }

    /// Changes of settings that wait for a person.
    struct ConfirmationsResponse {
        /// The requests, oldest first.
        confirmations: Vec<Confirmation>,
    }

    /// Confirms or declines changes of settings.
    struct ConfirmationDecideParams {
        /// The identifier of the request.
        id: String,
        /// Whether the changes are made.
        accept: bool,
    }

    /// The keyring for display.
    struct KeyringView {
        /// The state of the keyring.
        state: KeyringState,
        /// The state as a sentence.
        message: String,
    }

    /// Stores a key or another secret.
    struct SecretSetParams {
        /// The name of the secret, such as that of a provider's key or `pack/NAME`.
        name: String,
        /// The secret itself. It is never sent back.
        value: String,
        /// Whether to keep it for this run only, and not in the keyring.
        #[serde(default)]
        this_run_only: bool,
    }

    /// Names one secret.
    struct SecretParams {
        /// The name of the secret.
        name: String,
    }

    /// The result of a connection test.
    struct ModelTestResponse {
        /// Whether the model can be used.
        ok: bool,
        /// The result as a sentence.
        message: String,
        /// A sentence about a remedy; absent if none is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
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
        /// The capabilities of the model, as far as they are known.
        capabilities: crate::ModelCapabilities,
    }

    /// Model servers found on this machine.
    struct LocalServersResponse {
        /// The servers that answered.
        servers: Vec<LocalServer>,
    }

    /// A model server on this machine.
    struct LocalServer {
        /// The name of its software.
        name: String,
        /// The address to enter as the server's address.
        base_url: String,
        /// The names of its models.
        models: Vec<String>,
    }

    /// Reads files into a pack.
    struct DataImportParams {
        /// The pack that owns the data.
        pack: PackId,
        /// The paths of the files.
        paths: Vec<String>,
    }

    /// An import that was started.
    struct DataImportResponse {
        /// The identifier of the import.
        job: String,
    }

    /// Names one import.
    struct ImportParams {
        /// The identifier of the import.
        job: String,
    }

    /// The result of all diagnostic checks.
    struct DoctorResponse {
        /// The checks, in display order.
        checks: Vec<DoctorCheck>,
        /// Whether no check failed.
        ok: bool,
    }

    /// One diagnostic check.
    struct DoctorCheck {
        /// The name of the check.
        name: String,
        /// The result of the check.
        state: CheckState,
        /// The result as a sentence.
        message: String,
        /// A sentence about a remedy; absent if none is needed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    }

    /// The state of the app, for its status line and for `csign status`.
    struct AppStatus {
        /// Turns that run now, over all sessions.
        running: u32,
        /// The number of pending actions.
        waiting_approvals: u32,
        /// Whether the audit log has no alarm.
        audit_ok: bool,
        /// Whether the assistant is switched on.
        agent_enabled: bool,
        /// The name of the model that answers, for display.
        model_label: String,
        /// Notices for the start: a recovered file, or a log that does not verify.
        #[ts(type = "Record<string, unknown>[]")]
        notices: Vec<Map<String, Value>>,
        /// The present moment of the host's clock.
        now: DateTime<Utc>,
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
    /// From the keyring.
    Stored,
    /// Entered for this run of the app only.
    ThisRun,
    /// From an environment variable.
    Environment,
    /// No value is available.
    Missing,
}

/// The state of the keyring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyringState {
    /// Values can be read and stored.
    Ready,
    /// The keyring exists but is locked.
    Locked,
    /// The system has no keyring.
    Missing,
}

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// The check found no fault.
    Ok,
    /// The check found a fault that the app can work with.
    Warning,
    /// The check found a fault that stops some function.
    Failed,
}

/// Messages that the host pushes to its windows and clients, besides command answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "push", rename_all = "snake_case")]
pub enum Push {
    /// A turn went on.
    Turn {
        /// The event with its address.
        event: crate::TurnEvent,
    },
    /// A session was created or changed.
    Session {
        /// The session as it is now.
        summary: SessionSummary,
    },
    /// A session was deleted.
    SessionDeleted {
        /// The session that was deleted.
        session: SessionId,
    },
    /// The waiting messages of a session changed.
    Queue {
        /// The session that they wait for.
        session: SessionId,
        /// All waiting messages, in the order in which they will run.
        queue: Vec<crate::QueuedMessage>,
    },
    /// Approvals changed: read them again.
    Approvals {
        /// The number of pending actions.
        waiting: u32,
    },
    /// An import went on or ended.
    Import {
        /// The import as it is now.
        import: ImportView,
    },
    /// The state of an MCP server changed.
    Server {
        /// The server as it is now.
        server: ServerView,
    },
    /// The definitions of servers' tools changed: read them again. `waiting` is the number to be
    /// accepted.
    ServerTools {
        /// The number of definitions that wait to be accepted.
        waiting: u32,
    },
    /// Changes of settings wait in the approval window: read them again.
    Confirmations {
        /// The number of changes that wait to be confirmed.
        waiting: u32,
    },
    /// Servers ask the user something: read them again.
    Questions {
        /// The number of questions that wait for an answer.
        waiting: u32,
    },
    /// A server's question was declined, because nobody could answer it.
    QuestionDeclined {
        /// The pack of the server.
        pack: crate::PackId,
        /// The name of the server in its pack.
        server: String,
        /// The text of the question.
        message: String,
    },
    /// Boxed, so that a delta is not as large as all settings.
    Settings {
        /// The settings in force now.
        settings: Box<Settings>,
    },
    /// Records were added to the audit log.
    Audit {
        /// The number of all records.
        total: u64,
    },
    /// An event of a streamed run. The last one is the command's answer.
    Run {
        /// The namespace of the request id.
        caller: String,
        /// The id of the run's request.
        request_id: String,
        /// The event of the run.
        event: crate::RunEvent,
    },
    /// Files are dragged over the window, or (with `paths`) were dropped on it.
    Files {
        /// Whether files are over the window now.
        over: bool,
        /// The paths of the files that were dropped; empty while they are dragged.
        paths: Vec<String>,
    },
    /// The receiver was too slow and missed pushes: read everything again.
    Lagged {},
}

/// The answer to opening a session.
pub type SessionOpenResponse = SessionView;
