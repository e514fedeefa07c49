//! The run contract: one request, one response or one error, and the events in between. Snake case,
//! version 1.0. Callers outside this program rely on these shapes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{AgentId, Choice, PackId, ResultView, ToolId};

/// The most bytes of one request.
pub const RUN_REQUEST_BYTES: usize = 1 << 20;
/// The most characters of a request's id.
pub const REQUEST_ID_CHARS: usize = 128;

/// Returns the ids in the text of a run request: its own and the conversation's, null where there
/// is none. Returns None if the text is not JSON.
pub fn run_ids(request: &str) -> Option<[Value; 2]> {
    let request: Value = serde_json::from_str(request).ok()?;
    Some(["request_id", "conversation_id"].map(|name| request[name].clone()))
}

/// A caller's request. A top-level field that is not listed is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// `1.0`, or another version of the same major; it comes back in the answer.
    pub contract_version: String,
    /// 1 to 128 characters, unique per caller for 24 hours: a repeat gets the stored result.
    pub request_id: String,
    /// The user's message.
    pub input: String,
    /// Continues this conversation; it is created when it does not exist. Without it the run stands
    /// alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The caller's own values. Those that a tool declares as caller-owned are passed to it, and no
    /// model can change them. `approval_id` names a pending action that has been decided meanwhile.
    #[serde(default)]
    pub context: Map<String, Value>,
    /// How the answer is to be given.
    #[serde(default)]
    pub options: RunOptions,
}

/// Options of the answer. Unknown options are allowed and have no effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunOptions {
    /// Whether the answer comes as a whole or as events.
    #[serde(default)]
    pub response_mode: ResponseMode,
    /// The most tokens of one answer; the budgets may allow less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
}

/// How the answer is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseMode {
    /// As one response at the end.
    #[default]
    Blocking,
    /// As events.
    Streaming,
    /// Not offered by this program's own adapters.
    Async,
}

/// The response of a run that has an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunResponse {
    /// The version of the request.
    pub contract_version: String,
    /// The id of the request.
    pub request_id: String,
    /// The status of the run.
    pub status: RunStatus,
    /// Never empty.
    pub output: String,
    /// The answer as values, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<StructuredOutput>,
    /// Facts about the answer, such as the tools used.
    pub metadata: RunMetadata,
    /// The tokens and cost of the run; absent if no model was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<RunUsage>,
}

/// The values of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct StructuredOutput {
    /// The successful results of tools, in the order of their calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<RunResult>,
    /// Answers that the question offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

/// A result of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunResult {
    /// The shape that the tool declares, or the name of its view.
    pub kind: String,
    /// The tool.
    pub tool: ToolId,
    /// The pack of the tool. None in responses that an earlier version stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<PackId>,
    /// Where rows and columns are, if the tool declares them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ResultView>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "keep_null")]
    #[ts(type = "unknown")]
    pub data: Option<Value>,
    /// In place of a result that is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
}

/// The size of a result that a response does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct LeftOut {
    /// The bytes of its JSON text.
    pub bytes: u64,
}

/// A result may be `null`, which differs from one that is left out.
fn keep_null<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

/// Success; everything else is an `AgentError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The run has an answer.
    Ok,
}

/// About the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunMetadata {
    /// UTC, RFC 3339, milliseconds.
    pub generated_at: String,
    /// The specialist that answered; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// Each tool that ran, also one that failed, in the order of first use; absent when none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_used: Option<Vec<ToolId>>,
    /// The model that answered, as shown to users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Set if the request was declined; the output says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined_reason: Option<DeclinedReason>,
    /// Set if the answer was cut by a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated_by: Option<TruncatedBy>,
    /// Models without a price. If there are any, no cost is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced_models: Vec<String>,
}

/// Why a request was declined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DeclinedReason {
    /// No specialist and no tool is made for the request.
    OutOfScope,
}

/// The limit that ended an answer early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TruncatedBy {
    /// A spending limit left no room for a longer answer.
    Budget,
}

/// Tokens over all model calls of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunUsage {
    /// Tokens of the requests.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// The sum of both.
    pub total_tokens: u64,
    /// According to the price table; absent if a model has no price there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_cost_usd: Option<f64>,
}

/// One event of a run that is streamed. Exactly one `final` or `error` ends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunEvent {
    /// The kind of event.
    #[serde(rename = "type")]
    pub kind: RunEventType,
    /// UTC, RFC 3339, milliseconds.
    pub timestamp: String,
    /// Values of the event; their shape depends on the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    pub data: Option<Value>,
}

/// The kinds of run events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RunEventType {
    /// `data.stage` says where the run is.
    Progress,
    /// `data.text` belongs to the output, unless a `progress` with stage `output_replaced` follows.
    Delta,
    /// `data.state` is `start` or `end`, `data.tool_id` the tool.
    Tool,
    /// `data` is the RunResponse.
    Final,
    /// `data` is the AgentError.
    Error,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_that_is_null_differs_from_one_that_is_left_out() {
        let null = json!({"kind": "plain", "tool": "t", "data": null});
        let left_out = json!({"kind": "plain", "tool": "t", "left_out": {"bytes": 70_000}});
        for (wire, data) in [(null, Some(Value::Null)), (left_out, None)] {
            let read: RunResult = serde_json::from_value(wire.clone()).unwrap();
            assert_eq!(read.data, data);
            assert_eq!(json!(read), wire);
        }
    }
}
