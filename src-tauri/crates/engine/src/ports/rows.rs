//! Types that all groups of tables share: store errors, stored turns, and values stored with a
//! session.

use chrono::{DateTime, Utc};
use contract::{AgentError, Approval, Reason, SessionId, TurnId, Usage, text};
use serde_json::{Map, Value};

/// The reason why the store failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The row does not exist. The text names the row.
    #[error("{0} does not exist")]
    NotFound(String),
    /// The disk is full or not writable. The text gives the cause.
    #[error("the disk is full or not writable: {0}")]
    NoSpace(String),
    /// The database failed for another reason. The text gives the cause.
    #[error("the database failed: {0}")]
    Failed(String),
    /// The server with the shared sessions cannot be reached.
    #[error("the shared sessions cannot be reached: {0}")]
    Away(String),
}

/// Converts a store failure to the caller's error. The cause is logged, because the caller's
/// message does not contain it.
impl From<StoreError> for AgentError {
    fn from(error: StoreError) -> Self {
        if !matches!(error, StoreError::NotFound(_)) {
            tracing::warn!(%error, "the store failed");
        }
        match error {
            StoreError::NotFound(what) => {
                Self::invalid(text!("{what} does not exist.", what)).reason(Reason::NotFound)
            }
            StoreError::NoSpace(path) => Self::internal(
                "no_space",
                text!("Nothing could be saved: the disk is full or not writable ({path}).", path),
            )
            .hint("Free some space or make the folder writable, then send it again."),
            StoreError::Away(_) => Self::internal(
                Reason::SessionsAway,
                "The sessions cannot be reached at the moment.",
            )
            .hint("Send the message again in a moment."),
            StoreError::Failed(_) => {
                Self::internal("database_error", "The database could not be used.")
                    .hint("Run `csign doctor` to see what is wrong.")
            }
        }
    }
}

/// A stored turn, with the data for finding the interrupted work after a crash.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRow {
    /// The identifier of the turn.
    pub turn: TurnId,
    /// The session that the turn belongs to.
    pub session: SessionId,
    /// The time at which the turn began.
    pub started_at: DateTime<Utc>,
    /// The time at which the turn ended; absent while it runs.
    pub ended_at: Option<DateTime<Utc>>,
    /// `running`, or a `TurnStatus` in snake case.
    pub status: String,
    /// The label of the model that answers.
    pub model: String,
    /// The tokens and model calls so far.
    pub usage: Usage,
}

impl TurnRow {
    /// Creates the row of a turn that ends as it begins, without a model.
    pub fn ended(session: &SessionId, turn: &TurnId, status: &str, at: DateTime<Utc>) -> Self {
        Self {
            turn: turn.clone(),
            session: session.clone(),
            started_at: at,
            ended_at: Some(at),
            status: status.to_owned(),
            model: String::new(),
            usage: Usage::default(),
        }
    }
}

/// The named values of a session: values of caller-owned parameters, and values that hosts and the
/// engine store.
pub type SessionValues = Map<String, Value>;

/// New values by name. A value of `None` is deleted.
pub type ValueChanges = Vec<(String, Option<Value>)>;

/// Returns the approvals that belong to a turn.
pub(crate) fn approvals_of_turn<'a>(
    approvals: &'a [Approval],
    turn: &TurnId,
) -> impl Iterator<Item = &'a Approval> {
    approvals.iter().filter(move |approval| approval.turn == *turn)
}
