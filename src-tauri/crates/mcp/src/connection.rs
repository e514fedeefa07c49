//! One open connection to a server: the list of tools, calls with deadline and cancellation, and
//! the end. The handshake is in `opening`.

mod opening;

use contract::{Text, text};
use std::{sync::Arc, time::Duration};

use engine::ports::ToolFailure;
use rmcp::{
    Peer, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, InputRequest,
        InputRequests, InputResponses, ListToolsRequest, PaginatedRequestParams,
        ReadResourceRequest, ReadResourceRequestParams, ServerResult, SubscriptionFilter,
    },
    service::{PeerRequestOptions, RunningService, ServiceError},
};
use serde_json::{Value, json};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Definition, Resume, failure,
    failure::TransportCause,
    handler::Handler,
    result::{self, Resource},
    transport::Ending,
};

pub(crate) use opening::open;

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
            Some(status) => text!("It ended with {status}.", status = status.to_string()),
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
