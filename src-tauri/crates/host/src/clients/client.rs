//! A client for a host in another process: sends commands over the local socket and receives
//! pushes.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use contract::{
    AgentError, Approval, AuditRecordView, Commands, ErrorCode, PolicyView, Push, RunResponse,
    ServiceLevelView, SessionView, VerifyReport, params::*, with_commands,
};
use parking_lot::Mutex;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{broadcast, oneshot},
    task::JoinHandle,
};

use super::socket::{Hello, Line, PROTOCOL, Request};
use crate::{
    keys::OwnKeys,
    profile::{Paths, effective_user, socket_path},
};

/// The number of pushes that a slow reader may fall behind.
const BEHIND: usize = 8_192;

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Value, AgentError>>>>>;

/// A host in another process.
pub struct Client {
    next: AtomicU64,
    to: tokio::sync::Mutex<OwnedWriteHalf>,
    waiting: Waiting,
    reading: JoinHandle<()>,
    own_keys: OwnKeys,
}

/// Why the connection failed.
#[derive(Debug, thiserror::Error)]
pub enum NotConnected {
    #[error("another version of Countersign is running")]
    OtherVersion,
    #[error("{}", .0.message)]
    Refused(AgentError),
    /// An error after which a retry may help, because the other process may be starting or ending.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Connects to the process that has the profile open. `at_terminal` says whether a person uses this
/// process's standard input.
pub async fn connect(
    paths: &Paths,
    at_terminal: bool,
) -> Result<(Arc<Client>, broadcast::Receiver<Push>), NotConnected> {
    let stream = UnixStream::connect(socket_path(paths)?).await?;
    if stream.peer_cred()?.uid() != effective_user() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the socket belongs to another user",
        )
        .into());
    }
    // The token file is read after connecting. It is written before the socket exists, so the token
    // belongs to the process that serves the socket now.
    let token = files::read_text(&paths.token(), files::NAME).unwrap_or_default();
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    send_line(&mut write, &Hello { protocol: PROTOCOL, token, terminal: at_terminal }).await?;
    let own_keys = match lines.next_line().await?.map(|line| serde_json::from_str(&line)) {
        Some(Ok(Line::Hello { protocol: PROTOCOL, credentials })) => {
            OwnKeys::from_environment(&credentials)
        }
        Some(Ok(Line::Refused { refused })) => return Err(NotConnected::Refused(refused)),
        Some(_) => return Err(NotConnected::OtherVersion),
        None => return Err(io::Error::from(io::ErrorKind::ConnectionReset).into()),
    };
    let (pushes, receiver) = broadcast::channel(BEHIND);
    let waiting = Waiting::default();
    let reading = tokio::spawn(read_lines(lines, Arc::clone(&waiting), pushes));
    Ok((
        Arc::new(Client {
            next: AtomicU64::new(1),
            to: tokio::sync::Mutex::new(write),
            waiting,
            reading,
            own_keys,
        }),
        receiver,
    ))
}

impl Client {
    async fn call<P: Serialize, R: DeserializeOwned>(
        &self,
        command: &str,
        params: P,
    ) -> Result<R, AgentError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let params = self
            .own_keys
            .filter_params(command, serde_json::to_value(params).map_err(|_| connection_lost())?)?;
        let (tell, told) = oneshot::channel();
        self.waiting.lock().insert(id, tell);
        if self.reading.is_finished() {
            return Err(connection_lost());
        }
        let request = Request { id, command: command.to_owned(), params };
        send_line(&mut *self.to.lock().await, &request).await.map_err(|_| connection_lost())?;
        let answer = told.await.unwrap_or_else(|_| Err(connection_lost()))?;
        serde_json::from_value(answer).map_err(|_| {
            AgentError::internal(
                "protocol",
                "The running Countersign answered something unexpected.",
            )
        })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

async fn send_line(to: &mut OwnedWriteHalf, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    to.write_all(&text).await
}

/// Passes answers to their callers and pushes to subscribers. At the end, all waiting callers get
/// an error.
async fn read_lines(
    mut lines: Lines<BufReader<OwnedReadHalf>>,
    waiting: Waiting,
    pushes: broadcast::Sender<Push>,
) {
    while let Ok(Some(line)) = lines.next_line().await {
        let (id, answer) = match serde_json::from_str(&line) {
            Ok(Line::Ok { id, ok }) => (id, Ok(ok)),
            Ok(Line::Error { id, error }) => (id, Err(error)),
            Ok(Line::Push { push }) => {
                // The send fails if there is no subscriber.
                let _ = pushes.send(*push);
                continue;
            }
            Ok(Line::Hello { .. } | Line::Refused { .. }) => continue,
            Err(error) => {
                tracing::warn!(%error, "a line of the socket cannot be read");
                continue;
            }
        };
        if let Some(tell) = waiting.lock().remove(&id) {
            let _ = tell.send(answer);
        }
    }
    waiting.lock().clear();
}

fn connection_lost() -> AgentError {
    AgentError::new(ErrorCode::InternalError, "The connection to the running Countersign was lost.")
        .reason("connection_lost")
        .hint("Run the command again.")
}

macro_rules! remote {
    (
        chat { $($name:ident($params:ty) -> $response:ty, $level:ident, $help:literal;)+ }
        approval { $($aname:ident($aparams:ty) -> $aresponse:ty, $alevel:ident, $ahelp:literal;)+ }
    ) => {
        #[async_trait]
        impl Commands for Client {
            $(async fn $name(&self, params: $params) -> Result<$response, AgentError> {
                self.call(stringify!($name), params).await
            })+
            $(async fn $aname(&self, params: $aparams) -> Result<$aresponse, AgentError> {
                self.call(stringify!($aname), params).await
            })+
        }
    };
}

with_commands!(remote);
