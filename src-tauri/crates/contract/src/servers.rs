//! MCP servers: their state, the definitions of their tools, the changes in a definition since it
//! was accepted, and the questions of a server to the user.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{Effect, PackId, Text};

/// The state of an MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// The server is not needed yet, so it is not started.
    Idle,
    /// The server is being started or connected.
    Starting,
    /// The server answers calls.
    Ready,
    /// The server failed and will be restarted after a delay.
    BackingOff,
    /// The server failed too often, so that a person must restart it.
    Failed,
    /// The user must sign in to the server first.
    SignIn,
    /// The server was stopped, because the app or its pack was closed.
    Stopped,
}

/// An MCP server for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerView {
    /// The name of the server in its pack.
    pub name: String,
    /// The pack that declares the server.
    pub pack: PackId,
    /// The current state of the server.
    pub state: ServerState,
    /// Why the server does not run, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    /// The number of restarts after failures.
    pub restarts: u32,
    /// The process id; absent for a server at an address or a server that does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The server's address, unless it is a program of the pack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Whether the pack declares that the server is on this computer or in the local network.
    #[serde(default)]
    pub private_network: bool,
    /// Whether the user signs in to the server with a browser.
    #[serde(default)]
    pub signs_in: bool,
}

/// Whether a tool's current definition was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionState {
    /// The definition equals the accepted definition.
    Accepted,
    /// The definition differs from the accepted definition, so the tool is switched off.
    Changed,
    /// The tool did not exist when the server was first reached, so it is switched off.
    New,
    /// The server no longer lists the tool.
    Gone,
}

/// A tool of a server, with the changes in its definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerTool {
    /// The pack that declares the server.
    pub pack: PackId,
    /// The name of the server in its pack.
    pub server: String,
    /// The server's own name for the tool.
    pub name: String,
    /// Whether the tool's current definition was accepted.
    pub state: DefinitionState,
    /// SHA-256 (hex) of the current definition, which the user accepts.
    pub hash: String,
    /// The effect that the app assumes for the tool.
    pub effect: Effect,
    /// Whether the pack's manifest declares the tool and its effect.
    pub declared: bool,
    /// The effect that the server itself states; never trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Effect>,
    /// The accepted and the current definition, line by line; empty if they are equal.
    pub diff: Vec<DiffLine>,
    /// Whether the definition changed only in the numbers of its descriptions.
    #[serde(default)]
    pub only_numbers: bool,
}

/// A line of a comparison of two definitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DiffLine {
    /// How the line changed.
    pub change: Change,
    /// The text of the line.
    pub text: String,
}

/// How a line changed from the accepted to the current definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The line is in both definitions.
    Same,
    /// The line is only in the accepted definition.
    Removed,
    /// The line is only in the current definition.
    Added,
}

/// The tools of all servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerToolsResponse {
    /// The tools, with the changes in their definitions.
    pub tools: Vec<ServerTool>,
}

/// Accepts the definitions that were shown. If one has changed since, none is accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerToolsAcceptParams {
    /// The pack that declares the server.
    pub pack: PackId,
    /// The name of the server in its pack; empty for the pack's manifest.
    pub server: String,
    /// The hashes that were shown, by the server's own name for the tool.
    pub hashes: BTreeMap<String, String>,
    /// Whether the numbers in the server's descriptions may change from now on without asking. If
    /// absent, the earlier choice remains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers_may_change: Option<bool>,
}

/// Sets the effect of a tool that no manifest declares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerToolEffectParams {
    /// The pack that declares the server.
    pub pack: PackId,
    /// The name of the server in its pack.
    pub server: String,
    /// The server's own name for the tool.
    pub name: String,
    /// The effect to assume from now on.
    pub effect: Effect,
}

/// Names a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerParams {
    /// The pack that declares the server.
    pub pack: PackId,
    /// The name of the server in its pack.
    pub server: String,
}

/// The address at which the user signs in. The app waits for the sign-in in the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerSignInResponse {
    /// The address to open in a browser.
    pub url: String,
}

/// A question that a server asks the user during a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerQuestion {
    /// The identifier of the question, which the answer must repeat.
    pub id: String,
    /// The pack of the server.
    pub pack: PackId,
    /// The name of the server in its pack.
    pub server: String,
    /// The server's text, shown as plain text.
    pub message: String,
    /// The kind of the expected answer.
    pub asks: QuestionKind,
}

/// The kind of answer that the server requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum QuestionKind {
    /// Values that match a flat JSON Schema.
    Form {
        /// The JSON Schema of the values.
        #[ts(type = "unknown")]
        schema: Value,
    },
    /// The user's visit to an address.
    Url {
        /// The address to open in a browser.
        url: String,
    },
}

/// The questions that wait for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QuestionsResponse {
    /// The questions, oldest first.
    pub questions: Vec<ServerQuestion>,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QuestionAnswerParams {
    /// The identifier of the question.
    pub id: String,
    /// The answer of the user.
    pub answer: QuestionAnswer,
}

/// The user's answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum QuestionAnswer {
    /// The user answers, with the values of a form.
    Accept {
        /// The values, by the schema's names; absent for a visit to an address.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown", optional)]
        values: Option<Value>,
    },
    /// The user declines to answer.
    Decline,
    /// The user closed the question without an answer.
    Cancel,
}
