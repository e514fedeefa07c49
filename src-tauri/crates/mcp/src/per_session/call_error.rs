//! Why a call failed, whether it may be retried, whether it may have taken effect, and the sentence
//! about it. The bodies of answers are not kept.

use std::fmt;

use contract::{AgentError, ErrorCode, Reason, Text, text};
use engine::ports::ToolFailure;

use super::Patience;
use crate::{failure, http};

/// Why a call failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallError {
    /// There was no connection, and the request was not sent.
    Unreachable,
    /// The address is private, and private addresses may not be reached.
    Private,
    /// A value cannot be written as a header or body.
    Unsendable,
    /// The connection broke after the request was sent.
    Broken,
    /// There was no answer in time.
    TimedOut,
    /// The server answered with an error status.
    Status(u16),
    /// The server sent an answer that the protocol does not allow.
    Odd(&'static str),
    /// The server refused the request, with this code.
    Refused(i64),
    /// The tool ran and reported an error.
    Tool(String),
    /// A session could not be opened.
    Opening(Box<CallError>),
    /// A token could not be obtained.
    Token(String),
    /// The client's secret is missing.
    Secret(AgentError),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("unreachable"),
            Self::Private => f.write_str("a private address"),
            Self::Unsendable => f.write_str("not to be sent"),
            Self::Broken => f.write_str("the connection broke"),
            Self::TimedOut => f.write_str("no answer in time"),
            Self::Status(status) => write!(f, "status {status}"),
            Self::Odd(what) => f.write_str(what),
            Self::Refused(code) => write!(f, "refused with the code {code}"),
            // The error text of a tool may contain anything, so it is omitted.
            Self::Tool(_) => f.write_str("the tool reports an error"),
            Self::Opening(why) => write!(f, "no session: {why}"),
            Self::Token(why) => write!(f, "no token: {why}"),
            Self::Secret(error) => write!(f, "no secret: {}", error.message),
        }
    }
}

impl CallError {
    /// Returns the same error for the opening of a session. Errors about tokens, secrets and
    /// private addresses stay unchanged.
    pub(super) fn at_opening(self) -> Self {
        match self {
            Self::Token(_) | Self::Secret(_) | Self::Private => self,
            other => Self::Opening(Box::new(other)),
        }
    }

    /// Whether the same call may be retried. A call that changes something may only be retried if
    /// it was certainly not sent.
    pub(super) fn may_retry(&self, reads: bool) -> bool {
        match self {
            Self::Unreachable => true,
            Self::Broken | Self::TimedOut | Self::Status(502..=504) => reads,
            Self::Private
            | Self::Unsendable
            | Self::Status(_)
            | Self::Odd(_)
            | Self::Refused(_)
            | Self::Tool(_)
            | Self::Opening(_)
            | Self::Token(_)
            | Self::Secret(_) => false,
        }
    }

    /// Whether the call may have taken effect despite the error.
    fn may_have_happened(&self) -> bool {
        match self {
            Self::Broken | Self::TimedOut | Self::Odd(_) => true,
            Self::Status(status) => *status >= 500,
            Self::Refused(code) => failure::may_have_run(*code),
            Self::Unreachable
            | Self::Private
            | Self::Unsendable
            | Self::Tool(_)
            | Self::Opening(_)
            | Self::Token(_)
            | Self::Secret(_) => false,
        }
    }

    pub(super) fn into_failure(self, server: &str, patience: Patience) -> ToolFailure {
        let may_have_happened = self.may_have_happened();
        let http = |message: Text, reason: &str| {
            AgentError::new(ErrorCode::ToolHttpError, message).reason(reason)
        };
        let error = match self {
            Self::Unreachable => http(
                text!("The server {server} cannot be reached.", server),
                Reason::McpNotConnected.name(),
            )
            .retryable(true)
            .hint("Check the connection and the server's address, then try again."),
            Self::Private => {
                http(http::refusal_text(&format!("The server {server}")), "mcp_private_address")
                    .retryable(false)
            }
            Self::Unsendable => AgentError::invalid(text!(
                "The request to {server} cannot be written: a name in it holds control characters.",
                server
            )),
            Self::Broken => http(
                text!("The connection to {server} broke before it answered.", server),
                Reason::McpException.name(),
            )
            .retryable(true),
            Self::TimedOut => return failure::timed_out(server, patience.call, true),
            Self::Status(status) => http(
                text!("The server {server} failed ({status}).", server, status),
                Reason::McpHttpStatus.name(),
            )
            .with("status", status)
            .retryable(status >= 500),
            Self::Odd(what) => return failure::unexpected_answer(server, what),
            // The server's error text is omitted, because it may contain anything.
            Self::Refused(code) => {
                http(text!("The server {server} refused the call.", server), "mcp_refused")
                    .with("code", code)
                    .retryable(false)
            }
            Self::Tool(words) if is_a_sentence(&words) => return failure::tool_error(words),
            Self::Tool(_) => {
                return failure::tool_error(text!("A tool of {server} reports an error.", server));
            }
            Self::Opening(why) => {
                tracing::debug!(server, %why, "no session");
                http(
                    text!("The server {server} did not open a session.", server),
                    Reason::McpInitFailed.name(),
                )
                .retryable(true)
            }
            Self::Token(why) => http(
                text!("The sign-in to {server} did not work: {why}.", server, why),
                Reason::McpToken.name(),
            )
            .retryable(false)
            .hint("Check the address for tokens, the client's id and secret, and the scope."),
            Self::Secret(error) => error,
        };
        ToolFailure { error, may_have_happened }
    }
}

/// The maximum number of characters of a tool's error text.
const SENTENCE: usize = 300;
/// Words of internal errors that help neither people nor models.
const INTERNALS: [&str; 12] = [
    "stack",
    "trace",
    "exception",
    "password",
    "secret",
    "token",
    "bearer",
    "apikey",
    "api key",
    "authorization",
    "credential",
    "://",
];

/// Whether a tool's error text is meant for the caller. Servers also report internal errors as tool
/// errors.
fn is_a_sentence(words: &str) -> bool {
    let small = words.to_lowercase();
    let short = words.chars().count() <= SENTENCE && !words.trim().contains('\n');
    short && !small.contains(['<', '{']) && !INTERNALS.iter().any(|word| small.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_texts_with_internal_details_are_not_passed_on() {
        for words in [
            "Sold out.",
            "Only 3 pieces are left of FJS-TR1001-BLK-42.",
            "Det finns inget artikelnummer 17.",
        ] {
            assert!(is_a_sentence(words), "{words}");
        }
        let long = "x".repeat(SENTENCE + 1);
        for words in [
            "stack trace at db07.internal, password hunter2",
            "{\"code\": 1}",
            "<html>",
            "failed\n  at line 3",
            "see http://10.0.0.1/x",
            &long,
        ] {
            assert!(!is_a_sentence(words), "{words}");
        }
    }

    #[test]
    fn a_change_is_retried_only_if_no_request_was_sent() {
        let all = [
            (CallError::Unreachable, true, true),
            (CallError::Broken, true, false),
            (CallError::TimedOut, true, false),
            (CallError::Status(502), true, false),
            (CallError::Status(503), true, false),
            (CallError::Status(504), true, false),
            (CallError::Status(500), false, false),
            (CallError::Status(401), false, false),
            (CallError::Status(404), false, false),
            (CallError::Status(429), false, false),
            (CallError::Odd("no JSON"), false, false),
            (CallError::Refused(-32_602), false, false),
            (CallError::Refused(-32_603), false, false),
            (CallError::Tool("Sold out.".into()), false, false),
            (CallError::Opening(Box::new(CallError::TimedOut)), false, false),
            (CallError::Token("status 503".into()), false, false),
        ];
        for (lost, reads, changes) in all {
            assert_eq!((lost.may_retry(true), lost.may_retry(false)), (reads, changes), "{lost}");
            // A change that may be retried has certainly not taken effect.
            assert!(!(lost.may_retry(false) && lost.may_have_happened()), "{lost}");
        }
    }
}
