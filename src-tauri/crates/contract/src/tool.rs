//! A tool as the engine and the window know it, after its pack has been read and checked.

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

/// Where a call of a tool can send data. The host decides it; no server and no model can.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Nowhere: the tool runs on this computer and has no network.
    Here,
    /// To a server that the person configured, or whose reads the person allowed when adding it.
    /// Its reads need no further leave.
    Configured,
    /// To a server that nobody allowed yet.
    #[default]
    Unallowed,
}

/// Everything the engine needs to know of one tool. Shapes come from the manifest; names are
/// resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolSpec {
    /// The identifier, with the pack in front if several packs use it.
    pub id: ToolId,
    /// The pack that declares the tool.
    pub pack: PackId,
    /// The name the model sees: letters, digits, `_` and `-` only, at most 64.
    pub model_name: String,
    /// The name of the tool for display.
    pub title: String,
    /// Text given to the model.
    pub description: String,
    /// Cases in which the tool helps.
    pub use_when: Vec<String>,
    /// Cases in which the tool does not help.
    pub do_not_use_when: Vec<String>,
    /// How the tool is run.
    pub kind: Kind,
    /// The kind of change that the tool makes.
    pub effect: Effect,
    /// Whether it reads from targets that the model chooses.
    pub open_world: bool,
    /// Where a call can send data.
    pub reach: Reach,
    /// Whether a person or the pack answers for the description. A description that a server wrote
    /// and nobody accepted marks each request that carries it as untrusted.
    pub is_description_accepted: bool,
    /// Whether policy trusts the results.
    pub output_trust: OutputTrust,
    /// Whether a person may approve it for the rest of a session.
    pub grantable: bool,
    /// Whether every call needs a person's approval, whatever policies, rules and grants say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub human_required: bool,
    /// Whether an answer comes while the user waits.
    pub latency: Latency,
    /// JSON Schema of the arguments that the model may give (caller-owned parameters removed).
    #[ts(type = "unknown")]
    pub input_schema: Value,
    /// JSON Schema of all arguments, with the caller-owned ones.
    #[ts(type = "unknown")]
    pub full_input_schema: Value,
    /// JSON Schema of the result.
    #[ts(type = "unknown")]
    pub output_schema: Value,
    /// JSON Schema of the tool's own errors. An empty object means that any error fits.
    #[serde(default, skip_serializing)]
    #[ts(skip)]
    pub error_schema: Value,
    /// Parameters that only the host fills, by name.
    pub caller_owned: Vec<CallerParam>,
    /// The milliseconds that one attempt may take.
    pub timeout_ms: u64,
    /// The most attempts of one call, at least 1.
    pub max_attempts: u32,
    /// The wait before each further attempt.
    pub backoff: Backoff,
    /// How the tool's own side recognises a repeated call.
    pub idempotency: IdempotencyStrategy,
    /// The header, member or argument that carries the strategy's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key_ref: Option<String>,
    /// The credential it needs, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Whether the intent record must be durable before the call, also for a read.
    pub audit_required: bool,
    /// How clients show a result.
    pub view: ResultView,
    /// How the change is computed that the approval window shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// Values that a result leaves in the session.
    pub session_values: Vec<SessionValue>,
    /// For an analysis: the pointer to the instant that its result describes. The same question
    /// shortly after is answered from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Where it runs.
    pub target: ToolTarget,
    /// SHA-256 (hex) of the canonical form of what makes up this tool's definition.
    pub definition_hash: String,
}

impl ToolSpec {
    /// Returns the id as the pack itself writes it, without the pack in front.
    pub fn plain_id(&self) -> ToolId {
        let of_pack = self
            .id
            .as_str()
            .strip_prefix(self.pack.as_str())
            .and_then(|rest| rest.strip_prefix(':'));
        ToolId::new(of_pack.unwrap_or(self.id.as_str()))
    }

    /// Returns the id with its pack. No tool of another pack has it.
    pub fn qualified_id(&self) -> ToolId {
        ToolId::qualified(&self.pack, &self.plain_id())
    }

    /// Whether an id means this tool, with or without its pack. An id without a pack may mean
    /// several tools: a restriction applies to all of them, and a permission must name one.
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
    /// One HTTP request by the host; settings have been put into the address.
    Http {
        /// The request.
        call: Box<HttpCall>,
    },
    /// One run of a program of the pack.
    Program {
        /// The program and its arguments.
        call: Box<ProgramCall>,
    },
}

impl ToolTarget {
    /// Describes what the host itself does for a call: the request that it sends, or the program
    /// that it runs. Returns None if a server or a service of the app answers.
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

    /// Whether each error of a call is worded by the tool itself. Other calls can also fail on the
    /// way, such as when a connection breaks.
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

    /// Returns the address that the host sends the call to, if it sends a request.
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

/// Returns host and port of an address as written. Returns the whole address if its apparent host
/// is not the one that requests reach: an approval must not name another server.
fn host_of(url: &str) -> &str {
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let meant = Origin::parse(&format!("{scheme}://{host}"));
    if meant.is_some() && meant == Origin::parse(url) { host } else { url }
}

/// A parameter that the model never sees. The host fills it from the session's values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct CallerParam {
    /// The name of the parameter.
    pub name: String,
    /// The session value that fills it. Without a value, the parameter is omitted.
    pub from: String,
    /// Exempt from the approval's hash (only `clientIp`).
    #[serde(default)]
    pub exempt_from_hash: bool,
}
