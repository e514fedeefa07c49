//! The port for models: requests, and the events of a streamed answer.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use contract::{AgentId, CallId, Choice, ModelCapabilities, Usage};
use futures::{future::BoxFuture, stream::BoxStream};
use redaction::{Outbound, OutboundValue};
use serde_json::Value;

/// A message for a model. Its text types can only be made by the redactor, so no unredacted text
/// can be sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Instructions of the host.
    System { text: Outbound },
    /// The user's text.
    User { text: Outbound },
    /// The model's text and its calls. `opaque` is sent back only to the provider that made it.
    Assistant { text: Outbound, calls: Vec<ModelCall>, opaque: Option<Opaque> },
    /// The result of one call. Every call is followed by exactly one result. `content` is the
    /// shortened text for language models. `data` is the whole result for models that read JSON
    /// values, and empty for others.
    Tool { call: CallId, name: Outbound, content: Outbound, data: OutboundValue },
}

/// A call that a model made, or the same call when it is sent back to the model. `arguments` is the
/// JSON text, not parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall<T = Outbound> {
    pub id: CallId,
    pub name: T,
    pub arguments: T,
}

/// A call in the form in which the model made it.
pub type AskedCall = ModelCall<String>;

/// Data that a provider requires back unchanged with its message, such as signed reasoning or ids.
/// It is only valid within the turn and for the maker that produced it; all others leave it out.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque {
    /// The provider protocol, the host and the model.
    pub maker: String,
    pub data: Arc<Value>,
}

/// A tool in the form that is offered to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDef {
    pub name: Outbound,
    pub description: Outbound,
    pub parameters: OutboundValue,
}

/// The JSON structure that an answer must have, for models that support it.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured {
    pub name: &'static str,
    /// A JSON schema in which every property is required and no other property is allowed.
    pub schema: OutboundValue,
}

/// The purpose of a request. The built-in model uses it instead of the prompt. It is never sent to
/// a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Purpose {
    /// Answer the whole message of the user.
    #[default]
    Answer,
    /// Answer the part of the message that one specialist can handle. Lists the names of its tools.
    Part { tools: Vec<String> },
    /// Choose the next specialist. Lists the specialists with the names of their tools, and those
    /// that have answered.
    Route { agents: Vec<(AgentId, Vec<String>)>, answered: Vec<AgentId> },
    /// Join the answers of several specialists, given by name, into one text.
    Synthesis { answers: Vec<(String, Outbound)> },
}

/// One model call.
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    pub messages: Vec<Message>,
    /// The offered tools. If empty, the model must answer in text.
    pub tools: Vec<ToolDef>,
    /// If set, the answer must be one JSON object of this structure instead of text.
    pub structured: Option<Structured>,
    pub purpose: Purpose,
    /// The requested length of the longest answer.
    pub max_output_tokens: Option<u32>,
    /// The length that the budgets allow, if it is lower than the longest answer of the models.
    pub left_output_tokens: Option<u32>,
    /// Whether the answer may arrive in one piece, because no one reads it as it arrives.
    pub whole: bool,
    /// The language of the answers, `en` or `sv`, for models that word their answers themselves.
    pub locale: String,
    /// The current time and the user's time zone.
    pub now: Option<DateTime<Utc>>,
    pub time_zone: String,
}

/// An event of a model's answer. `Done` is the last one.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
    /// A complete tool call. The provider's adapter joins its parts.
    Call(AskedCall),
    /// Suggested answers that the user can give with one click.
    Choices(Vec<Choice>),
    /// Provider data that must be sent back with this answer's calls.
    Opaque(Opaque),
    /// The first model failed and another model answers from here on. `why` is safe to show.
    FellBack {
        from: String,
        to: String,
        kind: ModelErrorKind,
        why: String,
    },
    Done {
        usage: Usage,
        finish: Finish,
    },
}

/// Why a model ended its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    /// The model declined the message because it is outside its task.
    OutOfScope,
}

/// Why a model call failed. The text is safe to show: it contains no key and no response body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub message: String,
    pub hint: Option<String>,
    /// The waiting time that the server asked for, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// The kinds of model failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelErrorKind {
    /// The server could not be reached or answered with status 5xx. It did not work on the request.
    Unavailable,
    /// The server stopped answering, or its answer broke off.
    Broken,
    RateLimited,
    /// The key is wrong or missing.
    Unauthorized,
    /// The server refused the request as invalid.
    BadRequest,
    /// The conversation is longer than the model can read.
    TooLong,
    /// The server's answer does not follow the protocol.
    Protocol,
}

impl ModelErrorKind {
    /// Whether the same request may succeed later.
    pub fn retryable(self) -> bool {
        matches!(self, Self::Unavailable | Self::Broken | Self::RateLimited)
    }

    /// Whether the model may have worked on the request before it failed. The provider charges for
    /// that work.
    pub fn may_have_worked(self) -> bool {
        matches!(self, Self::Broken)
    }
}

/// A model. Dropping the stream cancels the call. The adapter makes retries before the first event.
pub trait Model: Send + Sync {
    /// Returns the model's name for the user, such as "Offline model" or "gpt-4o-mini at
    /// api.openai.com".
    fn label(&self) -> String;
    /// Returns the labels of all models that may answer a call and cost money, including fallback
    /// models.
    fn may_answer(&self) -> Vec<String> {
        vec![self.label()]
    }
    /// Whether the model runs on this computer, so that no data leaves it.
    fn local(&self) -> bool;
    /// Returns the model's capabilities, as far as they are known.
    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities::default()
    }
    /// Returns the length of the longest answer that any of the possible models may give to a
    /// request for `wanted` tokens.
    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        longest_answer(wanted, self.capabilities().max_output_tokens)
    }
    /// Returns the same for the model that answers now.
    fn longest_answer_now(&self, wanted: Option<u32>) -> u32 {
        self.longest_answer(wanted)
    }
    /// Whether the model is built into this program. The built-in model reads tools by their ids
    /// and gets unredacted text, except secrets.
    fn in_process(&self) -> bool {
        false
    }
    /// Whether the model that answers now is built into this program. It may be the fallback of an
    /// external model.
    fn answers_in_process(&self) -> bool {
        self.in_process()
    }
    /// Whether the model reads tool results as JSON values. This holds for the built-in model and
    /// for models that may fall back to it.
    fn reads_values(&self) -> bool {
        self.in_process()
    }
    /// Loads what a call needs, such as the API key. Called before any text is made for the model,
    /// so that the key is known and removed from the text.
    fn ready(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
    /// Starts a call.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>>;
}

/// Returns the current model. Settings may change it between turns.
pub trait Models: Send + Sync {
    /// Returns the model for the next turn: the configured model, or the named one (`offline`, or a
    /// model of the configured provider).
    fn current(&self, name: Option<&str>) -> Arc<dyn Model>;
}

/// The assumed longest answer of a model whose limit is not known. It is reserved in the ledger and
/// not sent to the model.
const USUAL_ANSWER: u32 = 8_192;

/// Returns the length of the longest answer for a request for `wanted` tokens, given the model's
/// own limit if it is known.
pub fn longest_answer(wanted: Option<u32>, own: Option<u32>) -> u32 {
    match (wanted, own) {
        (Some(wanted), Some(own)) => wanted.min(own),
        (Some(wanted), None) => wanted,
        (None, own) => own.unwrap_or(USUAL_ANSWER),
    }
}
