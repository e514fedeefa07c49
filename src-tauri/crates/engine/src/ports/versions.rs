//! The port for versions of messages. The turns of a session form a tree: turns that follow the same
//! turn are versions of one message, and one of them is chosen. The items on the path of chosen
//! turns are shown. All other readers of items return shown items only.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{Item, SessionId, ToolId, TurnId, TurnVersions};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ports::rows::{StoreError, TurnRow};

/// A change of the messages that a session shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionChange {
    /// A new turn is shown instead of a shown turn, as another version of it.
    Replace {
        /// The turn that is hidden, with all turns after it.
        turn: TurnId,
        /// The new turn.
        by: TurnId,
    },
    /// A version is shown, with the turns that followed it.
    Show(TurnId),
    /// A shown turn is deleted, in all its versions. The turns after it stay.
    Delete(TurnId),
    /// The deletion of a turn is undone.
    Restore(TurnId),
}

/// Why a change of the shown messages is refused. A refused change changes no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionRefusal {
    /// The session has no such turn.
    Unknown,
    /// The turn is deleted.
    Deleted,
    /// The turn is not shown.
    NotShown,
    /// An action of a turn that would be hidden has not ended.
    ActionPending,
}

/// The result of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VersionOutcome {
    /// Whether any stored data changes.
    pub is_changed: bool,
    /// The number of further versions of the turn that the change named.
    pub other_versions: u32,
}

/// A change that a tool made in a turn that is not shown now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HiddenAction {
    /// The tool of the call.
    pub tool: ToolId,
    /// The arguments of the call.
    pub arguments: Value,
    /// The hash of the request that a person approved. None for the call as the model made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The time at which the call ended.
    pub at: DateTime<Utc>,
}

/// The numbers of turns of a session that are not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VersionCounts {
    /// The turns that are not shown because another version is chosen.
    pub other_versions: u64,
    /// The deleted questions, including those whose rows were deleted.
    pub deleted: u64,
}

/// The versions of messages. Every change is one transaction, also resets the summaries that cover
/// items of the changed turns, and is on disk when its method returns. A turn that is not shown has
/// no action that has not ended: a new one of such a turn is refused.
#[async_trait]
pub trait Versions: Send + Sync {
    /// Stores a new turn with its items as another version of a shown turn, and shows it instead.
    /// Returns the items with their `seq`.
    async fn turn_replace(
        &self,
        turn: &TurnRow,
        items: Vec<Item>,
        replaced: &TurnId,
    ) -> Result<Result<Vec<Item>, VersionRefusal>, StoreError>;
    /// Returns the result that `version_change` would have. Changes no data.
    async fn version_check(
        &self,
        session: &SessionId,
        change: &VersionChange,
    ) -> Result<Result<VersionOutcome, VersionRefusal>, StoreError>;
    /// Changes which turns are shown. A deletion gets the time `at`. A replacement needs
    /// `turn_replace` instead.
    async fn version_change(
        &self,
        session: &SessionId,
        change: &VersionChange,
        at: DateTime<Utc>,
    ) -> Result<Result<VersionOutcome, VersionRefusal>, StoreError>;
    /// Returns the deleted turns whose rows still exist, one for each deleted question. With
    /// `until`, only those that were deleted at or before this time.
    async fn turns_deleted(
        &self,
        until: Option<DateTime<Utc>>,
    ) -> Result<Vec<(SessionId, TurnId)>, StoreError>;
    /// Deletes the rows of a deleted turn and of its other versions with all that followed these,
    /// and the summaries made from their items. Does nothing if the turn is not deleted.
    async fn turn_delete(&self, session: &SessionId, turn: &TurnId) -> Result<(), StoreError>;
    /// Returns the versions of each of these turns that has more than one.
    async fn versions_of(
        &self,
        session: &SessionId,
        turns: &[TurnId],
    ) -> Result<Vec<TurnVersions>, StoreError>;
    /// Counts the turns of a session that are not shown.
    async fn version_counts(&self, session: &SessionId) -> Result<VersionCounts, StoreError>;
    /// Whether a turn is stored and not shown.
    async fn turn_is_hidden(&self, turn: &TurnId) -> Result<bool, StoreError>;
    /// Returns the oldest `limit` messages of a person that are not shown now, in ascending order.
    async fn questions_hidden(
        &self,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<Item>, StoreError>;
    /// Returns the changes that tools made in turns of a session that are not shown now, in the
    /// order of the calls.
    async fn hidden_actions(&self, session: &SessionId) -> Result<Vec<HiddenAction>, StoreError>;
    /// Returns the newest `limit` items of the turns before a turn on its own path, in ascending
    /// order, whether or not they are shown now. Items of deleted turns are omitted.
    async fn items_seen_by(
        &self,
        session: &SessionId,
        turn: &TurnId,
        limit: u32,
    ) -> Result<Vec<Item>, StoreError>;
}
