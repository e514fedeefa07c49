//! A pack's manifest (`pack.json`) as pack authors write it. `tools/pack.schema.json` is generated
//! from these types. This file defines the shape only; the crate `packs` reads, checks and resolves
//! it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{AgentId, Conversation, Effect, PackId, ResultView, ToolId, ToolSpec};

mod blueprint;
mod data;
pub mod offline;
mod run;
mod server;
pub use blueprint::*;
pub use data::*;
pub use offline::*;
pub use run::*;
pub use server::*;

/// One pack: a folder under `tools/` with this as its `pack.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackManifest {
    /// Version of this format: always `1`.
    #[schemars(range(min = 1, max = 1))]
    pub manifest_version: u32,
    /// Lower-case letters, digits and hyphens; by custom the folder's name.
    #[schemars(extend("pattern" = r"^[a-z0-9][a-z0-9-]{0,63}$"))]
    pub id: PackId,
    /// The pack's own version, such as `1.0.0`.
    #[schemars(length(min = 1))]
    pub version: String,
    #[schemars(length(min = 1))]
    pub title: String,
    #[schemars(length(min = 1))]
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentProfile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerEntry>,
    /// Settings of the pack with their defaults, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, Value>,
    /// JSON Schemas by name; referred to as `#/schemas/Name`.
    pub schemas: BTreeMap<String, Value>,
    pub tools: ToolList,
    /// The data that the pack handles, and what of it may go to a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_flow: Option<DataFlow>,
    /// Calls that a person has to approve, whatever the policy and the rules of a profile say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<Security>,
    /// The files that the user may import for the pack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportTarget>,
    /// Scenarios that `csign packs check --run` runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Acceptance>,
    /// The offline model's data about the pack as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline: Option<PackOffline>,
}

impl PackManifest {
    /// The entry of a resolved tool, whose id may be qualified with the pack.
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
    /// Most rounds with tools for this pack's agent (1 to 20, default 5).
    #[serde(default = "default_max_steps")]
    #[schemars(range(min = 1, max = 20))]
    pub max_steps: u32,
    pub tools: Vec<ToolEntry>,
}

fn default_max_steps() -> u32 {
    5
}

/// One tool of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolEntry {
    /// Unique in the pack; letters, digits, dots, `_` and `-`.
    #[schemars(extend("pattern" = r"^[A-Za-z][A-Za-z0-9_.-]{0,127}$"))]
    pub id: ToolId,
    #[schemars(length(min = 1))]
    pub title: String,
    pub kind: Kind,
    pub side_effect_level: Effect,
    #[schemars(regex(pattern = r"^#/schemas/[A-Za-z0-9_]+$"))]
    pub input_schema_ref: String,
    #[schemars(regex(pattern = r"^#/schemas/[A-Za-z0-9_]+$"))]
    pub output_schema_ref: String,
    #[schemars(regex(pattern = r"^#/schemas/[A-Za-z0-9_]+$"))]
    pub error_schema_ref: String,
    pub timeouts: Timeouts,
    pub retry: Retry,
    pub idempotency: Idempotency,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    pub audit: AuditPolicy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_guidelines: Option<String>,
    /// When the tool helps, one case per entry.
    pub use_when: Vec<String>,
    /// When the tool does not help; mandatory for a slow tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub do_not_use_when: Vec<String>,
    #[serde(default)]
    pub latency: Latency,
    /// How to read its results: a file of the pack, in place of the usual
    /// `execution_instructions.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Whether it reads from targets that the model chooses. If absent, the server's own statement
    /// counts, but only if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    #[serde(default)]
    pub output_trust: OutputTrust,
    #[serde(default)]
    pub grantable: bool,
    /// Facts about single parameters, by name. A parameter not named here is owned by the model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Parameter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// Members that its other side calls differently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<MemberAliases>,
    /// Values that a result leaves in the session for caller-owned parameters of later calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session_values: Vec<SessionValue>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline: Option<ToolOffline>,
}

/// How a tool is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    HttpApi,
    Database,
    Queue,
    Filesystem,
    McpServer,
    InternalService,
    Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timeouts {
    /// Per attempt. 0 = 10 000; at most 300 000.
    #[schemars(range(max = 300_000))]
    pub timeout_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// Total tries; 0 and 1 both mean one.
    pub max_attempts: u32,
    pub backoff: Backoff,
}

/// The wait before another try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    Fixed,
    Exponential,
    ExponentialJitter,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Idempotency {
    pub strategy: IdempotencyStrategy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_ref: Option<String>,
}

/// How a repeated call is recognised by the tool's own side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum IdempotencyStrategy {
    None,
    Header,
    PayloadField,
    HashPayload,
    ExternalKey,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    pub kind: AuthKind,
    /// Name of the variable (and of the keyring entry) that holds the secret, never its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_var: Option<String>,
    /// Kind `http_api`: the header that carries it (default: `Authorization` for a bearer token,
    /// `X-API-Key` for a key).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Kind `http_api`: the query parameter that carries a key instead of a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    None,
    ApiKey,
    BearerToken,
    Oauth2,
    Mtls,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditPolicy {
    /// The intent record must be durable before the call, also for reads.
    pub required: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log_fields: Vec<String>,
}

/// Fast answers while the user waits; slow ones are never called on a guess.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum Latency {
    #[default]
    Fast,
    Slow,
}

/// Whether policy trusts a result. Any value except `trusted` suspends grants for the rest of the
/// turn.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum OutputTrust {
    #[default]
    Untrusted,
    Trusted,
}

/// Facts about one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    pub owner: Owner,
    /// For `caller`: the session value that fills it (default: the parameter's own name).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// For `caller`: left out of the approval's hash. Only allowed for `clientIp`.
    #[serde(default)]
    pub exempt_from_hash: bool,
}

/// The source of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    Model,
    Default,
    Caller,
}

/// How the host computes what an action would change: read calls, then a template that yields a
/// `PreviewView` as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// Read-only tools to call first; each result is a variable of the template.
    pub reads: Vec<PreviewRead>,
    /// A minijinja template over `args` and the reads, yielding JSON (a file name ending in
    /// `.jinja` is read from the pack): a `PreviewView`, or `{"refuse": TEXT}` when the action
    /// cannot be carried out as it is; then the model is told why and nobody is asked.
    pub template: String,
}

/// One read call of a preview.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct PreviewRead {
    /// The template's variable.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9_]*$"))]
    pub name: String,
    pub tool: ToolId,
    /// Argument values; text of the form `{{ args.x }}` alone is replaced by that argument.
    #[serde(default)]
    #[ts(type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
    /// When the read fails the variable is `none` instead of the preview failing.
    #[serde(default)]
    pub optional: bool,
}

/// A value taken from a result and kept in the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SessionValue {
    pub name: String,
    /// JSON pointer into the result.
    pub pointer: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpTool {
    pub server: String,
    pub tool: String,
}

/// A specialist of the pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AgentProfile {
    pub id: AgentId,
    pub name: String,
    pub summary: String,
    /// The specialist's role, as text for the model.
    pub prompt: String,
    /// How it remembers earlier messages, instead of the profile's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Conversation>,
    /// The tools of the pack that it may call; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolId>>,
    /// Values of parameters that the user need not name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<EntityDefault>,
    /// Most tool calls of a round, when fewer than the settings allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub calls_per_round: Option<u32>,
}

/// A value that is used if the user names none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct EntityDefault {
    /// The parameter of the agent's tools.
    pub parameter: String,
    /// The kind of entity that the parameter names, e.g. `account`.
    pub entity: String,
    /// An entity's id; absent = none, which means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// A thing that users refer to by name, such as an account or an advertiser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entity {
    /// Its kind, e.g. `account` or `advertiser`.
    pub kind: String,
    /// The value put into arguments.
    pub id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Other arguments that follow from it, e.g. the account of an advertiser.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub implies: BTreeMap<String, String>,
}
