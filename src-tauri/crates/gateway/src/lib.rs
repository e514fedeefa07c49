//! The shop's chat API over HTTP: the contract that web shops' widgets speak, carried to the engine of a host and back. One turn gives
//! one event stream; the JSON answer and the stream's `final` are the same object. Knows no store, model or window.

mod chat;
mod config;
mod http;
mod json;
mod shop;
mod variables;

use std::{net::SocketAddr, sync::Arc};

use contract::AgentError;
use host::Host;

pub use config::{Config, Flags, SessionStore};
pub use http::openapi::DOCUMENT;
pub use shop::PACK;

/// Everything that the routes share.
pub(crate) struct App {
    pub(crate) host: Arc<Host>,
    pub(crate) config: Config,
    pub(crate) sessions: chat::sessions::Sessions,
    pub(crate) limits: http::limits::Limits,
    pub(crate) runs: chat::runs::Runs,
    pub(crate) metrics: http::metrics::Metrics,
    /// What every chat and debug route asks for, unless it is switched off.
    pub(crate) token: Option<http::auth::FileToken>,
    /// Turns that are under way; they are waited for at the end.
    pub(crate) turns: tokio_util::task::TaskTracker,
    /// Fired when turns that do not end by themselves are to be stopped.
    pub(crate) give_up: tokio_util::sync::CancellationToken,
}

impl App {
    /// The model that answers: that of the environment, or the profile's.
    pub(crate) fn model(&self) -> String {
        self.config.model.clone().unwrap_or_else(|| self.host.engine().model_label())
    }
}

impl App {
    /// The caller's correlation id, unless a stored key is in it.
    pub(crate) fn correlation(&self, headers: &axum::http::HeaderMap) -> Option<String> {
        http::origin::correlation(headers).filter(|id| !self.host.engine().holds_secret(&id.as_str().into()))
    }

    /// Refuses a stored key in what is kept of a request as it is. A message loses it on its way in.
    pub(crate) async fn check_keepable(&self, body: &serde_json::Value) -> Result<(), http::error::Fault> {
        let kept = serde_json::json!([body["applicationId"], body["sessionId"], body["context"]]);
        let checked = self.host.engine().check_keepable(&kept).await;
        checked.map_err(|_| http::error::Fault::invalid("An id or the context contains a key of this server."))
    }
}

/// Serves until `stop` resolves, then ends in order: no new requests, turns finish or are stopped. `ready` gets the bound address.
pub async fn serve(host: Arc<Host>, config: Config, ready: impl FnOnce(SocketAddr), stop: impl Future<Output = ()> + Send) -> Result<(), AgentError> {
    let token = config.token_file.as_deref().map(http::auth::FileToken::open).transpose()?;
    let app = Arc::new(App {
        host,
        sessions: chat::sessions::Sessions::new(config.session_ttl),
        limits: http::limits::Limits::new(&config.rates),
        runs: chat::runs::Runs::new(config.debug_runs),
        metrics: http::metrics::Metrics::default(),
        token,
        turns: tokio_util::task::TaskTracker::new(),
        give_up: tokio_util::sync::CancellationToken::new(),
        config,
    });
    http::listener::run(app, ready, stop).await
}
