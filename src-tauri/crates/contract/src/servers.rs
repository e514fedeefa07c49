//! MCP servers on the wire: their state, the definitions of their tools, what changed in a
//! definition since it was accepted, and the questions of a server to the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{Effect, PackId, Text};

/// The state of an MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    Idle,
    Starting,
    Ready,
    BackingOff,
    Failed,
    /// The user must sign in first.
    SignIn,
    Stopped,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerView {
    pub name: String,
    pub pack: PackId,
    pub state: ServerState,
    /// Why it does not run, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    pub restarts: u32,
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
    pub pack: PackId,
    pub server: String,
    /// The server's own name for it.
    pub name: String,
    pub state: DefinitionState,
    /// SHA-256 (hex) of the present definition. It is what the user accepts.
    pub hash: String,
    pub effect: Effect,
    /// Whether the pack's manifest declares the tool and its effect.
    pub declared: bool,
    /// The effect that the server itself states; never trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Effect>,
    /// The accepted and the present definition, line by line; empty if they are equal.
    pub diff: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DiffLine {
    pub change: Change,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Same,
    Removed,
    Added,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerToolsResponse {
    pub tools: Vec<ServerTool>,
}

/// Accepts a definition as it was shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerToolAcceptParams {
    pub pack: PackId,
    pub server: String,
    pub name: String,
    /// The hash that was shown. Another definition is not accepted.
    pub hash: String,
}

/// Sets the effect of a tool that no manifest declares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerToolEffectParams {
    pub pack: PackId,
    pub server: String,
    pub name: String,
    pub effect: Effect,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerParams {
    pub pack: PackId,
    pub server: String,
}

/// The address at which the user signs in. The answer is awaited in the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerSignInResponse {
    pub url: String,
}

/// A question of a server to the user, during a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerQuestion {
    pub id: String,
    pub pack: PackId,
    pub server: String,
    pub message: String,
    pub asks: QuestionKind,
}

/// The kind of answer that the server asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum QuestionKind {
    /// Values that fit a flat JSON Schema.
    Form {
        #[ts(type = "unknown")]
        schema: Value,
    },
    /// A visit of the user to an address.
    Url { url: String },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QuestionsResponse {
    pub questions: Vec<ServerQuestion>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QuestionAnswerParams {
    pub id: String,
    pub answer: QuestionAnswer,
}

/// The user's answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum QuestionAnswer {
    /// With the values of a form.
    Accept {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown", optional)]
        values: Option<Value>,
    },
    Decline,
    Cancel,
}
