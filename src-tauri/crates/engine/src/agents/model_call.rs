//! Makes a call of the turn's model: shortens the conversation if needed, sends the messages, reads
//! the answer as a stream, and records the call. A conversation that is longer than the model can
//! read is sent without its oldest turns. The newest message is always sent.

use std::sync::Arc;

use contract::{
    AgentError, Choice, ErrorCode, EventBody, ItemBody, NoticeLevel, RecordType, Stage,
    ToParam as _, label_text,
};
use futures::StreamExt;
use redaction::Restoring;
use serde_json::json;
use tracing::{Instrument as _, field::Empty};

use crate::{
    agents::{
        answer::AnswerBuilder,
        fit::{TOO_LONG, is_too_long, turn_ends},
    },
    canonical::sha256_hex,
    context::egress::EgressSession,
    ports::{
        AskedCall, Finish, Message, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Opaque,
        Outbound, Point, Purpose, RecordDraft, Structured, ToolDef,
    },
    texts::Text,
    turn::{
        context::TurnContext, frame::Frame, outcome::End, partial::Pace, refusals::millis,
        run_context::RunContext,
    },
};

/// The result of a model call.
#[derive(Default)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) calls: Vec<AskedCall>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) opaque: Option<Opaque>,
    pub(crate) finish: Option<Finish>,
    /// Whether a known secret was removed from the answer.
    pub(crate) has_secret: bool,
    /// White space that the model sent before the first word of its answer.
    pub(crate) blanks: String,
}

impl Reply {
    /// Collects the first pieces of the answer. Returns the text from the first line that contains
    /// a word, or an empty string while only white space has arrived.
    fn collect_opening_text(&mut self, text: &str) -> String {
        self.blanks.push_str(text);
        let blank = self.blanks.len() - self.blanks.trim_start().len();
        if blank == self.blanks.len() {
            return String::new();
        }
        let line = self.blanks[..blank].rfind('\n').map_or(0, |at| at + 1);
        self.blanks.split_off(line)
    }
}

/// The input of a model call.
pub(crate) struct ModelCallRequest<'a> {
    /// The messages to send; the first one is the prompt.
    pub(crate) messages: &'a [Message],
    /// The number of messages from earlier turns, which directly follow the prompt.
    pub(crate) earlier: usize,
    /// The end of the prompt, which differs between messages.
    pub(crate) passing: Outbound,
    pub(crate) tools: Vec<ToolDef>,
    pub(crate) structured: Option<Structured>,
    pub(crate) purpose: Purpose,
}

impl ModelCallRequest<'_> {
    /// Whether only the host reads this answer, so that it is not shown to the user as it arrives.
    fn is_quiet(&self) -> bool {
        matches!(self.purpose, Purpose::Route { .. })
    }
}

/// Calls the turn's model.
pub(crate) struct ModelCaller<'t> {
    context: Arc<TurnContext>,
    words: Arc<EgressSession>,
    pub(crate) answer: &'t mut AnswerBuilder,
    /// The number of model calls begun in this turn.
    calls_made: u32,
    /// The number of times that half of the remaining earlier turns was omitted because the model
    /// could not read all of them.
    halvings: u32,
}

impl<'t> ModelCaller<'t> {
    pub(crate) fn new(
        context: &Arc<TurnContext>,
        words: &Arc<EgressSession>,
        answer: &'t mut AnswerBuilder,
    ) -> Self {
        Self {
            context: Arc::clone(context),
            words: Arc::clone(words),
            answer,
            calls_made: 0,
            halvings: 0,
        }
    }

    /// Makes a model call. Omits the oldest turns until the conversation fits. All attempts
    /// together count as a single model call.
    pub(crate) async fn ask(&mut self, asked: ModelCallRequest<'_>) -> Result<Reply, End> {
        self.begin().await?;
        self.answer.kept = None;
        loop {
            let ends = turn_ends(asked.messages, asked.earlier);
            // After a model could not read a conversation, it gets fewer turns from then on, also
            // in later rounds.
            let left_out = ends.len() - (ends.len() >> self.halvings.min(31));
            if left_out > 0 {
                tracing::debug!(turns = left_out, of = ends.len(), "the oldest turns are left out");
            }
            let begin = if left_out == 0 { 1 } else { ends[left_out - 1] };
            match self.ask_once(&asked, begin).await {
                Err(End::Failed { partial, error })
                    if left_out < ends.len() && partial.is_empty() && is_too_long(&error) =>
                {
                    self.leave_out_half().await;
                    self.context.check_egress()?;
                }
                other => return other,
            }
        }
    }

    /// Halves the number of earlier turns that this turn sends from now on.
    async fn leave_out_half(&mut self) {
        self.halvings += 1;
        if self.halvings > 1 {
            return;
        }
        tracing::warn!("the conversation is too long for the model: its oldest turns are left out");
        let text = Text::OldestLeftOut.in_locale(&self.context.locale).into();
        let item = self.context.item(ItemBody::Notice {
            level: NoticeLevel::Warning,
            code: "oldest_left_out".into(),
            text,
        });
        self.context.add_item(item, "the notice of what was left out could not be saved").await;
    }

    /// Returns how many model calls this turn may still make.
    pub(crate) fn calls_left(&self) -> u32 {
        self.context.settings.limits.model_calls.clamp(1, 100).saturating_sub(self.calls_made)
    }

    /// Prepares a model call: checks whether it is allowed, counts it, and emits its event once.
    async fn begin(&mut self) -> Result<(), End> {
        self.context.check_egress()?;
        self.context.probe(Point::BeforeModelCall);
        self.words.store_numbers().await.map_err(End::failed)?;
        self.calls_made += 1;
        self.context.emit(EventBody::Status { stage: Stage::Thinking, text: None });
        Ok(())
    }

    /// Makes an attempt and records it. Sends the prompt and the messages from index `begin` on.
    async fn ask_once(&mut self, asked: &ModelCallRequest<'_>, begin: usize) -> Result<Reply, End> {
        let (quiet, task) = (asked.is_quiet(), task(&asked.purpose));
        let context = Arc::clone(&self.context);
        let profile = &context.world().profile;
        let request = ModelRequest {
            messages: asked.messages[..1].iter().chain(&asked.messages[begin..]).cloned().collect(),
            passing: asked.passing.clone(),
            tools: asked.tools.clone(),
            structured: asked.structured.clone(),
            purpose: asked.purpose.clone(),
            // The meter sets both limits when it makes the reservation for the call.
            max_output_tokens: None,
            left_output_tokens: None,
            whole: self.context.run_with_listener().is_some_and(RunContext::whole),
            locale: self.context.locale.clone(),
            now: Some(self.context.world().clock.now()),
            time_zone: profile.time_zone(),
        };
        let mut reply = Reply::default();
        let span = tracing::info_span!(target: "spans", "model_call", task, model = Empty, calls = Empty, tokens_in = Empty, tokens_out = Empty, status = Empty);
        let (before, began) = (self.answer.usage(), tokio::time::Instant::now());
        let outcome = self.read_stream(request, &mut reply, quiet).instrument(span.clone()).await;
        self.context.account.entries().model_time += began.elapsed();
        self.tell_without_tools().await;
        let status = match &outcome {
            Ok(()) => "ok",
            Err(End::Cancelled { .. }) => "cancelled",
            Err(End::Answer { .. } | End::Failed { .. } | End::ApprovalRequired { .. }) => "error",
        };
        let usage = self.answer.usage();
        let model = self.answer.model_label();
        span.record("model", &model).record("calls", reply.calls.len()).record("status", status);
        span.record("tokens_in", usage.input_tokens - before.input_tokens)
            .record("tokens_out", usage.output_tokens - before.output_tokens);
        self.context
            .record(
                RecordDraft::new(RecordType::ModelCall)
                    .field("model", model)
                    .field("status", status)
                    .field("task", task)
                    .field("level", if status == "error" { "error" } else { "info" })
                    .field("duration_ms", millis(began.elapsed()))
                    .field("agent", self.answer.agent_id())
                    .field("local", self.context.model.is_local())
                    .field("calls", reply.calls.len())
                    .field("secret_removed", reply.has_secret)
                    .field("prompt_sha256", hash_prompt(&asked.messages[0]))
                    .field("redaction", json!(self.words.level()))
                    .field(
                        "replaced",
                        self.words.counts().iter().map(|count| count.count).sum::<u32>(),
                    )
                    .field("tokens_in_so_far", usage.input_tokens)
                    .field("tokens_out_so_far", usage.output_tokens),
            )
            .await;
        outcome?;
        self.context.probe(Point::AfterModelCall);
        Ok(reply)
    }

    async fn read_stream(
        &mut self,
        request: ModelRequest,
        reply: &mut Reply,
        quiet: bool,
    ) -> Result<(), End> {
        let restorer = self.words.restorer();
        let (mut said, mut thought) = (restorer.restoring(), restorer.restoring());
        let mut stream = self.context.model.stream(request);
        let (mut frame, mut pace) = (Frame::new(), Pace::new());
        let mut loads = false;
        // Creates the cancellation future once instead of once per event.
        let context = Arc::clone(&self.context);
        let cancelled = context.cancel.cancelled();
        tokio::pin!(cancelled);
        loop {
            let event = tokio::select! {
                // A cancelled turn ends before it takes another event.
                biased;
                () = &mut cancelled => {
                    if quiet {
                        return Err(End::Cancelled { partial: String::new() });
                    }
                    let rest = said.end();
                    self.deliver(reply, &mut frame, rest);
                    self.answer.show(frame.take());
                    return Err(End::Cancelled { partial: std::mem::take(&mut reply.text) });
                }
                () = frame.wait_until_due(), if frame.has_held_text() => {
                    self.answer.show(frame.take());
                    continue;
                }
                () = pace.wait_until_due(), if pace.has_unstored() => {
                    self.answer.store_partial(&reply.text).await;
                    continue;
                }
                event = stream.next() => event,
            };
            if quiet {
                match self.take_quietly(event, reply, &mut said).await? {
                    true => continue,
                    false => return Ok(()),
                }
            }
            if matches!(event, None | Some(Err(_))) {
                let rest = said.end();
                self.deliver(reply, &mut frame, rest);
            }
            // Held text is shown before any other event, so that listeners get everything in the
            // model's order.
            if !matches!(event, Some(Ok(ModelEvent::Text(_)))) {
                self.answer.show(frame.take());
            }
            self.show_loading(&event, &mut loads);
            if said.has_removed() || thought.has_removed() {
                self.tell_secret_removed(reply).await;
            }
            match event {
                None => return Ok(()),
                Some(Err(error)) => {
                    return Err(End::Failed {
                        partial: std::mem::take(&mut reply.text),
                        error: self.failure(&error),
                    });
                }
                Some(Ok(ModelEvent::Text(text))) => {
                    self.deliver(reply, &mut frame, said.push(&text));
                    pace.note_text();
                }
                Some(Ok(ModelEvent::Reasoning(text))) => {
                    self.context.emit(EventBody::Reasoning { text: thought.push(&text) })
                }
                Some(Ok(ModelEvent::WasThought)) => {
                    let rest = said.end();
                    said = restorer.restoring();
                    self.deliver(reply, &mut frame, rest);
                    frame = Frame::new();
                    self.take_as_thought(reply);
                    pace.note_text();
                }
                Some(Ok(ModelEvent::Loading)) => {}
                Some(Ok(ModelEvent::Call(call))) => {
                    let arguments = restorer.restore_arguments(call.arguments);
                    reply.calls.push(self.asked(&call.name, arguments));
                }
                Some(Ok(ModelEvent::Choices(choices))) => {
                    let restored = |choice: Choice| Choice {
                        label: restorer.restore(&choice.label),
                        message: restorer.restore(&choice.message),
                        ..choice
                    };
                    reply.choices = choices.into_iter().map(restored).collect();
                }
                Some(Ok(ModelEvent::Opaque(opaque))) => reply.opaque = Some(opaque),
                Some(Ok(ModelEvent::LocalData)) => self.context.note_local_data(),
                Some(Ok(ModelEvent::SecretRemoved)) => self.tell_secret_removed(reply).await,
                Some(Ok(ModelEvent::FellBack { from, to, why, .. })) => {
                    self.answer.fall_back(&from, to, why).await
                }
                Some(Ok(ModelEvent::Done { usage, finish })) => {
                    reply.finish = Some(finish);
                    self.answer.add_usage(usage);
                }
            }
        }
    }

    /// Returns the error of the turn. For callers over HTTP, the error contains no text of the
    /// model's server.
    fn failure(&self, error: &ModelError) -> AgentError {
        let is_remote = self.context.is_remote();
        model_error(
            error,
            if is_remote { error.message.clone() } else { error.message_with_quote() },
        )
    }

    /// Shows that the server is loading the model, and later that the model is answering.
    fn show_loading(&self, event: &Option<Result<ModelEvent, ModelError>>, loads: &mut bool) {
        let (stage, text) = match event {
            Some(Ok(ModelEvent::Loading)) => {
                *loads = true;
                let text = Text::ModelLoads.in_locale(&self.context.locale);
                (Stage::Retrying, Some(text.to_owned()))
            }
            Some(Ok(_)) if std::mem::take(loads) => (Stage::Thinking, None),
            Some(_) | None => return,
        };
        self.context.emit(EventBody::Status { stage, text });
    }

    /// Returns a call with an id assigned by the host, because a provider's ids may repeat or be
    /// empty.
    fn asked(&self, name: &str, arguments: String) -> AskedCall {
        let id = contract::CallId(self.context.world().ids.next("call"));
        AskedCall { id, name: self.usable(name), arguments }
    }

    /// Returns a name for the called tool that every provider accepts in the next request. A tool's
    /// id is replaced by its name for models. In any other name, characters that providers reject
    /// are replaced. The made-up name never equals the name of an offered tool.
    fn usable(&self, name: &str) -> String {
        let is_offered = |name: &str| self.context.specs.iter().any(|spec| spec.model_name == name);
        if is_offered(name) {
            return name.to_owned();
        }
        if let Some(spec) = self
            .context
            .specs
            .iter()
            .find(|spec| spec.id.as_str() == name || spec.qualified_id().as_str() == name)
        {
            return spec.model_name.clone();
        }
        let fits =
            |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let made: String = name.chars().take(64).map(fits).collect();
        match made.as_str() {
            "" => "unnamed".to_owned(),
            made if is_offered(made) => {
                format!("{}_unknown", made.chars().take(56).collect::<String>())
            }
            _ => made,
        }
    }

    /// Handles an event of an answer that only the host reads. Returns false when the stream has
    /// ended.
    async fn take_quietly(
        &mut self,
        event: Option<Result<ModelEvent, ModelError>>,
        reply: &mut Reply,
        said: &mut Restoring,
    ) -> Result<bool, End> {
        match event {
            None => {
                reply.text.push_str(&said.end());
                return Ok(false);
            }
            Some(Err(error)) => {
                return Err(End::Failed { partial: String::new(), error: self.failure(&error) });
            }
            Some(Ok(ModelEvent::Text(text))) => reply.text.push_str(&said.push(&text)),
            Some(Ok(ModelEvent::Call(call))) => {
                let arguments = self.words.restorer().restore_arguments(call.arguments);
                reply.calls.push(AskedCall { arguments, ..call });
            }
            Some(Ok(ModelEvent::FellBack { from, to, why, .. })) => {
                self.answer.fall_back(&from, to, why).await
            }
            Some(Ok(ModelEvent::LocalData)) => self.context.note_local_data(),
            Some(Ok(ModelEvent::SecretRemoved)) => self.tell_secret_removed(reply).await,
            Some(Ok(ModelEvent::Done { usage, finish })) => {
                reply.finish = Some(finish);
                self.answer.add_usage(usage);
            }
            Some(Ok(ModelEvent::WasThought)) => {
                said.end();
                reply.text.clear();
            }
            Some(Ok(
                ModelEvent::Reasoning(_)
                | ModelEvent::Choices(_)
                | ModelEvent::Opaque(_)
                | ModelEvent::Loading,
            )) => {}
        }
        Ok(true)
    }

    /// Notifies the user, once per conversation, that the model does not support tools. The
    /// server may have said so, or the model may be known for it.
    async fn tell_without_tools(&mut self) {
        let model = &self.context.model;
        let (label, refused) = (model.label(), model.tools_refused());
        // If one of two models answers, that model may support tools.
        let is_unable = !model.capabilities().tools && model.possible_labels().len() == 1;
        if self.context.specs.is_empty() || refused.is_none() && !is_unable {
            return;
        }
        if let Some(refused) = &refused {
            self.context.services.models.refusals.keep(&label, refused.at).await;
        }
        let model = label_text(&label).to_param();
        let text = Text::NoTools.in_locale(&self.context.locale);
        let text = contract::Text::filled(text, [("model", model)]);
        let said = refused.and_then(|refused| refused.said);
        let text = said.into_iter().fold(text, contract::Text::append);
        self.answer.tell_once("model_without_tools", text).await;
    }

    /// Marks the text so far as thoughts. Listeners that took the text for the answer are notified.
    fn take_as_thought(&mut self, reply: &mut Reply) {
        let text = std::mem::take(&mut reply.text) + &std::mem::take(&mut reply.blanks);
        if text.is_empty() {
            return;
        }
        self.answer.clear_shown();
        self.context.emit(EventBody::Status { stage: Stage::OutputReplaced, text: None });
        self.context.emit(EventBody::Status { stage: Stage::Thinking, text: None });
        self.context.emit(EventBody::Reasoning { text });
    }

    /// Records that a known secret was removed from the answer, and notifies the user.
    async fn tell_secret_removed(&mut self, reply: &mut Reply) {
        reply.has_secret = true;
        self.answer.tell_secret_removed().await;
    }

    /// Adds a piece of text to the answer and shows it, at once or with the next frame. White space
    /// before the first word is not shown, except the indentation of the first line. An answer that
    /// contains only white space is treated as empty.
    fn deliver(&mut self, reply: &mut Reply, frame: &mut Frame, text: String) {
        let text = if reply.text.is_empty() { reply.collect_opening_text(&text) } else { text };
        if text.is_empty() {
            return;
        }
        if reply.text.is_empty() {
            self.context.probe(Point::WhileStreaming);
            self.answer.clear_shown();
        }
        reply.text.push_str(&text);
        self.answer.show(frame.add(text));
    }
}

/// Returns the hash of the sent prompt, so that a reviewer can see whether two calls had the same
/// prompt.
fn hash_prompt(prompt: &Message) -> String {
    match prompt {
        Message::System { text } => sha256_hex(text.as_str().as_bytes()),
        Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. } => String::new(),
    }
}

/// Returns the name of a model call's purpose for the audit record.
fn task(purpose: &Purpose) -> &'static str {
    match purpose {
        Purpose::Answer => "answer",
        Purpose::Assist { .. } => "assist",
        Purpose::Part { .. } => "part",
        Purpose::Route { .. } => "route",
        Purpose::Synthesis { .. } => "synthesis",
    }
}

/// Returns a model error of a turn with this sentence.
fn model_error(error: &ModelError, message: contract::Text) -> AgentError {
    let (code, reason) = match error.kind {
        ModelErrorKind::RateLimited => (ErrorCode::RateLimited, "provider_rate_limit"),
        ModelErrorKind::Unavailable | ModelErrorKind::Broken => {
            (ErrorCode::LlmError, "provider_unavailable")
        }
        ModelErrorKind::Unauthorized => (ErrorCode::LlmError, "provider_unauthorized"),
        ModelErrorKind::BadRequest => (ErrorCode::LlmError, "provider_refused"),
        ModelErrorKind::TooLong => (ErrorCode::LlmError, TOO_LONG),
        ModelErrorKind::Protocol => (ErrorCode::LlmError, "provider_protocol"),
    };
    let mut out =
        AgentError::new(code, message).reason(reason).retryable(error.kind.is_retryable());
    if let Some(hint) = &error.hint {
        out = out.hint(hint.clone());
    }
    if let Some(ms) = error.retry_after_ms {
        out = out.with("retry_after_ms", ms);
    }
    out
}
