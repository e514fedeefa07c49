//! Models: what they are asked, and what they say, piece by piece.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use contract::{AgentId, CallId, Choice, ModelCapabilities, Text, Usage};
use futures::{future::BoxFuture, stream::BoxStream};
use redaction::{Outbound, OutboundValue};
use serde_json::Value;

/// A message as a model gets it. Its texts can only be made by the redactor: nothing else fits the
/// type.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Instructions of the host.
    System { text: Outbound },
    /// The user's words.
    User { text: Outbound },
    /// The model's text and its calls. `opaque` is only sent back to the maker that it came from.
    Assistant { text: Outbound, calls: Vec<ModelCall>, opaque: Option<Opaque> },
    /// The result of one call; every call is followed by exactly one. `content` is what a language
    /// model reads (capped); `data` is the whole result, for a model that reads values, else
    /// nothing.
    Tool { call: CallId, name: Outbound, content: Outbound, data: OutboundValue },
}

/// A call as the model asked for it (`arguments` is the text it wrote, unparsed), or as it goes
/// back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall<T = Outbound> {
    pub id: CallId,
    pub name: T,
    pub arguments: T,
}

/// A call as a model asked for it.
pub type AskedCall = ModelCall<String>;

/// Data that a provider requires back unchanged with its message, such as signed reasoning or ids.
/// It is only valid within the turn and for the maker that produced it; all others leave it out.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque {
    /// Wire, host and model.
    pub maker: String,
    pub data: Arc<Value>,
}

/// A tool as offered to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDef {
    pub name: Outbound,
    pub description: Outbound,
    pub parameters: OutboundValue,
}

/// The shape an answer must have, for models that can keep to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured {
    pub name: &'static str,
    /// A JSON Schema: every property required, nothing else allowed.
    pub schema: OutboundValue,
}

/// The purpose of a request. A model inside this program uses it instead of the prompt; it is never
/// sent to a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Purpose {
    /// The whole of the user's message.
    #[default]
    Answer,
    /// Finds the part of the message that one specialist can handle, by the names of its tools.
    Part { tools: Vec<String> },
    /// Chooses who is asked next: the specialists with the names of their tools, and those that
    /// have answered.
    Route { agents: Vec<(AgentId, Vec<String>)>, answered: Vec<AgentId> },
    /// One text of what several specialists answered, by name.
    Synthesis { answers: Vec<(String, Outbound)> },
}

/// One model call.
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    pub messages: Vec<Message>,
    /// Empty = the model must answer in text.
    pub tools: Vec<ToolDef>,
    /// The answer is one JSON object of this shape instead of text.
    pub structured: Option<Structured>,
    pub purpose: Purpose,
    /// The longest answer that is asked for.
    pub max_output_tokens: Option<u32>,
    /// The longest that the budgets allow, where that is less than whoever may answer could give.
    pub left_output_tokens: Option<u32>,
    /// Nobody listens to the pieces: the answer may come in one.
    pub whole: bool,
    /// Language of the user interface (`en`, `sv`), for models that word their answers themselves.
    pub locale: String,
    /// The local day and zone the user lives in.
    pub now: Option<DateTime<Utc>>,
    pub time_zone: String,
}

/// A piece of a model's answer. `Done` is the last one.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
    /// A complete call: its parts are put together by the provider's adapter.
    Call(AskedCall),
    /// Answers that the user may give with one click.
    Choices(Vec<Choice>),
    /// To be kept beside the calls of this answer.
    Opaque(Opaque),
    /// Another model answers from here on, because of the first one's failure: `why` is safe to
    /// show.
    FellBack {
        from: String,
        to: String,
        kind: ModelErrorKind,
        why: Text,
    },
    Done {
        usage: Usage,
        finish: Finish,
    },
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    /// The model says that this is not its task.
    OutOfScope,
}

/// Why a model call failed. The text is safe to show: no key, no upstream body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub message: Text,
    pub hint: Option<Text>,
    /// The server's own wish, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// The kinds of model failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelErrorKind {
    /// No connection, or 5xx: nothing was worked on.
    Unavailable,
    /// It was asked and fell silent, or its answer was cut.
    Broken,
    RateLimited,
    /// Wrong or missing key.
    Unauthorized,
    /// The server refuses the request as such.
    BadRequest,
    /// The conversation is longer than the model can read.
    TooLong,
    /// Something that is not the protocol.
    Protocol,
}

impl ModelErrorKind {
    /// Whether the same request may succeed later.
    pub fn retryable(self) -> bool {
        matches!(self, Self::Unavailable | Self::Broken | Self::RateLimited)
    }

    /// Whether the model may have worked until then, which is paid for.
    pub fn may_have_worked(self) -> bool {
        matches!(self, Self::Broken)
    }
}

/// A model. Dropping the stream cancels the call. Retries before the first event are the adapter's
/// task.
pub trait Model: Send + Sync {
    /// As shown to the user, e.g. "Offline model" or "gpt-4o-mini at api.openai.com".
    fn label(&self) -> String;
    /// The labels of all that may answer a call and are counted: another model may take over.
    fn may_answer(&self) -> Vec<String> {
        vec![self.label()]
    }
    /// Runs on this machine: nothing leaves it.
    fn local(&self) -> bool;
    /// Returns the model's capabilities, as far as they are known.
    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities::default()
    }
    /// The longest answer that a request for so much may bring, whoever answers.
    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        longest_answer(wanted, self.capabilities().max_output_tokens)
    }
    /// The same of the one that answers now.
    fn longest_answer_now(&self, wanted: Option<u32>) -> u32 {
        self.longest_answer(wanted)
    }
    /// Is a part of this program: it reads what stands here, not what it is called outside. Secrets
    /// are removed for it, too.
    fn in_process(&self) -> bool {
        false
    }
    /// Whether the model that answers now runs inside this program. A fallback may have taken over
    /// from one that does not.
    fn answers_in_process(&self) -> bool {
        self.in_process()
    }
    /// Reads results as the values that they are: what is a part of this program, and whatever may
    /// fall back to it.
    fn reads_values(&self) -> bool {
        self.in_process()
    }
    /// Gets what a call needs (its key), before anything is written for it: then the key is known
    /// and is removed from it.
    fn ready(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
    /// Starts a call.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>>;
}

/// Gives the model in force, which settings may change between turns.
pub trait Models: Send + Sync {
    /// The model for the next turn: the one in the settings, or the named one (`offline`, or a name
    /// of the configured provider).
    fn current(&self, name: Option<&str>) -> Arc<dyn Model>;
}

/// The longest answer of a model whose own limit is not known. It is a guess, which is reserved and
/// never sent.
const USUAL_ANSWER: u32 = 8_192;

/// The longest answer of a model that is asked for so much, with its own limit where that is known.
pub fn longest_answer(wanted: Option<u32>, own: Option<u32>) -> u32 {
    match (wanted, own) {
        (Some(wanted), Some(own)) => wanted.min(own),
        (Some(wanted), None) => wanted,
        (None, own) => own.unwrap_or(USUAL_ANSWER),
    }
}
