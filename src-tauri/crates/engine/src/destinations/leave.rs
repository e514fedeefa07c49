//! Checks whether a read may send data to its destinations, and counts the bytes that it sends.

use std::collections::BTreeSet;

use contract::{Destination, Effect, ToolSpec};
use policy::Leave;
use serde_json::Value;

use crate::{
    ports::{DestinationState, SentBytes},
    turn::{context::TurnContext, kind::TurnKind},
};

/// The bytes that the reads of a conversation may send to a destination before the person is asked
/// again.
const FREE_BYTES: u64 = 2_048;

/// Whether the person allowed the destinations of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FoundLeave {
    Given,
    Missing(Vec<Destination>),
    Spent(Vec<Destination>),
}

impl FoundLeave {
    /// Converts this value to the type that the policy uses.
    pub(crate) fn as_policy(&self) -> Leave<'_> {
        match self {
            Self::Given => Leave::Given,
            Self::Missing(places) => Leave::Missing(places),
            Self::Spent(places) => Leave::Spent(places),
        }
    }

    /// Returns the destinations that a person has to allow.
    pub(crate) fn into_destinations(self) -> Vec<Destination> {
        match self {
            Self::Given => Vec::new(),
            Self::Missing(places) | Self::Spent(places) => places,
        }
    }
}

/// The destinations of a call.
struct Places {
    server: Option<Destination>,
    addressed: BTreeSet<Destination>,
}

impl Places {
    fn of(spec: &ToolSpec, arguments: &Value) -> Self {
        Self { server: policy::server_of(spec), addressed: policy::addressed(spec, arguments) }
    }

    fn all(&self) -> Vec<Destination> {
        self.server.iter().chain(&self.addressed).cloned().collect()
    }
}

/// Returns the destinations of a call, for its record.
pub(crate) fn places(spec: &ToolSpec, arguments: &Value) -> Vec<Destination> {
    Places::of(spec, arguments).all()
}

/// Returns the number of bytes that a call sends: its arguments as JSON.
pub(crate) fn count_bytes(arguments: &Value) -> u64 {
    u64::try_from(arguments.to_string().len()).unwrap_or(u64::MAX)
}

/// Determines whether the person allowed the destinations of a read. If the permissions cannot be
/// read, none apply.
pub(crate) async fn find_leave(
    context: &TurnContext,
    spec: &ToolSpec,
    arguments: &Value,
) -> FoundLeave {
    // A change has its own approval, and a person who calls a tool directly chose all of its
    // arguments.
    if spec.effect != Effect::ReadOnly || context.kind == TurnKind::Direct {
        return FoundLeave::Given;
    }
    let places = Places::of(spec, arguments);
    let all = places.all();
    if all.is_empty() {
        return FoundLeave::Given;
    }
    let store = &context.world().store;
    let states = store.destination_states(&context.session, &all).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the allowed destinations could not be read");
        vec![DestinationState::default(); all.len()]
    });
    let is_configured = spec.reach == contract::Reach::Configured;
    let is_given = |place: &Destination, state: &DestinationState| {
        state.is_allowed
            || context.named.contains(place)
            || is_configured && places.server.as_ref() == Some(place)
    };
    let pairs = || all.iter().zip(&states);
    let missing: Vec<Destination> = pairs()
        .filter(|(place, state)| !is_given(place, state))
        .map(|(place, _)| place.clone())
        .collect();
    if !missing.is_empty() {
        return FoundLeave::Missing(missing);
    }
    // Callers of the gateway send their own data to the server that the operator configured.
    if context.is_remote() && is_configured && places.addressed.is_empty() {
        return FoundLeave::Given;
    }
    let bytes = count_bytes(arguments);
    let spent: Vec<Destination> = pairs()
        .filter(|(_, state)| state.sent_bytes.saturating_add(bytes) > FREE_BYTES)
        .map(|(place, _)| place.clone())
        .collect();
    if spent.is_empty() { FoundLeave::Given } else { FoundLeave::Spent(spent) }
}

/// Counts the bytes of a read that runs without asking. Must be called before the next call of the
/// turn is decided.
pub(crate) async fn note_read(context: &TurnContext, spec: &ToolSpec, arguments: &Value) {
    count(context, spec, arguments, false).await;
}

/// Restarts the count after a read that a person approved.
pub(crate) async fn note_signed_read(context: &TurnContext, spec: &ToolSpec, arguments: &Value) {
    count(context, spec, arguments, true).await;
}

async fn count(context: &TurnContext, spec: &ToolSpec, arguments: &Value, anew: bool) {
    if spec.effect != Effect::ReadOnly {
        return;
    }
    let all = Places::of(spec, arguments).all();
    if all.is_empty() {
        return;
    }
    let world = context.world();
    let sent = SentBytes { bytes: count_bytes(arguments), anew, at: world.clock.now() };
    if let Err(error) = world.store.sent_add(&context.session, &all, sent).await {
        tracing::warn!(%error, "what a read sends could not be counted");
    }
}
