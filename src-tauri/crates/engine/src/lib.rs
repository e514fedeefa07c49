//! The engine runs turns: prompt, rounds, tool calls, approvals. It reaches everything outside
//! through `ports` and names no store, provider or window.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod agents;
mod approvals;
mod budget;
mod canonical;
mod context;
mod destinations;
mod memory;
pub mod ports;
mod replay;
mod run;
mod sessions;
mod texts;
mod tools;
mod turn;

use std::sync::Arc;

use contract::{Push, SessionId};

pub use approvals::decide::{Decided, DecidedBy};
pub use canonical::{approval_hash, canonical, sha256_hex};
pub use context::egress::KeyFilter;
pub use context::history::shorten_text;
pub use memory::calibration::{calibrate_threshold, calibration_texts};
pub use memory::key::VISITOR;
/// Finds keys by their form, for a person who is about to store a text, and by their value, in any
/// encoding, in what is shown to a person.
pub use redaction::{Exact, MARK, find_keys};
pub use replay::compare::{Comparison, Difference, compare_runs};
pub use replay::recording::Recording;
pub use run::{IGNORED, TurnOptions, TurnStream};
pub use sessions::deletion::ClosedSession;
pub use tools::checkable::unchecked_places;
pub use tools::coerce::coerce;
pub use tools::refusals::Refused;
pub use tools::results::result_reader;
pub use tools::schema::Validators;
pub use turn::audience::Origin;
pub use turn::direct::key_refused_error;
pub use turn::recover::Recovered;

use ports::{
    AuditLog, Clock, Embedders, Events, Ids, Models, Probe, Profile, Random, Roster, Secrets,
    Store, Tools,
};

/// The ports of one engine.
#[derive(Clone)]
pub struct World {
    /// The database of sessions, turns and approvals.
    pub store: Arc<dyn Store>,
    /// The audit log.
    pub audit: Arc<dyn AuditLog>,
    /// The tools and how they are called.
    pub tools: Arc<dyn Tools>,
    /// The specialists and the instructions of packs.
    pub roster: Arc<dyn Roster>,
    /// The models that may answer.
    pub models: Arc<dyn Models>,
    /// The model that makes the vectors of memories.
    pub embedders: Arc<dyn Embedders>,
    /// Settings, rules and prices.
    pub profile: Arc<dyn Profile>,
    /// The secrets that may not reach a model.
    pub secrets: Arc<dyn Secrets>,
    /// The receivers of events.
    pub events: Arc<dyn Events>,
    /// The observer of named points, for tests.
    pub probe: Arc<dyn Probe>,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// The source of new identifiers.
    pub ids: Arc<dyn Ids>,
    /// The source of random waits.
    pub random: Arc<dyn Random>,
}

/// Runs turns, one at a time per session. Engines made by `limited` share its sessions, approvals
/// and memories.
pub struct Engine {
    pub(crate) world: World,
    pub(crate) validators: Arc<tools::schema::Validators>,
    pub(crate) router: Arc<approvals::router::Router>,
    pub(crate) lanes: Arc<sessions::lanes::Lanes>,
    pub(crate) egress: Arc<context::egress::Egress>,
    pub(crate) memories: Arc<memory::recalled::Memories>,
    pub(crate) long_term: Arc<memory::long_term::LongTerm>,
    pub(crate) toolkits: Arc<context::toolkit::Toolkits>,
    pub(crate) traces: Arc<turn::traces::Traces>,
    /// The time before which analyses are not reused.
    pub(crate) analyses_from: Arc<parking_lot::Mutex<Option<chrono::DateTime<chrono::Utc>>>>,
    pub(crate) runs: Arc<run::live::Live>,
    /// Counts of refused requests in the current minute.
    pub(crate) refusals: Arc<parking_lot::Mutex<tools::refusal_count::RefusalCount>>,
    /// The locks under which session values are read, changed and written back.
    pub(crate) values: Arc<sessions::locks::Locks>,
    /// The locks under which an expired action is proposed again.
    pub(crate) asking_again: Arc<sessions::locks::Locks>,
    /// The recordings of the turns that run.
    pub(crate) recorders: Arc<replay::recorder::Recorders>,
    /// In a replay, the long-term memories that fitted the message.
    pub(crate) recorded_memories: Option<Arc<Vec<contract::MemoryHit>>>,
    /// The lock for the stored times at which instructions were last used.
    pub(crate) notes: Arc<tokio::sync::Mutex<()>>,
    /// The models that refused tools.
    pub(crate) without_tools: Arc<agents::no_tools::Refusals>,
}

/// The ports that decide which tools, specialists and models an engine can use.
pub struct Reachable {
    /// The tools that its turns may use.
    pub tools: Arc<dyn Tools>,
    /// The specialists that may answer.
    pub roster: Arc<dyn Roster>,
    /// The models that may answer.
    pub models: Arc<dyn Models>,
}

impl Engine {
    /// Makes an engine over these ports. Call `recover` once before the first turn.
    pub fn new(world: World) -> Arc<Self> {
        Self::with_memories(world, None)
    }

    /// Makes an engine for a replay. It searches no memories.
    pub(crate) fn for_replay(world: World, memories: Vec<contract::MemoryHit>) -> Arc<Self> {
        Self::with_memories(world, Some(Arc::new(memories)))
    }

    fn with_memories(
        world: World,
        recorded_memories: Option<Arc<Vec<contract::MemoryHit>>>,
    ) -> Arc<Self> {
        let runs = Arc::new(run::live::Live::default());
        let world = World {
            audit: Arc::new(run::live::Correlated::new(world.audit, Arc::clone(&runs))),
            ..world
        };
        Arc::new(Self {
            world,
            validators: Arc::default(),
            router: Arc::default(),
            lanes: Arc::default(),
            egress: Arc::default(),
            memories: Arc::default(),
            long_term: Arc::default(),
            toolkits: Arc::default(),
            traces: Arc::default(),
            analyses_from: Arc::default(),
            runs,
            refusals: Arc::default(),
            values: Arc::default(),
            asking_again: Arc::default(),
            recorders: Arc::default(),
            recorded_memories,
            notes: Arc::default(),
            without_tools: Arc::default(),
        })
    }

    /// Makes an engine for callers with fewer tools. Sessions, actions, records and limits are
    /// shared with this engine. Its turns use only the tools, specialists and models of these
    /// ports.
    pub fn limited(&self, to: Reachable) -> Arc<Self> {
        let Reachable { tools, roster, models } = to;
        Arc::new(Self {
            world: World { tools, roster, models, ..self.world.clone() },
            validators: Arc::clone(&self.validators),
            router: Arc::clone(&self.router),
            lanes: Arc::clone(&self.lanes),
            egress: Arc::clone(&self.egress),
            memories: Arc::clone(&self.memories),
            long_term: Arc::clone(&self.long_term),
            toolkits: Arc::clone(&self.toolkits),
            traces: Arc::clone(&self.traces),
            analyses_from: Arc::clone(&self.analyses_from),
            runs: Arc::clone(&self.runs),
            refusals: Arc::clone(&self.refusals),
            values: Arc::clone(&self.values),
            asking_again: Arc::clone(&self.asking_again),
            recorders: Arc::clone(&self.recorders),
            recorded_memories: self.recorded_memories.clone(),
            notes: Arc::clone(&self.notes),
            without_tools: Arc::clone(&self.without_tools),
        })
    }

    /// Returns another handle of this engine, for work in the background.
    pub(crate) fn handle(&self) -> Arc<Self> {
        let World { tools, roster, models, .. } = self.world.clone();
        self.limited(Reachable { tools, roster, models })
    }

    /// Expires overdue actions that no call waits for. Must be called from time to time.
    pub async fn expire_overdue_actions(self: &Arc<Self>) {
        if let Err(error) = self.expire_overdue().await {
            tracing::warn!(%error, "overdue actions could not be looked at");
        }
        self.sweep_passing(None).await;
    }

    pub(crate) fn push(&self, push: Push) {
        self.world.events.push(push);
    }

    pub(crate) async fn push_session(&self, session: &SessionId) {
        if !self.world.events.has_listeners() {
            return;
        }
        if let Ok(Some(summary)) = self.summary(session).await {
            self.push(Push::Session { summary });
        }
    }
}
