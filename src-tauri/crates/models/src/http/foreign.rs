//! Finds the error in data that a server sent with status 200 but that is not an answer: an event
//! of another kind, or another JSON text. The module does not read answers.

use engine::ports::ModelError;
use serde_json::Value;

use super::failure::{Failure, classify, not_the_protocol, parse_stream_error};
use super::server_message;

/// Returns the error in an event that is not a piece of an answer, if the event is an error.
pub(super) fn in_foreign_event(name: &str, data: &str) -> Option<ModelError> {
    let may_be = name == "error" || data.contains("\"error\"");
    let value = may_be.then(|| serde_json::from_str(data).unwrap_or_else(|_| data.into()));
    let value: Value = value?;
    let is = |member: &str| value.get(member).is_some_and(|kind| kind == "error");
    (name == "error" || is("object") || is("type")).then(|| parse_stream_error(&value))
}

/// Makes the failure for a complete text that is not an answer. Uses the server's sentence in the
/// text, if there is one.
pub(super) fn of_foreign_answer(text: &str) -> Failure {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if server_message::sentence(&value).is_some() => {
            Failure { retry: false, ..classify(parse_stream_error(&value)) }
        }
        Ok(_) | Err(_) => Failure::permanent(not_the_protocol()),
    }
}
