//! The state that every turn needs: the host, the settings, the metrics and the stored runs.

use std::sync::Arc;

use contract::{Caller, Limits};
use host::Host;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    chat::{runs::Runs, sessions::Sessions},
    config::Config,
    metrics::Metrics,
    shop::served_packs,
};

pub(crate) struct ChatService {
    pub(crate) host: Arc<Host>,
    pub(crate) config: Config,
    /// The customers as the engine's caller, with their packs and limits.
    pub(crate) caller: Caller,
    pub(crate) sessions: Sessions,
    pub(crate) runs: Runs,
    pub(crate) metrics: Metrics,
    /// The running turns. The gateway waits for these turns before it ends.
    pub(crate) turns: TaskTracker,
    /// Cancelled to stop the turns that have not ended in time.
    pub(crate) give_up: CancellationToken,
}

impl ChatService {
    pub(crate) fn new(host: Arc<Host>, config: Config) -> Self {
        Self {
            host,
            sessions: Sessions::new(config.session_ttl),
            runs: Runs::new(config.debug_runs),
            metrics: Metrics::default(),
            turns: TaskTracker::new(),
            give_up: CancellationToken::new(),
            caller: Caller::chat_api(served_packs(), turn_limits(&config)),
            config,
        }
    }

    /// Returns the name of the model that answers: the model set in the environment, or else the
    /// profile's model.
    pub(crate) fn model(&self) -> String {
        self.config
            .model
            .clone()
            .unwrap_or_else(|| self.host.engine().caller_turns.model_label(&self.caller))
    }
}

/// Returns the limits of a customer's turn.
fn turn_limits(config: &Config) -> Limits {
    Limits {
        rounds: config.max_rounds + 1,
        calls_per_round: config.max_calls,
        approval_expiry_s: 30 * 86_400,
        deadline_s: u32::try_from(config.turn_timeout.as_secs()).unwrap_or(u32::MAX).max(1),
        message_chars: u32::try_from(config.max_message_chars).unwrap_or(u32::MAX),
        ..Limits::default()
    }
}
