//! Notes the state in which a turn begins, and stores its recording when it has ended. A turn of
//! which nothing may be stored has no recording, and neither has one of a remote caller, one that
//! failed before its question was saved, one that read messages of other sessions, or one with very
//! long results.

use std::sync::Arc;

use contract::{AgentError, Approval, Decision, TurnId};

use crate::{
    World,
    ports::{Store, StoreError, StoredRecording},
    turn::{
        context::TurnContext,
        recording::{Recording, StartState, recorder::Recorders},
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

    /// Notes the state in which a turn begins. Called before the turn changes anything.
    pub(crate) async fn note_start(&self, context: &TurnContext) {
        let Some(recorder) = &context.recorder else { return };
        match self.read_start(context).await {
            Ok(start) => {
                recorder.set_start(start);
                self.recorders.add(&context.id, recorder);
            }
            Err(error) => tracing::warn!(%error, "a turn is not recorded for a replay"),
        }
    }

    async fn read_start(&self, context: &TurnContext) -> Result<StartState, StoreError> {
        let (world, session) = (context.world(), &context.session);
        let rules = world.profile.rules();
        let grants = world.store.grants().await?;
        Ok(StartState {
            caller: context.caller.kind.clone(),
            person: world.profile.person(),
            settings: (*world.profile.settings()).clone(),
            rules: rules.rules.clone(),
            standing_grants: rules.grants.clone(),
            faults: rules.faults.clone(),
            locale: world.profile.locale(),
            time_zone: world.profile.time_zone(),
            is_generalist: context.is_generalist(),
            caller_values: world.profile.caller_values(&context.locale),
            session_values: world.store.session_values(session).await?,
            summaries: world.store.memories_of(session).await?,
            grants: grants.into_iter().filter(|grant| grant.session == *session).collect(),
        })
    }

    /// Notes the decision of a person about an action for which a running turn waits.
    pub(crate) fn note_decision(&self, approval: &Approval, decision: &Decision, by: &str) {
        self.recorders.note_decision(approval, decision, by);
    }

    /// Ends the recording of a turn. With `is_wanted`, stores it without secrets.
    pub(crate) async fn keep(&self, context: &TurnContext, is_wanted: bool) {
        let Some(recorder) = &context.recorder else { return };
        self.recorders.remove(&context.id);
        let Some((recording, memories)) = recorder.finish().filter(|_| is_wanted) else { return };
        let Ok(mut recording) = serde_json::to_value(recording) else { return };
        self.secrets.matcher().scrub_value(&mut recording);
        let body = recording.to_string();
        if body.len() > LONGEST {
            tracing::debug!(turn = %context.id, bytes = body.len(), "a recording is too long to be stored");
            return;
        }
        let (session, turn) = (context.session.clone(), context.id.clone());
        let recording = StoredRecording { session, turn, body, memories };
        let most = context.settings.limits.recorded_turns;
        if let Err(error) = self.store.recording_put(recording, most).await {
            tracing::warn!(%error, "the recording of a turn could not be stored");
        }
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
