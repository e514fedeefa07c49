//! Types that all table groups share: why a store refuses, turns as they are stored, and values
//! beside a session.

use chrono::{DateTime, Utc};
use contract::{AgentError, SessionId, TurnId, Usage, text};
use serde_json::{Map, Value};

/// Why the store refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("{0} does not exist")]
    NotFound(String),
    #[error("the disk is full or not writable: {0}")]
    NoSpace(String),
    #[error("the database failed: {0}")]
    Failed(String),
    /// Where sessions are shared cannot be reached.
    #[error("the shared sessions cannot be reached: {0}")]
    Away(String),
}

/// The failure as a caller sees it. The cause goes to the log, because the caller's message does
/// not contain it.
impl From<StoreError> for AgentError {
    fn from(error: StoreError) -> Self {
        if !matches!(error, StoreError::NotFound(_)) {
            tracing::warn!(%error, "the store failed");
        }
        match error {
            StoreError::NotFound(what) => {
                Self::invalid(text!("{what} does not exist.", what)).reason("not_found")
            }
            StoreError::NoSpace(path) => Self::internal(
                "no_space",
                text!("Nothing could be saved: the disk is full or not writable ({path}).", path),
            )
            .hint("Free some space or make the folder writable, then send it again."),
            StoreError::Away(_) => {
                Self::internal("sessions_away", "The sessions cannot be reached at the moment.")
                    .hint("Send the message again in a moment.")
            }
            StoreError::Failed(_) => {
                Self::internal("database_error", "The database could not be used.")
                    .hint("Run `csign doctor` to see what is wrong.")
            }
        }
    }
}

/// A turn as stored: enough to find after a crash what was going on.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRow {
    pub turn: TurnId,
    pub session: SessionId,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    /// `running`, or a `TurnStatus` in snake case.
    pub status: String,
    pub model: String,
    pub usage: Usage,
}

/// The named values of a session: those for caller-owned parameters, and those that hosts and the
/// engine store about it.
pub type SessionValues = Map<String, Value>;

/// New values by name; those without one go.
pub type ValueChanges = Vec<(String, Option<Value>)>;
