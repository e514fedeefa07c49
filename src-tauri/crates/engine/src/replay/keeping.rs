//! Notes the state in which a turn begins, and stores its recording when it has ended. A turn of
//! which nothing may be stored has no recording, and neither has one of a remote caller.

use contract::{AgentError, TurnId};

use crate::{
    Engine,
    ports::StoreError,
    replay::recording::{Recording, StartState},
    turn::context::TurnContext,
};

impl Engine {
    /// Notes the state in which a turn begins. Called before the turn changes anything.
    pub(crate) async fn record_start(&self, context: &TurnContext) {
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
        let (world, session) = (&self.world, &context.session);
        let rules = world.profile.rules();
        let grants = world.store.grants().await?;
        Ok(StartState {
            origin: context.origin,
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

    /// Stores the recording of a turn that has ended, without secrets.
    pub(crate) async fn keep_recording(&self, context: &TurnContext, is_passing: bool) {
        let Some(recorder) = &context.recorder else { return };
        self.recorders.remove(&context.id);
        if is_passing {
            return;
        }
        let Ok(mut recording) = serde_json::to_value(recorder.take()) else { return };
        self.secret_matcher().scrub_value(&mut recording);
        let most = context.settings.limits.recorded_turns;
        let stored = self
            .world
            .store
            .recording_put(&context.session, &context.id, &recording.to_string(), most)
            .await;
        if let Err(error) = stored {
            tracing::warn!(%error, "the recording of a turn could not be stored");
        }
    }

    /// Returns the recording of a turn, if it is still stored.
    pub async fn recording(&self, turn: &TurnId) -> Result<Option<Recording>, AgentError> {
        let Some(stored) = self.world.store.recording(turn).await? else { return Ok(None) };
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
