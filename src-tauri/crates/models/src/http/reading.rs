//! Reads one answer: decides by the first byte whether it is a stream of events or a whole answer,
//! splits the bytes into events, watches the idle timer, and detects a truncated answer. Data of
//! the answer resets the timer. Comments and unknown events keep the answer alive only for a while.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::ports::ModelEvent;
use futures::FutureExt;
use futures::stream::{BoxStream, StreamExt};
use parking_lot::Mutex;
use reqwest::Response;
use sseer::errors::EventStreamError;
use sseer::event_stream::EventStream;
use tokio::time::{Instant, Sleep};

use super::between;
use super::failure::{self, Failure};
use super::foreign;
use crate::wire::{Assemble, FeedResult};

/// The maximum number of bytes of an answer, which is more than any real answer has. This only
/// limits the use of memory.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// The maximum time for usage and the end mark to arrive after the model has stopped.
const GRACE: Duration = Duration::from_secs(5);

/// For how many idle times other bytes than data can keep an answer alive.
const ALIVE_TIMES: u32 = 10;

/// The result of one reading step.
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
    /// Only white space has arrived.
    Opening(Body, Vec<u8>),
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
    /// When the last byte arrived.
    heard: Arc<Mutex<Instant>>,
    /// The time after which other bytes than data do not keep the answer alive any more.
    alive_until: Instant,
    /// The time by which the answer must have begun, even if other events arrive.
    begins_by: Option<Instant>,
    host: String,
    /// Whether any event has arrived.
    framed: bool,
}

impl ResponseReader {
    /// Creates a reader. The first data must arrive before `silent_until`, and further data within
    /// each idle time.
    pub(super) fn new(
        response: Response,
        host: &str,
        idle: Duration,
        silent_until: Instant,
        assembler: Box<dyn Assemble>,
    ) -> Self {
        // Headers do not count as data.
        let heard = Arc::new(Mutex::new(silent_until.checked_sub(idle).unwrap_or(silent_until)));
        Self {
            source: Source::Opening(bounded_body(response, Arc::clone(&heard)), Vec::new()),
            heard,
            alive_until: silent_until + idle * ALIVE_TIMES,
            assembler,
            timer: Box::pin(tokio::time::sleep_until(silent_until)),
            idle,
            begins_by: None,
            host: host.to_owned(),
            framed: false,
        }
    }

    /// Sets when the answer must have begun, because there is a fallback model.
    pub(super) fn with_begin_deadline(self, begins_by: Option<Instant>) -> Self {
        Self { begins_by, ..self }
    }

    /// Whether any part of the answer has arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.assembler.has_begun()
    }

    /// Reads one event, and pushes its contents to `out`.
    pub(super) async fn read_event(
        &mut self,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<Step, Failure> {
        match &mut self.source {
            Source::Opening(body, _) => {
                let next = tokio::select! {
                    biased;
                    next = body.next() => next,
                    () = &mut self.timer => return self.handle_timeout(out),
                };
                match next {
                    Some(Ok(bytes)) => self.open(&bytes),
                    Some(Err(broken)) => return self.handle_fault(&broken, out),
                    None => return self.handle_end(out),
                }
                Ok(Step::More)
            }
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
                                Err(foreign::of_foreign_answer(&text))
                            }
                        }
                    }
                }
            }
        }
    }

    /// Decides by the first byte whether the answer is a stream of events or one piece of JSON. The
    /// content type is not reliable for this.
    fn open(&mut self, bytes: &[u8]) {
        const MARK: &[u8] = "\u{feff}".as_bytes();
        let rest = std::mem::replace(&mut self.source, empty());
        let Source::Opening(body, mut begun) = rest else { return };
        begun.extend_from_slice(bytes);
        let start = begun.strip_prefix(MARK).unwrap_or(&begun);
        self.source = match start.iter().copied().find(|byte| !byte.is_ascii_whitespace()) {
            _ if MARK.starts_with(&begun) => Source::Opening(body, begun),
            None => Source::Opening(body, begun),
            Some(b'{' | b'[') => {
                self.timer.as_mut().reset(Instant::now() + self.idle);
                Source::Whole(body, start.to_vec())
            }
            Some(_) => {
                // An event at the end of the stream is complete even without its blank line.
                let tail = futures::stream::once(async { Ok(Bytes::from_static(b"\n\n")) });
                let begun = futures::stream::once(async move { Ok(Bytes::from(begun)) });
                Source::Events(Box::new(EventStream::new(begun.chain(body).chain(tail).boxed())))
            }
        };
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
            // Events of unknown kinds need not contain valid JSON.
            Err(error)
                if error == failure::not_the_protocol() && !self.assembler.handles_event(name) =>
            {
                FeedResult::Ignored
            }
            Err(error) => return Err(failure::classify(error)),
        };
        match fed {
            FeedResult::Ignored => match foreign::in_foreign_event(name, data) {
                Some(error) => Err(failure::classify(error)),
                None => Ok(Step::More),
            },
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
                self.alive_until = Instant::now() + self.idle * ALIVE_TIMES;
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
        // A server that sends comments is still working on the answer. This does not extend the
        // time if there is a fallback model.
        let until = (*self.heard.lock() + self.idle).min(self.alive_until);
        let may_wait = self.begins_by.is_none() || self.assembler.has_begun();
        if may_wait && until > Instant::now() {
            self.timer.as_mut().reset(until);
            return Ok(Step::More);
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

    /// Handles the end of the bytes without an end mark. The answer is complete if the model gave a
    /// finish reason, and truncated otherwise.
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

    /// Reads the remaining bytes after the end mark, so that the connection can be used again.
    fn drain(&mut self) {
        let rest = std::mem::replace(&mut self.source, empty());
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

fn empty() -> Source {
    Source::Opening(futures::stream::empty().boxed(), Vec::new())
}

fn bounded_body(response: Response, heard: Arc<Mutex<Instant>>) -> Body {
    let mut received = 0_usize;
    response
        .bytes_stream()
        .map(move |chunk| {
            let chunk = chunk.map_err(StreamFault::Transport)?;
            received = received.saturating_add(chunk.len());
            *heard.lock() = Instant::now();
            if received > MAX_BYTES { Err(StreamFault::TooLong) } else { Ok(chunk) }
        })
        .boxed()
}
