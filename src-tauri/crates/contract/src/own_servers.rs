//! The MCP servers that the user adds, on the wire: how one is reached, what a test of it found,
//! and the list of them. Knows neither packs' files nor processes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Effect, PackId, Text};

/// An MCP server to test or to add: a program (`command`) or an address (`url`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct NewServer {
    /// The user's name for it: lower-case letters, digits and hyphens.
    pub name: String,
    /// The program: a name on the search path, such as `npx`, or an absolute path.
    pub command: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// The variables of the program. Values that look like keys are stored in the keyring.
    pub env: BTreeMap<String, String>,
    /// Instead of a program: the address of the server, over streamable HTTP.
    pub url: String,
    /// The headers for the address. All values are stored in the keyring.
    pub headers: BTreeMap<String, String>,
    /// Whether the user signs in to the address with a browser.
    pub sign_in: bool,
}

/// A text that may hold servers: a command line, an address, or the JSON of another client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServersReadParams {
    /// The text as it was typed or pasted.
    pub text: String,
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
}

/// A tool that a tested server offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct TestedTool {
    /// The server's own name for it.
    pub name: String,
    /// The server's own description.
    pub description: String,
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
    /// The effects that the user confirmed, by tool. The most careful one holds for all others.
    #[serde(default)]
    pub effects: BTreeMap<String, Effect>,
    /// Whether to keep its keys for this run only, and not in the keyring.
    #[serde(default)]
    pub this_run_only: bool,
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
}

/// The last lines of a server's error output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerLogResponse {
    /// The lines, oldest first.
    pub lines: Vec<String>,
}
