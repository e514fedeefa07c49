//! The local socket, through which the process with the open profile serves commands to other
//! `csign` processes of the same user. Each message is a line of JSON: a greeting, then `{id,
//! command, params}` -> `{id, ok}` or `{id, error}`, with `{push}` in between. A client must send
//! the token from the data folder, which no server or program of a pack can read, and must not
//! itself be such a program. A refused client gets one line with the refusal.

use std::{
    collections::BTreeSet,
    fs, io,
    io::Write as _,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use contract::{AgentError, ErrorCode, Push, Text, text};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use subtle::ConstantTimeEq as _;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Semaphore, broadcast, mpsc, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    peer::{Peer, PeerRefusal},
    terminal::Terminal,
};
use crate::{host::Host, profile::socket_path};

/// The protocol version, which increases when the meaning of the lines changes.
pub(crate) const PROTOCOL: u32 = 2;
/// The maximum length of a greeting in bytes.
const GREETING_BYTES: u64 = 4 << 10;
/// The maximum time that a client may take to send its greeting.
const GREETING: Duration = Duration::from_secs(10);
/// The maximum length of a request in bytes.
const REQUEST_BYTES: u64 = 4 << 20;
/// The maximum number of lines that wait for a slow client before its requests must wait, too.
const OUTGOING: usize = 256;
/// The maximum time for cancelled calls to end and be recorded.
const ENDING: Duration = Duration::from_secs(5);
/// The maximum number of requests of one client that run at the same time. Further requests wait
/// until one ends.
const AT_ONCE: usize = 32;

/// A client's first line.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    /// The token from the data folder.
    #[serde(default)]
    pub(crate) token: String,
    /// Whether the client claims that a person uses it at a terminal. The server verifies this
    /// claim.
    #[serde(default)]
    pub(crate) terminal: bool,
}

/// A client's further lines.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) id: u64,
    pub(crate) command: String,
    pub(crate) params: Value,
}

/// The server's lines.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Line {
    Ok {
        id: u64,
        ok: Value,
    },
    Error {
        id: u64,
        error: AgentError,
    },
    Push {
        push: Box<Push>,
    },
    Refused {
        refused: AgentError,
    },
    Hello {
        protocol: u32,
        /// The variables that packs declare as credentials. The client removes the values of these
        /// variables from its commands.
        #[serde(default)]
        credentials: BTreeSet<String>,
    },
}

/// The served socket. Dropping it stops accepting clients and removes the socket's files.
pub struct SocketServer {
    host: Arc<Host>,
    path: PathBuf,
    accepting: JoinHandle<()>,
    connected: watch::Receiver<usize>,
    /// The token that cancels the calls of all clients.
    stop: CancellationToken,
}

impl SocketServer {
    /// Stops accepting clients. Waits up to `most` for connected clients to leave, then cancels
    /// their calls.
    pub async fn shut_down(mut self, most: Duration) {
        self.stop_accepting();
        if self.wait_for_clients(most).await {
            return;
        }
        self.stop.cancel();
        if !self.wait_for_clients(ENDING).await {
            tracing::warn!("some clients of the socket did not leave in time");
        }
    }

    /// Waits until no client is connected. Returns false if clients are still connected after
    /// `most`.
    async fn wait_for_clients(&mut self, most: Duration) -> bool {
        tokio::time::timeout(most, self.connected.wait_for(|count| *count == 0)).await.is_ok()
    }

    fn stop_accepting(&self) {
        self.accepting.abort();
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.host.paths().token());
    }
}

impl Drop for SocketServer {
    fn drop(&mut self) {
        self.stop_accepting();
        self.host.process.served.store(false, Ordering::Release);
    }
}

/// Serves a host. Must be called only once per host. The caller holds the profile's lock, so
/// existing socket files are leftovers and are removed.
pub fn serve_host(host: &Arc<Host>) -> io::Result<SocketServer> {
    if host.process.served.swap(true, Ordering::AcqRel) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "this profile is served already"));
    }
    bind_socket(host).inspect_err(|_| host.process.served.store(false, Ordering::Release))
}

fn bind_socket(host: &Arc<Host>) -> io::Result<SocketServer> {
    let path = socket_path(host.paths())?;
    remove_leftover(&path)?;
    let token = make_token(&host.paths().token())?;
    let listener = UnixListener::bind(&path)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    let (count, connected) = watch::channel(0);
    let stop = CancellationToken::new();
    let accepting = tokio::spawn(accept_clients(
        listener,
        Arc::clone(host),
        token.into(),
        Arc::new(count),
        stop.clone(),
    ));
    Ok(SocketServer { host: Arc::clone(host), path, accepting, connected, stop })
}

fn remove_leftover(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes a new token. Each time a profile is served, it gets a new token.
fn make_token(path: &Path) -> io::Result<String> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let token = engine::sha256_hex(&random);
    remove_leftover(path)?;
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)?;
    file.write_all(token.as_bytes())?;
    Ok(token)
}

async fn accept_clients(
    listener: UnixListener,
    host: Arc<Host>,
    token: Arc<str>,
    count: Arc<watch::Sender<usize>>,
    stop: CancellationToken,
) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                count.send_modify(|n| *n += 1);
                let (host, token, count, gone) =
                    (Arc::clone(&host), Arc::clone(&token), Arc::clone(&count), stop.child_token());
                tokio::spawn(async move {
                    if let Err(error) = serve_client(stream, host, &token, &gone).await {
                        tracing::debug!(%error, "a client of the socket left");
                    }
                    gone.cancel();
                    count.send_modify(|n| *n -= 1);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a client could not join");
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

/// Serves one client. Cancelling `gone` ends the connection. When the client disconnects, `gone` is
/// cancelled, so that its calls stop.
async fn serve_client(
    stream: UnixStream,
    host: Arc<Host>,
    token: &str,
    gone: &CancellationToken,
) -> io::Result<()> {
    let peer = Peer::identify(&stream);
    let (read, mut write) = stream.into_split();
    let mut requests = BufReader::new(read);
    let greeted = tokio::select! {
        greeted = tokio::time::timeout(GREETING, read_line::<Hello>(&mut requests, GREETING_BYTES)) => greeted,
        () = gone.cancelled() => return Ok(()),
    };
    let Some(hello) = greeted.map_err(|_| io::ErrorKind::TimedOut)?? else { return Ok(()) };
    if hello.protocol != PROTOCOL {
        return write_line(
            &mut write,
            &Line::Hello { protocol: PROTOCOL, credentials: BTreeSet::new() },
        )
        .await;
    }
    let peer = match check_admission(peer, &hello, token) {
        Ok(peer) => peer,
        Err(refused) => return write_line(&mut write, &Line::Refused { refused }).await,
    };
    let pushes = host.subscribe();
    // The server's greeting must be its first line, so pushes are sent after the greeting.
    let credentials = crate::packs::declared_credentials(&host.packs.tools.loaded_packs());
    write_line(&mut write, &Line::Hello { protocol: PROTOCOL, credentials }).await?;
    let (lines, outgoing) = mpsc::channel(OUTGOING);
    let writer = tokio::spawn(write_lines(write, outgoing, pushes));
    host.prepare_for_clients().await;
    let terminal = Arc::new(Terminal::remote(host, peer, hello.terminal, gone.clone()));
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let request = tokio::select! {
            request = read_line::<Request>(&mut requests, REQUEST_BYTES) => request?,
            () = gone.cancelled() => None,
        };
        let Some(request) = request else { break };
        // Each request runs in its own task, because a decision must not wait for the call that it
        // decides.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let (terminal, lines) = (Arc::clone(&terminal), lines.clone());
        tokio::spawn(async move {
            let _place = place;
            let line = match contract::dispatch(terminal.as_ref(), &request.command, request.params)
                .await
            {
                Ok(ok) => Line::Ok { id: request.id, ok },
                Err(error) => Line::Error { id: request.id, error },
            };
            let _ = lines.send(line).await;
        });
    }
    gone.cancel();
    drop(lines);
    // The writer ends when all answers are sent, or when a line cannot be sent.
    let _ = writer.await;
    Ok(())
}

/// Accepts a client that sent the token and is not a program of a pack.
fn check_admission(
    peer: Result<Peer, PeerRefusal>,
    hello: &Hello,
    token: &str,
) -> Result<Peer, AgentError> {
    let refused = |message: Text, reason: &str, hint: &str| {
        Err(AgentError::new(ErrorCode::InvalidInput, message).reason(reason).hint(hint))
    };
    let peer = match peer {
        Ok(peer) => peer,
        Err(why) => {
            tracing::warn!(%why, "a process was refused at the socket");
            let message = text!(
                "The running Countersign refused this process: {why}.",
                why = why.to_string()
            );
            return refused(
                message,
                "client_refused",
                "Run csign yourself, in a terminal outside of Countersign.",
            );
        }
    };
    if !bool::from(token.as_bytes().ct_eq(hello.token.as_bytes())) {
        tracing::warn!("a process without the token was refused at the socket");
        let message = "The running Countersign refused this process: it did not show the token from the data folder.".into();
        return refused(
            message,
            "token_refused",
            "Use csign with the same data folder, as a user who can read it.",
        );
    }
    Ok(peer)
}

/// Reads the next line. Returns None at the end of the input. A line that is too long or invalid
/// ends the connection.
async fn read_line<T: serde::de::DeserializeOwned>(
    from: &mut BufReader<OwnedReadHalf>,
    most: u64,
) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    let read = from.take(most).read_until(b'\n', &mut line).await?;
    if read == 0 {
        return Ok(None);
    }
    serde_json::from_slice(&line).map(Some).map_err(|error| {
        let why = files::fault::without_values(&error.to_string());
        io::Error::new(io::Error::from(error).kind(), why)
    })
}

async fn write_line(to: &mut OwnedWriteHalf, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    to.write_all(&text).await
}

/// Sends answers and pushes in order. A client that falls too far behind is disconnected, because
/// it must read the whole state again.
async fn write_lines(
    mut to: OwnedWriteHalf,
    mut lines: mpsc::Receiver<Line>,
    mut pushes: broadcast::Receiver<Push>,
) {
    loop {
        // Pushes are sent first, so that an answer is never sent before earlier pushes.
        let line = tokio::select! {
            biased;
            push = pushes.recv() => match push {
                Ok(push) => Line::Push { push: Box::new(push) },
                Err(_) => return,
            },
            line = lines.recv() => match line {
                Some(line) => line,
                None => return,
            },
        };
        if write_line(&mut to, &line).await.is_err() {
            return;
        }
    }
}
