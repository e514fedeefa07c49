//! The local socket: the process that holds a profile serves the command list to further `csign` calls of the same user.
//! A line of JSON each way: a greeting, then `{id, command, params}` -> `{id, ok}` or `{id, error}`, and `{push}` in between.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use contract::{AgentError, Push};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Semaphore, broadcast, mpsc, watch},
    task::JoinHandle,
};

use crate::{Host, Paths, terminal::Terminal};

/// Goes up when the lines change their meaning.
pub(crate) const PROTOCOL: u32 = 1;
/// Bytes of one request.
const REQUEST_BYTES: u64 = 4 << 20;
/// Lines that wait for a slow client before its requests wait too.
const OUTGOING: usize = 256;
/// Requests of one client that run at the same time; further ones wait to be read.
const AT_ONCE: usize = 32;
/// What fits into a socket's address, with room to spare.
const ADDRESS_BYTES: usize = 100;

/// A client's first line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    /// A person sits at the client's standard input.
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
    Ok { id: u64, ok: Value },
    Error { id: u64, error: AgentError },
    Push { push: Box<Push> },
    Hello { protocol: u32 },
}

/// Where the socket of a profile lies. Its name tells nothing of the folder.
pub(crate) fn address(paths: &Paths) -> io::Result<PathBuf> {
    let data = fs::canonicalize(&paths.data)?;
    let name = format!("{}.sock", &engine::sha256_hex(data.as_os_str().as_encoded_bytes())[..16]);
    let set = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let given = set.into_iter().chain([PathBuf::from(format!("/run/user/{}", me()))]);
    let private = given.map(|folder| folder.join("countersign")).chain([std::env::temp_dir().join(format!("countersign-{}", me()))]);
    for folder in private {
        if folder.as_os_str().len() + name.len() < ADDRESS_BYTES && private_folder(&folder).is_ok() {
            return Ok(folder.join(name));
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "there is no private folder for a socket"))
}

/// Makes the folder, or checks that it is ours alone: in a shared place anyone could have made it first.
fn private_folder(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let meta = fs::symlink_metadata(folder)?;
            let ours = meta.is_dir() && meta.uid() == me() && meta.permissions().mode() & 0o077 == 0;
            if ours { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
        }
        other => other,
    }
}

pub(crate) fn me() -> u32 {
    // SAFETY: geteuid takes nothing, changes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// The socket while it is served. Dropping it stops accepting and removes the file.
pub struct Served {
    path: PathBuf,
    accepting: JoinHandle<()>,
    connected: watch::Receiver<usize>,
}

impl Served {
    /// Takes no more clients and waits until those connected have left.
    pub async fn finish(mut self) {
        self.accepting.abort();
        let _ = fs::remove_file(&self.path);
        // The sender ends with the last connection.
        let _ = self.connected.wait_for(|count| *count == 0).await;
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.accepting.abort();
        let _ = fs::remove_file(&self.path);
    }
}

/// Serves a host. The caller holds the profile's lock, so a file of that name is a leftover.
pub fn serve(host: &Arc<Host>) -> io::Result<Served> {
    let path = address(host.paths())?;
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&path)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    let (count, connected) = watch::channel(0);
    let accepting = tokio::spawn(accept(listener, Arc::clone(host), Arc::new(count)));
    Ok(Served { path, accepting, connected })
}

async fn accept(listener: UnixListener, host: Arc<Host>, count: Arc<watch::Sender<usize>>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) if stream.peer_cred().is_ok_and(|peer| peer.uid() == me()) => {
                count.send_modify(|n| *n += 1);
                let (host, count) = (Arc::clone(&host), Arc::clone(&count));
                tokio::spawn(async move {
                    if let Err(error) = connection(stream, host).await {
                        tracing::debug!(%error, "a client of the socket left");
                    }
                    count.send_modify(|n| *n -= 1);
                });
            }
            Ok(_) => tracing::warn!("a process of another user knocked at the socket"),
            Err(error) => {
                tracing::warn!(%error, "a client could not join");
                tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            }
        }
    }
}

async fn connection(stream: UnixStream, host: Arc<Host>) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut requests = BufReader::new(read);
    let Some(hello) = next::<Hello>(&mut requests).await? else { return Ok(()) };
    let pushes = host.subscribe();
    // The greeting is the first line, whatever the host tells meanwhile.
    let mut greeting = serde_json::to_vec(&Line::Hello { protocol: PROTOCOL })?;
    greeting.push(b'\n');
    write.write_all(&greeting).await?;
    let (lines, outgoing) = mpsc::channel(OUTGOING);
    let writer = tokio::spawn(write_lines(write, outgoing, pushes));
    if hello.protocol == PROTOCOL {
        host.ready_for_clients().await;
        let terminal = Arc::new(Terminal::remote(host, hello.terminal));
        let places = Arc::new(Semaphore::new(AT_ONCE));
        while let Some(request) = next::<Request>(&mut requests).await? {
            // Each on its own: a decision must not wait behind the call it decides.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
            let (terminal, lines) = (Arc::clone(&terminal), lines.clone());
            tokio::spawn(async move {
                let _place = place;
                let line = match contract::dispatch(terminal.as_ref(), &request.command, request.params).await {
                    Ok(ok) => Line::Ok { id: request.id, ok },
                    Err(error) => Line::Error { id: request.id, error },
                };
                let _ = lines.send(line).await;
            });
        }
    }
    drop(lines);
    // Ends when the answers under way are given, or with the first line that nobody takes.
    let _ = writer.await;
    Ok(())
}

/// The next line; `None` at the end. A line that is too long or not what is expected ends the connection.
async fn next<T: serde::de::DeserializeOwned>(from: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    let read = from.take(REQUEST_BYTES).read_until(b'\n', &mut line).await?;
    if read == 0 {
        return Ok(None);
    }
    serde_json::from_slice(&line).map(Some).map_err(io::Error::from)
}

/// Answers and pushes, as they come. A client that falls too far behind is let go: it must read everything again.
async fn write_lines(mut to: OwnedWriteHalf, mut lines: mpsc::Receiver<Line>, mut pushes: broadcast::Receiver<Push>) {
    loop {
        // Pushes first: an answer that ends a client's wait must not overtake what was said before it.
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
        let Ok(mut text) = serde_json::to_vec(&line) else { continue };
        text.push(b'\n');
        if to.write_all(&text).await.is_err() {
            return;
        }
    }
}
