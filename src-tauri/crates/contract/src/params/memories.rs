//! Parameters and answers of the commands about long-term memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use crate::memory::{MemoryEntry, MemoryIndexView};
use crate::{MemoryHit, MemoryId, MemorySource, SessionId};

wire! {
    /// Selects a page of the long-term memories.
    struct MemoryListParams {
        /// Only the memories of this session.
        #[serde(default)]
        session: Option<SessionId>,
        /// Only the memories that answers of this session used. `session` is then ignored.
        #[serde(default)]
        used_in: Option<SessionId>,
        /// The number of memories to skip.
        #[serde(default)]
        offset: u32,
        /// At most 200; 0 means 50.
        #[serde(default)]
        limit: u32,
    }

    /// A page of the long-term memories.
    struct MemoryListResponse {
        /// The memories: pinned ones first, then newest first.
        memories: Vec<MemoryEntry>,
        /// For each of these memories the first item that it was made from and that still exists.
        #[serde(default)]
        sources: Vec<MemorySource>,
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
        /// For each of these memories the first item that it was made from and that still exists.
        #[serde(default)]
        sources: Vec<MemorySource>,
    }

    /// Names the memories that an answer used.
    struct MemoryUsedParams {
        /// Their identifiers, at most 50.
        ids: Vec<MemoryId>,
    }

    /// The memories that an answer used, as they are now.
    struct MemoryUsedResponse {
        /// Those that still exist, in the order of the request. The others were forgotten.
        memories: Vec<MemoryEntry>,
        /// For each of these memories the first item that it was made from and that still exists.
        sources: Vec<MemorySource>,
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

    /// Another text for a memory.
    struct MemoryEditParams {
        /// The identifier of the memory.
        id: MemoryId,
        /// The new text, which is stored word by word.
        text: String,
    }

    /// Pins a memory, or takes the pin away.
    struct MemoryPinParams {
        /// The identifier of the memory.
        id: MemoryId,
        /// Whether the memory is given to the model with every message.
        pinned: bool,
    }

    /// Switches long-term memory for one session.
    struct MemorySwitchParams {
        /// The session.
        session: SessionId,
        /// Whether memories are read and made in this session.
        enabled: bool,
    }

    /// Selects the folder for an export of all memories.
    struct MemoryExportParams {
        /// The folder for the new file.
        folder: String,
    }

    /// An export of all memories.
    struct MemoryExportResponse {
        /// The path of the new file.
        file: String,
        /// The number of memories in it.
        memories: u64,
    }
}
