//! The port for long-term memories: their rows, the full text index and the vectors. A memory, its
//! words and its vector are always stored and deleted together.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{MemoryEntry, MemoryId, MemorySource, SessionId};

use crate::ports::{embedding::EmbeddingModelId, rows::StoreError};

/// The pack whose tools remember and recall. The app itself runs these tools.
pub const MEMORY_PACK: &str = "memory";

/// The vector of a text, with the model that created it.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryVector {
    /// The model that created the vector. Vectors of different models cannot be compared.
    pub model: EmbeddingModelId,
    /// The values. The length of the vector is 1.
    pub values: Vec<f32>,
}

/// The memories that a reader may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryReach {
    /// The memories of a session.
    Session(SessionId),
    /// The memories of a session and of the profile.
    SessionAndProfile(SessionId),
    /// The memories of the profile and of all sessions of the user, excluding sessions of other
    /// applications.
    AllOfUser,
    /// All memories.
    Everything,
}

/// The index of the vectors: the model that creates them, and its calibrated threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryIndex {
    /// The model that makes the vectors.
    pub model: EmbeddingModelId,
    /// The number of values of a vector.
    pub dimension: u32,
    /// The least similarity at which a memory is used.
    pub threshold: f32,
}

/// Selects memories that a model has not read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingVectors {
    /// The model.
    pub model: EmbeddingModelId,
    /// Selects only memories that were stored after this memory.
    pub after: Option<MemoryId>,
    /// Whether the model may read memories that must stay on this computer.
    pub with_local: bool,
}

/// The progress of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VectorCount {
    /// The memories that the model may read.
    pub memories: u64,
    /// The number of these memories with a vector of the model.
    pub with_vector: u64,
}

/// Stores long-term memories. Every change has committed to disk when its method returns.
#[async_trait]
pub trait LongTermMemories: Send + Sync {
    /// Stores a new memory with its words and its vector in one transaction. Fails if its session
    /// does not exist.
    async fn entry_add(
        &self,
        memory: &MemoryEntry,
        vector: Option<&MemoryVector>,
    ) -> Result<(), StoreError>;
    /// Stores the memory of a session's oldest messages like `entry_add`. Also stores, in the same
    /// transaction, the position up to which the messages are summarised. Stores nothing and
    /// returns false if one of the messages is not shown any more.
    async fn batch_add(
        &self,
        memory: &MemoryEntry,
        vector: Option<&MemoryVector>,
        through: u64,
    ) -> Result<bool, StoreError>;
    /// Returns the position up to which a session's messages are summarised in memories, or 0.
    /// Deleting a memory does not reduce this position.
    async fn memorised_through(&self, session: &SessionId) -> Result<u64, StoreError>;
    /// Excludes the existing messages of a session from all later memories.
    async fn skip_messages(&self, session: &SessionId) -> Result<(), StoreError>;
    /// Returns a memory, or None if it does not exist.
    async fn entry(&self, id: &MemoryId) -> Result<Option<MemoryEntry>, StoreError>;
    /// Returns memories: pinned memories first, then newest first.
    async fn entries(
        &self,
        reach: &MemoryReach,
        offset: u32,
        limit: u32,
    ) -> Result<Vec<MemoryEntry>, StoreError>;
    /// Returns the newest pinned memories.
    async fn entries_pinned(
        &self,
        reach: &MemoryReach,
        limit: u32,
    ) -> Result<Vec<MemoryEntry>, StoreError>;
    /// Returns the memories with these identifiers that exist, in the order of the identifiers.
    async fn entries_of(&self, ids: &[MemoryId]) -> Result<Vec<MemoryEntry>, StoreError>;
    /// Returns the identifiers of the memories that the answers of a session used, the memories of
    /// the newest answer first.
    async fn entries_used_in(&self, session: &SessionId) -> Result<Vec<MemoryId>, StoreError>;
    /// Returns the session of a memory, or of the items from which it was created, even if the
    /// session was deleted.
    async fn entry_session(&self, id: &MemoryId) -> Result<Option<SessionId>, StoreError>;
    /// Returns, for each memory, the first existing item from which it was created.
    async fn entry_sources(&self, ids: &[MemoryId]) -> Result<Vec<MemorySource>, StoreError>;
    /// Replaces the text of a memory with its words and its vector in one transaction. Returns
    /// false if the memory does not exist.
    async fn entry_edit(
        &self,
        id: &MemoryId,
        text: &str,
        vector: Option<&MemoryVector>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;
    /// Pins or unpins a memory. Returns false if the memory does not exist.
    async fn entry_pin(&self, id: &MemoryId, pinned: bool) -> Result<bool, StoreError>;
    /// Returns the texts of all memories.
    async fn entry_texts(&self) -> Result<Vec<String>, StoreError>;
    /// Whether there is any memory within this reach. Must be fast, because it is called for each
    /// message.
    async fn has_entries(&self, reach: &MemoryReach) -> Result<bool, StoreError>;
    /// Deletes a memory with its words and its vector in one transaction. Returns false if the
    /// memory does not exist.
    async fn entry_delete(&self, id: &MemoryId) -> Result<bool, StoreError>;
    /// Returns the memories with any of these words, best first by bm25.
    async fn entries_by_words(
        &self,
        words: &[String],
        reach: &MemoryReach,
        limit: u32,
    ) -> Result<Vec<MemoryEntry>, StoreError>;
    /// Returns the memories whose vectors of the same model are most similar, with the similarity,
    /// best first.
    async fn entries_by_vector(
        &self,
        vector: &MemoryVector,
        reach: &MemoryReach,
        limit: u32,
    ) -> Result<Vec<(MemoryEntry, f32)>, StoreError>;
    /// Returns memories without a vector of a model, oldest first.
    async fn entries_without_vector(
        &self,
        missing: &MissingVectors,
        limit: u32,
    ) -> Result<Vec<MemoryEntry>, StoreError>;
    /// Stores vectors, replacing earlier ones, in one transaction. Skips memories that were deleted
    /// or whose text has changed in the meantime.
    async fn entry_vectors_put(
        &self,
        made: Vec<(MemoryEntry, MemoryVector)>,
    ) -> Result<(), StoreError>;
    /// Counts the memories that a model may read, and how many of them have its vector. Uses only
    /// the model and `with_local`.
    async fn count_vectors(&self, missing: &MissingVectors) -> Result<VectorCount, StoreError>;
    /// Returns the index, or none before the first memory.
    async fn memory_index(&self) -> Result<Option<MemoryIndex>, StoreError>;
    /// Stores the index, replacing an earlier one.
    async fn memory_index_put(&self, index: &MemoryIndex) -> Result<(), StoreError>;
}
