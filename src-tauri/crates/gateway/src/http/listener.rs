//! Accepts connections: limits on their number, timeouts for headers and slow readers, and the
//! orderly shutdown.

use std::{net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use contract::AgentError;
use hyper::{rt::Read, rt::Write, server::conn::http1, service::HttpService};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::Semaphore,
    time::{Instant, Interval, MissedTickBehavior},
};
use tokio_io_timeout::TimeoutStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    chat::sessions,
    http::{app::App, origin::Peer, routes},
};

const HEADER_BYTES: usize = 32 * 1024;
const HEADERS: usize = 64;
/// The maximum lifetime of a connection. A running answer may then take the same time again.
const CONNECTION_TIME: Duration = Duration::from_secs(3_600);

/// The timeouts at shutdown: for connections to send their remaining data, and for turns to stop
/// and sessions to be saved in the shared store.
const CLOSING_TIME: Duration = Duration::from_secs(2);
const STOPPING_TIME: Duration = Duration::from_secs(10);

pub(crate) async fn run_listener(
    app: Arc<App>,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()> + Send,
) -> Result<(), AgentError> {
    let wanted = app.chat.config.listen;
    let cannot = |error: std::io::Error| {
        AgentError::internal("cannot_listen", format!("Nothing can listen on {wanted}: {error}."))
            .hint("Choose another address with --listen, or end what uses it.")
    };
    let listener = TcpListener::bind(wanted).await.map_err(cannot)?;
    ready(listener.local_addr().map_err(cannot)?);
    let router = routes::router(&app);
    let places = Arc::new(Semaphore::new(app.chat.config.max_connections));
    let (closing, connections) = (CancellationToken::new(), TaskTracker::new());
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(app.chat.config.header_time)
        .max_buf_size(HEADER_BYTES)
        .max_headers(HEADERS);
    let sweeping = tokio::spawn(sweep_sessions(Arc::clone(&app)));
    let sharing = tokio::spawn(share_sessions(Arc::clone(&app)));
    tokio::pin!(stop);
    loop {
        let (stream, peer) = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    // If the process has no file descriptors or memory left, every accept fails at
                    // once; the pause prevents a busy loop.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        // A connection above the limit is refused, because a queue of clients that never send data
        // would grow without limit.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            app.chat.metrics.refused_connections.inc();
            continue;
        };
        // Small writes are sent immediately.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone().layer(axum::Extension(Peer(peer))));
        let connection =
            http.serve_connection(with_write_timeout(stream, app.chat.config.write_time), service);
        let closing = closing.clone();
        connections.spawn(async move {
            // The place is kept until the connection has ended.
            let _place = place;
            serve_connection(connection, CONNECTION_TIME, closing).await;
        });
    }
    // From here on, the system refuses new connections, so that a load balancer sends them
    // elsewhere.
    drop(listener);
    sweeping.abort();
    sharing.abort();
    closing.cancel();
    connections.close();
    finish_turns(&app, &connections).await;
    if tokio::time::timeout(STOPPING_TIME, app.chat.sessions.share_unsaved(&app.chat.host))
        .await
        .is_err()
    {
        tracing::warn!("some sessions are shared at the next start");
    }
    Ok(())
}

/// Closes the connection of a client that accepts no data for this time.
fn with_write_timeout<S: AsyncRead + AsyncWrite>(
    stream: S,
    write_time: Duration,
) -> TokioIo<Pin<Box<TimeoutStream<S>>>> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(write_time));
    TokioIo::new(Box::pin(stream))
}

/// Serves a connection until it is too old or the gateway shuts down. A running answer is finished
/// and is the last answer.
async fn serve_connection<I, B, S>(
    connection: http1::Connection<I, S>,
    age: Duration,
    closing: CancellationToken,
) where
    S: HttpService<hyper::body::Incoming, ResBody = B>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    I: Read + Write + Unpin,
    B: hyper::body::Body + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    tokio::pin!(connection);
    // The end of the connection is not logged when a client disconnects.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = closing.cancelled() => {}
        () = tokio::time::sleep(age) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(age, connection).await;
}

/// Waits for running turns. Turns that do not end in time are stopped, and their sessions are still
/// stored completely.
async fn finish_turns(app: &Arc<App>, connections: &TaskTracker) {
    app.chat.turns.close();
    let latest = Instant::now() + app.chat.config.grace;
    while tokio::time::timeout_at(latest, app.chat.turns.wait()).await.is_ok() {
        let _ = tokio::time::timeout(CLOSING_TIME, connections.wait()).await;
        // A request whose body was still arriving may have started a turn in the meantime.
        if app.chat.turns.is_empty() {
            break;
        }
    }
    // Cancelling also stops turns that begin after this point.
    app.chat.give_up.cancel();
    if tokio::time::timeout(STOPPING_TIME, app.chat.turns.wait()).await.is_err() {
        tracing::warn!("turns did not end in time");
    }
    let _ = tokio::time::timeout(CLOSING_TIME, connections.wait()).await;
}

/// Once a second, saves sessions in the shared store that could not be saved before.
async fn share_sessions(app: Arc<App>) {
    if app.chat.host.shared_sessions().is_some()
        && let Err(error) = app.chat.sessions.find_unsaved(&app.chat.host).await
    {
        tracing::warn!(%error, "sessions of the last start could not be looked through");
    }
    while app.chat.host.shared_sessions().is_some() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        app.chat.sessions.share_unsaved(&app.chat.host).await;
    }
}

/// Once a minute, deletes expired sessions. Sessions of earlier processes are deleted shortly after
/// the start, when the first callers have been served.
async fn sweep_sessions(app: Arc<App>) {
    let mut passes = sweep_interval();
    loop {
        passes.tick().await;
        sessions::delete_expired(&app.chat.sessions, &app.chat.host).await;
        app.chat.runs.remove_expired(std::time::Instant::now());
    }
}

/// Returns the timer of the clean-up: one second after the start, then every minute. Ticks missed
/// during a long clean-up are dropped.
fn sweep_interval() -> Interval {
    let mut passes =
        tokio::time::interval_at(Instant::now() + Duration::from_secs(1), Duration::from_secs(60));
    passes.set_missed_tick_behavior(MissedTickBehavior::Delay);
    passes
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, response::Response};
    use hyper::service::service_fn;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn chat_api_9_expired_sessions_are_removed_each_minute() {
        let began = Instant::now();
        let mut passes = sweep_interval();
        for second in [1, 61, 121] {
            passes.tick().await;
            assert_eq!(began.elapsed().as_secs(), second);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_in_progress_is_completed_after_the_connections_maximum_age() {
        let (mut client, server) = tokio::io::duplex(4_096);
        let slow = service_fn(|_| async {
            tokio::time::sleep(Duration::from_secs(90)).await;
            Ok::<_, std::convert::Infallible>(Response::new(Body::from("whole")))
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(server), slow);
        let serving = tokio::spawn(serve_connection(
            connection,
            Duration::from_secs(60),
            CancellationToken::new(),
        ));
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        let mut answer = String::new();
        client
            .read_to_string(&mut answer)
            .await
            .expect("the connection is closed behind the answer");
        assert!(answer.contains("connection: close") && answer.ends_with("whole"), "{answer}");
        serving.await.expect("it ends");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_disconnected_but_a_slow_one_is_not() {
        let (mut client, server) = tokio::io::duplex(1_024);
        let long = service_fn(|_| async {
            Ok::<_, std::convert::Infallible>(Response::new(Body::from(vec![b'.'; 8_192])))
        });
        let connection = http1::Builder::new()
            .serve_connection(with_write_timeout(server, Duration::from_secs(60)), long);
        let serving =
            tokio::spawn(serve_connection(connection, CONNECTION_TIME, CancellationToken::new()));
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        for _ in 0..4 {
            tokio::time::sleep(Duration::from_secs(59)).await;
            client.read_exact(&mut [0; 1_024]).await.expect("it is slow, and served");
        }
        let began = Instant::now();
        serving.await.expect("it ends");
        assert_eq!(began.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_is_closed_at_its_maximum_age_or_at_shutdown() {
        for stops in [false, true] {
            let (mut client, server) = tokio::io::duplex(4_096);
            let quick = service_fn(|_| async {
                Ok::<_, std::convert::Infallible>(Response::new(Body::empty()))
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(server), quick);
            let closing = CancellationToken::new();
            let serving = tokio::spawn(serve_connection(
                connection,
                Duration::from_secs(60),
                closing.clone(),
            ));
            let began = Instant::now();
            if stops {
                closing.cancel();
            }
            assert_eq!(client.read(&mut [0; 8]).await.ok(), Some(0), "the end");
            serving.await.expect("it ends");
            assert_eq!(began.elapsed().as_secs(), if stops { 0 } else { 60 });
        }
    }
}
