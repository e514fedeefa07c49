//! Errors of model calls, with messages that are safe to show: they never contain the key, and of
//! the server's body only its sentence as a quotation. Every message says what happened; every hint
//! says what the user can do. The module also decides whether a retry is worthwhile.

use std::time::Duration;

use contract::{ConnectionProblem as Problem, Text, address::Origin, text};
use engine::ports::{ModelError, ModelErrorKind};
use reqwest::{StatusCode, Url};
use serde_json::Value;

use super::known::KnownFailure;
use super::refusal::Refusal;
use super::server_message;
use crate::wire::Part;

/// An error, with the facts for the retry loop.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) error: ModelError,
    pub(super) retry: bool,
    /// The server's answer, if there was one.
    pub(super) answer: Box<ErrorAnswer>,
    /// The kind of problem for the connection test.
    pub(super) problem: Problem,
    /// The issuer of an untrusted certificate.
    pub(super) issuer: Option<String>,
}

/// The answer with which a server refused a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ErrorAnswer {
    /// The parts of the request that the server may have refused, so that another attempt without a
    /// part is worthwhile.
    pub(super) may_refuse: Vec<Part>,
    /// Whether the server is loading the model and will answer afterwards.
    pub(super) is_loading: bool,
    /// The status of the answer, or 0.
    pub(super) status: u16,
    /// The server's error text, shortened and without keys.
    pub(super) said: String,
    /// The whole answer in lower case, which is searched and never shown.
    pub(super) body: String,
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
        Self { error, retry: false, answer: Box::default(), problem, issuer: None }
    }
    pub(super) fn transient(error: ModelError) -> Self {
        Self { retry: true, ..Self::permanent(error) }
    }
    pub(super) fn with_problem(self, problem: Problem) -> Self {
        Self { problem, ..self }
    }
    /// Returns the failure with the remedy if the address lacks the path that most servers have.
    pub(super) fn with_missing_path(self, base: &Url) -> Self {
        let is_nowhere = self.error == no_such_address()
            || matches!(self.answer.status, 404 | 405)
                && !self.answer.said.to_lowercase().contains("model");
        if !is_nowhere {
            return self;
        }
        if !matches!(base.path(), "" | "/") {
            return self.with_unusual_path(base);
        }
        let address = format!("{}/v1", base.as_str().trim_end_matches('/'));
        let hint = text!(
            "Enter {address} as the address in Settings: for most servers it ends in /v1.",
            address
        );
        let error = ModelError { hint: Some(hint), ..no_such_address() };
        Self { retry: false, ..self.with_error(error) }.with_problem(Problem::Api)
    }
    /// Returns the failure with the usual path if the address has no version and the server states
    /// no cause.
    fn with_unusual_path(mut self, base: &Url) -> Self {
        let is_version = |part: &str| {
            part.strip_prefix('v')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let has_version = base.path_segments().is_some_and(|mut parts| parts.any(is_version));
        if !has_version && server_message::is_about_no_cause(&self.answer.said) {
            self.error.hint = no_such_address().hint;
        }
        self
    }
    /// Whether the server's error text may be shown: the server itself answered, and the text is
    /// not about a key.
    fn may_be_quoted(&self) -> bool {
        match self.answer.status {
            300..=399 | 401 | 407 => false,
            403 => !self.answer.said.to_lowercase().contains("key"),
            _ => true,
        }
    }
    fn with_error(self, error: ModelError) -> Self {
        Self { error, ..self }
    }
    /// Returns the failure for a request that was sent without a key. If the key is the problem, it
    /// is missing.
    pub(super) fn with_missing_key(self, host: &str) -> Self {
        match self.problem {
            Problem::Key | Problem::KeyPermission => {
                let error = ModelError { said: self.error.said, ..key_missing(host) };
                Self::permanent(error).with_problem(Problem::KeyMissing)
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
    let (message, hint) = (message.into(), Some(hint.into()));
    ModelError { kind, message, hint, retry_after_ms: None, said: None }
}

/// Makes the error for an address in the settings that is not a web address.
pub(crate) fn bad_address() -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        "The model's address is not a web address that can be used.",
        "Enter an address such as https://api.openai.com/v1 in Settings, without a user name or password in it.",
    )
}

/// Makes the error if encrypted connections cannot be set up at all.
pub(crate) fn no_tls() -> ModelError {
    model_error(
        ModelErrorKind::Unavailable,
        "Encrypted connections cannot be set up on this machine.",
        "Run `csign doctor`, and check HTTPS_PROXY if it is set.",
    )
}

/// Makes the error for a stored key with characters that a header cannot contain.
pub(crate) fn bad_key() -> ModelError {
    model_error(
        ModelErrorKind::Unauthorized,
        "The stored API key holds characters that no key has.",
        "Enter the key again in Settings, without spaces or line breaks.",
    )
}

/// Makes the error for a key that belongs to another server.
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

/// Makes the error for a key that would be sent without encryption.
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

/// Makes the failure for a request that could not be written as JSON.
pub(super) fn request_not_serializable() -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        "The request to the model could not be written.",
        "Start a new session.",
    )
}

/// Makes the error for an answer that does not follow the chosen wire.
pub(crate) fn not_the_protocol() -> ModelError {
    model_error(
        ModelErrorKind::Protocol,
        "The server's answer is not what this kind of provider sends.",
        "Check the provider and the address in Settings: for most servers it ends in /v1.",
    )
}

/// Makes the error for a server that has no model at this address.
fn no_such_address() -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        "The server has no model API at this address.",
        "Check the address in Settings: for most servers it ends in /v1.",
    )
}

/// Makes the error for a server that is still loading the model after the maximum wait.
fn still_loading(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::Unavailable,
        text!("{host} is still loading the model.", host),
        "Wait a moment and send the message again.",
    )
}

/// Makes the error for a provider without an endpoint for embeddings.
pub(crate) fn no_embeddings() -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        "This kind of provider has no embedding models.",
        "Choose the built-in memory model or a folder in Settings.",
    )
}

/// Makes the error for a model that reported that it stopped early.
pub(crate) fn broke_off() -> ModelError {
    model_error(
        ModelErrorKind::Broken,
        "The model broke off its answer.",
        "Send the message again.",
    )
}

/// Makes the error if the model, or a filter in front of the model, refused to answer at all.
pub(crate) fn model_declined() -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        "The provider's safety rules blocked this answer.",
        "Word the message differently, or choose another model in Settings.",
    )
}

/// Makes the error for a tool call without a tool name.
pub(crate) fn nameless_call() -> ModelError {
    model_error(
        ModelErrorKind::Protocol,
        "The model asked for a tool without naming it.",
        "Ask again, or choose another model in Settings.",
    )
}

/// Makes the error if the server lists its models, and the chosen model is not listed.
pub(super) fn unknown_model(host: &str, model: &str) -> ModelError {
    model_error(
        ModelErrorKind::BadRequest,
        text!("{host} has no model named {model}.", host, model),
        "Choose one of the models that the server lists.",
    )
}

/// Makes the failure for a connection that ended before the answer.
pub(super) fn cut_off(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::Broken,
        text!("{host} closed the connection before the answer was complete.", host),
        "Send the message again.",
    )
}

/// Makes the failure if no data arrived for too long.
pub(super) fn stalled(host: &str, idle: Duration) -> ModelError {
    model_error(
        ModelErrorKind::Broken,
        text!("{host} sent nothing for {seconds} seconds.", host, seconds = idle.as_secs().max(1)),
        "Send the message again, or allow more time in Settings if the model is slow to start.",
    )
}

/// Makes the failure for an answer that is longer than any real answer.
pub(super) fn too_long(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::Protocol,
        text!("{host} sent more data than an answer can have.", host),
        "Choose another model in Settings.",
    )
}

/// Adds a hint that the server asks for a longer wait before a retry than is allowed.
pub(super) fn wait_too_long(mut failed: Failure, wait: Duration) -> Failure {
    failed.error.hint =
        Some(text!("Try again in {seconds} seconds.", seconds = wait.as_secs().max(1)));
    failed
}

/// Makes the failure for an error status. Of `body`, only the server's sentence is shown. The words
/// in `optional` name optional parts.
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
    let said = server_message::words(body);
    let is_loading =
        matches!(status.as_u16(), 425 | 502..=504) && server_message::is_loading(&said);
    let failure = match status.as_u16() {
        401 if known == KnownFailure::Forbidden => refused_permission(host),
        403 if server_message::is_about_moderation(&said) => Failure::permanent(model_declined()),
        403 if known != KnownFailure::Unauthorized => refused_permission(host),
        401 | 403 => Failure::permanent(unauthorized(host)),
        402 => Failure::permanent(no_credit(host)),
        404 => Failure::permanent(model_error(
            ModelErrorKind::BadRequest,
            text!("{host} knows no such model or address.", host),
            server_message::hint(&said).unwrap_or("Check the model's name and the address in Settings."),
        ))
        .with_problem(Problem::Model),
        407 => proxy_login(),
        _ if is_loading => Failure::transient(still_loading(host)),
        500..=599 if known == KnownFailure::ContextLength => {
            Failure::permanent(conversation_too_long(host))
        }
        408 | 409 | 425 | 500..=599 => Failure::transient(model_error(
            ModelErrorKind::Unavailable,
            text!("{host} cannot answer just now (status {status}).", host, status = status.as_u16()),
            server_message::hint(&said).unwrap_or("Wait a moment and send the message again."),
        )),
        413 => Failure::permanent(conversation_too_long(host)),
        429 if known == KnownFailure::NoCredit => Failure::permanent(no_credit(host)),
        429 => Failure::transient(rate_limited(host)),
        300..=399 => Failure::permanent(model_error(
            ModelErrorKind::BadRequest,
            text!("{host} points to another address.", host),
            "Enter the final address in Settings; redirects are not followed, so that the key goes nowhere else.",
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
                server_message::hint(&said).unwrap_or("Choose a model that supports tools in Settings."),
            ),
            KnownFailure::Forbidden
            | KnownFailure::RateLimited
            | KnownFailure::Overloaded
            | KnownFailure::Other => model_error(
                ModelErrorKind::BadRequest,
                text!("{host} refused the request (status {status}).", host, status = code),
                server_message::hint(&said).unwrap_or("Check the model and the address in Settings."),
            ),
        }),
    };
    let refusal = Refusal { status: status.as_u16(), known, said: &said, body, optional };
    let may_refuse = refusal.parts();
    let body = body.to_lowercase();
    let answer = ErrorAnswer { may_refuse, is_loading, status: status.as_u16(), said, body };
    let mut failure = Failure { answer: Box::new(answer), ..failure };
    let said = &failure.answer.said;
    // A server's text about keys may contain a part of the key.
    if !said.is_empty() && !is_loading && known.may_be_quoted() && failure.may_be_quoted() {
        failure.error.said = Some(Box::new(server_message::quoted(said)));
    }
    failure
}

fn proxy_login() -> Failure {
    let error = model_error(
        ModelErrorKind::Unavailable,
        "The proxy asks for a name and password.",
        "Put them into the proxy's address (HTTPS_PROXY).",
    );
    Failure::permanent(error).with_problem(Problem::Proxy)
}

/// The name that is used if there is no host name.
const SERVER: &str = "The model's server";

/// Classifies an error from the server as temporary or permanent. Missing credit is permanent.
pub(super) fn classify(error: ModelError) -> Failure {
    let is_open = error.kind == ModelErrorKind::Unavailable;
    let said = error.said.as_ref().filter(|_| is_open).map(|said| said.as_str().to_owned());
    let mut failure = if error.kind.is_retryable() && error.message != no_credit(SERVER).message {
        Failure::transient(error)
    } else {
        Failure::permanent(error)
    };
    if let Some(said) = said {
        let (known, body) = (KnownFailure::Other, said.to_lowercase());
        let refusal = Refusal { status: 400, known, said: &said, body: &body, optional: &[] };
        failure.answer.may_refuse = refusal.parts();
        failure.answer.body = body;
    }
    failure
}

/// Reads an error object in the middle of a stream, or in an answer with status 200.
pub(crate) fn parse_stream_error(error: &Value) -> ModelError {
    let host = SERVER;
    let said = server_message::sentence(error).unwrap_or_default();
    let quoted = |failed: ModelError| match said.as_str() {
        "" => failed,
        said => ModelError { said: Some(Box::new(server_message::quoted(said))), ..failed },
    };
    match KnownFailure::classify_error(error) {
        KnownFailure::Unauthorized => unauthorized(host),
        KnownFailure::Forbidden => quoted(forbidden(host)),
        KnownFailure::NoCredit => quoted(no_credit(host)),
        KnownFailure::RateLimited => quoted(rate_limited(host)),
        KnownFailure::ContextLength => quoted(conversation_too_long(host)),
        KnownFailure::AnswerLength => quoted(answer_too_large(host)),
        KnownFailure::Overloaded => quoted(model_error(
            ModelErrorKind::Unavailable,
            "The model's server cannot answer just now.",
            server_message::hint(&said).unwrap_or("Wait a moment and send the message again."),
        )),
        KnownFailure::Tools | KnownFailure::Other if server_message::is_about_address(&said) => {
            no_such_address()
        }
        KnownFailure::Tools | KnownFailure::Other => quoted(model_error(
            ModelErrorKind::Unavailable,
            "The model's server reported an error.",
            server_message::hint(&said)
                .unwrap_or("Send the message again, or choose another model in Settings."),
        )),
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

/// When a person reads this, the engine has already left out all earlier messages.
fn conversation_too_long(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::TooLong,
        text!("The conversation is too long for the model at {host}.", host),
        "Send a shorter message or ask for less at once, or choose a model with a larger window.",
    )
}

/// Makes the error if the requested answer does not fit, however much the conversation is
/// shortened.
fn answer_too_large(host: &str) -> ModelError {
    model_error(
        ModelErrorKind::TooLong,
        text!("The model at {host} has no room for so long an answer.", host),
        "Allow an answer fewer tokens under Budgets in Settings, start a new session, or choose a model with a larger window.",
    )
}

#[cfg(test)]
mod tests;
