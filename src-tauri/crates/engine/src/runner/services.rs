//! Bundles the services for running turns.

use std::sync::Arc;

use crate::{
    agents::services::CallServices, conversation::services::ConversationServices,
    long_term::memories::Memories, turn::services::TurnServices,
};

/// The services for running turns.
pub(crate) struct RunnerServices {
    pub(crate) shared: Arc<TurnServices>,
    pub(crate) conversation: Arc<ConversationServices>,
    pub(crate) memories: Arc<Memories>,
    pub(crate) calls: Arc<CallServices>,
}
