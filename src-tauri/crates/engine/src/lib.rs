//! The engine runs turns: prompt, rounds, tool calls, approvals. It reaches everything outside
//! through `ports` and names no store, provider or window.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod agents;
mod approvals;
mod budget;
mod canonical;
mod context;
mod conversation;
mod destinations;
mod long_term;
pub mod ports;
mod replay;
mod run;
mod runner;
mod sessions;
mod texts;
mod tools;
mod turn;

use std::sync::Arc;

use contract::{Caller, Push, SessionId};

pub use approvals::decide::Decided;
pub use canonical::{approval_hash, canonical, sha256_hex};
pub use context::egress::KeyFilter;
pub use context::history::shorten_text;
pub use context::results::result_reader;
pub use conversation::key::VISITOR;
pub use long_term::calibration::{calibrate_threshold, calibration_texts};
/// Finds keys by their form, for a person who is about to store a text, and by their value, in any
/// encoding, in what is shown to a person.
pub use redaction::{Exact, MARK, find_keys};
pub use replay::compare::{Comparison, Difference, compare_runs};
pub use run::TurnStream;
pub use runner::direct::key_refused_error;
pub use runner::recovery::Recovered;
pub use sessions::deletion::ClosedSession;
pub use tools::checkable::unchecked_places;
pub use tools::coerce::coerce;
pub use tools::schema::Validators;
pub use turn::caller_records::add_caller;
pub use turn::listener::{IGNORED, TurnOptions};
pub use turn::recording::Recording;
pub use turn::refusals::Refused;

use ports::{
    Access, AuditLog, Clock, Embedders, Events, Ids, Models, Probe, Profile, Random, Reachable,
    Roster, Secrets, Store, Tools,
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
    /// What callers reach that can use some packs only. None if every caller can use all of them.
    pub access: Option<Arc<dyn Access>>,
}

impl World {
    /// Returns the ports as a caller has them: with the tools, specialists and models of its packs.
    pub(crate) fn of(&self, caller: &Caller) -> Self {
        let (Some(access), Some(packs)) = (&self.access, &caller.packs) else {
            return self.clone();
        };
        let Reachable { tools, roster, models } = access.reachable(packs);
        Self { tools, roster, models, ..self.clone() }
    }
}

/// Runs turns, one at a time per session.
pub struct Engine {
    pub(crate) world: World,
    pub(crate) validators: Arc<tools::schema::Validators>,
    pub(crate) router: Arc<approvals::router::Router>,
    pub(crate) lanes: Arc<turn::lanes::Lanes>,
    pub(crate) egress: Arc<context::egress::Egress>,
    pub(crate) toolkits: Arc<context::toolkit::Toolkits>,
    pub(crate) runs: Arc<turn::run_context::Live>,
    /// The locks under which an expired action is proposed again.
    pub(crate) asking_again: Arc<turn::locks::Locks>,
    pub(crate) secrets: Arc<turn::secrets::KnownSecrets>,
    pub(crate) traces: Arc<turn::traces::Traces>,
    pub(crate) conversation: Arc<conversation::recalled::ConversationMemory>,
    pub(crate) passing: Arc<conversation::passing::PassingTurns>,
    /// The kill switches.
    pub switches: Arc<turn::switches::Switches>,
    /// The models that answer.
    pub models: Arc<turn::models::AnswerModels>,
    /// Records requests that were refused.
    pub refused_requests: Arc<turn::refusals::RefusedRequests>,
    /// The named values of sessions.
    pub values: Arc<turn::values::StoredValues>,
    /// The recordings of turns.
    pub recordings: Arc<turn::recording::keeping::Recordings>,
    /// The service level of the last runs.
    pub service_level: Arc<budget::service_level::ServiceLevel>,
    /// The long-term memories.
    pub memories: Arc<long_term::memories::Memories>,
    /// The permissions for destinations.
    pub allowances: Arc<destinations::Allowances>,
    /// The stored analyses that may be used again.
    pub analyses: Arc<tools::analyses::Analyses>,
    /// The permissions for the rest of a session.
    pub grants: Arc<approvals::grants::Grants>,
    /// The specialists and the instructions of tools.
    pub instructions: Arc<agents::instructions::InstructionsList>,
    /// The search of messages.
    pub message_search: Arc<sessions::search::MessageSearch>,
    /// Runs recorded turns again.
    pub replays: Arc<replay::driver::Replays>,
}

impl Engine {
    /// Makes an engine over these ports. Call `recover` once before the first turn.
    pub fn new(world: World) -> Arc<Self> {
        Self::with_memories(world, None)
    }

    /// Makes an engine for a replay. It searches no memories.
    pub(crate) fn for_replay(world: World, memories: Vec<contract::MemoryHit>) -> Arc<Self> {
        Self::with_memories(world, Some(memories))
    }

    fn with_memories(
        world: World,
        recorded_memories: Option<Vec<contract::MemoryHit>>,
    ) -> Arc<Self> {
        let runs = Arc::new(turn::run_context::Live::default());
        let world = World {
            audit: Arc::new(turn::run_context::Correlated::new(world.audit, Arc::clone(&runs))),
            ..world
        };
        let lanes: Arc<turn::lanes::Lanes> = Arc::default();
        let secrets = Arc::new(turn::secrets::KnownSecrets::new(&world));
        let switches = Arc::new(turn::switches::Switches::new(&world));
        let values = Arc::new(turn::values::StoredValues::new(&world));
        let traces = Arc::new(turn::traces::Traces::new(&world));
        let conversation = Arc::new(conversation::recalled::ConversationMemory::new(&world));
        let passing =
            conversation::passing::PassingTurns::new(&world, &values, &lanes, &conversation);
        let calls = long_term::embedding_call::EmbeddingCalls::new(&world, &secrets, &switches);
        let memories = long_term::memories::Memories::new(
            &world,
            &secrets,
            long_term::index::VectorIndex::new(&world, calls),
            long_term::switch::MemorySwitch::new(&world, &values),
            recorded_memories,
        );
        let instructions = agents::instructions::InstructionsList::new(&world, &switches, &traces);
        Arc::new(Self {
            validators: Arc::default(),
            router: Arc::default(),
            lanes,
            egress: Arc::new(context::egress::Egress::new(&world, &secrets)),
            toolkits: Arc::default(),
            runs,
            asking_again: Arc::default(),
            models: Arc::new(turn::models::AnswerModels::new(&world, &secrets)),
            refused_requests: Arc::new(turn::refusals::RefusedRequests::new(&world, &secrets)),
            recordings: Arc::new(turn::recording::keeping::Recordings::new(&world, &secrets)),
            service_level: Arc::new(budget::service_level::ServiceLevel::new(&world)),
            allowances: Arc::new(destinations::Allowances::new(&world)),
            analyses: Arc::new(tools::analyses::Analyses::new(&world)),
            grants: Arc::new(approvals::grants::Grants::new(&world)),
            message_search: Arc::new(sessions::search::MessageSearch::new(&world)),
            replays: Arc::new(replay::driver::Replays::new(&world)),
            memories: Arc::new(memories),
            instructions: Arc::new(instructions),
            passing: Arc::new(passing),
            secrets,
            switches,
            values,
            traces,
            conversation,
            world,
        })
    }

    /// Expires overdue actions that no call waits for. Must be called from time to time.
    pub async fn expire_overdue_actions(self: &Arc<Self>) {
        if let Err(error) = self.expire_overdue().await {
            tracing::warn!(%error, "overdue actions could not be looked at");
        }
        self.passing.sweep(None).await;
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
