//! Where the engine keeps what must outlive a turn: one trait per group of tables, and `Store`,
//! which is all of them.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{
    Approval, ApprovalId, ApprovalStatus, Grant, GrantId, Item, ResultView, SessionId,
    SessionSummary, Transition, TurnId,
};

use crate::ports::{
    books::{Books, Served},
    conversations::Conversations,
    rows::{SessionValues, StoreError, TurnRow, ValueChanges},
    shared::{Reach, SessionImage},
};

/// All tables. Every method that is waited for has committed when it returns; what somebody acts on
/// is then on disk, too.
pub trait Store:
    Sessions + Items + Turns + Approvals + Grants + Notes + Conversations + Books
{
}

impl<T: Sessions + Items + Turns + Approvals + Grants + Notes + Conversations + Books> Store for T {}

/// Sessions and what is kept beside each of them.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Creates a session without items.
    async fn session_create(
        &self,
        id: &SessionId,
        title: &str,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError>;
    /// Returns a session, or None if it does not exist.
    async fn session(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError>;
    /// Newest first; titles that contain `query`. `running` and `waiting_approvals` are filled by
    /// the engine.
    async fn sessions(
        &self,
        query: &str,
        offset: u32,
        limit: u32,
    ) -> Result<Vec<SessionSummary>, StoreError>;
    /// Replaces the title of a session.
    async fn session_rename(&self, id: &SessionId, title: &str) -> Result<(), StoreError>;
    /// Deletes a session with all that belongs to it.
    async fn session_delete(&self, id: &SessionId) -> Result<(), StoreError>;
    /// Returns all named values of a session.
    async fn session_values(&self, id: &SessionId) -> Result<SessionValues, StoreError>;
    /// Returns the existing values with these names.
    async fn session_values_of(
        &self,
        id: &SessionId,
        names: &[&str],
    ) -> Result<SessionValues, StoreError>;
    /// Sessions that have a value of this name.
    async fn sessions_with_value(&self, name: &str) -> Result<Vec<SessionId>, StoreError>;
    /// Changes these and leaves the others.
    async fn session_values_put(
        &self,
        id: &SessionId,
        changes: ValueChanges,
    ) -> Result<(), StoreError>;
    /// Puts what travelled in place of what is kept here of the session. Gives the actions that
    /// were open here and have ended by that: as they came, or expired with the reason `untold`
    /// when they did not come along.
    async fn session_adopt(
        &self,
        image: &SessionImage,
        untold: &str,
    ) -> Result<Vec<Approval>, StoreError>;
}

/// The items of sessions.
#[async_trait]
pub trait Items: Send + Sync {
    /// Stores items in one transaction, gives them their `seq`, touches the session. The items come
    /// back numbered.
    async fn items_append(&self, items: Vec<Item>) -> Result<Vec<Item>, StoreError>;
    /// Items with `seq < before` (all when `None`), the newest `limit` of them, ascending.
    async fn items_before(
        &self,
        session: &SessionId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Item>, StoreError>;
    /// The newest result with `seq < before` that went well and is shown in this way. Not all of a
    /// very long session is looked through.
    async fn newest_shown(
        &self,
        session: &SessionId,
        view: ResultView,
        before: u64,
    ) -> Result<Option<Item>, StoreError>;
    /// Takes the items of a turn away.
    async fn items_erase(&self, turn: &TurnId) -> Result<(), StoreError>;
    /// Items of one turn, ascending.
    async fn items_of_turn(&self, turn: &TurnId) -> Result<Vec<Item>, StoreError>;
    /// Takes the oldest items of sessions that have a value of this name and more items than
    /// `keep`.
    async fn items_trim(&self, name: &str, keep: u32) -> Result<(), StoreError>;
}

/// Turns as they stand.
#[async_trait]
pub trait Turns: Send + Sync {
    /// A turn as it stands, with what is new in it and (at its end) how it was served, in one
    /// transaction. The items come back numbered.
    async fn turn_save(
        &self,
        turn: &TurnRow,
        items: Vec<Item>,
        served: Option<&Served>,
    ) -> Result<Vec<Item>, StoreError>;
    /// Turns whose status is `running`, for the clean-up at start.
    async fn turns_running(&self) -> Result<Vec<TurnRow>, StoreError>;
}

/// Pending actions and their decisions.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Stores a new pending action.
    async fn approval_insert(&self, approval: &Approval) -> Result<(), StoreError>;
    /// Returns an action, or None if it does not exist.
    async fn approval(&self, id: &ApprovalId) -> Result<Option<Approval>, StoreError>;
    /// Returns which processes learn of a decision that is made in this process.
    async fn approval_reach(&self, approval: &Approval) -> Result<Reach, StoreError>;
    /// Compare-and-set of the status. Returns false if the row is not (or no longer) where the
    /// transition begins. A transition that the table of statuses does not have is an error.
    async fn approval_move(
        &self,
        id: &ApprovalId,
        transition: Transition,
        reason: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError>;
    /// Takes over how an approval stands where it is shared. One that has ended here stays as it
    /// is.
    async fn approval_follow(
        &self,
        id: &ApprovalId,
        to: ApprovalStatus,
        reason: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError>;
    /// Returns the actions of one session, newest first.
    async fn approvals_of(
        &self,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<Approval>, StoreError>;
    /// All that have not ended.
    async fn approvals_open(&self) -> Result<Vec<Approval>, StoreError>;
    /// Returns the pending actions that have expired.
    async fn approvals_overdue(&self, now: DateTime<Utc>) -> Result<Vec<Approval>, StoreError>;
    /// Undecided first, then newest first; not more than a list shows.
    async fn approvals(&self, include_decided: bool) -> Result<Vec<Approval>, StoreError>;
}

/// Permissions for the rest of a session.
#[async_trait]
pub trait Grants: Send + Sync {
    /// Stores a new permission.
    async fn grant_insert(&self, grant: &Grant) -> Result<(), StoreError>;
    /// Returns all permissions, ended and revoked ones included.
    async fn grants(&self) -> Result<Vec<Grant>, StoreError>;
    /// Notes the moment at which a permission was last used.
    async fn grant_used(&self, id: &GrantId, at: DateTime<Utc>) -> Result<(), StoreError>;
    /// Notes the moment at which a permission was revoked.
    async fn grant_revoke(&self, id: &GrantId, at: DateTime<Utc>) -> Result<(), StoreError>;
}

/// Small values that the engine remembers by name.
#[async_trait]
pub trait Notes: Send + Sync {
    /// A small value that the engine remembers by name.
    async fn note(&self, name: &str) -> Result<Option<String>, StoreError>;
    /// Stores such a value in place of an earlier one.
    async fn note_put(&self, name: &str, value: &str) -> Result<(), StoreError>;
}
