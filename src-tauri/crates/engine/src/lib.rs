//! The turn: prompt, rounds, executor, approvals. It sees the world through `ports` and names no store, provider or window.

mod again;
pub mod amounts;
mod analyses;
mod approvals;
mod books;
mod call;
mod canonical;
mod coerce;
mod conversation;
mod decide;
mod direct;
mod dispatch;
mod egress;
mod ending;
mod entities;
mod fit;
mod frame;
mod guidance;
mod history;
mod instruct;
mod lanes;
mod locks;
mod look_alikes;
mod metering;
mod offered;
mod outgoing;
mod oversize;
mod pack_egress;
pub mod ports;
mod preview;
mod prompt;
mod recheck;
mod recover;
mod refusals;
mod results;
mod resume;
mod retry;
mod rounds;
mod route;
mod run;
mod schema;
mod service;
mod sessions;
mod shared;
mod strangers;
mod supervisor;
mod switches;
mod texts;
mod toolkit;
mod traces;
mod turn;
mod values;

use std::sync::Arc;

use contract::{AgentError, Push, SessionId};

pub use canonical::{approval_hash, canonical, sha256_hex};
pub use coerce::coerce;
pub use conversation::VISITOR;
pub use decide::{Decided, DecidedBy};
pub use direct::key_refused;
pub use egress::KeyFilter;
pub use history::cap;
pub use recover::Recovered;
pub use refusals::Refused;
pub use run::{Around, Hearing, IGNORED};
pub use schema::Validators;

use ports::{AuditLog, Clock, Events, Ids, Models, Probe, Profile, Random, Roster, Secrets, Store, StoreError, Tools};

/// The ports of one engine.
#[derive(Clone)]
pub struct World {
    pub store: Arc<dyn Store>,
    pub audit: Arc<dyn AuditLog>,
    pub tools: Arc<dyn Tools>,
    pub roster: Arc<dyn Roster>,
    pub models: Arc<dyn Models>,
    pub profile: Arc<dyn Profile>,
    pub secrets: Arc<dyn Secrets>,
    pub events: Arc<dyn Events>,
    pub probe: Arc<dyn Probe>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub random: Arc<dyn Random>,
}

/// Runs turns, one per session at a time, and everything that a turn needs. What turns keep is shared with the engines made by `limited`.
pub struct Engine {
    pub(crate) world: World,
    pub(crate) validators: Arc<schema::Validators>,
    pub(crate) router: Arc<approvals::Router>,
    pub(crate) lanes: Arc<lanes::Lanes>,
    pub(crate) egress: Arc<egress::Egress>,
    pub(crate) memories: Arc<conversation::Memories>,
    pub(crate) toolkits: Arc<toolkit::Toolkits>,
    pub(crate) traces: Arc<traces::Traces>,
    /// Analyses from before this instant do not count.
    pub(crate) analyses_from: Arc<std::sync::Mutex<Option<chrono::DateTime<chrono::Utc>>>>,
    pub(crate) runs: Arc<run::Live>,
    /// Requests that were refused, by the minute.
    pub(crate) refusals: Arc<refusals::Refusals>,
    /// Session values are read, changed and written back under their session's lock.
    pub(crate) values: Arc<locks::Locks>,
    /// The note of when instructions were last used, in the same way.
    pub(crate) notes: Arc<tokio::sync::Mutex<()>>,
}

/// The ports through which an engine reaches tools.
pub struct Reachable {
    pub tools: Arc<dyn Tools>,
    pub roster: Arc<dyn Roster>,
    pub models: Arc<dyn Models>,
}

impl Engine {
    /// An engine over the given world. Call `recover` once before the first turn.
    pub fn new(world: World) -> Arc<Self> {
        let runs = Arc::new(run::Live::default());
        let world = World { audit: Arc::new(run::Correlated::new(world.audit, Arc::clone(&runs))), ..world };
        Arc::new(Self {
            world,
            validators: Arc::default(),
            router: Arc::default(),
            lanes: Arc::default(),
            egress: Arc::default(),
            memories: Arc::default(),
            toolkits: Arc::default(),
            traces: Arc::default(),
            analyses_from: Arc::default(),
            runs,
            refusals: Arc::default(),
            values: Arc::default(),
            notes: Arc::default(),
        })
    }

    /// The same engine for callers who reach less: sessions, actions, records and limits are shared, and no turn begun here
    /// finds a tool, a specialist or an offline phrase beyond these ports.
    pub fn limited(&self, to: Reachable) -> Arc<Self> {
        let Reachable { tools, roster, models } = to;
        Arc::new(Self {
            world: World { tools, roster, models, ..self.world.clone() },
            validators: Arc::clone(&self.validators),
            router: Arc::clone(&self.router),
            lanes: Arc::clone(&self.lanes),
            egress: Arc::clone(&self.egress),
            memories: Arc::clone(&self.memories),
            toolkits: Arc::clone(&self.toolkits),
            traces: Arc::clone(&self.traces),
            analyses_from: Arc::clone(&self.analyses_from),
            runs: Arc::clone(&self.runs),
            refusals: Arc::clone(&self.refusals),
            values: Arc::clone(&self.values),
            notes: Arc::clone(&self.notes),
        })
    }

    /// Expires what nobody decided in time and no call waits for. To be called now and then.
    pub async fn tidy(self: &Arc<Self>) {
        if let Err(error) = self.expire_overdue().await {
            tracing::warn!(%error, "overdue actions could not be looked at");
        }
        self.sweep_passing(None).await;
    }

    pub(crate) fn push(&self, push: Push) {
        self.world.events.push(push);
    }

    pub(crate) async fn push_session(&self, session: &SessionId) {
        if !self.world.events.heard() {
            return;
        }
        if let Ok(Some(summary)) = self.summary(session).await {
            self.push(Push::Session { summary });
        }
    }
}

/// A store failure as a caller sees it.
pub(crate) fn store_error(error: &StoreError) -> AgentError {
    match error {
        StoreError::NotFound(what) => AgentError::invalid(format!("{what} does not exist.")).reason("not_found"),
        StoreError::NoSpace(path) => AgentError::internal("no_space", format!("Nothing could be saved: the disk is full or not writable ({path})."))
            .hint("Free some space or make the folder writable, then send it again."),
        StoreError::Away(_) => {
            AgentError::internal("sessions_away", "The sessions cannot be reached at the moment.").hint("Send the message again in a moment.")
        }
        StoreError::Failed(_) => AgentError::internal("database_error", "The database could not be used.").hint("Run `csign doctor` to see what is wrong."),
    }
}
