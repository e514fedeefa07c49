//! Errors of model calls, with messages that are safe to show: never the key, never the server's
//! own body. Every message says what happened; every hint says what to do. This file also decides
//! whether a retry is worthwhile.

use std::time::Duration;

use contract::{ConnectionProblem as Problem, Text, address::Origin, text};
use engine::ports::{ModelError, ModelErrorKind};
use reqwest::StatusCode;
use serde_json::Value;

/// An error, with the facts for the retry loop.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) error: ModelError,
    pub(super) retry: bool,
    /// Whether the server refused an optional part, so that one more try without it is worthwhile.
    pub(super) optional_refused: bool,
    /// The kind of problem for the connection test.
    pub(super) problem: Problem,
    /// The issuer of an untrusted certificate.
    pub(super) issuer: Option<String>,
}

impl Failure {
    pub(super) fn permanent(error: ModelError) -> Self {
        let problem = match error.kind {
            ModelErrorKind::Unavailable | ModelErrorKind::Broken => Problem::Server,
            ModelErrorKind::RateLimited => Problem::Limit,
            ModelErrorKind::Unauthorized => Problem::Key,
            ModelErrorKind::BadRequest | ModelErrorKind::TooLong => Problem::Refused,
            ModelErrorKind::Protocol => Problem::Api,
        };
        Self { error, retry: false, optional_refused: false, problem, issuer: None }
    }
    pub(super) fn transient(error: ModelError) -> Self {
        Self { retry: true, ..Self::permanent(error) }
    }
    pub(super) fn with_problem(self, problem: Problem) -> Self {
        Self { problem, ..self }
    }
    /// Returns the failure of a request that was sent without a key: if the key is the problem, it
    /// is missing.
    pub(super) fn with_missing_key(self, host: &str) -> Self {
        match self.problem {
            Problem::Key | Problem::KeyPermission => {
                Self::permanent(key_missing(host)).with_problem(Problem::KeyMissing)
            }
            _ => self,
        }
    }
}

pub(super) fn model_error(
    kind: ModelErrorKind,
    message: impl Into<Text>,
    hint: &str,
) -> ModelError {
    ModelError { kind, message: message.into(), hint: Some(hint.into()), retry_after_ms: None }
}

/// The address in the settings is not a web address.
pub(crate) fn bad_address() -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        "The model's address is not a web address that can be used.",
        "Enter a base URL such as https://api.openai.com/v1 in Settings, without a user name or password in it.",
    )
}

/// Encrypted connections cannot be set up at all.
pub(crate) fn no_tls() -> ModelError {
    model_error(
        ModelErrorKind::Unavailable,
        "Encrypted connections cannot be set up on this machine.",
        "Run `csign doctor`, and check HTTPS_PROXY if it is set.",
    )
}

/// The stored key contains characters that a header cannot carry.
pub(crate) fn bad_key() -> ModelError {
    model_error(
        ModelErrorKind::Unauthorized,
        "The stored API key holds characters that no key has.",
        "Enter the key again in Settings, without spaces or line breaks.",
    )
}

/// The key belongs to another server.
pub(crate) fn key_of_another_server(belongs_to: &Origin, asked: &Origin) -> ModelError {
    model_error(
        ModelErrorKind::Unauthorized,
        text!(
            "The key belongs to {belongs_to}, so it is not sent to {asked}.",
            belongs_to = belongs_to.to_string(),
            asked = asked.to_string()
        ),
        "Enter a key for this server in Settings, or correct its address.",
    )
}

/// The key would be sent without encryption.
pub(crate) fn key_in_plain_text(asked: &Origin) -> ModelError {
    model_error(
        ModelErrorKind::Unauthorized,
        text!(
            "The key is not sent to {asked}, because the connection would not be encrypted.",
            asked = asked.to_string()
        ),
        "Use an address that begins with https://. Without encryption a key goes only to this computer.",
    )
}

/// The request could not be written as JSON.
pub(super) fn request_not_serializable() -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        "The request to the model could not be written.",
        "Start a new session.",
    )
}

/// The answer does not follow the chosen wire.
pub(crate) fn not_the_protocol() -> ModelError {
    model_error(
        ModelErrorKind::Protocol,
        "The server's answer is not what this kind of provider sends.",
        "Check the provider and the base URL in Settings: for most servers it ends in /v1.",
    )
}

/// The provider has no endpoint for embeddings.
pub(crate) fn no_embeddings() -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        "This kind of provider has no embedding models.",
        "Choose the built-in memory model or a folder in Settings.",
    )
}

/// The model reported that it broke off.
pub(crate) fn broke_off() -> ModelError {
    model_error(
        ModelErrorKind::Broken,
        "The model broke off its answer.",
        "Send the message again.",
    )
}

/// The model, or a filter in front of it, refused to answer at all.
pub(crate) fn model_declined() -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        "The provider's safety rules blocked this answer.",
        "Word the message differently, or choose another model in Settings.",
    )
}

/// A tool call has no tool name.
pub(crate) fn nameless_call() -> ModelError {
    model_error(
        ModelErrorKind::Protocol,
        "The model asked for a tool without naming it.",
        "Ask again, or choose another model in Settings.",
    )
}

/// The server lists its models, and the chosen one is not among them.
pub(super) fn unknown_model(host: &str, model: &str) -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        text!("{host} has no model named {model}.", host, model),
        "Choose one of the models that the server lists.",
    )
}

/// The connection ended before the answer did.
pub(super) fn cut_off(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::Broken,
        text!("{host} closed the connection before the answer was complete.", host),
        "Send the message again.",
    )
}

/// No data arrived for too long.
pub(super) fn stalled(host: &str, idle: Duration) -> ModelError {
    model_error(
        ModelErrorKind::Broken,
        text!("{host} sent nothing for {seconds} seconds.", host, seconds = idle.as_secs().max(1)),
        "Send the message again, or allow more time in Settings if the model is slow to start.",
    )
}

/// The answer is longer than any real one.
pub(super) fn too_long(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::Protocol,
        text!("{host} sent more data than an answer can have.", host),
        "Choose another model in Settings.",
    )
}

/// Adds a hint to a failure: the server asks for a longer wait than is allowed before a retry.
pub(super) fn wait_too_long(mut failed: Failure, wait: Duration) -> Failure {
    failed.error.hint =
        Some(text!("Try again in {seconds} seconds.", seconds = wait.as_secs().max(1)));
    failed
}

/// The failure for an error status. `body` is searched only for known codes and for the words in
/// `optional`; it is never shown.
pub(super) fn from_status(
    host: &str,
    status: StatusCode,
    body: &str,
    optional: &[&str],
) -> Failure {
    let error = serde_json::from_str::<Value>(body).unwrap_or_default();
    // Google sends some errors in a list of one.
    let error = error.get(0).unwrap_or(&error);
    let known = KnownFailure::classify_error(error.get("error").unwrap_or(error));
    let failure = match status.as_u16() {
        401 if known == KnownFailure::Forbidden => refused_permission(host),
        403 if known != KnownFailure::Unauthorized => refused_permission(host),
        401 | 403 => Failure::permanent(unauthorized(host)),
        402 => Failure::permanent(no_credit(host)),
        404 => Failure::permanent(model_error(
            ModelErrorKind::BadRequest,
            text!("{host} knows no such model or address.", host),
            "Check the model's name and the base URL in Settings.",
        ))
        .with_problem(Problem::Model),
        407 => proxy_login(),
        408 | 409 | 425 | 500..=599 => Failure::transient(model_error(
            ModelErrorKind::Unavailable,
            text!("{host} cannot answer just now (status {status}).", host, status = status.as_u16()),
            "Wait a moment and send the message again.",
        )),
        413 => Failure::permanent(conversation_too_long(host)),
        429 if known == KnownFailure::NoCredit => Failure::permanent(no_credit(host)),
        429 => Failure::transient(rate_limited(host)),
        300..=399 => Failure::permanent(model_error(
            ModelErrorKind::BadRequest,
            text!("{host} points to another address.", host),
            "Enter the final address as base URL in Settings; redirects are not followed, so that the key goes nowhere else.",
        ))
        .with_problem(Problem::Api),
        _ if known == KnownFailure::Forbidden => refused_permission(host),
        code => Failure::permanent(match known {
            KnownFailure::ContextLength => conversation_too_long(host),
            KnownFailure::AnswerLength => answer_too_large(host),
            KnownFailure::NoCredit => no_credit(host),
            KnownFailure::Unauthorized => unauthorized(host),
            KnownFailure::Tools => model_error(
                ModelErrorKind::BadRequest,
                text!("{host} refused the tools as they are described (status {status}).", host, status = code),
                "Choose a model that supports tools in Settings.",
            ),
            KnownFailure::Forbidden
            | KnownFailure::RateLimited
            | KnownFailure::Overloaded
            | KnownFailure::Other => model_error(
                ModelErrorKind::BadRequest,
                text!("{host} refused the request (status {status}).", host, status = code),
                "Check the model's name in Settings; it may not support tools or streaming.",
            ),
        }),
    };
    let optional_refused =
        matches!(status.as_u16(), 400 | 422) && optional.iter().any(|word| body.contains(word));
    Failure { optional_refused, ..failure }
}

fn proxy_login() -> Failure {
    let error = model_error(
        ModelErrorKind::Unavailable,
        "The proxy asks for a name and password.",
        "Put them into the proxy's address (HTTPS_PROXY).",
    );
    Failure::permanent(error).with_problem(Problem::Proxy)
}

/// Used if there is no host name.
const SERVER: &str = "The model's server";

/// Marks an error from the server as temporary or permanent. Missing credit is permanent.
pub(super) fn classify(error: ModelError) -> Failure {
    if error.kind.is_retryable() && error != no_credit(SERVER) {
        Failure::transient(error)
    } else {
        Failure::permanent(error)
    }
}

/// Reads an error object in the middle of a stream, or in an answer with status 200.
pub(crate) fn parse_stream_error(error: &Value) -> ModelError {
    let host = SERVER;
    match KnownFailure::classify_error(error) {
        KnownFailure::Unauthorized => unauthorized(host),
        KnownFailure::Forbidden => forbidden(host),
        KnownFailure::NoCredit => no_credit(host),
        KnownFailure::RateLimited => rate_limited(host),
        KnownFailure::ContextLength => conversation_too_long(host),
        KnownFailure::AnswerLength => answer_too_large(host),
        KnownFailure::Overloaded => model_error(
            ModelErrorKind::Unavailable,
            "The model's server is overloaded.",
            "Wait a moment and send the message again.",
        ),
        KnownFailure::Tools | KnownFailure::Other => model_error(
            ModelErrorKind::Unavailable,
            "The model's server reported an error.",
            "Send the message again, or choose another model in Settings.",
        ),
    }
}

fn unauthorized(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::Unauthorized,
        text!("{host} rejected the API key.", host),
        "Enter a valid key for this server in Settings.",
    )
}

fn key_missing(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::Unauthorized,
        text!("{host} requires an API key, and none is stored.", host),
        "Enter a key for this server in Settings.",
    )
}

fn forbidden(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::Unauthorized,
        text!("{host} does not allow this API key to use the model.", host),
        "Give the key access to the model in your account at the provider, or choose another model in Settings.",
    )
}

fn refused_permission(host: &str) -> Failure {
    Failure::permanent(forbidden(host)).with_problem(Problem::KeyPermission)
}

fn no_credit(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::RateLimited,
        text!("{host} reports that the account has no credit left.", host),
        "Check the plan and billing of the account behind the key.",
    )
}

fn rate_limited(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::RateLimited,
        text!("{host} is getting too many requests.", host),
        "Wait a moment and send the message again.",
    )
}

fn conversation_too_long(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::TooLong,
        text!("The conversation is too long for the model at {host}.", host),
        "Start a new session, or choose a model with a larger window.",
    )
}

/// The requested answer does not fit, however much the conversation is shortened.
fn answer_too_large(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::TooLong,
        text!("The model at {host} has no room for so long an answer.", host),
        "Allow an answer fewer tokens under Budgets in Settings, start a new session, or choose a model with a larger window.",
    )
}

/// Error codes and types that most servers use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KnownFailure {
    Unauthorized,
    /// The key is known, but may not do this.
    Forbidden,
    NoCredit,
    RateLimited,
    ContextLength,
    /// The request for a long answer is too large.
    AnswerLength,
    Overloaded,
    /// A tool's name or schema is refused.
    Tools,
    Other,
}

/// Phrases by which servers say that a conversation is longer than the model can read.
const TOO_LONG: [&str; 14] = [
    "prompt is too long",
    "exceed context limit",
    "input token count",
    "maximum context length",
    "context window",
    "exceeds the context length",
    "available context size",
    "loaded with context length of",
    "reached context length of",
    "greater than the context length",
    "n_keep",
    "maximum prompt length",
    "model token limit",
    "longer than the model's context length",
];
/// The phrase by which they say that the limit of the answer is too large.
const BOUND_TOO_LARGE: &str = "_tokens' is too large";

impl KnownFailure {
    fn classify_error(error: &Value) -> Self {
        let at = error.get("param").and_then(Value::as_str).unwrap_or_default();
        if at.starts_with("tools")
            || at.starts_with("functions")
            || error.get("code").is_some_and(|code| code == "invalid_function_parameters")
        {
            return Self::Tools;
        }
        let mut words = String::new();
        for member in ["code", "type", "status"] {
            match error.get(member) {
                Some(Value::String(text)) => words.push_str(text),
                Some(Value::Number(number)) => words.push_str(&number.to_string()),
                _ => {}
            }
            words.push(' ');
        }
        // Google gives the real reason only in the details.
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            words.push_str(detail.get("reason").and_then(Value::as_str).unwrap_or_default());
            words.push(' ');
        }
        let words = words.to_ascii_lowercase();
        // Some servers give the reason only in their sentence, which is searched and never shown.
        let said =
            error.get("message").unwrap_or(error).as_str().unwrap_or_default().to_ascii_lowercase();
        let has = |needles: &[&str]| needles.iter().any(|n| words.contains(n));
        if has(&["insufficient_quota", "billing", "402"]) {
            Self::NoCredit
        } else if has(&[
            "invalid_api_key",
            "api_key_invalid",
            "authentication",
            "unauthorized",
            "unauthenticated",
        ]) {
            Self::Unauthorized
        } else if has(&["permission", "forbidden", "403"])
            || said.contains("insufficient permissions")
        {
            Self::Forbidden
        } else if has(&["401"]) {
            Self::Unauthorized
        } else if said.contains("maximum context length") && said.contains(BOUND_TOO_LARGE) {
            Self::AnswerLength
        } else if has(&["context_length", "exceed_context_size"])
            || TOO_LONG.iter().any(|part| said.contains(part))
        {
            Self::ContextLength
        } else if has(&["rate_limit", "too_many", "resource_exhausted", "slow_down", "429"]) {
            Self::RateLimited
        } else if has(&[
            "overloaded",
            "unavailable",
            "api_error",
            "internal",
            "server_error",
            "timeout",
            "500",
            "502",
            "503",
            "504",
            "529",
        ]) {
            Self::Overloaded
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests;
