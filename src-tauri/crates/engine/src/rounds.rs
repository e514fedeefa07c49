//! The rounds of a turn: ask the model, run what it calls, until it answers or the bound is reached. There is always an answer.

use std::sync::{Arc, PoisonError, atomic::Ordering};

use contract::{AgentError, Choice, ErrorCode, EventBody, ItemBody, NoticeLevel, RecordType, Stage, TurnStatus, Usage};
use futures::StreamExt;
use redaction::Restoring;
use serde_json::json;

use crate::{
    egress::Words,
    frame::Frame,
    history,
    ports::{AskedCall, Message, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Opaque, Point, RecordDraft, ToolDef},
    prompt,
    texts::Text,
    turn::{End, Turn},
};

/// What one model call brought.
#[derive(Default)]
struct Reply {
    text: String,
    calls: Vec<AskedCall>,
    choices: Vec<Choice>,
    opaque: Option<Opaque>,
}

impl Turn {
    /// Runs the rounds after the user's message has been saved.
    pub(crate) async fn rounds(self: Arc<Self>) -> End {
        let limits = self.settings.limits;
        let rounds = limits.rounds.clamp(1, 20);
        let words = match self.open_words().await {
            Ok(words) => words,
            Err(end) => return end,
        };
        let defs = prompt::tool_defs(&self.offered(), words);
        let system = prompt::system(self.settings.policy, self.world().clock.now(), &self.world().profile.time_zone(), words.level());
        let mut messages = vec![Message::System { text: words.text(&system) }];
        if let Some(recalled) = self.recalled() {
            self.kept.keep_items(&recalled.items, history::OLD_RESULT_CHARS);
            messages.extend(history::messages(recalled.summary(), &recalled.items, &self.specs, words));
        }
        words.forget_older();
        messages.push(Message::User { text: words.text(&self.text) });
        let mut nudged = false;
        for round in 1..=rounds {
            if let Err(error) = self.engine.check_enabled() {
                return End::Failed { partial: String::new(), error };
            }
            let last = round == rounds || nudged || self.without_tools.load(Ordering::Acquire);
            let tools = if last { Vec::new() } else { self.with_kept(&defs, words) };
            messages = words.looked_at_again(messages);
            let reply = match self.ask(messages.clone(), tools).await {
                Ok(reply) => reply,
                Err(end) => return end,
            };
            let calls = if last { Vec::new() } else { reply.calls };
            if calls.is_empty() {
                if reply.text.trim().is_empty() && !last {
                    nudged = true;
                    messages.push(Message::System { text: "Answer the user now, in text.".into() });
                    continue;
                }
                return self.answered(reply.text, reply.choices, round == rounds && !nudged);
            }
            if !reply.text.is_empty() {
                self.keep_aside(&reply.text).await;
            }
            let sent = calls.iter().map(|call| words.call(call)).collect();
            messages.push(Message::Assistant { text: words.text(&reply.text), calls: sent, opaque: reply.opaque });
            match Arc::clone(&self).run_calls(calls).await {
                Ok(done) => {
                    for result in done {
                        self.kept.keep(&result.call, &result.data, limits.result_chars as usize);
                        messages.push(result.message(limits.result_chars as usize, words));
                    }
                }
                Err(end) => return end,
            }
        }
        self.answered(String::new(), Vec::new(), true)
    }

    /// The tools of a round: with the one that reads long results, once there is one.
    fn with_kept(&self, defs: &[ToolDef], words: &Words) -> Vec<ToolDef> {
        let mut defs = defs.to_vec();
        defs.extend(self.kept.tool().as_slice().iter().flat_map(|spec| prompt::tool_defs(std::slice::from_ref(spec), words)));
        defs
    }

    fn answered(&self, text: String, choices: Vec<Choice>, at_bound: bool) -> End {
        let empty = text.trim().is_empty();
        let (text, status) = match (empty, at_bound) {
            (false, _) => (text, TurnStatus::Ok),
            (true, true) => (Text::BoundReached.in_locale(&self.locale).to_owned(), TurnStatus::Limit),
            (true, false) => (Text::EmptyAnswer.in_locale(&self.locale).to_owned(), TurnStatus::Ok),
        };
        End::Answer { text, choices, status }
    }

    /// Text that a model says beside its calls is kept in the transcript, before the calls.
    async fn keep_aside(&self, text: &str) {
        let item = self.answer_item(text, Vec::new(), false);
        match self.world().store.items_append(vec![item]).await {
            Ok(items) => self.emit_items(items),
            Err(error) => tracing::warn!(%error, "text beside calls could not be saved"),
        }
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Gets the model ready (its key is then known, and removed), and the session's placeholders.
    async fn open_words(&self) -> Result<&Words, End> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(End::Cancelled { partial: String::new() }),
            () = self.model.ready() => {}
        }
        match self.engine.words(&self.session, self.redaction_level()).await {
            Ok(words) => Ok(self.words.get_or_init(|| words)),
            Err(error) => Err(End::Failed { partial: String::new(), error: crate::store_error(&error) }),
        }
    }

    async fn ask(&self, messages: Vec<Message>, tools: Vec<ToolDef>) -> Result<Reply, End> {
        self.engine.check_egress(self.model.as_ref()).map_err(|error| End::Failed { partial: String::new(), error })?;
        self.probe(Point::BeforeModelCall);
        if let Some(words) = self.words.get() {
            words.keep_numbers().await.map_err(|error| End::Failed { partial: String::new(), error: crate::store_error(&error) })?;
        }
        self.emit(EventBody::Status { stage: Stage::Thinking, text: None });
        let profile = &self.world().profile;
        let request = ModelRequest {
            messages,
            tools,
            max_output_tokens: None,
            locale: self.locale.clone(),
            now: Some(self.world().clock.now()),
            time_zone: profile.time_zone(),
        };
        let mut reply = Reply::default();
        let outcome = self.read_stream(request, &mut reply).await;
        let status = match &outcome {
            Ok(()) => "ok",
            Err(End::Cancelled { .. }) => "cancelled",
            Err(End::Answer { .. } | End::Failed { .. } | End::ApprovalRequired { .. }) => "error",
        };
        let usage = self.usage();
        self.record(
            RecordDraft::new(RecordType::ModelCall)
                .field("model", self.answering_label())
                .field("status", status)
                .field("local", self.model.local())
                .field("calls", reply.calls.len())
                .field("redaction", json!(self.words.get().map(Words::level)))
                .field("replaced", self.words.get().map_or(0, |words| words.counts().iter().map(|count| count.count).sum::<u32>()))
                .field("tokens_in_so_far", usage.input_tokens)
                .field("tokens_out_so_far", usage.output_tokens),
        )
        .await;
        outcome?;
        self.probe(Point::AfterModelCall);
        Ok(reply)
    }

    async fn read_stream(&self, request: ModelRequest, reply: &mut Reply) -> Result<(), End> {
        let sent = self.words.get().map(Words::sent).unwrap_or_default();
        let (mut said, mut thought) = (Restoring::new(Arc::clone(&sent)), Restoring::new(Arc::clone(&sent)));
        let mut stream = self.model.stream(request);
        let mut frame = Frame::new();
        loop {
            let event = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    let rest = said.end();
                    self.deliver(reply, &mut frame, rest);
                    self.show(frame.take());
                    return Err(End::Cancelled { partial: std::mem::take(&mut reply.text) });
                }
                () = frame.due(), if frame.waits() => {
                    self.show(frame.take());
                    continue;
                }
                event = stream.next() => event,
            };
            if matches!(event, None | Some(Err(_))) {
                let rest = said.end();
                self.deliver(reply, &mut frame, rest);
            }
            if !matches!(event, Some(Ok(ModelEvent::Text(_)))) {
                self.show(frame.take());
            }
            match event {
                None => return Ok(()),
                Some(Err(error)) => return Err(End::Failed { partial: std::mem::take(&mut reply.text), error: model_error(&error) }),
                Some(Ok(ModelEvent::Text(text))) => self.deliver(reply, &mut frame, said.push(&text)),
                Some(Ok(ModelEvent::Reasoning(text))) => self.emit(EventBody::Reasoning { text: thought.push(&text) }),
                // The host names calls itself: what a provider sends may repeat or be empty.
                Some(Ok(ModelEvent::Call(call))) => {
                    let id = contract::CallId(self.world().ids.next("call"));
                    reply.calls.push(AskedCall { id, name: call.name, arguments: sent.restore_arguments(call.arguments) });
                }
                Some(Ok(ModelEvent::Choices(choices))) => {
                    let restored =
                        |choice: Choice| Choice { label: sent.restore(&choice.label).into_owned(), message: sent.restore(&choice.message).into_owned() };
                    reply.choices = choices.into_iter().map(restored).collect();
                }
                Some(Ok(ModelEvent::Opaque(opaque))) => reply.opaque = Some(opaque),
                Some(Ok(ModelEvent::FellBack { from, to, why })) => self.fell_back(&from, to, &why).await,
                Some(Ok(ModelEvent::Done { usage, .. })) => self.count(usage),
            }
        }
    }

    /// Another model took over: kept in the transcript and the log, so that nobody takes one for the other.
    async fn fell_back(&self, from: &str, to: String, why: &str) {
        let text = Text::FellBack.in_locale(&self.locale).replace("{from}", from).replace("{to}", &to).replace("{why}", why);
        let item = self.item(ItemBody::Notice { level: NoticeLevel::Warning, code: "model_fallback".into(), text });
        *self.answering.lock().unwrap_or_else(PoisonError::into_inner) = Some(to);
        match self.world().store.items_append(vec![item]).await {
            Ok(items) => self.emit_items(items),
            Err(error) => tracing::warn!(%error, "the notice of another model could not be saved"),
        }
    }

    /// Takes a piece of the answer and tells it, at once or with its frame.
    fn deliver(&self, reply: &mut Reply, frame: &mut Frame, text: String) {
        if text.is_empty() {
            return;
        }
        if reply.text.is_empty() {
            self.probe(Point::WhileStreaming);
            self.shown.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        reply.text.push_str(&text);
        self.show(frame.add(text));
    }

    fn show(&self, text: Option<String>) {
        let Some(text) = text else { return };
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
        self.emit(EventBody::Delta { text });
    }

    fn count(&self, usage: Usage) {
        let mut sum = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        sum.input_tokens += usage.input_tokens;
        sum.output_tokens += usage.output_tokens;
        sum.model_calls += 1;
    }
}

fn model_error(error: &ModelError) -> AgentError {
    let (code, reason) = match error.kind {
        ModelErrorKind::RateLimited => (ErrorCode::RateLimited, "provider_rate_limit"),
        ModelErrorKind::Unavailable => (ErrorCode::LlmError, "provider_unavailable"),
        ModelErrorKind::Unauthorized => (ErrorCode::LlmError, "provider_unauthorized"),
        ModelErrorKind::BadRequest => (ErrorCode::LlmError, "provider_refused"),
        ModelErrorKind::Protocol => (ErrorCode::LlmError, "provider_protocol"),
    };
    let mut out = AgentError::new(code, error.message.clone()).reason(reason).retryable(error.kind.retryable());
    if let Some(hint) = &error.hint {
        out = out.hint(hint.clone());
    }
    if let Some(ms) = error.retry_after_ms {
        out = out.with("retry_after_ms", ms);
    }
    out
}
