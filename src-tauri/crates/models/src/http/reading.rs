//! Reads one answer: splits the bytes into events, watches the idle timer, and tells a whole answer
//! from a cut one. Only data of the answer resets the timer; comments and unknown events do not.

use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use engine::ports::ModelEvent;
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use sseer::errors::EventStreamError;
use sseer::event_stream::EventStream;
use tokio::time::{Instant, Sleep};

use super::between;
use super::failure::{self, Failure};
use crate::wire::{Assemble, FeedResult};

/// More bytes than any answer has. Limits memory, not use.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// How long usage and the end mark may take after the model has stopped.
const GRACE: Duration = Duration::from_secs(5);

/// The result of reading one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    More,
    End,
}

/// Why the bytes ended early.
#[derive(Debug)]
enum StreamFault {
    Transport(reqwest::Error),
    TooLong,
}

type Body = BoxStream<'static, Result<Bytes, StreamFault>>;

enum Source {
    Events(Box<EventStream<Body>>),
    /// A complete JSON answer to the streaming request.
    Whole(Body, Vec<u8>),
}

/// Reads an answer.
pub(super) struct ResponseReader {
    source: Source,
    assembler: Box<dyn Assemble>,
    timer: Pin<Box<Sleep>>,
    idle: Duration,
    /// When the answer must have begun, even if other events arrive.
    begins_by: Option<Instant>,
    host: String,
    /// Whether any event has arrived.
    framed: bool,
}

impl ResponseReader {
    /// Creates a reader. The first data must arrive before `silent_until`, and more after each idle
    /// time.
    pub(super) fn new(
        response: Response,
        host: &str,
        idle: Duration,
        silent_until: Instant,
        assembler: Box<dyn Assemble>,
    ) -> Self {
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|v| v.to_str().ok())
            .unwrap_or_default()
            .to_ascii_lowercase();
        let source = if kind.starts_with("application/json") {
            Source::Whole(bounded_body(response), Vec::new())
        } else {
            // An event without its blank line at the end of the stream is still an event.
            let tail = futures::stream::once(async { Ok(Bytes::from_static(b"\n\n")) });
            Source::Events(Box::new(EventStream::new(bounded_body(response).chain(tail).boxed())))
        };
        Self {
            source,
            assembler,
            timer: Box::pin(tokio::time::sleep_until(silent_until)),
            idle,
            begins_by: None,
            host: host.to_owned(),
            framed: false,
        }
    }

    /// Sets when the answer must have begun, because a fallback model waits.
    pub(super) fn with_begin_deadline(self, begins_by: Option<Instant>) -> Self {
        Self { begins_by, ..self }
    }

    /// Whether anything of the answer has arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.assembler.has_begun()
    }

    /// Reads one event, and pushes its contents to `out`.
    pub(super) async fn read_event(
        &mut self,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<Step, Failure> {
        match &mut self.source {
            Source::Events(events) => {
                let next = tokio::select! {
                    biased;
                    next = events.next() => next,
                    () = &mut self.timer => return self.handle_timeout(out),
                };
                match next {
                    Some(Ok(event)) => self.handle_event(&event.event, &event.data, out),
                    Some(Err(EventStreamError::Utf8Error(_))) => {
                        Err(Failure::permanent(failure::not_the_protocol()))
                    }
                    Some(Err(EventStreamError::Transport(broken))) => {
                        self.handle_fault(&broken, out)
                    }
                    None => self.handle_end(out),
                }
            }
            Source::Whole(body, bytes) => {
                let next = tokio::select! {
                    biased;
                    next = body.next() => next,
                    () = &mut self.timer => return self.handle_timeout(out),
                };
                match next {
                    Some(Ok(chunk)) => {
                        bytes.extend_from_slice(&chunk);
                        self.timer.as_mut().reset(Instant::now() + self.idle);
                        Ok(Step::More)
                    }
                    Some(Err(broken)) => self.handle_fault(&broken, out),
                    None => {
                        let text = String::from_utf8(std::mem::take(bytes))
                            .map_err(|_| Failure::permanent(failure::not_the_protocol()))?;
                        match self.assembler.feed(&text, out).map_err(failure::classify)? {
                            FeedResult::Progress => self.finish(out),
                            FeedResult::Ignored | FeedResult::Done => {
                                Err(Failure::permanent(failure::not_the_protocol()))
                            }
                        }
                    }
                }
            }
        }
    }

    fn handle_event(
        &mut self,
        name: &str,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<Step, Failure> {
        self.framed = true;
        let fed = match self.assembler.feed(data, out) {
            Ok(fed) => fed,
            // Events of unknown kinds need not contain known JSON.
            Err(error)
                if error == failure::not_the_protocol() && !self.assembler.handles_event(name) =>
            {
                FeedResult::Ignored
            }
            Err(error) => return Err(failure::classify(error)),
        };
        match fed {
            FeedResult::Ignored => Ok(Step::More),
            FeedResult::Done => {
                self.drain();
                self.finish(out)
            }
            FeedResult::Progress => {
                let wait =
                    if self.assembler.is_finished() { self.idle.min(GRACE) } else { self.idle };
                let until = Instant::now() + wait;
                let most = self.begins_by.filter(|_| !self.assembler.has_begun()).unwrap_or(until);
                self.timer.as_mut().reset(until.min(most));
                Ok(Step::More)
            }
        }
    }

    fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<Step, Failure> {
        self.assembler.end(out).map_err(Failure::permanent)?;
        Ok(Step::End)
    }

    fn handle_timeout(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<Step, Failure> {
        if self.assembler.is_finished() {
            return self.finish(out);
        }
        Err(Failure::permanent(failure::stalled(&self.host, self.idle)))
    }

    fn handle_fault(
        &mut self,
        broken: &StreamFault,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<Step, Failure> {
        if self.assembler.is_finished() {
            return self.finish(out);
        }
        Err(match broken {
            StreamFault::Transport(error) => between::transport_failure(&self.host, error),
            StreamFault::TooLong => Failure::permanent(failure::too_long(&self.host)),
        })
    }

    /// Handles the end of the bytes without an end mark. The answer is whole if the model gave a
    /// finish reason, and cut otherwise.
    fn handle_end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<Step, Failure> {
        if self.assembler.is_finished() {
            return self.finish(out);
        }
        Err(if self.framed {
            Failure::transient(failure::cut_off(&self.host))
        } else {
            Failure::permanent(failure::not_the_protocol())
        })
    }

    /// Reads the rest after the end mark, so that the connection can be used again.
    fn drain(&mut self) {
        let rest = std::mem::replace(
            &mut self.source,
            Source::Whole(futures::stream::empty().boxed(), Vec::new()),
        );
        if let Source::Events(mut events) = rest {
            if matches!(events.next().now_or_never(), Some(None)) {
                return;
            }
            tokio::spawn(tokio::time::timeout(GRACE, async move {
                while events.next().await.is_some_and(|event| event.is_ok()) {}
            }));
        }
    }
}

fn bounded_body(response: Response) -> Body {
    let mut received = 0_usize;
    response
        .bytes_stream()
        .map(move |chunk| {
            let chunk = chunk.map_err(StreamFault::Transport)?;
            received = received.saturating_add(chunk.len());
            if received > MAX_BYTES { Err(StreamFault::TooLong) } else { Ok(chunk) }
        })
        .boxed()
}
