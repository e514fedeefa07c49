//! The shop's chat API over HTTP: the contract that web shops' widgets speak, carried to the engine of a host and back. One turn gives
//! one event stream; the JSON answer and the stream's `final` are the same object. Knows no store, model or window.

mod admit;
mod answer;
mod auth;
mod cards;
mod choices;
mod compare;
mod config;
mod confirm;
mod deciding;
mod error;
mod json;
mod limits;
mod listener;
mod memory;
mod metrics;
mod net;
mod openapi;
mod ordinals;
mod origin;
mod preflight;
mod references;
mod refine;
mod request;
mod routes;
mod runs;
mod say;
mod sessions;
mod sharing;
mod teller;
mod texts;
mod turn;
mod variables;
mod wire;

use std::{net::SocketAddr, sync::Arc};

use contract::AgentError;
use host::Host;

pub use config::{Config, Flags, SessionStore};
pub use openapi::DOCUMENT;

/// Everything that the routes share.
pub(crate) struct App {
    pub(crate) host: Arc<Host>,
    pub(crate) config: Config,
    pub(crate) sessions: sessions::Sessions,
    pub(crate) limits: limits::Limits,
    pub(crate) runs: runs::Runs,
    pub(crate) metrics: metrics::Metrics,
    /// What every chat and debug route asks for, unless it is switched off.
    pub(crate) token: Option<auth::FileToken>,
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
        origin::correlation(headers).filter(|id| !self.host.engine().holds_secret(&id.as_str().into()))
    }

    /// Refuses a stored key in what is kept of a request as it is. A message loses it on its way in.
    pub(crate) async fn check_keepable(&self, body: &serde_json::Value) -> Result<(), error::Fault> {
        let kept = serde_json::json!([body["applicationId"], body["sessionId"], body["context"]]);
        let checked = self.host.engine().check_keepable(&kept).await;
        checked.map_err(|_| error::Fault::invalid("An id or the context contains a key of this server."))
    }
}

/// Serves until `stop` resolves, then ends in order: no new requests, turns finish or are stopped. `ready` gets the bound address.
pub async fn serve(host: Arc<Host>, config: Config, ready: impl FnOnce(SocketAddr), stop: impl Future<Output = ()> + Send) -> Result<(), AgentError> {
    let token = config.token_file.as_deref().map(auth::FileToken::open).transpose()?;
    let app = Arc::new(App {
        host,
        sessions: sessions::Sessions::new(config.session_ttl),
        limits: limits::Limits::new(&config.rates),
        runs: runs::Runs::new(config.debug_runs),
        metrics: metrics::Metrics::default(),
        token,
        turns: tokio_util::task::TaskTracker::new(),
        give_up: tokio_util::sync::CancellationToken::new(),
        config,
    });
    listener::run(app, ready, stop).await
}
