//! Stores the text of an answer while it arrives. After a crash, the stored text becomes the
//! interrupted answer.

use std::{pin::Pin, time::Duration};

use contract::{ItemBody, SessionId, TurnId};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::ports::{Store, StoreError};

/// The longest part of an answer, in time, that a crash can lose.
const EVERY: Duration = Duration::from_millis(500);
/// The name of the session value.
const KEY: &str = "$partial";

/// Determines when the text is stored next.
pub(crate) struct Pace {
    is_due: bool,
    timer: Pin<Box<Sleep>>,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { is_due: false, timer: Box::pin(sleep_until(Instant::now())) }
    }

    /// Records that there is text that is not stored yet.
    pub(crate) fn note_text(&mut self) {
        if !std::mem::replace(&mut self.is_due, true) {
            self.timer.as_mut().reset(Instant::now() + EVERY);
        }
    }

    pub(crate) fn has_unstored(&self) -> bool {
        self.is_due
    }

    /// Resolves when the text must be stored.
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

/// Stores the text of a turn so far, replacing the earlier text.
pub(crate) async fn store_partial(
    store: &dyn Store,
    session: &SessionId,
    turn: &TurnId,
    body: ItemBody,
) -> Result<(), StoreError> {
    let value = serde_json::to_value(Partial { turn: turn.clone(), body }).unwrap_or_default();
    store.session_values_put(session, vec![(KEY.to_owned(), Some(value))]).await
}

/// Deletes the stored text, because the answer is stored.
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
