//! The memory that the engine stores of a conversation besides its items, and how it continues
//! reading from there.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{AgentId, Item, SessionId, SummaryMethod, Text, TurnId};
use serde::{Deserialize, Serialize};

use crate::ports::rows::StoreError;

/// A memory: the summary and settings stored under one key. Positions are those of [`MemoryItem`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub key: String,
    /// The session, when the key is one.
    pub session: Option<SessionId>,
    /// The specialist whose own settings it is kept by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Whether the memory is in use. If not, it was deleted, and the next message starts a new one.
    pub live: bool,
    pub updated_at: DateTime<Utc>,
    /// Items up to here are never shown again.
    pub since: u64,
    /// Items up to here are covered by the summary.
    pub through: u64,
    /// Empty: there is none yet.
    pub summary: String,
    /// Messages that the summary stands for.
    pub messages: u64,
    pub method: SummaryMethod,
    /// The summary may contain text from untrusted sources.
    pub untrusted: bool,
    /// The summary may contain data that must not leave this computer.
    #[serde(default)]
    pub local_only: bool,
    /// The transcript shows this summary; it tells of the failure below.
    pub shown: bool,
    pub told: bool,
    /// Tries in a row that gave no summary, and why the last one did not.
    pub failures: u32,
    pub failure: Option<Text>,
    /// The last try, and the last summary.
    pub tried_at: Option<DateTime<Utc>>,
    pub summarised_at: Option<DateTime<Utc>>,
}

/// An item at its place in a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryItem {
    pub position: u64,
    pub item: Arc<Item>,
}

/// Whose items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryOf {
    /// One session's: positions are item numbers.
    Session(SessionId),
    /// The memory of all sessions that share this key.
    Shared(String),
}

/// Which end is read when there are more items than wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Newest,
    Oldest,
}

/// Where memories are kept. Every method is durable when it returns.
#[async_trait]
pub trait Conversations: Send + Sync {
    async fn memory(&self, key: &str) -> Result<Option<Memory>, StoreError>;
    /// All that is remembered of one session alone.
    async fn memories_of(&self, session: &SessionId) -> Result<Vec<Memory>, StoreError>;
    /// Stores it. Of more than `most` (0 = no bound) that are kept by the same settings, the ones
    /// used longest ago are forgotten.
    async fn memory_put(&self, memory: &Memory, most: u32) -> Result<(), StoreError>;
    /// Adds the items of a turn to a memory that sessions share, once.
    async fn memory_join(&self, key: &str, turn: &TurnId) -> Result<(), StoreError>;
    /// Items behind a position, ascending.
    async fn memory_items(
        &self,
        of: &MemoryOf,
        after: u64,
        side: Side,
        limit: u32,
    ) -> Result<Vec<MemoryItem>, StoreError>;
}
