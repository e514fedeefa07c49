//! Sessions as listed and opened.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Approval, Item, SessionId, TurnId};

/// A row of the sessions list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SessionSummary {
    pub id: SessionId,
    pub title: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// A turn is running now.
    pub running: bool,
    pub waiting_approvals: u32,
}

/// A message that waits for the running turn to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QueuedMessage {
    pub turn: TurnId,
    pub text: String,
}

/// An open session: its newest items (ascending), the running turn, and waiting messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SessionView {
    pub summary: SessionSummary,
    pub items: Vec<Item>,
    /// Whether there are older items than the first of `items`.
    pub has_more: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_turn: Option<TurnId>,
    pub queue: Vec<QueuedMessage>,
    pub approvals: Vec<Approval>,
    /// The newest result of each view that is shown beside the conversation (see
    /// `ResultView::is_pinned`), if it is older than `items`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<Item>>", optional)]
    pub pinned: Vec<Item>,
}
