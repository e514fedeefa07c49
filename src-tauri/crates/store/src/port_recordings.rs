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
        // A power cut may lose it: it is no data of a person.
        self.write_along(move |conn| recordings::put(conn, &session, &turn, &body, most)).await
    }
    async fn recording(&self, turn: &TurnId) -> Result<Option<String>, StoreError> {
        self.read_on_this_thread(|conn| recordings::get(conn, turn))
    }
}
