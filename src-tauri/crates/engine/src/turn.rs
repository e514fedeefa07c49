//! One turn from the accepted message to its single `final`: what is saved before and after, and how it may end.
//! The rounds in between are in `rounds`, the calls in `call`.

use std::{
    collections::{HashMap, HashSet},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use chrono::{DateTime, Utc};
use contract::{
    AgentError, AgentId, CallId, Choice, ErrorCode, EventBody, Item, ItemBody, ItemId, NoticeLevel, Push, RecordType, RedactionLevel, SessionId, Settings,
    Stage, ToolId, ToolSpec, TurnEvent, TurnId, TurnStatus, Usage,
};
use futures::FutureExt;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::{
    Engine,
    call::Seen,
    conversation::Recollections,
    egress::Words,
    entities::Used,
    lanes::Accepted,
    metering::{Account, BUDGET, Metered},
    ports::{Agent, Durability, Model, Point, RecordDraft, Served, StoreError, TurnRow},
    results::Kept,
    run::{Ended, Work, surroundings},
    store_error,
    texts::Text,
};

/// How a turn ended, with what is to be said.
pub(crate) enum End {
    Answer { text: String, choices: Vec<Choice>, status: TurnStatus },
    Cancelled { partial: String },
    Failed { partial: String, error: AgentError },
    ApprovalRequired { error: AgentError },
}

/// A turn that runs.
pub(crate) struct Turn {
    pub(crate) engine: Arc<Engine>,
    pub(crate) session: SessionId,
    pub(crate) id: TurnId,
    pub(crate) text: String,
    pub(crate) headless: bool,
    /// Items are kept; false for a direct tool call outside a conversation.
    pub(crate) keeps_items: bool,
    pub(crate) cancel: CancellationToken,
    pub(crate) model: Arc<dyn Model>,
    /// The same model, for calls beside the turn.
    pub(crate) metered: Arc<Metered>,
    /// What this turn sees of earlier messages.
    pub(crate) recollections: Recollections,
    /// Makes everything that the model gets to read; there from the first round on.
    pub(crate) words: OnceLock<Words>,
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
    /// Model calls begun.
    pub(crate) asked: AtomicU32,
    pub(crate) tainted: AtomicBool,
    pub(crate) seen: Mutex<Seen>,
    /// Long results, for a model that wants more of them.
    pub(crate) kept: Kept,
    /// Writes that ran without asking, a line each: the host reports them with the answer, whatever the model says.
    pub(crate) reported: Mutex<Vec<String>>,
    /// Arguments that did not fit, by tool: the same ones a second time end the use of tools.
    pub(crate) misfits: Mutex<HashSet<String>>,
    pub(crate) without_tools: AtomicBool,
    started: tokio::time::Instant,
    /// Without the time that people take to decide: see `deadline`.
    deadline: tokio::time::Instant,
    pub(crate) usage: Mutex<Usage>,
    /// What its model calls used, and what happened to it on the way.
    pub(crate) account: Arc<Account>,
    /// The run of the run contract that it answers.
    pub(crate) run: Option<Arc<Work>>,
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
        let (specs, started_at) = (world.tools.specs(), world.clock.now());
        let started = tokio::time::Instant::now();
        let deadline = started + std::time::Duration::from_secs(u64::from(settings.limits.deadline_s));
        Self {
            engine,
            session,
            id: accepted.turn,
            text: accepted.text,
            headless: accepted.headless,
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
            asked: AtomicU32::new(0),
            tainted: AtomicBool::new(false),
            seen: Mutex::default(),
            kept: Kept::default(),
            reported: Mutex::default(),
            misfits: Mutex::default(),
            without_tools: AtomicBool::new(false),
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
            return End::Failed { partial: String::new(), error: store_error(&error) };
        }
        self.probe(Point::AfterUserMessage);
        self.engine.push_session(&self.session).await;
        self.record(
            RecordDraft::new(RecordType::RunStarted)
                .field("level", "info")
                .field("duration_ms", 0)
                .field("model", self.model.label())
                .commit("input", self.text.clone()),
        )
        .await;
        self.show_memory(&recalled).await;
        let end = Arc::clone(&self).conduct(&agents, &recalled).await;
        self.within_budget(end)
    }

    /// When a budget refused a call: what was said so far is the answer, else the refusal is the error.
    fn within_budget(&self, end: End) -> End {
        let Some(refusal) = self.account.refusal.lock().unwrap_or_else(PoisonError::into_inner).take() else { return end };
        let End::Failed { partial, .. } = end else { return end };
        let said = !partial.is_empty() || self.has_reported() || !self.asides.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        if refusal.reason_text() != Some(BUDGET) || !said {
            return End::Failed { partial, error: refusal };
        }
        self.account.truncated.store(true, Ordering::Release);
        let why = [Some(refusal.message.as_str()), refusal.hint_text()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let text = if partial.is_empty() { why } else { format!("{partial}\n\n{why}") };
        End::Answer { text, choices: Vec::new(), status: TurnStatus::Limit }
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
        let store = &self.world().store;
        let (items, row) = tokio::join!(store.items_append(vec![item]), store.turn_put(&row));
        row?;
        self.emit_items(items?);
        Ok(())
    }

    async fn finish(&self, end: End) {
        self.probe(Point::BeforeAnswerSaved);
        let (mut text, choices, status, error) = self.last_words(end);
        let mut body: Vec<Item> = self.redaction_item().into_iter().collect();
        match status {
            TurnStatus::Ok | TurnStatus::Limit if !text.is_empty() => body.push(self.answer_item(&text, choices.clone(), false)),
            // What was done stays told, also when the turn then waits for somebody.
            TurnStatus::ApprovalRequired if self.has_reported() => body.push(self.answer_item(&text, Vec::new(), false)),
            TurnStatus::Ok | TurnStatus::Limit | TurnStatus::ApprovalRequired => {}
            TurnStatus::Cancelled | TurnStatus::Error => {
                if !text.is_empty() {
                    body.push(self.answer_item(&text, Vec::new(), true));
                }
                body.push(self.item(ending_notice(status, error.as_ref(), &self.locale)));
            }
        }
        let saved = self.save_end(body, status, error.as_ref()).await;
        if !self.instructed.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            self.engine.keep_last_used().await;
        }
        let error = error.or(saved.err().map(|e| store_error(&e)));
        self.probe(Point::AfterAnswerSaved);
        if let Some(error) = &error {
            self.emit(EventBody::Error { error: error.clone() });
            if text.is_empty() {
                text.clone_from(&error.message);
            }
        }
        if status == TurnStatus::Cancelled && text.is_empty() {
            Text::Cancelled.in_locale(&self.locale).clone_into(&mut text);
        }
        if *self.shown.lock().unwrap_or_else(PoisonError::into_inner) != text {
            self.emit(EventBody::Status { stage: Stage::OutputReplaced, text: None });
        }
        self.emit(EventBody::Final { status, text: text.clone(), choices: choices.clone(), error: error.clone(), usage: self.usage() });
        if let Some(run) = &self.run {
            run.end(self.ended(status, text, choices, error));
        }
    }

    fn last_words(&self, end: End) -> (String, Vec<Choice>, TurnStatus, Option<AgentError>) {
        let (mut text, choices, status, error) = match end {
            End::Answer { text, choices, status } => (text, choices, status, None),
            End::Cancelled { partial } => (partial, Vec::new(), TurnStatus::Cancelled, None),
            End::Failed { partial, error } => (partial, Vec::new(), TurnStatus::Error, Some(error)),
            End::ApprovalRequired { error } => {
                (Text::NotApprovedHeadless.in_locale(&self.locale).to_owned(), Vec::new(), TurnStatus::ApprovalRequired, Some(error))
            }
        };
        let reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if self.account.cut.load(Ordering::Acquire) && !text.is_empty() {
            text.push_str(&format!("\n\n{}", Text::BudgetCut.in_locale(&self.locale)));
        }
        if !reported.is_empty() {
            let break_before = if text.is_empty() { "" } else { "\n\n" };
            text.push_str(&format!("{break_before}{} {}", Text::WriteDone.in_locale(&self.locale), reported.join("; ")));
        }
        (text, choices, status, error)
    }

    fn has_reported(&self) -> bool {
        !self.reported.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn ended(&self, status: TurnStatus, text: String, choices: Vec<Choice>, error: Option<AgentError>) -> Ended {
        let account = &self.account;
        Ended {
            status,
            text,
            asides: self.asides.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            choices,
            error,
            usage: self.usage(),
            model: self.answering_label(),
            tools: account.tools(),
            changed: account.changed.load(Ordering::Acquire),
            truncated: account.truncated.load(Ordering::Acquire),
            declined: account.declined.load(Ordering::Acquire),
            nano_usd: account.nano_usd.load(Ordering::Acquire),
            unpriced: account.unpriced.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect(),
        }
    }

    fn served(&self, status: &str, code: Option<&str>) -> Served {
        let took = self.started.elapsed().saturating_sub(self.account.waited());
        Served {
            turn: self.id.clone(),
            ended_at: self.world().clock.now(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            tools: u32::try_from(self.account.tools().len()).unwrap_or(u32::MAX),
            status: status.to_owned(),
            code: code.map(str::to_owned),
        }
    }

    async fn save_end(&self, body: Vec<Item>, status: TurnStatus, error: Option<&AgentError>) -> Result<(), StoreError> {
        let world = self.world();
        let name = status_name(status);
        let row = self.row(name, Some(world.clock.now()));
        let usage = self.usage();
        let code = error.map(|error| error.code.name());
        tracing::Span::current().record("status", name).record("code", code);
        let served = self.served(name, code);
        let mut draft = RecordDraft::new(RecordType::RunEnded)
            .field("status", name)
            .field("level", if error.is_some() { "error" } else { "info" })
            .field("agent", self.agent().map(|agent| agent.id.0.clone()).unwrap_or_default())
            .field("duration_ms", served.duration_ms)
            .field("model_calls", usage.model_calls)
            .field("tokens_in", usage.input_tokens)
            .field("tokens_out", usage.output_tokens)
            .field("nano_usd", self.account.nano_usd.load(Ordering::Acquire));
        if let Some(code) = code {
            draft = draft.field("code", code);
        }
        self.record(draft).await;
        let (items, row, kept, flushed, ()) = tokio::join!(
            world.store.items_append(body),
            world.store.turn_put(&row),
            world.store.served_put(&served),
            world.audit.flush(),
            self.account.settled()
        );
        if let Err(error) = kept {
            tracing::warn!(%error, "how a turn was served could not be kept");
        }
        if let Err(error) = flushed {
            tracing::warn!(%error, "the audit log could not be flushed at the end of a turn");
        }
        row?;
        self.emit_items(items?);
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
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_tainted(&self) -> bool {
        self.tainted.load(Ordering::Acquire)
    }

    pub(crate) fn emit(&self, event: EventBody) {
        let n = self.events.fetch_add(1, Ordering::AcqRel) + 1;
        let at = self.world().clock.now();
        if let Some(run) = &self.run {
            run.tell(&self.engine, &event, at);
        }
        if self.world().events.heard() {
            self.engine.push(Push::Turn { event: TurnEvent { session: self.session.clone(), turn: self.id.clone(), n, at, event } });
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
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its name, as shown to the user.
    pub(crate) fn agent_name(&self) -> Option<String> {
        self.agent().map(|agent| agent.name.clone())
    }

    /// The model that answers now, as shown to the user.
    pub(crate) fn answering_label(&self) -> String {
        self.answering.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_else(|| self.model.label())
    }

    /// What was held back from the model in this turn, if anything was.
    fn redaction_item(&self) -> Option<Item> {
        let words = self.words.get()?;
        let counts = words.counts();
        (!counts.is_empty()).then(|| self.item(ItemBody::Redaction { level: words.level(), counts }))
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

    fn row(&self, status: &str, ended_at: Option<DateTime<Utc>>) -> TurnRow {
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

pub(crate) fn status_name(status: TurnStatus) -> &'static str {
    match status {
        TurnStatus::Ok => "ok",
        TurnStatus::Limit => "limit",
        TurnStatus::Cancelled => "cancelled",
        TurnStatus::Error => "error",
        TurnStatus::ApprovalRequired => "approval_required",
    }
}

fn ending_notice(status: TurnStatus, error: Option<&AgentError>, locale: &str) -> ItemBody {
    if status == TurnStatus::Cancelled {
        return ItemBody::Notice { level: NoticeLevel::Info, code: "turn_cancelled".into(), text: Text::Cancelled.in_locale(locale).into() };
    }
    let text = error.map_or_else(String::new, |e| match e.hint_text() {
        Some(hint) => format!("{} {hint}", e.message),
        None => e.message.clone(),
    });
    let code = error.map_or("internal_error", |e| match e.code {
        ErrorCode::LlmError => "llm_error",
        ErrorCode::RateLimited => "rate_limited",
        ErrorCode::AgentDisabled => "agent_disabled",
        ErrorCode::InvalidInput
        | ErrorCode::ApprovalRequired
        | ErrorCode::ToolNotFound
        | ErrorCode::ToolTimeout
        | ErrorCode::ToolHttpError
        | ErrorCode::InternalError => "turn_failed",
    });
    ItemBody::Notice { level: NoticeLevel::Error, code: code.into(), text }
}
