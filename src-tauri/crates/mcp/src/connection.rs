//! One open connection to a server: the handshake, the list of tools, calls with deadline and
//! cancellation, and the end.

use contract::{Text, text};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use engine::ports::ToolFailure;
use rmcp::{
    Peer, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, InputRequest,
        InputRequests, InputResponses, ListToolsRequest, PaginatedRequestParams, ProtocolVersion,
        ReadResourceRequest, ReadResourceRequestParams, ServerResult, SubscriptionFilter,
    },
    service::{
        ClientInitializeError, ClientLifecycleMode, ClientServiceExt, PeerRequestOptions,
        RunningService, ServiceError,
    },
    transport::{
        StreamableHttpClientTransport,
        auth::{AuthClient, AuthError},
    },
};
use serde_json::{Value, json};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Address, Definition, Program, Reach, Resume, ServerConfig, Timings, failure,
    failure::TransportCause,
    handler::Handler,
    http, oauth, process,
    result::{self, Resource},
    transport::{Ending, Late, ProcessTransport},
};

/// How long writing a cancellation may take.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(500);
/// How often a server may ask questions within one call, and the wait if it only asks to be called
/// again.
const ROUNDS: u32 = 8;
const BUSY: Duration = Duration::from_millis(50);
/// The most tools, pages and bytes of definitions that a server may list. A server that lists more
/// is not used.
const MAX_TOOLS: usize = 2_000;
const MAX_PAGES: usize = 200;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The part of a connection that sends requests.
pub(crate) struct Connection {
    /// The process id, if the server is a child process.
    pub(crate) pid: Option<u32>,
    peer: Peer<RoleClient>,
    handler: Handler,
}

/// The part of a connection that owns the transport. Waiting for it tells when the server has
/// ended.
pub(crate) struct Session {
    running: RunningService<RoleClient, Handler>,
    ending: Ending,
    /// Notified when the server says that its tools have changed.
    pub(crate) changed: Arc<Notify>,
}

/// Why there is no connection.
pub(crate) enum OpenError {
    /// A reason as a sentence.
    Because(Text),
    /// The server requires a sign-in, or more rights. Contains the server's own challenge.
    SignIn(Option<String>),
}

type OpenResult = Result<(Connection, Session), OpenError>;

/// Connects to the server and does the handshake, with the protocol that the server speaks.
pub(crate) async fn open(config: &ServerConfig, timings: &Timings, handler: Handler) -> OpenResult {
    let opening = async {
        match &config.reach {
            Reach::Program(program) => start(&config.name, program, timings, handler).await,
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
async fn start(name: &str, program: &Program, timings: &Timings, handler: Handler) -> OpenResult {
    let late = Late::default();
    let opened = start_once(name, program, timings, handler.clone(), &late).await;
    match opened {
        Err(_) if late.load(Ordering::SeqCst) => {
            let patient = Timings { probe: timings.start, ..*timings };
            start_once(name, program, &patient, handler, &Late::default()).await
        }
        opened => opened,
    }
}

async fn start_once(
    name: &str,
    program: &Program,
    timings: &Timings,
    handler: Handler,
    late: &Late,
) -> OpenResult {
    let (process, stdout, stdin) = process::start(name, program)
        .await
        .map_err(|error| OpenError::Because(text!("It could not be started: {error}.", error)))?;
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

impl Session {
    /// Waits until the server has ended, or ends it when `stop` is cancelled. The process has then
    /// been reaped. Returns how it ended.
    pub(crate) async fn wait_for_end(self, stop: CancellationToken) -> Text {
        let Self { running, ending, .. } = self;
        let closing = running.cancellation_token();
        let waiting = running.waiting();
        tokio::pin!(waiting);
        let gone = tokio::select! {
            _ = &mut waiting => true,
            () = stop.cancelled() => false,
        };
        if !gone {
            closing.cancel();
            let _ = waiting.await;
        }
        match *ending.lock() {
            Some(status) => text!("It ended with {status}.", status),
            None => "It closed the connection.".into(),
        }
    }
}

impl Connection {
    /// Lists the server's tools. A server without a list has no tools. Fails at the first page that
    /// exceeds a limit.
    pub(crate) async fn tools(&self) -> Result<Vec<Definition>, OpenError> {
        let (mut found, mut bytes, mut cursor) = (Vec::new(), 0, None);
        for _ in 0..MAX_PAGES {
            let page = match self
                .peer
                .list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor)))
                .await
            {
                Ok(page) => page,
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                    return Ok(found);
                }
                Err(error) => {
                    return Err(match failure::request_cause(&error) {
                        Some(TransportCause::Unauthorized(challenge)) => {
                            OpenError::SignIn(challenge)
                        }
                        _ => OpenError::Because(text!(
                            "Its tools could not be listed: {error}.",
                            error = failure::request_kind(&error)
                        )),
                    });
                }
            };
            if found.len() + page.tools.len() > MAX_TOOLS {
                return Err(OpenError::Because(text!(
                    "It lists more than {most} tools.",
                    most = MAX_TOOLS
                )));
            }
            bytes += page.tools.iter().map(|tool| json!(tool).to_string().len()).sum::<usize>();
            if bytes > MAX_BYTES {
                return Err(OpenError::Because(text!(
                    "It describes its tools with more than {size} MiB.",
                    size = MAX_BYTES / 1024 / 1024
                )));
            }
            found.extend(page.tools.iter().map(Definition::of));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(found);
            }
        }
        Err(OpenError::Because(text!(
            "It lists its tools on more than {most} pages.",
            most = MAX_PAGES
        )))
    }

    /// Sends a request that every server answers, to find out whether it still knows this session.
    pub(crate) async fn check_session(
        &self,
        server: &str,
        limits: &Limits,
    ) -> Result<(), ToolFailure> {
        self.request(server, ClientRequest::ListToolsRequest(ListToolsRequest::default()), limits)
            .await
            .map(drop)
    }

    /// Subscribes to changes of the tools, if the server speaks the stateless protocol. Older
    /// servers notify by themselves.
    pub(crate) fn listen(&self, changed: Arc<Notify>) {
        let stateless = self.peer.peer_info().is_some_and(|info| {
            !info.protocol_version.has_initialize()
                && info
                    .capabilities
                    .tools
                    .as_ref()
                    .is_some_and(|tools| tools.list_changed == Some(true))
        });
        if !stateless {
            return;
        }
        let peer = self.peer.clone();
        tokio::spawn(async move {
            let Ok(mut subscription) =
                peer.listen(SubscriptionFilter::builder().tools_list_changed().build()).await
            else {
                return;
            };
            while let Ok(Some(_)) = subscription.next().await {
                changed.notify_one();
            }
        });
    }

    /// Whether the server has ended or is ending.
    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Calls a tool. If the server asks questions first, the tool is called again with the answers,
    /// as a new call; `resume` decides whether it may. Without `resume`, nothing is asked, because
    /// the call changes nothing.
    pub(crate) async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        limits: &Limits,
        resume: Option<&dyn Resume>,
    ) -> Result<Value, ToolFailure> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        match arguments {
            Value::Object(map) => params = params.with_arguments(map),
            Value::Null => {}
            _ => {
                return Err(ToolFailure {
                    error: contract::AgentError::invalid("A tool's arguments must be an object."),
                    may_have_happened: false,
                });
            }
        }
        let mut limits = limits.clone();
        for round in 0..ROUNDS {
            let asked = match self
                .request(
                    server,
                    ClientRequest::CallToolRequest(CallToolRequest::new(params.clone())),
                    &limits,
                )
                .await?
            {
                ServerResult::CallToolResult(done) => return result::value(done),
                ServerResult::InputRequiredResult(asked) => asked,
                ServerResult::CreateTaskResult(_) => {
                    return Err(failure::unexpected_answer(server, "it wants to finish later"));
                }
                _ => return Err(failure::unexpected_answer(server, "it is no tool result")),
            };
            // The time that a person takes does not count.
            let since = Instant::now();
            let answers = tokio::select! {
                answers = self.answer_requests(server, asked.input_requests.unwrap_or_default()) => answers?,
                () = limits.cancel.cancelled() => return Err(failure::cancelled(server, false)),
            };
            match resume {
                Some(resume) if !answers.is_empty() => {
                    resume
                        .resume(&json!(answers))
                        .await
                        .map_err(|error| ToolFailure { error, may_have_happened: false })?;
                }
                _ if answers.is_empty() => sleep(BUSY.saturating_mul(round + 1)).await,
                _ => {}
            }
            if !answers.is_empty() {
                limits.until += since.elapsed();
            }
            params.input_responses = (!answers.is_empty()).then_some(answers);
            params.request_state = asked.request_state;
        }
        Err(failure::unexpected_answer(server, "it asks again and again for further input"))
    }

    /// Asks the user the server's questions, and returns the answers.
    async fn answer_requests(
        &self,
        server: &str,
        requests: InputRequests,
    ) -> Result<InputResponses, ToolFailure> {
        let mut answers = InputResponses::new();
        for (key, request) in requests {
            let InputRequest::Elicitation(question) = request else {
                return Err(failure::unexpected_answer(
                    server,
                    "it asks for something that is not offered",
                ));
            };
            let answer = self.handler.ask(question.params).await;
            answers.insert(
                key,
                serde_json::to_value(answer).map_err(|_| {
                    failure::unexpected_answer(server, "the answer cannot be written")
                })?,
            );
        }
        Ok(answers)
    }

    /// Reads a resource.
    pub(crate) async fn read(
        &self,
        server: &str,
        uri: &str,
        limits: &Limits,
    ) -> Result<Resource, ToolFailure> {
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        match self.request(server, ClientRequest::ReadResourceRequest(request), limits).await? {
            ServerResult::ReadResourceResult(done) => result::resource(server, done),
            _ => Err(failure::unexpected_answer(server, "it is no resource")),
        }
    }

    /// Waits until the time of a call is over. It does not run out while the user is being asked.
    async fn wait_for_deadline(&self, limits: &Limits) {
        sleep_until(limits.until).await;
        while self.handler.is_asking() {
            sleep(limits.timeout).await;
        }
    }

    async fn request(
        &self,
        server: &str,
        request: ClientRequest,
        limits: &Limits,
    ) -> Result<ServerResult, ToolFailure> {
        let options = PeerRequestOptions::with_timeout(limits.timeout);
        // From here on the request may reach the server, even if this call is dropped.
        let mut handle = tokio::select! {
            sent = self.peer.send_request_with_option(request, options) => sent.map_err(|error| service_failure(server, &error))?,
            () = limits.cancel.cancelled() => return Err(failure::cancelled(server, true)),
            () = sleep_until(limits.until) => return Err(failure::timed_out(server, limits.timeout, true)),
        };
        let (failure, why) = tokio::select! {
            answer = &mut handle.rx => return match answer {
                Ok(Ok(result)) => Ok(result),
                Ok(Err(error)) => Err(service_failure(server, &error)),
                Err(_) => Err(failure::connection_lost(server, true)),
            },
            () = limits.cancel.cancelled() => (failure::cancelled(server, true), "stopped by the user"),
            () = self.wait_for_deadline(limits) => (failure::timed_out(server, limits.timeout, true), "no answer in time"),
        };
        // Sent in the background: a server that reads nothing must not block the caller.
        tokio::spawn(timeout(CANCEL_TIMEOUT, handle.cancel(Some(why.to_owned()))));
        Err(failure)
    }
}

fn service_failure(server: &str, error: &ServiceError) -> ToolFailure {
    match error {
        ServiceError::McpError(error) => {
            failure::request_refused(server, error.code.0, &error.message)
        }
        ServiceError::UnexpectedResponse => {
            failure::unexpected_answer(server, "the answer has the wrong shape")
        }
        other => failure::transport_failed(server, failure::request_cause(other)),
    }
}

/// The time limit of a call, and what ends it early.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    pub(crate) until: Instant,
    pub(crate) cancel: CancellationToken,
}

impl Limits {
    pub(crate) fn new(timeout: Duration, cancel: CancellationToken) -> Self {
        Self { timeout, until: Instant::now() + timeout, cancel }
    }
}
