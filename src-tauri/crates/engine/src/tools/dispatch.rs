//! Sends every tool call: adapts the arguments, records the intent, makes the attempts, checks the
//! output, and records the outcome.

use std::{borrow::Cow, sync::Arc};

use contract::{
    AgentError, Approval, ApprovalId, CallId, Effect, ErrorCode, ItemBody, NoticeLevel, Reason,
    ResultView, ToolOutcome, ToolSpec, hidden::is_hidden, json_text, manifest::IdempotencyStrategy,
};
use serde_json::{Value, json};
use tracing::{Instrument as _, field::Empty};

use crate::{
    canonical::{canonical, sha256_hex},
    context::{
        egress::EgressSession,
        results::{self, ResultStore},
    },
    conversation::pack_egress::is_local_result,
    ports::{Point, ToolFailure, ToolRequest, ValueChanges},
    texts::Text,
    tools::{
        bound_error::sanitize_error,
        call::{CallDone, Ready},
        error_check::check_error,
        outgoing::Outgoing,
        oversize,
        reads_seen::ReadsSeen,
        records::{record_intent, record_outcome},
        resume::{AnswerSigner, run_tool},
        scope::Scope,
        services::ToolServices,
    },
    turn::context::TurnContext,
};

/// The most characters that are shown of a location in a schema.
const PLACE_CHARS: usize = 80;

/// Returns a location in a schema for display. The text is cut, because the server chooses the
/// words in it and the surrounding sentence is the app's.
fn shown_place(place: &str) -> String {
    let mut visible = place.chars().filter(|c| !is_hidden(*c));
    let mut shown: String = visible.by_ref().take(PLACE_CHARS).collect();
    if visible.next().is_some() {
        shown.push('\u{2026}');
    }
    shown
}

/// Sends the calls of the specialist in `scope`.
pub(crate) struct Dispatcher {
    pub(crate) context: Arc<TurnContext>,
    pub(crate) services: Arc<ToolServices>,
    pub(crate) reads: ReadsSeen,
    pub(crate) scope: Scope,
    /// The complete results that a model can read with the tool for long results.
    pub(crate) results: ResultStore,
    words: Option<Arc<EgressSession>>,
}

impl Dispatcher {
    pub(crate) fn new(
        context: &Arc<TurnContext>,
        services: &Arc<ToolServices>,
        scope: Scope,
        words: Option<Arc<EgressSession>>,
    ) -> Self {
        let results = ResultStore::new(!context.is_remote());
        let (context, services) = (Arc::clone(context), Arc::clone(services));
        Self { context, services, reads: ReadsSeen::default(), scope, results, words }
    }

    /// Marks the turn if a call returned outside content. This includes failures, whose text comes
    /// from the tool.
    pub(crate) fn note_content(&self, spec: &ToolSpec, done: &CallDone) {
        if self.returns_outside_content(spec) {
            self.context.sources.note_call_content(spec, &done.call, &done.data, &done.summary);
        }
    }

    /// Whether all results of a tool are treated as outside content, regardless of the call.
    fn returns_outside_content(&self, spec: &ToolSpec) -> bool {
        policy::returns_outside_content(spec) || self.context.world().tools.reads_files(&spec.pack)
    }

    /// Returns the request of a call. Fails if the call has an approval and the request differs
    /// from the approved one.
    async fn outgoing_call(
        &self,
        ready: &Ready,
        approval: Option<&Approval>,
    ) -> Result<Outgoing, AgentError> {
        let outgoing = Outgoing::of(&self.context, ready).await?;
        if approval.is_some_and(|approval| outgoing.hash != approval.hash) {
            return Err(AgentError::internal(
                Reason::Changed,
                "Its effect has changed since it was shown, so it was not carried out.",
            )
            .hint("Ask for it again."));
        }
        Ok(outgoing)
    }

    /// Runs a checked call. `approval` is the approval of the call, if one was needed.
    pub(crate) async fn dispatch(
        &self,
        ready: &Ready,
        approval: Option<&Approval>,
        signer: Option<&dyn AnswerSigner>,
    ) -> CallDone {
        let spec = &ready.spec;
        let outgoing = match self.outgoing_call(ready, approval).await {
            Ok(outgoing) => outgoing,
            Err(error) => return CallDone::failed(ready, ToolOutcome::Error, error),
        };
        let approval = approval.map(|approval| &approval.id);
        if let Err(error) =
            record_intent(&self.context, ready, self.scope.agent_id(), approval, &outgoing).await
        {
            return CallDone::failed(ready, ToolOutcome::Error, error);
        }
        self.context.probe(if spec.effect == Effect::ReadOnly {
            Point::BetweenIntentAndRead
        } else {
            Point::BetweenIntentAndEffect
        });
        // Reading a stored result calls no tool of the profile, so it is not counted as a tool that
        // ran.
        if !results::is_own_tool(spec) {
            self.context.account.add_tool(&spec.id, spec.effect);
        }
        let span = tracing::info_span!(target: "spans", "tool_call", tool = spec.id.as_str(), call = ready.call.as_str(), outcome = Empty);
        let started = tokio::time::Instant::now();
        let result = self.attempt(ready, outgoing, approval, signer).instrument(span.clone()).await;
        if spec.effect != Effect::ReadOnly {
            self.context.probe(Point::BetweenEffectAndOutcome);
        }
        let (mut done, session_values) = self.call_outcome(ready, result);
        done.duration = started.elapsed();
        done.is_recorded = true;
        // In a marked turn, the arguments may be outside content, which the result may repeat.
        done.is_untrusted = ready.follows_untrusted || self.returns_outside_content(&ready.spec);
        done.local_only =
            is_local_result(self.context.world().tools.as_ref(), spec, done.outcome, &done.data);
        if done.local_only {
            self.context.note_local_data();
        }
        span.record("outcome", outcome_name(done.outcome));
        record_outcome(&self.context, &done, self.scope.agent_id(), approval).await;
        // Called after the record, which contains the complete error for the operator.
        self.hide_failure_details(&mut done);
        self.keep_session_values(session_values).await;
        self.report_cut(&done).await;
        done
    }

    /// Makes the attempts of a call whose intent is recorded. `approval` is the approval of the
    /// call, if one was needed.
    async fn attempt(
        &self,
        ready: &Ready,
        outgoing: Outgoing,
        approval: Option<&ApprovalId>,
        signer: Option<&dyn AnswerSigner>,
    ) -> Result<Value, ToolFailure> {
        let spec = &ready.spec;
        let request = ToolRequest {
            spec: Arc::clone(spec),
            idempotency_key: idempotency_key(spec, &outgoing.arguments, approval, &ready.call),
            arguments: outgoing.arguments,
            asked: outgoing.asked,
            call: ready.call.clone(),
            session: self.context.session.clone(),
            caller: self.context.caller.kind.clone(),
            attended: self.context.is_attended(),
            content: self.context.content(),
        };
        if results::is_own_tool(spec) {
            let most = self.context.settings.limits.result_chars as usize / 2;
            let border = |text: &str, at| {
                self.words.as_ref().map_or(at, |words| words.safe_cut_position(text, at))
            };
            self.results
                .read(&request.arguments, most, &border)
                .map_err(|error| ToolFailure { error, may_have_happened: false })
        } else {
            // The time until a person decided is not counted as time of the tool.
            let deadline = if approval.is_some() {
                tokio::time::Instant::now()
                    + std::time::Duration::from_secs(u64::from(
                        self.context.settings.limits.deadline_s,
                    ))
            } else {
                self.context.deadline()
            };
            run_tool((&self.context, &self.scope), ready, request, deadline, signer).await
        }
    }

    /// Removes known secrets from a result. In a JSON text, a secret may be written with escapes,
    /// so such a text is replaced by its value.
    fn scrub_result(&self, data: &mut Value) {
        let matcher = self.context.services.secrets.matcher();
        read_texts(data, &|members| matcher.value_contains_secret(members));
        matcher.scrub_value(data);
    }

    /// Returns the locations in the output schema that a result violates. A result that arrived as
    /// JSON text may match as text or as its value. If a server's result also has texts, only the
    /// structured part must match.
    fn result_misfits(&self, spec: &ToolSpec, data: &Value) -> Vec<String> {
        let key = format!("out {}", spec.definition_hash);
        let validators = &self.services.validators;
        let problems = |value: &Value| validators.result_problems(&key, &spec.output_schema, value);
        let of = json_text::structured_part(data).unwrap_or(data);
        let misfits = problems(of);
        match json_text::members_of(of) {
            Cow::Owned(members) if !misfits.is_empty() && problems(&members).is_empty() => {
                Vec::new()
            }
            _ => misfits,
        }
    }

    /// The outcome of a call, and the values of its result that the session stores.
    fn call_outcome(
        &self,
        ready: &Ready,
        result: Result<Value, ToolFailure>,
    ) -> (CallDone, ValueChanges) {
        let spec = &ready.spec;
        match result {
            Ok(mut data) => {
                let misfits = self.result_misfits(spec, &data);
                // The schema of an added server is only a claim of that server, so the result is
                // shown even if it does not match.
                if misfits.is_empty() || spec.pack.is_of_added_server() {
                    let note = |locale: &str| {
                        let place = shown_place(misfits.first()?);
                        Some(Text::ResultMisfit.in_locale(locale).replace("{place}", &place))
                    };
                    // Secrets are removed before the result is recorded, stored or shown.
                    self.scrub_result(&mut data);
                    let members = json_text::members_of(&data);
                    let session_values = session_values(spec, &members);
                    let mut done =
                        CallDone::of(ready, ToolOutcome::Ok, None, summary_line(&members));
                    drop(members);
                    if let Some(summary) = note(&self.context.locale) {
                        data = json!({"note": note("en"), "result": data});
                        done.summary = summary;
                        done.view = ResultView::default();
                    }
                    done.cut = oversize::cut(&mut data);
                    if let Some(cut) = &done.cut {
                        done.summary = Text::ResultCut
                            .in_locale(&self.context.locale)
                            .replace("{size}", &cut.size());
                        done.view = ResultView::default();
                    }
                    done.data = Arc::new(data);
                    return (done, session_values);
                }
                tracing::warn!(tool = %spec.id, ?misfits, "a result does not fit its schema");
                let error = AgentError::internal(
                    Reason::InvalidOutput,
                    Text::InvalidOutput.in_locale(&self.context.locale),
                )
                .with("tool_id", spec.id.as_str());
                // Because the result does not match its schema, it is unknown whether the change
                // was made.
                let outcome = if spec.effect == Effect::ReadOnly {
                    ToolOutcome::Error
                } else {
                    ToolOutcome::Unknown
                };
                (CallDone::failed(ready, outcome, error), ValueChanges::default())
            }
            Err(mut failure) => {
                sanitize_error(&self.context, &mut failure.error);
                let unknown = failure.may_have_happened && spec.effect != Effect::ReadOnly;
                let outcome = match (unknown, self.context.cancel.is_cancelled()) {
                    (true, _) => ToolOutcome::Unknown,
                    (false, true) => ToolOutcome::Cancelled,
                    (false, false) => ToolOutcome::Error,
                };
                let said = match outcome {
                    ToolOutcome::Unknown => failure
                        .error
                        .text()
                        .append(Text::UnknownOutcome.in_locale(&self.context.locale)),
                    ToolOutcome::Cancelled => {
                        Text::CancelledCall.in_locale(&self.context.locale).into()
                    }
                    _ => failure.error.text(),
                };
                let validators = &self.services.validators;
                let mut error =
                    check_error(validators, spec, failure.error).with("tool_id", spec.id.as_str());
                error.set_message(said);
                (CallDone::failed(ready, outcome, error), ValueChanges::default())
            }
        }
    }

    /// For a remote caller and its model, replaces the details of a service's failure in the
    /// result. A failure in the tool's own words is kept. The record of the outcome contains the
    /// complete error.
    fn hide_failure_details(&self, done: &mut CallDone) {
        let Some(error) = done.error.as_mut().filter(|_| self.context.is_remote()) else {
            return;
        };
        let is_services = matches!(
            error.code,
            ErrorCode::ToolHttpError
                | ErrorCode::ToolTimeout
                | ErrorCode::RateLimited
                | ErrorCode::InternalError
        );
        if !is_services
            || matches!(
                error.known_reason(),
                Some(contract::Reason::McpToolError | contract::Reason::AuditUnavailable)
            )
            || done.outcome == ToolOutcome::Cancelled
        {
            return;
        }
        tracing::warn!(tool = %done.tool, error = %error.message, reason = error.reason_text(), "a service failed");
        let mut said = Text::ServiceFailed.in_locale(&self.context.locale).to_owned();
        if done.outcome == ToolOutcome::Unknown {
            said = format!("{said} {}", Text::UnknownOutcome.in_locale(&self.context.locale));
        }
        error.details.remove("hint");
        error.remove_texts();
        error.message.clone_from(&said);
        done.summary = said;
    }

    async fn keep_session_values(&self, news: ValueChanges) {
        if news.is_empty() {
            return;
        }
        if let Err(error) = self.context.services.values.put(&self.context.session, news).await {
            tracing::warn!(%error, "session values could not be kept");
        }
    }

    /// Notifies the user that a result was cut.
    async fn report_cut(&self, done: &CallDone) {
        if done.cut.is_none() {
            return;
        }
        let notice = ItemBody::Notice {
            level: NoticeLevel::Warning,
            code: "result_cut".into(),
            text: format!("{}: {}", done.title, done.summary).into(),
        };
        if self.context.save(vec![self.context.item(notice)]).await.is_err() {
            tracing::warn!("the notice of a cut result could not be saved");
        }
    }
}

/// Replaces each JSON text in a result by its value, if `wants` returns true for the value.
fn read_texts(data: &mut Value, wants: &dyn Fn(&Value) -> bool) {
    match data {
        Value::String(_) => {
            let members = match json_text::members_of(data) {
                Cow::Owned(members) if wants(&members) => members,
                _ => return,
            };
            *data = members;
        }
        Value::Array(list) => list.iter_mut().for_each(|value| read_texts(value, wants)),
        Value::Object(members) => members.values_mut().for_each(|value| read_texts(value, wants)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the values from a result that the session stores.
fn session_values(spec: &ToolSpec, data: &Value) -> ValueChanges {
    let found = |pointer: &str| data.pointer(pointer).filter(|value| !value.is_null()).cloned();
    spec.session_values
        .iter()
        .filter_map(|wanted| Some((wanted.name.clone(), Some(found(&wanted.pointer)?))))
        .collect()
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

/// Returns the idempotency key, which is the same for all attempts of a call and differs between
/// calls. A call without an approval uses its own id.
fn idempotency_key(
    spec: &ToolSpec,
    arguments: &Value,
    approval: Option<&ApprovalId>,
    call: &CallId,
) -> Option<String> {
    let signed = approval.map_or(call.as_str(), ApprovalId::as_str);
    match spec.idempotency {
        IdempotencyStrategy::None => None,
        IdempotencyStrategy::ExternalKey => {
            let given = arguments.get(spec.idempotency_key_ref.as_deref()?)?;
            Some(given.as_str().map_or_else(|| given.to_string(), str::to_owned))
                .filter(|key| !key.is_empty())
        }
        IdempotencyStrategy::Header
        | IdempotencyStrategy::PayloadField
        | IdempotencyStrategy::HashPayload => Some(sha256_hex(
            canonical(&json!({"tool": spec.id, "arguments": arguments, "approval": signed}))
                .as_bytes(),
        )),
    }
}

/// Returns a one-line summary of a result from its common fields. The summary is incomplete; the
/// window shows the whole result on request.
fn summary_line(data: &Value) -> String {
    let count = data.get("totalCount").or_else(|| data.get("items").filter(|i| i.is_array()));
    match (data.get("summary").and_then(Value::as_str), count) {
        (Some(text), _) => text.chars().take(160).collect(),
        (None, Some(Value::Number(n))) => format!("{n} found"),
        (None, Some(Value::Array(list))) if list.len() == 1 => "1 line".into(),
        (None, Some(Value::Array(list))) => format!("{} lines", list.len()),
        (None, _) => {
            data.get("name").and_then(Value::as_str).unwrap_or_default().chars().take(160).collect()
        }
    }
}
