//! MCP servers on the wire: their state, the definitions of their tools, what changed in a
//! definition since it was accepted, and the questions of a server to the user.

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
    /// It is not needed yet, so it is not started.
    Idle,
    /// It is being started or reached.
    Starting,
    /// It answers calls.
    Ready,
    /// It failed and is started again after a wait.
    BackingOff,
    /// It failed too often; a person must start it again.
    Failed,
    /// The user must sign in first.
    SignIn,
    /// It was ended, as the app or its pack is closed.
    Stopped,
}

/// An MCP server for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerView {
    /// The name of the server in its pack.
    pub name: String,
    /// The pack that declares the server.
    pub pack: PackId,
    /// The present state.
    pub state: ServerState,
    /// Why it does not run, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    /// How often it was restarted after a failure.
    pub restarts: u32,
    /// The process id; absent for a server behind an address or one that does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Its address, if it is not a program of the pack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Whether the pack declares that it lies on this computer or in the local network.
    #[serde(default)]
    pub private_network: bool,
    /// Whether the user signs in to it with a browser.
    #[serde(default)]
    pub signs_in: bool,
}

/// Whether a tool's present definition was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionState {
    /// It equals the accepted one.
    Accepted,
    /// It differs from the accepted one. The tool is switched off.
    Changed,
    /// The tool did not exist when the server was first reached. It is switched off.
    New,
    /// The server does not list the tool any more.
    Gone,
}

/// A tool of a server, with the changes in its definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerTool {
    /// The pack that declares the server.
    pub pack: PackId,
    /// The name of the server in its pack.
    pub server: String,
    /// The server's own name for it.
    pub name: String,
    /// Whether its present definition was accepted.
    pub state: DefinitionState,
    /// SHA-256 (hex) of the present definition. It is what the user accepts.
    pub hash: String,
    /// The effect that the app assumes for it.
    pub effect: Effect,
    /// Whether the pack's manifest declares the tool and its effect.
    pub declared: bool,
    /// The effect that the server itself states; never trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Effect>,
    /// The accepted and the present definition, line by line; empty if they are equal.
    pub diff: Vec<DiffLine>,
    /// Whether it is changed, and only in the numbers of its descriptions.
    #[serde(default)]
    pub only_numbers: bool,
}

/// One line of a comparison of two definitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DiffLine {
    /// How the line changed.
    pub change: Change,
    /// The text of the line.
    pub text: String,
}

/// How a line changed from the accepted to the present definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The line is in both.
    Same,
    /// The line is in the accepted definition only.
    Removed,
    /// The line is in the present definition only.
    Added,
}

/// The tools of all servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerToolsResponse {
    /// The tools, with the changes in their definitions.
    pub tools: Vec<ServerTool>,
}

/// Accepts definitions as they were shown: all of them, or none if one is another now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerToolsAcceptParams {
    /// The pack that declares the server.
    pub pack: PackId,
    /// The name of the server in its pack; empty for the pack's manifest.
    pub server: String,
    /// The hash that was shown, by the server's own name for the tool.
    pub hashes: BTreeMap<String, String>,
    /// Whether the numbers in the server's descriptions may change from now on without a question.
    /// Without it, what was said before holds.
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

/// Names one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerParams {
    /// The pack that declares the server.
    pub pack: PackId,
    /// The name of the server in its pack.
    pub server: String,
}

/// The address at which the user signs in. The answer is awaited in the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerSignInResponse {
    /// The address to open in a browser.
    pub url: String,
}

/// A question of a server to the user, during a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerQuestion {
    /// The identifier of the question, which its answer repeats.
    pub id: String,
    /// The pack of the server.
    pub pack: PackId,
    /// The name of the server in its pack.
    pub server: String,
    /// The server's own text, shown as plain text.
    pub message: String,
    /// The kind of answer that is expected.
    pub asks: QuestionKind,
}

/// The kind of answer that the server asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum QuestionKind {
    /// Values that fit a flat JSON Schema.
    Form {
        /// The JSON Schema of the values.
        #[ts(type = "unknown")]
        schema: Value,
    },
    /// A visit of the user to an address.
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

/// The answer to one question.
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
    /// With the values of a form.
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
