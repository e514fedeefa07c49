//! The port for destinations: the permissions for destinations, and the amount of data sent to
//! them.

use async_trait::async_trait;
use contract::{Allowance, Destination, SessionId};

use crate::ports::StoreError;

/// The state of a destination in a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DestinationState {
    /// Whether the destination is allowed in this conversation or in all.
    pub is_allowed: bool,
    /// The bytes that reads of this conversation have sent to the destination since a person last
    /// allowed it.
    pub sent_bytes: u64,
}

/// Stores the permissions of reads to send data to destinations, and the amount of data sent.
#[async_trait]
pub trait Destinations: Send + Sync {
    /// Stores permissions. An existing permission keeps its origin.
    async fn allowances_put(&self, allowances: Vec<Allowance>) -> Result<(), StoreError>;
    /// Returns all permissions, newest first.
    async fn allowances(&self) -> Result<Vec<Allowance>, StoreError>;
    /// Deletes a permission for one conversation or for all. Returns false if the permission does
    /// not exist.
    async fn allowance_delete(
        &self,
        session: Option<&SessionId>,
        destination: &Destination,
    ) -> Result<bool, StoreError>;
    /// Returns the state of each of these destinations, in their order.
    async fn destination_states(
        &self,
        session: &SessionId,
        of: &[Destination],
    ) -> Result<Vec<DestinationState>, StoreError>;
    /// Adds the bytes that a read sends to each of these destinations. With `anew`, a person
    /// approved this read, so the count restarts with it.
    async fn sent_add(
        &self,
        session: &SessionId,
        to: &[Destination],
        bytes: u64,
        anew: bool,
    ) -> Result<(), StoreError>;
}
