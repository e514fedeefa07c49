//! The bundle of all ports.

use std::sync::Arc;

use contract::Caller;

use super::{
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
    /// The access of callers that can use some packs only. None if every caller can use all of them.
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
