//! How the two ways of running a tool say that they failed.

use contract::{AgentError, ErrorCode};
use engine::ports::ToolFailure;

/// Nothing left this machine, and nothing ran.
pub(crate) fn not_started(error: AgentError) -> ToolFailure {
    ToolFailure { error, may_have_happened: false }
}

/// The other side may have done it.
pub(crate) fn maybe_done(error: AgentError) -> ToolFailure {
    ToolFailure { error, may_have_happened: true }
}

/// A value that cannot be put where the manifest wants it.
pub(crate) fn bad_value(name: &str, problem: impl std::fmt::Display) -> AgentError {
    AgentError::invalid(format!("The value of {name} cannot be used: {problem}."))
        .reason("unusable_value")
        .with("validation", serde_json::json!([{"path": format!("/{name}"), "problem": problem.to_string()}]))
}

/// The manifest asks for something that cannot be done as it stands.
pub(crate) fn config(message: impl Into<String>, hint: &str) -> AgentError {
    AgentError::internal("tool_config_error", message).hint(hint)
}

/// The other side could not be reached, or not be understood.
pub(crate) fn http(message: impl Into<String>) -> AgentError {
    AgentError::new(ErrorCode::ToolHttpError, message)
}
