//! Keeps the text of an answer in the store while it arrives. After a crash it becomes the interrupted
//! answer. It knows nothing of models.

use std::{pin::Pin, time::Duration};

use contract::{ItemBody, SessionId, TurnId};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::ports::{Store, StoreError};

/// How much of an answer a crash can cost.
const EVERY: Duration = Duration::from_millis(500);
/// The name of the session's value.
const KEY: &str = "$partial";

/// When the text is stored next.
pub(crate) struct Pace {
    is_due: bool,
    timer: Pin<Box<Sleep>>,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { is_due: false, timer: Box::pin(sleep_until(Instant::now())) }
    }

    /// Notes that there is text that is not stored.
    pub(crate) fn note_text(&mut self) {
        if !std::mem::replace(&mut self.is_due, true) {
            self.timer.as_mut().reset(Instant::now() + EVERY);
        }
    }

    pub(crate) fn has_unstored(&self) -> bool {
        self.is_due
    }

    /// Resolves when the text is to be stored.
    pub(crate) async fn wait_until_due(&mut self) {
        self.timer.as_mut().await;
        self.is_due = false;
    }
}

#[derive(Serialize, Deserialize)]
struct Partial {
    turn: TurnId,
    body: ItemBody,
}

/// Stores the text so far of a turn, in place of an earlier one.
pub(crate) async fn store_partial(
    store: &dyn Store,
    session: &SessionId,
    turn: &TurnId,
    body: ItemBody,
) -> Result<(), StoreError> {
    let value = serde_json::to_value(Partial { turn: turn.clone(), body }).unwrap_or_default();
    store.session_values_put(session, vec![(KEY.to_owned(), Some(value))]).await
}

/// Forgets the text, because the answer is stored.
pub(crate) async fn forget_partial(
    store: &dyn Store,
    session: &SessionId,
) -> Result<(), StoreError> {
    store.session_values_put(session, vec![(KEY.to_owned(), None)]).await
}

/// Returns the text that a turn had when its process ended.
pub(crate) async fn partial_of(
    store: &dyn Store,
    session: &SessionId,
    turn: &TurnId,
) -> Result<Option<ItemBody>, StoreError> {
    let value = store.session_values_of(session, &[KEY]).await?.remove(KEY);
    let partial = value.and_then(|value| serde_json::from_value::<Partial>(value).ok());
    Ok(partial.filter(|partial| partial.turn == *turn).map(|partial| partial.body))
}
