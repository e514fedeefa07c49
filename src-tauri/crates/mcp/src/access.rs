//! The traits that the host implements for the client: credentials and tokens (from the keyring),
//! permission to reach the private network, accepted tool definitions, and answers to a server's
//! questions.

use std::time::Duration;

use async_trait::async_trait;
use contract::{AgentError, PackId};
use secrecy::SecretString;
use serde_json::Value;

use crate::{Definition, UnreadableTool};

/// The secrets and permissions of one server.
#[async_trait]
pub trait Access: Send + Sync {
    /// Returns a credential of the server's pack by its name.
    async fn credential(&self, name: &str) -> Result<SecretString, AgentError>;
    /// Returns the tokens that `keep_tokens` stored for this server.
    async fn tokens(&self) -> Result<Option<SecretString>, AgentError>;
    /// Stores the tokens of this server, or deletes the stored tokens if `tokens` is None.
    async fn keep_tokens(&self, tokens: Option<SecretString>) -> Result<(), AgentError>;
    /// Notes a token that is kept in memory only and expires after `lasts`. Such a token must not
    /// appear in a result either.
    fn note(&self, _token: &SecretString, _lasts: Duration) {}
    /// Whether the user allows the pack to reach this computer and the local network.
    fn private_network(&self) -> bool;
}

/// Stores which tool definitions were accepted.
pub trait Definitions: Send + Sync {
    /// Records the tools that the server lists. Called after each connect, and whenever the server
    /// says that its tools changed.
    fn record_tools(&self, pack: &PackId, server: &str, tools: &[Definition]);
    /// Records the listed tools that cannot be used. Called before `record_tools`.
    fn record_unreadable(&self, _pack: &PackId, _server: &str, _tools: &[UnreadableTool]) {}
    /// Returns an error if the tool may not be called with its current definition.
    fn check(&self, pack: &PackId, server: &str, tool: &str) -> Result<(), AgentError>;
}

/// A question that a server asks during a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub pack: PackId,
    pub server: String,
    pub message: String,
    pub asks: RequestedInput,
}

/// The input that the server asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestedInput {
    /// Values that match a flat JSON Schema.
    Form { schema: Value },
    /// A visit to an address by the user.
    Url { url: String },
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The user accepts. For a form, this contains the values.
    Accept(Option<Value>),
    Decline,
    Cancel,
}

/// Asks the user a server's question. Without an asker, every question is declined.
#[async_trait]
pub trait Asker: Send + Sync {
    async fn ask(&self, question: Question) -> Reply;
}
