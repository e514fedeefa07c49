//! Exchanges messages with a server, for the protocol library. `ProcessTransport` communicates with
//! a process: the first request was already answered, so the transport answers the library itself,
//! and closing ends the process. `Mending` wraps each transport: it repairs the answer that opens a
//! connection. An error of a program that names no request ends all open requests, unless the error
//! may refer to a notification.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    process::ExitStatus,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use rmcp::{
    RoleClient,
    model::{
        ClientNotification, ClientRequest, ErrorCode, GetMeta as _, JsonRpcMessage,
        ProtocolVersion, RequestId, ServerResult,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::process::{ChildStdin, ChildStdout};

use crate::{lines::MendedLines, process::ServerProcess, repair};

/// The maximum length of a line from a server, in bytes. Longer lines are dropped. The limit is
/// high because some servers send a result twice in one line, as text and as a value.
pub(crate) const LONGEST_LINE: usize = 48 * 1024 * 1024;

/// The exit status of a process, once it has ended.
pub(crate) type Ending = Arc<Mutex<Option<ExitStatus>>>;

/// The line transport of a server's process.
pub(crate) type Lines = AsyncRwTransport<RoleClient, MendedLines<ChildStdout>, ChildStdin>;

/// Returns the line transport of a server's process.
pub(crate) fn lines(stdout: ChildStdout, stdin: ChildStdin) -> Lines {
    // A converted line may be longer than the original line.
    AsyncRwTransport::new_client(MendedLines::new(stdout, LONGEST_LINE), stdin)
        .with_max_line_length(2 * LONGEST_LINE)
}

/// The transport of one server process.
pub(crate) struct ProcessTransport {
    lines: Lines,
    process: ServerProcess,
    grace: Duration,
    ending: Ending,
    /// The server's answer to the request that opens the connection.
    opening: Option<ServerResult>,
    /// The same answer, after the library has sent the request.
    answer: Option<RxJsonRpcMessage<RoleClient>>,
}

impl ProcessTransport {
    pub(crate) fn new(
        lines: Lines,
        process: ServerProcess,
        opening: ServerResult,
        grace: Duration,
        ending: Ending,
    ) -> Self {
        Self { lines, process, grace, ending, opening: Some(opening), answer: None }
    }
}

fn opens(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_))
}

impl Transport<RoleClient> for ProcessTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item
            && opens(&request.request)
            && let Some(result) = self.opening.take()
        {
            // This request was already sent to the server during the opening, so the library gets
            // the known answer.
            self.answer = Some(JsonRpcMessage::response(result, request.id.clone()));
        }
        let sending = self.answer.is_none().then(|| self.lines.send(item));
        async move {
            match sending {
                Some(sending) => sending.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        match self.answer.take() {
            Some(answer) => Some(answer),
            None => self.lines.receive().await,
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Closing its input asks a server to end.
        let closed = self.lines.close().await;
        let status = self.process.stop(self.grace).await;
        *self.ending.lock() = status;
        closed
    }
}

/// The requests that wait for an answer, and the requests that ended with an error that names no
/// request.
#[derive(Clone, Default)]
pub(crate) struct OpenRequests(Arc<Mutex<Requests>>);

#[derive(Default)]
struct Requests {
    open: Vec<Open>,
    /// Whether a notification was sent that the server may not have read yet, so that an error may
    /// be the answer to it. Some servers answer notifications with an error.
    may_mean_notice: bool,
    /// Whether a request was cancelled. Its answer may still arrive.
    has_given_up: bool,
    /// For each request, whether the error certainly belonged to it.
    unread: BTreeMap<String, bool>,
}

struct Open {
    id: RequestId,
    /// Whether no notification was sent after the request, so that the request's answer follows all
    /// answers to notifications.
    is_last: bool,
}

impl OpenRequests {
    fn begin(&self, id: RequestId) {
        self.0.lock().open.push(Open { id, is_last: true });
    }

    fn end(&self, id: &RequestId) {
        // Some servers write the number of a request as a text.
        let id = id.to_string();
        let mut requests = self.0.lock();
        if let Some(at) = requests.open.iter().position(|open| open.id.to_string() == id) {
            let ended = requests.open.remove(at);
            requests.may_mean_notice &= !ended.is_last;
        }
    }

    fn note_notice(&self) {
        let mut requests = self.0.lock();
        requests.may_mean_notice = true;
        requests.open.iter_mut().for_each(|open| open.is_last = false);
    }

    fn give_up(&self, id: &RequestId) {
        let id = id.to_string();
        let mut requests = self.0.lock();
        requests.open.retain(|open| open.id.to_string() != id);
        requests.has_given_up = true;
    }

    /// Ends and returns all open requests, because an error arrived that names no request and
    /// cannot refer to a notification.
    fn end_all(&self, code: ErrorCode) -> Vec<RequestId> {
        let mut requests = self.0.lock();
        // A server that does not know a notification answers with this error, and the running calls
        // continue.
        if requests.may_mean_notice || code == ErrorCode::METHOD_NOT_FOUND {
            return Vec::new();
        }
        let ended: Vec<RequestId> =
            std::mem::take(&mut requests.open).into_iter().map(|open| open.id).collect();
        // If there are several requests, it is unknown which request failed, and whether it took
        // effect.
        let is_own = ended.len() == 1 && !requests.has_given_up;
        requests.unread.extend(ended.iter().map(|id| (id.to_string(), is_own)));
        ended
    }

    /// Notes that a request was answered with an error that names no request.
    pub(crate) fn note_unread(&self, id: &RequestId) {
        self.0.lock().unread.insert(id.to_string(), true);
    }

    /// Returns whether the error certainly belonged to the request, if the request ended with an
    /// error that names no request.
    pub(crate) fn take_unread(&self, id: &RequestId) -> Option<bool> {
        self.0.lock().unread.remove(&id.to_string())
    }
}

/// How an error is handled that names no request.
#[derive(Clone, Copy)]
pub(crate) enum Unnamed {
    /// All messages share one stream, so the error can refer to any open request.
    MayMeanAny,
    /// `posts` has already assigned the answers to their requests, so the error refers to no
    /// request.
    MeansNone,
}

/// A transport that repairs non-conforming messages.
pub(crate) struct Mending<T> {
    inner: T,
    requests: OpenRequests,
    unnamed: Unnamed,
    /// The id of the request that opens the connection.
    opening: Option<RequestId>,
    /// The version of a repaired answer. The library did not read this version, so it is added to
    /// each request.
    version: Option<ProtocolVersion>,
    ready: VecDeque<RxJsonRpcMessage<RoleClient>>,
}

impl<T> Mending<T> {
    pub(crate) fn new(inner: T, requests: OpenRequests, unnamed: Unnamed) -> Self {
        Self { inner, requests, unnamed, opening: None, version: None, ready: VecDeque::new() }
    }

    fn note_sent(&mut self, item: &mut TxJsonRpcMessage<RoleClient>) -> Option<RequestId> {
        match item {
            JsonRpcMessage::Request(request) => {
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    self.opening = Some(request.id.clone());
                } else if let Some(version) = &self.version {
                    request.request.get_meta_mut().set_protocol_version(version.clone());
                }
                // A subscription stays open as long as the connection.
                let ends = !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                ends.then(|| {
                    self.requests.begin(request.id.clone());
                    request.id.clone()
                })
            }
            JsonRpcMessage::Notification(note) => {
                self.requests.note_notice();
                if let ClientNotification::CancelledNotification(cancelled) = &note.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.requests.give_up(id);
                }
                None
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => None,
        }
    }

    /// Repairs a message. Returns None if the message was dropped.
    fn mend(
        &mut self,
        mut message: RxJsonRpcMessage<RoleClient>,
    ) -> Option<RxJsonRpcMessage<RoleClient>> {
        match &mut message {
            JsonRpcMessage::Response(response) => {
                self.requests.end(&response.id);
                if self.opening.take_if(|id| id.to_string() == response.id.to_string()).is_some()
                    && !matches!(response.result, ServerResult::InitializeResult(_))
                    && let Some(repaired) = repair::initialize_result(response.result.clone())
                {
                    self.version = Some(repaired.protocol_version.clone());
                    response.result = ServerResult::InitializeResult(repaired);
                }
            }
            JsonRpcMessage::Error(error) => match &error.id {
                Some(id) if is_ours(id) => self.requests.end(id),
                _ => {
                    let ended = match self.unnamed {
                        Unnamed::MeansNone => Vec::new(),
                        Unnamed::MayMeanAny => self.requests.end_all(error.error.code),
                    };
                    if ended.is_empty() {
                        let code = error.error.code.0;
                        tracing::debug!(code, "an error that names no request is left out");
                    }
                    self.ready.extend(
                        ended
                            .into_iter()
                            .map(|id| JsonRpcMessage::error(error.error.clone(), Some(id))),
                    );
                    return self.ready.pop_front();
                }
            },
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
        Some(message)
    }
}

/// Whether an id can belong to one of this app's requests, which have numbers.
pub(crate) fn is_ours(id: &RequestId) -> bool {
    match id {
        RequestId::Number(_) => true,
        RequestId::String(text) => text.parse::<i64>().is_ok(),
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Mending<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        mut item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let id = self.note_sent(&mut item);
        let (sending, requests) = (self.inner.send(item), self.requests.clone());
        async move {
            let sent = sending.await;
            if let (Err(_), Some(id)) = (&sent, &id) {
                // The request was not sent, so it will not be answered.
                requests.end(id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            let message = self.inner.receive().await?;
            if let Some(mended) = self.mend(message) {
                return Some(mended);
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.inner.close().await
    }
}
