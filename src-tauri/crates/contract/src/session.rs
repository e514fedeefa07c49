//! Sessions as listed and opened.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Approval, Item, SessionId, TurnId, TurnVersions};

/// The summary of a session in the sessions list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SessionSummary {
    /// The identifier of the session.
    pub id: SessionId,
    /// The title. Until a person gives one, it comes from the first message that got data, or from
    /// a longer one.
    pub title: String,
    /// The moment of the first message.
    pub created_at: DateTime<Utc>,
    /// The moment of the last change.
    pub updated_at: DateTime<Utc>,
    /// Whether a turn is running now.
    pub running: bool,
    /// The number of pending actions in the session.
    pub waiting_approvals: u32,
    /// Whether the session is kept at the top of the list.
    #[serde(default)]
    pub pinned: bool,
    /// Whether the session is listed with the archived ones only.
    #[serde(default)]
    pub archived: bool,
}

/// A message that waits for the end of the running turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct QueuedMessage {
    /// The turn that will answer the message.
    pub turn: TurnId,
    /// The message.
    pub text: String,
}

/// An open session: its newest items (ascending), the running turn, and waiting messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct SessionView {
    /// The summary of the session.
    pub summary: SessionSummary,
    /// The newest items, in ascending order.
    pub items: Vec<Item>,
    /// Whether there are older items than the first of `items`.
    pub has_more: bool,
    /// The turns of `items` that have several versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<TurnVersions>>", optional)]
    pub versions: Vec<TurnVersions>,
    /// The turn that runs now; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_turn: Option<TurnId>,
    /// The waiting messages, in the order in which they will run.
    pub queue: Vec<QueuedMessage>,
    /// The actions of the session, newest first.
    pub approvals: Vec<Approval>,
    /// The newest results that are kept visible beside the conversation (see `ResultView::pinned`),
    /// if they are older than `items`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<Item>>", optional)]
    pub pinned: Vec<Item>,
    /// Whether long-term memory is switched off for this session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub memory_off: bool,
}

/// The formats in which a session is written into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum SessionFormat {
    /// Markdown, with results as tables.
    Markdown,
    /// One HTML page without script, made for printing.
    Html,
    /// All items and approvals as JSON.
    Json,
}
