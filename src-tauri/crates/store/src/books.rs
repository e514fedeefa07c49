//! Implements `engine::ports::Books` on SQLite.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};
use contract::Spent;
use engine::ports::{
    Books, Claim, ReservationRequest, Reserved, RunKey, Served, Settlement, StoreError,
};

use crate::open::SqliteStore;
use crate::table::books;

#[async_trait]
impl Books for SqliteStore {
    async fn run_claim(&self, key: &RunKey, at: DateTime<Utc>) -> Result<Claim, StoreError> {
        let key = key.clone();
        self.write(move |conn| books::claim(conn, &key, at)).await
    }
    async fn runs_forget(&self, until: DateTime<Utc>) -> Result<(), StoreError> {
        self.write(move |conn| books::forget_runs(conn, until)).await
    }
    async fn run_end(&self, key: &RunKey, outcome: Option<&str>) -> Result<(), StoreError> {
        let (key, outcome) = (key.clone(), outcome.map(str::to_owned));
        self.write(move |conn| books::end(conn, &key, outcome.as_deref())).await
    }
    async fn mark_runs_interrupted(&self) -> Result<(), StoreError> {
        self.write(books::mark_runs_interrupted).await
    }

    async fn spend_reserve(&self, wish: &ReservationRequest) -> Result<Reserved, StoreError> {
        let wish = wish.clone();
        self.write_along(move |conn| books::reserve(conn, &wish)).await
    }
    fn spend_settle(&self, entry: i64, used: Settlement) {
        self.write_with_next(
            move |conn| books::settle(conn, entry, used),
            "what a model call used could not be entered; its reservation stands",
        );
    }
    async fn spent(&self, day: NaiveDate) -> Result<Spent, StoreError> {
        self.write_waiting().await;
        self.read(move |conn| books::read_spending(conn, day)).await
    }

    async fn served(&self, most: u32) -> Result<Vec<Served>, StoreError> {
        self.read(move |conn| books::list_served(conn, most)).await
    }
}
