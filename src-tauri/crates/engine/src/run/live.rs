//! Runs under way: which turn answers which request, what its caller hears meanwhile, and the ids
//! that every record and log line of the turn carries.

use std::{collections::HashMap, future::Future, sync::Arc};

use async_trait::async_trait;
use chrono::{DateTime, SecondsFormat, Utc};
use contract::{
    AgentError, AgentId, Choice, EventBody, Push, RunEvent, RunEventType, RunParams, SessionId,
    Settings, Stage, ToolId, ToolSpec, TurnId, TurnStatus, Usage,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{
    Notify,
    mpsc::{self, UnboundedReceiver},
    oneshot,
};
use tracing::field::Empty;

use crate::{
    Engine,
    budget::account::ViewedResult,
    ports::{AuditLog, AuditUnavailable, Durability, Profile, RecordDraft, RunKey},
    run::listener::{IGNORED, Listener, TurnOptions},
    texts::Text,
};

/// How a turn that answers a request ended.
pub(crate) struct Ended {
    pub(crate) status: TurnStatus,
    pub(crate) text: String,
    /// Said beside calls, before the text.
    pub(crate) asides: Vec<String>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) error: Option<AgentError>,
    pub(crate) usage: Usage,
    pub(crate) model: String,
    pub(crate) tools: Vec<ToolId>,
    pub(crate) viewed: Vec<ViewedResult>,
    pub(crate) changed: bool,
    pub(crate) truncated: bool,
    pub(crate) in_parts: bool,
    pub(crate) declined: bool,
    pub(crate) nano_usd: u64,
    pub(crate) unpriced: Vec<String>,
}

impl Ended {
    fn before_it_began() -> Self {
        Self {
            status: TurnStatus::Cancelled,
            text: String::new(),
            asides: Vec::new(),
            choices: Vec::new(),
            error: None,
            usage: Usage::default(),
            model: String::new(),
            tools: Vec::new(),
            viewed: Vec::new(),
            changed: false,
            truncated: false,
            in_parts: false,
            declined: false,
            nano_usd: 0,
            unpriced: Vec::new(),
        }
    }
}

/// The request that a turn answers, as far as the turn needs it.
pub(crate) struct RunContext {
    key: RunKey,
    correlation: Option<String>,
    stream: bool,
    pub(crate) max_output_tokens: Option<u32>,
    /// The deltas so far, and whether the caller knows that they do not count.
    told: Mutex<(String, bool)>,
    /// The specialist that answered last.
    agent: Mutex<Option<AgentId>>,
    ended: Mutex<Option<oneshot::Sender<Ended>>>,
    /// Hears the turn's own events, in place of the run's.
    listener: Option<Listener>,
}

impl RunContext {
    pub(super) fn new(
        key: RunKey,
        params: &RunParams,
        max_output_tokens: Option<u32>,
        ended: oneshot::Sender<Ended>,
    ) -> Self {
        let correlation = params.correlation_id.as_ref().map(|id| id.chars().take(128).collect());
        Self {
            key,
            correlation,
            stream: params.stream,
            max_output_tokens,
            told: Mutex::default(),
            agent: Mutex::default(),
            ended: Mutex::new(Some(ended)),
            listener: None,
        }
    }

    /// For a caller that hears the turn's events; nothing is kept by the id of the request.
    fn listened(request: String, correlation: Option<String>, listener: Listener) -> Self {
        let key = RunKey { caller: String::new(), request };
        let ended = Mutex::default();
        Self {
            key,
            correlation,
            stream: false,
            max_output_tokens: None,
            told: Mutex::default(),
            agent: Mutex::default(),
            ended,
            listener: Some(listener),
        }
    }

    pub(crate) fn request_id(&self) -> &str {
        &self.key.request
    }

    pub(super) fn agent(&self) -> Option<AgentId> {
        self.agent.lock().clone()
    }

    pub(crate) fn end(&self, ended: Ended) {
        if let Some(tell) = self.ended.lock().take() {
            // A caller that went away has its result kept.
            let _ = tell.send(ended);
        }
    }

    fn never_begins(&self) {
        if let Some(listener) = &self.listener {
            let (status, text) =
                (TurnStatus::Cancelled, Text::Cancelled.in_locale(listener.locale()).to_owned());
            listener.tell(EventBody::Final {
                status,
                text,
                choices: Vec::new(),
                error: None,
                usage: Usage::default(),
            });
        }
        self.end(Ended::before_it_began());
    }

    /// An event of the turn as the run contract tells it.
    pub(crate) fn tell(&self, engine: &Engine, event: EventBody, at: DateTime<Utc>) {
        if let Some(listener) = &self.listener {
            return listener.tell(event);
        }
        let mut told = self.told.lock();
        let (kind, data) = match &event {
            EventBody::Delta { text } => {
                told.0.push_str(text);
                (RunEventType::Delta, data(&[("text", json!(text))]))
            }
            EventBody::Status { stage, text } => {
                told.1 |= *stage == Stage::OutputReplaced;
                let mut members = vec![("stage", json!(stage))];
                members.extend(text.as_ref().map(|text| ("text", json!(text))));
                (RunEventType::Progress, data(&members))
            }
            EventBody::AgentStart { agent, name } => {
                *self.agent.lock() = Some(agent.clone());
                (
                    RunEventType::Progress,
                    data(&[
                        ("stage", json!("agent_start")),
                        ("agent_id", json!(agent)),
                        ("text", json!(name)),
                    ]),
                )
            }
            EventBody::AgentEnd { agent, name } => (
                RunEventType::Progress,
                data(&[
                    ("stage", json!("agent_end")),
                    ("agent_id", json!(agent)),
                    ("text", json!(name)),
                ]),
            ),
            EventBody::ToolStart { tool, title, .. } => (
                RunEventType::Tool,
                data(&[
                    ("state", json!("start")),
                    ("tool_id", json!(tool)),
                    ("title", json!(title)),
                ]),
            ),
            EventBody::ToolEnd { tool, outcome, summary, .. } => (
                RunEventType::Tool,
                data(&[
                    ("state", json!("end")),
                    ("tool_id", json!(tool)),
                    ("outcome", json!(outcome)),
                    ("summary", json!(summary)),
                ]),
            ),
            EventBody::ApprovalRequested { .. }
            | EventBody::ApprovalResolved { .. }
            | EventBody::DevStatus { .. }
            | EventBody::Reasoning { .. }
            | EventBody::Blocks { .. }
            | EventBody::Item { .. }
            | EventBody::Error { .. }
            | EventBody::Final { .. } => return,
        };
        drop(told);
        self.push(engine, kind, data, at);
    }

    /// Tells that the deltas are not the output, when they are not and nobody said so yet.
    pub(super) fn tell_replaced(&self, engine: &Engine, output: &str) {
        let replaced = {
            let mut told = self.told.lock();
            let news = told.0 != output && !told.1;
            told.1 |= news;
            news
        };
        if replaced {
            self.push(
                engine,
                RunEventType::Progress,
                data(&[("stage", json!(Stage::OutputReplaced))]),
                engine.world.clock.now(),
            );
        }
    }

    fn push(&self, engine: &Engine, kind: RunEventType, data: Option<Value>, at: DateTime<Utc>) {
        if !self.stream {
            return;
        }
        let event =
            RunEvent { kind, timestamp: at.to_rfc3339_opts(SecondsFormat::Millis, true), data };
        engine.push(Push::Run {
            caller: self.key.caller.clone(),
            request_id: self.key.request.clone(),
            event,
        });
    }
}

impl RunContext {
    pub(super) fn heard(around: TurnOptions) -> (Arc<Self>, UnboundedReceiver<EventBody>) {
        let (tell, events) = mpsc::unbounded_channel();
        let (request, correlation) = (around.request_id.clone(), around.correlation_id.clone());
        (
            Arc::new(Self::listened(
                request,
                correlation,
                Listener { around, tell, asked_in: tracing::Span::current() },
            )),
            events,
        )
    }

    /// Returns the hints that the model gets before the message.
    pub(crate) fn hints(&self) -> &[String] {
        self.listener.as_ref().map_or(&[], |listener| &listener.around.hints)
    }

    /// Whether a caller listens, whose limits hold.
    pub(crate) fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// Whether a caller's host looks at the actions of a tool itself.
    pub(crate) fn looks_at(&self, spec: &ToolSpec) -> bool {
        self.listener
            .as_ref()
            .is_some_and(|listener| listener.around.looks_at.contains(&spec.model_name.as_str()))
    }

    /// Whether nobody listens to the pieces of an answer.
    pub(crate) fn whole(&self) -> bool {
        self.listener.as_ref().is_some_and(|listener| listener.around.whole)
    }

    /// Drops arguments for parameters that the tool does not have, and tells the caller.
    pub(crate) fn drop_unknown_arguments(&self, spec: &ToolSpec, arguments: Value) -> Value {
        let (Some(listener), Value::Object(mut all)) = (&self.listener, arguments.clone()) else {
            return arguments;
        };
        let known = spec.input_schema.get("properties").and_then(Value::as_object);
        let strange: Vec<String> = all
            .keys()
            .filter(|name| known.is_some_and(|known| !known.contains_key(*name)))
            .cloned()
            .collect();
        if strange.is_empty() {
            return arguments;
        }
        let ignored: serde_json::Map<String, Value> =
            strange.into_iter().filter_map(|name| all.remove_entry(&name)).collect();
        listener.tell(EventBody::DevStatus {
            text: IGNORED.into(),
            data: json!({"tool": spec.id, "arguments": ignored}),
        });
        Value::Object(all)
    }
}

/// Characters that a message may have, by the profile or by its caller.
pub(crate) fn most_characters(run: Option<&RunContext>, profile: &dyn Profile) -> usize {
    let caller = run
        .and_then(|run| run.listener.as_ref())
        .map(|listener| listener.around.limits.message_chars);
    caller.unwrap_or_else(|| profile.settings().limits.message_chars) as usize
}

/// Settings and language of a turn: the profile's, or a caller's own in their place.
pub(crate) fn surroundings(
    run: Option<&RunContext>,
    profile: &dyn Profile,
) -> (Arc<Settings>, String) {
    let settings = profile.settings();
    match run.and_then(|run| run.listener.as_ref()) {
        None => (settings, profile.locale()),
        Some(Listener { around, .. }) => (
            Arc::new(Settings { limits: around.limits, ..(*settings).clone() }),
            around.locale.clone(),
        ),
    }
}

/// A data object of an event.
fn data(members: &[(&str, Value)]) -> Option<Value> {
    Some(json!(
        members
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect::<serde_json::Map<_, _>>()
    ))
}

/// All of them, by turn.
#[derive(Default)]
pub(crate) struct Live {
    runs: Mutex<HashMap<TurnId, Arc<RunContext>>>,
    end: Notify,
}

impl Live {
    pub(crate) fn enter(&self, turn: &TurnId, work: Arc<RunContext>) {
        self.runs.lock().insert(turn.clone(), work);
    }

    pub(crate) fn of(&self, turn: &TurnId) -> Option<Arc<RunContext>> {
        self.runs.lock().get(turn).cloned()
    }

    /// Tells whoever waits for the end of a turn that it was stopped before it began.
    pub(crate) fn never_begins(&self, turn: &TurnId) {
        if let Some(work) = self.of(turn) {
            work.never_begins();
        }
    }

    pub(super) fn leave(&self, turn: &TurnId) {
        self.runs.lock().remove(turn);
    }

    /// The next end of any run from now on.
    pub(super) fn next_end(&self) -> impl Future<Output = ()> + '_ {
        let mut end = Box::pin(self.end.notified());
        // Listening begins now and not with the first poll.
        end.as_mut().enable();
        end
    }

    pub(super) fn ended(&self) {
        self.end.notify_waiters();
    }

    /// The span that log lines and traces of a turn stand in.
    pub(crate) fn span(&self, session: &SessionId, turn: &TurnId) -> tracing::Span {
        let work = self.of(turn);
        let request_id = work.as_ref().map(|work| work.key.request.as_str());
        let correlation_id = work.as_ref().and_then(|work| work.correlation.as_deref());
        let asked_in = work.as_ref().and_then(|work| work.listener.as_ref()?.asked_in.id());
        // As loud as what stands in it may be, so that a filter for errors does not take it away.
        tracing::error_span!(target: "spans", parent: asked_in, "turn", %session, %turn, request_id, correlation_id, status = Empty, code = Empty)
    }
}

/// The log, with the caller's ids in every record of a turn that answers a request, and a level in
/// every record.
pub(crate) struct Correlated {
    log: Arc<dyn AuditLog>,
    live: Arc<Live>,
}

impl Correlated {
    pub(crate) fn new(log: Arc<dyn AuditLog>, live: Arc<Live>) -> Self {
        Self { log, live }
    }
}

#[async_trait]
impl AuditLog for Correlated {
    async fn append(
        &self,
        mut record: RecordDraft,
        durability: Durability,
    ) -> Result<u64, AuditUnavailable> {
        if let Some(work) = record.turn.as_ref().and_then(|turn| self.live.of(turn)) {
            record.fields.insert("request_id".to_owned(), json!(work.key.request));
            if let Some(id) = &work.correlation {
                record.fields.insert("correlation_id".to_owned(), json!(id));
            }
        }
        record.fields.entry("level").or_insert_with(|| json!("info"));
        self.log.append(record, durability).await
    }

    async fn flush(&self) -> Result<(), AuditUnavailable> {
        self.log.flush().await
    }
}
