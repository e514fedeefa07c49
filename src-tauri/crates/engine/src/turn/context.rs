//! The read-only state that all parts of a turn share: ids, question, settings, audience, model and
//! deadline, and the functions that emit events, write records and save items.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use contract::{
    AgentError, AgentId, Approval, Caller, Destination, DestinationKind, EventBody, Item, ItemBody,
    ItemId, Limits, PackId, Push, RedactionLevel, SessionId, Settings, ToolSpec, TurnEvent, TurnId,
};
use futures::FutureExt;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::{
    budget::{account::Account, metering::Metered},
    ports::{
        Agent, Durability, Model, Point, RecordDraft, StoreError, Supervision, TurnContent, World,
    },
    turn::{
        kind::TurnKind,
        lanes::Accepted,
        mentions::find_mentioned_agent,
        outcome::End,
        provenance::UntrustedSources,
        recording::{recorder::Recorder, taps::RecordedCalls},
        run_context::{RunContext, locale_for, settings_for},
        services::TurnServices,
    },
};

/// The input of a turn.
pub(crate) struct TurnStart {
    pub(crate) session: SessionId,
    pub(crate) accepted: Accepted,
    pub(crate) kind: TurnKind,
    pub(crate) cancel: CancellationToken,
}

/// The shared state of a turn.
pub(crate) struct TurnContext {
    pub(crate) services: Arc<TurnServices>,
    pub(crate) session: SessionId,
    pub(crate) id: TurnId,
    pub(crate) question: String,
    /// The caller of the turn, or after the turn's end the caller that decided about its action.
    pub(crate) caller: Caller,
    /// The request that the turn answers, if a program sent it.
    run: Option<Arc<RunContext>>,
    /// Whether the turn has ended and only its pending action continues.
    is_detached: bool,
    /// The ports as available to the caller.
    world: World,
    pub(crate) kind: TurnKind,
    pub(crate) cancel: CancellationToken,
    pub(crate) model: Arc<dyn Model>,
    /// The model that summarises older messages. Its calls are also metered.
    pub(crate) summariser: Arc<Metered>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) locale: String,
    pub(crate) specs: Arc<Vec<ToolSpec>>,
    /// The specialist that the caller or the message requests.
    pub(crate) wanted: Option<AgentId>,
    /// The turn's usage and actions so far. It has its own lock.
    pub(crate) account: Arc<Account>,
    pub(crate) started: tokio::time::Instant,
    pub(crate) started_at: DateTime<Utc>,
    /// The deadline, excluding the time of people and of the model; see `deadline`.
    deadline: tokio::time::Instant,
    /// The turn that this turn replaces, as another version of its message.
    pub(crate) replaces: Option<TurnId>,
    /// The recording for a replay, if the turn is recorded.
    pub(crate) recorder: Option<Arc<Recorder>>,
    /// The outside content in the requests of the turn.
    pub(crate) sources: UntrustedSources,
    /// The hosts and recipients that the person names in the message of this turn.
    pub(crate) named: BTreeSet<Destination>,
    /// The number of the next event.
    events: AtomicU64,
}

impl TurnContext {
    /// Records that the turn has seen data that must stay on this computer. Every text created from
    /// then on may contain the data.
    pub(crate) fn note_local_data(&self) {
        self.account.entries().has_local_data = true;
    }

    /// Whether a text of this turn may contain data that must stay on this computer.
    pub(crate) fn has_local_data(&self) -> bool {
        self.account.entries().has_local_data
    }

    /// Returns a description of the content that the turn has seen, for searches and notes.
    pub(crate) fn content(&self) -> TurnContent {
        TurnContent {
            model_is_local: self.model.is_local(),
            is_local: self.has_local_data(),
            is_untrusted: self.sources.is_any(),
        }
    }

    pub(crate) fn new(services: &Arc<TurnServices>, start: TurnStart) -> Self {
        let run = services.runs.of(&start.accepted.turn);
        Self::with_run(services, start, run)
    }

    /// Returns the language of a text of this turn. If the language is not certain, returns the
    /// language of the turn.
    pub(crate) fn locale_of(&self, text: &str) -> String {
        match self.run() {
            Some(_) => None,
            None => self.world().profile.locale_of(text),
        }
        .unwrap_or_else(|| self.locale.clone())
    }

    /// Creates the context of a pending action whose turn has ended. A new proposal in this context
    /// keeps the language and the waiting time.
    pub(crate) fn detached(services: &Arc<TurnServices>, approval: &Approval) -> Self {
        let run = services.runs.of(&approval.turn);
        let caller =
            run.as_ref().map_or_else(|| Caller::new(approval.caller.clone()), |run| run.caller());
        let accepted = Accepted {
            caller: caller.headless(true),
            ..Accepted::without_message(approval.turn.clone())
        };
        let kind = if approval.session.as_str() == crate::turn::lanes::DIRECT {
            TurnKind::Direct
        } else {
            TurnKind::Conversation
        };
        let start = TurnStart {
            session: approval.session.clone(),
            accepted,
            kind,
            cancel: CancellationToken::new(),
        };
        let mut context = Self { is_detached: true, ..Self::with_run(services, start, run) };
        context.sources.add_followed_sources(&approval.follows);
        if context.run.is_none() {
            context.locale = approval.locale.clone().unwrap_or(context.locale);
        }
        let waits_s = u32::try_from((approval.expires_at - approval.created_at).num_seconds())
            .unwrap_or_default();
        let limits = Limits { approval_expiry_s: waits_s, ..context.settings.limits };
        context.settings = Arc::new(Settings { limits, ..(*context.settings).clone() });
        context
    }

    fn with_run(
        services: &Arc<TurnServices>,
        start: TurnStart,
        run: Option<Arc<RunContext>>,
    ) -> Self {
        let TurnStart { session, accepted, kind, cancel } = start;
        let world = services.world.of(&accepted.caller);
        let settings = settings_for(&accepted.caller, world.profile.as_ref());
        let locale = locale_for(run.as_deref(), world.profile.as_ref());
        let locale = match &run {
            Some(_) => locale,
            None => world.profile.locale_of(&accepted.text).unwrap_or(locale),
        };
        let account = Arc::new(Account::new(
            session.clone(),
            accepted.turn.clone(),
            run.as_ref().and_then(|run| run.max_output_tokens),
        ));
        let choose = |name| services.models.choose(world.models.as_ref(), name);
        let mut model = choose(accepted.model.as_deref());
        let started_at = world.clock.now();
        // Only messages of the profile's owner are recorded.
        let is_recorded =
            run.is_none() && !accepted.text.is_empty() && settings.limits.recorded_turns > 0;
        let recorder = is_recorded
            .then(|| Arc::new(Recorder::new(&session, &accepted, model.as_ref(), started_at)));
        if let Some(recorder) = &recorder {
            model = RecordedCalls::wrap(model, recorder);
        }
        let metered =
            |model| Metered::new(model, world.clone(), Arc::clone(&settings), Arc::clone(&account));
        let model = metered(model);
        let summariser = match settings.model.summariser.trim() {
            "" => Arc::clone(&model),
            name => metered(choose(Some(name))),
        };
        let specs = world.tools.specs();
        // Callers of the run contract and of the chat API give a specialist in a separate field.
        let mentioned = || match &run {
            Some(_) => None,
            None => find_mentioned_agent(&accepted.text, &world.roster.agents()),
        };
        let wanted = accepted.agent.clone().or_else(mentioned);
        // A message from a program that uses the run contract does not come from a person.
        let named = match &run {
            Some(_) => BTreeSet::new(),
            None => named_destinations(&accepted.text, &world.roster.agents()),
        };
        let started = tokio::time::Instant::now();
        let deadline = started + Duration::from_secs(u64::from(settings.limits.deadline_s));
        Self {
            services: Arc::clone(services),
            session,
            id: accepted.turn,
            question: accepted.text,
            caller: accepted.caller,
            run,
            is_detached: false,
            world,
            kind,
            cancel,
            model,
            summariser,
            settings,
            locale,
            specs,
            wanted,
            account,
            started,
            started_at,
            deadline,
            replaces: accepted.replaces,
            recorder,
            sources: UntrustedSources::default(),
            named,
            events: AtomicU64::new(0),
        }
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    pub(crate) fn probe(&self, point: Point) {
        self.world().probe.at(point);
    }

    /// Returns the request that the turn answers, if a program sent it.
    pub(crate) fn run(&self) -> Option<&Arc<RunContext>> {
        self.run.as_ref()
    }

    /// Returns the request whose caller receives the events.
    pub(crate) fn run_with_listener(&self) -> Option<&RunContext> {
        self.run.as_deref().filter(|run| run.has_listener())
    }

    /// Whether the caller is outside this computer. Such a caller has its own limits and no
    /// settings, and is only told that a service failed, not how.
    pub(crate) fn is_remote(&self) -> bool {
        self.run_with_listener().is_some()
    }

    /// Whether a call may wait for a decision. If not, its action stays pending after the end of
    /// the turn.
    pub(crate) fn may_wait(&self) -> bool {
        self.caller.may_wait
    }

    /// Whether a person is present to answer questions of an MCP server during a call.
    pub(crate) fn is_attended(&self) -> bool {
        self.caller.may_wait || self.is_detached
    }

    /// Returns how the turn is supervised. Turns of the run contract and of the chat API are
    /// supervised as in the contract, others as the profile chooses.
    pub(crate) fn supervision(&self) -> Supervision {
        match self.run() {
            Some(_) => Supervision::Contract,
            None => self.world().profile.supervision(),
        }
    }

    /// Whether the model answers messages that need no specialist.
    pub(crate) fn is_generalist(&self) -> bool {
        self.supervision() == Supervision::Assistant
    }

    /// Whether the model can route a message with a tool. The built-in model routes by the packs
    /// instead.
    pub(crate) fn can_route(&self) -> bool {
        let model = &self.model;
        model.capabilities().tools && !model.in_process() && !model.refuses_tools()
    }

    /// Returns a specialist's own limit, unless a remote caller sets a limit.
    pub(crate) fn bound_unless_remote(&self, own: u32) -> u32 {
        if self.is_remote() { u32::MAX } else { own }
    }

    /// Returns the time until which a call may begin or be retried. The time of slow models and
    /// servers is not counted.
    pub(crate) fn deadline(&self) -> tokio::time::Instant {
        let entries = self.account.entries();
        // A remote caller waits for the whole turn, so its deadline is not extended.
        let slow =
            if self.is_remote() { Duration::ZERO } else { entries.model_time + entries.tool_time };
        self.deadline + entries.waited + slow
    }

    /// Whether the deadline has passed. After the deadline, the model may only answer.
    pub(crate) fn is_out_of_time(&self) -> bool {
        let is_over = tokio::time::Instant::now() >= self.deadline();
        if is_over {
            self.account.entries().is_truncated = true;
        }
        is_over
    }

    /// Returns the redaction level of everything that this turn sends.
    pub(crate) fn redaction_level(&self) -> RedactionLevel {
        // The built-in model reads unredacted text, because no data leaves the process and its
        // figures and names must be correct.
        if self.model.in_process() { RedactionLevel::None } else { self.level_with_packs() }
    }

    /// Returns the strictest of the user's redaction level and the levels that the packs of this
    /// turn require.
    fn level_with_packs(&self) -> RedactionLevel {
        let mut level = self.settings.egress.redaction;
        let mut last: Option<&PackId> = None;
        for spec in self.specs.iter() {
            // Tools of the same pack are adjacent, so each pack is examined once.
            if last != Some(&spec.pack) {
                level = level.max(
                    self.world()
                        .tools
                        .data_flow(&spec.pack)
                        .map_or(RedactionLevel::None, |flow| flow.redaction()),
                );
                last = Some(&spec.pack);
            }
        }
        level
    }

    /// Fails if this tool, its pack's agent or the whole assistant is switched off.
    pub(crate) fn check_tool(&self, tool: &ToolSpec) -> Result<(), AgentError> {
        self.services.switches.check_tool_of(self.world().tools.as_ref(), tool)
    }

    /// Returns the tools that are switched on now. A model that does not support tools gets none.
    pub(crate) fn offered(&self) -> Vec<&ToolSpec> {
        if self.model.refuses_tools() {
            return Vec::new();
        }
        self.specs.iter().filter(|spec| self.check_tool(spec).is_ok()).collect()
    }

    pub(crate) fn check_egress(&self) -> Result<(), End> {
        self.services.models.check_egress(self.model.as_ref()).map_err(End::failed)
    }

    // --- events, records, items ---

    pub(crate) fn emit(&self, event: EventBody) {
        let n = self.events.fetch_add(1, Ordering::AcqRel) + 1;
        let at = self.world().clock.now();
        let push = |event| {
            self.world().events.push(Push::Turn {
                event: TurnEvent {
                    session: self.session.clone(),
                    turn: self.id.clone(),
                    n,
                    at,
                    event,
                },
            })
        };
        match (self.run(), self.world().events.has_listeners()) {
            (Some(run), true) => {
                run.tell(self.world(), event.clone(), at);
                push(event);
            }
            (Some(run), false) => run.tell(self.world(), event, at),
            (None, true) => push(event),
            (None, false) => {}
        }
    }

    pub(crate) fn emit_items(&self, items: Vec<Item>) {
        for mut item in items {
            // These members are for the model's server and are not shown.
            item.body.forget_kept();
            self.emit(EventBody::Item { item: Box::new(item) });
        }
    }

    /// Appends a record without waiting for the disk. The order of records is kept, and the end of
    /// the turn makes them durable.
    pub(crate) async fn record(&self, draft: RecordDraft) {
        let (audit, draft) = (Arc::clone(&self.world().audit), draft.of(&self.session, &self.id));
        let mut appending = Box::pin(async move {
            if let Err(error) = audit.append(draft, Durability::Grouped).await {
                tracing::warn!(%error, "a record could not be written");
            }
        });
        // The first poll determines the record's position in the log before the turn continues.
        // Only the rest is awaited in the background.
        if (&mut appending).now_or_never().is_none() {
            tokio::spawn(appending.in_current_span());
        }
    }

    pub(crate) fn item(&self, body: ItemBody) -> Item {
        let world = self.world();
        Item {
            id: ItemId(world.ids.next("item")),
            session: self.session.clone(),
            turn: self.id.clone(),
            seq: 0,
            created_at: world.clock.now(),
            body,
        }
    }

    /// Saves an item of the conversation and emits it. If saving fails, logs the message `lost`.
    pub(crate) async fn add_item(&self, item: Item, lost: &str) {
        match self.world().store.items_append(vec![item]).await {
            Ok(items) => self.emit_items(items),
            Err(error) => tracing::warn!(%error, "{lost}"),
        }
    }

    /// Saves the items of tool calls and emits them. Does nothing if the calls' items are not
    /// stored.
    pub(crate) async fn save(&self, items: Vec<Item>) -> Result<(), StoreError> {
        if !self.kind.keeps_items() || items.is_empty() {
            return Ok(());
        }
        self.emit_items(self.world().store.items_append(items).await?);
        Ok(())
    }
}

/// Returns the destinations that a person's message names. An addressed specialist is not a
/// destination.
fn named_destinations(text: &str, agents: &[Agent]) -> BTreeSet<Destination> {
    let mut named = policy::named_in(text);
    for name in agents.iter().flat_map(|agent| [agent.name.as_str(), agent.id.as_str()]) {
        let addressed = policy::typed_destination(DestinationKind::Recipient, &format!("@{name}"));
        addressed.iter().for_each(|destination| {
            named.remove(destination);
        });
    }
    named
}
