//! MCP servers on the wire: how one is, what its tools are described as, what changed in a description since it was accepted, and
//! what a server asks the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{Effect, PackId};

/// The state of an MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    Idle,
    Starting,
    Ready,
    BackingOff,
    Failed,
    /// The user has to sign in to it first.
    SignIn,
    Stopped,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerView {
    pub name: String,
    pub pack: PackId,
    pub state: ServerState,
    /// Why it is not running, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub restarts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Where it is, when it is not a program of the pack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The pack says that it lies on this computer or in the local network.
    #[serde(default)]
    pub private_network: bool,
    /// The user signs in to it with a browser.
    #[serde(default)]
    pub signs_in: bool,
}

/// What is thought of a tool as its server describes it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionState {
    /// As it was accepted.
    Accepted,
    /// Described differently than when it was accepted: switched off.
    Changed,
    /// Not there when the server was first seen: switched off.
    New,
    /// Not listed any more.
    Gone,
}

/// A tool of a server, with what changed in its description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerTool {
    pub pack: PackId,
    pub server: String,
    /// The server's own name for it.
    pub name: String,
    pub state: DefinitionState,
    /// SHA-256 (hex) of the description as it is now: what is accepted.
    pub hash: String,
    pub effect: Effect,
    /// The pack's manifest declares the tool, and with it its effect.
    pub declared: bool,
    /// What the server itself says that the tool does; never believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Effect>,
    /// The accepted description and the present one, line by line; empty when they are the same.
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

/// Accepts a description as it was shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerToolAcceptParams {
    pub pack: PackId,
    pub server: String,
    pub name: String,
    /// The hash that was shown; another description is not accepted.
    pub hash: String,
}

/// Says what a tool changes that no manifest declares.
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

/// Where the user signs in; the answer is waited for in the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerSignInResponse {
    pub url: String,
}

/// A question of a server to the user, in the middle of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServerQuestion {
    pub id: String,
    pub pack: PackId,
    pub server: String,
    pub message: String,
    pub asks: QuestionKind,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum QuestionKind {
    /// Values that fit a flat JSON Schema.
    Form {
        #[ts(type = "unknown")]
        schema: Value,
    },
    /// That the user visits an address.
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

/// What the user says to a question.
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
