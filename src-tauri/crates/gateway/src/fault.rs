//! A failure as the caller gets it: the status, the error envelope, and a sentence that is safe to
//! show.

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

/// The kind of failure, by who has to act.
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

/// A failure in the terms of the contract.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    pub(crate) category: Category,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) retryable: bool,
    /// Details that are shown in debug mode only.
    pub(crate) details: Map<String, Value>,
    /// The waiting time before a retry, which is always shown.
    pub(crate) retry_after_ms: Option<u64>,
    /// The original error, for the log alone.
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

    /// Makes the failure for a model that was silent for too long.
    pub(crate) fn model_timeout(locale: &str) -> Self {
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            Category::Upstream,
            "OPENAI_TIMEOUT",
            Text::ModelSlow.of(locale),
        )
    }

    /// Makes the failure for a turn that exceeded its time limit.
    pub(crate) fn turn_timeout(locale: &str) -> Self {
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            Category::Upstream,
            "TIMEOUT_REQUEST",
            Text::TurnSlow.of(locale),
        )
        .retryable()
    }

    /// Makes the failure for a gateway that shuts down.
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

    /// Translates an engine's error. Texts of models and servers go only into the host's log, not
    /// to the caller.
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
            // An error with a code was sent by the server. Without a code the connection broke.
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
            // A budget refused the model call. The costs and the remedy concern only the operator
            // of the host.
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

    /// Returns a sentence that is safe to show.
    pub(crate) fn safe_message(&self) -> String {
        let small = self.message.to_lowercase();
        if HIDDEN.iter().any(|word| small.contains(word)) {
            "The request could not be processed.".into()
        } else {
            cut(&self.message, MESSAGE_CHARS)
        }
    }

    /// Returns the reason and the sentence for the log: the original ones if they are known, or
    /// else the gateway's own.
    pub(crate) fn why(&self) -> (&str, Option<&str>) {
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

/// Whether a model failure is a timeout. The text compared with is this program's own.
fn speaks_of_silence(message: &str) -> bool {
    message.contains("sent nothing for")
}

/// Whether a model refused the request because of the offered tools.
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
mod tests {
    use super::*;

    #[test]
    fn section_5_failures_of_models_and_shops_have_their_rows() {
        let error =
            |code, reason: &str, message: &str| AgentError::new(code, message).reason(reason);
        let llm = ErrorCode::LlmError;
        for (error, status, category, code, retryable) in [
            (
                error(ErrorCode::RateLimited, "provider_rate_limit", "quota"),
                429,
                "upstream",
                "OPENAI_RATE_LIMIT",
                true,
            ),
            (
                error(llm, "provider_unavailable", "host sent nothing for 60 seconds."),
                504,
                "upstream",
                "OPENAI_TIMEOUT",
                false,
            ),
            (
                error(llm, "provider_unavailable", "host cannot answer"),
                503,
                "upstream",
                "OPENAI_API_ERROR",
                false,
            ),
            (
                error(llm, "provider_unauthorized", "the token is wrong"),
                503,
                "upstream",
                "OPENAI_API_ERROR",
                false,
            ),
            (
                error(llm, "provider_refused", "host refused the tools as they are described"),
                500,
                "upstream",
                "OPENAI_TOOL_SCHEMA_ERROR",
                false,
            ),
            (
                error(llm, "provider_refused", "host refused the request"),
                503,
                "upstream",
                "OPENAI_API_ERROR",
                false,
            ),
            (
                error(llm, "provider_protocol", "gibberish"),
                503,
                "upstream",
                "OPENAI_API_ERROR",
                false,
            ),
            (
                error(llm, "provider_too_long", "the conversation is too long"),
                503,
                "upstream",
                "OPENAI_API_ERROR",
                false,
            ),
            (
                error(ErrorCode::InternalError, "budget_exceeded", "550 tokens of 9000"),
                503,
                "upstream",
                "OPENAI_API_ERROR",
                false,
            ),
            (
                error(ErrorCode::ToolTimeout, "", "gibberish"),
                504,
                "upstream",
                "TIMEOUT_REQUEST",
                true,
            ),
            (
                error(ErrorCode::InternalError, "unexpected", "gibberish"),
                500,
                "internal",
                "INTERNAL_ERROR",
                false,
            ),
        ] {
            let fault = Fault::of(&error, "en");
            assert_eq!(
                (fault.status.as_u16(), fault.category.name(), fault.code, fault.retryable),
                (status, category, code, retryable),
                "{}",
                error.message
            );
            assert!(!fault.safe_message().contains(&error.message), "its words stay here");
        }
    }

    #[test]
    fn section_5_no_sentence_with_a_hidden_word_is_shown() {
        for word in HIDDEN {
            for word in [word.to_owned(), word.to_uppercase()] {
                let shown = Fault::invalid(format!("The {word} is 17.")).safe_message();
                assert!(!shown.contains("17") && !shown.is_empty(), "{word}: {shown}");
            }
        }
        assert_eq!(Fault::invalid("The quantity is 17.").safe_message(), "The quantity is 17.");
    }

    #[test]
    fn section_5_details_name_no_secret_and_stay_short_and_flat() {
        let names = [
            "token",
            "accessToken",
            "clientSecret",
            "client-id",
            "client_id",
            "Password",
            "API_KEY",
            "api-key",
            "Authorization",
            "bearer",
            "myCredentials",
        ];
        let fault =
            names.iter().fold(Fault::invalid("no"), |fault, name| fault.detail(name, "hidden"));
        let fault = fault
            .detail("exact", "å".repeat(200))
            .detail("long", "å".repeat(201))
            .detail("list", json!(["hidden"]))
            .detail("nested", json!({"a": "hidden"}));
        let fault = fault.detail("field", "message").detail("limit", 4_000).detail("open", true);
        let told = fault.envelope("r", true)["details"].clone();
        let (cut, marker) = ("å".repeat(200), "[object]");
        assert_eq!(
            told,
            json!({"exact": cut, "long": cut, "list": marker, "nested": marker, "field": "message", "limit": 4_000, "open": true})
        );
    }

    #[test]
    fn section_5_a_sentence_has_five_hundred_characters_at_most() {
        for (length, told) in [(499, 499), (500, 500), (501, 500)] {
            let message = "å".repeat(length);
            let envelope = Fault::invalid(&message).envelope("r", false);
            assert_eq!(envelope["message"], message.chars().take(told).collect::<String>());
        }
    }

    #[test]
    fn section_5_failures_of_the_shop_have_their_codes() {
        let http = |reason: &str| {
            AgentError::new(ErrorCode::ToolHttpError, "The database is on fire.").reason(reason)
        };
        let status = |status: u16| http("mcp_http_status").with("status", status);
        for (error, status, category, code, retryable) in [
            (http("mcp_token"), 503, Category::Auth, "OAUTH_TOKEN_FETCH_FAILED", false),
            (
                http("mcp_not_connected"),
                503,
                Category::Upstream,
                "MCP_TRANSPORT_NETWORK_ERROR",
                true,
            ),
            (http("mcp_exception"), 503, Category::Upstream, "MCP_TRANSPORT_NETWORK_ERROR", true),
            (status(500), 503, Category::Upstream, "MCP_TRANSPORT_HTTP_ERROR", true),
            (status(503), 503, Category::Upstream, "MCP_TRANSPORT_HTTP_ERROR", true),
            (status(403), 502, Category::Upstream, "MCP_TRANSPORT_HTTP_ERROR", true),
            (
                AgentError::internal("invalid_response", "odd"),
                502,
                Category::Upstream,
                "MCP_PROTOCOL_INVALID_RESPONSE",
                false,
            ),
            (
                AgentError::internal("invalid_output", "odd"),
                502,
                Category::Upstream,
                "MCP_PROTOCOL_INVALID_RESPONSE",
                false,
            ),
            (http("mcp_init_failed"), 503, Category::Upstream, "MCP_PROTOCOL_INIT_FAILED", true),
            (http("mcp_tool_error"), 502, Category::Upstream, "MCP_TOOL_EXECUTION_FAILED", false),
            (
                http("mcp_exception").with("code", -32_602),
                502,
                Category::Upstream,
                "MCP_TOOL_EXECUTION_FAILED",
                false,
            ),
            (
                http("mcp_refused").with("code", -32_602),
                502,
                Category::Upstream,
                "MCP_TOOL_EXECUTION_FAILED",
                false,
            ),
            (
                AgentError::new(ErrorCode::ToolTimeout, "slow").reason("mcp_timeout"),
                504,
                Category::Upstream,
                "TIMEOUT_REQUEST",
                true,
            ),
        ] {
            let fault = Fault::of(&error, "en");
            assert_eq!(
                (fault.status.as_u16(), fault.category, fault.code, fault.retryable),
                (status, category, code, retryable),
                "{error:?}"
            );
            assert!(
                !fault.envelope("r", true).to_string().contains("on fire"),
                "the shop's words stay here"
            );
            assert!(
                !format!("{:?}", fault.cause).contains("on fire"),
                "and do not come into the log"
            );
        }
    }

    #[test]
    fn nothing_secret_and_nothing_long_is_told() {
        let fault = Fault::invalid("The Bearer abc was wrong");
        assert_eq!(fault.safe_message(), "The request could not be processed.");
        assert_eq!(Fault::invalid("x".repeat(900)).safe_message().chars().count(), 500);
        let fault = Fault::invalid("no")
            .detail("apiKey", "1")
            .detail("long", "y".repeat(900))
            .detail("nested", json!({"a": 1}));
        assert!(fault.envelope("r", false).get("details").is_none());
        let details = &fault.envelope("r", true)["details"];
        assert_eq!((details.get("apiKey"), details["nested"].as_str()), (None, Some("[object]")));
        assert_eq!(details["long"].as_str().unwrap().len(), 200);
    }
}
