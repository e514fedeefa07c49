//! A pack's manifest (`pack.json`) as pack authors write it. `tools/pack.schema.json` is generated
//! from these types. This file only defines the types; the crate `packs` reads, checks and resolves
//! manifests.

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{AgentId, Conversation, Effect, PackId, ResultView, ToolId, ToolSpec};

mod blueprint;
mod data;
mod kind;
pub mod offline;
mod run;
mod server;
pub use blueprint::*;
pub use data::*;
pub use kind::*;
pub use offline::*;
pub use run::*;
pub use server::*;

/// A pack: a folder under `tools/` whose `pack.json` has this format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackManifest {
    /// Version of this format: always `1`.
    #[schemars(range(min = 1, max = 1))]
    pub manifest_version: u32,
    /// The id of the pack: lower-case letters, digits and hyphens; equal to the folder's name.
    #[schemars(extend("pattern" = r"^[a-z0-9][a-z0-9-]{0,63}$"))]
    pub id: PackId,
    /// The pack's own version, such as `1.0.0`.
    #[schemars(length(min = 1))]
    pub version: String,
    /// The pack's name for display.
    #[schemars(length(min = 1))]
    pub title: String,
    /// One or two sentences about the purpose of the pack.
    #[schemars(length(min = 1))]
    pub description: String,
    /// The specialist of the pack; absent if the pack has tools only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentProfile>,
    /// Things that users refer to by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
    /// The MCP servers of the pack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerEntry>,
    /// Settings of the pack with their defaults, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, Value>,
    /// JSON Schemas by name; referred to as `#/schemas/Name`.
    pub schemas: BTreeMap<String, Value>,
    /// The tools, and the most rounds of calls.
    pub tools: ToolList,
    /// The data that the pack handles, and which of it may be sent to a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_flow: Option<DataFlow>,
    /// Calls that a person has to approve, regardless of the policy and the rules of a profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<Security>,
    /// Scenarios that `csign packs check --run` runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Acceptance>,
    /// The data for the offline model about the pack as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline: Option<PackOffline>,
    /// The texts of templates that are written once for all languages. They are read from files of
    /// the pack, and all copies of a manifest share them, because they are long.
    #[serde(skip)]
    pub texts: Arc<PackTexts>,
}

impl PackManifest {
    /// Returns the entry of a resolved tool, whose id may be qualified with the pack.
    pub fn entry_of(&self, tool: &ToolSpec) -> Option<&ToolEntry> {
        self.tools
            .tools
            .iter()
            .find(|entry| entry.id == tool.id || ToolId::qualified(&self.id, &entry.id) == tool.id)
    }
}

/// The tools of a pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolList {
    /// The most rounds with tools for this pack's agent (1 to 20, default 5).
    #[serde(default = "default_max_steps")]
    #[schemars(range(min = 1, max = 20))]
    pub max_steps: u32,
    /// The tools of the pack. A pack whose specialist only calls tools of other packs has none.
    pub tools: Vec<ToolEntry>,
}

fn default_max_steps() -> u32 {
    5
}

/// One tool of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolEntry {
    /// The id of the tool, unique in the pack: letters, digits, dots, `_` and `-`.
    #[schemars(extend("pattern" = r"^[A-Za-z][A-Za-z0-9_.-]{0,127}$"))]
    pub id: ToolId,
    /// The name of the tool for display.
    #[schemars(length(min = 1))]
    pub title: String,
    /// How the tool is run.
    pub kind: Kind,
    /// The kind of change that the tool makes.
    pub side_effect_level: Effect,
    /// The schema of the arguments, as `#/schemas/Name`; it must describe an object.
    #[schemars(regex(pattern = r"^#/schemas/[A-Za-z0-9_]+$"))]
    pub input_schema_ref: String,
    /// The schema of the result, as `#/schemas/Name`.
    #[schemars(regex(pattern = r"^#/schemas/[A-Za-z0-9_]+$"))]
    pub output_schema_ref: String,
    /// The schema of the tool's own errors, as `#/schemas/Name`.
    #[schemars(regex(pattern = r"^#/schemas/[A-Za-z0-9_]+$"))]
    pub error_schema_ref: String,
    /// The time limit of an attempt.
    pub timeouts: Timeouts,
    /// The number of attempts, and the delay between them.
    pub retry: Retry,
    /// How the receiver of a call recognises a repeated call.
    pub idempotency: Idempotency,
    /// The credential that the tool needs; absent if it needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// The requirements for the audit record of a call.
    pub audit: AuditPolicy,
    /// The description of the tool that models read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_guidelines: Option<String>,
    /// When the tool helps, one case per entry.
    pub use_when: Vec<String>,
    /// When the tool does not help; required for a slow tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub do_not_use_when: Vec<String>,
    /// Whether the result comes while the user waits.
    #[serde(default)]
    pub latency: Latency,
    /// A file of the pack that explains how to read the tool's results, instead of the default
    /// `execution_instructions.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Whether the tool reads from targets that the model chooses. If absent, the server's own
    /// statement applies, but only if the statement is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// Whether policy trusts the results.
    #[serde(default)]
    pub output_trust: OutputTrust,
    /// Whether a person may approve the tool for the rest of a session.
    #[serde(default)]
    pub grantable: bool,
    /// Facts about individual parameters, by name. The model supplies parameters that are not named
    /// here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Parameter>,
    /// How the change that the approval window shows is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// Members that the receiver of a call names differently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<MemberAliases>,
    /// Values of a result that are stored in the session for caller-owned parameters of later
    /// calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session_values: Vec<SessionValue>,
    /// The parts of a result, and how clients show it.
    #[serde(default)]
    pub view: ResultView,
    /// Kind `internal_service`: the service's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Kind `mcp_server`: the server and its own name for the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpTool>,
    /// Kind `http_api`: the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpCall>,
    /// Kind `other`: the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramCall>,
    /// The data for the offline model about the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline: Option<ToolOffline>,
}

/// The time limit of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timeouts {
    /// The limit per attempt in milliseconds. 0 = 10 000; at most 300 000.
    #[schemars(range(max = 300_000))]
    pub timeout_ms: u64,
}

/// How often a failed call of the tool is retried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// The number of all attempts; 0 and 1 both mean a single attempt.
    pub max_attempts: u32,
    /// The delay before each further attempt.
    pub backoff: Backoff,
}

/// The delay before another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// The same delay each time.
    Fixed,
    /// Twice the previous delay, each time.
    Exponential,
    /// Like `exponential`, with a random part.
    ExponentialJitter,
}

/// How a repeated call is recognised, and where its key is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Idempotency {
    /// The way in which a repeated call is recognised.
    pub strategy: IdempotencyStrategy,
    /// The header, member or argument that carries the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_ref: Option<String>,
}

/// How the receiver of a call recognises a repeated call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum IdempotencyStrategy {
    /// A repeated call is not recognised.
    None,
    /// A header with a key, named by `key_ref`.
    Header,
    /// A member of the body with a key, named by `key_ref`.
    PayloadField,
    /// The header `Idempotency-Key` with a key made from the arguments.
    HashPayload,
    /// An argument that the tool already has, named by `key_ref`.
    ExternalKey,
}

/// The credential of a tool or a server, and where it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// The kind of credential.
    pub kind: AuthKind,
    /// The name of the variable (and of the keyring entry) that contains the secret, never the
    /// secret itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_var: Option<String>,
    /// Kind `http_api`: the header that carries the credential (default: `Authorization` for a
    /// bearer token, `X-API-Key` for a key).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Kind `http_api`: the query parameter that carries a key instead of a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}

/// The kinds of credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    /// No credential.
    None,
    /// A key in a header or in a query parameter.
    ApiKey,
    /// A token in the header `Authorization`.
    BearerToken,
    /// A token that an authorization server issues; for MCP servers only.
    Oauth2,
    /// A client certificate; not supported, so a pack that requires one has a fault.
    Mtls,
}

/// The requirements for the audit record of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditPolicy {
    /// Whether the intent record must be durable before the call, also for reads.
    pub required: bool,
    /// Accepted but ignored, because every record has the same fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log_fields: Vec<String>,
}

/// Whether a tool answers while the user waits. Slow tools are never called on a guess.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum Latency {
    /// The result comes while the user waits.
    #[default]
    Fast,
    /// The result takes long; the tool is called only if the user asks for it.
    Slow,
}

/// Whether policy trusts a result. Any value except `trusted` suspends grants for the rest of the
/// turn.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum OutputTrust {
    /// Other people may have written parts of the result.
    #[default]
    Untrusted,
    /// Nobody else can write to the result.
    Trusted,
}

/// Facts about a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The side that supplies the value.
    pub owner: Owner,
    /// For `caller`: the session value for the parameter (default: the parameter's name).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// For `caller`: whether the parameter is excluded from the approval's hash. Only allowed for
    /// `clientIp`.
    #[serde(default)]
    pub exempt_from_hash: bool,
}

/// The source of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// The model, from the conversation.
    Model,
    /// The model, which sees the schema's default as a hint; for read-only tools only.
    Default,
    /// The host, from the session's values; the model does not see the parameter.
    Caller,
}

/// How the host computes the change that an action would make: read calls, then a template that
/// produces a `PreviewView` as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// Read-only tools to call first; each result becomes a variable of the template.
    pub reads: Vec<PreviewRead>,
    /// A minijinja template over `args` and the reads that produces JSON (the text may be the name
    /// of a file of the pack ending in `.jinja`): a `PreviewView`, or `{"refuse": TEXT}` if the
    /// action cannot be carried out. In that case, the model gets the text and no person is asked.
    pub template: String,
}

/// A read call of a preview.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct PreviewRead {
    /// The name of the template's variable for the result.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9_]*$"))]
    pub name: String,
    /// The tool to call; it must be read-only.
    pub tool: ToolId,
    /// Argument values; a text that consists of `{{ args.x }}` is replaced by that argument.
    #[serde(default)]
    #[ts(type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
    /// Whether the variable becomes `none` if the read fails, so that the preview does not fail.
    #[serde(default)]
    pub optional: bool,
}

/// A value taken from a result and stored in the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SessionValue {
    /// The name under which the value is stored.
    pub name: String,
    /// The JSON pointer to the value in the result.
    pub pointer: String,
}

/// A tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpTool {
    /// The name of the server, as in `servers`.
    pub server: String,
    /// The server's name for the tool.
    pub tool: String,
}

/// A specialist of the pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AgentProfile {
    /// The identifier of the specialist.
    pub id: AgentId,
    /// The name of the specialist for display.
    pub name: String,
    /// A sentence about the specialist's task, which the supervisor and the user read.
    pub summary: String,
    /// The specialist's role, as text for the model.
    pub prompt: String,
    /// How the specialist remembers earlier messages, instead of the profile's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Conversation>,
    /// The tools that the specialist may call; absent means all of the pack. A tool of another pack
    /// is named as `PACK:TOOL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolId>>,
    /// Values of parameters that the user can omit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<EntityDefault>,
    /// The most tool calls in a round, if lower than the limit in the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub calls_per_round: Option<u32>,
}

/// A value that applies if the user gives none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct EntityDefault {
    /// The parameter of the agent's tools.
    pub parameter: String,
    /// The kind of entity in the parameter, such as `account`.
    pub entity: String,
    /// The id of an entity; absent means no value, and so all entities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The name of the kind for people, by language. In a missing language, `entity` is shown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, as = "Option<Localised<String>>")]
    #[schemars(with = "offline::Words")]
    pub title: Localised<String>,
}

/// A thing that users refer to by name, such as an account or an advertiser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entity {
    /// The kind of the entity, such as `account` or `advertiser`.
    pub kind: String,
    /// The value used in arguments.
    pub id: String,
    /// The name that users know.
    pub name: String,
    /// Other names of the entity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Other arguments that follow from the entity, such as the account of an advertiser.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub implies: BTreeMap<String, String>,
}
