//! Builds the failures of HTTP tools and program tools.

use contract::{AgentError, ErrorCode, Text, text};
use engine::ports::ToolFailure;

/// A failure before the request was sent or the program ran.
pub(crate) fn not_started(error: AgentError) -> ToolFailure {
    ToolFailure { error, may_have_happened: false }
}

/// A failure after which the call may have taken effect.
pub(crate) fn possibly_executed_failure(error: AgentError) -> ToolFailure {
    ToolFailure { error, may_have_happened: true }
}

/// The error for a value that cannot be inserted where the manifest uses it.
pub(crate) fn bad_value(name: &str, problem: &str) -> AgentError {
    AgentError::invalid(text!("The value of {name} cannot be used: {problem}.", name, problem))
        .reason("unusable_value")
        .with("validation", serde_json::json!([{"path": format!("/{name}"), "problem": problem}]))
}

/// The error for a manifest that requests something impossible.
pub(crate) fn config(message: impl Into<Text>, hint: &str) -> AgentError {
    AgentError::internal("tool_config_error", message).hint(hint)
}

/// The error for a server that could not be reached, or sent an invalid answer.
pub(crate) fn http_error(message: impl Into<Text>) -> AgentError {
    AgentError::new(ErrorCode::ToolHttpError, message)
}
