//! Defines a remote caller of turns: the options of its turns, and the channel for their events.

use contract::{Caller, EventBody};
use tokio::sync::mpsc::UnboundedSender;

/// The name of the event that lists the arguments dropped from a model's call.
pub const IGNORED: &str = "ignored_arguments";

/// The options for a caller's turns.
#[derive(Clone, Debug)]
pub struct TurnOptions {
    /// The language of the turns, `en` or `sv`.
    pub locale: String,
    /// The caller, with its limits.
    pub caller: Caller,
    /// The request's id, which is included in every record and log line of the turn.
    pub request_id: String,
    /// The caller's id for a chain of requests, which is included in the same records and log
    /// lines.
    pub correlation_id: Option<String>,
    /// Hints from the caller's host that the model gets before the message. Hints apply only to
    /// this turn and are not stored.
    pub hints: Vec<String>,
    /// Whether the caller reads the answer only when it is complete, so that the model need not
    /// stream it.
    pub whole: bool,
    /// Model names of tools whose proposals the caller's host itself checks and withdraws. A
    /// refusal in the preview does not end these proposals.
    pub preflight_tools: &'static [&'static str],
}

/// The caller that receives the events of a turn.
pub(crate) struct Listener {
    pub(crate) options: TurnOptions,
    pub(crate) tell: UnboundedSender<EventBody>,
    /// The caller's tracing span, which is the parent of the turn's span.
    pub(crate) asked_in: tracing::Span,
}

impl Listener {
    pub(crate) fn locale(&self) -> &str {
        &self.options.locale
    }

    pub(crate) fn tell(&self, event: EventBody) {
        // If the caller has disconnected, the code that started the turn notices it.
        let _ = self.tell.send(event);
    }
}
