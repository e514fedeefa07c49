//! The caller elsewhere of a turn: how its turns run, and where their events go. Knows nothing of
//! HTTP.

use contract::{EventBody, Limits};
use tokio::sync::mpsc::UnboundedSender;

/// The text of the event that tells which arguments of a model were left out.
pub const IGNORED: &str = "ignored_arguments";

/// How the turns of a caller are run.
#[derive(Clone, Debug)]
pub struct TurnOptions {
    /// `en` or `sv`.
    pub locale: String,
    /// The limits of the turn.
    pub limits: Limits,
    /// In every record and log line of the turn.
    pub request_id: String,
    /// The caller's own id for a chain of requests, in the same places.
    pub correlation_id: Option<String>,
    /// Hints from the caller's host that the model gets before the message. For this turn only;
    /// they are not stored.
    pub hints: Vec<String>,
    /// The caller takes the answer as a whole: the model need not send it piece by piece.
    pub whole: bool,
    /// Model names of the tools whose actions the caller's host looks at itself, and takes back: a
    /// foreseen refusal does not end these.
    pub looks_at: &'static [&'static str],
}

/// The caller that listens to a turn, as the turn knows it.
pub(crate) struct Listener {
    pub(super) around: TurnOptions,
    pub(super) tell: UnboundedSender<EventBody>,
    /// The caller's tracing span. The turn's span becomes its child.
    pub(super) asked_in: tracing::Span,
}

impl Listener {
    pub(super) fn locale(&self) -> &str {
        &self.around.locale
    }

    pub(super) fn tell(&self, event: EventBody) {
        // A caller that went away is noticed by whoever started the turn.
        let _ = self.tell.send(event);
    }
}
