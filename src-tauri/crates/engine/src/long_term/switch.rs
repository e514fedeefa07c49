//! The switch of long-term memory for a session. The switch is a value of the session, so it is
//! deleted with the session.

use std::sync::Arc;

use contract::{AgentError, MemorySwitchParams, Reason, RecordType, SessionId};
use serde_json::Value;

use crate::{
    long_term::records::record_memory,
    ports::{AuditLog, RecordDraft, Store, StoreError, World},
    turn::values::StoredValues,
};

/// The name of the session value that marks memory as switched off.
const OFF: &str = "$memory_off";

/// The switch of long-term memory.
pub struct MemorySwitch {
    store: Arc<dyn Store>,
    audit: Arc<dyn AuditLog>,
    values: Arc<StoredValues>,
}

impl MemorySwitch {
    pub(crate) fn new(world: &World, values: &Arc<StoredValues>) -> Self {
        Self {
            store: Arc::clone(&world.store),
            audit: Arc::clone(&world.audit),
            values: Arc::clone(values),
        }
    }

    /// Switches long-term memory for a session: whether memories are read and created in it.
    pub async fn set(&self, params: &MemorySwitchParams) -> Result<(), AgentError> {
        let (session, store) = (&params.session, &self.store);
        if store.session(session).await?.is_none() {
            return Err(
                AgentError::invalid("This session does not exist.").reason(Reason::NotFound)
            );
        }
        if params.enabled && self.is_off(session).await? {
            // Memory was off for these messages, so they must not become memories later.
            store.skip_messages(session).await?;
        }
        {
            let _one_at_a_time = self.values.lock(session).await;
            let value = (!params.enabled).then_some(Value::Bool(true));
            store.session_values_put(session, vec![(OFF.to_owned(), value)]).await?;
        }
        let action = if params.enabled { "switched_on" } else { "switched_off" };
        let mut draft = RecordDraft::new(RecordType::Memory).field("action", action);
        draft.session = Some(session.clone());
        record_memory(self.audit.as_ref(), draft).await
    }

    /// Whether long-term memory is switched off for a session.
    pub(crate) async fn is_off(&self, session: &SessionId) -> Result<bool, StoreError> {
        let values = self.store.session_values_of(session, &[OFF]).await?;
        Ok(values.get(OFF).and_then(Value::as_bool).unwrap_or_default())
    }

    /// Fails if long-term memory is switched off for a session.
    pub(crate) async fn check_is_on(&self, session: &SessionId) -> Result<(), AgentError> {
        if !self.is_off(session).await? {
            return Ok(());
        }
        Err(AgentError::invalid("Long-term memory is off for this conversation.")
            .reason("memory_off")
            .hint("Switch it on in the header of the conversation."))
    }
}
