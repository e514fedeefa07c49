//! Opens a connection: starts the program or reaches the address, and does the handshake with the
//! protocol that the server speaks.

use contract::{Text, text};
use std::sync::{Arc, atomic::Ordering};

use rmcp::{
    RoleClient,
    model::ProtocolVersion,
    service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService},
    transport::{
        StreamableHttpClientTransport,
        auth::{AuthClient, AuthError},
    },
};
use tokio::time::timeout;

use super::{Connection, OpenError, Session};
use crate::{
    Address, Program, Reach, ServerConfig, Timings,
    failure::{self, TransportCause},
    handler::Handler,
    http,
    log::ServerLog,
    oauth, process,
    transport::{Ending, Late, ProcessTransport},
};

type OpenResult = Result<(Connection, Session), OpenError>;

/// Connects to the server and does the handshake, with the protocol that the server speaks.
pub(crate) async fn open(
    config: &ServerConfig,
    timings: &Timings,
    handler: Handler,
    log: &ServerLog,
) -> OpenResult {
    let opening = async {
        match &config.reach {
            Reach::Program(program) => start((&config.name, log), program, timings, handler).await,
            Reach::Http(address) => connect(address, handler).await,
        }
    };
    match timeout(timings.start, opening).await {
        Ok(opened) => opened,
        Err(_) => Err(OpenError::Because(text!(
            "It did not answer within {seconds} seconds.",
            seconds = timings.start.as_secs_f32()
        ))),
    }
}

fn newest_first() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

/// Starts the server's program. A slow program may be taken for an older server; if it then turns
/// out to speak only the newest protocol, it is started once more with all the remaining time.
async fn start(
    (name, log): (&str, &ServerLog),
    program: &Program,
    timings: &Timings,
    handler: Handler,
) -> OpenResult {
    let late = Late::default();
    let opened = start_once((name, log), program, timings, handler.clone(), &late).await;
    match opened {
        Err(_) if late.load(Ordering::SeqCst) => {
            let patient = Timings { probe: timings.start, ..*timings };
            start_once((name, log), program, &patient, handler, &Late::default()).await
        }
        opened => opened,
    }
}

async fn start_once(
    (name, log): (&str, &ServerLog),
    program: &Program,
    timings: &Timings,
    handler: Handler,
    late: &Late,
) -> OpenResult {
    let (process, stdout, stdin) = process::start(name, program, log)
        .await
        .map_err(|error| OpenError::Because(error.text()))?;
    let pid = process.pid();
    let ending = Ending::default();
    let transport = ProcessTransport::new(
        process,
        stdout,
        stdin,
        timings,
        Arc::clone(&ending),
        Arc::clone(late),
    );
    match handler.clone().serve_with_lifecycle(transport, newest_first()).await {
        Ok(running) => Ok(split_running(Some(pid), running, ending, handler)),
        Err(error) => Err(OpenError::Because(text!(
            "It ended or misbehaved during the handshake: {error}.",
            error = failure::opening_kind(&error)
        ))),
    }
}

async fn connect(address: &Address, handler: Handler) -> OpenResult {
    let first = connect_as(address, handler.clone(), newest_first()).await;
    match first {
        // Some servers answer the first request of the newest protocol with nonsense. They are
        // tried with the older protocol.
        Err(Handshake::Odd(_)) => connect_as(address, handler, ClientLifecycleMode::Initialize)
            .await
            .map_err(Handshake::into_open_error),
        other => other.map_err(Handshake::into_open_error),
    }
}

/// Why a handshake failed.
enum Handshake {
    /// The server answered, but not according to the protocol.
    Odd(Text),
    Not(OpenError),
}

impl Handshake {
    fn into_open_error(self) -> OpenError {
        match self {
            Self::Odd(why) => OpenError::Because(why),
            Self::Not(open_error) => open_error,
        }
    }
}

async fn connect_as(
    address: &Address,
    handler: Handler,
    mode: ClientLifecycleMode,
) -> Result<(Connection, Session), Handshake> {
    let because = |why| Handshake::Not(OpenError::Because(why));
    let config = address.transport_config().await.map_err(|error| because(error.text()))?;
    let client = http::client(address.may_reach_private(), true).map_err(because)?;
    let running = match &address.http.oauth {
        None => {
            handler
                .clone()
                .serve_with_lifecycle(
                    StreamableHttpClientTransport::with_client(client, config),
                    mode,
                )
                .await
        }
        Some(oauth) => {
            let manager = match oauth::authorized_manager(address, oauth).await {
                Ok(manager) => manager,
                Err(AuthError::AuthorizationRequired) => {
                    return Err(Handshake::Not(OpenError::SignIn(None)));
                }
                Err(error) => {
                    return Err(because(text!(
                        "The sign-in to it failed: {error}.",
                        error = oauth::error_kind(&error)
                    )));
                }
            };
            let client = AuthClient::new(client, manager);
            handler
                .clone()
                .serve_with_lifecycle(
                    StreamableHttpClientTransport::with_client(client, config),
                    mode,
                )
                .await
        }
    };
    running
        .map(|running| split_running(None, running, Ending::default(), handler))
        .map_err(|error| explain_handshake_failure(address, &error))
}

/// Explains why a server could not be reached. Errors may contain an address or a server's words
/// that must not be shown, so only the kind is reported.
fn explain_handshake_failure(address: &Address, error: &ClientInitializeError) -> Handshake {
    if error.is_authorization_required() {
        return Handshake::Not(OpenError::SignIn(error.auth_challenge().map(str::to_owned)));
    }
    let host = url::Url::parse(&address.http.url)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned))
        .unwrap_or_default();
    let why = match failure::handshake_cause(error) {
        Some(TransportCause::Private) => http::refusal_text(&host),
        // The server requires more rights than before.
        Some(TransportCause::Unauthorized(challenge)) => {
            return Handshake::Not(OpenError::SignIn(challenge));
        }
        Some(TransportCause::Status { status, .. })
            if (400..=499).contains(&status) && status != 429 =>
        {
            return Handshake::Odd(text!("It answered with the status {status}.", status));
        }
        Some(TransportCause::Status { status, .. }) => {
            text!("It answered with the status {status}.", status)
        }
        Some(TransportCause::Unreachable) => {
            text!("{host} cannot be reached. Check the connection and the address.", host)
        }
        None => {
            return Handshake::Odd(text!(
                "It did not complete the handshake: {error}.",
                error = failure::opening_kind(error)
            ));
        }
    };
    Handshake::Not(OpenError::Because(why))
}

fn split_running(
    pid: Option<u32>,
    running: RunningService<RoleClient, Handler>,
    ending: Ending,
    handler: Handler,
) -> (Connection, Session) {
    let (peer, changed) = (running.peer().clone(), handler.changed());
    (Connection { pid, peer, handler }, Session { running, ending, changed })
}
