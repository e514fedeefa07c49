//! The two transports of the shop: lines over stdin and stdout, and HTTP on a loopback address,
//! which also serves pictures.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Path, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
    serve::ListenerExt as _,
};
use rmcp::{
    ServiceExt,
    transport::{
        io::stdio_pipes,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};

use crate::{
    Shop,
    login::{self, Login},
    server::ShopServer,
};

/// How long a session without requests is kept. A client that returns later gets a new session.
const IDLE: Duration = Duration::from_secs(60);

/// Why serving ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(
        "{0} is not a loopback address. Use 127.0.0.1 or [::1]; the demo shop is for this machine only."
    )]
    NotLoopback(SocketAddr),
    #[error("The shop cannot listen on {0}: {1}. Choose another port.")]
    Listen(SocketAddr, std::io::Error),
    #[error("The client and the shop did not come to terms: {0}")]
    Handshake(String),
    #[error("The connection broke: {0}")]
    Broken(String),
}

/// Serves one client over stdin and stdout until it closes them.
pub async fn serve_stdio(shop: Arc<Shop>) -> Result<(), ServeError> {
    let (read, write) = stdio_pipes();
    let service = ShopServer::new(shop)
        .serve((read, write))
        .await
        .map_err(|error| ServeError::Handshake(error.to_string()))?;
    service.waiting().await.map_err(|error| ServeError::Broken(error.to_string()))?;
    Ok(())
}

/// Serves any number of clients at `/mcp`, with pictures at `/img/<id>.svg`, until `stop` resolves.
/// `ready` is called with the bound address. With a login, `/mcp` requires tokens, which
/// `/oauth/token` issues.
pub async fn serve_http(
    shop: Arc<Shop>,
    address: SocketAddr,
    login: Option<Login>,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .map_err(|error| ServeError::Listen(address, error))?;
    ready(listener.local_addr().map_err(|error| ServeError::Listen(address, error))?);
    // Browsers must not use the server, so any Origin is refused. Foreign Host names are refused by
    // default.
    let config = StreamableHttpServerConfig::default().enforce_origin_validation();
    let stopper = config.cancellation_token.clone();
    let for_clients = shop.clone();
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let mcp = StreamableHttpService::new(
        move || Ok(ShopServer::new(for_clients.clone())),
        Arc::new(sessions),
        config,
    );
    let mcp = Router::new().nest_service("/mcp", mcp);
    let mcp = match login {
        Some(login) => login::protect(mcp, login),
        None => mcp,
    };
    let router = Router::new().route("/img/{file}", get(image)).with_state(shop).merge(mcp);
    let stop = async move {
        stop.await;
        stopper.cancel();
    };
    // An answer consists of several small writes, which must not wait for acknowledgements.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router)
        .with_graceful_shutdown(stop)
        .await
        .map_err(|error| ServeError::Broken(error.to_string()))
}

async fn image(State(shop): State<Arc<Shop>>, Path(file): Path<String>) -> Response {
    match shop.image(&file) {
        Ok(Some(svg)) => (
            [
                (header::CONTENT_TYPE, "image/svg+xml"),
                (header::CACHE_CONTROL, "public, max-age=86400"),
            ],
            svg,
        )
            .into_response(),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
