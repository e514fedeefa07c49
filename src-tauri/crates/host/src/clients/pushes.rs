//! Sends the host's pushes to all subscribers.

use contract::Push;
use engine::ports::Events;
use tokio::sync::broadcast;

/// The number of pushes that a slow client may fall behind before it must read the whole state
/// again.
const BEHIND: usize = 8_192;

pub(crate) struct Hub(broadcast::Sender<Push>);

impl Hub {
    pub(crate) fn new() -> Self {
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
