//! Bundles the services of this layer.

use std::sync::Arc;

use crate::{
    context::egress::Egress,
    conversation::{passing::PassingTurns, recalled::ConversationMemory},
    turn::services::TurnServices,
};

/// Reads and stores the earlier messages of conversations.
pub(crate) struct ConversationServices {
    pub(crate) memory: Arc<ConversationMemory>,
    pub(crate) passing: PassingTurns,
    pub(crate) egress: Arc<Egress>,
}

impl ConversationServices {
    pub(crate) fn new(shared: &TurnServices, egress: &Arc<Egress>) -> Self {
        let memory = Arc::new(ConversationMemory::new(&shared.world));
        Self {
            passing: PassingTurns::new(&shared.world, &shared.values, &shared.lanes, &memory),
            memory,
            egress: Arc::clone(egress),
        }
    }
}
