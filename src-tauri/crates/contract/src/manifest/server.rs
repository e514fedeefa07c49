//! MCP servers in a manifest: a program of the pack, or an address, with the client's identity and
//! time limits. This file defines the shape only; the crate `mcp` reaches servers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Auth;

/// An MCP server of the pack: a program (`command`) or an address (`http`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerEntry {
    /// The name of the server, unique within the pack.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9_-]{0,63}$"))]
    pub name: String,
    /// A path relative to the pack (`./server`), or a program name found in the app's own folder.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The arguments of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Names of variables that the process gets; all others are removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Whether it gets a permanent folder inside the data folder, passed as
    /// `COUNTERSIGN_PACK_DATA`.
    #[serde(default)]
    pub data_dir: bool,
    /// Instead of `command`: a server behind an address, over streamable HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<ServerHttp>,
    /// The time limits; absent for the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<ServerTimeouts>,
    /// Whether tools that the server lists but `tools` does not declare are offered too, as
    /// `server.tool`. Each counts as a write until the user says otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offer_all: bool,
    /// Beside `command`: another server with the same tools, which is used instead once its address
    /// is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<ServerElsewhere>,
}

/// A server with the same tools that is reached over HTTP instead of the pack's own program. It
/// keeps one session for each conversation, gets the name of the calling application
/// (`application-id`), and issues tokens to the app itself (client credentials). All members but
/// the last two name settings of the pack. Where the environment counts, the variable with the
/// setting's name in capitals after `env_prefix` takes precedence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerElsewhere {
    /// The address that calls are posted to. While it is empty the pack's own program answers.
    pub url: String,
    /// The setting with the address of the token endpoint.
    pub token_url: String,
    /// The setting with the client's identifier at the authorization server.
    pub client_id: String,
    /// The setting with the scopes that are requested.
    pub scope: String,
    /// Name of the variable (and of the keyring entry) that holds the client's secret, never its
    /// value.
    pub client_secret: String,
    /// The beginning of the names of the environment variables.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub env_prefix: String,
}

impl ServerElsewhere {
    /// Returns the names of its settings, the address first.
    pub fn settings(&self) -> [&str; 4] {
        [&self.url, &self.token_url, &self.client_id, &self.scope]
    }

    /// Returns the name of the environment variable that may hold a setting.
    pub fn variable(&self, setting: &str) -> String {
        format!("{}{}", self.env_prefix, setting.to_ascii_uppercase())
    }
}

/// Where a server is, and the credentials that it gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerHttp {
    /// The whole address; it may begin with `{settings.NAME}`.
    #[schemars(length(min = 1))]
    pub url: String,
    /// Whether the server may lie on this computer or in the local network, and be reached without
    /// encryption. Counts only while the user allows it for this pack.
    #[serde(default)]
    pub private_network: bool,
    /// `bearer_token`, `api_key`, or `oauth2` with `oauth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Kind `oauth2`: how tokens are obtained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth: Option<ServerOauth>,
    /// Further headers by name; each value is the name of a credential, never the credential
    /// itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

/// How tokens for a server are obtained. They are kept in the keyring only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerOauth {
    /// Whom the tokens represent.
    pub grant: OauthGrant,
    /// Agreed with the authorization server beforehand; without one the app registers itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// An https address that describes the app, for servers that ask for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_metadata_url: Option<String>,
    /// The issuer of the tokens, as in its own metadata. The secret is sent only to it. If absent,
    /// the first issuer that receives the secret stays the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The scopes that are requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The algorithm, if the secret named by `auth.env_var` is a private key (PEM) that signs the
    /// client's identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_with: Option<KeyAlgorithm>,
}

/// Whom the tokens represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OauthGrant {
    /// The user, who signs in with a browser.
    AuthorizationCode,
    /// The app itself, with the secret named by `auth.env_var`.
    ClientCredentials,
}

/// The algorithms that may sign the client's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum KeyAlgorithm {
    /// RSA with SHA-256.
    RS256,
    /// RSA with SHA-384.
    RS384,
    /// RSA with SHA-512.
    RS512,
    /// ECDSA on P-256 with SHA-256.
    ES256,
    /// ECDSA on P-384 with SHA-384.
    ES384,
}

/// The time limits of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerTimeouts {
    /// Milliseconds from starting or reaching it to its list of tools. 0 = 15 000; at most 120 000.
    #[serde(default)]
    #[schemars(range(max = 120_000))]
    pub start_ms: u64,
    /// One call of a tool that `tools` does not declare (`offer_all`); declared tools have their
    /// own. Progress begins it again. 0 = 30 000; at most 3 600 000.
    #[serde(default)]
    #[schemars(range(max = 3_600_000))]
    pub call_ms: u64,
}
