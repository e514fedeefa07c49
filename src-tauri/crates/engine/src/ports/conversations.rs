//! The port for conversation memories: the summary and the positions that the engine stores for a
//! conversation in addition to its items.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{AgentId, Item, SessionId, SummaryMethod, Text, TurnId};
use serde::{Deserialize, Serialize};

use crate::ports::rows::StoreError;

/// A memory: the summary and settings stored under a key. Positions have the meaning of
/// [`MemoryItem`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The key under which the memory is stored.
    pub key: String,
    /// The session, if the memory belongs to a single session.
    pub session: Option<SessionId>,
    /// The specialist whose own settings apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Whether the memory is in use. A memory that is not in use was deleted, and the next message
    /// starts a new memory.
    pub live: bool,
    /// The moment of the last change.
    pub updated_at: DateTime<Utc>,
    /// The position up to which items are never shown again.
    pub since: u64,
    /// The position up to which the summary covers the items.
    pub through: u64,
    /// The summary. Empty if there is none yet.
    pub summary: String,
    /// The number of messages that the summary covers.
    pub messages: u64,
    /// The way in which the summary was made.
    pub method: SummaryMethod,
    /// Whether the summary may contain text from untrusted sources.
    pub untrusted: bool,
    /// Whether the summary may contain data that must not leave this computer.
    #[serde(default)]
    pub local_only: bool,
    /// Whether the transcript shows this summary.
    pub shown: bool,
    /// Whether the transcript shows the last failure.
    pub told: bool,
    /// The number of consecutive failed attempts at a summary.
    pub failures: u32,
    /// The reason of the last failure, as a code.
    pub failure: Option<Text>,
    /// The time of the last attempt at a summary.
    pub tried_at: Option<DateTime<Utc>>,
    /// The moment of the last summary.
    pub summarised_at: Option<DateTime<Utc>>,
}

/// An item with its position in a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryItem {
    /// The position of the item within the memory.
    pub position: u64,
    /// The item itself.
    pub item: Arc<Item>,
}

/// The items that belong to a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryOf {
    /// The items of a single session. Positions are item numbers.
    Session(SessionId),
    /// The memory of all sessions that share this key.
    Shared(String),
}

/// The end from which items are read if there are more than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The newest items.
    Newest,
    /// The oldest items.
    Oldest,
}

/// Stores memories. Every method has committed to disk when it returns.
#[async_trait]
pub trait Conversations: Send + Sync {
    /// Returns the memory under a key, or None if there is none.
    async fn memory(&self, key: &str) -> Result<Option<Memory>, StoreError>;
    /// Returns all memories that belong only to this session.
    async fn memories_of(&self, session: &SessionId) -> Result<Vec<Memory>, StoreError>;
    /// Stores a memory. If more than `most` memories exist under the same settings, the least
    /// recently used ones are deleted. A `most` of 0 means no limit.
    async fn memory_put(&self, memory: &Memory, most: u32) -> Result<(), StoreError>;
    /// Adds the items of a turn to a memory shared by several sessions. Adding a turn twice has no
    /// effect.
    async fn memory_join(&self, key: &str, turn: &TurnId) -> Result<(), StoreError>;
    /// Returns the position of the newest item of a memory, also if it is not shown, or 0.
    async fn memory_end(&self, of: &MemoryOf) -> Result<u64, StoreError>;
    /// Returns shown items after a position, in ascending order.
    async fn memory_items(
        &self,
        of: &MemoryOf,
        after: u64,
        side: Side,
        limit: u32,
    ) -> Result<Vec<MemoryItem>, StoreError>;
}
