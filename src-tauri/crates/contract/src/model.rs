//! What is known of models and of the servers that answer for them: capabilities, and what a connection test may find.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a model can do. The default is what nearly every model behind a chat-completions server can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct ModelCapabilities {
    /// It can ask for tools.
    pub tools: bool,
    /// It can ask for several at once.
    pub parallel_tools: bool,
    /// Its answer arrives piece by piece.
    pub streaming: bool,
    /// It keeps to a JSON schema where it is given one.
    pub structured_output: bool,
    /// It can think before it answers.
    pub reasoning: bool,
    /// Tokens of request and answer together.
    pub context_tokens: u32,
    /// Tokens of one answer, where that is known.
    pub max_output_tokens: Option<u32>,
}

impl Default for ModelCapabilities {
    fn default() -> Self {
        Self { tools: true, parallel_tools: false, streaming: true, structured_output: false, reasoning: false, context_tokens: 8_192, max_output_tokens: None }
    }
}

/// What stands between here and a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionProblem {
    /// What is entered is no address.
    Address,
    /// The name cannot be resolved.
    Dns,
    /// Nobody takes the connection.
    NoConnection,
    /// Nobody answers in time.
    Timeout,
    /// The certificate was issued by someone whom this machine does not trust.
    TlsIssuer,
    /// Anything else about encryption: expired, another name, no TLS at all.
    Tls,
    Proxy,
    /// No key, or one that the server does not take.
    Key,
    /// The server does not know the model.
    Model,
    /// Something else answers there, or it speaks another language.
    Api,
    /// Too many requests, or no credit.
    Limit,
    /// The server is there and fails.
    Server,
    /// The server refuses this request.
    Refused,
}
