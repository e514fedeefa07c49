//! One live connection to a server: the handshake, calls with deadline and cancel, the end.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use engine::ports::ToolFailure;
use rmcp::{
    Peer, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest, Implementation, ProtocolVersion, ReadResourceRequest,
        ReadResourceRequestParams, ServerResult,
    },
    service::{ClientLifecycleMode, ClientServiceExt, PeerRequestOptions, RunningService, ServiceError},
};
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    ServerConfig, Timings, failure, process,
    result::{self, Resource},
    transport::{Ending, ProcessTransport},
};

/// How long a "never mind" may take to be written.
const SAY_CANCELLED: Duration = Duration::from_millis(500);

/// What is needed to talk to a running server.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) pid: u32,
    peer: Peer<RoleClient>,
}

/// The part that owns the process: waiting on it tells when the server is gone.
pub(crate) struct Session {
    running: RunningService<RoleClient, ClientConfig>,
    ending: Ending,
}

/// Starts the process and shakes hands.
pub(crate) async fn open(config: &ServerConfig, timings: &Timings) -> Result<(Connection, Session), String> {
    let (process, stdout, stdin) = process::start(config).await.map_err(|error| format!("It could not be started: {error}."))?;
    let pid = process.pid();
    let ending = Ending::default();
    let transport = ProcessTransport::new(process, stdout, stdin, timings, Arc::clone(&ending));
    let me = ClientConfig::new(ClientCapabilities::default(), Implementation::new("countersign", env!("CARGO_PKG_VERSION")));
    let mode =
        ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE) };
    match timeout(timings.start, me.serve_with_lifecycle(transport, mode)).await {
        Ok(Ok(running)) => Ok((Connection { pid, peer: running.peer().clone() }, Session { running, ending })),
        Ok(Err(error)) => Err(format!("It ended or misbehaved during the handshake ({error}).")),
        Err(_) => Err(format!("It did not answer within {} seconds.", timings.start.as_secs_f32())),
    }
}

impl Session {
    /// Waits until the server is gone or `stop` asks for its end; then the process has been ended and reaped.
    /// Gives how it ended.
    pub(crate) async fn over(self, stop: CancellationToken) -> String {
        let Self { running, ending } = self;
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
        match *ending.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(status) => format!("It ended with {status}."),
            None => "It closed the connection.".to_owned(),
        }
    }
}

impl Connection {
    /// The server is gone or going.
    pub(crate) fn closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, server: &str, tool: &str, arguments: Value, limits: &Limits) -> Result<Value, ToolFailure> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        match arguments {
            Value::Object(map) => params = params.with_arguments(map),
            Value::Null => {}
            _ => return Err(ToolFailure { error: contract::AgentError::invalid("A tool's arguments must be an object."), may_have_happened: false }),
        }
        match self.request(server, ClientRequest::CallToolRequest(CallToolRequest::new(params)), limits).await? {
            ServerResult::CallToolResult(done) => result::value(done),
            ServerResult::InputRequiredResult(_) => Err(failure::odd_answer(server, "it asks for further input")),
            ServerResult::CreateTaskResult(_) => Err(failure::odd_answer(server, "it wants to finish later")),
            _ => Err(failure::odd_answer(server, "it is no tool result")),
        }
    }

    /// Reads a resource.
    pub(crate) async fn read(&self, server: &str, uri: &str, limits: &Limits) -> Result<Resource, ToolFailure> {
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        match self.request(server, ClientRequest::ReadResourceRequest(request), limits).await? {
            ServerResult::ReadResourceResult(done) => result::resource(server, done),
            _ => Err(failure::odd_answer(server, "it is no resource")),
        }
    }

    async fn request(&self, server: &str, request: ClientRequest, limits: &Limits) -> Result<ServerResult, ToolFailure> {
        let options = PeerRequestOptions::with_timeout(limits.timeout);
        // From here on the request may reach the server, whatever happens to us.
        let mut handle = tokio::select! {
            sent = self.peer.send_request_with_option(request, options) => sent.map_err(|_| failure::lost(server, false))?,
            () = limits.cancel.cancelled() => return Err(failure::cancelled(server, true)),
            () = sleep_until(limits.until) => return Err(failure::timed_out(server, limits.timeout, true)),
        };
        let (failure, why) = tokio::select! {
            answer = &mut handle.rx => return match answer {
                Ok(Ok(result)) => Ok(result),
                Ok(Err(error)) => Err(service_failure(server, &error)),
                Err(_) => Err(failure::lost(server, true)),
            },
            () = limits.cancel.cancelled() => (failure::cancelled(server, true), "stopped by the user"),
            () = sleep_until(limits.until) => (failure::timed_out(server, limits.timeout, true), "no answer in time"),
        };
        // Told in the background: a server that reads nothing must not hold the caller.
        tokio::spawn(timeout(SAY_CANCELLED, handle.cancel(Some(why.to_owned()))));
        Err(failure)
    }
}

fn service_failure(server: &str, error: &ServiceError) -> ToolFailure {
    match error {
        ServiceError::McpError(error) => failure::refused(server, error.code.0, &error.message),
        ServiceError::UnexpectedResponse => failure::odd_answer(server, "the answer has the wrong shape"),
        _ => failure::lost(server, true),
    }
}

/// How long one call may take and what ends it early.
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
