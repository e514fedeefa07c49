//! The errors of changes of the shown messages, and the sessions whose messages have versions.

use contract::{AgentError, Reason, SessionId};

use crate::ports::{VersionRefusal, is_shared};

/// Fails if the session belongs to the chat API, whose caller keeps the messages as well.
pub(crate) fn check_has_versions(session: &SessionId) -> Result<(), AgentError> {
    if is_shared(session) {
        return Err(AgentError::invalid("Messages of the chat API cannot be changed.")
            .reason(Reason::NoVersions));
    }
    Ok(())
}

/// Returns the error of a refused change.
pub(crate) fn refusal_error(refusal: VersionRefusal) -> AgentError {
    match refusal {
        VersionRefusal::Unknown => {
            AgentError::invalid("This message does not exist.").reason(Reason::NotFound)
        }
        VersionRefusal::Deleted => {
            AgentError::invalid("This message is deleted.").reason(Reason::NotFound)
        }
        VersionRefusal::NotShown => {
            AgentError::invalid("Another version of this message is shown.")
                .reason(Reason::NotShown)
                .hint("Show this version first.")
        }
        VersionRefusal::ActionPending => {
            AgentError::invalid("An action of these messages is pending.")
                .reason(Reason::ActionPending)
                .hint("Approve or reject it first.")
        }
    }
}

/// Returns the error of a replacement whose messages would not be stored.
pub(crate) fn not_kept_error() -> AgentError {
    AgentError::invalid("Messages are not stored here, so they have no versions.")
        .reason(Reason::NoVersions)
}
