//! Parameters and answers of the commands about long-term memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use crate::memory::{MemoryEntry, MemoryIndexView};
use crate::{MemoryHit, MemoryId, SessionId};

wire! {
    /// Selects a page of the long-term memories.
    struct MemoryListParams {
        /// Only the memories of this session.
        #[serde(default)]
        session: Option<SessionId>,
        /// The number of memories to skip.
        #[serde(default)]
        offset: u32,
        /// At most 200; 0 means 50.
        #[serde(default)]
        limit: u32,
    }

    /// A page of the long-term memories.
    struct MemoryListResponse {
        /// The memories, newest first.
        memories: Vec<MemoryEntry>,
        /// Whether more memories follow.
        has_more: bool,
        /// The index of their vectors.
        index: MemoryIndexView,
    }

    /// Looks for long-term memories.
    struct MemorySearchParams {
        /// The text that the memories should fit.
        text: String,
        /// Only what this session may use. Absent for all memories.
        #[serde(default)]
        session: Option<SessionId>,
        /// At most 50; 0 means 5.
        #[serde(default)]
        limit: u32,
    }

    /// The memories that fit a text.
    struct MemorySearchResponse {
        /// The memories, best first.
        hits: Vec<MemoryHit>,
    }

    /// Names one long-term memory.
    struct MemoryParams {
        /// The identifier of the memory.
        id: MemoryId,
    }

    /// A text to remember.
    struct MemoryAddParams {
        /// The text, which is stored word by word.
        text: String,
        /// The session that the memory belongs to. Absent for the whole profile.
        #[serde(default)]
        session: Option<SessionId>,
    }
}
