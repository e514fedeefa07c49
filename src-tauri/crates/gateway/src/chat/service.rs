//! The shared parts that every turn needs: the host, the settings, the metrics and the stored runs.

use std::sync::Arc;

use host::Host;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    chat::{runs::Runs, sessions::Sessions},
    config::Config,
    metrics::Metrics,
};

pub(crate) struct ChatService {
    pub(crate) host: Arc<Host>,
    pub(crate) config: Config,
    pub(crate) sessions: Sessions,
    pub(crate) runs: Runs,
    pub(crate) metrics: Metrics,
    /// Turns under way. The gateway waits for them before it ends.
    pub(crate) turns: TaskTracker,
    /// Cancelled when turns that have not ended in time must be stopped.
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
            config,
        }
    }

    /// Returns the name of the model that answers: the model in the environment, or the profile's.
    pub(crate) fn model(&self) -> String {
        self.config.model.clone().unwrap_or_else(|| self.host.engine().model_label())
    }
}
