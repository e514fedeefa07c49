//! Recognises failures by the codes, types and phrases that servers send. The module does not word
//! errors.

use serde_json::Value;

/// Error codes and types that most servers use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownFailure {
    Unauthorized,
    /// The key is known, but has no permission for the request.
    Forbidden,
    NoCredit,
    RateLimited,
    ContextLength,
    /// The requested answer length is too large.
    AnswerLength,
    Overloaded,
    /// A tool's name or schema is refused.
    Tools,
    Other,
}

/// Phrases that servers use if a conversation is longer than the model can read.
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
/// The phrase that servers use if the limit of the answer is too large.
const BOUND_TOO_LARGE: &str = "_tokens' is too large";

impl KnownFailure {
    /// Whether the server's error text may be shown. A text about a rejected key may contain a part
    /// of the key.
    pub(super) fn may_be_quoted(self) -> bool {
        self != Self::Unauthorized
    }

    /// Whether the request may be answered if a part is omitted.
    pub(super) fn may_be_about_a_part(self) -> bool {
        matches!(self, Self::RateLimited | Self::Overloaded | Self::Other)
    }

    pub(super) fn classify_error(error: &Value) -> Self {
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
        // Google states the real reason only in the details.
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            words.push_str(detail.get("reason").and_then(Value::as_str).unwrap_or_default());
            words.push(' ');
        }
        let words = words.to_ascii_lowercase();
        // Some servers state the reason only in their sentence, which is searched and never shown.
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
