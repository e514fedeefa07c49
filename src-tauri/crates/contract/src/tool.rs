//! A tool as the engine and the window use it, after its pack has been read and checked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    PackId, ResultView, Text, ToolId,
    address::Origin,
    manifest::{
        Auth, Backoff, HttpCall, IdempotencyStrategy, Kind, Latency, OutputTrust, Preview,
        ProgramCall, SessionValue,
    },
    text,
};

/// The kind of change that a tool makes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The tool changes nothing.
    ReadOnly,
    /// The tool changes data in a way that can be reversed.
    Write,
    /// The tool deletes or changes data in a way that cannot be reversed.
    Destructive,
}

/// Where a call of a tool can send data. Only the host decides this, never a server or a model.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Nowhere: the tool runs on this computer and has no network.
    Here,
    /// To a server that the person configured, or whose reads the person allowed when adding it.
    /// Reads of this server need no further permission.
    Configured,
    /// To a server that nobody has allowed yet.
    #[default]
    Unallowed,
}

/// All data about a tool that the engine needs, with resolved names. The data comes from the
/// manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolSpec {
    /// The identifier, prefixed with the pack if several packs have a tool with this id.
    pub id: ToolId,
    /// The pack that declares the tool.
    pub pack: PackId,
    /// The name shown to the model: only letters, digits, `_` and `-`, at most 64.
    pub model_name: String,
    /// The name of the tool for display.
    pub title: String,
    /// The description given to the model.
    pub description: String,
    /// Cases in which the tool helps.
    pub use_when: Vec<String>,
    /// Cases in which the tool does not help.
    pub do_not_use_when: Vec<String>,
    /// How the tool is run.
    pub kind: Kind,
    /// The kind of change that the tool makes.
    pub effect: Effect,
    /// Whether the tool reads from targets that the model chooses.
    pub open_world: bool,
    /// Where a call can send data.
    pub reach: Reach,
    /// Whether a person or the pack is responsible for the description. If a server wrote the
    /// description and nobody accepted it, each request with the description is marked as
    /// untrusted.
    pub is_description_accepted: bool,
    /// Whether policy trusts the results.
    pub output_trust: OutputTrust,
    /// Whether a person may approve the tool for the rest of a session.
    pub grantable: bool,
    /// Whether every call needs a person's approval, regardless of policies, rules and grants.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub human_required: bool,
    /// Whether the result comes while the user waits.
    pub latency: Latency,
    /// JSON Schema of the arguments that the model may give (caller-owned parameters removed).
    #[ts(type = "unknown")]
    pub input_schema: Value,
    /// JSON Schema of all arguments, including caller-owned ones.
    #[ts(type = "unknown")]
    pub full_input_schema: Value,
    /// JSON Schema of the result.
    #[ts(type = "unknown")]
    pub output_schema: Value,
    /// JSON Schema of the tool's own errors. An empty object allows any error.
    #[serde(default, skip_serializing)]
    #[ts(skip)]
    pub error_schema: Value,
    /// Parameters that only the host fills in, by name.
    pub caller_owned: Vec<CallerParam>,
    /// The time limit of an attempt in milliseconds.
    pub timeout_ms: u64,
    /// The most attempts of a call, at least 1.
    pub max_attempts: u32,
    /// The delay before each further attempt.
    pub backoff: Backoff,
    /// How the receiver of a call recognises a repeated call.
    pub idempotency: IdempotencyStrategy,
    /// The header, member or argument that carries the strategy's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key_ref: Option<String>,
    /// The credential that the tool needs, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Whether the intent record must be durable before the call, also for a read.
    pub audit_required: bool,
    /// How clients show a result.
    pub view: ResultView,
    /// How the change that the approval window shows is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// Values of a result that are stored in the session.
    pub session_values: Vec<SessionValue>,
    /// For an analysis: the pointer to the instant that its result describes. The same question
    /// shortly after is answered from this result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Where the tool runs.
    pub target: ToolTarget,
    /// SHA-256 (hex) of the canonical form of the tool's definition.
    pub definition_hash: String,
}

impl ToolSpec {
    /// Returns the id as written in the pack, without the pack as a prefix.
    pub fn plain_id(&self) -> ToolId {
        let of_pack = self
            .id
            .as_str()
            .strip_prefix(self.pack.as_str())
            .and_then(|rest| rest.strip_prefix(':'));
        ToolId::new(of_pack.unwrap_or(self.id.as_str()))
    }

    /// Returns the id prefixed with its pack, which no tool of another pack has.
    pub fn qualified_id(&self) -> ToolId {
        ToolId::qualified(&self.pack, &self.plain_id())
    }

    /// Whether an id means this tool, with or without its pack. An id without a pack may mean
    /// several tools, so a restriction applies to all of them and a permission must name a single
    /// tool.
    pub fn is_named(&self, id: &ToolId) -> bool {
        *id == self.plain_id() || *id == self.qualified_id()
    }
}

/// Where a tool runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum ToolTarget {
    /// A service linked into the app.
    BuiltIn {
        /// The name of the service.
        service: String,
    },
    /// A tool of an MCP server of the same pack.
    Mcp {
        /// The name of the server in its pack.
        server: String,
        /// The name that the server gives the tool.
        tool: String,
    },
    /// An HTTP request by the host; the address already contains the settings.
    Http {
        /// The request.
        call: Box<HttpCall>,
    },
    /// A run of a program of the pack.
    Program {
        /// The program and its arguments.
        call: Box<ProgramCall>,
    },
}

impl ToolTarget {
    /// Describes what the host itself does for a call: the request that it sends, or the program
    /// that it runs. Returns none if a server or a service of the app answers.
    pub fn describe(&self) -> Option<Text> {
        match self {
            Self::BuiltIn { .. } | Self::Mcp { .. } => None,
            Self::Http { call } => {
                let (method, host) = (call.method.name(), self.server());
                Some(if call.private_network {
                    text!(
                        "Sends a {method} request to {host}, which may be this computer or another one in the local network.",
                        method,
                        host
                    )
                } else {
                    text!("Sends a {method} request to {host}.", method, host)
                })
            }
            Self::Program { call } => {
                let command = call.command.as_str();
                Some(if call.network {
                    text!("Runs {command}, which may open network connections.", command)
                } else {
                    text!("Runs {command}, which may not open network connections.", command)
                })
            }
        }
    }

    /// Whether all errors of a call are written by the tool itself. Other calls can also fail in
    /// transit, such as when a connection breaks.
    pub fn words_each_error(&self) -> bool {
        match self {
            Self::BuiltIn { .. } => true,
            Self::Mcp { .. } | Self::Http { .. } | Self::Program { .. } => false,
        }
    }

    /// Returns the names of the server and of its tool, if a server of the pack answers.
    pub fn tool_of_server(&self) -> Option<(&str, &str)> {
        match self {
            Self::Mcp { server, tool } => Some((server, tool)),
            Self::BuiltIn { .. } | Self::Http { .. } | Self::Program { .. } => None,
        }
    }

    /// Returns the address to which the host sends the call, if it sends a request.
    pub fn requested_url(&self) -> Option<&str> {
        match self {
            Self::Http { call } => Some(&call.url),
            Self::BuiltIn { .. } | Self::Mcp { .. } | Self::Program { .. } => None,
        }
    }

    /// Returns the server's name for approvals and records.
    pub fn server(&self) -> &str {
        match self {
            Self::BuiltIn { service } => service,
            Self::Mcp { server, .. } => server,
            Self::Http { call } => host_of(&call.url),
            Self::Program { call } => &call.command,
        }
    }
}

/// Returns host and port of an address as written. Returns the whole address if requests reach
/// another host than the apparent one, because an approval must not name another server.
fn host_of(url: &str) -> &str {
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let meant = Origin::parse(&format!("{scheme}://{host}"));
    if meant.is_some() && meant == Origin::parse(url) { host } else { url }
}

/// A parameter that the model never sees. The host fills the parameter from the session's values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct CallerParam {
    /// The name of the parameter.
    pub name: String,
    /// The session value for the parameter. Without a value, the parameter is omitted.
    pub from: String,
    /// Whether the parameter is excluded from the approval's hash (only `clientIp`).
    #[serde(default)]
    pub exempt_from_hash: bool,
}
