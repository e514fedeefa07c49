//! Long-term memories: texts that are kept longer than the window of a conversation and its
//! summary. These types only contain data; memories are stored and searched elsewhere.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ItemId, MemoryId, SessionId, Text};

/// The most characters of a memory.
pub const MEMORY_CHARS: usize = 4_000;

/// The origin of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// The app summarised older messages.
    Summary,
    /// A person asked to remember this text, which is stored word by word.
    Note,
}

/// A long-term memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct MemoryEntry {
    /// The identifier of the memory.
    pub id: MemoryId,
    /// The session to which the memory belongs. Absent for a memory of the whole profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The origin of the memory.
    pub kind: MemoryKind,
    /// The text that is remembered.
    pub text: String,
    /// The items from which the text was made. Some items may have been deleted.
    #[serde(default)]
    pub sources: Vec<ItemId>,
    /// Whether the user pinned the memory.
    #[serde(default)]
    pub pinned: bool,
    /// Whether the text may contain content from untrusted sources.
    #[serde(default)]
    pub untrusted: bool,
    /// Whether the text may contain data that must stay on this computer.
    #[serde(default)]
    pub local_only: bool,
    /// The moment at which the memory was stored.
    pub created_at: DateTime<Utc>,
    /// The moment of the last edit. Absent if the text was never edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<DateTime<Utc>>,
}

/// A memory that a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct MemoryHit {
    /// The memory.
    pub memory: MemoryEntry,
    /// The sum of the reciprocal ranks in both lists. Larger is better.
    pub score: f64,
    /// The similarity of the vectors, -1 to 1. Absent if the memory's vector is not near the
    /// question or does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f32>,
}

/// An item from which a memory was made, with its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct MemorySource {
    /// The memory.
    pub memory: MemoryId,
    /// The session of the item.
    pub session: SessionId,
    /// The title of the session.
    pub title: String,
    /// The item.
    pub item: ItemId,
    /// The position of the item within the session.
    pub seq: u64,
}

/// The index of the vectors of memories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct MemoryIndexView {
    /// The identifier of the model that makes the vectors.
    pub model: String,
    /// The abilities and limits of the model in words.
    pub description: Text,
    /// The least similarity of a memory that is used.
    pub threshold: f32,
    /// The number of values of a vector. 0 before the first vector of a server.
    pub dimension: u32,
    /// The number of memories that the model may read.
    #[ts(type = "number")]
    pub memories: u64,
    /// The number of memories that have a vector of the model.
    #[ts(type = "number")]
    pub indexed: u64,
    /// Whether vectors are being made.
    pub working: bool,
    /// Why the model cannot be used, so that memories are found only by their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Text>,
}
