//! Runs a recorded turn again: creates an engine with the recording and a given store, sends the
//! message, and repeats the recorded decisions. Returns the records that the turn writes.

use std::{
    sync::{Arc, atomic::AtomicI64},
    time::Duration,
};

use contract::{
    AgentError, Approval, ApprovalDecideParams, Caller, CallerKind, EventBody, Item, MemoryHit,
    Push, SessionId, Settings, TurnCancelParams, TurnId,
};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::{
    approvals::actions::Approvals,
    ports::{Clock, NoProbe, RecordDraft, SessionImage, Store, World},
    replay::hidden,
    replay::script::{
        Collected, CountedIds, DriverEvent, ScriptedModel, ScriptedProfile, ScriptedTools,
        SetClock, ToDriver,
    },
    sessions::turns::Turns,
    turn::recording::{RecordedDecision, RecordedEnd, Recording},
};

/// The longest duration of a replay. A replay waits for no person, so it usually takes much less.
const MOST: Duration = Duration::from_secs(120);

/// The longest time that an action waits for the action whose decision came before.
const PATIENCE: Duration = Duration::from_secs(3);

/// The parts of an engine that a replay uses.
pub(crate) struct ReplayParts {
    pub(crate) turns: Arc<Turns>,
    pub(crate) approvals: Arc<Approvals>,
}

/// Creates an engine for a replay, which uses the recorded memories instead of searching.
pub(crate) type MakeEngine = fn(World, Vec<MemoryHit>) -> ReplayParts;

/// Runs recorded turns again.
pub struct Replays {
    world: World,
    make: MakeEngine,
}

impl Replays {
    pub(crate) fn new(world: &World, make: MakeEngine) -> Self {
        Self { world: world.clone(), make }
    }

    /// Runs a recorded turn again and returns the records that it writes. Definitions of the
    /// installed tools are used, but the tools are not called. `store` must be empty and is
    /// modified. `earlier` contains the items of the session before the turn.
    pub async fn run(
        &self,
        recording: Recording,
        earlier: Vec<Item>,
        store: Arc<dyn Store>,
    ) -> Result<Vec<RecordDraft>, AgentError> {
        run_again(self.make, recording, earlier, World { store, ..self.world.clone() }).await
    }
}

async fn run_again(
    make: MakeEngine,
    recording: Recording,
    earlier: Vec<Item>,
    world: World,
) -> Result<Vec<RecordDraft>, AgentError> {
    let Recording { message, started_at, start, .. } = recording;
    let session = message.session.clone().unwrap_or_else(|| SessionId::new("replay"));
    let (driver, events) = mpsc::unbounded_channel();
    let log = Arc::new(Collected::default());
    let clock = Arc::new(SetClock { began: started_at, moved_ms: AtomicI64::new(0) });
    let ids = Arc::new(CountedIds::default());
    let mut settings: Settings = start.settings.clone();
    // The replay must not record itself.
    settings.limits.recorded_turns = 0;
    seed(&world, &session, started_at, &start, earlier).await?;
    hidden::seed(&world, (&session, started_at), &start.hidden_actions, message.replaces.as_ref())
        .await?;
    let caller = Caller::new(start.caller.clone());
    let scripted = World {
        audit: Arc::clone(&log) as _,
        models: Arc::new(ScriptedModel {
            described: recording.model,
            answers: Arc::new(Mutex::new(recording.answers.into())),
            driver: driver.clone(),
        }),
        tools: Arc::new(ScriptedTools {
            installed: Arc::clone(&world.tools),
            attempts: Mutex::new(recording.attempts),
            refusals: Mutex::new(recording.refusals),
        }),
        profile: Arc::new(ScriptedProfile {
            start,
            settings: Arc::new(settings),
            real: Arc::clone(&world.profile),
        }),
        events: Arc::new(ToDriver(driver)),
        probe: Arc::new(NoProbe),
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        ids: Arc::clone(&ids) as _,
        random: ids,
        ..world
    };
    let engine = make(scripted, recording.memories);
    let decisions = recording.decisions;
    let turn = engine.turns.start(caller, message).await?.turn;
    let mut running =
        Driver { engine, session, turn, decisions, waiting: Vec::new(), clock, events };
    if tokio::time::timeout(MOST, running.follow()).await.is_err() {
        running.cancel().await;
        return Err(AgentError::internal("replay_stuck", "The replay did not come to its end."));
    }
    // The turn still writes to the store after its last event.
    if tokio::time::timeout(MOST, running.engine.turns.wait_until_idle()).await.is_err() {
        tracing::warn!("a replay is still running after its turn ended");
    }
    Ok(log.take())
}

/// Writes the state before the turn to the store.
async fn seed(
    world: &World,
    session: &SessionId,
    created_at: chrono::DateTime<chrono::Utc>,
    start: &crate::turn::recording::StartState,
    items: Vec<Item>,
) -> Result<(), AgentError> {
    let image = SessionImage {
        rev: String::new(),
        session: session.clone(),
        title: "Replay".to_owned(),
        created_at,
        items,
        values: start.session_values.clone(),
        approvals: Vec::new(),
        memories: start.summaries.clone(),
    };
    world.store.import_session_image(&image, "").await?;
    for grant in &start.grants {
        world.store.grant_insert(grant).await?;
    }
    Ok(())
}

/// A running replay.
struct Driver {
    engine: ReplayParts,
    session: SessionId,
    turn: TurnId,
    /// The remaining decisions, in order.
    decisions: Vec<RecordedDecision>,
    /// The pending actions.
    waiting: Vec<Approval>,
    clock: Arc<SetClock>,
    events: mpsc::UnboundedReceiver<DriverEvent>,
}

impl Driver {
    /// Processes the events of the turn until its end.
    async fn follow(&mut self) {
        loop {
            let event = match tokio::time::timeout(PATIENCE, self.events.recv()).await {
                Ok(Some(event)) => event,
                Ok(None) => return,
                Err(_) => {
                    self.leave_out_decision().await;
                    continue;
                }
            };
            let DriverEvent::Push(push) = event else {
                self.cancel().await;
                continue;
            };
            let Push::Turn { event } = *push else { continue };
            if event.turn != self.turn {
                continue;
            }
            match event.event {
                EventBody::ApprovalRequested { approval } if !approval.headless => {
                    self.waiting.retain(|other| approval.replaces.as_ref() != Some(&other.id));
                    self.waiting.push(*approval);
                    self.decide_in_order().await;
                }
                EventBody::Final { .. } => return,
                _ => {}
            }
        }
    }

    /// Decides the actions that are next in order. Cancels the turn if an action is pending that
    /// was never decided.
    async fn decide_in_order(&mut self) {
        while let Some(next) = self.decisions.first()
            && let Some(at) = self.waiting.iter().position(|approval| next.is_about(approval))
        {
            let (approval, decided) = (self.waiting.remove(at), self.decisions.remove(0));
            self.decide(&approval, decided.end).await;
        }
        let is_known =
            |approval: &Approval| self.decisions.iter().any(|next| next.is_about(approval));
        if !self.waiting.iter().all(is_known) {
            self.waiting.clear();
            self.cancel().await;
        }
    }

    /// Skips the next decision, because the replay does not propose its action. Otherwise the
    /// remaining decisions would wait for it.
    async fn leave_out_decision(&mut self) {
        if !self.waiting.is_empty() && !self.decisions.is_empty() {
            self.decisions.remove(0);
            self.decide_in_order().await;
        }
    }

    /// Repeats the recorded decision of an action.
    async fn decide(&self, approval: &Approval, end: RecordedEnd) {
        match end {
            RecordedEnd::Decided { decision, by } => {
                let params = ApprovalDecideParams {
                    id: approval.id.clone(),
                    hash: approval.hash.clone(),
                    decision,
                };
                let by = CallerKind::from_name(&by).map_or_else(Caller::window, Caller::new);
                if let Err(error) = self.engine.approvals.decide(params, &by).await {
                    tracing::warn!(%error, "a recorded decision does not fit the replay");
                    self.cancel().await;
                }
            }
            RecordedEnd::Expired => self.clock.move_to(approval.expires_at),
            RecordedEnd::Cancelled => self.cancel().await,
        }
    }

    async fn cancel(&self) {
        let params = TurnCancelParams { session: self.session.clone(), turn: self.turn.clone() };
        if let Err(error) = self.engine.turns.cancel(&params).await {
            tracing::warn!(%error, "a replay could not be cancelled");
        }
    }
}
