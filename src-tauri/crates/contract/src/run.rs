//! The run contract, version 1.0: a request, a response or an error, and the events in between.
//! Members are in snake case. Callers outside this program rely on these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{AgentId, Choice, PackId, ResultView, ToolId};

/// The most bytes of a request.
pub const RUN_REQUEST_BYTES: usize = 1 << 20;
/// The most characters of a request's id.
pub const REQUEST_ID_CHARS: usize = 128;

/// Returns the ids in the text of a run request: the request id and the conversation id, each null
/// if missing. Returns none if the text is not JSON.
pub fn run_ids(request: &str) -> Option<[Value; 2]> {
    let request: Value = serde_json::from_str(request).ok()?;
    Some(["request_id", "conversation_id"].map(|name| request[name].clone()))
}

/// A caller's request. Unknown top-level fields are refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// `1.0`, or another version with the same major number; the response repeats it.
    pub contract_version: String,
    /// 1 to 128 characters, unique per caller for 24 hours; a repeated request gets the stored
    /// result.
    pub request_id: String,
    /// The user's message.
    pub input: String,
    /// The conversation to continue; created if it does not exist. If absent, the run does not
    /// belong to a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// Values that the caller supplies. Values that a tool declares as caller-owned are passed to
    /// the tool, and no model can change them. `approval_id` names an action that was pending and
    /// has been decided since.
    #[serde(default)]
    pub context: Map<String, Value>,
    /// The options for the answer.
    #[serde(default)]
    pub options: RunOptions,
}

/// Options for the answer. Unknown options are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunOptions {
    /// Whether the answer is returned as a whole or as events.
    #[serde(default)]
    pub response_mode: ResponseMode,
    /// The most tokens of an answer; the budgets may allow less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
}

/// How the answer is returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseMode {
    /// As a single response at the end.
    #[default]
    Blocking,
    /// As events.
    Streaming,
    /// Not supported by this program.
    Async,
}

/// The response of a run that has an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunResponse {
    /// The contract version of the request.
    pub contract_version: String,
    /// The id of the request.
    pub request_id: String,
    /// The status of the run.
    pub status: RunStatus,
    /// The text of the answer, never empty.
    pub output: String,
    /// The answers of the specialists in their order, if the output joins those of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<RunAnswer>,
    /// The answer as data, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<StructuredOutput>,
    /// Facts about the answer, such as the tools used.
    pub metadata: RunMetadata,
    /// The tokens and cost of the run; absent if no model was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<RunUsage>,
}

/// The answer of one of several specialists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunAnswer {
    /// The id of the specialist.
    pub agent: AgentId,
    /// The name of the specialist for people.
    pub name: String,
    /// The whole text of the answer.
    pub text: String,
}

/// The data of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct StructuredOutput {
    /// The successful results of tools, in the order of their calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<RunResult>,
    /// Answers that a question of the assistant offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

/// A result of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunResult {
    /// The shape that the tool declares, or the name of its view.
    pub kind: String,
    /// The tool that returned the result.
    pub tool: ToolId,
    /// The pack of the tool. None in responses that an earlier version stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<PackId>,
    /// The locations of rows and columns, if the tool declares them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ResultView>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "keep_null")]
    #[ts(type = "unknown")]
    pub data: Option<Value>,
    /// The size of the result, if it is too large to be included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
}

/// The size of a result that a response does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct LeftOut {
    /// The bytes of the result as JSON text.
    pub bytes: u64,
}

/// A result may be `null`, which differs from an omitted result.
fn keep_null<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

/// The status of a response. Every failure is an `AgentError` instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The run has an answer.
    Ok,
}

/// Facts about the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunMetadata {
    /// The time of the answer: UTC, RFC 3339, milliseconds.
    pub generated_at: String,
    /// The specialist that answered; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// All tools that ran, including failed ones, in the order of first use; absent if no tool ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_used: Option<Vec<ToolId>>,
    /// The model that answered, as shown to users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Set if the request was declined; the output gives the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined_reason: Option<DeclinedReason>,
    /// Set if the answer was cut by a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated_by: Option<TruncatedBy>,
    /// Models without a price. If there are any, the cost is absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced_models: Vec<String>,
}

/// Why a request was declined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum DeclinedReason {
    /// No specialist and no tool can serve the request.
    OutOfScope,
}

/// The limit that ended an answer early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum TruncatedBy {
    /// A spending limit left no room for a longer answer.
    Budget,
}

/// The tokens of all model calls of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunUsage {
    /// Tokens of the requests.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// The sum of input and output tokens.
    pub total_tokens: u64,
    /// The cost according to the price table; absent if a model has no price there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_cost_usd: Option<f64>,
}

/// An event of a streamed run. Exactly one `final` or `error` ends the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RunEvent {
    /// The kind of event.
    #[serde(rename = "type")]
    pub kind: RunEventType,
    /// The time of the event: UTC, RFC 3339, milliseconds.
    pub timestamp: String,
    /// Values of the event; their structure depends on the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    pub data: Option<Value>,
}

/// The kinds of run events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RunEventType {
    /// `data.stage` is the current stage of the run.
    Progress,
    /// `data.text` is part of the output, unless a `progress` with stage `output_replaced` follows.
    Delta,
    /// `data.state` is `start` or `end`, and `data.tool_id` is the tool.
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
    fn a_null_result_is_distinguished_from_a_result_that_was_left_out() {
        let null = json!({"kind": "plain", "tool": "t", "data": null});
        let left_out = json!({"kind": "plain", "tool": "t", "left_out": {"bytes": 70_000}});
        for (wire, data) in [(null, Some(Value::Null)), (left_out, None)] {
            let read: RunResult = serde_json::from_value(wire.clone()).unwrap();
            assert_eq!(read.data, data);
            assert_eq!(json!(read), wire);
        }
    }
}
