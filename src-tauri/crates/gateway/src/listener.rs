//! Connections: how many, how long a header may take, and the orderly end.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use contract::AgentError;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore};

use crate::{App, routes};

const HEADER_BYTES: usize = 32 * 1024;
const HEADERS: usize = 64;
/// Nobody keeps a connection longer, whatever it does.
const CONNECTION_TIME: Duration = Duration::from_secs(3_600);

/// The address of who is at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

pub(crate) async fn run(app: Arc<App>, ready: impl FnOnce(SocketAddr), stop: impl Future<Output = ()> + Send) -> Result<(), AgentError> {
    let wanted = app.config.listen;
    let cannot = |error: std::io::Error| {
        AgentError::internal("cannot_listen", format!("Nothing can listen on {wanted}: {error}."))
            .hint("Choose another address with --listen, or end what uses it.")
    };
    let listener = TcpListener::bind(wanted).await.map_err(cannot)?;
    ready(listener.local_addr().map_err(cannot)?);
    let router = routes::router(&app);
    let places = Arc::new(Semaphore::new(app.config.max_connections));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(app.config.header_time).max_buf_size(HEADER_BYTES).max_headers(HEADERS);
    let sweeping = tokio::spawn(sweep(Arc::clone(&app)));
    let sharing = tokio::spawn(share(Arc::clone(&app)));
    tokio::pin!(stop);
    loop {
        let (stream, peer) = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            app.metrics.refused_connections.add();
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone().layer(axum::Extension(Peer(peer))));
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            let _place = place;
            // A client that breaks off is no news.
            let _ = tokio::time::timeout(CONNECTION_TIME, connection).await;
        });
    }
    drop(listener);
    sweeping.abort();
    sharing.abort();
    end(&app, graceful).await;
    app.sessions.catch_up(&app).await;
    Ok(())
}

/// Turns under way may finish; those that do not in time are stopped, which still leaves a whole session.
async fn end(app: &Arc<App>, graceful: GracefulShutdown) {
    app.turns.close();
    let connections = tokio::spawn(graceful.shutdown());
    if tokio::time::timeout(app.config.grace, app.turns.wait()).await.is_err() {
        app.give_up.cancel();
        if tokio::time::timeout(Duration::from_secs(10), app.turns.wait()).await.is_err() {
            tracing::warn!("turns did not end in time");
        }
    }
    let _ = tokio::time::timeout(Duration::from_secs(2), connections).await;
}

/// What could not be shared is tried again, once a second.
async fn share(app: Arc<App>) {
    while app.host.shared().is_some() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        app.sessions.catch_up(&app).await;
    }
}

/// Sessions whose time is over go, once a minute; those of earlier starts as soon as the first callers have been served.
async fn sweep(app: Arc<App>) {
    let mut wait = Duration::from_secs(1);
    loop {
        tokio::time::sleep(wait).await;
        crate::sessions::sweep(&app).await;
        app.runs.sweep(std::time::Instant::now());
        wait = Duration::from_secs(60);
    }
}
