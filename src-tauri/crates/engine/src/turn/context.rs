//! All that the parts of a turn read and none of them changes: ids, question, settings, audience,
//! model, deadline, and the ways to tell, record and save. Knows no part of the turn.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use chrono::{DateTime, Utc};
use contract::{
    AgentId, Approval, EventBody, Item, ItemBody, ItemId, Limits, PackId, Push, RedactionLevel,
    SessionId, Settings, ToolSpec, TurnEvent, TurnId,
};
use futures::FutureExt;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::{
    Engine, World,
    budget::{account::Account, metering::Metered},
    ports::{Durability, Model, Point, RecordDraft, StoreError},
    run::live::{RunContext, surroundings},
    sessions::lanes::Accepted,
    turn::{
        audience::{Audience, Place},
        outcome::End,
    },
};

/// The input of a turn.
pub(crate) struct TurnStart {
    pub(crate) session: SessionId,
    pub(crate) accepted: Accepted,
    pub(crate) place: Place,
    pub(crate) cancel: CancellationToken,
}

/// A turn, as all its parts read it.
pub(crate) struct TurnContext {
    pub(crate) engine: Arc<Engine>,
    pub(crate) session: SessionId,
    pub(crate) id: TurnId,
    pub(crate) question: String,
    pub(crate) audience: Audience,
    pub(crate) place: Place,
    pub(crate) cancel: CancellationToken,
    pub(crate) model: Arc<dyn Model>,
    /// The same model, for calls beside the turn.
    pub(crate) metered: Arc<Metered>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) locale: String,
    pub(crate) specs: Arc<Vec<ToolSpec>>,
    /// The specialist that was asked for.
    pub(crate) wanted: Option<AgentId>,
    /// The turn's usage and actions so far. It has its own lock.
    pub(crate) account: Arc<Account>,
    pub(crate) started: tokio::time::Instant,
    pub(crate) started_at: DateTime<Utc>,
    /// Without the time that people take to decide: see `deadline`.
    deadline: tokio::time::Instant,
    /// Numbers the events.
    events: AtomicU64,
}

impl TurnContext {
    pub(crate) fn new(engine: &Arc<Engine>, start: TurnStart) -> Self {
        let TurnStart { session, accepted, place, cancel } = start;
        let run = engine.runs.of(&accepted.turn);
        let audience = Audience::of(run, accepted.headless);
        Self::with_audience(engine, session, accepted, audience, (place, cancel))
    }

    /// The turn of a pending action, which has ended. What takes the action's place is in the same
    /// language and waits as long.
    pub(crate) fn detached(engine: &Arc<Engine>, approval: &Approval) -> Self {
        let run = engine.runs.of(&approval.turn);
        let accepted = Accepted::without_message(approval.turn.clone());
        let place = if approval.session.as_str() == crate::sessions::lanes::DIRECT {
            Place::Outside
        } else {
            Place::Conversation
        };
        let audience = Audience::Detached { run };
        let mut context = Self::with_audience(
            engine,
            approval.session.clone(),
            accepted,
            audience,
            (place, CancellationToken::new()),
        );
        if context.audience.run().is_none() {
            context.locale = approval.locale.clone().unwrap_or(context.locale);
        }
        let waits_s = u32::try_from((approval.expires_at - approval.created_at).num_seconds())
            .unwrap_or_default();
        let limits = Limits { approval_expiry_s: waits_s, ..context.settings.limits };
        context.settings = Arc::new(Settings { limits, ..(*context.settings).clone() });
        context
    }

    fn with_audience(
        engine: &Arc<Engine>,
        session: SessionId,
        accepted: Accepted,
        audience: Audience,
        (place, cancel): (Place, CancellationToken),
    ) -> Self {
        let world = &engine.world;
        let (settings, locale) =
            surroundings(audience.run().map(AsRef::as_ref), world.profile.as_ref());
        let account = Arc::new(Account::new(
            session.clone(),
            accepted.turn.clone(),
            audience.run().and_then(|run| run.max_output_tokens),
        ));
        let model = world.models.current(accepted.model.as_deref());
        let metered =
            Metered::new(model, world.clone(), Arc::clone(&settings), Arc::clone(&account));
        let (specs, started_at) = (world.tools.specs(), world.clock.now());
        let started = tokio::time::Instant::now();
        let deadline =
            started + std::time::Duration::from_secs(u64::from(settings.limits.deadline_s));
        Self {
            engine: Arc::clone(engine),
            session,
            id: accepted.turn,
            question: accepted.text,
            audience,
            place,
            cancel,
            model: Arc::clone(&metered) as _,
            metered,
            settings,
            locale,
            specs,
            wanted: accepted.agent,
            account,
            started,
            started_at,
            deadline,
            events: AtomicU64::new(0),
        }
    }

    pub(crate) fn world(&self) -> &World {
        &self.engine.world
    }

    pub(crate) fn probe(&self, point: Point) {
        self.world().probe.at(point);
    }

    /// The caller elsewhere who receives the events.
    pub(crate) fn caller(&self) -> Option<&RunContext> {
        self.audience.caller().map(AsRef::as_ref)
    }

    /// A specialist's own bound, which does not hold where a caller elsewhere has set one.
    pub(crate) fn own_bound(&self, own: u32) -> u32 {
        if self.audience.is_remote() { u32::MAX } else { own }
    }

    /// When a call may still begin or be tried again.
    pub(crate) fn deadline(&self) -> tokio::time::Instant {
        self.deadline + self.account.entries().waited
    }

    /// Whether the time is over: from then on the model only gets to answer.
    pub(crate) fn is_out_of_time(&self) -> bool {
        let is_over = tokio::time::Instant::now() >= self.deadline();
        if is_over {
            self.account.entries().is_truncated = true;
        }
        is_over
    }

    /// How much is replaced in what this turn sends.
    pub(crate) fn redaction_level(&self) -> RedactionLevel {
        // The model that is a part of this program reads originals: nothing leaves, and its figures
        // and names must be right.
        if self.model.in_process() { RedactionLevel::None } else { self.level_with_packs() }
    }

    /// The least level: the user's, or that of a pack whose tools are there.
    fn level_with_packs(&self) -> RedactionLevel {
        let mut level = self.settings.egress.redaction;
        let mut last: Option<&PackId> = None;
        for spec in self.specs.iter() {
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

    /// The tools that are not switched off now.
    pub(crate) fn offered(&self) -> Vec<&ToolSpec> {
        self.specs.iter().filter(|spec| self.engine.check_tool(spec).is_ok()).collect()
    }

    pub(crate) fn check_egress(&self) -> Result<(), End> {
        self.engine.check_egress(self.model.as_ref()).map_err(End::failed)
    }

    // --- telling, recording, saving ---

    pub(crate) fn emit(&self, event: EventBody) {
        let n = self.events.fetch_add(1, Ordering::AcqRel) + 1;
        let at = self.world().clock.now();
        let push = |event| {
            self.engine.push(Push::Turn {
                event: TurnEvent {
                    session: self.session.clone(),
                    turn: self.id.clone(),
                    n,
                    at,
                    event,
                },
            })
        };
        match (self.audience.run(), self.world().events.heard()) {
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

    /// Appends a record without waiting for it. It keeps its place among the others, and the end of
    /// the turn makes it durable.
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
        Item {
            id: ItemId(world.ids.next("item")),
            session: self.session.clone(),
            turn: self.id.clone(),
            seq: 0,
            created_at: world.clock.now(),
            body,
        }
    }

    /// Saves an item of the conversation and emits it. If that fails, `lost` goes to the log.
    pub(crate) async fn add_item(&self, item: Item, lost: &str) {
        match self.world().store.items_append(vec![item]).await {
            Ok(items) => self.emit_items(items),
            Err(error) => tracing::warn!(%error, "{lost}"),
        }
    }

    /// Saves items of calls and emits them. Where calls keep no items, this does nothing.
    pub(crate) async fn save(&self, items: Vec<Item>) -> Result<(), StoreError> {
        if !self.place.keeps_items() || items.is_empty() {
            return Ok(());
        }
        self.emit_items(self.world().store.items_append(items).await?);
        Ok(())
    }
}
