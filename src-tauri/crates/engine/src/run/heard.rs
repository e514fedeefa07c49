//! A turn for a caller elsewhere: in the caller's language, with the caller's limits and values, and with its events told to that
//! caller alone. Nobody is there to approve, so what needs a signature ends the turn and waits. Knows nothing of HTTP.

use std::sync::Arc;

use contract::{
    AgentError, Approval, ApprovalDecideParams, ApprovalStatus, EventBody, Item, ItemBody, ItemId, Limits, RecordType, SessionId, Settings, ToolCallParams,
    ToolCallResponse, ToolId, ToolSpec, TurnId, TurnStartParams, Usage,
};
use serde_json::{Value, json};
use tokio::{
    runtime::Handle,
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
};
use tokio_util::sync::CancellationToken;

use super::RunContext;
use crate::{
    DecidedBy, Engine,
    ports::{Durability, Profile, RecordDraft, TurnRow},
    sessions::lanes::CancelledAt,
    turn::direct::Part,
};

/// The text of the event that tells which arguments of a model were left out.
pub const IGNORED: &str = "ignored_arguments";

/// How the turns of a caller are run.
#[derive(Clone, Debug)]
pub struct TurnOptions {
    /// `en` or `sv`.
    pub locale: String,
    pub limits: Limits,
    /// In every record and log line of the turn.
    pub request_id: String,
    pub correlation_id: Option<String>,
    /// What the caller's host tells the model before the message, for this turn alone: it is not kept.
    pub hints: Vec<String>,
    /// The caller takes the answer as a whole: the model need not send it piece by piece.
    pub whole: bool,
    /// Model names of the tools whose actions the caller's host looks at itself, and takes back: a foreseen refusal does not end these.
    pub looks_at: &'static [&'static str],
}

/// What a turn knows of the caller who listens.
pub(crate) struct Listener {
    around: TurnOptions,
    tell: UnboundedSender<EventBody>,
    /// What the caller was doing when it asked: the turn's span stands in it.
    pub(super) asked_in: tracing::Span,
}

impl Listener {
    pub(super) fn locale(&self) -> &str {
        &self.around.locale
    }

    pub(super) fn tell(&self, event: EventBody) {
        // A caller that went away is noticed by whoever started the turn.
        let _ = self.tell.send(event);
    }
}

/// The ear of a caller. Dropped before the end, it stops the turn.
pub struct TurnStream {
    engine: Arc<Engine>,
    session: SessionId,
    turn: TurnId,
    events: UnboundedReceiver<EventBody>,
}

impl TurnStream {
    /// The next event; `final` is the last one.
    pub async fn next(&mut self) -> Option<EventBody> {
        self.events.recv().await
    }

    /// Stops the turn; its `final` still comes.
    pub fn cancel(&self) {
        if self.engine.stop(&self.session, &self.turn) != CancelledAt::Waiting {
            return;
        }
        // A message that is not to be answered must not be found in the queue by the next start.
        let Ok(runtime) = Handle::try_current() else { return };
        let (engine, session) = (Arc::clone(&self.engine), self.session.clone());
        runtime.spawn(async move {
            if let Err(error) = engine.queue_changed(&session).await {
                tracing::warn!(%error, "a queue could not be saved");
            }
        });
    }

    pub fn turn(&self) -> &TurnId {
        &self.turn
    }
}

impl Drop for TurnStream {
    fn drop(&mut self) {
        self.cancel();
        self.engine.runs.leave(&self.turn);
    }
}

impl RunContext {
    fn heard(around: TurnOptions) -> (Arc<Self>, UnboundedReceiver<EventBody>) {
        let (tell, events) = mpsc::unbounded_channel();
        let (request, correlation) = (around.request_id.clone(), around.correlation_id.clone());
        (Arc::new(Self::listened(request, correlation, Listener { around, tell, asked_in: tracing::Span::current() })), events)
    }

    /// What is told before the message.
    pub(crate) fn hints(&self) -> &[String] {
        self.listener.as_ref().map_or(&[], |listener| &listener.around.hints)
    }

    /// Whether a caller listens, whose limits hold.
    pub(crate) fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// Whether a caller's host looks at the actions of a tool itself.
    pub(crate) fn looks_at(&self, spec: &ToolSpec) -> bool {
        self.listener.as_ref().is_some_and(|listener| listener.around.looks_at.contains(&spec.model_name.as_str()))
    }

    /// Whether nobody listens to the pieces of an answer.
    pub(crate) fn whole(&self) -> bool {
        self.listener.as_ref().is_some_and(|listener| listener.around.whole)
    }

    /// What a model gave for parameters that it does not have is left out, and told.
    pub(crate) fn drop_unknown_arguments(&self, spec: &ToolSpec, arguments: Value) -> Value {
        let (Some(listener), Value::Object(mut all)) = (&self.listener, arguments.clone()) else { return arguments };
        let known = spec.input_schema.get("properties").and_then(Value::as_object);
        let strange: Vec<String> = all.keys().filter(|name| known.is_some_and(|known| !known.contains_key(*name))).cloned().collect();
        if strange.is_empty() {
            return arguments;
        }
        let ignored: serde_json::Map<String, Value> = strange.into_iter().filter_map(|name| all.remove_entry(&name)).collect();
        listener.tell(EventBody::DevStatus { text: IGNORED.into(), data: json!({"tool": spec.id, "arguments": ignored}) });
        Value::Object(all)
    }
}

/// Characters that a message may have, by the profile or by its caller.
pub(crate) fn most_characters(run: Option<&RunContext>, profile: &dyn Profile) -> usize {
    let caller = run.and_then(|run| run.listener.as_ref()).map(|listener| listener.around.limits.message_chars);
    caller.unwrap_or_else(|| profile.settings().limits.message_chars) as usize
}

/// Settings and language of a turn: the profile's, or a caller's own in their place.
pub(crate) fn surroundings(run: Option<&RunContext>, profile: &dyn Profile) -> (Arc<Settings>, String) {
    let settings = profile.settings();
    match run.and_then(|run| run.listener.as_ref()) {
        None => (settings, profile.locale()),
        Some(Listener { around, .. }) => (Arc::new(Settings { limits: around.limits, ..(*settings).clone() }), around.locale.clone()),
    }
}

impl Engine {
    /// Takes a message of a caller and starts (or queues) its turn.
    pub async fn start_turn_for(
        self: &Arc<Self>,
        session: &SessionId,
        text: String,
        model: Option<String>,
        around: TurnOptions,
    ) -> Result<TurnStream, AgentError> {
        self.check_kept(&[around.correlation_id.as_deref().unwrap_or_default()])?;
        let (work, events) = RunContext::heard(around);
        let params = TurnStartParams { session: Some(session.clone()), text, model, agent: None, headless: true };
        let turn = self.turn_start_for(params, Some(work)).await?.turn;
        Ok(TurnStream { engine: Arc::clone(self), session: session.clone(), turn, events })
    }

    /// A caller's decision about what waits in its session, with the events of what was then done.
    pub async fn decide_for(
        self: &Arc<Self>,
        approval: &Approval,
        params: ApprovalDecideParams,
        around: TurnOptions,
    ) -> (Result<Approval, AgentError>, Vec<EventBody>) {
        let (work, mut events) = RunContext::heard(around);
        self.runs.enter(&approval.turn, work);
        let decided = self.approval_decide(params, DecidedBy::Caller).await.map(|decided| decided.approval);
        self.runs.leave(&approval.turn);
        let mut heard = Vec::new();
        while let Ok(event) = events.try_recv() {
            heard.push(event);
        }
        (decided, heard)
    }

    /// Calls one tool of a session by itself, as a model of a turn would: a write is proposed and waits.
    pub async fn call_heard(
        self: &Arc<Self>,
        session: &SessionId,
        tool: ToolId,
        arguments: Value,
        around: TurnOptions,
    ) -> (Result<ToolCallResponse, AgentError>, Vec<EventBody>) {
        self.called(session, tool, arguments, around, Part::Kept).await
    }

    /// Looks something up for a session's host: it is recorded, and the conversation does not hear of it.
    pub async fn look_heard(
        self: &Arc<Self>,
        session: &SessionId,
        tool: ToolId,
        arguments: Value,
        around: TurnOptions,
    ) -> Result<ToolCallResponse, AgentError> {
        self.called(session, tool, arguments, around, Part::Beside).await.0
    }

    async fn called(
        self: &Arc<Self>,
        session: &SessionId,
        tool: ToolId,
        arguments: Value,
        around: TurnOptions,
        part: Part,
    ) -> (Result<ToolCallResponse, AgentError>, Vec<EventBody>) {
        let turn = TurnId(self.world.ids.next("turn"));
        if let Err(error) = self.check_kept(&[session.as_str(), around.correlation_id.as_deref().unwrap_or_default()]) {
            return (Err(error), Vec::new());
        }
        let row = self.ended_row(session, &turn);
        if let Err(error) = self.world.store.turn_save(&row, Vec::new(), None).await {
            return (Err(error.into()), Vec::new());
        }
        let (work, mut events) = RunContext::heard(around);
        self.runs.enter(&turn, work);
        let params = ToolCallParams { tool, arguments, session: Some(session.clone()), headless: true };
        let called = self.tool_call_as(turn.clone(), params, part, CancellationToken::new()).await;
        self.runs.leave(&turn);
        let mut heard = Vec::new();
        while let Ok(event) = events.try_recv() {
            heard.push(event);
        }
        (called, heard)
    }

    fn ended_row(&self, session: &SessionId, turn: &TurnId) -> TurnRow {
        let now = self.world.clock.now();
        TurnRow {
            turn: turn.clone(),
            session: session.clone(),
            started_at: now,
            ended_at: Some(now),
            status: "ok".into(),
            model: String::new(),
            usage: Usage::default(),
        }
    }

    /// What waits for a decision in a session of a caller; the newest. No turn waits with it.
    pub async fn waiting_in(self: &Arc<Self>, session: &SessionId) -> Result<Option<Approval>, AgentError> {
        Ok(self.newest_in(session).await?.filter(|approval| self.waits_for_caller(approval)))
    }

    /// Whether an action waits for its caller's next message.
    pub fn waits_for_caller(&self, approval: &Approval) -> bool {
        approval.status == ApprovalStatus::Pending && approval.expires_at > self.world.clock.now() && !self.router.waits(&approval.id)
    }

    /// Keeps a message and its answer for which no model was asked.
    pub async fn exchange(&self, session: &SessionId, said: &str, answer: &str, around: &TurnOptions) -> Result<(), AgentError> {
        self.check_enabled()?;
        self.world.secrets.learn().await;
        self.check_kept(&[session.as_str(), around.correlation_id.as_deref().unwrap_or_default()])?;
        let (said, answer) = (self.exact().scrub(said).into_owned(), self.exact().scrub(answer).into_owned());
        let session = self.session_for(Some(session.clone()), &said).await?;
        let (world, turn) = (&self.world, TurnId(self.world.ids.next("turn")));
        let now = world.clock.now();
        let row = self.ended_row(&session, &turn);
        let item = |body| Item { id: ItemId(world.ids.next("item")), session: session.clone(), turn: turn.clone(), seq: 0, created_at: now, body };
        let answered = ItemBody::AssistantText { text: answer, blocks: Vec::new(), model: None, agent: None, choices: Vec::new(), partial: false };
        let items = vec![item(ItemBody::UserMessage { text: said.clone() }), item(answered)];
        let started = RecordDraft::new(RecordType::RunStarted).field("model", "").field("agent", "").field("duration_ms", 0).commit("input", said);
        let ended = RecordDraft::new(RecordType::RunEnded).field("status", "ok").field("agent", "").field("duration_ms", 0).field("model_calls", 0);
        // While it is entered, the log names the request in its records.
        self.runs.enter(&turn, RunContext::heard(around.clone()).0);
        for draft in [started, ended] {
            if let Err(error) = world.audit.append(draft.of(&session, &turn), Durability::Grouped).await {
                tracing::warn!(%error, "a record could not be written");
            }
        }
        self.runs.leave(&turn);
        let (kept, flushed) = tokio::join!(world.store.turn_save(&row, items, None), world.audit.flush());
        if let Err(error) = flushed {
            tracing::warn!(%error, "the audit log could not be flushed at the end of a turn");
        }
        kept?;
        Ok(())
    }

    /// The model in force, as it is shown.
    pub fn model_label(&self) -> String {
        self.world.models.current(None).label()
    }

    /// The tools that may be used now.
    pub fn specs(&self) -> Arc<Vec<ToolSpec>> {
        self.world.tools.specs()
    }
}
