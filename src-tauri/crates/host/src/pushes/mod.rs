//! Tells all clients what happened, and asks a person in the approval window to confirm changes.
//! Must not know what a push or a change means.

mod confirmations;

use std::sync::Arc;

use contract::Push;
use engine::ports::{Events, Ids};
use tokio::sync::broadcast;

use confirmations::Confirmations;

/// The number of pushes that a slow client may fall behind before it must read the whole state
/// again.
const BEHIND: usize = 8_192;

/// The pushes of an open profile, and its questions to the person.
pub(crate) struct Pushes {
    pub(crate) hub: Arc<Hub>,
    /// Settings changes that wait for confirmation in the approval window.
    pub(crate) confirmations: Confirmations,
}

impl Pushes {
    pub(crate) fn new(ids: Arc<dyn Ids>) -> Self {
        let hub = Arc::new(Hub::new());
        Self { confirmations: Confirmations::new(Arc::clone(&hub), ids), hub }
    }
}

/// Sends pushes to all subscribers.
pub(crate) struct Hub(broadcast::Sender<Push>);

impl Hub {
    fn new() -> Self {
        Self(broadcast::channel(BEHIND).0)
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Push> {
        self.0.subscribe()
    }
}

impl Events for Hub {
    fn push(&self, push: Push) {
        // There may be no subscriber.
        let _ = self.0.send(push);
    }

    fn has_listeners(&self) -> bool {
        self.0.receiver_count() > 0
    }
}
