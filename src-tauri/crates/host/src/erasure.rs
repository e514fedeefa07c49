//! Erases a conversation: its rows, the values of its audit records, and older copies of both. Does
//! not decide who may ask for it.

use std::sync::Arc;

use contract::{AgentError, RecordType, SessionEraseResponse, SessionId};
use engine::ports::{AuditLog as _, Durability, RecordDraft};

use crate::Host;

impl Host {
    /// Erases a session. The log keeps its records without their values, still verifies, and gets a
    /// record of the erasure. If it is interrupted, it can be repeated.
    pub(crate) async fn erase_session(
        &self,
        session: &SessionId,
    ) -> Result<SessionEraseResponse, AgentError> {
        self.check_alarm()?;
        // No message may begin in the session until its values are erased.
        let _closed = self.local_engine.session_erase(session).await?;
        let failed = |error| Self::audit_error(&error);
        let values = self.log.erase_session(session).await.map_err(failed)?;
        self.renew_log_copy().await?;
        let (old_values, unreadable) = self.erase_old_logs(session).await?;
        let mut draft = RecordDraft::new(RecordType::SessionErased)
            .field("values", values)
            .field("values_of_old_logs", old_values)
            .field("unreadable_old_logs", unreadable.len() as u64);
        draft.session = Some(session.clone());
        self.log.append(draft, Durability::Signed).await.map_err(failed)?;
        Ok(SessionEraseResponse { values, unreadable })
    }

    /// Erases a session's values from the logs that were set aside, and from their copies. Returns
    /// the number of values, and the files that are too damaged to be searched.
    async fn erase_old_logs(&self, session: &SessionId) -> Result<(u64, Vec<String>), AgentError> {
        let (log, session) = (Arc::clone(&self.log), session.clone());
        let copy = self.paths.audit_copy();
        let erased =
            tokio::task::spawn_blocking(move || log.erase_set_aside(&copy, &session)).await;
        let failed = || AgentError::internal("audit_erase", "The old logs could not be searched.");
        let (values, unreadable) = erased.map_err(|_| failed())?.map_err(|error| {
            failed().with("cause", error.to_string()).hint("Check the rights of the data folder.")
        })?;
        Ok((values, unreadable.iter().map(|path| path.display().to_string()).collect()))
    }
}
