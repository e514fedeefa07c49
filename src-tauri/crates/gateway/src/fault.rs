//! A failure as shown to the caller: the status, the error envelope, and a sentence that is safe to
//! show.

use axum::http::StatusCode;
use contract::{AgentError, ErrorCode, Reason};
use serde_json::{Map, Value, json};

use crate::{json::truncate_text, texts::Text};

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

/// The kind of failure, by who must act.
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

/// A failure in the terms of the chat API's contract.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    pub(crate) category: Category,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) retryable: bool,
    /// Details that are only shown in debug mode.
    pub(crate) details: Map<String, Value>,
    /// The waiting time before a retry, which is always shown.
    pub(crate) retry_after_ms: Option<u64>,
    /// The original error, which only the log may contain.
    pub(crate) cause: Option<Box<Cause>>,
}

/// The host's own description of a failure.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub(crate) reason: String,
    /// The host's message. None if it may contain the shop's own text.
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

    pub(crate) fn with_retryable(self) -> Self {
        Self { retryable: true, ..self }
    }

    pub(crate) fn with_detail(mut self, name: &str, value: impl Into<Value>) -> Self {
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
            Text::TooMany.localize(locale),
        );
        Self { retry_after_ms: Some(retry_after_ms), ..fault }.with_retryable()
    }

    /// Makes the failure for a model that was silent for too long.
    pub(crate) fn model_timeout(locale: &str) -> Self {
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            Category::Upstream,
            "OPENAI_TIMEOUT",
            Text::ModelSlow.localize(locale),
        )
    }

    /// Makes the failure for a turn that exceeded its time limit.
    pub(crate) fn turn_timeout(locale: &str) -> Self {
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            Category::Upstream,
            "TIMEOUT_REQUEST",
            Text::TurnSlow.localize(locale),
        )
        .with_retryable()
    }

    /// Makes the failure for a gateway that shuts down.
    pub(crate) fn stopping(locale: &str) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            Category::Internal,
            "INTERNAL_ERROR",
            Text::Stopping.localize(locale),
        )
        .with_retryable()
    }

    pub(crate) fn internal(locale: &str) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            Category::Internal,
            "INTERNAL_ERROR",
            Text::Failed.localize(locale),
        )
    }

    /// Makes the refusal for an error in the host's settings. Only the operator may see the error's
    /// place and remedy.
    fn not_set_up(locale: &str) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            Category::Internal,
            "INTERNAL_ERROR",
            Text::NotSetUp.localize(locale),
        )
    }

    /// Translates an engine's error. Texts from models and servers are only in the host's log and
    /// are not sent to the caller.
    pub(crate) fn from_error(error: &AgentError, locale: &str) -> Self {
        let upstream = |status, code, text: Text| {
            Self::new(status, Category::Upstream, code, text.localize(locale))
        };
        let found = match (error.code, error.known_reason()) {
            (_, Some(Reason::McpToken)) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                Category::Auth,
                "OAUTH_TOKEN_FETCH_FAILED",
                Text::ShopFailed.localize(locale),
            ),
            // The server sent the error if it has a code. Otherwise the connection broke.
            (_, Some(Reason::McpNotConnected | Reason::McpException))
                if !error.details.contains_key("code") =>
            {
                upstream(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "MCP_TRANSPORT_NETWORK_ERROR",
                    Text::ShopFailed,
                )
                .with_retryable()
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
                upstream(status, "MCP_TRANSPORT_HTTP_ERROR", Text::ShopFailed).with_retryable()
            }
            (_, Some(Reason::InvalidResponse | Reason::InvalidOutput)) => {
                upstream(StatusCode::BAD_GATEWAY, "MCP_PROTOCOL_INVALID_RESPONSE", Text::ShopFailed)
            }
            (_, Some(Reason::McpInitFailed)) => upstream(
                StatusCode::SERVICE_UNAVAILABLE,
                "MCP_PROTOCOL_INIT_FAILED",
                Text::ShopFailed,
            )
            .with_retryable(),
            (ErrorCode::RateLimited, Some(Reason::ProviderRateLimit)) => {
                upstream(StatusCode::TOO_MANY_REQUESTS, "OPENAI_RATE_LIMIT", Text::ModelBusy)
                    .with_retryable()
            }
            (ErrorCode::RateLimited, _) => Self::rate_limited(60_000, locale),
            (ErrorCode::LlmError, Some(Reason::ProviderRefused))
                if is_tools_message(&error.message) =>
            {
                upstream(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "OPENAI_TOOL_SCHEMA_ERROR",
                    Text::ModelFailed,
                )
            }
            (ErrorCode::LlmError, Some(Reason::ProviderUnavailable))
                if is_silence_message(&error.message) =>
            {
                Self::model_timeout(locale)
            }
            (ErrorCode::LlmError, _) => {
                upstream(StatusCode::SERVICE_UNAVAILABLE, "OPENAI_API_ERROR", Text::ModelFailed)
            }
            (ErrorCode::InvalidInput, _) => Self::invalid(Text::NotUnderstood.localize(locale)),
            (ErrorCode::AgentDisabled, _) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                Category::Policy,
                "AGENT_DISABLED",
                Text::SwitchedOff.localize(locale),
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
                    Text::SessionsAway.localize(locale),
                )
                .with_retryable()
            }
            (_, Some(Reason::SettingsUnreadable)) => Self::not_set_up(locale),
            // A budget refused the model call. Only the operator of the host may see the costs and
            // the remedy.
            (ErrorCode::InternalError, Some(Reason::BudgetExceeded)) => {
                upstream(StatusCode::SERVICE_UNAVAILABLE, "OPENAI_API_ERROR", Text::ModelFailed)
            }
            (ErrorCode::ApprovalRequired | ErrorCode::InternalError, _) => Self::internal(locale),
        };
        let found = Self {
            cause: Some(Box::new(Cause::of(error))),
            ..found.with_detail("reason", error.reason_text().unwrap_or_default())
        };
        match error.details.get("retry_after_ms").and_then(Value::as_u64) {
            Some(ms) => Self { retry_after_ms: Some(ms), ..found },
            None => found,
        }
    }

    /// Returns a sentence that is safe to show.
    pub(crate) fn safe_message(&self) -> String {
        let small = self.message.to_lowercase();
        if HIDDEN.iter().any(|word| small.contains(word)) {
            "The request could not be processed.".into()
        } else {
            truncate_text(&self.message, MESSAGE_CHARS)
        }
    }

    /// Returns the reason and the sentence for the log: the original reason and sentence if they
    /// are known, or else the gateway's own.
    pub(crate) fn reason_for_log(&self) -> (&str, Option<&str>) {
        self.cause.as_deref().map_or((self.code, Some(&self.message)), |cause| {
            (&cause.reason, cause.message.as_deref())
        })
    }

    /// Returns the error envelope.
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

/// Whether a model failure is a timeout. The comparison is safe, because this program writes the
/// compared text itself.
fn is_silence_message(message: &str) -> bool {
    message.contains("sent nothing for")
}

/// Whether the model refused the request because of the offered tools.
fn is_tools_message(message: &str) -> bool {
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
        Value::String(text) => json!(truncate_text(text, DETAIL_CHARS)),
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
