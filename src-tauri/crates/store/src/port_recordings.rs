//! `engine::ports::Recordings` on SQLite.

use async_trait::async_trait;
use contract::{SessionId, TurnId};
use engine::ports::{Recordings, StoreError};

use crate::open::SqliteStore;
use crate::table::recordings;

#[async_trait]
impl Recordings for SqliteStore {
    async fn recording_put(
        &self,
        session: &SessionId,
        turn: &TurnId,
        body: &str,
        most: u32,
    ) -> Result<(), StoreError> {
        let (session, turn, body) = (session.clone(), turn.clone(), body.to_owned());
        // It is written with the answer of the turn, so that nobody waits for it.
        self.write_with_next(
            move |conn| recordings::put(conn, &session, &turn, &body, most),
            "the recording of a turn could not be stored",
        );
        Ok(())
    }
    async fn recording(&self, turn: &TurnId) -> Result<Option<String>, StoreError> {
        self.write_waiting().await;
        self.read_on_this_thread(|conn| recordings::get(conn, turn))
    }
}
