//! Writes the two records of every sent call: the intent before the call and the outcome after the
//! call.

use contract::{AgentError, ApprovalId, Effect, Reason, RecordType, ToolOutcome, text};
use serde_json::json;

use crate::{
    canonical::canonical,
    context::results,
    destinations,
    ports::{Durability, RecordDraft},
    tools::{
        call::{CallDone, Ready},
        outgoing::Outgoing,
    },
    turn::caller_records::add_caller,
    turn::{context::TurnContext, kind::TurnKind, refusals::millis},
};

/// The most coerced arguments that a record lists.
const COERCED: usize = 100;

/// Records that a call is about to be sent. A change that cannot be recorded must not be sent.
pub(crate) async fn record_intent(
    context: &TurnContext,
    ready: &Ready,
    agent: String,
    approval: Option<&ApprovalId>,
    outgoing: &Outgoing,
) -> Result<(), AgentError> {
    let spec = &ready.spec;
    let effect = spec.effect != Effect::ReadOnly;
    let durability = match (effect, spec.audit_required) {
        (true, _) => Durability::Signed,
        (false, true) => Durability::Durable,
        (false, false) => Durability::Grouped,
    };
    let mut draft = RecordDraft::new(RecordType::ToolIntent)
        .of(&context.session, &context.id)
        .field("call", ready.call.as_str())
        .field("tool", spec.id.as_str())
        .field("server", spec.target.server())
        .field("effect", json!(spec.effect))
        .field("definition", spec.definition_hash.clone())
        .field("agent", agent)
        .field("why", ready.decision.reason().as_str())
        .field("untrusted", ready.follows_untrusted)
        .field("typed", ready.typed.clone())
        .commit("arguments", canonical(&outgoing.arguments));
    let places = destinations::places(spec, &outgoing.arguments);
    let leaves = !places.is_empty();
    if spec.effect == Effect::ReadOnly && !places.is_empty() {
        draft = draft
            .field("sends_bytes", destinations::count_bytes(&outgoing.arguments))
            .commit("destinations", json!(places).to_string());
    }
    if context.kind == TurnKind::Direct {
        // This call has no question in a conversation, so the record names the caller.
        draft = add_caller(draft, &context.caller.kind, context.world().profile.as_ref());
    }
    if let Some(id) = approval {
        draft = draft.field("approval", id.as_str());
    }
    if outgoing.asked != outgoing.arguments {
        draft = draft.commit("asked", canonical(&outgoing.asked));
    }
    if !outgoing.is_sent || results::is_own_tool(spec) {
        draft = draft.field("sent", false);
    }
    if outgoing.is_again {
        draft = draft.field("again", true);
    }
    if !ready.coerced.is_empty() {
        draft =
            draft.field("coerced", ready.coerced.iter().take(COERCED).cloned().collect::<Vec<_>>());
    }
    match context.world().audit.append(draft, durability).await {
        Ok(_) => Ok(()),
        // If data leaves this computer, the read must not run without a record.
        Err(error) if durability == Durability::Grouped && !leaves => {
            tracing::warn!(%error, "a read could not be recorded");
            Ok(())
        }
        Err(error) => {
            tracing::error!(%error, "a call was refused because it could not be recorded");
            let error = AgentError::internal(
                Reason::AuditUnavailable,
                text!("{tool} was not run: the audit log cannot be written.", tool = spec.title),
            )
            .hint("Free some disk space or run `csign doctor`, then ask again.");
            Err(error)
        }
    }
}

/// Records how a call ended.
pub(crate) async fn record_outcome(
    context: &TurnContext,
    done: &CallDone,
    agent: String,
    approval: Option<&ApprovalId>,
) {
    let durability =
        if done.effect == Effect::ReadOnly { Durability::Grouped } else { Durability::Durable };
    let mut draft = RecordDraft::new(RecordType::ToolOutcome)
        .of(&context.session, &context.id)
        .field("call", done.call.as_str())
        .field("tool", done.tool.as_str())
        .field("status", json!(done.outcome))
        .field("level", record_level(done.outcome))
        .field("agent", agent)
        .field("duration_ms", millis(done.duration));
    if let Some(id) = approval {
        draft = draft.field("approval", id.as_str());
    }
    if let Some(cut) = &done.cut {
        draft = draft.field("result_bytes", cut.bytes).field("result_sha256", cut.sha256.clone());
    }
    draft = match &done.error {
        Some(error) => {
            draft.field("code", json!(error.code)).commit("error", error.message.clone())
        }
        None => draft.commit("result", done.data.to_string()),
    };
    if let Err(error) = context.world().audit.append(draft, durability).await {
        tracing::error!(%error, "an outcome could not be recorded; it will show as unknown");
    }
}

/// Returns the level of an outcome's record.
fn record_level(outcome: ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Ok | ToolOutcome::Cancelled => "info",
        ToolOutcome::Denied | ToolOutcome::Rejected | ToolOutcome::Expired | ToolOutcome::Limit => {
            "warning"
        }
        ToolOutcome::Error | ToolOutcome::Unknown => "error",
    }
}
