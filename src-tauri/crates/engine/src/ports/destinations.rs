//! The port for destinations: which of them a person allowed, and how much was sent there.

use async_trait::async_trait;
use contract::{Allowance, Destination, SessionId};

use crate::ports::StoreError;

/// The state of a destination in a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DestinationState {
    /// Whether it is allowed in this conversation or in all.
    pub is_allowed: bool,
    /// The bytes that reads of this conversation sent there since a person last permitted it.
    pub sent_bytes: u64,
}

/// Permissions to send data to destinations by reads, and what was sent.
#[async_trait]
pub trait Destinations: Send + Sync {
    /// Stores permissions. One that exists keeps its origin.
    async fn allowances_put(&self, allowances: Vec<Allowance>) -> Result<(), StoreError>;
    /// Returns all permissions, newest first.
    async fn allowances(&self) -> Result<Vec<Allowance>, StoreError>;
    /// Deletes a permission of one conversation, or of all. Returns false if it does not exist.
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
    /// Adds what a read sends to each of these destinations. With `anew`, a person permitted
    /// this read, so the count begins with it.
    async fn sent_add(
        &self,
        session: &SessionId,
        to: &[Destination],
        bytes: u64,
        anew: bool,
    ) -> Result<(), StoreError>;
}
