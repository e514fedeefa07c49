//! Parameters and answers of the commands about long-term memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use crate::memory::{MemoryEntry, MemoryIndexView};
use crate::{MemoryHit, MemoryId, MemorySource, SessionId};

wire! {
    /// Selects a page of the long-term memories.
    struct MemoryListParams {
        /// Selects the memories of this session.
        #[serde(default)]
        session: Option<SessionId>,
        /// Selects the memories that answers of this session used. If given, `session` is ignored.
        #[serde(default)]
        used_in: Option<SessionId>,
        /// The number of memories to skip.
        #[serde(default)]
        offset: u32,
        /// The most memories of the page: at most 200; 0 means 50.
        #[serde(default)]
        limit: u32,
    }

    /// A page of the long-term memories.
    struct MemoryListResponse {
        /// The memories: pinned memories first, then newest first.
        memories: Vec<MemoryEntry>,
        /// For each memory, the first existing item from which it was made.
        #[serde(default)]
        sources: Vec<MemorySource>,
        /// Whether more memories follow.
        has_more: bool,
        /// The index of the memories' vectors.
        index: MemoryIndexView,
    }

    /// Searches long-term memories.
    struct MemorySearchParams {
        /// The text with which the memories are compared.
        text: String,
        /// Selects memories that this session may use. Absent selects all memories.
        #[serde(default)]
        session: Option<SessionId>,
        /// The most memories: at most 50; 0 means 5.
        #[serde(default)]
        limit: u32,
    }

    /// The memories that match a text.
    struct MemorySearchResponse {
        /// The memories, best first.
        hits: Vec<MemoryHit>,
        /// For each memory, the first existing item from which it was made.
        #[serde(default)]
        sources: Vec<MemorySource>,
    }

    /// Names the memories that an answer used.
    struct MemoryUsedParams {
        /// The identifiers of the memories, at most 50.
        ids: Vec<MemoryId>,
    }

    /// The memories that an answer used, in their current form.
    struct MemoryUsedResponse {
        /// The memories that still exist, in the order of the request. Missing memories were
        /// deleted.
        memories: Vec<MemoryEntry>,
        /// For each memory, the first existing item from which it was made.
        sources: Vec<MemorySource>,
    }

    /// Names a long-term memory.
    struct MemoryParams {
        /// The identifier of the memory.
        id: MemoryId,
    }

    /// A text to remember.
    struct MemoryAddParams {
        /// The text, which is stored word by word.
        text: String,
        /// The session to which the memory belongs. Absent for the whole profile.
        #[serde(default)]
        session: Option<SessionId>,
    }

    /// A new text for a memory.
    struct MemoryEditParams {
        /// The identifier of the memory.
        id: MemoryId,
        /// The new text, which is stored word by word.
        text: String,
    }

    /// Pins or unpins a memory.
    struct MemoryPinParams {
        /// The identifier of the memory.
        id: MemoryId,
        /// Whether the memory is given to the model with every message.
        pinned: bool,
    }

    /// Switches long-term memory for a session on or off.
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
        /// The number of memories in the file.
        memories: u64,
    }
}
