//! The port for sessions that several processes serve. The shared store has a copy and a lock per
//! session, and the status of approvals, which changes by compare-and-set before an action runs.
//! Each process keeps a local copy.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{Approval, ApprovalId, ApprovalStatus, Item, SessionId, Transition};
use serde::{Deserialize, Serialize};

use crate::ports::{
    conversations::Memory,
    rows::{SessionValues, StoreError},
};

/// The image of a session: all data that another process needs to continue the session. The image
/// contains no items older than the window, and no secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionImage {
    /// The revision of the image. The revision is the first member, so that it can be compared
    /// without reading the rest.
    pub rev: String,
    /// The identifier of the session.
    pub session: SessionId,
    /// The title of the session.
    pub title: String,
    /// The time of the session's first message.
    pub created_at: DateTime<Utc>,
    /// The items in ascending order, beginning with a user's message.
    pub items: Vec<Item>,
    /// The named values of the session.
    pub values: SessionValues,
    /// The approvals, newest first: the pending one, and the last completed ones.
    pub approvals: Vec<Approval>,
    /// The memories of the session.
    #[serde(default)]
    pub memories: Vec<Memory>,
}

/// The result of loading a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Loaded {
    /// No copy of the session exists.
    Nothing,
    /// A person deleted the session in another process.
    Deleted,
    /// The session has this revision, which is one of the known revisions.
    Known(String),
    /// The session has another revision. This is its image.
    Other(Box<SessionImage>),
}

/// The result of a compare-and-set on an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The status was changed.
    Yes,
    /// The status was not changed, because the approval had this other status.
    No(ApprovalStatus),
    /// The approval is not in the shared store, because it has expired or the shared copy was lost.
    Gone,
}

/// The processes that learn of a decision made in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only this process serves the session.
    Here,
    /// All processes that serve the session learn of the decision.
    Everywhere,
    /// Other processes serve the session, but this process is not connected to the shared store, so
    /// they do not learn of the decision.
    HereAlone,
}

/// The shared store of sessions. Every method is idempotent and can be retried.
#[async_trait]
pub trait SharedSessions: Send + Sync {
    /// Takes a session's lock for a limited time, or extends it. Returns false if another holder
    /// has the lock.
    async fn lock(&self, session: &SessionId, holder: &str) -> Result<bool, StoreError>;
    /// Releases the lock if this holder still has the lock.
    async fn unlock(&self, session: &SessionId, holder: &str) -> Result<(), StoreError>;
    /// Loads the session, unless it has one of the `known` revisions. An image that cannot be read
    /// is deleted.
    async fn load(&self, session: &SessionId, known: &[&str]) -> Result<Loaded, StoreError>;
    /// Stores the image if the current revision is `was` (empty for no image). The image expires
    /// with the session. Returns false if the revision is different.
    async fn save(&self, image: &SessionImage, was: &str) -> Result<bool, StoreError>;
    /// Deletes the image, and keeps for as long as a session that the session was deleted. A process
    /// that continued the session cannot store it again; a new session of this name can be stored.
    async fn remove(&self, session: &SessionId) -> Result<(), StoreError>;
    /// Adds a new pending action to the shared store.
    async fn approval_put(&self, id: &ApprovalId) -> Result<(), StoreError>;
    /// Changes the status of a shared action by compare-and-set.
    async fn approval_move(
        &self,
        id: &ApprovalId,
        transition: Transition,
    ) -> Result<Moved, StoreError>;
    /// Returns the status of a shared action, or none if the action is not stored there.
    async fn approval_status(&self, id: &ApprovalId) -> Result<Option<ApprovalStatus>, StoreError>;
}

/// Whether a session can be shared by processes. Such sessions belong to API callers, and their ids
/// have the form `application:session`.
pub fn is_shared(session: &SessionId) -> bool {
    session.as_str().contains(':')
}
