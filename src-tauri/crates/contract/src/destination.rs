//! The places to which a read can send data, and the permissions for them. Plain data: `policy`
//! finds the destinations of a call, the engine keeps the permissions.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::SessionId;

/// The kinds of destinations.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum DestinationKind {
    /// The host of an address, such as `example.com`. Hosts match exactly.
    Host,
    /// A person or group that gets a message: a mail address, a phone number, a name.
    Recipient,
    /// A server or program of a pack, by pack and name.
    Server,
}

/// A place outside of this computer, or a server, that a call sends data to.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(deny_unknown_fields)]
pub struct Destination {
    /// The kind of place.
    pub kind: DestinationKind,
    /// The place: a host in lower case, a recipient, or `pack/server`.
    pub name: String,
}

impl Destination {
    /// Returns the destination of this kind and name.
    pub fn new(kind: DestinationKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

/// How long a permission for a destination holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AllowanceScope {
    /// For one conversation.
    Conversation,
    /// For all conversations.
    Always,
}

/// A permission to send data to a destination by reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Allowance {
    /// The place that may get data.
    pub destination: Destination,
    /// The conversation in which it holds; absent if it holds in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Where the person gave it: `window`, `terminal`, or `message` if the person named the
    /// destination in a message of the conversation.
    pub by: String,
    /// The moment at which it was given.
    pub given_at: DateTime<Utc>,
}
