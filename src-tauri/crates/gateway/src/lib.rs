//! The shop's chat API over HTTP. The crate connects the widgets of web shops to a host's engine,
//! according to the contract of the chat API. Each turn has one event stream; the JSON answer and
//! the stream's `final` event are the same object. Knows no store, model or window.
#![forbid(unsafe_code)]

mod call;
mod chat;
mod config;
mod fault;
mod http;
mod json;
mod metrics;
mod net;
mod shop;
mod texts;
mod variables;

use std::{net::SocketAddr, sync::Arc};

use contract::AgentError;
use host::Host;

pub use config::{Config, Flags, SessionStore};
pub use http::openapi::DOCUMENT;
pub use shop::{PACK, served_packs};

/// Serves requests until `stop` resolves. Then accepts no new requests and waits until all turns
/// have ended or are stopped. `ready` receives the bound address.
pub async fn serve_gateway(
    host: Arc<Host>,
    config: Config,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()> + Send,
) -> Result<(), AgentError> {
    let app = Arc::new(http::app::App::open(host, config)?);
    http::listener::run_listener(app, ready, stop).await
}
