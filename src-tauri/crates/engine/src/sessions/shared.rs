//! Supports sessions that several processes serve: creates an image of a session, adopts an image,
//! and ends approvals that another process decided or began.

use contract::{AgentError, Approval, ApprovalStatus, Item, ItemBody, SessionId, Transition};

use crate::{
    ports::{SessionImage, SharedSessions, StoreError},
    sessions::reading::Sessions,
    texts::Text,
    turn::lanes::QUEUE_KEY,
};

/// The most items in an image. Their bytes are limited as well. A model sees fewer items.
const MOST_ITEMS: u32 = 200;
const MOST_BYTES: usize = 512 * 1024;
/// The number of newest approvals in an image: the pending approval, and approvals to which the
/// next message may refer.
const APPROVALS: u32 = 4;
/// Session values that are not part of an image: the visitor's address is sent with each message,
/// and waiting messages belong to the process that accepted them.
const STAYS: [&str; 2] = ["clientIp", QUEUE_KEY];

impl Sessions {
    /// Returns an image of the session, with which another process can continue it. `rev` becomes
    /// the image's revision.
    pub async fn image(
        &self,
        session: &SessionId,
        rev: String,
    ) -> Result<SessionImage, AgentError> {
        self.build_image(session, rev).await.map_err(AgentError::from)
    }

    async fn build_image(
        &self,
        session: &SessionId,
        rev: String,
    ) -> Result<SessionImage, StoreError> {
        let store = &self.shared.world.store;
        let summary = store.session(session).await?;
        let (title, created_at) = summary.map_or_else(
            || (String::new(), self.shared.world.clock.now()),
            |summary| (summary.title, summary.created_at),
        );
        let mut values = store.session_values(session).await?;
        values.retain(|name, _| !STAYS.contains(&name.as_str()));
        Ok(SessionImage {
            rev,
            session: session.clone(),
            title,
            created_at,
            items: newest_turns_that_fit(store.items_before(session, None, MOST_ITEMS).await?),
            values,
            approvals: store.approvals_of(session, APPROVALS).await?,
            memories: store.memories_of(session).await?,
        })
    }

    /// Replaces the local data of a session by an image.
    pub async fn import_image(&self, image: &SessionImage) -> Result<(), AgentError> {
        // Without this lock, a concurrent change of the session's values could mix with the image's
        // values.
        let _one_at_a_time = self.shared.values.lock(&image.session).await;
        let untold = Text::EndedElsewhere.in_locale(&self.shared.world.profile.locale());
        let ended = self.shared.world.store.import_session_image(image, untold).await?;
        for approval in &ended {
            self.approvals
                .services
                .transitions
                .record_resolved(approval, approval.status, approval.reason.as_deref(), "host")
                .await;
        }
        if !ended.is_empty() {
            self.approvals.services.transitions.push_waiting().await;
        }
        // The placeholder numbers in the image may differ from the table in memory.
        self.conversation.egress.forget(&image.session);
        Ok(())
    }

    /// Ends local approvals that another process has ended, and effects that a process began but
    /// did not finish. Such an effect may have happened, so it is not repeated. The caller must
    /// hold the session's lock.
    pub async fn reconcile(
        &self,
        session: &SessionId,
        shared: &dyn SharedSessions,
    ) -> Result<(), AgentError> {
        let open = self.shared.world.store.approvals_of(session, APPROVALS).await?;
        for approval in open.into_iter().filter(|approval| !approval.status.is_final()) {
            let stands = shared.approval_status(&approval.id).await?;
            self.reconcile_approval(&approval, stands).await?;
        }
        Ok(())
    }

    async fn reconcile_approval(
        &self,
        approval: &Approval,
        stands: Option<ApprovalStatus>,
    ) -> Result<(), AgentError> {
        let locale = self.shared.world.profile.locale();
        let (status, reason) = match stands {
            Some(ApprovalStatus::Pending) if approval.status == ApprovalStatus::Pending => {
                return Ok(());
            }
            // The action was approved but never began, because the process that should have run it
            // has ended.
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
        let now = self.shared.world.clock.now();
        if let Some(from) = stands.filter(|stands| !stands.is_final()) {
            let moved = self
                .shared
                .world
                .store
                .approval_move(&approval.id, Transition { from, to: status }, Some(reason), now)
                .await?;
            if !moved {
                // Another process has changed the approval's status. The next message sees the
                // result.
                return Ok(());
            }
        } else {
            self.shared
                .world
                .store
                .copy_approval_status(&approval.id, status, Some(reason), now)
                .await?;
        }
        self.approvals
            .services
            .transitions
            .record_resolved(approval, status, Some(reason), "host")
            .await;
        if status == ApprovalStatus::Failed {
            self.approvals.end_unknown_call(approval).await?;
        } else {
            self.approvals.end_unwaited_call(approval, status, Some(reason.to_owned())).await;
        }
        self.approvals.services.transitions.push_waiting().await;
        Ok(())
    }

    /// Deletes the oldest items of each session that has a value named `name` and more than `keep`
    /// items.
    pub async fn trim_items(&self, name: &str, keep: u32) -> Result<(), AgentError> {
        self.shared.world.store.items_trim(name, keep).await.map_err(AgentError::from)
    }
}

/// Returns the newest complete turns that fit into the image of a session. The newest turn is
/// included even if it is too large.
fn newest_turns_that_fit(items: Vec<Item>) -> Vec<Item> {
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
    // Of a single turn that is larger than the limit, the newest part is included.
    let start = if start == items.len() { 0 } else { start };
    items.into_iter().skip(start).collect()
}
