//! The destinations to which a read can send data, and the permissions for them. These types only
//! contain data. `policy` finds the destinations of a call, and the engine stores the permissions.

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
    /// The host of an address, such as `example.com`. Hosts are compared exactly.
    Host,
    /// A person or group that gets a message: a mail address, a phone number, a name.
    Recipient,
    /// A server or program of a pack, by pack and name.
    Server,
}

/// A destination outside this computer, or a server, to which a call sends data.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(deny_unknown_fields)]
pub struct Destination {
    /// The kind of destination.
    pub kind: DestinationKind,
    /// The name of the destination: a host in lower case, a recipient, or `pack/server`.
    pub name: String,
}

impl Destination {
    /// Returns the destination of this kind and name.
    pub fn new(kind: DestinationKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

/// The scope of a permission for a destination.
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
    /// The destination that may receive data.
    pub destination: Destination,
    /// The conversation in which the permission applies; absent if it applies in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The place where the person gave the permission: `window`, `terminal`, or `message` if the
    /// person named the destination in a message of the conversation.
    pub by: String,
    /// The time at which the permission was given.
    pub given_at: DateTime<Utc>,
    /// The time of the last read that the permission covered; absent if there was none, or only
    /// before uses were noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
}
