//! The port for the database: one trait per group of tables, and `Store`, which joins them.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{
    Approval, ApprovalId, ApprovalStatus, Grant, GrantId, Item, MemoryId, MessageHit, ResultView,
    SessionId, SessionSummary, ToolId, Transition, TurnId,
};

use crate::ports::{
    books::{Books, Served},
    conversations::Conversations,
    destinations::Destinations,
    long_term::LongTermMemories,
    rows::{SessionValues, StoreError, TurnRow, ValueChanges},
    shared::{Reach, SessionImage},
    versions::Versions,
};

/// All groups of tables. Every async method has committed to disk when it returns.
pub trait Store:
    Sessions
    + Items
    + Turns
    + Approvals
    + Grants
    + Destinations
    + Notes
    + Recordings
    + Conversations
    + LongTermMemories
    + Books
    + Versions
{
}

impl<T> Store for T where
    T: Sessions
        + Items
        + Turns
        + Approvals
        + Grants
        + Destinations
        + Notes
        + Recordings
        + Conversations
        + LongTermMemories
        + Books
        + Versions
{
}

/// Sessions and the values stored with each of them.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Creates a session without items.
    async fn session_create(
        &self,
        id: &SessionId,
        title: &str,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError>;
    /// Returns a session, or None if it does not exist or is hidden.
    async fn session(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError>;
    /// Returns the sessions that fit the filter: pinned ones first, then newest first. The engine
    /// fills `running` and `waiting_approvals`.
    async fn sessions(
        &self,
        filter: &SessionFilter,
        offset: u32,
        limit: u32,
    ) -> Result<Vec<SessionSummary>, StoreError>;
    /// Replaces the title of a session by one that a person gave. No message replaces it.
    async fn session_rename(&self, id: &SessionId, title: &str) -> Result<(), StoreError>;
    /// Returns the title of a session if a later message may replace it.
    async fn session_open_title(&self, id: &SessionId) -> Result<Option<String>, StoreError>;
    /// Replaces the title by that of a message, unless the title stays. If `stays`, no later
    /// message replaces the new title.
    async fn session_suggest_title(
        &self,
        id: &SessionId,
        title: &str,
        stays: bool,
    ) -> Result<(), StoreError>;
    /// Replaces the title `from` by that of a message, unless a person has replaced it meanwhile. If
    /// `stays`, no later message replaces the new title.
    async fn session_retitle(
        &self,
        id: &SessionId,
        from: &str,
        to: &str,
        stays: bool,
    ) -> Result<(), StoreError>;
    /// Pins or archives a session, or takes a mark back. None leaves a mark as it is.
    async fn session_mark(
        &self,
        id: &SessionId,
        pinned: Option<bool>,
        archived: Option<bool>,
    ) -> Result<(), StoreError>;
    /// Hides a session whose data will be deleted. Until then, `session_restore` shows it again.
    async fn session_hide(&self, id: &SessionId, at: DateTime<Utc>) -> Result<(), StoreError>;
    /// Shows a hidden session again, with all its data.
    async fn session_restore(&self, id: &SessionId) -> Result<(), StoreError>;
    /// Returns the hidden sessions.
    async fn sessions_hidden(&self) -> Result<Vec<SessionId>, StoreError>;
    /// Deletes the copy of a session that other processes share. Does nothing for a session of this
    /// process alone.
    async fn session_unshare(&self, id: &SessionId) -> Result<(), StoreError>;
    /// Deletes a session with all its data.
    async fn session_delete(&self, id: &SessionId) -> Result<(), StoreError>;
    /// Deletes a session like `session_delete`. Afterwards, no file of the store and no copy of
    /// such a file contains data of the session. The session may have been deleted before.
    async fn session_erase(&self, id: &SessionId) -> Result<(), StoreError>;
    /// Returns all named values of a session.
    async fn session_values(&self, id: &SessionId) -> Result<SessionValues, StoreError>;
    /// Returns the existing values with these names.
    async fn session_values_of(
        &self,
        id: &SessionId,
        names: &[&str],
    ) -> Result<SessionValues, StoreError>;
    /// Returns the sessions that have a value with this name.
    async fn sessions_with_value(&self, name: &str) -> Result<Vec<SessionId>, StoreError>;
    /// Changes these values and keeps the others.
    async fn session_values_put(
        &self,
        id: &SessionId,
        changes: ValueChanges,
    ) -> Result<(), StoreError>;
    /// Replaces the local data of a session by an image. Returns the approvals that were open here
    /// and have ended because of the import. An approval that is not in the image expires with the
    /// reason `untold`.
    async fn import_session_image(
        &self,
        image: &SessionImage,
        untold: &str,
    ) -> Result<Vec<Approval>, StoreError>;
}

/// Selects sessions of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// A part of the title, in any case. Empty selects all.
    pub query: String,
    /// Selects the archived sessions instead of the others.
    pub archived: bool,
}

/// Narrows a search for messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// Selects messages of this session. Absent selects those of all sessions.
    pub session: Option<SessionId>,
    /// Selects messages at or after this time.
    pub since: Option<DateTime<Utc>>,
    /// Selects messages before this time.
    pub until: Option<DateTime<Utc>>,
    /// Selects messages of turns that this specialist answered. Empty selects all.
    pub agent: String,
    /// Selects messages of turns that called this tool. Empty selects all.
    pub tool: String,
}

/// The items of sessions.
#[async_trait]
pub trait Items: Send + Sync {
    /// Stores items in one transaction, gives each a `seq`, and updates the time of the session's
    /// last change. Returns the items with their `seq`.
    async fn items_append(&self, items: Vec<Item>) -> Result<Vec<Item>, StoreError>;
    /// Returns the newest `limit` shown items with `seq < before` in ascending order. Without
    /// `before`, there is no bound.
    async fn items_before(
        &self,
        session: &SessionId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Item>, StoreError>;
    /// Returns the newest successful result with `seq < before` for the place of this tool and view
    /// beside the conversation (`ResultView::shares_place`). In a very long session, old items are
    /// not searched.
    async fn newest_shown(
        &self,
        session: &SessionId,
        tool: &ToolId,
        view: &ResultView,
        before: u64,
    ) -> Result<Option<Item>, StoreError>;
    /// Returns the messages that contain all of these words, best first. The words are plain text
    /// and not a query language. The last word may be the beginning of a word.
    async fn messages_with_words(
        &self,
        words: &[String],
        filter: &MessageFilter,
        offset: u32,
        limit: u32,
    ) -> Result<Vec<MessageHit>, StoreError>;
    /// Deletes the items of a turn.
    async fn items_erase(&self, turn: &TurnId) -> Result<(), StoreError>;
    /// Returns the items of a turn in ascending order, also if the turn is not shown.
    async fn items_of_turn(&self, turn: &TurnId) -> Result<Vec<Item>, StoreError>;
    /// Deletes the oldest items of each session that has a value named `name` and more than `keep`
    /// items.
    async fn items_trim(&self, name: &str, keep: u32) -> Result<(), StoreError>;
}

/// The stored turns.
#[async_trait]
pub trait Turns: Send + Sync {
    /// Stores a turn with its new items and, at its end, its service data, in one transaction.
    /// Returns the items with their `seq`.
    async fn turn_save(
        &self,
        turn: &TurnRow,
        items: Vec<Item>,
        served: Option<&Served>,
    ) -> Result<Vec<Item>, StoreError>;
    /// Returns the turns with the status `running`, for the clean-up at the start.
    async fn turns_running(&self) -> Result<Vec<TurnRow>, StoreError>;
}

/// Pending actions and their decisions.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Stores a new pending action. Fails if its turn is not shown.
    async fn approval_insert(&self, approval: &Approval) -> Result<(), StoreError>;
    /// Returns an action, or None if it does not exist.
    async fn approval(&self, id: &ApprovalId) -> Result<Option<Approval>, StoreError>;
    /// Returns which processes learn of a decision made in this process.
    async fn approval_reach(&self, approval: &Approval) -> Result<Reach, StoreError>;
    /// Changes the status by compare-and-set. Returns false if the row does not have the status
    /// from which the transition starts. Fails if the transition is not allowed.
    async fn approval_move(
        &self,
        id: &ApprovalId,
        transition: Transition,
        reason: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;
    /// Copies the shared store's status of an approval. An approval that has ended here does not
    /// change.
    async fn copy_approval_status(
        &self,
        id: &ApprovalId,
        to: ApprovalStatus,
        reason: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError>;
    /// Returns the actions of a session, newest first.
    async fn approvals_of(
        &self,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<Approval>, StoreError>;
    /// Returns all approvals that have not ended.
    async fn approvals_open(&self) -> Result<Vec<Approval>, StoreError>;
    /// Returns the pending actions that have expired.
    async fn approvals_overdue(&self, now: DateTime<Utc>) -> Result<Vec<Approval>, StoreError>;
    /// Returns the approvals for a list: undecided approvals first, then newest first, up to a
    /// limit.
    async fn approvals(&self, include_decided: bool) -> Result<Vec<Approval>, StoreError>;
}

/// Permissions for the rest of a session.
#[async_trait]
pub trait Grants: Send + Sync {
    /// Stores a new permission.
    async fn grant_insert(&self, grant: &Grant) -> Result<(), StoreError>;
    /// Returns all permissions, including expired and revoked ones.
    async fn grants(&self) -> Result<Vec<Grant>, StoreError>;
    /// Stores the time at which a permission was last used.
    async fn record_grant_use(&self, id: &GrantId, at: DateTime<Utc>) -> Result<(), StoreError>;
    /// Stores the time at which a permission was revoked.
    async fn grant_revoke(&self, id: &GrantId, at: DateTime<Utc>) -> Result<(), StoreError>;
}

/// Small values that the engine stores by name.
#[async_trait]
pub trait Notes: Send + Sync {
    /// Returns the value with this name.
    async fn note(&self, name: &str) -> Result<Option<String>, StoreError>;
    /// Stores a value under a name, replacing an earlier value.
    async fn note_put(&self, name: &str, value: &str) -> Result<(), StoreError>;
}

/// A long-term memory whose text is contained in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldMemory {
    /// The identifier of the memory.
    pub id: MemoryId,
    /// The text at the time when the turn read the memory.
    pub text: String,
}

/// The stored form of a turn's recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecording {
    /// The session of the turn.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// The recording as JSON.
    pub body: String,
    /// The memories whose texts are in the recording.
    pub memories: Vec<HeldMemory>,
}

/// Recordings of turns, for replays. A recording is deleted when a memory that it contains is
/// deleted or edited.
#[async_trait]
pub trait Recordings: Send + Sync {
    /// Stores the recording of a turn, and deletes the oldest recordings beyond `most`. Does
    /// nothing if a memory in the recording was deleted or edited after the turn read it.
    async fn recording_put(&self, recording: StoredRecording, most: u32) -> Result<(), StoreError>;
    /// Deletes all recordings except the newest `most`.
    async fn recordings_prune(&self, most: u32) -> Result<(), StoreError>;
    /// Returns the recording of a turn, if it is still stored.
    async fn recording(&self, turn: &TurnId) -> Result<Option<String>, StoreError>;
}
