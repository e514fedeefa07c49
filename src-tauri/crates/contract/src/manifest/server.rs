//! Defines the MCP servers of a manifest: a program of the pack, or an address, with the client's
//! identity and time limits. This file only defines the types; the crate `mcp` connects to servers.

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
    /// Whether the process gets a permanent folder inside the data folder, passed as
    /// `COUNTERSIGN_PACK_DATA`.
    #[serde(default)]
    pub data_dir: bool,
    /// Instead of `command`: a server at an address, over streamable HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<ServerHttp>,
    /// The time limits; absent means the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<ServerTimeouts>,
    /// Whether tools that the server lists but `tools` does not declare are offered too, as
    /// `server.tool`. Each such tool is treated as a write until the user chooses another effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offer_all: bool,
    /// With `command`: another server with the same tools, which replaces the program once its
    /// address is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<ServerElsewhere>,
}

/// A server with the same tools that is reached over HTTP instead of the pack's own program. The
/// server keeps a session for each conversation, gets the name of the calling application
/// (`application-id`), and issues tokens to the app itself (client credentials). All members except
/// the last two are names of settings of the pack. If the app reads environment variables, a
/// variable named `env_prefix` and the setting's name in capitals takes precedence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerElsewhere {
    /// The setting with the address to which calls are posted. While the address is empty, the
    /// pack's own program answers.
    pub url: String,
    /// The setting with the address of the token endpoint.
    pub token_url: String,
    /// The setting with the client's identifier at the authorization server.
    pub client_id: String,
    /// The setting with the scopes that are requested.
    pub scope: String,
    /// The name of the variable (and of the keyring entry) that contains the client's secret, never
    /// the secret itself.
    pub client_secret: String,
    /// The prefix of the names of the environment variables.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub env_prefix: String,
}

impl ServerElsewhere {
    /// Returns the names of the server's settings, the address first.
    pub fn settings(&self) -> [&str; 4] {
        [&self.url, &self.token_url, &self.client_id, &self.scope]
    }

    /// Returns the name of the environment variable that may contain a setting.
    pub fn variable(&self, setting: &str) -> String {
        format!("{}{}", self.env_prefix, setting.to_ascii_uppercase())
    }
}

/// The address of a server, and the credentials sent to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerHttp {
    /// The complete address; it may begin with `{settings.NAME}`.
    #[schemars(length(min = 1))]
    pub url: String,
    /// Whether the server may be on this computer or in the local network, and be reached without
    /// encryption. Applies only while the user allows it for this pack.
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
    /// The identity that the tokens represent.
    pub grant: OauthGrant,
    /// The client id agreed with the authorization server; if absent, the app registers itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// An https address that describes the app, for servers that require such an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_metadata_url: Option<String>,
    /// The issuer of the tokens, as given in its metadata. The secret is sent only to this issuer.
    /// If absent, the first issuer that receives the secret is the only one from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The scopes that are requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The algorithm, if the secret named by `auth.env_var` is a private key (PEM) for signing the
    /// client's identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_with: Option<KeyAlgorithm>,
}

/// The identity that the tokens represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OauthGrant {
    /// The user, who signs in with a browser.
    AuthorizationCode,
    /// The app itself, with the secret named by `auth.env_var`.
    ClientCredentials,
}

/// The algorithms for signing the client's identity.
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
    /// Milliseconds from starting or connecting to the server until it lists its tools. 0 = 15 000;
    /// at most 120 000.
    #[serde(default)]
    #[schemars(range(max = 120_000))]
    pub start_ms: u64,
    /// Milliseconds for a call of a tool that `tools` does not declare (`offer_all`); declared
    /// tools have their own limit. A progress report restarts the limit. 0 = 30 000; at most 3 600
    /// 000.
    #[serde(default)]
    #[schemars(range(max = 3_600_000))]
    pub call_ms: u64,
}
