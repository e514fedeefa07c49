//! Handles turns whose items are not kept. The items are stored while the turn runs, so that a
//! crash during an effect is detected. Then they are deleted together with the title created from
//! the first message. The log, approvals and results of runs are kept.

use std::sync::Arc;

use contract::{ItemBody, SessionId, TurnId};
use serde_json::json;

use crate::{
    conversation::{
        recalled::{ConversationMemory, keeps_nothing},
        title::title_of,
    },
    ports::{Profile, RecordDraft, Store, StoreError, World, approvals_of_turn},
    texts::Text,
    turn::{lanes::Lanes, values::StoredValues},
};

/// The name of the session value that lists turns whose items must still be deleted.
const PASSING: &str = "$passing";

/// The turns whose items are not kept.
pub(crate) struct PassingTurns {
    store: Arc<dyn Store>,
    profile: Arc<dyn Profile>,
    values: Arc<StoredValues>,
    lanes: Arc<Lanes>,
    memory: Arc<ConversationMemory>,
}

impl PassingTurns {
    pub(crate) fn new(
        world: &World,
        values: &Arc<StoredValues>,
        lanes: &Arc<Lanes>,
        memory: &Arc<ConversationMemory>,
    ) -> Self {
        Self {
            store: Arc::clone(&world.store),
            profile: Arc::clone(&world.profile),
            values: Arc::clone(values),
            lanes: Arc::clone(lanes),
            memory: Arc::clone(memory),
        }
    }

    /// Whether the profile's settings do not allow storing conversations.
    pub(crate) fn keeps_nothing(&self) -> bool {
        keeps_nothing(&self.profile.settings().conversation)
    }

    /// Lists a turn whose items are deleted after its end.
    pub(crate) async fn mark(&self, session: &SessionId, turn: &TurnId) -> Result<(), StoreError> {
        self.change_marks(session, |turns| turns.push(turn.clone())).await
    }

    async fn change_marks(
        &self,
        session: &SessionId,
        change: impl FnOnce(&mut Vec<TurnId>),
    ) -> Result<(), StoreError> {
        let _one_at_a_time = self.values.lock(session).await;
        let store = &self.store;
        let kept = store.session_values_of(session, &[PASSING]).await?.remove(PASSING);
        let mut turns =
            kept.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default();
        change(&mut turns);
        let kept = (!turns.is_empty()).then(|| json!(turns));
        store.session_values_put(session, vec![(PASSING.to_owned(), kept)]).await
    }

    /// Deletes the items of listed turns, except for turns that still run. `ended` names a turn
    /// that has just ended.
    pub(crate) async fn sweep(&self, ended: Option<&TurnId>) {
        if let Err(error) = self.delete_passing_items(ended).await {
            tracing::warn!(%error, "what is not to be kept could not be taken away; it will be tried again");
        }
    }

    async fn delete_passing_items(&self, ended: Option<&TurnId>) -> Result<(), StoreError> {
        let store = &self.store;
        for session in store.sessions_with_value(PASSING).await? {
            let marked: Vec<TurnId> = store
                .session_values_of(&session, &[PASSING])
                .await?
                .remove(PASSING)
                .and_then(|value| serde_json::from_value(value).ok())
                .unwrap_or_default();
            for turn in marked {
                if ended != Some(&turn) && self.lanes.running(&session).as_ref() == Some(&turn) {
                    continue;
                }
                self.delete_turn_items(&session, &turn).await?;
                // The decision of a pending action adds another result, so the turn stays listed
                // until the decision.
                if approvals_of_turn(&store.approvals(false).await?, &turn).next().is_none() {
                    self.change_marks(&session, |turns| turns.retain(|one| *one != turn)).await?;
                }
            }
        }
        Ok(())
    }

    async fn delete_turn_items(
        &self,
        session: &SessionId,
        turn: &TurnId,
    ) -> Result<(), StoreError> {
        let store = &self.store;
        let items = store.items_of_turn(turn).await?;
        if items.is_empty() {
            return Ok(());
        }
        let question = items.iter().find_map(|item| {
            if let ItemBody::UserMessage { text } = &item.body {
                Some(title_of(text))
            } else {
                None
            }
        });
        store.items_erase(turn).await?;
        if let Some(row) = store.session(session).await?
            && question.is_some_and(|title| title == row.title)
        {
            let title = Text::NotKept.in_locale(&self.profile.locale());
            store.session_rename(session, title).await?;
        }
        self.memory
            .note_change(
                RecordDraft::new(contract::RecordType::Memory)
                    .of(session, turn)
                    .field("action", "not_kept")
                    .field("reason", "mode"),
            )
            .await;
        Ok(())
    }
}
