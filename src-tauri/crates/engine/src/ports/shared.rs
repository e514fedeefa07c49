//! The port for sessions that several processes serve. It holds one shared copy and one lock per
//! session, and the status of approvals, which changes by compare-and-set before an action runs.
//! Each process keeps a local copy. Names no store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{Approval, ApprovalId, ApprovalStatus, Item, SessionId, Transition};
use serde::{Deserialize, Serialize};

use crate::ports::{
    conversations::Memory,
    rows::{SessionValues, StoreError},
};

/// The image of a session: all that another process needs to continue it. It contains no items
/// older than the window, and no secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionImage {
    /// The revision of the image. It is the first member, so that it can be compared without
    /// reading the rest.
    pub rev: String,
    /// The identifier of the session.
    pub session: SessionId,
    /// The title of the session.
    pub title: String,
    /// The moment of its first message.
    pub created_at: DateTime<Utc>,
    /// The items in ascending order, beginning with a user's message.
    pub items: Vec<Item>,
    /// The named values of the session.
    pub values: SessionValues,
    /// The approvals, newest first: the pending one, and the last ones that ended.
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
    /// The session has one of the known revisions, namely this one.
    Known(String),
    /// The session has a revision that is not among the known ones. This is its copy.
    Other(Box<SessionImage>),
}

/// The result of a compare-and-set on an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The status was changed.
    Yes,
    /// The approval had this other status.
    No(ApprovalStatus),
    /// The approval is not in the shared store: it has expired, or the shared copy was lost.
    Gone,
}

/// Which processes learn of a decision that is made in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only this process serves the session.
    Here,
    /// All processes that serve the session learn of the decision.
    Everywhere,
    /// Other processes serve the session, but this process is not connected to the shared store.
    /// They do not learn of the decision.
    HereAlone,
}

/// The shared store of sessions. Every method can be retried: repeating it has no further effect.
#[async_trait]
pub trait SharedSessions: Send + Sync {
    /// Takes a session's lock for a limited time, or extends it. Returns false if another holder
    /// has it.
    async fn lock(&self, session: &SessionId, holder: &str) -> Result<bool, StoreError>;
    /// Releases the lock if this holder still has it.
    async fn unlock(&self, session: &SessionId, holder: &str) -> Result<(), StoreError>;
    /// Loads the session, unless it has one of the `known` revisions. An image that cannot be read
    /// is deleted.
    async fn load(&self, session: &SessionId, known: &[&str]) -> Result<Loaded, StoreError>;
    /// Stores the image if the current revision is `was` (empty for no image). It expires with the
    /// session. Returns false if the revision is another one.
    async fn save(&self, image: &SessionImage, was: &str) -> Result<bool, StoreError>;
    /// Adds a new pending action to the shared store.
    async fn approval_put(&self, id: &ApprovalId) -> Result<(), StoreError>;
    /// Changes the status of a shared action by compare-and-set.
    async fn approval_move(
        &self,
        id: &ApprovalId,
        transition: Transition,
    ) -> Result<Moved, StoreError>;
    /// Returns the status of a shared action, or None if it is not stored there.
    async fn approval_status(&self, id: &ApprovalId) -> Result<Option<ApprovalStatus>, StoreError>;
}

/// Whether a session can be shared by processes. Such sessions belong to API callers, and their ids
/// have the form `application:session`.
pub fn is_shared(session: &SessionId) -> bool {
    session.as_str().contains(':')
}
