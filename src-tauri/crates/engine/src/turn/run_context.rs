//! Tracks running requests: which turn answers which request, the events sent to its caller, and
//! the ids added to every record and log line of the turn.

use std::{collections::HashMap, future::Future, sync::Arc};

use async_trait::async_trait;
use chrono::{DateTime, SecondsFormat, Utc};
use contract::{
    AgentError, AgentId, Caller, Choice, EventBody, Push, RunAnswer, RunEvent, RunEventType,
    RunParams, SessionId, Settings, Stage, ToolId, ToolSpec, TurnId, TurnStatus, Usage,
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
    budget::account::ToolData,
    ports::{AuditLog, AuditUnavailable, Durability, Profile, RecordDraft, RunKey, World},
    texts::Text,
    turn::{
        listener::{IGNORED, Listener, TurnOptions},
        named_members::NamedMembers,
    },
};

/// The result of a turn that answers a request.
pub(crate) struct Ended {
    pub(crate) status: TurnStatus,
    pub(crate) text: String,
    /// Texts that the model wrote beside calls, before the final text.
    pub(crate) asides: Vec<String>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) error: Option<AgentError>,
    pub(crate) usage: Usage,
    pub(crate) model: String,
    pub(crate) tools: Vec<ToolId>,
    pub(crate) results: Vec<ToolData>,
    /// The answers of several specialists, which the text joins.
    pub(crate) answers: Vec<RunAnswer>,
    pub(crate) changed: bool,
    pub(crate) truncated: bool,
    pub(crate) in_parts: bool,
    pub(crate) declined: bool,
    pub(crate) nano_usd: u64,
    pub(crate) unpriced: Vec<String>,
}

impl Ended {
    fn cancelled_before_start() -> Self {
        Self {
            status: TurnStatus::Cancelled,
            text: String::new(),
            asides: Vec::new(),
            choices: Vec::new(),
            error: None,
            usage: Usage::default(),
            model: String::new(),
            tools: Vec::new(),
            results: Vec::new(),
            answers: Vec::new(),
            changed: false,
            truncated: false,
            in_parts: false,
            declined: false,
            nano_usd: 0,
            unpriced: Vec::new(),
        }
    }
}

/// The turn's view of the request that it answers.
pub(crate) struct RunContext {
    key: RunKey,
    correlation: Option<String>,
    stream: bool,
    pub(crate) max_output_tokens: Option<u32>,
    /// The text of the deltas since the caller was notified of a replacement, and whether the
    /// notification came after the last delta.
    told: Mutex<(String, bool)>,
    /// The specialist that answered last.
    agent: Mutex<Option<AgentId>>,
    ended: Mutex<Option<oneshot::Sender<Ended>>>,
    /// The receiver of the turn's events, if the caller listens to the turn itself instead of a
    /// run.
    listener: Option<Listener>,
}

impl RunContext {
    pub(crate) fn new(
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

    /// Creates the context for a caller that receives the turn's events. No result is stored under
    /// the request's id.
    fn with_listener(request: String, correlation: Option<String>, listener: Listener) -> Self {
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

    pub(crate) fn correlation_id(&self) -> Option<&str> {
        self.correlation.as_deref()
    }

    pub(crate) fn agent(&self) -> Option<AgentId> {
        self.agent.lock().clone()
    }

    pub(crate) fn end(&self, ended: Ended) {
        if let Some(tell) = self.ended.lock().take() {
            // If the caller has disconnected, its result is still stored.
            let _ = tell.send(ended);
        }
    }

    fn report_never_begun(&self) {
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
        self.end(Ended::cancelled_before_start());
    }

    /// Converts an event of the turn to an event of the run contract and sends it.
    pub(crate) fn tell(&self, world: &World, event: EventBody, at: DateTime<Utc>) {
        if let Some(listener) = &self.listener {
            return listener.tell(event);
        }
        let mut told = self.told.lock();
        let (kind, data) = match &event {
            EventBody::Delta { text } => {
                told.0.push_str(text);
                told.1 = false;
                (RunEventType::Delta, data(&[("text", json!(text))]))
            }
            EventBody::Status { stage, text } => {
                if *stage == Stage::OutputReplaced {
                    *told = (String::new(), true);
                }
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
        self.push(world, kind, data, at);
    }

    /// Notifies the caller that the output replaces the deltas, if they differ and the caller was
    /// not notified after the last delta.
    pub(crate) fn tell_replaced(&self, world: &World, output: &str) {
        let replaced = {
            let mut told = self.told.lock();
            let news = told.0 != output && !told.1;
            told.1 |= news;
            news
        };
        if replaced {
            self.push(
                world,
                RunEventType::Progress,
                data(&[("stage", json!(Stage::OutputReplaced))]),
                world.clock.now(),
            );
        }
    }

    fn push(&self, world: &World, kind: RunEventType, data: Option<Value>, at: DateTime<Utc>) {
        if !self.stream {
            return;
        }
        let event =
            RunEvent { kind, timestamp: at.to_rfc3339_opts(SecondsFormat::Millis, true), data };
        world.events.push(Push::Run {
            caller: self.key.caller.clone(),
            request_id: self.key.request.clone(),
            event,
        });
    }
}

impl RunContext {
    pub(crate) fn with_event_channel(
        options: TurnOptions,
    ) -> (Arc<Self>, UnboundedReceiver<EventBody>) {
        let (tell, events) = mpsc::unbounded_channel();
        let (request, correlation) = (options.request_id.clone(), options.correlation_id.clone());
        (
            Arc::new(Self::with_listener(
                request,
                correlation,
                Listener { options, tell, asked_in: tracing::Span::current() },
            )),
            events,
        )
    }

    /// Returns the hints that the model gets before the message.
    pub(crate) fn hints(&self) -> &[String] {
        self.listener.as_ref().map_or(&[], |listener| &listener.options.hints)
    }

    /// Returns the caller that sent the request.
    pub(crate) fn caller(&self) -> Caller {
        match &self.listener {
            Some(listener) => listener.options.caller.clone(),
            None => Caller::agent(self.key.caller.clone()),
        }
    }

    /// Whether the caller receives the events, so that the caller's limits apply.
    pub(crate) fn has_listener(&self) -> bool {
        self.listener.is_some()
    }

    /// Whether the caller's host itself checks the proposals of a tool.
    pub(crate) fn is_checked_by_caller(&self, spec: &ToolSpec) -> bool {
        self.listener.as_ref().is_some_and(|listener| {
            listener.options.preflight_tools.contains(&spec.model_name.as_str())
        })
    }

    /// Whether the caller reads the answer only when it is complete.
    pub(crate) fn whole(&self) -> bool {
        self.listener.as_ref().is_some_and(|listener| listener.options.whole)
    }

    /// Removes caller-owned arguments, and arguments that the tool's schema neither names nor
    /// accepts. Reports the removed arguments to the caller.
    pub(crate) fn drop_unknown_arguments(&self, spec: &ToolSpec, arguments: Value) -> Value {
        let (Some(listener), Value::Object(mut all)) = (&self.listener, arguments.clone()) else {
            return arguments;
        };
        let members = NamedMembers::of(&spec.input_schema);
        let is_callers = |name: &String| spec.caller_owned.iter().any(|own| own.name == *name);
        let is_strange = |name: &String| !members.is_open() && members.declared(name).is_empty();
        let strange: Vec<String> =
            all.keys().filter(|name| is_callers(name) || is_strange(name)).cloned().collect();
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

/// Returns the most characters of a message, from the caller's limits or the profile's.
pub(crate) fn most_characters(caller: &Caller, profile: &dyn Profile) -> usize {
    caller.limits.unwrap_or_else(|| profile.settings().limits).message_chars as usize
}

/// Returns the settings of a turn. A caller's own limits replace the profile's.
pub(crate) fn settings_for(caller: &Caller, profile: &dyn Profile) -> Arc<Settings> {
    let settings = profile.settings();
    match caller.limits {
        None => settings,
        Some(limits) => Arc::new(Settings { limits, ..(*settings).clone() }),
    }
}

/// Returns the language of a caller's requests, or the profile's.
pub(crate) fn locale_for(run: Option<&RunContext>, profile: &dyn Profile) -> String {
    let own =
        run.and_then(|run| run.listener.as_ref()).map(|listener| listener.options.locale.clone());
    own.unwrap_or_else(|| profile.locale())
}

/// Returns the JSON data of an event.
fn data(members: &[(&str, Value)]) -> Option<Value> {
    Some(json!(
        members
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect::<serde_json::Map<_, _>>()
    ))
}

/// All running requests, by turn.
#[derive(Default)]
pub(crate) struct Live {
    runs: Mutex<HashMap<TurnId, Arc<RunContext>>>,
    end: Notify,
}

impl Live {
    pub(crate) fn add_run(&self, turn: &TurnId, work: Arc<RunContext>) {
        self.runs.lock().insert(turn.clone(), work);
    }

    pub(crate) fn of(&self, turn: &TurnId) -> Option<Arc<RunContext>> {
        self.runs.lock().get(turn).cloned()
    }

    /// Ends the run of a turn that was cancelled before it began.
    pub(crate) fn end_never_begun_run(&self, turn: &TurnId) {
        if let Some(work) = self.of(turn) {
            work.report_never_begun();
        }
    }

    pub(crate) fn remove_run(&self, turn: &TurnId) {
        self.runs.lock().remove(turn);
    }

    /// Returns a future that resolves at the next end of any run after this call.
    pub(crate) fn next_end(&self) -> impl Future<Output = ()> + '_ {
        let mut end = Box::pin(self.end.notified());
        // Registers for the notification now instead of at the first poll.
        end.as_mut().enable();
        end
    }

    pub(crate) fn notify_run_end(&self) {
        self.end.notify_waiters();
    }

    /// Returns the tracing span for the turn's log lines.
    pub(crate) fn span(&self, session: &SessionId, turn: &TurnId) -> tracing::Span {
        let work = self.of(turn);
        let request_id = work.as_ref().map(|work| work.key.request.as_str());
        let correlation_id = work.as_ref().and_then(|work| work.correlation.as_deref());
        let asked_in = work.as_ref().and_then(|work| work.listener.as_ref()?.asked_in.id());
        // The span has the level "error", so that a filter for errors does not remove the ids from
        // the log lines inside it.
        tracing::error_span!(target: "spans", parent: asked_in, "turn", %session, %turn, request_id, correlation_id, status = Empty, code = Empty)
    }
}

/// Wraps the audit log. Adds the caller's ids and a level to every record of a turn that answers a
/// request.
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
