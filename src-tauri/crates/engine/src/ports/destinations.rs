//! The port for destinations: the permissions for destinations, and the amount of data sent to
//! them.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
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

/// The data that a read sends to each of its destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentBytes {
    /// The bytes.
    pub bytes: u64,
    /// Whether a person approved this read, so that the count restarts with it. Otherwise, the
    /// permissions for the destinations cover the read.
    pub anew: bool,
    /// The time of the read.
    pub at: DateTime<Utc>,
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
    /// Adds the bytes that a read sends to each of these destinations, and notes the use of the
    /// permissions that cover the read.
    async fn sent_add(
        &self,
        session: &SessionId,
        to: &[Destination],
        sent: SentBytes,
    ) -> Result<(), StoreError>;
}
