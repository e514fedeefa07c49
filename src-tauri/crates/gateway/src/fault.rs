//! A failure as the caller reads it: the status, the envelope, and a sentence that is safe to show.

use axum::http::StatusCode;
use contract::{AgentError, ErrorCode, Reason};
use serde_json::{Map, Value, json};

use crate::{json::cut, texts::Text};

const MESSAGE_CHARS: usize = 500;
const DETAIL_CHARS: usize = 200;
const HIDDEN: [&str; 9] = [
    "token",
    "secret",
    "password",
    "apikey",
    "authorization",
    "bearer",
    "credential",
    "client_id",
    "client_secret",
];

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    Validation,
    Auth,
    Upstream,
    Policy,
    Internal,
}

impl Category {
    fn name(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Auth => "auth",
            Self::Upstream => "upstream",
            Self::Policy => "policy",
            Self::Internal => "internal",
        }
    }
}

/// A failure as the contract words it.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    pub(crate) category: Category,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) retryable: bool,
    /// Told in debug only.
    pub(crate) details: Map<String, Value>,
    /// Told always.
    pub(crate) retry_after_ms: Option<u64>,
    /// The original error, for the log alone.
    pub(crate) cause: Option<Box<Cause>>,
}

/// The host's own words of a failure.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub(crate) reason: String,
    /// None if it may contain a shop's own words.
    pub(crate) message: Option<String>,
}

impl Cause {
    fn of(error: &AgentError) -> Self {
        let message = (error.code != ErrorCode::ToolHttpError).then(|| error.message.clone());
        Self { reason: error.reason_text().unwrap_or_default().to_owned(), message }
    }
}

impl Fault {
    pub(crate) fn new(
        status: StatusCode,
        category: Category,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            status,
            category,
            code,
            message: message.into(),
            retryable: false,
            details: Map::new(),
            retry_after_ms: None,
            cause: None,
        }
    }

    pub(crate) fn retryable(self) -> Self {
        Self { retryable: true, ..self }
    }

    pub(crate) fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            Category::Validation,
            "VALIDATION_REQUEST_INVALID",
            message,
        )
    }

    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, Category::Auth, "AUTHZ_UNAUTHORIZED", message)
    }

    pub(crate) fn rate_limited(retry_after_ms: u64, locale: &str) -> Self {
        let fault = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            Category::Policy,
            "RATE_LIMITED",
            Text::TooMany.of(locale),
        );
        Self { retry_after_ms: Some(retry_after_ms), ..fault }.retryable()
    }

    /// The model said nothing for too long.
    pub(crate) fn model_timeout(locale: &str) -> Self {
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            Category::Upstream,
            "OPENAI_TIMEOUT",
            Text::ModelSlow.of(locale),
        )
    }

    /// The turn took too long as a whole.
    pub(crate) fn turn_timeout(locale: &str) -> Self {
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            Category::Upstream,
            "TIMEOUT_REQUEST",
            Text::TurnSlow.of(locale),
        )
        .retryable()
    }

    /// The gateway ends.
    pub(crate) fn stopping(locale: &str) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            Category::Internal,
            "INTERNAL_ERROR",
            Text::Stopping.of(locale),
        )
        .retryable()
    }

    pub(crate) fn internal(locale: &str) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            Category::Internal,
            "INTERNAL_ERROR",
            Text::Failed.of(locale),
        )
    }

    /// A failure of the engine. Words of models and servers stay here: they go into the log of the
    /// host and nowhere else.
    pub(crate) fn of(error: &AgentError, locale: &str) -> Self {
        let upstream =
            |status, code, text: Text| Self::new(status, Category::Upstream, code, text.of(locale));
        let found = match (error.code, error.known_reason()) {
            (_, Some(Reason::McpToken)) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                Category::Auth,
                "OAUTH_TOKEN_FETCH_FAILED",
                Text::ShopFailed.of(locale),
            ),
            // With a code the server has refused; without one the connection broke.
            (_, Some(Reason::McpNotConnected | Reason::McpException))
                if !error.details.contains_key("code") =>
            {
                upstream(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "MCP_TRANSPORT_NETWORK_ERROR",
                    Text::ShopFailed,
                )
                .retryable()
            }
            (
                _,
                Some(Reason::McpHttpStatus | Reason::McpUnauthorized | Reason::UpstreamRateLimit),
            ) => {
                let own = error
                    .details
                    .get("status")
                    .and_then(Value::as_u64)
                    .is_some_and(|status| status >= 500);
                let status =
                    if own { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::BAD_GATEWAY };
                upstream(status, "MCP_TRANSPORT_HTTP_ERROR", Text::ShopFailed).retryable()
            }
            (_, Some(Reason::InvalidResponse | Reason::InvalidOutput)) => {
                upstream(StatusCode::BAD_GATEWAY, "MCP_PROTOCOL_INVALID_RESPONSE", Text::ShopFailed)
            }
            (_, Some(Reason::McpInitFailed)) => upstream(
                StatusCode::SERVICE_UNAVAILABLE,
                "MCP_PROTOCOL_INIT_FAILED",
                Text::ShopFailed,
            )
            .retryable(),
            (ErrorCode::RateLimited, Some(Reason::ProviderRateLimit)) => {
                upstream(StatusCode::TOO_MANY_REQUESTS, "OPENAI_RATE_LIMIT", Text::ModelBusy)
                    .retryable()
            }
            (ErrorCode::RateLimited, _) => Self::rate_limited(60_000, locale),
            (ErrorCode::LlmError, Some(Reason::ProviderRefused))
                if speaks_of_tools(&error.message) =>
            {
                upstream(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "OPENAI_TOOL_SCHEMA_ERROR",
                    Text::ModelFailed,
                )
            }
            (ErrorCode::LlmError, Some(Reason::ProviderUnavailable))
                if speaks_of_silence(&error.message) =>
            {
                Self::model_timeout(locale)
            }
            (ErrorCode::LlmError, _) => {
                upstream(StatusCode::SERVICE_UNAVAILABLE, "OPENAI_API_ERROR", Text::ModelFailed)
            }
            (ErrorCode::InvalidInput, _) => Self::invalid(Text::NotUnderstood.of(locale)),
            (ErrorCode::AgentDisabled, _) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                Category::Policy,
                "AGENT_DISABLED",
                Text::SwitchedOff.of(locale),
            ),
            (ErrorCode::ToolTimeout, _) => Self::turn_timeout(locale),
            (ErrorCode::ToolHttpError | ErrorCode::ToolNotFound, _) => {
                upstream(StatusCode::BAD_GATEWAY, "MCP_TOOL_EXECUTION_FAILED", Text::ShopFailed)
            }
            (ErrorCode::InternalError, Some(Reason::SessionsAway)) => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Self::new(
                    status,
                    Category::Internal,
                    "SESSION_STORE_UNAVAILABLE",
                    Text::SessionsAway.of(locale),
                )
                .retryable()
            }
            // The model may not be asked: what it has cost, and what may be done about it, is for
            // whoever runs the host.
            (ErrorCode::InternalError, Some(Reason::BudgetExceeded)) => {
                upstream(StatusCode::SERVICE_UNAVAILABLE, "OPENAI_API_ERROR", Text::ModelFailed)
            }
            (ErrorCode::ApprovalRequired | ErrorCode::InternalError, _) => Self::internal(locale),
        };
        let found = Self {
            cause: Some(Box::new(Cause::of(error))),
            ..found.detail("reason", error.reason_text().unwrap_or_default())
        };
        match error.details.get("retry_after_ms").and_then(Value::as_u64) {
            Some(ms) => Self { retry_after_ms: Some(ms), ..found },
            None => found,
        }
    }

    /// The sentence that may be shown.
    pub(crate) fn safe_message(&self) -> String {
        let small = self.message.to_lowercase();
        if HIDDEN.iter().any(|word| small.contains(word)) {
            "The request could not be processed.".into()
        } else {
            cut(&self.message, MESSAGE_CHARS)
        }
    }

    /// The reason and the sentence for the log: what was said where it happened, or the gateway's
    /// own.
    pub(crate) fn why(&self) -> (&str, Option<&str>) {
        self.cause.as_deref().map_or((self.code, Some(&self.message)), |cause| {
            (&cause.reason, cause.message.as_deref())
        })
    }

    /// The envelope.
    pub(crate) fn envelope(&self, request_id: &str, debug: bool) -> Value {
        let mut details = if debug { safe_details(&self.details) } else { Map::new() };
        details.extend(self.retry_after_ms.map(|ms| ("retryAfterMs".to_owned(), json!(ms))));
        let mut envelope = json!({
            "category": self.category.name(),
            "code": self.code,
            "message": self.safe_message(),
            "retryable": self.retryable,
            "requestId": request_id,
        });
        if !details.is_empty() {
            envelope["details"] = Value::Object(details);
        }
        envelope
    }
}

/// Whether a model's failure is that nothing came. The sentences are this program's own.
fn speaks_of_silence(message: &str) -> bool {
    message.contains("sent nothing for")
}

/// Whether a model's refusal is about the tools it was offered.
fn speaks_of_tools(message: &str) -> bool {
    let small = message.to_lowercase();
    ["tool", "function", "schema"].iter().any(|word| small.contains(word))
}

fn safe_details(details: &Map<String, Value>) -> Map<String, Value> {
    let hidden = |name: &str| {
        HIDDEN.iter().any(|word| {
            name.to_lowercase().replace(['-', '_'], "").contains(&word.replace('_', ""))
        })
    };
    let shown = |value: &Value| match value {
        Value::String(text) => json!(cut(text, DETAIL_CHARS)),
        Value::Object(_) | Value::Array(_) => json!("[object]"),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    };
    details
        .iter()
        .filter(|(name, _)| !hidden(name))
        .map(|(name, value)| (name.clone(), shown(value)))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
