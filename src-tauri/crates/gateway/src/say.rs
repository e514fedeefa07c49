//! Events on their way to a caller, and how they look in a stream.

use axum::body::Bytes;
use futures::{Stream, stream};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio_util::sync::DropGuard;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    pub(crate) data: Value,
}

/// Where events go; nowhere for the JSON route.
#[derive(Clone, Default)]
pub(crate) struct Out(Option<UnboundedSender<Event>>);

impl Out {
    pub(crate) fn to(sender: UnboundedSender<Event>) -> Self {
        Self(Some(sender))
    }

    /// Whether anybody hears the events.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn say(&self, name: &'static str, data: Value) {
        if let Some(sender) = &self.0 {
            // A caller that went away is noticed where the stream is dropped.
            let _ = sender.send(Event { name, data });
        }
    }

    pub(crate) fn status(&self, message: &str) {
        self.say("status", json!({"message": message}));
    }
}

/// The stream of a turn. Dropped before its end, it stops the turn. What waits goes out together, neighbouring deltas as one.
pub(crate) fn body(events: UnboundedReceiver<Event>, leaves: DropGuard) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    stream::unfold(Some((events, leaves)), |state| async move {
        let (mut events, leaves) = state?;
        let Some(first) = events.recv().await else {
            // Without its sender the turn is over.
            leaves.disarm();
            return None;
        };
        let mut text = String::new();
        let mut last = first;
        while let Ok(next) = events.try_recv() {
            match (last.name, next.name) {
                ("delta", "delta") => {
                    let joined = format!("{}{}", last.data["text"].as_str().unwrap_or_default(), next.data["text"].as_str().unwrap_or_default());
                    last.data = json!({"text": joined});
                }
                _ => {
                    write(&mut text, &last);
                    last = next;
                }
            }
        }
        let ended = last.name == "final";
        write(&mut text, &last);
        if ended {
            leaves.disarm();
            return Some((Ok(Bytes::from(text)), None));
        }
        Some((Ok(Bytes::from(text)), Some((events, leaves))))
    })
}

fn write(text: &mut String, event: &Event) {
    // JSON never holds a bare line break, so one data line is enough.
    text.push_str(&format!("event: {}\ndata: {}\n\n", event.name, event.data));
}
