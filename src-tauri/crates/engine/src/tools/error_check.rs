//! Checks a tool's own error against the schema that the tool declares for its errors.

use contract::{AgentError, Reason, ToolSpec};
use serde_json::{Value, json};

use super::schema::Validators;

/// The name of the detail of an error that does not match the declared schema. Its value is false.
const DETAIL: &str = "fits_error_schema";

/// Marks an error that does not match the tool's error schema, so that models, people and records
/// do not treat it as a documented error. Otherwise the error is not changed.
pub(crate) fn check_error(
    validators: &Validators,
    spec: &ToolSpec,
    error: AgentError,
) -> AgentError {
    let Some(own) = own_error(spec, &error) else { return error };
    let key = format!("error {}", spec.error_schema);
    let problems = validators.result_problems(&key, &spec.error_schema, &own);
    if problems.is_empty() {
        return error;
    }
    tracing::warn!(tool = %spec.id, ?problems, "an error does not fit its schema");
    error.with(DETAIL, false)
}

/// Returns the tool's own description of the error, or none if there is none, for example after a
/// failed connection.
fn own_error(spec: &ToolSpec, error: &AgentError) -> Option<Value> {
    if let Some(answer) = error.details.get("answer").filter(|answer| answer.is_object()) {
        return Some(answer.clone());
    }
    let is_own = spec.target.words_each_error() || error.has_reason(Reason::McpToolError);
    is_own.then(|| {
        json!({
            "code": error.code, "message": error.message, "retryable": error.retryable,
            "details": error.details,
        })
    })
}
