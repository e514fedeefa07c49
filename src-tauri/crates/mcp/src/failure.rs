//! Builds the failures of calls: what happened, whether the call may have taken effect, and what
//! the user can do.

use std::time::Duration;

use contract::{AgentError, ErrorCode, Reason, Text, text};
use engine::ports::ToolFailure;
use http::StatusCode;
use rmcp::{
    model::ErrorData,
    service::{ClientInitializeError, ServiceError},
    transport::{
        auth::AuthError,
        streamable_http_client::{
            AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError,
        },
    },
};

use secrecy::SecretString;

use crate::{
    http::{Obstacle, PrivateAddress},
    words::{message_in, refusal_kind, shorten, words_of},
};

/// The cause of a failed request to a server behind an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TransportCause {
    /// The address is private and the pack may not reach it.
    Private,
    /// The server requires a sign-in or more permissions. Contains the server's challenge, if it
    /// sent one.
    Unauthorized(Option<String>),
    /// The server answered with an error status, and perhaps with an error text.
    Status { status: u16, retry_after_ms: Option<u64>, said: Option<String> },
    /// The answer is a web page, or another document that no MCP server sends.
    Page,
    /// The answer is JSON, but not a message of the protocol.
    NoMessage,
    /// The request did not reach the server.
    Obstacle(Obstacle),
}

/// Describes the kind of a failed handshake, including the server's error text.
pub(crate) fn opening_kind_with(error: &ClientInitializeError, secrets: &[SecretString]) -> Text {
    match error {
        ClientInitializeError::JsonRpcError(error) => refusal_kind(error, secrets),
        other => opening_kind(other),
    }
}

/// Why a connection could not be opened.
pub(crate) enum OpenError {
    /// A reason, as a sentence.
    Because(Text),
    /// The server requires a sign-in, or more permissions. Contains the server's own challenge.
    SignIn(Option<String>),
}

/// The protocol's error code for an internal error.
pub(crate) const INTERNAL: i64 = -32_603;

/// Whether a call that was answered with this error code may have taken effect. Of the codes that
/// the protocol reserves, only the codes for an invalid request rule this out. Other codes are the
/// server's own refusals.
pub(crate) fn may_have_run(code: i64) -> bool {
    (-32_768..=-32_000).contains(&code) && !matches!(code, -32_700 | -32_602..=-32_600)
}

/// Returns the cause of a failed request.
pub(crate) fn request_cause(error: &ServiceError) -> Option<TransportCause> {
    match error {
        // The library's own errors do not return their cause as `source`.
        ServiceError::TransportSend(transport) => find_cause(transport.error.as_ref()),
        _ => None,
    }
}

/// Returns the server's refusal, if a handshake failed because of it.
pub(crate) fn refusal_of(error: &ClientInitializeError) -> Option<&ErrorData> {
    match error {
        ClientInitializeError::JsonRpcError(refusal) => Some(refusal),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => refusal_of(fallback),
        _ => None,
    }
}

/// Returns the cause of a failed handshake.
pub(crate) fn handshake_cause(error: &ClientInitializeError) -> Option<TransportCause> {
    match error {
        ClientInitializeError::TransportError { error, .. } => find_cause(error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { discover, fallback } => {
            handshake_cause(fallback).or_else(|| handshake_cause(discover))
        }
        _ => None,
    }
}

/// Searches an error and its sources for a known cause.
fn find_cause(error: &(dyn std::error::Error + 'static)) -> Option<TransportCause> {
    let mut found = None;
    let mut next = Some(error);
    while let Some(cause) = next {
        if cause.is::<PrivateAddress>() {
            return Some(TransportCause::Private);
        }
        if let Some(auth) = cause.downcast_ref::<AuthRequiredError>() {
            return Some(TransportCause::Unauthorized(Some(auth.www_authenticate_header.clone())));
        }
        if let Some(scope) = cause.downcast_ref::<InsufficientScopeError>() {
            return Some(TransportCause::Unauthorized(Some(scope.www_authenticate_header.clone())));
        }
        if matches!(cause.downcast_ref::<AuthError>(), Some(AuthError::AuthorizationRequired)) {
            return Some(TransportCause::Unauthorized(None));
        }
        let status = match cause.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::HttpStatus(status)) => Some(status),
            Some(StreamableHttpError::Client(error)) => return find_cause(error),
            Some(StreamableHttpError::UnexpectedServerResponse(words))
                if words.starts_with("could not parse JSON") =>
            {
                return Some(TransportCause::NoMessage);
            }
            Some(StreamableHttpError::UnexpectedServerResponse(words)) => {
                return parse_status_text(words);
            }
            Some(StreamableHttpError::UnexpectedContentType(_)) => {
                return Some(TransportCause::Page);
            }
            _ => cause.downcast_ref::<HttpStatusError>(),
        };
        if let Some(http) = status {
            let seconds =
                http.retry_after.as_deref().and_then(|text| text.trim().parse::<u64>().ok());
            return Some(TransportCause::Status {
                status: http.status,
                retry_after_ms: seconds.map(|s| s.saturating_mul(1_000)),
                said: None,
            });
        }
        if let Some(http) = cause.downcast_ref::<reqwest::Error>() {
            found = match http.status() {
                Some(status) => Some(bare_status(status, None)),
                None => Obstacle::of(http).map(TransportCause::Obstacle).or(found),
            };
        }
        next = cause.source();
    }
    found
}

/// Parses a status that the library reports only as text, in front of the server's error text.
fn parse_status_text(words: &str) -> Option<TransportCause> {
    let digits = words.strip_prefix("HTTP ")?.get(..3)?;
    let status = StatusCode::from_u16(digits.parse().ok()?).ok()?;
    let said = words.strip_prefix(&format!("HTTP {status}: "))?;
    Some(match status {
        StatusCode::UNAUTHORIZED => TransportCause::Unauthorized(None),
        status => bare_status(status, (!said.trim().is_empty()).then(|| said.to_owned())),
    })
}

fn bare_status(status: StatusCode, said: Option<String>) -> TransportCause {
    if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
        return TransportCause::Obstacle(Obstacle::ProxySignIn);
    }
    TransportCause::Status { status: status.as_u16(), retry_after_ms: None, said }
}

/// Describes the kind of a failed handshake. Only codes are used of the server's answer.
pub(crate) fn opening_kind(error: &ClientInitializeError) -> Text {
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            text!("it refuses with the code {code}", code = error.code.0)
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => opening_kind(fallback),
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".into(),
        ClientInitializeError::TransportError { .. }
            if handshake_cause(error) == Some(TransportCause::Page) =>
        {
            "it answers with a web page, or with something else that is not MCP".into()
        }
        ClientInitializeError::TransportError { .. } => {
            "the connection broke, or what came over it was no answer".into()
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it supports no version of the protocol that this app supports".into()
        }
        _ => "its answer does not belong to the request".into(),
    }
}

/// Describes the kind of a failed request.
pub(crate) fn request_kind(error: &ServiceError) -> Text {
    match (error, request_cause(error)) {
        (_, Some(TransportCause::Status { status, .. })) => format!("status {status}").into(),
        (ServiceError::McpError(error), _) => {
            text!("it refuses with the code {code}", code = error.code.0)
        }
        (ServiceError::TransportSend(_) | ServiceError::TransportClosed, _) => {
            "the connection broke, or what came over it was no answer".into()
        }
        (ServiceError::Timeout { .. }, _) => "no answer in time".into(),
        _ => "its answer does not belong to the request".into(),
    }
}

/// Whether a call ended with status 400, or with an error that names no request. Some servers use
/// both to report an unknown session.
pub(crate) fn is_bad_request<T>(outcome: &Result<T, ToolFailure>) -> bool {
    outcome.as_ref().is_err_and(|failure| {
        let details = &failure.error.details;
        details.contains_key(UNREAD)
            || (failure.error.has_reason(Reason::McpHttpStatus)
                && details.get("status") == Some(&400.into()))
    })
}

/// Marks a call that ended with an error that names no request.
const UNREAD: &str = "unread";

/// Whether the server certainly did not read the request of a call.
pub(crate) fn was_not_read<T>(outcome: &Result<T, ToolFailure>) -> bool {
    outcome.as_ref().is_err_and(|failure| {
        failure.error.details.contains_key(UNREAD) && !failure.may_have_happened
    })
}

/// The server answered with an error that names no request. If the error certainly belongs to this
/// request, the server did not read the request, unless the server failed in the middle.
pub(crate) fn unread(server: &str, error: &ErrorData, is_own: bool) -> ToolFailure {
    let refused = request_refused(server, error);
    let may_have_happened = !is_own || i64::from(error.code.0) == INTERNAL;
    ToolFailure { error: refused.error.with(UNREAD, true), may_have_happened }
}

/// Makes the failure for a request that the transport could not complete.
pub(crate) fn transport_failed(
    server: &str,
    lost: Option<TransportCause>,
    secrets: &[SecretString],
) -> ToolFailure {
    match lost {
        Some(TransportCause::Unauthorized(challenge)) => {
            let error = AgentError::new(
                ErrorCode::ToolHttpError,
                text!("The server {server} requires a sign-in.", server),
            )
            .reason(Reason::McpUnauthorized);
            let error = error
                .retryable(false)
                .hint("Sign in to it in Tools, or enter its key in Settings.");
            failure(
                match challenge {
                    Some(words) => error.with("challenge", words),
                    None => error,
                },
                false,
            )
        }
        Some(TransportCause::Status { status: 429, retry_after_ms, .. }) => {
            let error = AgentError::new(
                ErrorCode::RateLimited,
                text!("The server {server} asks to slow down.", server),
            )
            .reason(Reason::UpstreamRateLimit);
            failure(with_wait(error.with("status", 429), retry_after_ms), false)
        }
        Some(TransportCause::Status { status, retry_after_ms, said }) => {
            let message = match said.and_then(|words| shorten(&message_in(&words), secrets)) {
                Some(said) => text!(
                    "The server {server} failed ({status}) and said: \u{201c}{said}\u{201d}.",
                    server,
                    status,
                    said
                ),
                None => text!("The server {server} failed ({status}).", server, status),
            };
            let error =
                AgentError::new(ErrorCode::ToolHttpError, message).reason(Reason::McpHttpStatus);
            // Only an explicit refusal proves that the call did not run. A proxy may return 503
            // after the server received the request.
            let refused = matches!(status, 400..=499 | 501);
            failure(
                with_wait(error.with("status", status).retryable(status >= 500), retry_after_ms),
                !refused,
            )
        }
        Some(TransportCause::Obstacle(Obstacle::NoConnection)) => {
            broken_connection(text!("The server {server} cannot be reached.", server))
        }
        Some(TransportCause::Obstacle(obstacle)) => broken_connection(obstacle.text(server)),
        Some(TransportCause::Page) => {
            unexpected_answer(server, "it is a web page, or something else that is no answer")
        }
        Some(TransportCause::NoMessage) => {
            unexpected_answer(server, "it is JSON that is no message of the protocol")
        }
        Some(TransportCause::Private) => {
            let message = text!(
                "The server {server} leads to an address that its pack may not reach.",
                server
            );
            broken_connection(message)
        }
        None => self::connection_lost(server, true),
    }
}

fn with_wait(error: AgentError, ms: Option<u64>) -> AgentError {
    match ms {
        Some(ms) => error.with("retry_after_ms", ms),
        None => error,
    }
}

fn broken_connection(message: Text) -> ToolFailure {
    let error = AgentError::new(ErrorCode::ToolHttpError, message)
        .reason(Reason::McpNotConnected)
        .retryable(true);
    failure(error.hint("Check the connection, then try again."), false)
}

/// Makes the failure for a server that requires a sign-in of the user.
pub(crate) fn sign_in(server: &str) -> ToolFailure {
    let error = AgentError::new(
        ErrorCode::ToolHttpError,
        text!("You are not signed in to {server}.", server),
    )
    .reason(Reason::McpSignIn)
    .retryable(false);
    failure(error.hint("Open Tools and sign in to the server there."), false)
}

/// Makes the failure for a tool that may not be called with its current definition.
pub(crate) fn tool_not_allowed(error: AgentError) -> ToolFailure {
    failure(error, false)
}

fn failure(error: AgentError, may_have_happened: bool) -> ToolFailure {
    ToolFailure { error, may_have_happened }
}

/// Makes the failure for a server name that does not exist.
pub(crate) fn unknown_server(server: &str) -> ToolFailure {
    let error = AgentError::new(
        ErrorCode::ToolNotFound,
        text!("There is no server named {server}.", server),
    )
    .reason("mcp_unknown_server");
    failure(error.hint("Look at the Tools page for what each pack brings."), false)
}

/// Makes the failure for a server that does not run and could not be started. The call was not
/// sent.
pub(crate) fn not_connected(server: &str, why: &Text) -> ToolFailure {
    let error = AgentError::new(
        ErrorCode::ToolHttpError,
        text!("The server {server} is not running. {why}", server, why),
    )
    .reason(Reason::McpNotConnected)
    .retryable(true);
    failure(
        error.hint("It is started again with the next call. The log has what the server wrote."),
        false,
    )
}

/// Makes the failure for a server whose program cannot be used. Retrying does not help.
pub(crate) fn unusable_program(server: &str, why: &Text) -> ToolFailure {
    let error = AgentError::new(
        ErrorCode::ToolHttpError,
        text!("The server {server} cannot be started. {why}", server, why),
    )
    .reason(Reason::McpNotConnected);
    failure(error.retryable(false).hint("Correct that, then start Countersign again."), false)
}

/// Makes the failure for a call while the app is closing.
pub(crate) fn app_closing(server: &str) -> ToolFailure {
    failure(
        AgentError::new(
            ErrorCode::ToolHttpError,
            text!("The server {server} has been stopped with the app.", server),
        )
        .reason(Reason::McpNotConnected),
        false,
    )
}

/// Makes the failure for a server that ended before it answered.
pub(crate) fn connection_lost(server: &str, sent: bool) -> ToolFailure {
    let error = AgentError::new(
        ErrorCode::ToolHttpError,
        text!("The server {server} stopped before it answered.", server),
    )
    .reason(Reason::McpException)
    .retryable(true);
    failure(error.hint("It is started again with the next call."), sent)
}

/// Makes the failure for a call without an answer in time.
pub(crate) fn timed_out(server: &str, after: Duration, sent: bool) -> ToolFailure {
    let message = text!(
        "The server {server} did not answer within {seconds} seconds.",
        server,
        seconds = after.as_secs_f32()
    );
    failure(AgentError::new(ErrorCode::ToolTimeout, message).reason(Reason::McpTimeout), sent)
}

/// Makes the failure for a call that was cancelled.
pub(crate) fn cancelled(server: &str, sent: bool) -> ToolFailure {
    failure(
        AgentError::internal("cancelled", text!("The call to {server} was stopped.", server)),
        sent,
    )
}

/// Makes the failure for a tool that ran and reported an error.
pub(crate) fn tool_error(text: impl Into<Text>) -> ToolFailure {
    failure(
        AgentError::new(ErrorCode::ToolHttpError, text)
            .reason(Reason::McpToolError)
            .retryable(false),
        false,
    )
}

/// Makes the failure for a request that the server refused.
pub(crate) fn request_refused(server: &str, error: &ErrorData) -> ToolFailure {
    let code = error.code.0;
    let message = words_of(error);
    let text = text!("The server {server} refused the call: {message}", server, message);
    failure(
        AgentError::new(ErrorCode::ToolHttpError, text)
            .reason(Reason::McpException)
            .with("code", code)
            .retryable(false),
        may_have_run(code.into()),
    )
}

/// Makes the failure for an answer that the protocol does not allow for a call.
pub(crate) fn unexpected_answer(server: &str, what: &str) -> ToolFailure {
    failure(
        AgentError::internal(
            Reason::InvalidResponse,
            text!(
                "The server {server} answered in a way this app does not understand: {what}.",
                server,
                what
            ),
        ),
        true,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_http_status_is_read_from_an_error_text_only_in_known_forms() {
        let status = |status, said: &str| {
            let said = (!said.is_empty()).then(|| said.to_owned());
            Some(TransportCause::Status { status, retry_after_ms: None, said })
        };
        for (words, lost) in [
            (
                "HTTP 403 Forbidden: HTTP 401 Unauthorized: no",
                status(403, "HTTP 401 Unauthorized: no"),
            ),
            ("HTTP 413 Payload Too Large: ", status(413, "")),
            ("HTTP 499 <unknown status code>: x", status(499, "x")),
            ("HTTP 401 Unauthorized: ", Some(TransportCause::Unauthorized(None))),
            ("HTTP 403", None),
            ("HTTP 403 Forbidden", None),
            ("HTTP 403 Something: x", None),
            ("HTTP 4030 Forbidden: x", None),
            ("HTTP 40\u{e9}: x", None),
            ("could not parse JSON response as ServerJsonRpcMessage: HTTP 403 Forbidden: x", None),
        ] {
            assert_eq!(parse_status_text(words), lost, "{words}");
        }
    }

    #[test]
    fn only_errors_raised_before_a_call_prove_that_it_did_not_run() {
        for code in [-32_700, -32_600, -32_601, -32_602, -32_769, -31_999, -1, 0, 1, 400] {
            assert!(!may_have_run(code), "{code}");
        }
        for code in [INTERNAL, -32_000, -32_050, -32_099, -32_100, -32_768, -32_599, -32_604] {
            assert!(may_have_run(code), "{code}");
        }
    }
}
