//! Parses and checks a run request: size, JSON, fields and version. Each problem is reported with
//! its location.

use contract::{
    AgentError, CONTRACT_VERSION, REQUEST_ID_CHARS, RUN_REQUEST_BYTES, ResponseMode, RunRequest,
    text,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

const FIELDS: [&str; 6] =
    ["contract_version", "request_id", "input", "conversation_id", "context", "options"];
const REQUIRED: [&str; 3] = ["contract_version", "request_id", "input"];

/// A check that returns the problem of a value, or none if the value is valid.
type Misfit = fn(&Value) -> Option<String>;
/// The fields of a request and the types of their values.
const TYPES: [(&str, Misfit); 8] = [
    ("/contract_version", type_problem::<String>),
    ("/request_id", type_problem::<String>),
    ("/input", type_problem::<String>),
    ("/conversation_id", type_problem::<Option<String>>),
    ("/context", type_problem::<Map<String, Value>>),
    ("/options", type_problem::<Map<String, Value>>),
    ("/options/response_mode", type_problem::<ResponseMode>),
    ("/options/max_output_tokens", type_problem::<Option<u32>>),
];

fn type_problem<T: DeserializeOwned>(value: &Value) -> Option<String> {
    T::deserialize(value).err().map(|e| e.to_string())
}

/// Returns the request's id if it can be read, and null otherwise.
pub(super) fn request_id(text: &str) -> Value {
    if text.len() > RUN_REQUEST_BYTES {
        return Value::Null;
    }
    contract::run_ids(text).map(|[id, _]| id).filter(Value::is_string).unwrap_or_default()
}

/// Returns the error for a problem in a request.
pub(super) fn problem(path: &str, problem: &str) -> AgentError {
    invalid(vec![json!({"path": path, "problem": problem})])
}

fn invalid(problems: Vec<Value>) -> AgentError {
    let first = problems.first().map(|p| {
        format!(
            "{} {}",
            p["path"].as_str().unwrap_or_default(),
            p["problem"].as_str().unwrap_or_default()
        )
    });
    AgentError::invalid(text!(
        "The request does not fit: {problem}.",
        problem = first.unwrap_or_default().trim()
    ))
    .reason("invalid_request")
    .with("validation", problems)
}

/// Parses and checks a request. `most` is the most characters of the input.
pub(super) fn read(text: &str, most: usize) -> Result<RunRequest, AgentError> {
    if text.len() > RUN_REQUEST_BYTES {
        return Err(AgentError::invalid("The request is longer than 1 MiB.")
            .reason("request_too_large")
            .with("limit", RUN_REQUEST_BYTES)
            .hint("Send less; long data belongs where a tool can read it."));
    }
    let value: Value = serde_json::from_str(text).map_err(|e| {
        AgentError::invalid(text!(
            "The request is not JSON: line {line}, column {column}.",
            line = e.line(),
            column = e.column()
        ))
        .reason("invalid_json")
    })?;
    // The request's context becomes arguments of calls, so its numbers must be exact.
    contract::arguments::check_numbers(text).map_err(|error| error.reason("invalid_request"))?;
    let Some(members) = value.as_object() else {
        return Err(problem("", "must be an object"));
    };
    let unknown = members
        .keys()
        .filter(|name| !FIELDS.contains(&name.as_str()))
        .map(|name| json!({"path": format!("/{name}"), "problem": "is not a field of a request"}));
    let missing = REQUIRED
        .iter()
        .filter(|name| !members.contains_key(**name))
        .map(|name| json!({"path": format!("/{name}"), "problem": "is missing"}));
    let wrong = TYPES.iter().filter_map(|(path, misfit)| {
        Some(json!({"path": path, "problem": misfit(value.pointer(path)?)?}))
    });
    let mut problems: Vec<Value> = unknown.chain(missing).chain(wrong).collect();
    if problems.is_empty() {
        match serde_json::from_value::<RunRequest>(value) {
            Ok(request) => {
                problems = find_problems(&request, most);
                if problems.is_empty() {
                    check_version(&request.contract_version)?;
                    check_mode(request.options.response_mode)?;
                    return Ok(request);
                }
            }
            Err(e) => problems.push(json!({"path": "", "problem": e.to_string()})),
        }
    }
    Err(invalid(problems))
}

fn find_problems(request: &RunRequest, most: usize) -> Vec<Value> {
    let mut problems = Vec::new();
    let id = request.request_id.chars().count();
    if request.request_id.trim().is_empty() || id > REQUEST_ID_CHARS {
        problems.push(json!({"path": "/request_id", "problem": "must have 1 to 128 characters"}));
    }
    if request.input.trim().is_empty() {
        problems.push(json!({"path": "/input", "problem": "is empty"}));
    }
    let length = request.input.trim().chars().count();
    if length > most {
        problems.push(json!({"path": "/input", "problem": format!("has {length} characters; at most {most} are accepted")}));
    }
    if request
        .conversation_id
        .as_ref()
        .is_some_and(|id| id.trim().is_empty() || id.chars().count() > REQUEST_ID_CHARS)
    {
        problems
            .push(json!({"path": "/conversation_id", "problem": "must have 1 to 128 characters"}));
    }
    problems
}

/// Refuses the async mode. A run returns only a response or an error. A caller that does not want
/// to wait can repeat the request later with the same id.
fn check_mode(mode: ResponseMode) -> Result<(), AgentError> {
    match mode {
        ResponseMode::Blocking | ResponseMode::Streaming => Ok(()),
        ResponseMode::Async => Err(AgentError::invalid("The response mode async is not offered here: a run is answered when it is done.")
            .reason("unsupported_response_mode")
            .with("supported", json!(["blocking", "streaming"]))
            .with("validation", json!([{"path": "/options/response_mode", "problem": "is not offered here"}]))
            .hint("Ask for blocking or streaming. A caller that leaves can send the same request again: it gets the result and runs nothing twice.")),
    }
}

/// Checks that the contract version has the supported major version.
fn check_version(version: &str) -> Result<(), AgentError> {
    let major = |text: &str| text.split('.').next().map(str::to_owned);
    let numbers =
        version.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()));
    if numbers && major(version) == major(CONTRACT_VERSION) {
        return Ok(());
    }
    Err(AgentError::invalid(text!(
        "Version {version} of the contract is not supported here.",
        version
    ))
    .reason("unsupported_contract_version")
    .with("supported", json!([CONTRACT_VERSION])))
}
