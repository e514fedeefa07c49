//! Records the calls of a turn that were not run.

use contract::{AgentError, ErrorCode, RecordType, ToolOutcome};
use serde_json::json;

use crate::{
    canonical::canonical,
    ports::RecordDraft,
    tools::call::CallDone,
    turn::{
        context::TurnContext,
        refusals::{NAME_CHARS, commit_part, millis, more_refused_record, reason_of},
    },
};

/// The most refused calls of a turn that get their own records.
const CALLS: u32 = 40;

/// Records a call that was not run. A call that ran or was decided by a person already has its own
/// records.
pub(crate) async fn note_refused(context: &TurnContext, done: &CallDone, agent: String) {
    if done.is_recorded || done.outcome == ToolOutcome::Ok {
        return;
    }
    let unexplained = || AgentError::new(ErrorCode::InternalError, done.summary.clone());
    let error = done.error.clone().unwrap_or_else(unexplained);
    let reason = reason_of(&error);
    if !context.account.refused_calls().record_or_count(CALLS, &reason) {
        return;
    }
    let exact = context.services.secrets.matcher();
    let mut arguments = done.arguments.clone();
    exact.scrub_value(&mut arguments);
    let tool: String = exact.redact_secrets(done.tool.as_str()).chars().take(NAME_CHARS).collect();
    let draft = RecordDraft::new(RecordType::PolicyDecision)
        .field("call", done.call.as_str())
        .field("tool", tool)
        .field("effect", json!(done.effect))
        .field("status", json!(done.outcome))
        .field("code", error.code.name())
        .field("reason", reason)
        .field("level", "warning")
        .field("untrusted", done.follows_untrusted)
        .field("duration_ms", millis(done.duration))
        .field("agent", agent);
    let draft = commit_part(draft, "why", &exact.redact_secrets(&error.message));
    context.record(commit_part(draft, "arguments", &canonical(&arguments))).await;
}

/// Records the number of refused calls without their own records.
pub(crate) async fn note_more_refused(context: &TurnContext, agent: String) {
    let left = context.account.refused_calls().take_more();
    if let Some(draft) = more_refused_record(left) {
        context.record(draft.field("agent", agent).field("duration_ms", 0)).await;
    }
}
