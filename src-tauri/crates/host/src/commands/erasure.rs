//! Erases a conversation: its rows, the values of its audit records, and older copies of both.
//! Lists the other conversations that received its memories. Does not decide who may request an
//! erasure.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use audit::Selection;
use contract::{
    AgentError, AuditRecordView, MemoryUse, RecordType, SessionEraseResponse, SessionId,
};
use engine::ports::{AuditLog as _, Durability, RecordDraft, Sessions as _};

use serde_json::Value;

use crate::{host::Host, log::audit_error};

impl Host {
    /// Erases a session. The log keeps the session's records without their values, still verifies,
    /// and gets a record of the erasure. An interrupted erasure can be repeated.
    pub(crate) async fn erase_session(
        &self,
        session: &SessionId,
    ) -> Result<SessionEraseResponse, AgentError> {
        self.check_alarm()?;
        let readers = self.list_memory_readers(session).await?;
        // No turn may begin in the session until its values are erased.
        let _closed = self.engine.sessions.erase(session).await?;
        let failed = |error| audit_error(&error);
        let values = self.log.erase_session(session).await.map_err(failed)?;
        self.log.renew_log_copy().await?;
        let (old_values, unreadable) = self.erase_old_logs(session).await?;
        let mut draft = RecordDraft::new(RecordType::SessionErased)
            .field("values", values)
            .field("values_of_old_logs", old_values)
            .field("unreadable_old_logs", unreadable.len() as u64);
        draft.session = Some(session.clone());
        self.log.append(draft, Durability::Signed).await.map_err(failed)?;
        let used_in = self.list_memory_uses(readers).await;
        Ok(SessionEraseResponse { values, unreadable, used_in })
    }

    /// Returns the other sessions that received memories of a session, according to the records in
    /// the log.
    async fn list_memory_readers(&self, of: &SessionId) -> Result<BTreeSet<SessionId>, AgentError> {
        let stored = Selection {
            types: vec![RecordType::Memory],
            session: Some(of.clone()),
            ..Selection::default()
        };
        let note = |memories: &mut HashSet<String>, record: AuditRecordView| {
            memories.extend(record.fields.get("memory").and_then(Value::as_str).map(str::to_owned));
            ControlFlow::Continue(())
        };
        let memories = self.log.visit(stored, HashSet::new(), note).await?;
        if memories.is_empty() {
            return Ok(BTreeSet::new());
        }
        let reads = Selection { types: vec![RecordType::MemoryRead], ..Selection::default() };
        let of = of.clone();
        let note = move |readers: &mut BTreeSet<SessionId>, record: AuditRecordView| {
            let read = record.fields.get("memories").and_then(Value::as_array);
            let is_own = |id: &Value| id.as_str().is_some_and(|id| memories.contains(id));
            if read.is_some_and(|read| read.iter().any(is_own)) {
                readers.extend(record.session.map(SessionId).filter(|session| *session != of));
            }
            ControlFlow::Continue(())
        };
        self.log.visit(reads, BTreeSet::new(), note).await
    }

    /// Returns the sessions that still contain data to erase. A session that cannot be looked up is
    /// included.
    async fn list_memory_uses(&self, readers: BTreeSet<SessionId>) -> Vec<MemoryUse> {
        let mut uses = Vec::new();
        for session in readers {
            let found = self.database.store.session(&session).await.unwrap_or_default();
            let title = found.map(|summary| summary.title);
            if title.is_some() || self.has_values(&session).await.unwrap_or(true) {
                uses.push(MemoryUse { session, title });
            }
        }
        uses
    }

    /// Whether the log still contains values of a session's records.
    async fn has_values(&self, session: &SessionId) -> Result<bool, AgentError> {
        let records = Selection { session: Some(session.clone()), ..Selection::default() };
        let note = |has_values: &mut bool, record: AuditRecordView| {
            *has_values = record.revealed.values().any(|value| !value.is_null());
            if *has_values { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        self.log.visit(records, false, note).await
    }

    /// Erases a session's values from the logs that were set aside, and from their copies. Returns
    /// the number of values, and the files that are too damaged to be searched.
    async fn erase_old_logs(&self, session: &SessionId) -> Result<(u64, Vec<String>), AgentError> {
        let (log, session) = (Arc::clone(&self.log.records), session.clone());
        let copy = self.profile.paths().audit_copy();
        let erased =
            tokio::task::spawn_blocking(move || log.erase_set_aside(&copy, &session)).await;
        let failed = || AgentError::internal("audit_erase", "The old logs could not be searched.");
        let (values, unreadable) = erased.map_err(|_| failed())?.map_err(|error| {
            failed().with("cause", error.to_string()).hint("Check the rights of the data folder.")
        })?;
        Ok((values, unreadable.iter().map(|path| path.display().to_string()).collect()))
    }
}
