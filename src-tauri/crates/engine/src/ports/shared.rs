//! Sessions that several processes serve: one copy that all of them share, one lock per session,
//! and approvals that change by compare-and-set there before anything runs. What a process keeps
//! itself is a copy of it. Names no store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{Approval, ApprovalId, ApprovalStatus, Item, SessionId, Transition};
use serde::{Deserialize, Serialize};

use crate::ports::{
    conversations::Memory,
    rows::{SessionValues, StoreError},
};

/// A session as it travels: what a turn elsewhere needs to go on. Older items than its window are
/// not in it, and no secrets are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionImage {
    /// Which state of the session this is. The first member, so that it can be compared without
    /// reading the rest.
    pub rev: String,
    /// The identifier of the session.
    pub session: SessionId,
    /// The title of the session.
    pub title: String,
    /// The moment of its first message.
    pub created_at: DateTime<Utc>,
    /// Ascending, beginning with a user's message.
    pub items: Vec<Item>,
    /// The named values of the session.
    pub values: SessionValues,
    /// Newest first: what waits, and the last that ended.
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
    /// It is as one of the states that are known; which one.
    Known(String),
    /// The copy has another state than those that are known.
    Other(Box<SessionImage>),
}

/// How a compare-and-set of an approval went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The status was changed.
    Yes,
    /// It was not what was expected.
    No(ApprovalStatus),
    /// It is not there: its time is over, or the shared copy was lost.
    Gone,
}

/// The processes that learn of a decision that is made here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This process, and there is no other.
    Here,
    /// All processes that share its session.
    Everywhere,
    /// Others share its session, and this process does not share it with them: they hear of
    /// nothing.
    HereAlone,
}

/// Where they are shared. Every method may be tried again: done twice, it is done once.
#[async_trait]
pub trait SharedSessions: Send + Sync {
    /// Takes the lock of a session for a while, or holds it longer; false: somebody else has it.
    async fn lock(&self, session: &SessionId, holder: &str) -> Result<bool, StoreError>;
    /// Gives the lock back, if it is still this holder's.
    async fn unlock(&self, session: &SessionId, holder: &str) -> Result<(), StoreError>;
    /// The session, unless it is in one of the `known` states. What cannot be read is deleted.
    async fn load(&self, session: &SessionId, known: &[&str]) -> Result<Loaded, StoreError>;
    /// Stores it in place of the state `was` (empty: of none), for the time that sessions live;
    /// false: another state has come.
    async fn save(&self, image: &SessionImage, was: &str) -> Result<bool, StoreError>;
    /// Puts a new pending action where all decide it.
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

/// Whether a session is one that processes share: those of callers are named `application:session`.
pub fn is_shared(session: &SessionId) -> bool {
    session.as_str().contains(':')
}
