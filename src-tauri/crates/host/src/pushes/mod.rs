//! Sends pushes to all clients, and asks a person in the approval window to confirm changes. Must
//! not know the meaning of a push or a change.

mod confirmations;

use std::sync::Arc;

use contract::Push;
use engine::ports::{Events, Ids};
use tokio::sync::broadcast;

use confirmations::Confirmations;

/// The maximum number of pushes that a slow client may fall behind before it must read the whole
/// state again.
const BEHIND: usize = 8_192;

/// The pushes of an open profile, and its questions to the user.
pub(crate) struct Pushes {
    pub(crate) hub: Arc<Hub>,
    /// Changes of settings that wait for confirmation in the approval window.
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
        // The send fails if there is no subscriber.
        let _ = self.0.send(push);
    }

    fn has_listeners(&self) -> bool {
        self.0.receiver_count() > 0
    }
}
