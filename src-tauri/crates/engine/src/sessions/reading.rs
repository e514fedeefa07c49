//! The service of sessions. This file lists, opens and pages sessions; `deletion`, `search`,
//! `shared` and `versions` contain the other operations.

use std::{collections::HashSet, sync::Arc};

use contract::{
    AgentError, Item, ItemsPageParams, ItemsPageResponse, Reason, SessionId, SessionMarkParams,
    SessionView, SessionsListParams, SessionsListResponse, TurnId,
};

use crate::{
    approvals::actions::Approvals,
    conversation::services::ConversationServices,
    long_term::memories::Memories,
    ports::SessionFilter,
    sessions::{closed::Undoable, pins::Pins},
    turn::services::TurnServices,
};

const PAGE: u32 = 60;

/// The stored sessions.
pub struct Sessions {
    pub(super) shared: Arc<TurnServices>,
    pub(super) approvals: Arc<Approvals>,
    pub(super) conversation: Arc<ConversationServices>,
    pub(super) memories: Arc<Memories>,
    /// The hidden sessions, whose deletion can be undone.
    pub(super) undoable: Undoable,
}

impl Sessions {
    pub(crate) fn new(
        shared: &Arc<TurnServices>,
        approvals: &Arc<Approvals>,
        conversation: &Arc<ConversationServices>,
        memories: &Arc<Memories>,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            approvals: Arc::clone(approvals),
            conversation: Arc::clone(conversation),
            memories: Arc::clone(memories),
            undoable: Undoable::default(),
        }
    }

    /// Returns a page of sessions: pinned ones first, then newest first.
    pub async fn list(
        &self,
        params: &SessionsListParams,
    ) -> Result<SessionsListResponse, AgentError> {
        let limit = if params.limit == 0 { 50 } else { params.limit.min(200) };
        let filter =
            SessionFilter { query: params.query.trim().to_owned(), archived: params.archived };
        let mut sessions =
            self.shared.world.store.sessions(&filter, params.offset, limit + 1).await?;
        let has_more = sessions.len() > limit as usize;
        sessions.truncate(limit as usize);
        self.shared.summaries.fill(&mut sessions).await?;
        Ok(SessionsListResponse { sessions, has_more })
    }

    /// Returns a session with its newest items.
    pub async fn open(&self, id: &SessionId) -> Result<SessionView, AgentError> {
        let summary = self.shared.summaries.of(id).await?.ok_or_else(|| {
            AgentError::invalid("This session does not exist.").reason(Reason::NotFound)
        })?;
        let mut page = self
            .items_page(&ItemsPageParams { session: id.clone(), before: u64::MAX, limit: PAGE })
            .await?;
        let approvals = self.shared.world.store.approvals(false).await?;
        let pins = Pins::of(&self.shared.world.tools.specs());
        pins.complete(&mut page.items);
        let pinned = pins.find_older(self.shared.world.store.as_ref(), id, &page).await?;
        Ok(SessionView {
            summary,
            items: page.items,
            has_more: page.has_more,
            versions: page.versions,
            running_turn: self.shared.lanes.running(id),
            queue: self.shared.lanes.queue(id),
            approvals: approvals.into_iter().filter(|approval| approval.session == *id).collect(),
            pinned,
            memory_off: self.memories.switch.is_off(id).await?,
        })
    }

    /// Returns older items of a session in ascending order.
    pub async fn items_page(
        &self,
        params: &ItemsPageParams,
    ) -> Result<ItemsPageResponse, AgentError> {
        let limit = if params.limit == 0 { PAGE } else { params.limit.min(500) };
        let before = (params.before < u64::MAX).then_some(params.before);
        let mut items =
            self.shared.world.store.items_before(&params.session, before, limit + 1).await?;
        let has_more = items.len() > limit as usize;
        if has_more {
            items.remove(0);
        }
        items.iter_mut().for_each(|item| item.body.forget_kept());
        let turns = turns_of(&items);
        let versions = self.shared.world.store.versions_of(&params.session, &turns).await?;
        Ok(ItemsPageResponse { items, has_more, versions })
    }

    /// Renames a session.
    pub async fn rename(&self, id: &SessionId, title: &str) -> Result<(), AgentError> {
        let title = title.trim();
        if title.is_empty() || title.chars().count() > 200 {
            return Err(AgentError::invalid("A title has 1 to 200 characters."));
        }
        self.shared.secrets.reload().await;
        let title = self.shared.secrets.matcher().redact_secrets(title).into_owned();
        self.shared.world.store.session_rename(id, &title).await?;
        self.shared.summaries.push(id).await;
        Ok(())
    }

    /// Pins or archives a session, or takes a mark back.
    pub async fn mark(&self, params: &SessionMarkParams) -> Result<(), AgentError> {
        let store = &self.shared.world.store;
        store.session_mark(&params.session, params.pinned, params.archived).await?;
        self.shared.summaries.push(&params.session).await;
        Ok(())
    }
}

/// Returns the turns of items, each once.
fn turns_of(items: &[Item]) -> Vec<TurnId> {
    let mut seen = HashSet::new();
    let first_of_turn = items.iter().filter(|item| seen.insert(&item.turn));
    first_of_turn.map(|item| item.turn.clone()).collect()
}
