//! Exchanges lines with a server's process, for the protocol library. It adds two things: an
//! unanswered first request counts as "older protocol" after a short wait, and closing ends the
//! process.

use std::{
    io,
    process::ExitStatus,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleClient,
    model::{ClientRequest, ErrorCode, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    process::{ChildStdin, ChildStdout},
    time::{Instant, sleep_until},
};

use crate::{Timings, process::ServerProcess};

/// The longest line in bytes that a server may send. Longer lines are dropped. The limit is high
/// because some servers send a result twice in one line, as text and as a value.
pub(crate) const LONGEST_LINE: usize = 48 * 1024 * 1024;

/// Whether the first request of the newest protocol was answered after the client had given up on
/// it.
pub(crate) type Late = Arc<AtomicBool>;

/// The exit status of a process, once it has ended.
pub(crate) type Ending = Arc<Mutex<Option<ExitStatus>>>;

/// The transport of one server process.
pub(crate) struct ProcessTransport {
    lines: AsyncRwTransport<RoleClient, ChildStdout, ChildStdin>,
    process: ServerProcess,
    grace: Duration,
    probe: Duration,
    asked: Option<(RequestId, Instant)>,
    given_up: Option<RequestId>,
    ending: Ending,
    late: Late,
}

impl ProcessTransport {
    pub(crate) fn new(
        process: ServerProcess,
        stdout: ChildStdout,
        stdin: ChildStdin,
        timings: &Timings,
        ending: Ending,
        late: Late,
    ) -> Self {
        let lines = AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(LONGEST_LINE);
        Self {
            lines,
            process,
            grace: timings.grace,
            probe: timings.probe,
            asked: None,
            given_up: None,
            ending,
            late,
        }
    }
}

fn answered_id(message: &RxJsonRpcMessage<RoleClient>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

impl Transport<RoleClient> for ProcessTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            self.asked = Some((request.id.clone(), Instant::now() + self.probe));
        }
        self.lines.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let Some((id, until)) = self.asked.clone() else {
                let message = self.lines.receive().await?;
                if self.given_up.is_some() && answered_id(&message) == self.given_up.as_ref() {
                    self.given_up = None;
                    self.late
                        .fetch_or(matches!(message, JsonRpcMessage::Response(_)), Ordering::SeqCst);
                    continue;
                }
                return Some(message);
            };
            tokio::select! {
                message = self.lines.receive() => {
                    let message = message?;
                    // Error answers need not carry the id.
                    if answered_id(&message).is_none_or(|of| *of == id) && !matches!(message, JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_)) {
                        self.asked = None;
                    }
                    return Some(message);
                }
                () = sleep_until(until) => {
                    self.asked = None;
                    self.given_up = Some(id.clone());
                    return Some(JsonRpcMessage::error(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "not answered in time", None), Some(id)));
                }
            }
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
