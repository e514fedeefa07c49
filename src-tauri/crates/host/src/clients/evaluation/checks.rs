//! Parses the checks of a scenario and compares them with its outcome. Pure.

use contract::{
    AgentError, CONTRACT_VERSION, ErrorCode,
    manifest::{CheckResult, ScenarioStatus},
};

/// The outcome of a scenario.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) output: String,
    pub(super) error: Option<AgentError>,
    /// The contract version in the response.
    pub(super) version: Option<String>,
    pub(super) tools: Vec<String>,
    /// The numbers of messages in the conversation after the last message, and before it.
    pub(super) messages: usize,
    pub(super) earlier_messages: Option<usize>,
}

/// Compares an outcome with one check.
pub(super) fn check(check: &str, outcome: &Outcome) -> CheckResult {
    let (expected, actual, holds) = run_check(check.trim(), outcome).unwrap_or_else(|| {
        ("a check that is known".into(), "this check is not known".into(), false)
    });
    let result = if holds { ScenarioStatus::Passed } else { ScenarioStatus::Failed };
    CheckResult { check: check.to_owned(), result, actual, expected }
}

fn run_check(check: &str, outcome: &Outcome) -> Option<(String, String, bool)> {
    let error = outcome.error.as_ref();
    let equal = |expected: &str, actual: String| {
        Some((expected.to_owned(), actual.clone(), actual == expected))
    };
    match check {
        "output is non-empty" => {
            return Some((
                "some text".into(),
                shorten(&outcome.output),
                !outcome.output.trim().is_empty(),
            ));
        }
        "contract_version preserved" => {
            return equal(
                CONTRACT_VERSION,
                outcome.version.clone().unwrap_or_else(|| "none".to_owned()),
            );
        }
        "messages_count increases" => {
            let before = outcome.earlier_messages.unwrap_or(0);
            return Some((
                format!("more than {before}"),
                outcome.messages.to_string(),
                outcome.messages > before,
            ));
        }
        "queued_file exists" => {
            return Some(("a queued file".into(), "this app queues no requests".into(), false));
        }
        _ => {}
    }
    if let Some((left, right)) = check.split_once("==") {
        let right = right.trim();
        return match left.trim() {
            "http status" => equal(right, http_status(error).to_string()),
            "status" => equal(right, if error.is_none() { "ok" } else { "error" }.to_owned()),
            "retryable" => equal(right, error.is_some_and(|e| e.retryable).to_string()),
            "exit code" => equal(right, exit_code(error).to_string()),
            "code" => equal(right, error.map_or_else(|| "none".to_owned(), |e| code_name(e.code))),
            "reason" => {
                equal(right, error.and_then(AgentError::reason_text).unwrap_or("none").to_owned())
            }
            _ => None,
        };
    }
    let (left, right) = check.split_once(" contains ")?;
    let wanted = right.trim().trim_matches('"');
    match left.trim() {
        "output" => {
            Some((wanted.to_owned(), shorten(&outcome.output), outcome.output.contains(wanted)))
        }
        "tools_used" => Some((
            wanted.to_owned(),
            outcome.tools.join(", "),
            outcome.tools.iter().any(|tool| tool == wanted),
        )),
        _ => None,
    }
}

fn code_name(code: ErrorCode) -> String {
    serde_json::to_value(code)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn shorten(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Returns the HTTP status that an adapter would send for this error.
fn http_status(error: Option<&AgentError>) -> u16 {
    let Some(error) = error else { return 200 };
    match error.code {
        ErrorCode::InvalidInput | ErrorCode::ToolNotFound => 400,
        ErrorCode::AgentDisabled => 503,
        ErrorCode::ApprovalRequired => 409,
        ErrorCode::ToolTimeout => 504,
        ErrorCode::ToolHttpError | ErrorCode::LlmError => 502,
        ErrorCode::RateLimited => 429,
        ErrorCode::InternalError => 500,
    }
}

/// Returns the exit code of `csign` for this error.
fn exit_code(error: Option<&AgentError>) -> u8 {
    match error.map(|error| error.code) {
        None => 0,
        Some(ErrorCode::ApprovalRequired) => 3,
        Some(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_run_12_each_kind_of_scenario_check_passes_and_fails_as_specified() {
        let version = Some(CONTRACT_VERSION.to_owned());
        let done = Outcome {
            output: "Hello, Ada!".into(),
            tools: vec!["greet".into()],
            version: version.clone(),
            messages: 4,
            earlier_messages: Some(2),
            ..Outcome::default()
        };
        let old = Outcome { version: Some("0.9".into()), ..Outcome::default() };
        let off = Outcome {
            version,
            error: Some(AgentError::new(ErrorCode::AgentDisabled, "off")),
            ..Outcome::default()
        };
        let asks = Outcome {
            error: Some(AgentError::new(ErrorCode::ApprovalRequired, "ask")),
            ..Outcome::default()
        };
        for (text, outcome, holds) in [
            ("http status == 200", &done, true),
            ("status == ok", &done, true),
            ("status == ok", &off, false),
            ("http status == 503", &off, true),
            ("code == agent_disabled", &off, true),
            ("retryable == false", &off, true),
            ("http status == 409", &asks, true),
            ("exit code == 3", &asks, true),
            ("exit code == 0", &done, true),
            ("output is non-empty", &done, true),
            ("output is non-empty", &off, false),
            ("output contains \"Ada\"", &done, true),
            ("tools_used contains greet", &done, true),
            ("tools_used contains gree", &done, false),
            ("contract_version preserved", &off, true),
            ("contract_version preserved", &done, true),
            ("contract_version preserved", &old, false),
            ("messages_count increases", &done, true),
            ("queued_file exists", &done, false),
            ("the moon is full", &done, false),
            ("colour == red", &done, false),
        ] {
            let found = check(text, outcome);
            assert_eq!(found.result == ScenarioStatus::Passed, holds, "{found:?}");
            assert!(!found.expected.is_empty(), "{found:?}");
        }
    }
}
