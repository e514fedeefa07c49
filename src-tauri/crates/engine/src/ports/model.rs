//! The port for models: requests, and the events of a streamed answer.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use contract::{AgentId, CallId, Choice, Kept, ModelCapabilities, Text, Usage};
use futures::{future::BoxFuture, stream::BoxStream};
use redaction::{Outbound, OutboundValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message for a model. Its text types can only be created by the redactor, so that no unredacted
/// text can be sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Instructions of the host.
    System {
        /// The text of the instructions.
        text: Outbound,
    },
    /// A message of the user.
    User {
        /// The text of the message.
        text: Outbound,
    },
    /// The model's text and its calls. `opaque` is only returned to the maker from which it came.
    Assistant {
        /// The text of the answer; it may be empty.
        text: Outbound,
        /// The tool calls of the answer.
        calls: Vec<ModelCall>,
        /// Data that must be returned to the provider with this answer.
        opaque: Option<Opaque>,
    },
    /// The result of a call; every call is followed by exactly one result. `content` is the
    /// shortened text for a language model. `data` is the whole result for a model that reads
    /// values, and empty otherwise.
    Tool {
        /// The call that the result belongs to.
        call: CallId,
        /// The name of the toolfor the model.
        name: Outbound,
        /// The result as text, cut to the limit.
        content: Outbound,
        /// The whole result as a value.
        data: OutboundValue,
    },
}

/// A call by a model, or the same call returned to the model. `arguments` is unparsed JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall<T = Outbound> {
    /// The identifier of the call.
    pub id: CallId,
    /// The name of the toolfor the model.
    pub name: T,
    /// The arguments as JSON text.
    pub arguments: T,
}

/// A call as the model made it.
pub type AskedCall = ModelCall<String>;

/// Data that must be returned to a provider unchanged with its message, such as signed reasoning or
/// ids. The data is only valid for the maker that produced it and is omitted for all others. An
/// object is stored with the items: its `message` with the answer, its `calls` with the calls in
/// order. Other data is only valid within the turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque {
    /// The provider protocol, the host and the model.
    pub maker: String,
    /// The provider's data, unchanged.
    pub data: Arc<Value>,
}

impl Opaque {
    /// Returns the data to store with the message itself or its first stored item, and with the
    /// call at this position.
    pub fn kept(&self, is_first: bool, call: Option<usize>) -> Option<Kept> {
        let data = self.data.as_object()?;
        let of_call = call.and_then(|at| data.get("calls")?.get(at)).cloned();
        let message = data.get("message").filter(|_| is_first).cloned();
        let (message, call) = (message.unwrap_or_default(), of_call.unwrap_or_default());
        (!message.is_null() || !call.is_null()).then(|| Kept {
            maker: self.maker.clone(),
            message,
            call,
        })
    }

    /// Restores the data of an answer from the data stored with the answer or with its calls.
    pub fn from_kept(kept: &[Option<&Kept>]) -> Option<Self> {
        let maker = kept.iter().find_map(|kept| kept.map(|kept| &kept.maker))?;
        let own = |kept: Option<&Kept>, part: fn(&Kept) -> &Value| {
            kept.filter(|kept| kept.maker == *maker).map(part).cloned().unwrap_or_default()
        };
        let message = own(kept.first().copied().flatten(), |kept| &kept.message);
        let calls: Vec<Value> = kept.iter().map(|kept| own(*kept, |kept| &kept.call)).collect();
        let data = serde_json::json!({"message": message, "calls": calls});
        Some(Self { maker: maker.clone(), data: Arc::new(data) })
    }
}

/// A tool as offered to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDef {
    /// The name of the toolfor the model.
    pub name: Outbound,
    /// The purpose of the tool and hints on its use.
    pub description: Outbound,
    /// The JSON Schema of the arguments.
    pub parameters: OutboundValue,
}

/// The JSON structure that an answer must have, for models that support it.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured {
    /// The name of the structure, which some providers require.
    pub name: &'static str,
    /// A JSON schema in which every property is required and no other property is allowed.
    pub schema: OutboundValue,
}

/// The purpose of a request. The built-in model uses it instead of the prompt. The purpose is never
/// sent to a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Purpose {
    /// Answer the whole message of the user.
    #[default]
    Answer,
    /// Answer the whole message, or route it to specialists with the tool `route`.
    Assist {
        /// The name of the tool for routing.
        route: String,
        /// The specialists, each with the names of its tools.
        agents: Vec<(AgentId, Vec<String>)>,
    },
    /// Finds the part of the message that a specialist can handle, by the names of its tools.
    Part {
        /// The names of the specialist's toolsfor the model.
        tools: Vec<String>,
    },
    /// Choose the next specialist, given the names of each specialist's tools and the specialists
    /// that have answered.
    Route {
        /// The specialists, each with the names of its tools.
        agents: Vec<(AgentId, Vec<String>)>,
        /// The specialists that have answered.
        answered: Vec<AgentId>,
    },
    /// Combine the answers of several specialists into a text that names them.
    Synthesis {
        /// The answers, each with the name of its specialist.
        answers: Vec<(String, Outbound)>,
    },
}

/// A model call.
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    /// The conversation, oldest message first.
    pub messages: Vec<Message>,
    /// The end of the prompt, which differs between messages, such as the time. An adapter may
    /// place it before the question, so that a server can cache the conversation.
    pub passing: Outbound,
    /// The offered tools. If empty, the model must answer in text.
    pub tools: Vec<ToolDef>,
    /// If set, the answer must be a JSON object with this structure instead of text.
    pub structured: Option<Structured>,
    /// The purpose of the request.
    pub purpose: Purpose,
    /// The requested limit of the answer's length.
    pub max_output_tokens: Option<u32>,
    /// The limit that the budgets allow, if it is lower than the longest answer of the models.
    pub left_output_tokens: Option<u32>,
    /// Whether the answer may arrive in one piece, because no person reads it while it arrives.
    pub whole: bool,
    /// The language of answers, `en` or `sv`, for models that generate answers from templates.
    pub locale: String,
    /// The current time and the user's time zone.
    pub now: Option<DateTime<Utc>>,
    /// The IANA name of the user's time zone.
    pub time_zone: String,
}

/// An event of a model's answer. `Done` is the last event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelEvent {
    /// A piece of the answer.
    Text(String),
    /// A piece of the thoughts before the answer.
    Reasoning(String),
    /// The text so far belongs to the thoughts. The answer begins after it.
    WasThought,
    /// The server is loading the model, so the answer is delayed.
    Loading,
    /// A complete tool call. The provider's adapter joins its parts.
    Call(AskedCall),
    /// Suggested answers that the user can give with one click.
    Choices(Vec<Choice>),
    /// Provider data that must be returned with this answer's calls.
    #[serde(skip)]
    Opaque(Opaque),
    /// The first model failed and another model answers from here on. `why` is safe to show.
    FellBack {
        /// The label of the model that failed.
        from: String,
        /// The label of the model that takes over.
        to: String,
        /// The kind of failure.
        kind: ModelErrorKind,
        /// A sentence that describes the failure.
        why: Text,
    },
    /// The answer contains data that must stay on this computer, which no call returned. Only the
    /// offline model says so.
    LocalData,
    /// A known secret was removed from the answer. The engine adds this, at most once per answer.
    SecretRemoved,
    /// The answer is complete.
    Done {
        /// The token counts of the provider.
        usage: Usage,
        /// The reason why the model stopped.
        finish: Finish,
    },
}

/// Why a model ended its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The answer is complete.
    Stop,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The answer reached its token limit.
    Length,
    /// The provider withheld the rest of the answer.
    ContentFilter,
    /// The model declined the message because it is outside the model's task.
    OutOfScope,
}

/// Why a model call failed. The text is safe to show: it contains no key, and only the server's
/// message from a response body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The kind of failure.
    pub kind: ModelErrorKind,
    /// A sentence that describes the failure.
    pub message: Text,
    /// A sentence that suggests a remedy.
    pub hint: Option<Text>,
    /// The delay that the server requested, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// The server's message as a quotation, for the user who configured the model. Callers over
    /// HTTP do not get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Box<Text>>,
}

impl ModelError {
    /// Returns the message followed by the server's message.
    pub fn message_with_quote(&self) -> Text {
        match &self.said {
            Some(said) => self.message.clone().append((**said).clone()),
            None => self.message.clone(),
        }
    }
}

/// A refusal of tools by a model's server, which then answered without tools.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolsRefused {
    /// The time of the refusal.
    pub at: DateTime<Utc>,
    /// A sentence that quotes the server, if the refusal was in this process.
    pub said: Option<Text>,
}

/// The kinds of model failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// The server could not be reached or answered with status 5xx. The server did not process the
    /// request.
    Unavailable,
    /// The server stopped answering, or its answer was interrupted.
    Broken,
    /// The provider limits requests, or no credit is left.
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
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Unavailable | Self::Broken | Self::RateLimited)
    }

    /// Whether the model may have processed the request before it failed. The provider charges for
    /// such processing.
    pub fn may_have_worked(self) -> bool {
        matches!(self, Self::Broken)
    }
}

/// A model. Dropping the stream cancels the call. The adapter retries only before the first event.
pub trait Model: Send + Sync {
    /// Returns the model's name for the user, such as "Offline model" or "gpt-4o-mini at
    /// api.openai.com".
    fn label(&self) -> String;
    /// Returns the labels of all models that may answer a call and cost money, including fallback
    /// models.
    fn possible_labels(&self) -> Vec<String> {
        vec![self.label()]
    }
    /// Whether the model runs on this computer, so that no data leaves it.
    fn is_local(&self) -> bool;
    /// Returns the model's capabilities, as far as they are known.
    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities::default()
    }
    /// Returns the most tools that a request may have.
    fn most_tools(&self) -> usize {
        usize::MAX
    }
    /// Returns the last time that the current model's server refused tools and answered without
    /// them, if the refusal is still relevant. Unlike a capability, this is learned from its
    /// answers.
    fn tools_refused(&self) -> Option<ToolsRefused> {
        None
    }
    /// Whether the current model is treated as a model without tools.
    fn refuses_tools(&self) -> bool {
        self.tools_refused().is_some()
    }
    /// Records a refusal of tools at this time that an earlier process stored.
    fn note_refused_tools(&self, _at: DateTime<Utc>) {}
    /// Returns the length of the longest answer that any of the possible models may give to a
    /// request for `wanted` tokens.
    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        longest_answer(wanted, self.capabilities().max_output_tokens)
    }
    /// Returns the length of the longest answer of the current model.
    fn longest_answer_now(&self, wanted: Option<u32>) -> u32 {
        self.longest_answer(wanted)
    }
    /// Whether the model is built into this program. The built-in model reads tools by their ids
    /// and gets unredacted text, except secrets.
    fn in_process(&self) -> bool {
        false
    }
    /// Whether the model that answers now is built into this program. The current model may be the
    /// fallback of an external model.
    fn answers_in_process(&self) -> bool {
        self.in_process()
    }
    /// Whether the model reads tool results as JSON values. This applies to the built-in model and
    /// to models that may fall back to it.
    fn reads_values(&self) -> bool {
        self.in_process()
    }
    /// Loads data for a call, such as the API key. Called before text for the model is created, so
    /// that the key is known and removed from the text.
    fn prepare_call(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
    /// Starts a call.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>>;
}

/// Returns the current model. The settings may change between turns.
pub trait Models: Send + Sync {
    /// Returns the model for the next turn: the configured model, or the named one (`offline`, or a
    /// model of the configured provider).
    fn current(&self, name: Option<&str>) -> Arc<dyn Model>;
    /// Forgets earlier refusals of servers, such as refused tools.
    fn forget_refusals(&self) {}
}

/// The assumed longest answer of a model with an unknown limit. It is reserved in the ledger but
/// not sent to the model.
const USUAL_ANSWER: u32 = 8_192;

/// Returns the length of the longest answer for a request for `wanted` tokens, given the model's
/// own limit if known.
pub fn longest_answer(wanted: Option<u32>, own: Option<u32>) -> u32 {
    match (wanted, own) {
        (Some(wanted), Some(own)) => wanted.min(own),
        (Some(wanted), None) => wanted,
        (None, own) => own.unwrap_or(USUAL_ANSWER),
    }
}
