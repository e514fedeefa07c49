//! One turn from the accepted message to its end: what is saved before anything is asked, and what all its parts use.
//! The rounds in between are in `rounds`, the calls in `call`, how it ends in `ending`.

pub(crate) mod direct;
pub(crate) mod ending;
pub(crate) mod frame;
pub(crate) mod recover;
pub(crate) mod switches;
pub(crate) mod traces;

use std::{
    collections::{HashMap, HashSet},
    panic::AssertUnwindSafe,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use chrono::{DateTime, Utc};
use contract::{
    AgentError, AgentId, CallId, Choice, EventBody, Item, ItemBody, ItemId, Push, RecordType, RedactionLevel, SessionId, Settings, Stage, ToolId, ToolSpec,
    TurnEvent, TurnId, Usage,
};
use futures::FutureExt;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::{
    Engine,
    approvals::repeats::AskedFor,
    budget::metering::{Account, Metered},
    context::{egress::EgressSession, entities::Used},
    memory::Recollections,
    ports::{Agent, Durability, Model, Point, RecordDraft, StoreError, TurnRow},
    run::{RunContext, surroundings},
    sessions::lanes::Accepted,
    tools::{
        call::{InvalidArguments, Seen},
        provenance::UntrustedSources,
        refusals::Refusals,
        results::ResultStore,
    },
    turn::ending::End,
};

/// A turn that runs.
pub(crate) struct Turn {
    pub(crate) engine: Arc<Engine>,
    pub(crate) session: SessionId,
    pub(crate) id: TurnId,
    pub(crate) text: String,
    pub(crate) headless: bool,
    /// It stands for a turn that has ended: nothing waits with it.
    pub(crate) detached: bool,
    /// Items are kept; false for a direct tool call outside a conversation.
    pub(crate) keeps_items: bool,
    pub(crate) cancel: CancellationToken,
    pub(crate) model: Arc<dyn Model>,
    /// The same model, for calls beside the turn.
    pub(crate) metered: Arc<Metered>,
    /// What this turn sees of earlier messages.
    pub(crate) recollections: Recollections,
    /// Makes everything that the model gets to read; there from the first round on.
    pub(crate) words: OnceLock<EgressSession>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) locale: String,
    pub(crate) specs: Arc<Vec<ToolSpec>>,
    /// The specialist that was asked for.
    pub(crate) wanted: Option<AgentId>,
    /// The specialist that runs now; nobody while the supervisor decides and where there are none.
    pub(crate) at_work: Mutex<Option<Arc<Agent>>>,
    /// Values that the running specialist's calls used for parameters with defaults, by call, and of all that succeeded.
    pub(crate) settled: Mutex<HashMap<CallId, Vec<Used>>>,
    pub(crate) used: Mutex<Vec<Used>>,
    /// Times of earlier analyses that answered in this run.
    pub(crate) reused: Mutex<Vec<String>>,
    /// Tools whose execution instructions this turn has given.
    pub(crate) instructed: Mutex<HashSet<ToolId>>,
    /// How often the older half of the earlier turns has been left out for a model that cannot read so much.
    pub(crate) halvings: AtomicU32,
    /// Model calls begun.
    pub(crate) asked: AtomicU32,
    /// Content of strangers that has entered.
    pub(crate) strangers: UntrustedSources,
    /// Changes that a person rejected, or that wait for one, by `sameness`.
    pub(crate) asked_for: Mutex<AskedFor>,
    pub(crate) seen: Mutex<Seen>,
    /// Long results, for a model that wants more of them.
    pub(crate) kept: ResultStore,
    /// Writes that ran without asking, a line each: the host reports them with the answer, whatever the model says.
    pub(crate) reported: Mutex<Vec<String>>,
    /// Arguments that did not fit.
    pub(crate) misfits: Mutex<InvalidArguments>,
    pub(crate) without_tools: AtomicBool,
    /// Calls that were not run.
    pub(crate) refusals: Refusals,
    pub(crate) started: tokio::time::Instant,
    /// Without the time that people take to decide: see `deadline`.
    deadline: tokio::time::Instant,
    pub(crate) usage: Mutex<Usage>,
    /// What its model calls used, and what happened to it on the way.
    pub(crate) account: Arc<Account>,
    /// The run of the run contract that it answers.
    pub(crate) run: Option<Arc<RunContext>>,
    /// What was said beside calls.
    pub(crate) asides: Mutex<Vec<String>>,
    /// Text as the deltas have shown it, to tell whether `final` differs.
    pub(crate) shown: Mutex<String>,
    /// The model that took over, when the chosen one could not answer.
    pub(crate) answering: Mutex<Option<String>>,
    events: AtomicU64,
    started_at: DateTime<Utc>,
}

impl Turn {
    pub(crate) fn new(engine: Arc<Engine>, session: SessionId, accepted: Accepted, cancel: CancellationToken) -> Self {
        let world = &engine.world;
        let run = engine.runs.of(&accepted.turn);
        let (settings, locale) = surroundings(run.as_deref(), world.profile.as_ref());
        let account = Arc::new(Account::new(session.clone(), accepted.turn.clone(), run.as_ref().and_then(|run| run.max_output_tokens)));
        let model = world.models.current(accepted.model.as_deref());
        let metered = Metered::new(model, world.clone(), Arc::clone(&settings), Arc::clone(&account));
        let kept = ResultStore::new(!run.as_ref().is_some_and(|run| run.is_heard()));
        let (specs, started_at) = (world.tools.specs(), world.clock.now());
        let started = tokio::time::Instant::now();
        let deadline = started + std::time::Duration::from_secs(u64::from(settings.limits.deadline_s));
        Self {
            engine,
            session,
            id: accepted.turn,
            text: accepted.text,
            headless: accepted.headless,
            detached: false,
            keeps_items: true,
            cancel,
            model: Arc::clone(&metered) as _,
            metered,
            recollections: Recollections::default(),
            words: OnceLock::new(),
            settings,
            locale,
            specs,
            wanted: accepted.agent,
            at_work: Mutex::default(),
            settled: Mutex::default(),
            used: Mutex::default(),
            reused: Mutex::default(),
            instructed: Mutex::default(),
            halvings: AtomicU32::new(0),
            asked: AtomicU32::new(0),
            strangers: UntrustedSources::default(),
            asked_for: Mutex::default(),
            seen: Mutex::default(),
            kept,
            reported: Mutex::default(),
            misfits: Mutex::default(),
            without_tools: AtomicBool::new(false),
            refusals: Refusals::default(),
            started,
            deadline,
            usage: Mutex::default(),
            account,
            run,
            asides: Mutex::default(),
            shown: Mutex::default(),
            answering: Mutex::default(),
            events: AtomicU64::new(0),
            started_at,
        }
    }

    /// Runs to the end. Whatever happens inside, exactly one `final` is told.
    pub(crate) async fn run(self) {
        let turn = Arc::new(self);
        let end = match AssertUnwindSafe(Arc::clone(&turn).answer()).catch_unwind().await {
            Ok(end) => end,
            Err(_) => End::Failed {
                partial: String::new(),
                error: AgentError::internal("unexpected", "Something went wrong inside Countersign.")
                    .hint("Ask again; `csign doctor` shows the state of the installation."),
            },
        };
        turn.finish(end).await;
        turn.keep_memory().await;
    }

    async fn answer(self: Arc<Self>) -> End {
        self.probe(Point::BeforeUserMessage);
        self.emit(EventBody::Status { stage: Stage::Started, text: None });
        if let Some(Err(error)) = self.wanted.as_ref().map(|id| self.engine.check_specialist(id)) {
            return End::Failed { partial: String::new(), error };
        }
        let agents = self.agents();
        let recalled = match self.recall(Self::only(&agents)).await {
            Ok(recalled) => recalled,
            Err(end) => return end,
        };
        if let Err(error) = self.save_question().await {
            return End::Failed { partial: String::new(), error: error.into() };
        }
        self.probe(Point::AfterUserMessage);
        self.engine.push_session(&self.session).await;
        self.record(
            RecordDraft::new(RecordType::RunStarted)
                .field("duration_ms", 0)
                .field("agent", self.wanted.as_ref().map(|agent| agent.0.clone()).unwrap_or_default())
                .field("model", self.model.label())
                .commit("input", self.text.clone()),
        )
        .await;
        self.show_memory(&recalled).await;
        let end = Arc::clone(&self).conduct(&agents, &recalled).await;
        self.within_budget(end)
    }

    /// A specialist's own bound, which does not hold where the caller has set one.
    pub(crate) fn own_bound(&self, own: u32) -> u32 {
        if self.is_heard() { u32::MAX } else { own }
    }

    /// Whether the answer goes to a caller elsewhere.
    pub(crate) fn is_heard(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.is_heard())
    }

    /// When a call may still begin or be tried again.
    pub(crate) fn deadline(&self) -> tokio::time::Instant {
        self.deadline + self.account.waited()
    }

    /// The time is over: from now on the model only gets to answer.
    pub(crate) fn out_of_time(&self) -> bool {
        let over = tokio::time::Instant::now() >= self.deadline();
        if over {
            self.account.truncated.store(true, Ordering::Release);
        }
        over
    }

    /// How much is replaced in what this turn sends.
    pub(crate) fn redaction_level(&self) -> RedactionLevel {
        // The model that is a part of this program reads originals: nothing leaves, and its figures and names must be right.
        if self.model.in_process() { RedactionLevel::None } else { self.level_with_packs() }
    }

    async fn save_question(&self) -> Result<(), StoreError> {
        let item = self.item(ItemBody::UserMessage { text: self.text.clone() });
        let row = self.row("running", None);
        self.emit_items(self.world().store.turn_save(&row, vec![item], None).await?);
        Ok(())
    }

    // --- small pieces used by the rest of the turn ---

    pub(crate) fn world(&self) -> &crate::World {
        &self.engine.world
    }

    pub(crate) fn probe(&self, point: Point) {
        self.world().probe.at(point);
    }

    pub(crate) fn usage(&self) -> Usage {
        *self.usage.lock()
    }

    pub(crate) fn is_tainted(&self) -> bool {
        self.strangers.are_there()
    }

    pub(crate) fn emit(&self, event: EventBody) {
        let n = self.events.fetch_add(1, Ordering::AcqRel) + 1;
        let at = self.world().clock.now();
        let push = |event| self.engine.push(Push::Turn { event: TurnEvent { session: self.session.clone(), turn: self.id.clone(), n, at, event } });
        match (&self.run, self.world().events.heard()) {
            (Some(run), true) => {
                run.tell(&self.engine, event.clone(), at);
                push(event);
            }
            (Some(run), false) => run.tell(&self.engine, event, at),
            (None, true) => push(event),
            (None, false) => {}
        }
    }

    pub(crate) fn emit_items(&self, items: Vec<Item>) {
        for item in items {
            self.emit(EventBody::Item { item: Box::new(item) });
        }
    }

    /// Appends a record that nothing waits for: it is handed over now, in its place among the others, and the end of the turn makes
    /// it durable.
    pub(crate) async fn record(&self, draft: RecordDraft) {
        let (audit, draft) = (Arc::clone(&self.world().audit), draft.of(&self.session, &self.id));
        let mut appending = Box::pin(async move {
            if let Err(error) = audit.append(draft, Durability::Grouped).await {
                tracing::warn!(%error, "a record could not be written");
            }
        });
        if (&mut appending).now_or_never().is_none() {
            tokio::spawn(appending.in_current_span());
        }
    }

    pub(crate) fn item(&self, body: ItemBody) -> Item {
        let world = self.world();
        Item { id: ItemId(world.ids.next("item")), session: self.session.clone(), turn: self.id.clone(), seq: 0, created_at: world.clock.now(), body }
    }

    /// The specialist that runs now.
    pub(crate) fn agent(&self) -> Option<Arc<Agent>> {
        self.at_work.lock().clone()
    }

    /// Its name, as shown to the user.
    pub(crate) fn agent_name(&self) -> Option<String> {
        self.agent().map(|agent| agent.name.clone())
    }

    /// Its id, as records name it; empty when there is none.
    pub(crate) fn agent_id(&self) -> String {
        self.agent().map(|agent| agent.id.0.clone()).unwrap_or_default()
    }

    /// The model that answers now, as shown to the user.
    pub(crate) fn answering_label(&self) -> String {
        self.answering.lock().clone().unwrap_or_else(|| self.model.label())
    }

    pub(crate) fn answer_item(&self, text: &str, choices: Vec<Choice>, partial: bool) -> Item {
        self.item(ItemBody::AssistantText {
            text: text.to_owned(),
            blocks: Vec::new(),
            model: Some(self.answering_label()),
            agent: self.agent_name(),
            choices,
            partial,
        })
    }

    pub(crate) fn row(&self, status: &str, ended_at: Option<DateTime<Utc>>) -> TurnRow {
        TurnRow {
            turn: self.id.clone(),
            session: self.session.clone(),
            started_at: self.started_at,
            ended_at,
            status: status.to_owned(),
            model: self.answering_label(),
            usage: self.usage(),
        }
    }
}
