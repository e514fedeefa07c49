//! One model call over HTTP: sends it, retries it as long as no part of the answer has arrived, and
//! reads the answer until its end or the idle timeout. Dropping the stream drops the request, and
//! the server sees a closed connection. The module does not know the meaning of the pieces.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use contract::{Text, address::Origin};
use engine::ports::{Clock, Message, ModelError, ModelEvent, ModelRequest, Random, ToolsRefused};
use futures::stream::{BoxStream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::time::Instant;

use super::between;
use super::failure::{self, Failure};
use super::reading::{ResponseReader, Step};
use super::retry;
use super::{PlainRequests, Refused};
use crate::wire::{Leaves, Part, Wire};

/// The maximum number of bytes of an error answer that are read.
const REFUSAL_BYTES: usize = 64 * 1024;
/// The maximum time for an error answer to arrive.
const REFUSAL_TIME: Duration = Duration::from_secs(5);

/// The wait before a server that is loading its model is asked again.
const LOADING_WAIT: Duration = Duration::from_secs(1);

/// The minimum remaining time for another attempt. With less time, the error of the previous
/// attempt is more useful.
const LEAST_ATTEMPT: Duration = Duration::from_secs(1);

/// The shared data of all calls of one provider.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) http: reqwest::Client,
    pub(crate) wire: Arc<dyn Wire>,
    pub(crate) base: Url,
    pub(crate) host: String,
    /// The server that requests may be sent to, and that the key belongs to.
    pub(crate) server: Origin,
    pub(crate) has_key: bool,
    /// The identity of wire, server and model.
    pub(crate) maker: String,
    pub(crate) plainly: PlainRequests,
    pub(crate) idle: Duration,
    /// Whether there is a fallback model. The answer must then begin within the idle time of the
    /// whole call, including retries.
    pub(crate) before_another: bool,
    pub(crate) max_retries: u32,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Shared {
    /// Checks that a request's address belongs to the key's server.
    pub(super) fn checked_url(&self, url: Url) -> Result<Url, ModelError> {
        if Origin::of(&url).as_ref() == Some(&self.server) {
            Ok(url)
        } else {
            Err(failure::bad_address())
        }
    }

    fn request_kind(&self, is_structured: bool) -> String {
        super::request_kind(&self.maker, is_structured)
    }

    /// Returns the last refusal of requests with tools, if it has not expired.
    pub(crate) fn tools_refused(&self) -> Option<ToolsRefused> {
        self.plainly.tools_refused(&self.request_kind(false), self.clock.now())
    }
}

enum Phase {
    Send,
    Read(Box<ResponseReader>),
    Over,
}

struct Call {
    shared: Arc<Shared>,
    request: ModelRequest,
    /// The parts to omit, because the server refused them recently or in this call.
    leaves: Leaves,
    /// The parts that the server refused in this call, with the server's error text.
    refused: Vec<(Part, Option<Text>)>,
    /// Whether the caller was informed that the server is loading its model.
    told_loading: bool,
    attempt: u32,
    began: Instant,
    phase: Phase,
    pending: VecDeque<ModelEvent>,
}

/// Starts a call. No request is sent before the stream is polled.
pub(crate) fn start_call(
    shared: Arc<Shared>,
    request: ModelRequest,
) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
    stream_with_diagnosis(shared, request)
        .map(|event| event.map_err(|failure| failure.error))
        .boxed()
}

/// Does the same as `start_call`, but returns full details of a failure.
pub(super) fn stream_with_diagnosis(
    shared: Arc<Shared>,
    request: ModelRequest,
) -> BoxStream<'static, Result<ModelEvent, Failure>> {
    let kind = shared.request_kind(request.structured.is_some());
    let leaves = shared.plainly.refused_by(&kind, shared.clock.now());
    let call = Box::new(Call {
        shared,
        request,
        leaves,
        refused: Vec::new(),
        told_loading: false,
        attempt: 0,
        began: Instant::now(),
        phase: Phase::Send,
        pending: VecDeque::new(),
    });
    futures::stream::unfold(
        call,
        |mut call| async move { call.next().await.map(|item| (item, call)) },
    )
    .boxed()
}

impl Call {
    async fn next(&mut self) -> Option<Result<ModelEvent, Failure>> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(Ok(event));
            }
            let failed = match &mut self.phase {
                Phase::Over => return None,
                Phase::Send => match self.send().await {
                    Ok(reading) => {
                        self.phase = Phase::Read(Box::new(reading));
                        continue;
                    }
                    Err(failed) => failed,
                },
                Phase::Read(reading) => match reading.read_event(&mut self.pending).await {
                    Ok(step) => {
                        let has_begun = reading.has_begun();
                        if step == Step::End {
                            self.phase = Phase::Over;
                        }
                        if has_begun || step == Step::End {
                            self.remember_refusals();
                        }
                        continue;
                    }
                    Err(failure) if reading.has_begun() => {
                        Failure { retry: false, answer: Box::default(), ..failure }
                    }
                    Err(failure) => failure,
                },
            };
            self.phase = Phase::Over;
            match self.wait_for_retry(failed).await {
                Ok(()) => self.phase = Phase::Send,
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Waits until the next attempt. Returns the error if there is no further attempt.
    async fn wait_for_retry(&mut self, failed: Failure) -> Result<(), Failure> {
        if let Some(part) = self.refused_part(&failed) {
            tracing::info!(?part, "a model's server refuses a part of the request: it is left out");
            self.leaves = self.leaves.with(part);
            self.refused.push((part, failed.error.said.map(|said| *said)));
            return Ok(());
        }
        let is_loading = failed.answer.is_loading;
        // The fallback model answers sooner than a model that is still loading.
        if is_loading
            && !self.shared.before_another
            && self.began.elapsed() + LOADING_WAIT < self.shared.idle
        {
            self.tell_loading();
            tokio::time::sleep(LOADING_WAIT).await;
            return Ok(());
        }
        let failed = failed.with_missing_path(&self.shared.base);
        if !failed.retry || self.attempt >= self.shared.max_retries {
            return Err(failed);
        }
        let wait = match failed.error.retry_after_ms.map(Duration::from_millis) {
            Some(wish) if wish > retry::LONGEST => {
                return Err(failure::wait_too_long(failed, wish));
            }
            Some(wish) => wish,
            None => retry::back_off(self.attempt, self.shared.random.random_fraction()),
        };
        if self.shared.before_another
            && self.began.elapsed() + wait + LEAST_ATTEMPT >= self.shared.idle
        {
            return Err(failed);
        }
        if is_loading {
            self.tell_loading();
        }
        self.attempt += 1;
        tracing::info!(attempt = self.attempt, wait_ms = wait.as_millis(), kind = ?failed.error.kind, "model call is tried again");
        tokio::time::sleep(wait).await;
        Ok(())
    }

    fn tell_loading(&mut self) {
        if !std::mem::replace(&mut self.told_loading, true) {
            self.pending.push_back(ModelEvent::Loading);
        }
    }

    /// Returns the part of the request that the server may have refused, if the request has it. The
    /// next attempt shows whether it was the cause.
    fn refused_part(&self, failed: &Failure) -> Option<Part> {
        let body = &failed.answer.body;
        let is_in_request = |part: &Part| match part {
            Part::Optional => true,
            Part::Tools | Part::Details => !self.request.tools.is_empty(),
            Part::System => matches!(self.request.messages.first(), Some(Message::System { .. })),
            Part::Kept => self.kept_names().any(|name| body.contains(&name.to_lowercase())),
            Part::Bound => self.request.answer_limit().is_some(),
            Part::Form => self.has_results(),
        };
        let open = |part: &Part| !self.leaves.has(*part) && is_in_request(part);
        failed.answer.may_refuse.iter().copied().find(open)
    }

    fn has_results(&self) -> bool {
        self.request.messages.iter().any(|message| matches!(message, Message::Tool { .. }))
    }

    /// Returns the names of the members that are sent back to the server.
    fn kept_names(&self) -> impl Iterator<Item = &String> {
        self.request
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Assistant { opaque: Some(opaque), .. } => Some(&opaque.data),
                _ => None,
            })
            .flat_map(|data| {
                let calls = data.get("calls").and_then(Value::as_array).into_iter().flatten();
                data.get("message").into_iter().chain(calls)
            })
            .filter_map(Value::as_object)
            .flat_map(serde_json::Map::keys)
    }

    /// Remembers the parts that the server refused, after it has answered without these parts.
    fn remember_refusals(&mut self) {
        if self.refused.is_empty() {
            return;
        }
        let kind = self.shared.request_kind(self.request.structured.is_some());
        // If the request contained results, the server may have refused the results instead of the
        // tools.
        let has_results = self.has_results();
        for (part, said) in self.refused.drain(..) {
            if part != Part::Tools || !has_results {
                let refused = Refused { at: self.shared.clock.now(), said };
                self.shared.plainly.remember_refusal(kind.clone(), part, refused);
            }
        }
    }

    /// Returns the request in the form for the current attempt.
    fn request_now(&self) -> Cow<'_, ModelRequest> {
        if !self.leaves.has(Part::Tools) || self.request.tools.is_empty() {
            return Cow::Borrowed(&self.request);
        }
        Cow::Owned(ModelRequest { tools: Vec::new(), ..self.request.clone() })
    }

    async fn send(&mut self) -> Result<ResponseReader, Failure> {
        let shared = &self.shared;
        let idle = shared.idle;
        // Headers are not data, so they do not restart the timer.
        let silent_until =
            if shared.before_another { self.began + idle } else { Instant::now() + idle };
        let body = shared
            .wire
            .write_body(&self.request_now(), self.leaves)
            .map_err(|_| Failure::permanent(failure::request_not_serializable()))?;
        let mut headers = shared.wire.headers().clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static(if self.request.whole {
                "application/json, text/event-stream"
            } else {
                "text/event-stream"
            }),
        );
        let url = shared
            .checked_url(shared.wire.url(&shared.base, self.request.whole))
            .map_err(Failure::permanent)?;
        let sent = shared.http.post(url).headers(headers).body(body).send();
        let response = tokio::time::timeout_at(silent_until, sent)
            .await
            .map_err(|_| Failure::permanent(failure::stalled(&shared.host, idle)))?
            .map_err(|error| between::transport_failure(&shared.host, &error))?;
        if response.status().is_success() {
            let begins_by = shared.before_another.then_some(silent_until);
            Ok(ResponseReader::new(
                response,
                &shared.host,
                idle,
                silent_until,
                shared.wire.assembler(&self.request_now()),
            )
            .with_begin_deadline(begins_by))
        } else {
            Err(read_refusal(shared, response).await)
        }
    }
}

/// Turns an error answer into a failure.
pub(super) async fn read_refusal(shared: &Shared, response: Response) -> Failure {
    let status = response.status();
    let wish = retry::requested_wait(response.headers(), shared.clock.now());
    let body = tokio::time::timeout(REFUSAL_TIME, read_beginning(response, REFUSAL_BYTES))
        .await
        .unwrap_or_default();
    let mut failure = failure::from_status(
        &shared.host,
        status,
        &String::from_utf8_lossy(&body),
        shared.wire.optional_words(),
    );
    if !shared.has_key {
        failure = failure.with_missing_key(&shared.host);
    }
    if failure.retry {
        failure.error.retry_after_ms = wish.and_then(|wish| u64::try_from(wish.as_millis()).ok());
    }
    failure
}

/// Reads the beginning of a body, up to `most` bytes.
pub(super) async fn read_beginning(response: Response, most: usize) -> Vec<u8> {
    let mut body = Vec::new();
    let mut chunks: Pin<Box<_>> = Box::pin(response.bytes_stream());
    while let Some(Ok(chunk)) = chunks.next().await {
        body.extend_from_slice(&chunk);
        if body.len() >= most {
            break;
        }
    }
    body.truncate(most);
    body
}
