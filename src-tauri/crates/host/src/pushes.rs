//! Everything the host tells its clients, to as many as listen.

use contract::Push;
use engine::ports::Events;
use tokio::sync::broadcast;

/// How many pushes a slow client may be behind before it has to read everything again.
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
        // Nobody listening is fine.
        let _ = self.0.send(push);
    }

    fn heard(&self) -> bool {
        self.0.receiver_count() > 0
    }
}
