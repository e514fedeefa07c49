//! The test environment of a turn: a scripted model, scripted tools, a real store and a real log in
//! a temporary folder, and a clock that tests can set.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use contract::{
    AgentError, Approval, ApprovalDecideParams, AuditListParams, AuditRecordView, Decision, Effect,
    EventBody, Item, ItemBody, Push, Reach, RecordType, ResultView, Settings, ToolOutcome,
    ToolSpec, ToolTarget, TurnEvent, TurnId, TurnStartParams, TurnStartResponse, TurnStatus,
    manifest::{Backoff, IdempotencyStrategy, Kind, Latency, OutputTrust},
};
use engine::{Engine, World, ports::*};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

mod model;
pub use model::{OneModel, Say, ScriptModel};

type Behaviour = Box<dyn Fn(&ToolRequest) -> Result<Value, ToolFailure> + Send + Sync>;

#[derive(Default)]
pub struct ScriptTools {
    pub specs: Mutex<Arc<Vec<ToolSpec>>>,
    /// The data flow rules of every pack.
    pub data_flow: Mutex<Option<contract::manifest::DataFlow>>,
    pub behaviours: Mutex<HashMap<String, Behaviour>>,
    /// The errors of tools that currently cannot run.
    pub refusals: Mutex<HashMap<String, AgentError>>,
    pub slow: Mutex<HashMap<String, Duration>>,
    pub runs: Mutex<Vec<(String, Value)>>,
    /// The caller of each run.
    pub callers: Mutex<Vec<contract::CallerKind>>,
    /// The agent to which all tools belong.
    pub agent: Mutex<Option<contract::AgentId>>,
    /// Answers that a tool's server requires before it continues.
    pub wants: Mutex<HashMap<String, Value>>,
    /// The arguments of a second request that a tool sends.
    pub further: Mutex<HashMap<String, Value>>,
    /// Tools whose server takes `n` as text, with another name.
    pub adapts: Mutex<Vec<String>>,
    /// Whether all packs compute answers from imported files.
    pub reads_files: AtomicBool,
    /// Whether the tools have their own time limit.
    pub keeps_time: AtomicBool,
    waits: AtomicBool,
    pub at_once: AtomicI64,
    /// A barrier at which calls wait for each other until the given number of calls run at the same
    /// time.
    pub meeting: Mutex<Option<Arc<tokio::sync::Barrier>>>,
}

#[async_trait]
impl Tools for ScriptTools {
    fn specs(&self) -> Arc<Vec<ToolSpec>> {
        Arc::clone(&self.specs.lock().unwrap())
    }
    fn reads_files(&self, _: &contract::PackId) -> bool {
        self.reads_files.load(Ordering::SeqCst)
    }
    fn agent_of(&self, _: &contract::ToolId) -> Option<contract::AgentId> {
        self.agent.lock().unwrap().clone()
    }
    fn data_flow(&self, _: &contract::PackId) -> Option<contract::manifest::DataFlow> {
        self.data_flow.lock().unwrap().clone()
    }
    async fn check(&self, spec: &ToolSpec) -> Result<(), AgentError> {
        self.refusals.lock().unwrap().get(spec.id.as_str()).cloned().map_or(Ok(()), Err)
    }
    fn adapt(&self, _: &contract::CallerKind, spec: &ToolSpec, mut arguments: Value) -> Adapted {
        let number = arguments
            .as_object_mut()
            .filter(|_| self.adapts.lock().unwrap().contains(&spec.id.0))
            .and_then(|all| all.remove("n"));
        if let Some(number) = number {
            arguments["count"] = json!(number.to_string());
        }
        Adapted { arguments, is_sent: true }
    }
    fn keeps_time(&self, _: &ToolSpec) -> bool {
        self.keeps_time.load(Ordering::SeqCst)
    }
    fn waits_for_person(&self, _: &ToolSpec) -> bool {
        self.waits.load(Ordering::SeqCst)
    }
    async fn run_resumable(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
        resume: &dyn Resume,
    ) -> Result<Value, ToolFailure> {
        let done = self.run(request.clone(), cancel.clone()).await?;
        let further = self.further.lock().unwrap().get(request.spec.id.as_str()).cloned();
        if let Some(arguments) = further {
            resume
                .again(&arguments)
                .await
                .map_err(|error| ToolFailure { error, may_have_happened: false })?;
            return self.run(ToolRequest { arguments, ..request }, cancel).await;
        }
        let wanted = self.wants.lock().unwrap().get(request.spec.id.as_str()).cloned();
        let Some(answers) = wanted else { return Ok(done) };
        self.waits.store(true, Ordering::SeqCst);
        let allowed = resume.resume(&answers).await;
        self.waits.store(false, Ordering::SeqCst);
        allowed.map_err(|error| ToolFailure { error, may_have_happened: false })?;
        self.run(request, cancel).await
    }
    async fn run(&self, request: ToolRequest, _: CancellationToken) -> Result<Value, ToolFailure> {
        self.at_once.fetch_add(1, Ordering::SeqCst);
        let id = request.spec.id.0.clone();
        self.runs.lock().unwrap().push((id.clone(), request.arguments.clone()));
        self.callers.lock().unwrap().push(request.caller.clone());
        let meeting = self.meeting.lock().unwrap().clone();
        if let Some(meeting) = meeting {
            meeting.wait().await;
        }
        let wait = self.slow.lock().unwrap().get(&id).copied();
        match wait {
            Some(time) => tokio::time::sleep(time).await,
            None => tokio::task::yield_now().await,
        }
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        match self.behaviours.lock().unwrap().get(&id) {
            Some(behaviour) => behaviour(&request),
            None => Ok(json!({"ok": true, "echo": request.arguments})),
        }
    }
}

pub fn tool(id: &str, effect: Effect) -> ToolSpec {
    let input = json!({"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}});
    ToolSpec {
        id: id.into(),
        pack: "test".into(),
        model_name: id.replace('.', "_"),
        title: format!("Tool {id}"),
        description: "A tool of the tests.".into(),
        use_when: vec![],
        do_not_use_when: vec![],
        kind: Kind::InternalService,
        effect,
        open_world: false,
        reach: Reach::Here,
        is_description_accepted: true,
        output_trust: OutputTrust::Trusted,
        grantable: true,
        human_required: false,
        latency: Latency::Fast,
        input_schema: input.clone(),
        full_input_schema: input,
        output_schema: json!({"type": "object"}),
        error_schema: json!({}),
        caller_owned: vec![],
        timeout_ms: 2_000,
        max_attempts: 3,
        backoff: Backoff::Fixed,
        idempotency: IdempotencyStrategy::None,
        idempotency_key_ref: None,
        auth: None,
        audit_required: false,
        view: ResultView::default(),
        preview: None,
        session_values: vec![],
        as_of: None,
        target: ToolTarget::BuiltIn { service: "test".into() },
        definition_hash: format!("hash of {id}"),
    }
}

/// Returns a read of the app's own service for memories.
pub fn tool_of_memories(id: &str) -> ToolSpec {
    ToolSpec { pack: "memory".into(), ..tool(id, Effect::ReadOnly) }
}

/// The specialists and instructions that a test sets.
#[derive(Default)]
pub struct TestRoster {
    pub agents: Mutex<Arc<Vec<Agent>>>,
    pub instructions: Mutex<HashMap<String, Instructions>>,
}
impl Roster for TestRoster {
    fn agents(&self) -> Arc<Vec<Agent>> {
        Arc::clone(&self.agents.lock().unwrap())
    }
    fn instructions(&self, tool: &ToolSpec, _: Option<&Agent>) -> Instructions {
        self.instructions.lock().unwrap().get(tool.id.as_str()).cloned().unwrap_or_default()
    }
}

/// Returns a specialist with these tools.
pub fn agent(id: &str, tools: &[&str]) -> Agent {
    Agent {
        id: id.into(),
        pack: "test".into(),
        name: format!("{}{}", id[..1].to_uppercase(), &id[1..]),
        summary: format!("Does what {id} does."),
        prompt: format!("You are {id}."),
        tools: tools.iter().map(|tool| (*tool).into()).collect(),
        defaults: vec![],
        entities: vec![],
        max_steps: 5,
        calls_per_round: None,
        conversation: None,
    }
}

pub struct SetClock(AtomicI64);
impl SetClock {
    pub fn forward(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}
impl Clock for SetClock {
    fn now(&self) -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2026, 11, 20, 12, 0, 0).unwrap()
            + TimeDelta::seconds(self.0.load(Ordering::SeqCst))
    }
}

#[derive(Default)]
pub struct Counter(AtomicU64);
impl Ids for Counter {
    fn next(&self, prefix: &str) -> String {
        format!("{prefix}-{}", self.0.fetch_add(1, Ordering::SeqCst) + 1)
    }
}
impl Random for Counter {
    fn random_fraction(&self) -> f64 {
        0.5
    }
}

pub struct TestProfile {
    pub settings: Mutex<Settings>,
    pub rules: Mutex<policy::Rules>,
    pub prices: Mutex<contract::PriceTable>,
    pub supervision: Mutex<Supervision>,
    pub fault: Mutex<Option<contract::AgentError>>,
}
impl Profile for TestProfile {
    fn settings(&self) -> Arc<Settings> {
        Arc::new(self.settings.lock().unwrap().clone())
    }
    fn settings_fault(&self) -> Option<contract::AgentError> {
        self.fault.lock().unwrap().clone()
    }
    fn rules(&self) -> Arc<policy::Rules> {
        Arc::new(self.rules.lock().unwrap().clone())
    }
    fn prices(&self) -> Arc<contract::PriceTable> {
        Arc::new(self.prices.lock().unwrap().clone())
    }
    fn locale(&self) -> String {
        "en".into()
    }
    fn locale_of(&self, text: &str) -> Option<String> {
        text.contains(['å', 'ä', 'ö']).then(|| "sv".into())
    }
    fn supervision(&self) -> Supervision {
        *self.supervision.lock().unwrap()
    }
    fn time_zone(&self) -> String {
        "Europe/Stockholm".into()
    }
    fn caller_values(&self, _: &str) -> SessionValues {
        SessionValues::new()
    }
}

#[derive(Default)]
pub struct TestSecrets(pub Mutex<Vec<String>>);
impl Secrets for TestSecrets {
    fn generation(&self) -> u64 {
        self.0.lock().unwrap().len() as u64
    }
    fn values(&self) -> Vec<secrecy::SecretString> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .map(|value| secrecy::SecretString::from(value.clone()))
            .collect()
    }
}

#[derive(Default)]
pub struct PushedEvents {
    pub expired: Mutex<Vec<contract::ApprovalId>>,
    pub events: Mutex<Vec<TurnEvent>>,
    /// The events of streamed runs.
    pub runs: Mutex<Vec<contract::RunEvent>>,
    /// The sessions that show other messages, one for each change.
    pub changed: Mutex<Vec<contract::SessionId>>,
    pub bell: tokio::sync::Notify,
}
impl Events for PushedEvents {
    fn push(&self, push: Push) {
        match push {
            Push::Turn { event } => self.events.lock().unwrap().push(event),
            Push::Run { event, .. } => self.runs.lock().unwrap().push(event),
            Push::ItemsChanged { session } => self.changed.lock().unwrap().push(session),
            Push::ApprovalExpired { approval } => {
                self.expired.lock().unwrap().push(approval.id);
            }
            _ => {}
        }
        self.bell.notify_waiters();
    }
}

/// A wrapper of the real log that can be made to fail.
pub struct Refusable {
    pub log: audit::Log,
    pub refuses: AtomicBool,
}
#[async_trait]
impl AuditLog for Refusable {
    async fn append(
        &self,
        record: RecordDraft,
        durability: Durability,
    ) -> Result<u64, AuditUnavailable> {
        if self.refuses.load(Ordering::SeqCst) {
            return Err(AuditUnavailable("no space".into()));
        }
        self.log.append(record, durability).await
    }
    async fn flush(&self) -> Result<(), AuditUnavailable> {
        self.log.flush().await
    }
}

/// An embedding model that can be made to fail, initially the built-in model.
pub struct FailableEmbedder {
    pub model: Mutex<Arc<dyn Embedder>>,
    /// A server that replaces the model if set.
    pub server: Mutex<Option<Arc<dyn EmbeddingServer>>>,
    pub fails: AtomicBool,
}
impl Default for FailableEmbedder {
    fn default() -> Self {
        let model: Arc<dyn Embedder> = Arc::new(embedding::CharacterNgrams::default());
        Self { model: Mutex::new(model), server: Mutex::default(), fails: AtomicBool::new(false) }
    }
}
impl FailableEmbedder {
    fn inner(&self) -> Arc<dyn Embedder> {
        Arc::clone(&self.model.lock().unwrap())
    }

    fn check(&self) -> Result<(), EmbeddingFailed> {
        match self.fails.load(Ordering::SeqCst) {
            true => Err(EmbeddingFailed("it is away".into())),
            false => Ok(()),
        }
    }
}
#[async_trait]
impl Embedders for FailableEmbedder {
    async fn current(&self) -> Result<ChosenEmbedder, EmbeddingFailed> {
        self.check()?;
        let server = self.server.lock().unwrap().clone();
        Ok(match server {
            Some(server) => ChosenEmbedder::Server(server),
            None => ChosenEmbedder::Inside(self.inner()),
        })
    }
}

/// Access for callers with limited packs: the tools that a test sets, or else all tools.
pub struct LimitedAccess {
    pub tools: Mutex<Arc<ScriptTools>>,
    roster: Arc<TestRoster>,
    models: Arc<OneModel>,
}

impl Access for LimitedAccess {
    fn reachable(&self, _: &Arc<[contract::PackId]>) -> Reachable {
        Reachable {
            tools: Arc::clone(&self.tools.lock().unwrap()) as _,
            roster: Arc::clone(&self.roster) as _,
            models: Arc::clone(&self.models) as _,
        }
    }
}

pub struct Bench {
    pub engine: Arc<Engine>,
    pub world: World,
    pub model: Arc<ScriptModel>,
    pub tools: Arc<ScriptTools>,
    pub limited: Arc<LimitedAccess>,
    pub roster: Arc<TestRoster>,
    pub embedder: Arc<FailableEmbedder>,
    pub clock: Arc<SetClock>,
    pub profile: Arc<TestProfile>,
    pub secrets: Arc<TestSecrets>,
    pub pushed: Arc<PushedEvents>,
    pub log: Arc<Refusable>,
    _folder: tempfile::TempDir,
}

impl Bench {
    pub fn new(specs: Vec<ToolSpec>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(SetClock(AtomicI64::new(0)));
        let store = store::SqliteStore::open(
            &folder.path().join("countersign.db"),
            Arc::clone(&clock) as _,
        )
        .unwrap()
        .store;
        let options = audit::OpenOptions::new(
            folder.path().join("audit.db"),
            "6b1a7c1e-0000-4000-8000-000000000000",
            audit::Signer::new(&[7; 32], true),
            Arc::clone(&clock) as _,
        );
        let audit::OpenState::Ready(log) = audit::Log::open(options).unwrap() else {
            panic!("a new log is ready")
        };
        let log = Arc::new(Refusable { log, refuses: AtomicBool::new(false) });
        let (model, tools, pushed) = (
            Arc::new(ScriptModel::default()),
            Arc::new(ScriptTools::default()),
            Arc::new(PushedEvents::default()),
        );
        let roster = Arc::new(TestRoster::default());
        let embedder = Arc::new(FailableEmbedder::default());
        *tools.specs.lock().unwrap() = Arc::new(specs);
        let secrets = Arc::new(TestSecrets::default());
        // Virtual time advances while real threads write, so the deadline is disabled for all tests
        // here.
        let mut settings = Settings::default();
        settings.limits.deadline_s = u32::MAX;
        // Summaries have their own tests. In the other tests, the test scripts every model call.
        settings.conversation.mode = contract::ConversationMode::BufferWindow;
        let profile = Arc::new(TestProfile {
            settings: Mutex::new(settings),
            rules: Mutex::default(),
            prices: Mutex::default(),
            // The general assistant has its own tests.
            supervision: Mutex::new(Supervision::Contract),
            fault: Mutex::default(),
        });
        let models = Arc::new(OneModel(Arc::clone(&model)));
        let limited = Arc::new(LimitedAccess {
            tools: Mutex::new(Arc::clone(&tools)),
            roster: Arc::clone(&roster),
            models: Arc::clone(&models),
        });
        let world = World {
            store: Arc::new(store),
            audit: Arc::clone(&log) as _,
            tools: Arc::clone(&tools) as _,
            roster: Arc::clone(&roster) as _,
            models,
            embedders: Arc::clone(&embedder) as _,
            profile: Arc::clone(&profile) as _,
            secrets: Arc::clone(&secrets) as _,
            events: Arc::clone(&pushed) as _,
            probe: Arc::new(NoProbe),
            clock: Arc::clone(&clock) as _,
            ids: Arc::new(Counter::default()),
            random: Arc::new(Counter::default()),
            access: Arc::clone(&limited) as _,
        };
        Self {
            engine: Engine::new(world.clone()),
            world,
            model,
            tools,
            limited,
            roster,
            embedder,
            clock,
            profile,
            secrets,
            pushed,
            log,
            _folder: folder,
        }
    }

    /// Sets the specialists.
    #[must_use]
    pub fn with(self, agents: Vec<Agent>) -> Self {
        *self.roster.agents.lock().unwrap() = Arc::new(agents);
        self
    }

    /// Answers as a general assistant, like in the window.
    #[must_use]
    pub fn with_assistant(self) -> Self {
        *self.profile.supervision.lock().unwrap() = Supervision::Assistant;
        self
    }

    /// Returns the system message of the n-th request.
    pub fn prompt(&self, n: usize) -> String {
        let requests = self.model.requests.lock().unwrap();
        let Some(Message::System { text }) = requests[n].messages.first() else {
            panic!("no prompt")
        };
        text.to_string()
    }

    pub async fn start(&self, text: &str) -> TurnStartResponse {
        self.start_with(text, false).await
    }

    pub async fn start_with(&self, text: &str, headless: bool) -> TurnStartResponse {
        let params = TurnStartParams {
            session: Some("s".into()),
            text: text.into(),
            model: None,
            agent: None,
            headless,
            replaces: None,
        };
        self.engine.turns.start(contract::Caller::inside(), params).await.unwrap()
    }

    /// Sends a message and waits for its `final` event.
    pub async fn ask(&self, text: &str) -> EventBody {
        let turn = self.start(text).await.turn;
        self.final_of(&turn).await
    }

    pub async fn wait_for<T>(&self, mut look: impl FnMut(&[TurnEvent]) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let bell = self.pushed.bell.notified();
                if let Some(found) = look(&self.pushed.events.lock().unwrap()) {
                    return found;
                }
                // The timeout, in virtual time, covers a notification that is missed between the
                // check and the wait.
                let _ = tokio::time::timeout(Duration::from_millis(20), bell).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10_000), waiting).await.expect("it happens")
    }

    pub async fn final_of(&self, turn: &TurnId) -> EventBody {
        self.wait_for(|events| {
            events
                .iter()
                .find(|e| e.turn == *turn && matches!(e.event, EventBody::Final { .. }))
                .map(|e| e.event.clone())
        })
        .await
    }

    /// Returns the n-th requested approval.
    pub async fn approval(&self, n: usize) -> Approval {
        self.wait_for(|events| {
            events
                .iter()
                .filter_map(|e| {
                    if let EventBody::ApprovalRequested { approval } = &e.event {
                        Some((**approval).clone())
                    } else {
                        None
                    }
                })
                .nth(n)
        })
        .await
    }

    /// Returns the action that is pending after a remote caller's turn, in the caller's language.
    /// The caller's host itself checks actions of "w".
    pub async fn caller_approval(&self, locale: &str) -> Approval {
        self.waiting_after_caller_turn(locale, &["w"]).await.expect("something waits")
    }

    /// Returns the same action, if any is pending.
    pub async fn waiting_after_caller_turn(
        &self,
        locale: &str,
        preflight_tools: &'static [&'static str],
    ) -> Option<Approval> {
        let limits = contract::Limits { approval_expiry_s: 86_400, ..contract::Limits::default() };
        let (locale, request_id) = (locale.into(), "r".into());
        let options = engine::TurnOptions {
            locale,
            caller: contract::Caller::chat_api([].into(), limits),
            request_id,
            correlation_id: None,
            hints: Vec::new(),
            whole: true,
            preflight_tools,
        };
        let mut stream =
            self.engine.caller_turns.start(&"s".into(), "add".into(), None, options).await.unwrap();
        while stream.next().await.is_some_and(|event| !matches!(event, EventBody::Final { .. })) {}
        self.engine.approvals.waiting_in(&"s".into()).await.unwrap()
    }

    pub async fn decide(
        &self,
        approval: &Approval,
        decision: Decision,
    ) -> Result<Approval, AgentError> {
        let params =
            ApprovalDecideParams { id: approval.id.clone(), hash: approval.hash.clone(), decision };
        self.engine
            .approvals
            .decide(params, &contract::Caller::window())
            .await
            .map(|decided| decided.approval)
    }

    pub async fn items(&self) -> Vec<Item> {
        self.engine.sessions.open(&"s".into()).await.unwrap().items
    }

    pub async fn outcomes(&self) -> Vec<ToolOutcome> {
        self.items()
            .await
            .into_iter()
            .filter_map(|i| {
                if let ItemBody::ToolResult { outcome, .. } = i.body { Some(outcome) } else { None }
            })
            .collect()
    }

    pub fn runs(&self) -> Vec<String> {
        self.tools.runs.lock().unwrap().iter().map(|(id, _)| id.clone()).collect()
    }

    /// Returns the names of the turn's events, with consecutive deltas combined.
    pub fn event_names(&self, turn: &TurnId) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for event in self.pushed.events.lock().unwrap().iter().filter(|e| e.turn == *turn) {
            let name =
                serde_json::to_value(&event.event).unwrap()["type"].as_str().unwrap().to_owned();
            if !(name == "delta" && names.last().is_some_and(|last| last == "delta")) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the types of the records, oldest first.
    pub async fn records(&self) -> Vec<(RecordType, Option<String>)> {
        let listed = self
            .log
            .log
            .list(AuditListParams {
                record_type: None,
                session: None,
                query: String::new(),
                before: None,
                limit: 500,
            })
            .await
            .unwrap();
        listed.records.into_iter().rev().map(|r| (r.record_type, r.status)).collect()
    }

    /// Returns the records of a type with their values, oldest first.
    pub async fn records_of(&self, record_type: RecordType) -> Vec<AuditRecordView> {
        let asked = AuditListParams {
            record_type: Some(record_type),
            session: None,
            query: String::new(),
            before: None,
            limit: 500,
        };
        let mut found = Vec::new();
        for record in self.log.log.list(asked).await.unwrap().records.into_iter().rev() {
            found.push(self.log.log.show(record.seq).await.unwrap());
        }
        found
    }

    /// Returns the arguments of each recorded intent, oldest first, with the record.
    pub async fn intents(&self) -> Vec<(Value, AuditRecordView)> {
        let intents = self.records_of(RecordType::ToolIntent).await.into_iter();
        let arguments = |shown: &AuditRecordView| {
            serde_json::from_str(shown.revealed["arguments"].as_str().unwrap()).unwrap()
        };
        intents.map(|shown| (arguments(&shown), shown)).collect()
    }

    /// Returns the arguments of each request, in order.
    pub fn sent(&self) -> Vec<Value> {
        self.tools.runs.lock().unwrap().iter().map(|(_, arguments)| arguments.clone()).collect()
    }

    pub async fn verified(&self) {
        let report = self.log.log.verify().await.unwrap();
        assert!(report.ok, "{:?}", report.problems);
        assert_eq!(
            report.unknown_outcomes,
            Vec::<u64>::new(),
            "every call that was begun has its end"
        );
    }
}

pub fn status_and_text(event: &EventBody) -> (TurnStatus, String) {
    match event {
        EventBody::Final { status, text, .. } => (*status, text.clone()),
        other => panic!("not a final: {other:?}"),
    }
}
