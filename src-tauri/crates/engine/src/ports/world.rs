//! Bundles all ports.

use std::sync::Arc;

use contract::Caller;

use super::{
    Access, AuditLog, Clock, Embedders, Events, Ids, Models, Probe, Profile, Random, Reachable,
    Roster, Secrets, Store, Tools,
};

/// The ports of an engine.
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
    /// The model that creates the vectors of memories.
    pub embedders: Arc<dyn Embedders>,
    /// Settings, rules and prices.
    pub profile: Arc<dyn Profile>,
    /// The secrets that must not reach a model.
    pub secrets: Arc<dyn Secrets>,
    /// The receivers of events.
    pub events: Arc<dyn Events>,
    /// The observer of named points, for tests.
    pub probe: Arc<dyn Probe>,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// The source of new identifiers.
    pub ids: Arc<dyn Ids>,
    /// The source of random delays.
    pub random: Arc<dyn Random>,
    /// The tools, specialists and models for callers that can use only some packs.
    pub access: Arc<dyn Access>,
}

impl World {
    /// Returns the ports for a caller: with the tools, specialists and models of the caller's
    /// packs.
    pub(crate) fn of(&self, caller: &Caller) -> Self {
        let Some(packs) = &caller.packs else { return self.clone() };
        let Reachable { tools, roster, models } = self.access.reachable(packs);
        Self { tools, roster, models, ..self.clone() }
    }
}
