//! The MCP servers that the user adds, on the wire: how one is reached, what a test of it found,
//! and the list of them. Knows neither packs' files nor processes.

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
    /// The user's name for it: lower-case letters, digits and hyphens.
    pub name: String,
    /// The program: a name on the search path, such as `npx`, or an absolute path.
    pub command: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// The folder in which the program runs; empty for a folder of its own.
    pub cwd: String,
    /// The variables of the program. Values that look like keys are stored in the keyring.
    pub env: BTreeMap<String, String>,
    /// Instead of a program: the address of the server, over streamable HTTP.
    pub url: String,
    /// The headers for the address. All values are stored in the keyring.
    pub headers: BTreeMap<String, String>,
    /// Whether the user signs in to the address with a browser.
    pub sign_in: bool,
    /// Whether the program may use the network. An address always needs it.
    pub network: bool,
    /// Places of values that look random but are not keys, as the user says. All other values that
    /// look like keys are stored in the keyring.
    pub not_keys: Vec<String>,
    /// Values that are keys wherever they stand, as the settings of another client say.
    pub keys: Vec<String>,
    /// Whether it is switched on. One that is off is added without a start, and without tools.
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

/// A text that may hold servers: a command line, an address, or the settings of another client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServersReadParams {
    /// The text as it was typed or pasted.
    pub text: String,
    /// Values for the placeholders of the text, by the names that `AskedValue` gives them.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

/// The servers that a text holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServersReadResponse {
    /// The servers, in the order of their names.
    pub servers: Vec<ReadServer>,
}

/// A server that was read from a text, and what would run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ReadServer {
    /// The server.
    pub server: NewServer,
    /// The whole command with the program's path, or the address.
    pub runs: String,
    /// Why it cannot be added as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Text>,
    /// Everything that a person confirms before it runs: the whole command, its folder and its
    /// variables. Keys are named and not shown.
    pub shows: Vec<SettingChange>,
    /// Values that look random. They are stored as keys unless the user says that they are none.
    pub unsure: Vec<UnsureValue>,
    /// The placeholders for which no value was given.
    #[serde(default)]
    pub asks: Vec<AskedValue>,
    /// Sentences for the person about what was not used of the settings, or was changed.
    #[serde(default)]
    pub notes: Vec<Text>,
}

/// A value that the settings of another client leave open, such as `${API_KEY}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskedValue {
    /// The text between the braces: a variable, `input:token`, or `workspaceFolder`.
    pub name: String,
    /// The description in the settings; empty if they have none.
    pub about: String,
    /// The value that holds if no other one is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Whether it is a key.
    pub is_key: bool,
}

/// A value of which only the user knows whether it is a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct UnsureValue {
    /// Where it stands, as `NewServer::not_keys` names it.
    pub place: String,
    /// The option, variable or header that it belongs to; empty if there is none.
    pub of: String,
    /// Its first characters.
    pub begins: String,
    /// The number of its characters.
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
    /// The whole command with the program's path, or the address.
    pub runs: String,
    /// Why it cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    /// The last lines of its error output.
    pub log: Vec<String>,
    /// The tools that it offers.
    pub tools: Vec<TestedTool>,
    /// The parts of its list that cannot be used, or not be checked here.
    #[serde(default)]
    pub notes: Vec<Text>,
    /// Whether it lists the same tools when it is started without network.
    #[serde(default)]
    pub works_without_network: bool,
}

/// A tool that a tested server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TestedTool {
    /// The server's own name for it.
    pub name: String,
    /// The server's own description, as a whole.
    pub description: String,
    /// JSON Schema of the arguments, as a whole.
    #[ts(type = "unknown")]
    pub input_schema: Value,
    /// SHA-256 (hex) of the definition. It is what the user accepts.
    pub hash: String,
    /// The same of the definition without the numbers in its descriptions, for a server whose
    /// numbers may change.
    #[serde(default)]
    pub hash_without_numbers: String,
    /// The effect that the server itself states; never trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Effect>,
    /// The effect that holds until the user confirms another one.
    pub effect: Effect,
}

/// Adds a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerAddParams {
    /// The server.
    pub server: NewServer,
    /// The tools as they were shown and accepted, by name. If the server lists others now, nothing
    /// is accepted and the server is not added.
    #[serde(default)]
    pub accepted: BTreeMap<String, AcceptedTool>,
    /// Whether its reads may run without asking.
    #[serde(default)]
    pub reads_may_run: bool,
    /// Whether to keep its keys for this run only, and not in the keyring.
    #[serde(default)]
    pub this_run_only: bool,
    /// Whether the numbers in its descriptions may change. `accepted` has the hashes without numbers
    /// then.
    #[serde(default)]
    pub numbers_may_change: bool,
}

/// A tool as it was shown and accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AcceptedTool {
    /// The hash of the definition that was shown.
    pub hash: String,
    /// The effect that the user confirmed. Without one, the most careful effect holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

/// Sets whether the reads of an added server may run without asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerReadsParams {
    /// The user's name for it.
    pub name: String,
    /// Whether they may run from now on.
    pub may_run: bool,
}

/// Sets how long one call of an added server may take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerLimitParams {
    /// The user's name for it.
    pub name: String,
    /// Seconds from 1 to 3600. Each report of progress begins them again.
    pub seconds: u32,
}

/// Names a server that the user added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct OwnServerParams {
    /// The user's name for it.
    pub name: String,
}

/// Switches a server that the user added on or off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerEnableParams {
    /// The user's name for it.
    pub name: String,
    /// Whether it may be used from now on.
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
    /// The user's name for it, which is also the name of the server in its pack.
    pub name: String,
    /// The pack that holds its tools.
    pub pack: PackId,
    /// The whole command with the program's path, or the address.
    pub runs: String,
    /// Whether it may be used.
    pub enabled: bool,
    /// The names of its keys in the keyring.
    pub keys: Vec<String>,
    /// The number of its tools that can be used now.
    pub tools: u32,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether its reads may run without asking.
    pub reads_may_run: bool,
    /// Whether the numbers in its descriptions may change without a question.
    #[serde(default)]
    pub numbers_may_change: bool,
    /// Seconds that one of its calls may take without progress.
    pub call_s: u32,
    /// SHA-256 (hex) of its manifest, which the app makes from what the user entered.
    pub manifest_hash: String,
}

/// The last lines of a server's error output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerLogResponse {
    /// The lines, oldest first.
    pub lines: Vec<String>,
}
