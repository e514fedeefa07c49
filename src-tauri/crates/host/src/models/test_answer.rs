//! The answer to a connection test, worded for a person. `models` makes the test; this module must
//! not reach a server.

use contract::{ModelTestResponse, Text, text};

use super::ConnectionTest;

/// Returns the answer to a test of the offline model, which uses no connection.
pub(crate) fn offline_answer() -> ModelTestResponse {
    ModelTestResponse {
        ok: true,
        message: "The offline model answers on this machine; there is no connection to test."
            .into(),
        hint: None,
        problem: None,
        host: String::new(),
        issuer: None,
        models: Vec::new(),
        capabilities: contract::ModelCapabilities::default(),
    }
}

/// Returns the answer to a connection test in the form that commands return.
pub(crate) fn test_response(tested: ConnectionTest) -> ModelTestResponse {
    let ConnectionTest { host, capabilities, found } = tested;
    match found {
        Ok(checked) => {
            let message = quote_answer(&checked.answer);
            ModelTestResponse {
                ok: true,
                message,
                hint: None,
                problem: None,
                host,
                issuer: None,
                models: checked.models,
                capabilities,
            }
        }
        Err(found) => ModelTestResponse {
            ok: false,
            message: found.error.message_with_quote(),
            hint: found.error.hint,
            problem: Some(found.problem),
            host,
            issuer: found.issuer,
            models: found.models,
            capabilities,
        },
    }
}

fn quote_answer(answer: &str) -> Text {
    let short: String = answer.trim().chars().take(40).collect();
    text!("The model answers: \u{201c}{text}\u{201d}.", text = short)
}
