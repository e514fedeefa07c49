//! Erases a conversation: its rows, the values of its audit records, and older copies of the
//! database. Does not decide who may ask for it.

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
        self.local_engine.session_erase(session).await?;
        let failed = |error| Self::audit_error(&error);
        let values = self.log.erase_session(session).await.map_err(failed)?;
        let mut draft = RecordDraft::new(RecordType::SessionErased).field("values", values);
        draft.session = Some(session.clone());
        self.log.append(draft, Durability::Signed).await.map_err(failed)?;
        Ok(SessionEraseResponse { values })
    }
}
