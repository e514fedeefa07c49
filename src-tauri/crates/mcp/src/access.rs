//! What the client needs of its host, as traits: credentials and tokens (from the keyring), leave to reach the private network,
//! what is thought of a tool's definition, and somebody who answers a server's questions.

use std::time::Duration;

use async_trait::async_trait;
use contract::{AgentError, PackId};
use secrecy::SecretString;
use serde_json::Value;

use crate::Definition;

/// What one server may be shown.
#[async_trait]
pub trait Access: Send + Sync {
    /// A credential of the server's pack, by name.
    async fn credential(&self, name: &str) -> Result<SecretString, AgentError>;
    /// The tokens kept for this server, as `keep_tokens` got them.
    async fn tokens(&self) -> Result<Option<SecretString>, AgentError>;
    /// Keeps tokens for this server, or forgets them.
    async fn keep_tokens(&self, tokens: Option<SecretString>) -> Result<(), AgentError>;
    /// A token that is kept in memory only and lasts so long: it must not come back in a result either.
    fn note(&self, _token: &SecretString, _lasts: Duration) {}
    /// Whether the user lets the pack reach this computer and the local network.
    fn private_network(&self) -> bool;
}

/// Who remembers which definitions of tools were accepted.
pub trait Definitions: Send + Sync {
    /// The server has been asked for its tools: at each connect, and whenever it says that they changed.
    fn record_tools(&self, pack: &PackId, server: &str, tools: &[Definition]);
    /// Whether a tool may be called as the server describes it now.
    fn check(&self, pack: &PackId, server: &str, tool: &str) -> Result<(), AgentError>;
}

/// A question of a server in the middle of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub pack: PackId,
    pub server: String,
    pub message: String,
    pub asks: RequestedInput,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestedInput {
    /// Values that fit a flat schema.
    Form { schema: Value },
    /// That the user visits an address.
    Url { url: String },
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// With the values of a form.
    Accept(Option<Value>),
    Decline,
    Cancel,
}

/// Somebody who may answer. Nobody there means that every question is declined.
#[async_trait]
pub trait Asker: Send + Sync {
    async fn ask(&self, question: Question) -> Reply;
}
