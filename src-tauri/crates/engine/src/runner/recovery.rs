//! Cleans up after a crash when the program starts: every open call gets a result, every pending
//! action expires, and no call runs again.

use std::{collections::HashSet, sync::Arc};

use contract::{
    AgentError, Approval, ApprovalStatus, CallId, Effect, Item, ItemBody, ItemId, NoticeLevel,
    QueuedMessage, RecordType, ResultView, SessionId, ToolId, ToolOutcome, Transition, TurnId,
};
use serde_json::Value;

use crate::{
    approvals::actions::Approvals,
    conversation::services::ConversationServices,
    ports::{Durability, RecordDraft, StoreError, TurnRow, approvals_of_turn},
    texts::Text,
    turn::{
        lanes::QUEUE_KEY,
        partial::{forget_partial, partial_of},
        refusals::millis_between,
        services::TurnServices,
    },
};

/// The result of a recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The number of turns that had not ended.
    pub turns: u32,
    /// The number of pending actions that expired.
    pub expired: u32,
    /// The number of effects whose outcome is unknown.
    pub unknown: u32,
}

/// Cleans up when the program starts.
pub(crate) struct Recovery {
    shared: Arc<TurnServices>,
    approvals: Arc<Approvals>,
    conversation: Arc<ConversationServices>,
}

impl Recovery {
    pub(crate) fn new(
        shared: &Arc<TurnServices>,
        approvals: &Arc<Approvals>,
        conversation: &Arc<ConversationServices>,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            approvals: Arc::clone(approvals),
            conversation: Arc::clone(conversation),
        }
    }

    /// Ends the turns and actions that the last process left open. Must be called once, before the
    /// first turn.
    pub(crate) async fn run(&self) -> Result<Recovered, AgentError> {
        let mut out = Recovered::default();
        let store = &self.shared.world.store;
        let open = store.approvals_open().await?;
        for row in store.turns_running().await? {
            self.end_turn(&row, &open, &mut out).await?;
            out.turns += 1;
        }
        self.shared.models.refusals.read().await?;
        store.mark_runs_interrupted().await?;
        self.keep_lost_queues().await?;
        self.end_approved_actions(&mut out).await?;
        out.expired += self.approvals.expire_overdue().await?;
        self.conversation.passing.sweep(None).await;
        Ok(out)
    }

    async fn end_turn(
        &self,
        row: &TurnRow,
        open: &[Approval],
        out: &mut Recovered,
    ) -> Result<(), StoreError> {
        let store = &self.shared.world.store;
        let locale = self.shared.world.profile.locale();
        let items = store.items_of_turn(&row.turn).await?;
        let mut fresh = Vec::new();
        let answered: HashSet<&CallId> = items
            .iter()
            .filter_map(|item| {
                if let ItemBody::ToolResult { call, .. } = &item.body { Some(call) } else { None }
            })
            .collect();
        for item in &items {
            let ItemBody::ToolCall { call, tool, effect, .. } = &item.body else { continue };
            if !answered.contains(call) {
                let of_call = || approvals_of_turn(open, &row.turn).filter(|a| a.call == *call);
                // An executing action takes precedence over an action proposed again.
                let approval = of_call()
                    .find(|a| a.status == ApprovalStatus::Executing)
                    .or_else(|| of_call().last());
                let outcome = self.outcome_of_open_call(approval, *effect, out).await?;
                fresh.push(self.recovered_item(
                    &row.session,
                    &row.turn,
                    lost_result(call, tool, outcome, &locale),
                ));
            }
        }
        for approval in
            approvals_of_turn(open, &row.turn).filter(|a| a.status != ApprovalStatus::Executing)
        {
            let why = Text::ApprovalDied.in_locale(&locale);
            let died = Transition { from: approval.status, to: ApprovalStatus::Expired };
            if self.transition(approval, died, Some(why)).await {
                out.expired += 1;
            }
        }
        if let Some(body) = self.lost_text(row, &items).await? {
            fresh.push(self.recovered_item(&row.session, &row.turn, body));
        }
        let text = Text::Interrupted.in_locale(&locale).into();
        fresh.push(self.recovered_item(
            &row.session,
            &row.turn,
            ItemBody::Notice { level: NoticeLevel::Warning, code: "turn_interrupted".into(), text },
        ));
        let ended = TurnRow {
            status: "interrupted".into(),
            ended_at: Some(self.shared.world.clock.now()),
            ..row.clone()
        };
        store.turn_save(&ended, fresh, None).await?;
        // Deleted only after the turn is saved, because a crash in between would lose the text.
        forget_partial(store.as_ref(), &row.session).await?;
        let draft = RecordDraft::new(RecordType::RunEnded)
            .of(&row.session, &row.turn)
            .field("status", "interrupted")
            .field("level", "error")
            .field("agent", "")
            .field("duration_ms", millis_between(row.started_at, self.shared.world.clock.now()));
        if let Err(error) = self.shared.world.audit.append(draft, Durability::Durable).await {
            tracing::warn!(%error, "the end of an interrupted turn could not be recorded");
        }
        Ok(())
    }

    /// Returns the text that was shown when the process ended, unless an item contains it.
    async fn lost_text(
        &self,
        row: &TurnRow,
        items: &[Item],
    ) -> Result<Option<ItemBody>, StoreError> {
        let body = partial_of(self.shared.world.store.as_ref(), &row.session, &row.turn).await?;
        let Some(ItemBody::AssistantText { text: said, .. }) = &body else { return Ok(None) };
        let is_stored = items.iter().any(|item| {
            matches!(&item.body, ItemBody::AssistantText { text, .. } if text.starts_with(said))
        });
        Ok(body.filter(|_| !is_stored))
    }

    async fn outcome_of_open_call(
        &self,
        approval: Option<&Approval>,
        effect: Effect,
        out: &mut Recovered,
    ) -> Result<ToolOutcome, StoreError> {
        match approval {
            Some(approval) if approval.status == ApprovalStatus::Executing => {
                self.transition(approval, Transition::FAIL, Some("outcome unknown")).await;
                out.unknown += 1;
                Ok(ToolOutcome::Unknown)
            }
            Some(_) => Ok(ToolOutcome::Expired),
            None if effect == Effect::ReadOnly => Ok(ToolOutcome::Cancelled),
            // Without an open approval, the write ran or was about to run.
            None => {
                out.unknown += 1;
                Ok(ToolOutcome::Unknown)
            }
        }
    }

    /// Saves the messages that were waiting when the process ended, each with a notice that it was
    /// not answered.
    async fn keep_lost_queues(&self) -> Result<(), StoreError> {
        let store = &self.shared.world.store;
        let text = Text::QueuedLost.in_locale(&self.shared.world.profile.locale());
        for session in store.sessions_with_value(QUEUE_KEY).await? {
            let Some(queue) =
                store.session_values_of(&session, &[QUEUE_KEY]).await?.remove(QUEUE_KEY)
            else {
                continue;
            };
            let queue: Vec<QueuedMessage> = serde_json::from_value(queue).unwrap_or_default();
            // The items are stored before the queue is deleted. A crash in between stores them
            // twice, but loses no message.
            for waiting in queue {
                let notice = ItemBody::Notice {
                    level: NoticeLevel::Warning,
                    code: "message_not_answered".into(),
                    text: text.into(),
                };
                let bodies = [ItemBody::UserMessage { text: waiting.text }, notice];
                let item = |body| self.recovered_item(&session, &waiting.turn, body);
                // The turn never began.
                let now = self.shared.world.clock.now();
                let row = TurnRow::ended(&session, &waiting.turn, "interrupted", now);
                store.turn_save(&row, bodies.into_iter().map(item).collect(), None).await?;
            }
            store.session_values_put(&session, vec![(QUEUE_KEY.to_owned(), None)]).await?;
        }
        Ok(())
    }

    /// Ends actions that were approved or executing when the process ended. Such actions are never
    /// run after a restart.
    async fn end_approved_actions(&self, out: &mut Recovered) -> Result<(), StoreError> {
        let died = Text::ApprovalDied.in_locale(&self.shared.world.profile.locale());
        for approval in self.shared.world.store.approvals_open().await? {
            match approval.status {
                ApprovalStatus::Approved => {
                    if self.transition(&approval, Transition::LAPSE, Some(died)).await {
                        self.approvals
                            .end_unwaited_call(
                                &approval,
                                ApprovalStatus::Expired,
                                Some(died.to_owned()),
                            )
                            .await;
                        out.expired += 1;
                    }
                }
                // The process that waited for this action has ended. A direct call has no stored
                // turn to recover.
                ApprovalStatus::Pending if !approval.headless => {
                    if self.transition(&approval, Transition::EXPIRE, Some(died)).await {
                        out.expired += 1;
                    }
                }
                ApprovalStatus::Executing => {
                    if self.transition(&approval, Transition::FAIL, Some("outcome unknown")).await {
                        self.approvals.end_unknown_call(&approval).await?;
                        out.unknown += 1;
                    }
                }
                ApprovalStatus::Pending
                | ApprovalStatus::Done
                | ApprovalStatus::Failed
                | ApprovalStatus::Rejected
                | ApprovalStatus::Expired
                | ApprovalStatus::Cancelled
                | ApprovalStatus::Superseded => {}
            }
        }
        Ok(())
    }

    async fn transition(
        &self,
        approval: &Approval,
        transition: Transition,
        reason: Option<&str>,
    ) -> bool {
        self.approvals.services.transitions.make(approval, transition, reason).await
    }

    fn recovered_item(&self, session: &SessionId, turn: &TurnId, body: ItemBody) -> Item {
        let world = &self.shared.world;
        Item {
            id: ItemId(world.ids.next("item")),
            session: session.clone(),
            turn: turn.clone(),
            seq: 0,
            created_at: world.clock.now(),
            body,
        }
    }
}

fn lost_result(call: &CallId, tool: &ToolId, outcome: ToolOutcome, locale: &str) -> ItemBody {
    let text = match outcome {
        ToolOutcome::Unknown => Text::UnknownOutcome,
        ToolOutcome::Expired => Text::ApprovalDied,
        ToolOutcome::Ok
        | ToolOutcome::Error
        | ToolOutcome::Limit
        | ToolOutcome::Denied
        | ToolOutcome::Rejected
        | ToolOutcome::Cancelled => Text::CancelledCall,
    };
    let summary = text.in_locale(locale).to_owned();
    let error = AgentError::internal("interrupted", summary.clone());
    ItemBody::ToolResult {
        call: call.clone(),
        tool: tool.clone(),
        outcome,
        summary,
        data: Value::Null,
        error: Some(error),
        local_only: Some(false),
        view: ResultView::default(),
        parsed: None,
        untrusted: false,
        duration_ms: 0,
    }
}
