//! Parameters and answers about the profile as a whole: packs, direct tool calls, settings, keys,
//! models, diagnostics.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{PackId, ServerView, SessionId, Settings, ToolId, ToolOutcome, ToolSpec};

wire! {
    /// Installed packs and their servers.
    struct PacksListResponse {
        /// All packs, including packs with faults.
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

    /// A pack as read: usable, or with the faults that prevent its use.
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
        /// The name of the pack's specialist; absent without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The agent's id, for its switch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<crate::AgentId>,
        /// The data that the pack handles, and which of it may be sent to a model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data_flow: Option<crate::manifest::DataFlow>,
        /// The tools of the pack. Empty for a pack with faults.
        tools: Vec<ToolSpec>,
        /// For each tool that the host runs itself: the request that it sends or the program that
        /// it starts.
        #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
        #[ts(optional, as = "Option<std::collections::BTreeMap<crate::ToolId, crate::Text>>")]
        host_actions: std::collections::BTreeMap<crate::ToolId, crate::Text>,
        /// The faults that prevent the use of the pack; empty if there are none.
        faults: Vec<PackFault>,
        /// Warnings for the author of the pack. The pack is used despite them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<PackFault>>")]
        warnings: Vec<PackFault>,
        /// Example questions by language.
        examples: std::collections::BTreeMap<String, Vec<String>>,
        /// The settings of the pack with their defaults; the user's values are in
        /// `Settings::packs`.
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
        /// A JSON pointer, or a line number for files that are not JSON.
        field: String,
        /// A sentence that describes the problem.
        problem: crate::Text,
        /// A sentence that describes how to correct the problem.
        fix: crate::Text,
    }

    /// Calls a tool without a model.
    struct ToolCallParams {
        /// The tool to call.
        tool: ToolId,
        /// The arguments, as a JSON object.
        #[ts(type = "unknown")]
        arguments: Value,
        /// The session of the call; absent creates a new session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Whether no person can approve. If so, a write ends with `approval_required` and the
        /// pending action's id.
        #[serde(default)]
        headless: bool,
    }

    /// The result of a call.
    struct ToolCallResponse {
        /// How the call ended.
        outcome: ToolOutcome,
        /// The result of the tool; `null` if there is none.
        #[ts(type = "unknown")]
        data: Value,
        /// How clients show the result. Absent if the tool declares no shape.
        #[serde(default, skip_serializing_if = "crate::ResultView::is_plain")]
        #[ts(optional, as = "Option<crate::ResultView>")]
        view: crate::ResultView,
        /// The error, unless the call succeeded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<crate::AgentError>,
    }

    /// Settings, and facts about the profile for the settings page.
    struct SettingsView {
        /// The settings that currently apply.
        settings: Settings,
        /// Settings that a variable or flag overrides, by dotted name, with the source of the
        /// value.
        forced: std::collections::BTreeMap<String, String>,
        /// The state of the keyring.
        keyring: KeyringView,
        /// The names of keys that have a value (in the keyring or for this run).
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
        /// `pack/NAME`, under which the credential is stored and deleted.
        name: String,
        /// The pack that needs the credential.
        pack: PackId,
        /// The name of that pack for display.
        pack_title: String,
        /// The environment variable that may contain the credential.
        env_var: String,
        /// The titles of the tools that need the credential.
        tools: Vec<String>,
        /// The source of the credential's value, if there is a value.
        state: CredentialState,
    }

    /// Replaces the settings.
    struct SettingsSetParams {
        /// All settings, including unchanged ones.
        settings: Settings,
    }

    /// A change that a person has to confirm. Texts are shown unchanged.
    struct SettingChange {
        /// The dotted name of the setting, or `key` with the name of a key.
        setting: String,
        /// The current value, as text.
        before: String,
        /// The requested value, as text.
        after: String,
        /// A sentence for the person who confirms it, if it is unusual.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<crate::Text>,
    }

    /// Changes that the chat window requested and the approval window has not confirmed yet.
    struct Confirmation {
        /// The identifier, with which the changes are confirmed.
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
        /// The secret itself, which is never returned.
        value: String,
        /// Whether to keep the secret for this run only, and not in the keyring.
        #[serde(default)]
        this_run_only: bool,
    }

    /// Names a secret.
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
        /// A sentence that suggests a remedy; absent if none is known.
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

    /// All changes that are needed to connect a model, for a single confirmation.
    struct ModelConfirmParams {
        /// The settings to be saved. The name of the model may still be missing.
        settings: Settings,
        /// Whether the server at the address is first asked for its models.
        #[serde(default)]
        lists: bool,
        /// Whether a key for the address is saved.
        #[serde(default)]
        key: bool,
    }

    /// Names a server whose models are listed. The server need not be configured.
    struct ModelListParams {
        /// The provider, by its name in the settings.
        provider: String,
        /// The address; empty means the provider's own.
        #[serde(default)]
        base_url: String,
        /// The key to send; absent means the key stored for this server, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }

    /// The models of a server, or the problem that prevented the listing.
    struct ModelListResponse {
        /// The models; empty if the server has no list.
        models: Vec<String>,
        /// The server that was asked.
        host: String,
        /// The problem; absent if the server answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<crate::ConnectionProblem>,
        /// The problem as a sentence; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<crate::Text>,
        /// A sentence that suggests a remedy; absent if none is known.
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
        /// The name of the server's software.
        name: String,
        /// The address to use in the settings.
        base_url: String,
        /// The names of the server's models.
        models: Vec<String>,
    }

    /// The result of all diagnostic checks.
    struct DoctorResponse {
        /// The checks, in display order.
        checks: Vec<DoctorCheck>,
        /// Whether no check failed.
        ok: bool,
    }

    /// A diagnostic check.
    struct DoctorCheck {
        /// The name of the check.
        name: String,
        /// The result of the check.
        state: CheckState,
        /// The result as a sentence.
        message: crate::Text,
        /// A sentence that suggests a remedy; absent if none is needed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<crate::Text>,
    }

    /// A notice shown at the start of the app.
    struct StartNotice {
        /// The kind of the notice, as a code.
        code: String,
        /// The notice.
        text: crate::Text,
    }

    /// The state of the app, for its status line and for `csign status`.
    struct AppStatus {
        /// The number of turns that run now, over all sessions.
        running: u32,
        /// The number of pending actions.
        waiting_approvals: u32,
        /// Whether the audit log has no alarm.
        audit_ok: bool,
        /// Whether the assistant is switched on.
        agent_enabled: bool,
        /// The name of the model that answers, for display.
        model_label: String,
        /// Notices for the start: a recovered file, or a log whose verification failed.
        notices: Vec<StartNotice>,
        /// The current time of the host's clock.
        now: DateTime<Utc>,
    }
}

/// How far programs of packs are isolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// No access to the user's files, and a filter on system calls.
    Full,
    /// Either no access to the user's files or a filter on system calls, but not both.
    Partial,
    /// Only a minimal environment and resource limits.
    Limits,
}

/// The source of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CredentialState {
    /// From the keyring.
    Stored,
    /// Entered only for this run of the app.
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
    /// The check found no problem.
    Ok,
    /// The check found a problem that the app can work with.
    Warning,
    /// The check found a problem that disables some function.
    Failed,
}
