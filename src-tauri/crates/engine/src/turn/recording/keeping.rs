//! Tracks the turns that are being recorded, and stores and reads recordings. A recording with very
//! long results is not stored.

use std::sync::Arc;

use contract::{AgentError, Approval, Decision, SessionId, TurnId};

use crate::{
    ports::{HeldMemory, Store, StoredRecording, World},
    turn::{
        recording::{
            Recording,
            recorder::{Recorder, Recorders},
        },
        secrets::KnownSecrets,
    },
};

/// The length of the longest recording that is stored, in bytes.
const LONGEST: usize = 4 << 20;

/// The recordings of turns.
pub struct Recordings {
    store: Arc<dyn Store>,
    secrets: Arc<KnownSecrets>,
    recorders: Recorders,
}

impl Recordings {
    pub(crate) fn new(world: &World, secrets: &Arc<KnownSecrets>) -> Self {
        Self {
            store: Arc::clone(&world.store),
            secrets: Arc::clone(secrets),
            recorders: Recorders::default(),
        }
    }

    /// Registers a running turn whose decisions are recorded.
    pub(super) fn add(&self, turn: &TurnId, recorder: &Arc<Recorder>) {
        self.recorders.add(turn, recorder);
    }

    /// Removes a turn that has ended.
    pub(super) fn remove(&self, turn: &TurnId) {
        self.recorders.remove(turn);
    }

    /// Stores a recording without secrets.
    pub(super) async fn store(
        &self,
        turn: (&SessionId, &TurnId),
        recording: Recording,
        memories: Vec<HeldMemory>,
        most: u32,
    ) {
        let Ok(mut recording) = serde_json::to_value(recording) else { return };
        self.secrets.matcher().scrub_value(&mut recording);
        let body = recording.to_string();
        let (session, turn) = turn;
        if body.len() > LONGEST {
            tracing::debug!(%turn, bytes = body.len(), "a recording is too long to be stored");
            return;
        }
        let (session, turn) = (session.clone(), turn.clone());
        let recording = StoredRecording { session, turn, body, memories };
        if let Err(error) = self.store.recording_put(recording, most).await {
            tracing::warn!(%error, "the recording of a turn could not be stored");
        }
    }

    /// Records a person's decision about an action for which a running turn waits.
    pub(crate) fn note_decision(&self, approval: &Approval, decision: &Decision, by: &str) {
        self.recorders.note_decision(approval, decision, by);
    }

    /// Returns the recording of a turn, if it is still stored.
    pub async fn read(&self, turn: &TurnId) -> Result<Option<Recording>, AgentError> {
        let Some(stored) = self.store.recording(turn).await? else { return Ok(None) };
        serde_json::from_str(&stored).map(Some).map_err(|error| {
            AgentError::internal(
                "unreadable_recording",
                contract::text!(
                    "The recording of {run} cannot be read: {error}.",
                    run = turn,
                    error
                ),
            )
        })
    }
}
