//! The one seam through which every tool call leaves: intent recorded, attempts, output checked, outcome recorded.

use std::sync::Arc;

use contract::{
    AgentError, Approval, ApprovalId, CallId, Effect, ErrorCode, ItemBody, NoticeLevel, RecordType, ResultView, ToolOutcome, ToolSpec,
    manifest::IdempotencyStrategy,
};
use serde_json::{Value, json};
use tracing::{Instrument as _, field::Empty};

use crate::{
    Engine,
    canonical::{canonical, sha256_hex},
    ports::{Durability, Point, RecordDraft, ToolFailure, ToolRequest, ValueChanges},
    texts::Text,
    tools::{
        call::{CallDone, Ready},
        outgoing::Outgoing,
        oversize,
        refusals::millis,
        results,
    },
    turn::Turn,
};

/// Changes of shape that one record names.
const COERCED: usize = 100;

impl Engine {
    /// `invalid_input` with every problem when arguments do not fit the schema.
    pub(crate) fn check_arguments(&self, spec: &ToolSpec, arguments: &Value) -> Result<(), AgentError> {
        let problems = self.validators.problems(&format!("in {}", spec.definition_hash), &spec.input_schema, arguments);
        if problems.is_empty() {
            return Ok(());
        }
        let first = problems.first().map(|p| format!("{} {}", p["path"].as_str().unwrap_or(""), p["problem"].as_str().unwrap_or("")));
        Err(AgentError::invalid(format!("The arguments of {} do not fit: {}", spec.title, first.unwrap_or_default().trim())).with("validation", problems))
    }
}

impl Turn {
    /// A call as it is sent. Under a signature it is the one that was signed, whatever came between.
    async fn signed(&self, ready: &Ready, approval: Option<&Approval>) -> Result<Outgoing, AgentError> {
        let outgoing = self.outgoing(ready).await?;
        if approval.is_some_and(|approval| outgoing.hash != approval.hash) {
            return Err(AgentError::internal("changed", "What it would change is not the same any more, so it was not carried out.").hint("Ask for it again."));
        }
        Ok(outgoing)
    }

    /// Runs a call that may run. `approval` is the signature it runs under, if one was needed.
    pub(crate) async fn dispatch(&self, ready: &Ready, approval: Option<&Approval>) -> CallDone {
        let spec = &ready.spec;
        let outgoing = match self.signed(ready, approval).await {
            Ok(outgoing) => outgoing,
            Err(error) => return CallDone::of(ready, ToolOutcome::Error, Some(error.clone()), error.message),
        };
        let approval = approval.map(|approval| &approval.id);
        if let Err(refused) = self.record_intent(ready, approval, &outgoing).await {
            return refused;
        }
        self.probe(if spec.effect == Effect::ReadOnly { Point::BetweenIntentAndRead } else { Point::BetweenIntentAndEffect });
        if !results::is_here(spec) {
            self.account.used(&spec.id, spec.effect);
        }
        let request = ToolRequest {
            spec: Arc::clone(spec),
            idempotency_key: idempotency_key(spec, &outgoing.arguments, approval, &ready.call),
            arguments: outgoing.arguments,
            asked: outgoing.asked,
            call: ready.call.clone(),
            session: self.session.clone(),
            attended: !self.headless,
        };
        let span = tracing::info_span!(target: "spans", "tool_call", tool = spec.id.as_str(), call = ready.call.as_str(), outcome = Empty);
        let started = tokio::time::Instant::now();
        let result = if results::is_here(spec) {
            let most = self.settings.limits.result_chars as usize / 2;
            let border = |text: &str, at| self.words.get().map_or(at, |words| words.border(text, at));
            self.kept.read(&request.arguments, most, &border).map_err(|error| ToolFailure { error, may_have_happened: false })
        } else {
            // The time a person took to decide is not the tool's.
            let deadline =
                if approval.is_some() { started + std::time::Duration::from_secs(u64::from(self.settings.limits.deadline_s)) } else { self.deadline() };
            self.run_tool(ready, request, deadline).instrument(span.clone()).await
        };
        if spec.effect != Effect::ReadOnly {
            self.probe(Point::BetweenEffectAndOutcome);
        }
        let (mut done, session_values) = self.judge(ready, result);
        done.duration = started.elapsed();
        done.is_recorded = true;
        span.record("outcome", outcome_name(done.outcome));
        self.record_outcome(&done, approval).await;
        self.for_the_caller(&mut done);
        self.keep_session_values(session_values).await;
        self.tell_cut(&done).await;
        done
    }

    pub(crate) async fn record_intent(&self, ready: &Ready, approval: Option<&ApprovalId>, outgoing: &Outgoing) -> Result<(), CallDone> {
        let spec = &ready.spec;
        let effect = spec.effect != Effect::ReadOnly;
        let durability = match (effect, spec.audit_required) {
            (true, _) => Durability::Signed,
            (false, true) => Durability::Durable,
            (false, false) => Durability::Grouped,
        };
        let mut draft = RecordDraft::new(RecordType::ToolIntent)
            .of(&self.session, &self.id)
            .field("call", ready.call.as_str())
            .field("tool", spec.id.as_str())
            .field("server", spec.target.server())
            .field("effect", json!(spec.effect))
            .field("definition", spec.definition_hash.clone())
            .field("agent", self.agent_id())
            .field("why", ready.decision.why())
            .commit("arguments", canonical(&outgoing.arguments));
        if let Some(id) = approval {
            draft = draft.field("approval", id.as_str());
        }
        if outgoing.asked != outgoing.arguments {
            draft = draft.commit("asked", canonical(&outgoing.asked));
        }
        if !outgoing.is_sent || results::is_here(spec) {
            draft = draft.field("sent", false);
        }
        if outgoing.is_again {
            draft = draft.field("again", true);
        }
        if !ready.coerced.is_empty() {
            draft = draft.field("coerced", ready.coerced.iter().take(COERCED).cloned().collect::<Vec<_>>());
        }
        match self.world().audit.append(draft, durability).await {
            Ok(_) => Ok(()),
            Err(error) if durability == Durability::Grouped => {
                tracing::warn!(%error, "a read could not be recorded");
                Ok(())
            }
            Err(error) => {
                tracing::error!(%error, "a call was refused because it could not be recorded");
                let error = AgentError::internal("audit_unavailable", format!("{} was not run: the audit log cannot be written.", spec.title))
                    .hint("Free some disk space or run `csign doctor`, then ask again.");
                Err(CallDone::of(ready, ToolOutcome::Error, Some(error.clone()), error.message))
            }
        }
    }

    /// How a call ended, and what of its result the session keeps.
    fn judge(&self, ready: &Ready, result: Result<Value, ToolFailure>) -> (CallDone, ValueChanges) {
        let spec = &ready.spec;
        match result {
            Ok(mut data) => {
                let misfits = self.engine.validators.misfits_of_result(&format!("out {}", spec.definition_hash), &spec.output_schema, &data);
                if misfits.is_empty() {
                    // Before anything is recorded, stored or shown.
                    self.engine.exact().scrub_value(&mut data);
                    let session_values = session_values(spec, &data);
                    let mut done = CallDone::of(ready, ToolOutcome::Ok, None, summary(&data));
                    done.cut = oversize::cut(&mut data);
                    if let Some(cut) = &done.cut {
                        done.summary = Text::ResultCut.in_locale(&self.locale).replace("{size}", &cut.size());
                        done.view = ResultView::Plain;
                    }
                    done.data = Arc::new(data);
                    return (done, session_values);
                }
                tracing::warn!(tool = %spec.id, ?misfits, "a result does not fit its schema");
                let error = AgentError::internal("invalid_output", Text::InvalidOutput.in_locale(&self.locale)).with("tool_id", spec.id.as_str());
                // A change has been made, or not: the answer does not tell.
                let outcome = if spec.effect == Effect::ReadOnly { ToolOutcome::Error } else { ToolOutcome::Unknown };
                (CallDone::of(ready, outcome, Some(error.clone()), error.message), ValueChanges::default())
            }
            Err(mut failure) => {
                self.bound_error(&mut failure.error);
                let unknown = failure.may_have_happened && spec.effect != Effect::ReadOnly;
                let outcome = match (unknown, self.cancel.is_cancelled()) {
                    (true, _) => ToolOutcome::Unknown,
                    (false, true) => ToolOutcome::Cancelled,
                    (false, false) => ToolOutcome::Error,
                };
                let said = match outcome {
                    ToolOutcome::Unknown => format!("{} {}", failure.error.message, Text::UnknownOutcome.in_locale(&self.locale)),
                    ToolOutcome::Cancelled => Text::CancelledCall.in_locale(&self.locale).to_owned(),
                    _ => failure.error.message.clone(),
                };
                let error = AgentError { message: said.clone(), ..failure.error }.with("tool_id", spec.id.as_str());
                (CallDone::of(ready, outcome, Some(error), said), ValueChanges::default())
            }
        }
    }

    /// Somebody elsewhere, and a model that speaks to them, are told that a service failed and not how: only what a tool itself says
    /// of its failure is for them. The record of the outcome has the true words.
    fn for_the_caller(&self, done: &mut CallDone) {
        let Some(error) = done.error.as_mut().filter(|_| self.run.as_ref().is_some_and(|run| run.is_heard())) else { return };
        let is_services = matches!(error.code, ErrorCode::ToolHttpError | ErrorCode::ToolTimeout | ErrorCode::RateLimited | ErrorCode::InternalError);
        if !is_services
            || matches!(error.known_reason(), Some(contract::Reason::McpToolError | contract::Reason::AuditUnavailable))
            || done.outcome == ToolOutcome::Cancelled
        {
            return;
        }
        tracing::warn!(tool = %done.tool, error = %error.message, reason = error.reason_text(), "a service failed");
        let mut said = Text::ServiceFailed.in_locale(&self.locale).to_owned();
        if done.outcome == ToolOutcome::Unknown {
            said = format!("{said} {}", Text::UnknownOutcome.in_locale(&self.locale));
        }
        error.details.remove("hint");
        error.message.clone_from(&said);
        done.summary = said;
    }

    /// A failure may quote what was sent, and at any length.
    pub(crate) fn bound_error(&self, error: &mut AgentError) {
        let exact = self.engine.exact();
        error.message = exact.scrub(&error.message).into_owned();
        for value in error.details.values_mut() {
            exact.scrub_value(value);
        }
        oversize::shorten(error);
    }

    async fn record_outcome(&self, done: &CallDone, approval: Option<&ApprovalId>) {
        let durability = if done.effect == Effect::ReadOnly { Durability::Grouped } else { Durability::Durable };
        let mut draft = RecordDraft::new(RecordType::ToolOutcome)
            .of(&self.session, &self.id)
            .field("call", done.call.as_str())
            .field("tool", done.tool.as_str())
            .field("status", json!(done.outcome))
            .field("level", level(done.outcome))
            .field("agent", self.agent_id())
            .field("duration_ms", millis(done.duration));
        if let Some(id) = approval {
            draft = draft.field("approval", id.as_str());
        }
        if let Some(cut) = &done.cut {
            draft = draft.field("result_bytes", cut.bytes).field("result_sha256", cut.sha256.clone());
        }
        draft = match &done.error {
            Some(error) => draft.field("code", json!(error.code)).commit("error", error.message.clone()),
            None => draft.commit("result", done.data.to_string()),
        };
        if let Err(error) = self.world().audit.append(draft, durability).await {
            tracing::error!(%error, "an outcome could not be recorded; it will show as unknown");
        }
    }

    async fn keep_session_values(&self, news: ValueChanges) {
        if news.is_empty() {
            return;
        }
        if let Err(error) = self.engine.values_put(&self.session, news).await {
            tracing::warn!(%error, "session values could not be kept");
        }
    }

    /// Tells the user that a result was cut.
    async fn tell_cut(&self, done: &CallDone) {
        if done.cut.is_none() {
            return;
        }
        let notice = ItemBody::Notice { level: NoticeLevel::Warning, code: "result_cut".into(), text: format!("{}: {}", done.title, done.summary) };
        if self.save(vec![self.item(notice)]).await.is_err() {
            tracing::warn!("the notice of a cut result could not be saved");
        }
    }
}

/// The values of a result that its session keeps.
fn session_values(spec: &ToolSpec, data: &Value) -> ValueChanges {
    let found = |pointer: &str| data.pointer(pointer).filter(|value| !value.is_null()).cloned();
    spec.session_values.iter().filter_map(|wanted| Some((wanted.name.clone(), Some(found(&wanted.pointer)?)))).collect()
}

fn outcome_name(outcome: ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Ok => "ok",
        ToolOutcome::Error => "error",
        ToolOutcome::Denied => "denied",
        ToolOutcome::Rejected => "rejected",
        ToolOutcome::Expired => "expired",
        ToolOutcome::Cancelled => "cancelled",
        ToolOutcome::Limit => "limit",
        ToolOutcome::Unknown => "unknown",
    }
}

/// How loud the record of an outcome is.
fn level(outcome: ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Ok | ToolOutcome::Cancelled => "info",
        ToolOutcome::Denied | ToolOutcome::Rejected | ToolOutcome::Expired | ToolOutcome::Limit => "warning",
        ToolOutcome::Error | ToolOutcome::Unknown => "error",
    }
}

/// The same for every attempt of one call, and for no other: a call that nobody signed is told apart by its own id.
fn idempotency_key(spec: &ToolSpec, arguments: &Value, approval: Option<&ApprovalId>, call: &CallId) -> Option<String> {
    let signed = approval.map_or(call.as_str(), ApprovalId::as_str);
    match spec.idempotency {
        IdempotencyStrategy::None => None,
        IdempotencyStrategy::ExternalKey => {
            let given = arguments.get(spec.idempotency_key_ref.as_deref()?)?;
            Some(given.as_str().map_or_else(|| given.to_string(), str::to_owned)).filter(|key| !key.is_empty())
        }
        IdempotencyStrategy::Header | IdempotencyStrategy::PayloadField | IdempotencyStrategy::HashPayload => {
            Some(sha256_hex(canonical(&json!({"tool": spec.id, "arguments": arguments, "approval": signed})).as_bytes()))
        }
    }
}

/// One line about a result, by what results commonly carry. Never more than a hint: the card unfolds to the whole.
fn summary(data: &Value) -> String {
    let count = data.get("totalCount").or_else(|| data.get("items").filter(|i| i.is_array()));
    match (data.get("summary").and_then(Value::as_str), count) {
        (Some(text), _) => text.chars().take(160).collect(),
        (None, Some(Value::Number(n))) => format!("{n} found"),
        (None, Some(Value::Array(list))) if list.len() == 1 => "1 line".into(),
        (None, Some(Value::Array(list))) => format!("{} lines", list.len()),
        (None, _) => data.get("name").and_then(Value::as_str).unwrap_or_default().chars().take(160).collect(),
    }
}
