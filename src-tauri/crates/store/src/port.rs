//! Implements the traits of `engine::ports::Store` on SQLite, except `Conversations`,
//! `LongTermMemories` and `Books`: maps each method to a table, chooses the writer or a reader, and
//! decides which data must be on disk at once.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{
    Approval, ApprovalId, ApprovalStatus, Grant, GrantId, Item, ItemBody, MessageHit, ResultView,
    SessionId, SessionSummary, ToolId, Transition, TurnId,
};
use engine::ports::{
    Approvals, Grants, Items, MessageFilter, Moved, Notes, Reach, Served, SessionFilter,
    SessionImage, SessionValues, Sessions, SharedSessions, StoreError, TurnRow, Turns,
    ValueChanges, is_shared,
};

use crate::error::DbError;
use crate::open::SqliteStore;
use crate::table::{
    approvals, books, grants, items, memories, messages, session_images, session_values, sessions,
    turns, versions,
};

#[async_trait]
impl Sessions for SqliteStore {
    async fn session_create(
        &self,
        id: &SessionId,
        title: &str,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let (id, title) = (id.clone(), title.to_owned());
        self.write_along(move |conn| sessions::create(conn, &id, &title, at)).await
    }
    async fn session(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError> {
        self.read_on_this_thread(|conn| sessions::get(conn, id))
    }
    async fn sessions(
        &self,
        filter: &SessionFilter,
        offset: u32,
        limit: u32,
    ) -> Result<Vec<SessionSummary>, StoreError> {
        let filter = filter.clone();
        self.read(move |conn| sessions::list(conn, &filter, offset, limit)).await
    }
    async fn session_rename(&self, id: &SessionId, title: &str) -> Result<(), StoreError> {
        let (id, title) = (id.clone(), title.to_owned());
        self.write(move |conn| sessions::rename(conn, &id, &title)).await
    }
    async fn session_open_title(&self, id: &SessionId) -> Result<Option<String>, StoreError> {
        self.read_on_this_thread(|conn| sessions::open_title(conn, id))
    }
    async fn session_suggest_title(
        &self,
        id: &SessionId,
        title: &str,
        stays: bool,
    ) -> Result<(), StoreError> {
        let (id, title) = (id.clone(), title.to_owned());
        self.write_along(move |conn| sessions::suggest_title(conn, &id, &title, stays)).await
    }
    async fn session_retitle(
        &self,
        id: &SessionId,
        from: &str,
        to: &str,
        stays: bool,
    ) -> Result<(), StoreError> {
        let (id, from, to) = (id.clone(), from.to_owned(), to.to_owned());
        self.write(move |conn| sessions::retitle(conn, &id, &from, (&to, stays))).await
    }
    async fn session_mark(
        &self,
        id: &SessionId,
        pinned: Option<bool>,
        archived: Option<bool>,
    ) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |conn| sessions::mark(conn, &id, pinned, archived)).await
    }
    async fn session_hide(&self, id: &SessionId, at: DateTime<Utc>) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |conn| sessions::hide(conn, &id, at)).await
    }
    async fn session_restore(&self, id: &SessionId) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |conn| sessions::restore(conn, &id)).await
    }
    async fn sessions_hidden(&self) -> Result<Vec<SessionId>, StoreError> {
        self.read(sessions::hidden).await
    }
    async fn session_unshare(&self, id: &SessionId) -> Result<(), StoreError> {
        match self.shared_for(id) {
            Some(shared) => shared.remove(id).await,
            None => Ok(()),
        }
    }
    async fn session_delete(&self, id: &SessionId) -> Result<(), StoreError> {
        let id = id.clone();
        let deleted = self.write(move |conn| sessions::delete(conn, &id)).await;
        self.recent.clear();
        deleted
    }
    async fn session_erase(&self, id: &SessionId) -> Result<(), StoreError> {
        let of = id.clone();
        let delete = move |conn: &_| {
            memories::delete_made_from(conn, &of)?;
            books::delete_outcomes(conn)
        };
        self.write(delete).await?;
        match self.session_delete(id).await {
            // An earlier deletion of the session may have left its data in a copy.
            Ok(()) | Err(StoreError::NotFound(_)) => self.renew_copies().await,
            Err(error) => Err(error),
        }
    }
    async fn session_values(&self, id: &SessionId) -> Result<SessionValues, StoreError> {
        self.read_on_this_thread(|conn| session_values::all(conn, id))
    }
    async fn session_values_of(
        &self,
        id: &SessionId,
        names: &[&str],
    ) -> Result<SessionValues, StoreError> {
        self.read_on_this_thread(|conn| session_values::of(conn, id, names))
    }
    async fn sessions_with_value(&self, name: &str) -> Result<Vec<SessionId>, StoreError> {
        let name = name.to_owned();
        self.read(move |conn| session_values::with_value(conn, &name)).await
    }
    async fn session_values_put(
        &self,
        id: &SessionId,
        changes: ValueChanges,
    ) -> Result<(), StoreError> {
        let id = id.clone();
        self.write_along(move |conn| session_values::put(conn, &id, &changes)).await
    }
    async fn import_session_image(
        &self,
        image: &SessionImage,
        untold: &str,
    ) -> Result<Vec<Approval>, StoreError> {
        let (image, untold) = (image.clone(), untold.to_owned());
        self.write(move |conn| session_images::import(conn, &image, &untold)).await
    }
}

#[async_trait]
impl Items for SqliteStore {
    async fn items_append(&self, items: Vec<Item>) -> Result<Vec<Item>, StoreError> {
        // The outcome of an approved call is shown to the user even after the call's turn has
        // ended.
        let signed = items.iter().any(|item| matches!(item.body, ItemBody::Approval { .. }));
        let append = move |conn: &_| items::append(conn, items);
        if signed { self.write(append).await } else { self.write_along(append).await }
    }
    async fn items_before(
        &self,
        session: &SessionId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Item>, StoreError> {
        let session = session.clone();
        self.read(move |conn| items::list_before(conn, &session, before, limit)).await
    }
    async fn newest_shown(
        &self,
        session: &SessionId,
        tool: &ToolId,
        view: &ResultView,
        before: u64,
    ) -> Result<Option<Item>, StoreError> {
        let (session, tool, view) = (session.clone(), tool.clone(), view.clone());
        self.read(move |conn| items::newest_shown(conn, &session, (&tool, &view), before)).await
    }
    async fn messages_with_words(
        &self,
        words: &[String],
        filter: &MessageFilter,
        offset: u32,
        limit: u32,
    ) -> Result<Vec<MessageHit>, StoreError> {
        let (words, filter) = (words.to_vec(), filter.clone());
        self.read(move |conn| messages::with_words(conn, &words, &filter, offset, limit)).await
    }
    async fn items_erase(&self, turn: &TurnId) -> Result<(), StoreError> {
        let turn = turn.clone();
        let erased = self
            .write(move |conn| {
                items::erase(conn, &turn)?;
                versions::withdraw(conn, &turn)
            })
            .await;
        self.recent.clear();
        erased
    }
    async fn items_of_turn(&self, turn: &TurnId) -> Result<Vec<Item>, StoreError> {
        let turn = turn.clone();
        self.read(move |conn| items::of_turn(conn, &turn)).await
    }
    async fn items_trim(&self, name: &str, keep: u32) -> Result<(), StoreError> {
        let name = name.to_owned();
        self.write(move |conn| items::trim(conn, &name, keep)).await
    }
}

#[async_trait]
impl Turns for SqliteStore {
    async fn turn_save(
        &self,
        turn: &TurnRow,
        items: Vec<Item>,
        served: Option<&Served>,
    ) -> Result<Vec<Item>, StoreError> {
        let (turn, served) = (turn.clone(), served.cloned());
        let ends = turn.ended_at.is_some();
        let save = move |conn: &_| {
            turns::put(conn, &turn)?;
            served.iter().try_for_each(|served| books::record_served_turn(conn, served))?;
            items::append(conn, items)
        };
        if ends { self.write(save).await } else { self.write_along(save).await }
    }
    async fn turns_running(&self) -> Result<Vec<TurnRow>, StoreError> {
        self.read(turns::running).await
    }
}

#[async_trait]
impl Approvals for SqliteStore {
    async fn approval_insert(&self, approval: &Approval) -> Result<(), StoreError> {
        let shared = self.shared_for(&approval.session);
        if let Some(shared) = shared {
            shared.approval_put(&approval.id).await?;
        }
        let (approval, shared) = (approval.clone(), shared.is_some());
        self.write(move |conn| {
            // A change of the shown messages may have come first.
            if versions::is_hidden(conn, &approval.turn)? {
                return Err(DbError::Refused("the turn of the action is not shown".into()));
            }
            approvals::insert(conn, &approval, shared)
        })
        .await
    }
    async fn approval(&self, id: &ApprovalId) -> Result<Option<Approval>, StoreError> {
        self.read_on_this_thread(|conn| approvals::get(conn, id))
    }
    async fn approval_reach(&self, approval: &Approval) -> Result<Reach, StoreError> {
        if self.shared_for(&approval.session).is_some() {
            return Ok(Reach::Everywhere);
        }
        Ok(if self.read_on_this_thread(|conn| approvals::is_shared(conn, &approval.id))? {
            Reach::HereAlone
        } else {
            Reach::Here
        })
    }
    async fn approval_move(
        &self,
        id: &ApprovalId,
        transition: Transition,
        reason: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        if self.shared.is_some()
            && let Some(approval) = self.approval(id).await?
            && let Some(shared) = self.shared_for(&approval.session)
        {
            approvals::check(transition).map_err(|error| StoreError::Failed(error.to_string()))?;
            return self.move_shared(shared, id, transition, reason, at).await;
        }
        let (id, reason) = (id.clone(), reason.map(str::to_owned));
        self.write(move |conn| {
            approvals::change_status(conn, &id, transition, reason.as_deref(), at)
        })
        .await
    }
    async fn copy_approval_status(
        &self,
        id: &ApprovalId,
        to: ApprovalStatus,
        reason: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let (id, reason) = (id.clone(), reason.map(str::to_owned));
        self.write(move |conn| {
            approvals::copy_shared_status(conn, &id, to, reason.as_deref(), at).map(drop)
        })
        .await
    }
    async fn approvals_of(
        &self,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<Approval>, StoreError> {
        self.read_on_this_thread(|conn| approvals::of_session(conn, session, limit))
    }
    async fn approvals_open(&self) -> Result<Vec<Approval>, StoreError> {
        self.read(approvals::open).await
    }
    async fn approvals_overdue(&self, now: DateTime<Utc>) -> Result<Vec<Approval>, StoreError> {
        self.read(move |conn| approvals::overdue(conn, now)).await
    }
    async fn approvals(&self, include_decided: bool) -> Result<Vec<Approval>, StoreError> {
        self.read(move |conn| approvals::list(conn, include_decided)).await
    }
}

#[async_trait]
impl Grants for SqliteStore {
    async fn grant_insert(&self, grant: &Grant) -> Result<(), StoreError> {
        let grant = grant.clone();
        self.write(move |conn| grants::insert(conn, &grant)).await
    }
    async fn grants(&self) -> Result<Vec<Grant>, StoreError> {
        self.read_on_this_thread(grants::list)
    }
    async fn record_grant_use(&self, id: &GrantId, at: DateTime<Utc>) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |conn| grants::record_use(conn, &id, at)).await
    }
    async fn grant_revoke(&self, id: &GrantId, at: DateTime<Utc>) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |conn| grants::revoke(conn, &id, at)).await
    }
}

#[async_trait]
impl Notes for SqliteStore {
    async fn note(&self, name: &str) -> Result<Option<String>, StoreError> {
        Self::note(self, name).await
    }
    async fn note_put(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.note_set(name, Some(value)).await
    }
}

impl SqliteStore {
    fn shared_for(&self, session: &SessionId) -> Option<&dyn SharedSessions> {
        self.shared.as_deref().filter(|_| is_shared(session))
    }

    /// Changes an approval in the shared store, which decides, and then in this process's row.
    async fn move_shared(
        &self,
        shared: &dyn SharedSessions,
        id: &ApprovalId,
        transition: Transition,
        reason: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        // The action ran here, because this store won the transition to `executing`. So the outcome
        // is decided here. It is stored even if the shared store cannot be reached or has lost the
        // changes of its last second. The outcome is shared when the session is saved.
        let ran_here = transition.from == ApprovalStatus::Executing;
        let (status, moved) = match shared.approval_move(id, transition).await {
            Ok(Moved::Yes) => (transition.to, true),
            Ok(Moved::No(other)) if !ran_here || other.is_final() => (other, false),
            Ok(Moved::Gone) if !ran_here => (ApprovalStatus::Expired, false),
            Err(error) if !ran_here => return Err(error),
            Ok(Moved::No(_) | Moved::Gone) | Err(_) => (transition.to, true),
        };
        let reason = reason.filter(|_| moved);
        self.copy_approval_status(id, status, reason, at).await?;
        Ok(moved)
    }
}
