//! One open connection to a server: calls with deadline and cancellation, and the end of the
//! connection. The handshake is in `opening`, the list of tools in `listing`.

mod opening;

use contract::{Text, text};
use std::{sync::Arc, time::Duration};

use engine::ports::ToolFailure;
use rmcp::{
    Peer, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, ClientRequest, InputRequest, InputRequests,
        InputResponses, ListToolsRequest, ReadResourceRequest, ReadResourceRequestParams,
        RequestId, ServerResult, SubscriptionFilter,
    },
    service::{PeerRequestOptions, RunningService, ServiceError},
};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Resume, failure,
    handler::{Followed, Handler},
    listing::{self, Listing},
    result::{self, Resource},
    transport::{Ending, OpenRequests},
};

pub(crate) use failure::OpenError;
pub(crate) use opening::open;

/// How long writing a cancellation may take.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(500);
/// The maximum duration of a call whose server reports progress.
const LONGEST_CALL: Duration = Duration::from_secs(60 * 60);
/// How many times a server may ask questions within one call, and the wait if the server only asks
/// to be called again.
const ROUNDS: u32 = 8;
const BUSY: Duration = Duration::from_millis(50);

/// The part of a connection that sends requests.
pub(crate) struct Connection {
    /// The process id, if the server is a child process.
    pub(crate) pid: Option<u32>,
    peer: Peer<RoleClient>,
    handler: Handler,
    requests: OpenRequests,
    /// The keys of the server, which its messages may repeat.
    secrets: Vec<SecretString>,
}

/// The part of a connection that owns the transport. Waiting for the session ends when the server
/// has ended.
pub(crate) struct Session {
    running: RunningService<RoleClient, Handler>,
    ending: Ending,
    /// Notified when the server reports that its tools have changed.
    pub(crate) changed: Arc<Notify>,
}

impl Session {
    /// Waits until the server has ended, or ends the server when `stop` is cancelled. The process
    /// has been reaped when this returns. Returns how the server ended.
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
            // This also waits until the process is reaped, because a caller may start the server
            // again only after the old process is gone.
            let _ = waiting.await;
        }
        match *ending.lock() {
            Some(status) => text!("It ended with {status}.", status = status.to_string()),
            None => "It closed the connection.".into(),
        }
    }
}

impl Connection {
    /// Lists the server's tools.
    pub(crate) async fn tools(&self) -> Result<Listing, OpenError> {
        listing::list_tools(&self.peer, &self.secrets).await
    }

    /// Sends a request that every server answers, to find out whether the server still knows this
    /// session.
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
    /// servers send notifications without a subscription.
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
            // A server that refuses the subscription still works, because its tools are listed
            // again at the next start.
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
    /// as a new call; `resume` decides whether that is allowed. Without `resume`, the tool changes
    /// nothing, so no decision is needed.
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
                ServerResult::InputRequiredResult(asked) => asked,
                ServerResult::CreateTaskResult(_) => {
                    // Tasks were not offered to the server, and a later result would not reach any
                    // turn.
                    return Err(failure::unexpected_answer(server, "it would answer later"));
                }
                // A result is read even if it has parts that the library does not know.
                done => return result::value(listing::plain(done)),
            };
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
                // The server only asks to be called again. Without a wait, all rounds would be used
                // up at once.
                _ if answers.is_empty() => sleep(BUSY.saturating_mul(round + 1)).await,
                _ => {}
            }
            // The time limit starts again, because time spent waiting for a person, or on a request
            // that reports progress, does not count.
            limits.until = limits.until.max(Instant::now() + limits.timeout);
            params.input_responses = (!answers.is_empty()).then_some(answers);
            // The server keeps no state between the calls, so the next call must contain the state
            // that the server sent.
            params.request_state = asked.request_state;
        }
        Err(failure::unexpected_answer(server, "it asks again and again for further input"))
    }

    /// Asks the user the server's questions. Returns the answers.
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
            _ => Err(failure::unexpected_answer(server, "it is not a resource")),
        }
    }

    /// Waits until the time limit of a call is reached. The time limit starts again with each
    /// progress report of the call, up to the maximum duration. The limit is suspended while the
    /// user is being asked.
    async fn wait_for_deadline(&self, limits: &Limits, followed: &Followed) {
        // A server that reports progress forever must be stopped, too.
        let (mut until, last) = (limits.until, Instant::now() + limits.timeout.max(LONGEST_CALL));
        loop {
            tokio::select! {
                () = followed.progressed() => until = last.min(Instant::now() + limits.timeout),
                () = sleep_until(until) => {
                    // While a person thinks about a question, the server is not silent.
                    if !self.handler.is_asking() {
                        return;
                    }
                    until = Instant::now() + limits.timeout;
                }
            }
        }
    }

    async fn request(
        &self,
        server: &str,
        request: ClientRequest,
        limits: &Limits,
    ) -> Result<ServerResult, ToolFailure> {
        let options = PeerRequestOptions::with_timeout(limits.timeout);
        // From here on, the request may reach the server, even if this call is dropped.
        let mut handle = tokio::select! {
            sent = self.peer.send_request_with_option(request, options) => sent.map_err(|error| self.service_failure(server, &error))?,
            () = limits.cancel.cancelled() => return Err(failure::cancelled(server, true)),
            () = sleep_until(limits.until) => return Err(failure::timed_out(server, limits.timeout, true)),
        };
        let followed = self.handler.follow(&handle.progress_token);
        let (failure, why) = tokio::select! {
            answer = &mut handle.rx => return match answer {
                Ok(Ok(result)) => Ok(result),
                Ok(Err(error)) => Err(self.refused(server, &handle.id, &error)),
                Err(_) => Err(failure::connection_lost(server, true)),
            },
            () = limits.cancel.cancelled() => (failure::cancelled(server, true), "stopped by the user"),
            () = self.wait_for_deadline(limits, &followed) => (failure::timed_out(server, limits.timeout, true), "no answer in time"),
        };
        // The cancellation is sent in the background, because a server that reads nothing must not
        // block the caller.
        tokio::spawn(timeout(CANCEL_TIMEOUT, handle.cancel(Some(why.to_owned()))));
        Err(failure)
    }

    fn refused(&self, server: &str, id: &RequestId, error: &ServiceError) -> ToolFailure {
        match (error, self.requests.take_unread(id)) {
            (ServiceError::McpError(error), Some(is_own)) => failure::unread(server, error, is_own),
            _ => self.service_failure(server, error),
        }
    }

    fn service_failure(&self, server: &str, error: &ServiceError) -> ToolFailure {
        match error {
            ServiceError::McpError(error) => failure::request_refused(server, error),
            ServiceError::UnexpectedResponse => {
                failure::unexpected_answer(server, "the answer has the wrong shape")
            }
            other => {
                failure::transport_failed(server, failure::request_cause(other), &self.secrets)
            }
        }
    }
}

/// The time limit of a call, and the token that cancels it.
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
