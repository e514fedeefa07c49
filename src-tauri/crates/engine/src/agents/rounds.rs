//! The rounds of a run: ask the model, run what it calls, until it answers or the bound is reached. There is always an answer.

use std::sync::{Arc, atomic::Ordering};

use contract::{AgentError, Choice, ErrorCode, EventBody, ItemBody, NoticeLevel, RecordType, Stage, TurnStatus, Usage};
use futures::StreamExt;
use redaction::Restoring;
use serde_json::json;
use tracing::{Instrument as _, field::Empty};

use crate::{
    agents::fit::TOO_LONG,
    context::{egress::EgressSession, entities, prompt},
    ports::{AskedCall, Finish, Message, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Opaque, Point, Purpose, RecordDraft, Structured, ToolDef},
    texts::Text,
    tools::refusals::millis,
    turn::{
        Turn,
        ending::{End, said_below},
        frame::Frame,
    },
};

/// What one model call brought.
#[derive(Default)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) calls: Vec<AskedCall>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) opaque: Option<Opaque>,
    pub(crate) finish: Option<Finish>,
    /// What came before the first word.
    pub(crate) blanks: String,
}

impl Reply {
    /// The beginning of the answer from its first line on; empty while there is no word.
    fn opened_by(&mut self, text: &str) -> String {
        self.blanks.push_str(text);
        let blank = self.blanks.len() - self.blanks.trim_start().len();
        if blank == self.blanks.len() {
            return String::new();
        }
        let line = self.blanks[..blank].rfind('\n').map_or(0, |at| at + 1);
        self.blanks.split_off(line)
    }
}

/// One run of rounds: of a specialist, or of the one assistant there is.
pub(crate) struct Run {
    /// The conversation as it goes out, the prompt first.
    pub(crate) messages: Vec<Message>,
    /// Messages of earlier turns, behind the prompt.
    pub(crate) earlier: usize,
    pub(crate) tools: Vec<ToolDef>,
    pub(crate) purpose: Purpose,
    /// Most model calls; the last is made without tools.
    pub(crate) rounds: u32,
}

/// One model call as it is asked for.
pub(crate) struct ModelCallRequest<'a> {
    /// The prompt first.
    pub(crate) messages: &'a [Message],
    /// Messages of earlier turns, behind the prompt.
    pub(crate) earlier: usize,
    pub(crate) tools: Vec<ToolDef>,
    pub(crate) structured: Option<Structured>,
    pub(crate) purpose: Purpose,
}

impl ModelCallRequest<'_> {
    /// What is asked for is not for the user's eyes: nothing of it is told while it comes.
    fn is_quiet(&self) -> bool {
        matches!(self.purpose, Purpose::Route { .. })
    }
}

impl Turn {
    /// Runs the rounds until there is an answer.
    pub(crate) async fn rounds(self: &Arc<Self>, words: &EgressSession, run: &mut Run) -> End {
        let limits = self.settings.limits;
        let rounds = run.rounds.min(self.calls_left()).max(1);
        let mut nudged = false;
        for round in 1..=rounds {
            // Whoever is at work may have been switched off since the last call.
            let enabled = match self.agent() {
                Some(agent) => self.engine.check_agent(&agent.id),
                None => self.engine.check_enabled(),
            };
            if let Err(error) = enabled {
                return End::Failed { partial: String::new(), error };
            }
            let last = round == rounds || nudged || self.without_tools.load(Ordering::Acquire) || self.out_of_time();
            let tools = if last { Vec::new() } else { self.with_kept(&run.tools, words) };
            run.messages = words.looked_at_again(std::mem::take(&mut run.messages));
            let asked = ModelCallRequest { messages: &run.messages, earlier: run.earlier, tools, structured: None, purpose: run.purpose.clone() };
            let reply = match self.ask(asked).await {
                Ok(reply) => reply,
                Err(end) => return end,
            };
            let calls = if last { Vec::new() } else { reply.calls };
            if calls.is_empty() {
                // What was cut before its first word would be again.
                if reply.text.trim().is_empty() && !last && reply.finish != Some(Finish::Length) {
                    nudged = true;
                    run.messages.push(Message::System { text: "Answer the user now, in text.".into() });
                    continue;
                }
                let text = self.marked_where_cut(reply.text, reply.finish);
                return self.answered(text, reply.choices, round == rounds && !nudged);
            }
            if !reply.text.trim().is_empty() {
                self.keep_aside(&reply.text).await;
            }
            let sent = calls.iter().map(|call| words.call(call)).collect();
            run.messages.push(Message::Assistant { text: words.text(&reply.text), calls: sent, opaque: reply.opaque });
            match Arc::clone(self).run_calls(calls).await {
                Ok(done) => {
                    let guidance = self.guidance(&done, words);
                    for result in done {
                        self.note_used(&result);
                        run.messages.push(result.message(limits.result_chars as usize, &self.kept, words));
                    }
                    run.messages.extend(guidance);
                }
                Err(end) => return end,
            }
        }
        self.answered(String::new(), Vec::new(), true)
    }

    /// Model calls that this turn may still make.
    pub(crate) fn calls_left(&self) -> u32 {
        self.settings.limits.model_calls.clamp(1, 100).saturating_sub(self.asked.load(Ordering::Acquire))
    }

    /// The tools of a round: with the one that reads long results, once there is one.
    fn with_kept(&self, defs: &[ToolDef], words: &EgressSession) -> Vec<ToolDef> {
        let mut defs = defs.to_vec();
        defs.extend(self.kept.tool().as_slice().iter().flat_map(|spec| prompt::tool_defs(std::slice::from_ref(spec), words)));
        defs
    }

    /// An answer that a budget, the model or its provider ended before its end says so, also where nothing of it came. A caller that said
    /// how long an answer may be knows.
    pub(crate) fn marked_where_cut(&self, text: String, finish: Option<Finish>) -> String {
        let (account, empty) = (&self.account, text.trim().is_empty());
        let why = match finish {
            Some(Finish::Length) if account.cut.load(Ordering::Acquire) => self.budget_cut(),
            Some(Finish::Length) if empty || account.max_output_tokens.is_none() => Text::LengthCut.in_locale(&self.locale),
            Some(Finish::ContentFilter) if !empty => Text::FilterCut.in_locale(&self.locale),
            Some(Finish::Length | Finish::ContentFilter | Finish::Stop | Finish::ToolCalls | Finish::OutOfScope) | None => return text,
        };
        let added = said_below(&text, why);
        self.show(Some(added.clone()));
        text + &added
    }

    /// The end of a run: its text, or the host's own when there is none, with what the host adds to it.
    fn answered(&self, text: String, choices: Vec<Choice>, at_bound: bool) -> End {
        let empty = text.trim().is_empty();
        // The sentence of the bound speaks of what stands above it.
        self.account.in_parts.store(empty && at_bound, Ordering::Release);
        let (text, status) = match (empty, at_bound) {
            (false, _) => (text, TurnStatus::Ok),
            (true, true) => (Text::BoundReached.in_locale(&self.locale).to_owned(), TurnStatus::Limit),
            (true, false) => (Text::EmptyAnswer.in_locale(&self.locale).to_owned(), TurnStatus::Ok),
        };
        let mut notes: Vec<String> = Vec::new();
        let used = std::mem::take(&mut *self.used.lock());
        notes.extend(self.agent().and_then(|agent| entities::line(&agent, &used, &self.locale)));
        let mut reused = std::mem::take(&mut *self.reused.lock());
        reused.dedup();
        let as_of = |at: &String| format!("{} {at}", Text::AsOf.in_locale(&self.locale));
        notes.extend(reused.iter().map(as_of).filter(|note| !text.contains(note.as_str())));
        let added = if notes.is_empty() { String::new() } else { said_below(&text, &format!("*{}.*", notes.join("; "))) };
        if !empty && !added.is_empty() {
            self.show(Some(added.clone()));
        }
        let text = format!("{text}{added}");
        End::Answer { text, choices, status }
    }

    /// Text that a model says beside its calls is kept in the transcript, before the calls.
    pub(crate) async fn keep_aside(&self, text: &str) {
        self.asides.lock().push(text.to_owned());
        let item = self.answer_item(text, Vec::new(), false);
        match self.world().store.items_append(vec![item]).await {
            Ok(items) => self.emit_items(items),
            Err(error) => tracing::warn!(%error, "text beside calls could not be saved"),
        }
        self.shown.lock().clear();
    }

    /// Gets the model ready (its key is then known, and removed), and the session's placeholders.
    pub(crate) async fn open_words(&self) -> Result<&EgressSession, End> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(End::Cancelled { partial: String::new() }),
            () = self.model.ready() => {}
        }
        match self.engine.words(&self.session, self.redaction_level(), self.model.reads_values()).await {
            Ok(words) => Ok(self.words.get_or_init(|| words)),
            Err(error) => Err(End::Failed { partial: String::new(), error: error.into() }),
        }
    }

    /// What comes before a model call, which is counted and told once.
    pub(crate) async fn begin_asking(&self) -> Result<(), End> {
        self.check_egress()?;
        self.probe(Point::BeforeModelCall);
        if let Some(words) = self.words.get() {
            words.keep_numbers().await.map_err(|error| End::Failed { partial: String::new(), error: error.into() })?;
        }
        self.asked.fetch_add(1, Ordering::AcqRel);
        self.emit(EventBody::Status { stage: Stage::Thinking, text: None });
        Ok(())
    }

    pub(crate) fn check_egress(&self) -> Result<(), End> {
        self.engine.check_egress(self.model.as_ref()).map_err(|error| End::Failed { partial: String::new(), error })
    }

    /// One model call, recorded: the prompt, and the messages from `begin` on.
    pub(crate) async fn ask_once(&self, asked: &ModelCallRequest<'_>, begin: usize) -> Result<Reply, End> {
        let (quiet, task) = (asked.is_quiet(), task(&asked.purpose));
        let profile = &self.world().profile;
        let request = ModelRequest {
            messages: asked.messages[..1].iter().chain(&asked.messages[begin..]).cloned().collect(),
            tools: asked.tools.clone(),
            structured: asked.structured.clone(),
            purpose: asked.purpose.clone(),
            max_output_tokens: None,
            left_output_tokens: None,
            whole: self.run.as_ref().is_some_and(|run| run.whole()),
            locale: self.locale.clone(),
            now: Some(self.world().clock.now()),
            time_zone: profile.time_zone(),
        };
        let mut reply = Reply::default();
        let span =
            tracing::info_span!(target: "spans", "model_call", task, model = Empty, calls = Empty, tokens_in = Empty, tokens_out = Empty, status = Empty);
        let (before, began) = (self.usage(), tokio::time::Instant::now());
        let outcome = self.read_stream(request, &mut reply, quiet).instrument(span.clone()).await;
        let status = match &outcome {
            Ok(()) => "ok",
            Err(End::Cancelled { .. }) => "cancelled",
            Err(End::Answer { .. } | End::Failed { .. } | End::ApprovalRequired { .. }) => "error",
        };
        let usage = self.usage();
        let model = self.answering_label();
        span.record("model", &model).record("calls", reply.calls.len()).record("status", status);
        span.record("tokens_in", usage.input_tokens - before.input_tokens).record("tokens_out", usage.output_tokens - before.output_tokens);
        self.record(
            RecordDraft::new(RecordType::ModelCall)
                .field("model", model)
                .field("status", status)
                .field("task", task)
                .field("level", if status == "error" { "error" } else { "info" })
                .field("duration_ms", millis(began.elapsed()))
                .field("agent", self.agent_id())
                .field("local", self.model.local())
                .field("calls", reply.calls.len())
                .field("redaction", json!(self.words.get().map(EgressSession::level)))
                .field("replaced", self.words.get().map_or(0, |words| words.counts().iter().map(|count| count.count).sum::<u32>()))
                .field("tokens_in_so_far", usage.input_tokens)
                .field("tokens_out_so_far", usage.output_tokens),
        )
        .await;
        outcome?;
        self.probe(Point::AfterModelCall);
        Ok(reply)
    }

    async fn read_stream(&self, request: ModelRequest, reply: &mut Reply, quiet: bool) -> Result<(), End> {
        let sent = self.words.get().map(EgressSession::sent).unwrap_or_default();
        let (mut said, mut thought) = (Restoring::new(Arc::clone(&sent)), Restoring::new(Arc::clone(&sent)));
        let mut stream = self.model.stream(request);
        let mut frame = Frame::new();
        // One wait for all events, and not a new one for each.
        let cancelled = self.cancel.cancelled();
        tokio::pin!(cancelled);
        loop {
            let event = tokio::select! {
                biased;
                () = &mut cancelled => {
                    if quiet {
                        return Err(End::Cancelled { partial: String::new() });
                    }
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
                    reply.calls.push(AskedCall { id, name: self.usable(&call.name), arguments: sent.restore_arguments(call.arguments) });
                }
                Some(Ok(ModelEvent::Choices(choices))) => {
                    let restored =
                        |choice: Choice| Choice { label: sent.restore(&choice.label).into_owned(), message: sent.restore(&choice.message).into_owned() };
                    reply.choices = choices.into_iter().map(restored).collect();
                }
                Some(Ok(ModelEvent::Opaque(opaque))) => reply.opaque = Some(opaque),
                Some(Ok(ModelEvent::FellBack { from, to, why, .. })) => self.fell_back(&from, to, &why).await,
                Some(Ok(ModelEvent::Done { usage, finish })) => {
                    reply.finish = Some(finish);
                    self.count(usage);
                }
            }
        }
    }

    /// The name of a called tool as it can go back to the model. Packs' texts name tools by their ids, and models follow them; anything
    /// else that no wire takes would end the conversation with the provider's refusal. What is made up here is nobody's name.
    fn usable(&self, name: &str) -> String {
        let is_offered = |name: &str| self.specs.iter().any(|spec| spec.model_name == name);
        if is_offered(name) {
            return name.to_owned();
        }
        if let Some(spec) = self.specs.iter().find(|spec| spec.id.as_str() == name || spec.qualified_id().as_str() == name) {
            return spec.model_name.clone();
        }
        let fits = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let made: String = name.chars().take(64).map(fits).collect();
        match made.as_str() {
            "" => "unnamed".to_owned(),
            made if is_offered(made) => format!("{}_unknown", made.chars().take(56).collect::<String>()),
            _ => made,
        }
    }

    /// An event of an answer that only the host reads; false at its end.
    async fn take_quietly(&self, event: Option<Result<ModelEvent, ModelError>>, reply: &mut Reply, said: &mut Restoring) -> Result<bool, End> {
        match event {
            None => {
                reply.text.push_str(&said.end());
                return Ok(false);
            }
            Some(Err(error)) => return Err(End::Failed { partial: String::new(), error: model_error(&error) }),
            Some(Ok(ModelEvent::Text(text))) => reply.text.push_str(&said.push(&text)),
            Some(Ok(ModelEvent::Call(call))) => {
                let sent = self.words.get().map(EgressSession::sent).unwrap_or_default();
                reply.calls.push(AskedCall { arguments: sent.restore_arguments(call.arguments), ..call });
            }
            Some(Ok(ModelEvent::FellBack { from, to, why, .. })) => self.fell_back(&from, to, &why).await,
            Some(Ok(ModelEvent::Done { usage, finish })) => {
                reply.finish = Some(finish);
                self.count(usage);
            }
            Some(Ok(ModelEvent::Reasoning(_) | ModelEvent::Choices(_) | ModelEvent::Opaque(_))) => {}
        }
        Ok(true)
    }

    /// Another model took over: kept in the transcript and the log, so that nobody takes one for the other.
    async fn fell_back(&self, from: &str, to: String, why: &str) {
        let text = Text::FellBack.in_locale(&self.locale).replace("{from}", from).replace("{to}", &to).replace("{why}", why);
        let item = self.item(ItemBody::Notice { level: NoticeLevel::Warning, code: "model_fallback".into(), text });
        *self.answering.lock() = Some(to);
        match self.world().store.items_append(vec![item]).await {
            Ok(items) => self.emit_items(items),
            Err(error) => tracing::warn!(%error, "the notice of another model could not be saved"),
        }
    }

    /// Takes a piece of the answer and tells it, at once or with its frame. Blanks before the first word are no answer: a model that
    /// calls tools has said nothing with them. Those of the first line may be its indentation.
    fn deliver(&self, reply: &mut Reply, frame: &mut Frame, text: String) {
        let text = if reply.text.is_empty() { reply.opened_by(&text) } else { text };
        if text.is_empty() {
            return;
        }
        if reply.text.is_empty() {
            self.probe(Point::WhileStreaming);
            self.shown.lock().clear();
        }
        reply.text.push_str(&text);
        self.show(frame.add(text));
    }

    pub(crate) fn show(&self, text: Option<String>) {
        let Some(text) = text else { return };
        self.shown.lock().push_str(&text);
        self.emit(EventBody::Delta { text });
    }

    fn count(&self, usage: Usage) {
        let mut sum = self.usage.lock();
        sum.input_tokens += usage.input_tokens;
        sum.output_tokens += usage.output_tokens;
        sum.model_calls += 1;
    }
}

/// What a model call was for, in the record of it.
fn task(purpose: &Purpose) -> &'static str {
    match purpose {
        Purpose::Answer => "answer",
        Purpose::Part { .. } => "part",
        Purpose::Route { .. } => "route",
        Purpose::Synthesis { .. } => "synthesis",
    }
}

fn model_error(error: &ModelError) -> AgentError {
    let (code, reason) = match error.kind {
        ModelErrorKind::RateLimited => (ErrorCode::RateLimited, "provider_rate_limit"),
        ModelErrorKind::Unavailable | ModelErrorKind::Broken => (ErrorCode::LlmError, "provider_unavailable"),
        ModelErrorKind::Unauthorized => (ErrorCode::LlmError, "provider_unauthorized"),
        ModelErrorKind::BadRequest => (ErrorCode::LlmError, "provider_refused"),
        ModelErrorKind::TooLong => (ErrorCode::LlmError, TOO_LONG),
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
