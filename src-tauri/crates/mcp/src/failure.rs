//! Failures of calls in the words of the contract: what happened, whether the call may have taken effect, what to do.

use std::time::Duration;

use contract::{AgentError, ErrorCode};
use engine::ports::ToolFailure;

fn failure(error: AgentError, may_have_happened: bool) -> ToolFailure {
    ToolFailure { error, may_have_happened }
}

/// No such server is known.
pub(crate) fn unknown(server: &str) -> ToolFailure {
    let error = AgentError::new(ErrorCode::ToolNotFound, format!("There is no server named {server}.")).reason("mcp_unknown_server");
    failure(error.hint("Look at the Tools page for what each pack brings."), false)
}

/// The server does not run and could not be started: the call was never sent.
pub(crate) fn not_connected(server: &str, why: &str) -> ToolFailure {
    let error = AgentError::new(ErrorCode::ToolHttpError, format!("The server {server} is not running. {why}")).reason("mcp_not_connected").retryable(true);
    failure(error.hint("It is started again with the next call. The log has what the server wrote."), false)
}

/// Its program cannot be used: trying again changes nothing.
pub(crate) fn unusable(server: &str, why: &str) -> ToolFailure {
    let error = AgentError::new(ErrorCode::ToolHttpError, format!("The server {server} cannot be started. {why}")).reason("mcp_not_connected");
    failure(error.retryable(false).hint("Correct that, then start Countersign again."), false)
}

/// The app is closing.
pub(crate) fn stopped(server: &str) -> ToolFailure {
    failure(AgentError::new(ErrorCode::ToolHttpError, format!("The server {server} has been stopped with the app.")).reason("mcp_not_connected"), false)
}

/// The server went away before it answered.
pub(crate) fn lost(server: &str, sent: bool) -> ToolFailure {
    let error = AgentError::new(ErrorCode::ToolHttpError, format!("The server {server} stopped before it answered.")).reason("mcp_exception").retryable(true);
    failure(error.hint("It is started again with the next call."), sent)
}

/// No answer in time.
pub(crate) fn timed_out(server: &str, after: Duration, sent: bool) -> ToolFailure {
    let message = format!("The server {server} did not answer within {} seconds.", after.as_secs_f32());
    failure(AgentError::new(ErrorCode::ToolTimeout, message).reason("mcp_timeout"), sent)
}

/// Somebody stopped the call.
pub(crate) fn cancelled(server: &str, sent: bool) -> ToolFailure {
    failure(AgentError::internal("cancelled", format!("The call to {server} was stopped.")), sent)
}

/// The tool ran and says that it failed.
pub(crate) fn tool_error(text: String) -> ToolFailure {
    failure(AgentError::new(ErrorCode::ToolHttpError, text).reason("mcp_tool_error").retryable(false), false)
}

/// The server refuses the request as such.
pub(crate) fn refused(server: &str, code: i32, message: &str) -> ToolFailure {
    let text = format!("The server {server} refused the call: {message}");
    failure(AgentError::new(ErrorCode::ToolHttpError, text).reason("mcp_exception").with("code", code).retryable(false), false)
}

/// An answer that is none of those the protocol has for a call.
pub(crate) fn odd_answer(server: &str, what: &str) -> ToolFailure {
    failure(AgentError::internal("invalid_response", format!("The server {server} answered in a way this app does not understand: {what}.")), true)
}
