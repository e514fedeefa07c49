//! Implements `engine::ports::Versions` on SQLite: maps each method to a table, and chooses the
//! writer or a reader.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{Item, SessionId, TurnId, TurnVersions};
use engine::ports::{
    HiddenAction, StoreError, TurnRow, VersionChange, VersionCounts, VersionOutcome,
    VersionRefusal, Versions,
};

use crate::open::SqliteStore;
use crate::table::versions;

#[async_trait]
impl Versions for SqliteStore {
    async fn turn_replace(
        &self,
        turn: &TurnRow,
        items: Vec<Item>,
        replaced: &TurnId,
    ) -> Result<Result<Vec<Item>, VersionRefusal>, StoreError> {
        let (turn, replaced) = (turn.clone(), replaced.clone());
        self.write(move |conn| versions::replace(conn, &turn, items, &replaced)).await
    }
    async fn version_check(
        &self,
        session: &SessionId,
        change: &VersionChange,
    ) -> Result<Result<VersionOutcome, VersionRefusal>, StoreError> {
        let (session, change) = (session.clone(), change.clone());
        self.read(move |conn| versions::check(conn, &session, &change)).await
    }
    async fn version_change(
        &self,
        session: &SessionId,
        change: &VersionChange,
        at: DateTime<Utc>,
    ) -> Result<Result<VersionOutcome, VersionRefusal>, StoreError> {
        let (session, change) = (session.clone(), change.clone());
        self.write(move |conn| versions::change(conn, &session, &change, at)).await
    }
    async fn turns_deleted(
        &self,
        until: Option<DateTime<Utc>>,
    ) -> Result<Vec<(SessionId, TurnId)>, StoreError> {
        self.read_on_this_thread(|conn| versions::deleted(conn, until))
    }
    async fn turn_delete(&self, session: &SessionId, turn: &TurnId) -> Result<(), StoreError> {
        let (session, turn) = (session.clone(), turn.clone());
        let deleted = self.write(move |conn| versions::delete(conn, &session, &turn)).await;
        self.recent.clear();
        deleted
    }
    async fn versions_of(
        &self,
        session: &SessionId,
        turns: &[TurnId],
    ) -> Result<Vec<TurnVersions>, StoreError> {
        self.read_on_this_thread(|conn| versions::of_turns(conn, session, turns))
    }
    async fn version_counts(&self, session: &SessionId) -> Result<VersionCounts, StoreError> {
        let session = session.clone();
        self.read(move |conn| versions::counts(conn, &session)).await
    }
    async fn turn_is_hidden(&self, turn: &TurnId) -> Result<bool, StoreError> {
        self.read_on_this_thread(|conn| versions::is_hidden(conn, turn))
    }
    async fn questions_hidden(
        &self,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<Item>, StoreError> {
        let session = session.clone();
        self.read(move |conn| versions::hidden_questions(conn, &session, limit)).await
    }
    async fn hidden_actions(&self, session: &SessionId) -> Result<Vec<HiddenAction>, StoreError> {
        self.read_on_this_thread(|conn| versions::hidden_actions(conn, session))
    }
    async fn items_seen_by(
        &self,
        session: &SessionId,
        turn: &TurnId,
        limit: u32,
    ) -> Result<Vec<Item>, StoreError> {
        let (session, turn) = (session.clone(), turn.clone());
        self.read(move |conn| versions::seen_by(conn, &session, &turn, limit)).await
    }
}
