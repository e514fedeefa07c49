//! Implements `engine::ports::Destinations` on SQLite.

use async_trait::async_trait;
use contract::{Allowance, Destination, SessionId};
use engine::ports::{DestinationState, Destinations, SentBytes, StoreError};

use crate::open::SqliteStore;
use crate::table::destinations;

#[async_trait]
impl Destinations for SqliteStore {
    async fn allowances_put(&self, allowances: Vec<Allowance>) -> Result<(), StoreError> {
        self.write(move |conn| allowances.iter().try_for_each(|one| destinations::allow(conn, one)))
            .await
    }
    async fn allowances(&self) -> Result<Vec<Allowance>, StoreError> {
        self.read_on_this_thread(destinations::list)
    }
    async fn allowance_delete(
        &self,
        session: Option<&SessionId>,
        destination: &Destination,
    ) -> Result<bool, StoreError> {
        let (session, destination) = (session.cloned(), destination.clone());
        self.write(move |conn| destinations::revoke(conn, session.as_ref(), &destination)).await
    }
    async fn destination_states(
        &self,
        session: &SessionId,
        of: &[Destination],
    ) -> Result<Vec<DestinationState>, StoreError> {
        self.read_on_this_thread(|conn| destinations::states(conn, session, of))
    }
    async fn sent_add(
        &self,
        session: &SessionId,
        to: &[Destination],
        sent: SentBytes,
    ) -> Result<(), StoreError> {
        let (session, to) = (session.clone(), to.to_vec());
        self.write(move |conn| destinations::add_sent(conn, &session, &to, sent)).await
    }
}
