//! Sessions that other processes serve, too: making an image of one, taking one over, and ending
//! what was decided or begun elsewhere. Runs no tool and no model.

use std::sync::Arc;

use contract::{AgentError, Approval, ApprovalStatus, Item, ItemBody, SessionId, Transition};

use crate::{
    Engine,
    ports::{SessionImage, SharedSessions, StoreError},
    sessions::QUEUE_KEY,
    texts::Text,
};

/// Items and bytes of them that travel at most. What a model is shown of a conversation is less.
const MOST_ITEMS: u32 = 200;
const MOST_BYTES: usize = 512 * 1024;
/// Approvals that travel: what waits, and what the next message may ask about.
const APPROVALS: u32 = 4;
/// The visitor's address is known anew with each message, and waiting messages belong to who took
/// them.
const STAYS: [&str; 2] = ["clientIp", QUEUE_KEY];

impl Engine {
    /// The session as it is now, to go on with elsewhere. `rev` names this state of it.
    pub async fn session_image(
        &self,
        session: &SessionId,
        rev: String,
    ) -> Result<SessionImage, AgentError> {
        self.image(session, rev).await.map_err(AgentError::from)
    }

    async fn image(&self, session: &SessionId, rev: String) -> Result<SessionImage, StoreError> {
        let store = &self.world.store;
        let summary = store.session(session).await?;
        let (title, created_at) = summary.map_or_else(
            || (String::new(), self.world.clock.now()),
            |summary| (summary.title, summary.created_at),
        );
        let mut values = store.session_values(session).await?;
        values.retain(|name, _| !STAYS.contains(&name.as_str()));
        Ok(SessionImage {
            rev,
            session: session.clone(),
            title,
            created_at,
            items: bounded(store.items_before(session, None, MOST_ITEMS).await?),
            values,
            approvals: store.approvals_of(session, APPROVALS).await?,
            memories: store.memories_of(session).await?,
        })
    }

    /// Puts an image in place of what is kept here of its session.
    pub async fn session_adopt(&self, image: &SessionImage) -> Result<(), AgentError> {
        let _one_at_a_time = self.values.lock(&image.session).await;
        let untold = Text::EndedElsewhere.in_locale(&self.world.profile.locale());
        let ended = self.world.store.session_adopt(image, untold).await?;
        for approval in &ended {
            self.record_resolved(approval, approval.status, approval.reason.as_deref(), "host")
                .await;
        }
        if !ended.is_empty() {
            self.push_approvals().await;
        }
        self.egress.forget(&image.session);
        Ok(())
    }

    /// Ends what waits here and has ended elsewhere, and what a process began and did not end: that
    /// may have happened, and is not done again. To be called by who holds the session's lock.
    pub async fn session_settle(
        self: &Arc<Self>,
        session: &SessionId,
        shared: &dyn SharedSessions,
    ) -> Result<(), AgentError> {
        let open = self.world.store.approvals_of(session, APPROVALS).await?;
        for approval in open.into_iter().filter(|approval| !approval.status.is_final()) {
            let stands = shared.approval_status(&approval.id).await?;
            self.settle_as(&approval, stands).await?;
        }
        Ok(())
    }

    async fn settle_as(
        self: &Arc<Self>,
        approval: &Approval,
        stands: Option<ApprovalStatus>,
    ) -> Result<(), AgentError> {
        let locale = self.world.profile.locale();
        let (status, reason) = match stands {
            Some(ApprovalStatus::Pending) if approval.status == ApprovalStatus::Pending => {
                return Ok(());
            }
            // Approved, and never begun: whoever was to run it is gone.
            Some(ApprovalStatus::Approved | ApprovalStatus::Pending) => {
                (ApprovalStatus::Expired, Text::ApprovalDied)
            }
            Some(ApprovalStatus::Executing | ApprovalStatus::Failed) => {
                (ApprovalStatus::Failed, Text::UnknownOutcome)
            }
            Some(ApprovalStatus::Done) => (ApprovalStatus::Done, Text::DoneElsewhere),
            Some(ApprovalStatus::Rejected) => (ApprovalStatus::Rejected, Text::ApprovalRejected),
            Some(ApprovalStatus::Cancelled | ApprovalStatus::Superseded) => {
                (ApprovalStatus::Cancelled, Text::ApprovalCancelled)
            }
            Some(ApprovalStatus::Expired) | None => {
                (ApprovalStatus::Expired, Text::ApprovalExpired)
            }
        };
        let reason = reason.in_locale(&locale);
        let now = self.world.clock.now();
        if let Some(from) = stands.filter(|stands| !stands.is_final()) {
            let moved = self
                .world
                .store
                .approval_move(&approval.id, Transition { from, to: status }, Some(reason), now)
                .await?;
            if !moved {
                // It goes on elsewhere after all; the next message sees what came of it.
                return Ok(());
            }
        } else {
            self.world.store.approval_follow(&approval.id, status, Some(reason), now).await?;
        }
        self.record_resolved(approval, status, Some(reason), "host").await;
        if status == ApprovalStatus::Failed {
            self.end_unknown(approval).await?;
        } else {
            self.end_unwaited_call(approval, status, Some(reason.to_owned())).await;
        }
        self.push_approvals().await;
        Ok(())
    }

    /// The newest action that was proposed in a session, however it ended.
    pub async fn newest_in(&self, session: &SessionId) -> Result<Option<Approval>, AgentError> {
        let newest = self.world.store.approvals_of(session, 1).await?;
        Ok(newest.into_iter().next())
    }

    /// The result of an action's call, as its conversation has it.
    pub async fn result_of(&self, approval: &Approval) -> Result<Option<ItemBody>, AgentError> {
        let items = self.world.store.items_of_turn(&approval.turn).await?;
        let is_its = |body: &ItemBody| matches!(body, ItemBody::ToolResult { call, .. } if *call == approval.call);
        Ok(items.into_iter().map(|item| item.body).rev().find(is_its))
    }

    /// Takes the oldest items of sessions that have a value of this name and more items than
    /// `keep`.
    pub async fn items_trim(&self, name: &str, keep: u32) -> Result<(), AgentError> {
        self.world.store.items_trim(name, keep).await.map_err(AgentError::from)
    }
}

/// The newest whole turns that fit; the newest one whatever its size.
fn bounded(items: Vec<Item>) -> Vec<Item> {
    let mut start = items.len();
    let mut bytes = 0;
    for (index, item) in items.iter().enumerate().rev() {
        bytes += serde_json::to_string(&item.body).map_or(0, |text| text.len());
        if bytes > MOST_BYTES && start < items.len() {
            break;
        }
        if matches!(item.body, ItemBody::UserMessage { .. }) {
            start = index;
        }
    }
    // A single turn that is longer than all that is taken: its newest part.
    let start = if start == items.len() { 0 } else { start };
    items.into_iter().skip(start).collect()
}
