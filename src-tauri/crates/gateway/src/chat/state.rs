//! The part of a session that the gateway stores between turns. The names of the members are those
//! of earlier versions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    chat::expecting::Expectations,
    shop::{Cart, memory::Memory},
};

/// The gateway's own state of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct State {
    /// The time of the last turn, in milliseconds since the epoch.
    pub(crate) saved_at: i64,
    /// The expiry time in milliseconds since the epoch.
    pub(crate) expires_at: i64,
    /// The cart as last shown to the customer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cart: Option<Cart>,
    /// The open questions that the next message may answer.
    #[serde(flatten)]
    pub(crate) open: Expectations,
    /// The response to the message that confirmed a change, in case that message is repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<Value>,
    /// The id of the action whose outcome was reported to the caller.
    #[serde(rename = "toldOf", skip_serializing_if = "Option::is_none")]
    pub(crate) reported_action: Option<String>,
    /// The revision of this state in the shared store. Empty if the session was never shared.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) rev: String,
    /// The revision in the shared store that this state will replace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) base: String,
    /// Whether the session could not be stored in the shared store after its turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unshared: bool,
    /// Changes that the customer asked for together with the pending change and that were not made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left: Vec<String>,
    /// Whether the customer was informed that an automated assistant answers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) introduced: bool,
    pub(crate) memory: Memory,
}
