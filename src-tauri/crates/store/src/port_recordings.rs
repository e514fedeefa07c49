//! Implements `engine::ports::Recordings` on SQLite.

use async_trait::async_trait;
use contract::TurnId;
use engine::ports::{Recordings, StoreError, StoredRecording};

use crate::open::SqliteStore;
use crate::table::recordings;

#[async_trait]
impl Recordings for SqliteStore {
    async fn recording_put(&self, recording: StoredRecording, most: u32) -> Result<(), StoreError> {
        // The recording is written together with the turn's answer, so that no caller waits for it.
        self.write_with_next(
            move |conn| recordings::put(conn, &recording, most),
            "the recording of a turn could not be stored",
        );
        Ok(())
    }
    async fn recording(&self, turn: &TurnId) -> Result<Option<String>, StoreError> {
        self.write_waiting().await;
        self.read_on_this_thread(|conn| recordings::get(conn, turn))
    }
    async fn recordings_prune(&self, most: u32) -> Result<(), StoreError> {
        self.write_along(move |conn| recordings::prune(conn, most)).await
    }
}
