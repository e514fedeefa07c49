//! The parts that every turn needs beside its message: the host, the settings, and what is counted
//! and remembered of turns.

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
    /// Turns that are under way; they are waited for at the end.
    pub(crate) turns: TaskTracker,
    /// Fired when turns that do not end by themselves are to be stopped.
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

    /// The model that answers: that of the environment, or the profile's.
    pub(crate) fn model(&self) -> String {
        self.config.model.clone().unwrap_or_else(|| self.host.engine().model_label())
    }
}
