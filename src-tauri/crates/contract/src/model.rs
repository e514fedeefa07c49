//! Models and their servers: the capabilities of a model, and the results of a connection test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Text, text};

/// Returns a model's label (`NAME at HOST`) as a text for a person.
pub fn label_text(label: &str) -> Text {
    match label.split_once(" at ") {
        Some((model, host)) => text!("{model} at {host}", model, host),
        None => Text::from(label),
    }
}

/// The capabilities of a model. The default fits nearly every model behind a chat-completions
/// server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct ModelCapabilities {
    /// Whether the model can call tools.
    pub tools: bool,
    /// Whether the model can call several tools at once.
    pub parallel_tools: bool,
    /// Whether the model's answer arrives in pieces.
    pub streaming: bool,
    /// Whether the model follows a given JSON schema.
    pub structured_output: bool,
    /// Whether the model can think before it answers.
    pub reasoning: bool,
    /// Tokens of request and answer together.
    pub context_tokens: u32,
    /// The most tokens of an answer, if known.
    pub max_output_tokens: Option<u32>,
}

impl Default for ModelCapabilities {
    fn default() -> Self {
        Self {
            tools: true,
            parallel_tools: false,
            streaming: true,
            structured_output: false,
            reasoning: false,
            context_tokens: 8_192,
            max_output_tokens: None,
        }
    }
}

/// Why a model cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionProblem {
    /// The entered text is not an address.
    Address,
    /// The host name cannot be resolved.
    Dns,
    /// The connection is refused.
    NoConnection,
    /// The server did not answer in time.
    Timeout,
    /// This computer does not trust the issuer of the certificate.
    TlsIssuer,
    /// Another problem of encryption: expired, wrong name, no TLS at all.
    Tls,
    /// The configured proxy refuses or cannot be reached.
    Proxy,
    /// The server rejected the key.
    Key,
    /// The server requires a key, and none is stored.
    KeyMissing,
    /// The server knows the key, but the key may not use the model.
    KeyPermission,
    /// The key was not sent, because it cannot be read or may not be sent to this address.
    KeyUnusable,
    /// Cloud models are not allowed in the settings, so nothing was sent.
    CloudModelsOff,
    /// The server does not know the model.
    Model,
    /// Another kind of server answers, or the server uses another protocol.
    Api,
    /// Too many requests, or no credit.
    Limit,
    /// The server reports an internal error.
    Server,
    /// The server refuses this request.
    Refused,
}
