//! Implements `engine::ports::LongTermMemories` on SQLite: maps each method to a table, and chooses
//! the writer or a reader.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{MemoryEntry, MemoryId, MemorySource, SessionId};
use engine::ports::{
    LongTermMemories, MemoryIndex, MemoryReach, MemoryVector, MissingVectors, StoreError,
    VectorCount,
};

use crate::open::SqliteStore;
use crate::table::{memories, memory_sources};

#[async_trait]
impl LongTermMemories for SqliteStore {
    async fn entry_add(
        &self,
        memory: &MemoryEntry,
        vector: Option<&MemoryVector>,
    ) -> Result<(), StoreError> {
        let (memory, vector) = (memory.clone(), vector.cloned());
        self.write(move |conn| memories::add(conn, &memory, vector.as_ref())).await
    }
    async fn batch_add(
        &self,
        memory: &MemoryEntry,
        vector: Option<&MemoryVector>,
        through: u64,
    ) -> Result<bool, StoreError> {
        let (memory, vector) = (memory.clone(), vector.cloned());
        self.write(move |conn| {
            if !memory_sources::are_sources_shown(conn, &memory)? {
                return Ok(false);
            }
            memories::add(conn, &memory, vector.as_ref())?;
            memories::put_progress(conn, &memory, through)?;
            Ok(true)
        })
        .await
    }
    async fn skip_messages(&self, session: &SessionId) -> Result<(), StoreError> {
        let session = session.clone();
        self.write_along(move |conn| memories::skip_messages(conn, &session)).await
    }
    async fn memorised_through(&self, session: &SessionId) -> Result<u64, StoreError> {
        self.read_on_this_thread(|conn| memories::progress(conn, session))
    }
    async fn entry(&self, id: &MemoryId) -> Result<Option<MemoryEntry>, StoreError> {
        self.read_on_this_thread(|conn| memories::get(conn, id))
    }
    async fn entries(
        &self,
        reach: &MemoryReach,
        offset: u32,
        limit: u32,
    ) -> Result<Vec<MemoryEntry>, StoreError> {
        let reach = reach.clone();
        self.read(move |conn| memories::list(conn, &reach, offset, limit)).await
    }
    async fn entries_pinned(
        &self,
        reach: &MemoryReach,
        limit: u32,
    ) -> Result<Vec<MemoryEntry>, StoreError> {
        self.read_on_this_thread(|conn| memories::pinned(conn, reach, limit))
    }
    async fn entries_of(&self, ids: &[MemoryId]) -> Result<Vec<MemoryEntry>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |conn| memories::of_ids(conn, &ids)).await
    }
    async fn entries_used_in(&self, session: &SessionId) -> Result<Vec<MemoryId>, StoreError> {
        let session = session.clone();
        self.read(move |conn| memories::used_in(conn, &session)).await
    }
    async fn entry_sources(&self, ids: &[MemoryId]) -> Result<Vec<MemorySource>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |conn| memories::sources(conn, &ids)).await
    }
    async fn entry_session(&self, id: &MemoryId) -> Result<Option<SessionId>, StoreError> {
        self.read_on_this_thread(|conn| memories::session_of(conn, id))
    }
    async fn entry_edit(
        &self,
        id: &MemoryId,
        text: &str,
        vector: Option<&MemoryVector>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let (id, text, vector) = (id.clone(), text.to_owned(), vector.cloned());
        self.write(move |conn| memories::edit(conn, &id, &text, vector.as_ref(), at)).await
    }
    async fn entry_pin(&self, id: &MemoryId, pinned: bool) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |conn| memories::pin(conn, &id, pinned)).await
    }
    async fn entry_texts(&self) -> Result<Vec<String>, StoreError> {
        self.read(memories::texts).await
    }
    async fn has_entries(&self, reach: &MemoryReach) -> Result<bool, StoreError> {
        self.read_on_this_thread(|conn| memories::exist(conn, reach))
    }
    async fn entry_delete(&self, id: &MemoryId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |conn| memories::delete(conn, &id)).await
    }
    async fn entries_by_words(
        &self,
        words: &[String],
        reach: &MemoryReach,
        limit: u32,
    ) -> Result<Vec<MemoryEntry>, StoreError> {
        let (words, reach) = (words.to_vec(), reach.clone());
        self.read(move |conn| memories::with_words(conn, &words, &reach, limit)).await
    }
    async fn entries_by_vector(
        &self,
        vector: &MemoryVector,
        reach: &MemoryReach,
        limit: u32,
    ) -> Result<Vec<(MemoryEntry, f32)>, StoreError> {
        let (vector, reach, kept) = (vector.clone(), reach.clone(), Arc::clone(&self.vectors));
        self.read(move |conn| memories::near_vector(conn, &kept, &vector, &reach, limit)).await
    }
    async fn entries_without_vector(
        &self,
        missing: &MissingVectors,
        limit: u32,
    ) -> Result<Vec<MemoryEntry>, StoreError> {
        let missing = missing.clone();
        self.read(move |conn| memories::without_vector(conn, &missing, limit)).await
    }
    async fn entry_vectors_put(
        &self,
        made: Vec<(MemoryEntry, MemoryVector)>,
    ) -> Result<(), StoreError> {
        self.write(move |conn| {
            made.iter().try_for_each(|(memory, vector)| memories::put_vector(conn, memory, vector))
        })
        .await
    }
    async fn count_vectors(&self, missing: &MissingVectors) -> Result<VectorCount, StoreError> {
        let missing = missing.clone();
        self.read(move |conn| memories::count_vectors(conn, &missing)).await
    }
    async fn memory_index(&self) -> Result<Option<MemoryIndex>, StoreError> {
        self.read_on_this_thread(memories::index)
    }
    async fn memory_index_put(&self, index: &MemoryIndex) -> Result<(), StoreError> {
        let index = index.clone();
        self.write(move |conn| memories::put_index(conn, &index)).await
    }
}
