//! The port for the tools, specialists and models that a caller can use.

use std::sync::Arc;

use contract::PackId;

use super::{Models, Roster, Tools};

/// The ports that determine which tools, specialists and models a caller can use.
#[derive(Clone)]
pub struct Reachable {
    /// The tools that the caller's turns may use.
    pub tools: Arc<dyn Tools>,
    /// The specialists that may answer.
    pub roster: Arc<dyn Roster>,
    /// The models that may answer.
    pub models: Arc<dyn Models>,
}

/// Finds the tools, specialists and models of callers that can use only some packs.
pub trait Access: Send + Sync {
    /// Returns the tools, specialists and models of these packs. Must be fast, because it is called
    /// for each turn.
    fn reachable(&self, packs: &Arc<[PackId]>) -> Reachable;
}
