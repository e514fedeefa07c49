//! Events on their way to a caller, and how they look in a stream.

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
    /// Anything else, as JSON.
    Told { name: &'static str, data: String },
}

/// Where events go; nowhere for the JSON route.
#[derive(Clone, Default)]
pub(crate) struct SseSink(Option<UnboundedSender<Event>>);

impl SseSink {
    pub(crate) fn to(sender: UnboundedSender<Event>) -> Self {
        Self(Some(sender))
    }

    /// Whether anybody hears the events.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn say(&self, name: &'static str, data: impl Serialize) {
        if let Some(sender) = &self.0 {
            // A caller that went away is noticed where the stream is dropped.
            let _ = sender.send(Event::Told { name, data: written(&data) });
        }
    }

    pub(crate) fn delta(&self, text: String) {
        if let Some(sender) = &self.0 {
            let _ = sender.send(Event::Delta(text));
        }
    }

    pub(crate) fn status(&self, message: &str) {
        self.say("status", json!({"message": message}));
    }
}

/// JSON text, members in the order in which their types have them.
pub(crate) fn written(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_else(|error| {
        tracing::error!(target: "gateway", %error, "an answer cannot be written as JSON");
        "{}".into()
    })
}

/// The stream of a turn. Dropped before its end, it stops the turn. Events that wait go out
/// together, neighbouring deltas as one.
pub(crate) fn body(
    events: UnboundedReceiver<Event>,
    leaves: DropGuard,
) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    stream::unfold(Some((events, leaves)), |state| async move {
        let (mut events, leaves) = state?;
        let Some(first) = events.recv().await else {
            // Without its sender the turn is over.
            leaves.disarm();
            return None;
        };
        let (mut text, mut last) = (String::new(), first);
        while let Ok(next) = events.try_recv() {
            match (&mut last, next) {
                (Event::Delta(said), Event::Delta(more)) => said.push_str(&more),
                (_, next) => write(&mut text, &std::mem::replace(&mut last, next)),
            }
        }
        let ended = matches!(last, Event::Told { name: "final", .. });
        write(&mut text, &last);
        if ended {
            leaves.disarm();
            return Some((Ok(Bytes::from(text)), None));
        }
        Some((Ok(Bytes::from(text)), Some((events, leaves))))
    })
}

fn write(text: &mut String, event: &Event) {
    let (name, data) = match event {
        Event::Delta(said) => ("delta", &written(&json!({"text": said}))),
        Event::Told { name, data } => (*name, data),
    };
    // JSON never holds a bare line break, so one data line is enough.
    text.push_str(&format!("event: {name}\ndata: {data}\n\n"));
}
