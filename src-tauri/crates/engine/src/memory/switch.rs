//! The switch of long-term memory for one session. It is a value of the session, so it goes with it.

use contract::{AgentError, MemorySwitchParams, RecordType, SessionId};
use serde_json::Value;

use crate::{
    Engine,
    ports::{RecordDraft, StoreError},
};

/// The name of the session value that says that memory is off.
const OFF: &str = "$memory_off";

impl Engine {
    /// Switches long-term memory for one session: whether memories are read and made in it.
    pub async fn memory_switch(&self, params: &MemorySwitchParams) -> Result<(), AgentError> {
        let (session, store) = (&params.session, &self.world.store);
        if store.session(session).await?.is_none() {
            return Err(AgentError::invalid("This session does not exist.").reason("not_found"));
        }
        if params.enabled && self.memory_is_off(session).await? {
            // Memory was off for these messages, so they become no memories later.
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
        self.record_memory(draft).await
    }

    /// Whether long-term memory is switched off for a session.
    pub(crate) async fn memory_is_off(&self, session: &SessionId) -> Result<bool, StoreError> {
        let values = self.world.store.session_values_of(session, &[OFF]).await?;
        Ok(values.get(OFF).and_then(Value::as_bool).unwrap_or_default())
    }

    /// Fails if long-term memory is switched off for a session.
    pub(super) async fn check_memory_is_on(&self, session: &SessionId) -> Result<(), AgentError> {
        if !self.memory_is_off(session).await? {
            return Ok(());
        }
        Err(AgentError::invalid("Long-term memory is off for this conversation.")
            .reason("memory_off")
            .hint("Switch it on in the header of the conversation."))
    }
}
