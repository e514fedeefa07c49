//! Creates the records of long-term memories: each read and each change.

use contract::{AgentError, MemoryId, RecordType};
use serde_json::{Value, json};

use crate::ports::{AuditLog, Durability, RecordDraft};

/// Returns the record of a read of these memories.
pub(crate) fn read_record<'a>(
    action: &str,
    memories: impl Iterator<Item = &'a MemoryId>,
) -> RecordDraft {
    let ids: Vec<Value> = memories.map(|id| json!(id)).collect();
    RecordDraft::new(RecordType::MemoryRead)
        .field("action", action)
        .field("count", ids.len())
        .field("memories", ids)
}

/// Records a use of memories. Fails if the log cannot be written.
pub(crate) async fn record_memory(
    audit: &dyn AuditLog,
    draft: RecordDraft,
) -> Result<(), AgentError> {
    audit.append(draft, Durability::Durable).await.map(drop).map_err(|_| unrecorded_error())
}

/// Returns the error for a use of memories that cannot be recorded.
pub(crate) fn unrecorded_error() -> AgentError {
    AgentError::internal(
        contract::Reason::AuditUnavailable,
        "The use of a memory cannot be recorded: the audit log cannot be written.",
    )
}
