//! The port for what a caller can reach.

use std::sync::Arc;

use contract::PackId;

use super::{Models, Roster, Tools};

/// The ports that decide which tools, specialists and models a caller can use.
#[derive(Clone)]
pub struct Reachable {
    /// The tools that its turns may use.
    pub tools: Arc<dyn Tools>,
    /// The specialists that may answer.
    pub roster: Arc<dyn Roster>,
    /// The models that may answer.
    pub models: Arc<dyn Models>,
}

/// Finds what callers reach that can use some packs only.
pub trait Access: Send + Sync {
    /// Returns the tools, specialists and models of these packs. Must be cheap, because it is asked
    /// for each turn.
    fn reachable(&self, packs: &Arc<[PackId]>) -> Reachable;
}
