//! Converts the end of a turn to a RunResponse or an AgentError, and converts both to and from
//! their stored form.

use chrono::{DateTime, SecondsFormat, Utc};
use contract::{
    AgentError, Choice, DeclinedReason, LeftOut, RunMetadata, RunRequest, RunResponse, RunResult,
    RunStatus, RunUsage, StructuredOutput, TruncatedBy, TurnStatus,
};
use serde::{Deserialize, Serialize};

use crate::{
    budget::{account::ToolData, metering::nano_to_usd},
    turn::run_context::Ended,
};

/// The most bytes of all results in a response.
const RESULTS_BYTES: usize = 64 * 1024;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredResult {
    Response(Box<RunResponse>),
    Error(AgentError),
}

/// Returns the result in the form in which it is stored. An error contains the id of its request.
pub(super) fn text(answer: &Result<RunResponse, AgentError>, request_id: &str) -> String {
    let kept = match answer {
        Ok(response) => StoredResult::Response(Box::new(response.clone())),
        Err(error) => {
            StoredResult::Error(error.clone().in_english().with("request_id", request_id))
        }
    };
    serde_json::to_string(&kept).unwrap_or_default()
}

/// Parses a stored result.
pub(super) fn parse_stored_result(text: &str) -> Result<RunResponse, AgentError> {
    match serde_json::from_str(text) {
        Ok(StoredResult::Response(response)) => Ok(*response),
        Ok(StoredResult::Error(error)) => Err(error),
        Err(_) => Err(AgentError::internal(
            "database_error",
            "The stored result of this request cannot be read.",
        )
        .hint("Send it again with a new id.")),
    }
}

/// Returns a turn's result in the form for the caller.
pub(super) fn build_result(
    request: &RunRequest,
    ended: Ended,
    now: DateTime<Utc>,
) -> Result<RunResponse, AgentError> {
    match ended.status {
        TurnStatus::Ok | TurnStatus::Limit => Ok(response(request, ended, now)),
        TurnStatus::Cancelled => Err(AgentError::internal("cancelled", "The run was stopped.")
            .hint("Send it again with a new id.")),
        TurnStatus::Error | TurnStatus::ApprovalRequired => Err(ended.error.unwrap_or_else(|| {
            AgentError::internal("unexpected", "The run failed without a reason.")
        })),
    }
}

fn response(request: &RunRequest, ended: Ended, now: DateTime<Utc>) -> RunResponse {
    let usage = ended.usage;
    let priced = ended.unpriced.is_empty();
    // If the answer consists of several parts, the earlier parts belong to the output.
    let output = match ended.in_parts && !ended.asides.is_empty() {
        true => format!("{}\n\n{}", ended.asides.join("\n\n"), ended.text),
        false => ended.text,
    };
    RunResponse {
        contract_version: request.contract_version.clone(),
        request_id: request.request_id.clone(),
        status: RunStatus::Ok,
        output,
        answers: ended.answers,
        structured_output: structured(&ended.results, ended.choices),
        metadata: RunMetadata {
            generated_at: now.to_rfc3339_opts(SecondsFormat::Millis, true),
            agent_id: None,
            tools_used: (!ended.tools.is_empty()).then_some(ended.tools),
            model: Some(ended.model),
            declined_reason: ended.declined.then_some(DeclinedReason::OutOfScope),
            truncated_by: ended.truncated.then_some(TruncatedBy::Budget),
            unpriced_models: ended.unpriced,
        },
        usage: Some(RunUsage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            total_tokens: usage.input_tokens + usage.output_tokens,
            estimated_cost_usd: priced.then(|| nano_to_usd(ended.nano_usd)),
        }),
    }
}

/// Returns the data of an answer for a program, or none if there are neither results nor choices.
fn structured(results: &[ToolData], choices: Vec<Choice>) -> Option<StructuredOutput> {
    let output = StructuredOutput { results: within_size(results), choices };
    (output != StructuredOutput::default()).then_some(output)
}

/// Returns results in the order of their calls. The newest results are included up to the size
/// limit; the others are only named.
fn within_size(results: &[ToolData]) -> Vec<RunResult> {
    let mut left = RESULTS_BYTES;
    let mut listed: Vec<RunResult> = results
        .iter()
        .rev()
        .map(|result| {
            let bytes = result.data.to_string().len();
            let fits = bytes <= left;
            left -= if fits { bytes } else { 0 };
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            RunResult {
                kind: result.view.kind().to_owned(),
                tool: result.tool.clone(),
                pack: result.pack.clone(),
                view: result.view.shape.layout().map(|_| result.view.clone()),
                data: fits.then(|| (*result.data).clone()),
                left_out: (!fits).then_some(LeftOut { bytes }),
            }
        })
        .collect();
    listed.reverse();
    listed
}
