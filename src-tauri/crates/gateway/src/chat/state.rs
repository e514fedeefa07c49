//! The part of a session that the gateway stores between turns, under the names that earlier
//! versions gave its members.

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
    /// Milliseconds since the epoch.
    pub(crate) expires_at: i64,
    /// The cart as it was shown last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cart: Option<Cart>,
    /// The answers that the next message may give.
    #[serde(flatten)]
    pub(crate) open: Expectations,
    /// The answer to that message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<Value>,
    /// The action whose end the caller has been told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) told_of: Option<String>,
    /// Which state of a shared session this is; empty: it is shared with nobody yet.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) rev: String,
    /// The shared state that it came from, and replaces.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) base: String,
    /// It could not be shared when its turn ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unshared: bool,
    /// Changes that were asked for beside the one that waits, and not made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left: Vec<String>,
    /// The customer has been told that an automated assistant answers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) introduced: bool,
    pub(crate) memory: Memory,
}
