//! The MCP servers that the user adds: how a server is reached, the results of a test, and the list
//! of servers. The files and processes are handled elsewhere.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{Effect, PackId, SettingChange, Text};

/// An MCP server to test or to add: a program (`command`) or an address (`url`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct NewServer {
    /// The user's name for the server: lower-case letters, digits and hyphens.
    pub name: String,
    /// The program: a name on the search path, such as `npx`, or an absolute path.
    pub command: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// The folder in which the program runs; empty for a separate folder.
    pub cwd: String,
    /// The variables of the program. Values that look like keys are stored in the keyring.
    pub env: BTreeMap<String, String>,
    /// Instead of a program: the address of the server, over streamable HTTP.
    pub url: String,
    /// The headers for the address. All values are stored in the keyring.
    pub headers: BTreeMap<String, String>,
    /// Whether the user signs in to the address with a browser.
    pub sign_in: bool,
    /// Whether the program may use the network. Always true for an address.
    pub network: bool,
    /// Values that look random but, according to the user, are not keys, in the format of
    /// `UnsureValue::place`. All other values that look like keys are stored in the keyring.
    pub not_keys: Vec<String>,
    /// Values that are keys wherever they occur, according to the settings of another client.
    pub keys: Vec<String>,
    /// Whether the server is switched on. A server that is off is added without being started, so
    /// its tools are unknown.
    pub enabled: bool,
}

impl Default for NewServer {
    fn default() -> Self {
        Self {
            name: String::new(),
            command: String::new(),
            args: Vec::new(),
            cwd: String::new(),
            env: BTreeMap::new(),
            url: String::new(),
            headers: BTreeMap::new(),
            sign_in: false,
            network: true,
            not_keys: Vec::new(),
            keys: Vec::new(),
            enabled: true,
        }
    }
}

/// A text that may contain servers: a command line, an address, or the settings of another client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServersReadParams {
    /// The text as it was typed or pasted.
    pub text: String,
    /// Values for the placeholders of the text, by the names in `AskedValue`.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

/// The servers in a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServersReadResponse {
    /// The servers, in the order of their names.
    pub servers: Vec<ReadServer>,
}

/// A server that was read from a text, and the command that would run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ReadServer {
    /// The server.
    pub server: NewServer,
    /// The complete command with the program's path, or the address.
    pub runs: String,
    /// Why the server cannot be added unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Text>,
    /// All details that a person confirms before the server runs: the complete command, its folder
    /// and its variables. Keys are named but not shown.
    pub shows: Vec<SettingChange>,
    /// Values that look random, which are stored as keys unless the user marks them as other
    /// values.
    pub unsure: Vec<UnsureValue>,
    /// The placeholders for which no value was given.
    #[serde(default)]
    pub asks: Vec<AskedValue>,
    /// Sentences for the user about parts of the settings that were not used or were changed.
    #[serde(default)]
    pub notes: Vec<Text>,
}

/// A value that the settings of another client do not give, such as `${API_KEY}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskedValue {
    /// The text between the braces: a variable, `input:token`, or `workspaceFolder`.
    pub name: String,
    /// The description in the settings; empty if there is none.
    pub about: String,
    /// The default value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Whether the value is a key.
    pub is_key: bool,
}

/// A value that may be a key, which only the user knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct UnsureValue {
    /// The location of the value, in the format of `NewServer::not_keys`.
    pub place: String,
    /// The option, variable or header to which the value belongs; empty if there is none.
    pub of: String,
    /// The first characters of the value.
    pub begins: String,
    /// The number of characters of the value.
    pub characters: u32,
}

/// Tests a server without adding it. With only a name, the added server of that name is tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerTestParams {
    /// The server.
    pub server: NewServer,
}

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerTestResponse {
    /// Whether the server started and listed its tools.
    pub ok: bool,
    /// The complete command with the program's path, or the address.
    pub runs: String,
    /// Why the server cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    /// The last lines of the server's error output.
    pub log: Vec<String>,
    /// The tools that the server offers.
    pub tools: Vec<TestedTool>,
    /// Problems of the tool list: parts that cannot be used, or cannot be checked here.
    #[serde(default)]
    pub notes: Vec<Text>,
    /// Whether the server lists the same tools when it is started without network access.
    #[serde(default)]
    pub works_without_network: bool,
}

/// A tool that a tested server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TestedTool {
    /// The server's own name for the tool.
    pub name: String,
    /// The server's own description in full.
    pub description: String,
    /// The JSON Schema of the arguments in full.
    #[ts(type = "unknown")]
    pub input_schema: Value,
    /// SHA-256 (hex) of the definition, which the user accepts.
    pub hash: String,
    /// SHA-256 (hex) of the definition without the numbers in its descriptions, for a server whose
    /// numbers may change.
    #[serde(default)]
    pub hash_without_numbers: String,
    /// The effect that the server itself states; never trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Effect>,
    /// The effect that applies until the user confirms another effect.
    pub effect: Effect,
}

/// Adds a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerAddParams {
    /// The server.
    pub server: NewServer,
    /// The shown and accepted tools, by name. If the server's list has changed since, nothing is
    /// accepted and the server is not added.
    #[serde(default)]
    pub accepted: BTreeMap<String, AcceptedTool>,
    /// Whether the server's reads may run without asking.
    #[serde(default)]
    pub reads_may_run: bool,
    /// Whether to keep the server's keys for this run only, and not in the keyring.
    #[serde(default)]
    pub this_run_only: bool,
    /// Whether the numbers in the server's descriptions may change. If so, `accepted` contains the
    /// hashes without numbers.
    #[serde(default)]
    pub numbers_may_change: bool,
}

/// A tool that was shown and accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AcceptedTool {
    /// The hash of the definition that was shown.
    pub hash: String,
    /// The effect that the user confirmed. If absent, the most restrictive effect applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

/// Sets whether the reads of an added server may run without asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerReadsParams {
    /// The user's name for the server.
    pub name: String,
    /// Whether the reads may run from now on.
    pub may_run: bool,
}

/// Sets the time limit of a call of an added server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerLimitParams {
    /// The user's name for the server.
    pub name: String,
    /// The limit in seconds, from 1 to 3600. Each progress report restarts the limit.
    pub seconds: u32,
}

/// Names a server that the user added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct OwnServerParams {
    /// The user's name for the server.
    pub name: String,
}

/// Switches a server that the user added on or off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerEnableParams {
    /// The user's name for the server.
    pub name: String,
    /// Whether the server may be used from now on.
    pub enabled: bool,
}

/// The servers that the user added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct OwnServersResponse {
    /// The servers, by name.
    pub servers: Vec<OwnServerView>,
}

/// A server that the user added, for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct OwnServerView {
    /// The user's name for the server, which is also the server's name in its pack.
    pub name: String,
    /// The pack that contains the server's tools.
    pub pack: PackId,
    /// The complete command with the program's path, or the address.
    pub runs: String,
    /// Whether the server may be used.
    pub enabled: bool,
    /// The names of the server's keys in the keyring.
    pub keys: Vec<String>,
    /// The number of the server's tools that can be used now.
    pub tools: u32,
    /// Whether the server may use the network.
    pub network: bool,
    /// Whether the server's reads may run without asking.
    pub reads_may_run: bool,
    /// Whether the numbers in the server's descriptions may change without asking.
    #[serde(default)]
    pub numbers_may_change: bool,
    /// The time limit in seconds of a call without progress.
    pub call_s: u32,
    /// SHA-256 (hex) of the server's manifest, which the app makes from the user's entries.
    pub manifest_hash: String,
}

/// The last lines of a server's error output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerLogResponse {
    /// The lines, oldest first.
    pub lines: Vec<String>,
}
