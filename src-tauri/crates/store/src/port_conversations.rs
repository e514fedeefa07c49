//! Implements `engine::ports::Conversations` on SQLite: maps each method to a table, and chooses
//! the writer or a reader.

use async_trait::async_trait;
use contract::{SessionId, TurnId};
use engine::ports::{Conversations, Memory, MemoryItem, MemoryOf, Side, StoreError};

use crate::open::SqliteStore;
use crate::table::conversations;

#[async_trait]
impl Conversations for SqliteStore {
    async fn memory(&self, key: &str) -> Result<Option<Memory>, StoreError> {
        self.read_on_this_thread(|conn| conversations::get(conn, key))
    }
    async fn memories_of(&self, session: &SessionId) -> Result<Vec<Memory>, StoreError> {
        self.read_on_this_thread(|conn| conversations::of_session(conn, session))
    }
    async fn memory_put(&self, memory: &Memory, most: u32) -> Result<(), StoreError> {
        let memory = memory.clone();
        self.write(move |conn| conversations::put(conn, &memory, most)).await
    }
    async fn memory_join(&self, key: &str, turn: &TurnId) -> Result<(), StoreError> {
        let (key, turn) = (key.to_owned(), turn.clone());
        self.write_along(move |conn| conversations::join(conn, &key, &turn)).await
    }
    async fn memory_end(&self, of: &MemoryOf) -> Result<u64, StoreError> {
        self.read_on_this_thread(|conn| conversations::end(conn, of))
    }
    async fn memory_items(
        &self,
        of: &MemoryOf,
        after: u64,
        side: Side,
        limit: u32,
    ) -> Result<Vec<MemoryItem>, StoreError> {
        self.read_on_this_thread(|conn| {
            conversations::items(conn, &self.recent, of, after, side, limit)
        })
    }
}
