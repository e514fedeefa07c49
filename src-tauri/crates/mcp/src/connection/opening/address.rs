//! Opens the connection to an address. The newest protocol's first request is sent first. The older
//! protocol's first request is sent afterwards if the server does not know the newest protocol, or
//! in parallel if the server is silent. If the server refuses, older versions are tried, too. A
//! server that speaks neither protocol is examined once more, so that a person sees what kind of
//! server it is.

use std::time::Duration;

use contract::{Text, text};
use futures::future::{Either, select};
use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, LOCATION},
};
use rmcp::{
    model::{ErrorData, ProtocolVersion},
    service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _},
    transport::{
        StreamableHttpClientTransport,
        auth::{AuthClient, AuthError},
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use secrecy::SecretString;
use tokio::time::{sleep, timeout};
use url::Url;

use super::{OpenResult, Opened, newest, older, split_running, too_slow, versions::Versions};
use crate::{
    Address, Timings,
    failure::{self, OpenError, TransportCause},
    handler::Handler,
    http, oauth,
    posts::Posts,
    transport::{Ending, Mending, OpenRequests, Unnamed},
    words,
};

/// How many times longer than a program an address may leave the first request unanswered.
const PATIENCE: u32 = 3;
/// The maximum time for examining a server that speaks no known protocol, and the maximum size of
/// its answer that is read.
const LOOK: Duration = Duration::from_secs(5);
const LOOK_BYTES: usize = 4 * 1024;
const EVENTS: &str = "text/event-stream";
/// The maximum number of characters of an address that a server redirects to.
const LONGEST_ADDRESS: usize = 200;

/// Why a handshake failed.
enum Handshake {
    /// The server did not answer according to the protocol. The server may speak the other
    /// protocol.
    Odd { why: Text, cause: Option<TransportCause>, refusal: Option<Box<ErrorData>> },
    /// The handshake of the other protocol would fail in the same way.
    Final(OpenError),
}

/// Connects with the protocol that the server speaks. Each protocol gets the full time.
pub(super) async fn connect(address: &Address, timings: &Timings, handler: Handler) -> OpenResult {
    let limited = |mode| reach_in_time(address, handler.clone(), mode, timings);
    let first = Box::pin(limited(both()));
    let first = match select(first, Box::pin(sleep(timings.probe * PATIENCE))).await {
        Either::Left((answer, _)) => Either::Left(answer),
        Either::Right(((), first)) => Either::Right(first),
    };
    let last = match first {
        Either::Left(Ok(opened)) => return Ok(opened),
        Either::Left(Err(Handshake::Final(error))) => return Err(error),
        Either::Left(Err(Handshake::Odd { .. })) => limited(older()).await,
        // The server is silent: it may not know the request, or be slow. The library does not wait
        // long for the answer, so a slow server that only knows the newest protocol is asked once
        // more.
        Either::Right(first) => {
            let done = match select(first, Box::pin(limited(older()))).await {
                Either::Left((Ok(opened), _)) | Either::Right((Ok(opened), _)) => Ok(opened),
                // One success is enough, and the other request is still running.
                Either::Left((Err(_), second)) => second.await,
                Either::Right((Err(_), first)) => first.await,
            };
            match done {
                Err(Handshake::Odd { .. }) => limited(newest()).await,
                done => done,
            }
        }
    };
    let mut last = last;
    let mut versions = Versions::default();
    while let Err(Handshake::Odd { refusal: Some(refusal), .. }) = &last
        && let Some(version) = versions.after(refusal)
    {
        let handler = handler.clone().with_version(version);
        last = reach_in_time(address, handler, older(), timings).await;
    }
    match last {
        Ok(opened) => Ok(opened),
        Err(Handshake::Final(error)) => Err(error),
        Err(Handshake::Odd { why, cause, .. }) => {
            Err(OpenError::Because(name_server(address, why, cause).await))
        }
    }
}

async fn reach_in_time(
    address: &Address,
    handler: Handler,
    mode: ClientLifecycleMode,
    timings: &Timings,
) -> Result<Opened, Handshake> {
    let reached = timeout(timings.start, reach(address, handler, mode)).await;
    reached.unwrap_or_else(|_| Err(Handshake::Final(OpenError::Because(too_slow(timings)))))
}

/// Tries the newest protocol, and then the older protocol over the same connection if the server
/// reports that it does not know the newest.
fn both() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

async fn reach(
    address: &Address,
    handler: Handler,
    mode: ClientLifecycleMode,
) -> Result<Opened, Handshake> {
    let because = |why| Handshake::Final(OpenError::Because(why));
    let config = address.transport_config().await.map_err(|error| because(error.text()))?;
    let client = http::client_for(address).await.map_err(because)?;
    let requests = OpenRequests::default();
    let running = match &address.http.oauth {
        None => {
            let client = Posts::new(client, requests.clone());
            let transport = StreamableHttpClientTransport::with_client(client, config);
            let transport = Mending::new(transport, requests.clone(), Unnamed::MeansNone);
            handler.clone().serve_with_lifecycle(transport, mode).await
        }
        Some(oauth) => {
            let manager = match oauth::authorized_manager(address, oauth).await {
                Ok(manager) => manager,
                Err(AuthError::AuthorizationRequired) => {
                    return Err(Handshake::Final(OpenError::SignIn(None)));
                }
                Err(error) => {
                    return Err(because(text!(
                        "The sign-in to it failed: {error}.",
                        error = oauth::error_kind(&error)
                    )));
                }
            };
            let client = Posts::new(AuthClient::new(client, manager), requests.clone());
            let transport = StreamableHttpClientTransport::with_client(client, config);
            let transport = Mending::new(transport, requests.clone(), Unnamed::MeansNone);
            handler.clone().serve_with_lifecycle(transport, mode).await
        }
    };
    let (secrets, ending) = (address.read_secrets().await, Ending::default());
    match running {
        Ok(running) => Ok(split_running(None, running, ending, handler, requests, secrets)),
        Err(error) => Err(explain(address, &error, &secrets)),
    }
}

/// Explains why a handshake failed.
fn explain(
    address: &Address,
    error: &ClientInitializeError,
    secrets: &[SecretString],
) -> Handshake {
    if error.is_authorization_required() {
        return Handshake::Final(OpenError::SignIn(error.auth_challenge().map(str::to_owned)));
    }
    let host = host_of(address);
    let cause = failure::handshake_cause(error);
    let why = match &cause {
        // The server requires more rights than before.
        Some(TransportCause::Unauthorized(challenge)) => {
            return Handshake::Final(OpenError::SignIn(challenge.clone()));
        }
        Some(TransportCause::Status { status: 429, .. }) => {
            text!("It answered with the status {status}.", status = 429)
        }
        Some(TransportCause::Private) => http::refusal_text(&host),
        Some(TransportCause::Obstacle(obstacle)) => obstacle.text(&host),
        Some(TransportCause::Status { status, said, .. }) => {
            let why = words::status_text(*status, said.as_deref(), secrets);
            return Handshake::Odd { why, cause, refusal: None };
        }
        Some(TransportCause::Page | TransportCause::NoMessage) | None => {
            let refusal = failure::refusal_of(error).cloned().map(Box::new);
            let error = failure::opening_kind_with(error, secrets);
            let why = text!("It did not complete the handshake: {error}.", error);
            return Handshake::Odd { why, cause, refusal };
        }
    };
    Handshake::Final(OpenError::Because(why))
}

/// Describes what kind of server speaks neither protocol, and what the user can do.
async fn name_server(address: &Address, why: Text, cause: Option<TransportCause>) -> Text {
    let status = match &cause {
        Some(TransportCause::Status { status, .. }) => *status,
        Some(TransportCause::Page) => 200,
        _ => return why,
    };
    if matches!(status, 300..=399)
        && let Ok(Some(to)) = timeout(LOOK, redirect_of(address)).await
    {
        return text!(
            "It redirects to {to}, which is another server or not encrypted. Check the address: often a / at its end must be added or removed.",
            to
        );
    }
    // The answer of a server with an internal error says nothing about its protocol.
    if !matches!(status, 200 | 400..=499) {
        return why;
    }
    if speaks_old_sse(address).await {
        return "It uses the old SSE transport, which this app does not support. Use its newer address, often /mcp instead of /sse, or add it as the program npx -y mcp-remote with this address.".into();
    }
    if matches!(status, 200 | 404 | 405) {
        return text!(
            "{why} There is no MCP server at this path. Check the address: many servers are at /mcp.",
            why
        );
    }
    why
}

/// Whether the server offers the previous transport: a stream of events whose first event contains
/// another address.
async fn speaks_old_sse(address: &Address) -> bool {
    let look = async {
        let config = address.transport_config().await.ok()?;
        let client = http::client_for(address).await.ok()?;
        first_event(&client, config).await
    };
    let first = timeout(LOOK, look).await.ok().flatten().unwrap_or_default();
    first
        .lines()
        .any(|line| line.strip_prefix("event:").is_some_and(|event| event.trim() == "endpoint"))
}

/// Returns the address that the server redirects to, without parts that may be keys.
async fn redirect_of(address: &Address) -> Option<String> {
    let config = address.transport_config().await.ok()?;
    let from = Url::parse(&config.uri).ok()?;
    let client = http::client_for(address).await.ok()?;
    let answer = get(&client, config).await?;
    let mut to = from.join(answer.headers().get(LOCATION)?.to_str().ok()?).ok()?;
    to.set_query(None);
    to.set_fragment(None);
    // The address is shown to a person, and a user name or query may contain a key.
    let _ = (to.set_username(""), to.set_password(None));
    Some(to.as_str().chars().take(LONGEST_ADDRESS).collect())
}

async fn get(client: &Client, config: StreamableHttpClientTransportConfig) -> Option<Response> {
    let mut request = client.get(config.uri.as_ref()).header(ACCEPT, EVENTS);
    for (name, value) in config.custom_headers {
        request = request.header(name, value);
    }
    if let Some(token) = config.auth_header {
        request = request.bearer_auth(token);
    }
    request.send().await.ok()
}

/// Returns the beginning of a server's stream of events.
async fn first_event(
    client: &Client,
    config: StreamableHttpClientTransportConfig,
) -> Option<String> {
    let mut answer = get(client, config).await?;
    let kind = answer.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    if answer.status() != StatusCode::OK || !kind.starts_with(EVENTS) {
        return None;
    }
    let mut text = Vec::new();
    // The stream does not end, so it is read only up to its first event.
    while !text.ends_with(b"\n\n") && !text.ends_with(b"\r\n\r\n") && text.len() < LOOK_BYTES {
        match answer.chunk().await.ok()? {
            Some(chunk) => text.extend_from_slice(&chunk),
            None => break,
        }
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn host_of(address: &Address) -> String {
    Url::parse(&address.http.url)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned))
        .unwrap_or_default()
}
