//! Opens the connection to a program. The app sends the first requests itself, because the library
//! has its own time limit and gives up at the first unexpected answer. The newest protocol's first
//! request is sent first. If the program does not know it, the older protocol's first request
//! follows, and older versions of that protocol if the program refuses. A program that ends or
//! stops answering is started again with the other request first. Each start gets the full time.

use std::{
    os::fd::{AsFd as _, AsRawFd as _, OwnedFd},
    sync::Arc,
    time::Duration,
};

use contract::{Text, text};
use rmcp::{
    ClientHandler as _, RoleClient,
    model::{
        ClientRequest, ClientResult, DiscoverRequest, DiscoverRequestParams, ErrorCode, ErrorData,
        InitializeRequest, JsonRpcMessage, ProtocolVersion, RequestId, RequestMetaObject,
        ServerRequest, ServerResult,
    },
    service::{ClientServiceExt as _, RxJsonRpcMessage},
    transport::Transport as _,
};
use secrecy::SecretString;
use tokio::{
    process::ChildStdin,
    time::{Instant, sleep, timeout},
};

use super::{OpenResult, newest, older, split_running, too_slow, versions::Versions};
use crate::{
    Program, Timings,
    failure::{self, OpenError},
    handler::Handler,
    log::ServerLog,
    process, repair,
    transport::{Ending, Lines, Mending, OpenRequests, ProcessTransport, Unnamed, lines},
    words,
};

/// The ids of the app's own requests. The library counts its ids from 0. The older protocol's first
/// request is sent for several versions, each with its own id.
const NEWEST: i64 = 1_000_000_001;
const OLDER: i64 = 1_000_000_002;
/// How often to check whether the program has read a request.
const LOOK: Duration = Duration::from_millis(25);
/// How many times longer than the first request the second request may stay unanswered after the
/// program has read it. After that, the program is started again.
const PATIENCE: u32 = 6;

/// The request with which a start of the program begins. Each further start uses a later variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum First {
    /// The newest protocol's request, then the older protocol's.
    Either,
    /// Only the older protocol's request, and after a while the request for its first version.
    Older,
    /// Only the request for the older protocol's first version.
    Oldest,
    /// Only the newest protocol's request.
    Newest,
}

/// Why a start did not lead to a connection, and which request to begin the next start with.
struct Failed {
    why: Text,
    next: Option<First>,
    refused_newest: bool,
}

impl Failed {
    fn because(why: impl Into<Text>) -> Self {
        Self { why: why.into(), next: None, refused_newest: false }
    }
}

/// Starts the server's program repeatedly until it answers one of the requests.
pub(super) async fn start(
    (name, log): (&str, &ServerLog),
    program: &Program,
    timings: &Timings,
    handler: Handler,
) -> OpenResult {
    let (mut first, mut knows_newest) = (First::Either, true);
    loop {
        let starting = start_once((name, log), program, timings, handler.clone(), first);
        let failed = match timeout(timings.start, starting).await {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(failed)) => failed,
            // The program is not started again, because a slow program, such as one that must be
            // downloaded, would begin from the start.
            Err(_) => return Err(OpenError::Because(too_slow(timings))),
        };
        knows_newest &= !failed.refused_newest;
        match failed.next {
            // Each start begins with a later variant than the previous start, so the loop ends.
            Some(next) if next > first && (knows_newest || next != First::Newest) => {
                tracing::info!(server = %name, why = %failed.why, ?next, "the program is started again");
                first = next;
            }
            _ => return Err(OpenError::Because(failed.why)),
        }
    }
}

async fn start_once(
    (name, log): (&str, &ServerLog),
    program: &Program,
    timings: &Timings,
    handler: Handler,
    first: First,
) -> Result<super::Opened, Failed> {
    let (mut process, stdout, stdin) =
        process::start(name, program, log).await.map_err(|error| Failed::because(error.text()))?;
    let pid = process.pid();
    let written = Written::to(&stdin);
    let secrets = program.read_secrets().await;
    let mut talk = Talk::new(lines(stdout, stdin), written, &handler, timings, secrets);
    let agreed = talk.agree(first).await;
    let Talk { lines, written, refused_newest, secrets, .. } = talk;
    // An open copy of the program's input would prevent the program from seeing the end of its
    // input.
    drop(written);
    let agreed = match agreed {
        Ok(agreed) => agreed,
        Err(Refusal { why, next, ended }) => {
            // The program's input is closed, and the program must end before it is started again.
            drop(lines);
            let status = process.stop(timings.grace).await;
            let why = match status {
                Some(status) if ended => {
                    text!("It ended with {status} during the start.", status = status.to_string())
                }
                _ => text!("It ended or misbehaved during the handshake: {error}.", error = why),
            };
            return Err(Failed { why, next, refused_newest });
        }
    };
    let mode = match &agreed {
        ServerResult::DiscoverResult(_) => newest(),
        _ => older(),
    };
    let (ending, requests) = (Ending::default(), OpenRequests::default());
    let transport =
        ProcessTransport::new(lines, process, agreed, timings.grace, Arc::clone(&ending));
    let transport = Mending::new(transport, requests.clone(), Unnamed::MayMeanAny);
    match handler.clone().serve_with_lifecycle(transport, mode).await {
        Ok(running) => Ok(split_running(Some(pid), running, ending, handler, requests, secrets)),
        Err(error) => Err(Failed::because(text!(
            "It ended or misbehaved during the handshake: {error}.",
            error = failure::opening_kind(&error)
        ))),
    }
}

/// Checks whether a program has read everything that was written to it. Must be dropped after the
/// opening, because it keeps the program's input open.
struct Written(Option<OwnedFd>);

impl Written {
    fn to(stdin: &ChildStdin) -> Self {
        Self(stdin.as_fd().try_clone_to_owned().ok())
    }

    fn is_read(&self) -> bool {
        let Some(pipe) = &self.0 else { return true };
        let mut bytes: libc::c_int = 0;
        // SAFETY: the descriptor is open, and the call writes one number to a live variable.
        let asked = unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &raw mut bytes) };
        // If the system cannot report this, the input counts as read.
        asked != 0 || bytes == 0
    }
}

/// Why the handshake with the program failed.
struct Refusal {
    why: Text,
    next: Option<First>,
    ended: bool,
}

/// The next message of a program, or why there is none.
enum Received {
    Message(Box<RxJsonRpcMessage<RoleClient>>),
    Quiet,
    End,
}

/// The handshake with a program: the requests so far, and the program's answers.
struct Talk<'a> {
    lines: Lines,
    written: Written,
    handler: &'a Handler,
    probe: Duration,
    /// The keys of the program, which its messages may repeat.
    secrets: Vec<SecretString>,
    /// The id of the last request for the older protocol. None before the first request.
    asked_older: Option<i64>,
    versions: Versions,
    /// Whether a silent program was asked for the older protocol's first version.
    asked_oldest: bool,
    /// The answer to the newest protocol's request.
    newest: Option<ServerResult>,
    refused_newest: bool,
    /// The time at which the program has read the last request.
    read_since: Option<Instant>,
    /// Whether the program has read any request.
    has_read: bool,
}

impl<'a> Talk<'a> {
    fn new(
        lines: Lines,
        written: Written,
        handler: &'a Handler,
        timings: &Timings,
        secrets: Vec<SecretString>,
    ) -> Self {
        Self {
            lines,
            written,
            handler,
            probe: timings.probe,
            secrets,
            asked_older: None,
            versions: Versions::default(),
            asked_oldest: false,
            newest: None,
            refused_newest: false,
            read_since: None,
            has_read: false,
        }
    }

    /// Sends requests until the program has answered one of them correctly. Returns that answer.
    async fn agree(&mut self, first: First) -> Result<ServerResult, Refusal> {
        match first {
            First::Either | First::Newest => self.ask_newest().await,
            First::Older => self.ask_older(ProtocolVersion::LATEST_WITH_INITIALIZE).await,
            First::Oldest => self.ask_oldest().await,
        }
        loop {
            match self.receive(self.patience(first)).await {
                Received::Message(message) => {
                    if let Some(agreed) = self.take(*message, first).await? {
                        return Ok(agreed);
                    }
                }
                Received::Quiet => match self.newest.take() {
                    Some(newest) => return Ok(newest),
                    None if first == First::Older => self.ask_oldest().await,
                    None if self.asked_older.is_some() => {
                        return Err(refusal("it does not answer", Some(First::Older)));
                    }
                    None => self.ask_older(ProtocolVersion::LATEST_WITH_INITIALIZE).await,
                },
                Received::End => return Err(self.ended(first)),
            }
        }
    }

    /// Returns how long a request may stay unanswered, or None if only the time limit of the start
    /// applies.
    fn patience(&self, first: First) -> Option<Duration> {
        match (first, self.asked_older.is_some(), &self.newest) {
            (First::Either, false, _) | (_, true, Some(_)) => Some(self.probe),
            (First::Either, true, None) => Some(self.probe * PATIENCE),
            (First::Older, _, _) if !self.asked_oldest => Some(self.probe * PATIENCE),
            (First::Older | First::Oldest | First::Newest, _, _) => None,
        }
    }

    /// Waits for a message. The time is counted from the moment when the program has read the
    /// request, because until then the program is still starting.
    async fn receive(&mut self, patience: Option<Duration>) -> Received {
        loop {
            tokio::select! {
                message = self.lines.receive() => {
                    return message.map_or(Received::End, |message| Received::Message(Box::new(message)));
                }
                () = sleep(LOOK) => {}
            }
            if self.read_since.is_none() && self.written.is_read() {
                self.read_since = Some(Instant::now());
                self.has_read = true;
            }
            let silent = self.read_since.map(|since| since.elapsed());
            if patience.is_some_and(|patience| silent.is_some_and(|silent| silent >= patience)) {
                return Received::Quiet;
            }
        }
    }

    /// Handles a message. Returns the answer that opens the connection, if the message is that
    /// answer.
    async fn take(
        &mut self,
        message: RxJsonRpcMessage<RoleClient>,
        first: First,
    ) -> Result<Option<ServerResult>, Refusal> {
        match message {
            JsonRpcMessage::Response(response) if self.is_older(&response.id) => {
                match repair::initialize_result(response.result) {
                    Some(result) => Ok(Some(ServerResult::InitializeResult(result))),
                    None => self.refused("its answer does not belong to the request".into(), first),
                }
            }
            JsonRpcMessage::Response(response) if is(&response.id, NEWEST) => {
                let answer = repair::discover_result(response.result)
                    .filter(|said| said.supported_versions.contains(&ProtocolVersion::LATEST));
                match answer.map(ServerResult::DiscoverResult) {
                    Some(answer) if self.asked_older.is_some() => {
                        // The other request is still unanswered.
                        (self.newest, self.read_since) = (Some(answer), None);
                        Ok(None)
                    }
                    Some(answer) => Ok(Some(answer)),
                    None => self.newest_is_unknown(incompatible(), first).await,
                }
            }
            JsonRpcMessage::Error(error) => {
                let of_newest = match &error.id {
                    Some(id) => is(id, NEWEST),
                    None => self.asked_older.is_none(),
                };
                let why = words::refusal_kind(&error.error, &self.secrets);
                match &error.id {
                    _ if of_newest => self.newest_is_unknown(why, first).await,
                    // This error belongs to no message of the app, but for example to the program's
                    // own start.
                    _ if self.asked_older.is_none() => Ok(None),
                    Some(id) if !self.asked_older.is_some_and(|last| is(id, last)) => Ok(None),
                    _ => match self.next_version(&error.error) {
                        Some(version) => {
                            self.ask_older(version).await;
                            Ok(None)
                        }
                        None => self.refused(why, first),
                    },
                }
            }
            JsonRpcMessage::Request(request)
                if matches!(request.request, ServerRequest::PingRequest(_)) =>
            {
                let answer = JsonRpcMessage::response(ClientResult::empty(()), request.id);
                let _ = self.lines.send(answer).await;
                Ok(None)
            }
            // The program may wait for the answer to its request before it answers the app's
            // request.
            JsonRpcMessage::Request(request) => {
                let unknown = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None);
                let _ = self.lines.send(JsonRpcMessage::error(unknown, Some(request.id))).await;
                Ok(None)
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Notification(_) => Ok(None),
        }
    }

    /// Handles that the program does not speak the newest protocol.
    async fn newest_is_unknown(
        &mut self,
        why: Text,
        first: First,
    ) -> Result<Option<ServerResult>, Refusal> {
        self.refused_newest = true;
        match first {
            First::Newest => return Err(refusal(why, None)),
            First::Either | First::Older | First::Oldest if self.asked_older.is_some() => {}
            First::Either | First::Older | First::Oldest => {
                self.ask_older(ProtocolVersion::LATEST_WITH_INITIALIZE).await;
            }
        }
        Ok(None)
    }

    /// Handles that the program refuses the older protocol's request.
    fn refused(&mut self, why: Text, first: First) -> Result<Option<ServerResult>, Refusal> {
        match self.newest.take() {
            Some(newest) => Ok(Some(newest)),
            None if first == First::Either => Err(refusal(why, Some(First::Older))),
            None => Err(refusal(why, Some(First::Newest))),
        }
    }

    /// Returns the version to ask for after the program has refused a version.
    fn next_version(&mut self, refusal: &ErrorData) -> Option<ProtocolVersion> {
        if self.newest.is_some() { None } else { self.versions.after(refusal) }
    }

    fn is_older(&self, id: &RequestId) -> bool {
        self.asked_older.is_some_and(|last| (OLDER..=last).any(|number| is(id, number)))
    }

    /// Handles the end of the program. If the program had not read the request, the request was not
    /// the reason.
    fn ended(&self, first: First) -> Refusal {
        let next = match first {
            _ if !self.has_read && !self.written.is_read() => None,
            First::Either if self.newest.is_some() => Some(First::Newest),
            First::Either => Some(First::Older),
            First::Older => Some(First::Oldest),
            First::Oldest | First::Newest => None,
        };
        Refusal { why: "it closed the connection".into(), next, ended: true }
    }

    async fn ask_newest(&mut self) {
        let info = self.handler.get_info();
        let mut request = DiscoverRequest::new(DiscoverRequestParams {});
        request.extensions.insert(RequestMetaObject::with_client_context(
            ProtocolVersion::LATEST,
            info.client_info,
            info.capabilities,
        ));
        self.ask(ClientRequest::DiscoverRequest(request), NEWEST).await;
    }

    async fn ask_older(&mut self, version: ProtocolVersion) {
        let id = self.asked_older.map_or(OLDER, |last| last + 1);
        self.asked_older = Some(id);
        let info = self.handler.get_info().with_protocol_version(version);
        self.ask(ClientRequest::InitializeRequest(InitializeRequest::new(info)), id).await;
    }

    async fn ask_oldest(&mut self) {
        self.asked_oldest = true;
        if let Some(version) = self.versions.oldest() {
            self.ask_older(version).await;
        }
    }

    async fn ask(&mut self, request: ClientRequest, id: i64) {
        // A program that has read any request has started, and may never read the next request.
        self.read_since = self.has_read.then(Instant::now);
        let sent = self.lines.send(JsonRpcMessage::request(request, RequestId::Number(id))).await;
        // The program has closed its input, but its earlier lines are still read.
        if let Err(error) = sent {
            tracing::debug!(%error, "a program reads no question");
        }
    }
}

fn is(id: &RequestId, number: i64) -> bool {
    match id {
        RequestId::Number(id) => *id == number,
        RequestId::String(text) => text.parse() == Ok(number),
    }
}

fn incompatible() -> Text {
    "it supports no version of the protocol that this app supports".into()
}

fn refusal(why: impl Into<Text>, next: Option<First>) -> Refusal {
    Refusal { why: why.into(), next, ended: false }
}
