//! The channel that carries a turn's events to the caller, and the form of these events in an SSE
//! stream.

use axum::body::Bytes;
use futures::{Stream, stream};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio_util::sync::DropGuard;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    /// A piece of the answer's text.
    Delta(String),
    /// Any other event, with JSON data.
    Named { name: &'static str, data: String },
}

/// The receiver of events. None for the JSON route.
#[derive(Clone, Default)]
pub(crate) struct SseSink(Option<UnboundedSender<Event>>);

impl SseSink {
    pub(crate) fn new(sender: UnboundedSender<Event>) -> Self {
        Self(Some(sender))
    }

    /// Whether there is a receiver for the events.
    pub(crate) fn has_receiver(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn send_event(&self, name: &'static str, data: impl Serialize) {
        if let Some(sender) = &self.0 {
            // If the caller has disconnected, the send fails, and the dropped stream is detected
            // elsewhere.
            let _ = sender.send(Event::Named { name, data: to_json_text(&data) });
        }
    }

    pub(crate) fn send_delta(&self, text: String) {
        if let Some(sender) = &self.0 {
            let _ = sender.send(Event::Delta(text));
        }
    }

    pub(crate) fn send_status(&self, message: &str) {
        self.send_event("status", json!({"message": message}));
    }
}

/// Returns the JSON text with the members in the order in which their type declares them.
pub(crate) fn to_json_text(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_else(|error| {
        tracing::error!(target: "gateway", %error, "an answer cannot be written as JSON");
        "{}".into()
    })
}

/// Returns the stream of a turn. Dropping the stream before its end cancels the turn. Waiting
/// events are sent together, and consecutive deltas are joined.
pub(crate) fn stream_body(
    events: UnboundedReceiver<Event>,
    leaves: DropGuard,
) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    stream::unfold(Some((events, leaves)), |state| async move {
        let (mut events, leaves) = state?;
        let Some(first) = events.recv().await else {
            // The sender was dropped, so the turn has ended.
            leaves.disarm();
            return None;
        };
        let (mut text, mut last) = (String::new(), first);
        while let Ok(next) = events.try_recv() {
            match (&mut last, next) {
                (Event::Delta(said), Event::Delta(more)) => said.push_str(&more),
                (_, next) => write_event(&mut text, &std::mem::replace(&mut last, next)),
            }
        }
        let ended = matches!(last, Event::Named { name: "final", .. });
        write_event(&mut text, &last);
        if ended {
            leaves.disarm();
            return Some((Ok(Bytes::from(text)), None));
        }
        Some((Ok(Bytes::from(text)), Some((events, leaves))))
    })
}

fn write_event(text: &mut String, event: &Event) {
    let (name, data) = match event {
        Event::Delta(said) => ("delta", &to_json_text(&json!({"text": said}))),
        Event::Named { name, data } => (*name, data),
    };
    // JSON text contains no line breaks, so one `data` line is enough.
    text.push_str(&format!("event: {name}\ndata: {data}\n\n"));
}
