//! Parameters and answers about the profile as a whole: packs, direct tool calls, settings, keys,
//! models, imports, diagnostics.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{PackId, ServerView, SessionId, Settings, ToolId, ToolOutcome, ToolSpec};

wire! {
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
        message: crate::Text,
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
        /// Says, for each tool that the host runs itself, which request it sends or which program it
        /// starts.
        #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
        #[ts(optional, as = "Option<std::collections::BTreeMap<crate::ToolId, crate::Text>>")]
        host_actions: std::collections::BTreeMap<crate::ToolId, crate::Text>,
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
        /// SHA-256 (hex) of the manifest; absent if it cannot be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        manifest_hash: Option<String>,
    }

    /// A fault or warning about a file of a pack.
    struct PackFault {
        /// The name of the file within the pack.
        file: String,
        /// JSON pointer, or a line number for files that are not JSON.
        field: String,
        /// A sentence that says what is wrong.
        problem: crate::Text,
        /// A sentence that says how to correct it.
        fix: crate::Text,
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
        /// How clients show the result. Absent if its tool declares no shape.
        #[serde(default, skip_serializing_if = "crate::ResultView::is_plain")]
        #[ts(optional, as = "Option<crate::ResultView>")]
        view: crate::ResultView,
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
        /// A sentence for the person who confirms it, if it is unusual.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<crate::Text>,
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
        message: crate::Text,
        /// A sentence about a remedy; absent if none is known.
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
        /// The capabilities of the model, as far as they are known.
        capabilities: crate::ModelCapabilities,
    }

    /// Everything that connecting a model needs, for one confirmation.
    struct ModelConfirmParams {
        /// The settings as they will be saved. The name of the model may still be missing.
        settings: Settings,
        /// Whether the address is asked for its models first.
        #[serde(default)]
        lists: bool,
        /// Whether a key for the address is saved.
        #[serde(default)]
        key: bool,
    }

    /// Names a server whose models are listed. It need not be configured.
    struct ModelListParams {
        /// The provider, by its name in the settings.
        provider: String,
        /// The address; empty means the provider's own.
        #[serde(default)]
        base_url: String,
        /// The key to send; absent means the one that is stored for this server, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }

    /// The models of a server, or the problem that kept them from being listed.
    struct ModelListResponse {
        /// The models; empty if the server has no list.
        models: Vec<String>,
        /// The server that was asked.
        host: String,
        /// The problem; absent if the server answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<crate::ConnectionProblem>,
        /// The problem as a sentence; absent without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<crate::Text>,
        /// A sentence about a remedy; absent if none is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<crate::Text>,
        /// The issuer of an untrusted certificate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        issuer: Option<String>,
        /// Whether a key is stored for this server.
        #[serde(default)]
        key_stored: bool,
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
        /// How to read files that are not recognised. Absent: recognise them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        options: Option<crate::data::ImportOptions>,
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
        message: crate::Text,
        /// A sentence about a remedy; absent if none is needed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<crate::Text>,
    }

    /// A notice for the start.
    struct StartNotice {
        /// The kind of the notice, as a code.
        code: String,
        /// The notice.
        text: crate::Text,
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
        notices: Vec<StartNotice>,
        /// The present moment of the host's clock.
        now: DateTime<Utc>,
    }
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
