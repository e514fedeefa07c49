//! Records a turn: captures its state at the beginning, and stores the recording at its end. There
//! is no recording of a turn that must not be stored, of a remote caller's turn, of a turn that
//! failed before its question was saved, or of a turn that read messages of other sessions.

use crate::{
    ports::StoreError,
    turn::{context::TurnContext, recording::StartState},
};

/// Records the state at the beginning of a turn. Must be called before the turn changes any data,
/// except that a turn which replaces another hides that one first.
pub(crate) async fn note_start(context: &TurnContext) {
    let Some(recorder) = &context.recorder else { return };
    match read_start(context).await {
        Ok(start) => {
            recorder.set_start(start);
            context.services.recordings.add(&context.id, recorder);
        }
        Err(error) => tracing::warn!(%error, "a turn is not recorded for a replay"),
    }
}

async fn read_start(context: &TurnContext) -> Result<StartState, StoreError> {
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
        hidden_actions: world.store.hidden_actions(session).await?,
    })
}

/// Ends the recording of a turn. With `is_wanted`, stores it without secrets.
pub(crate) async fn keep_recording(context: &TurnContext, is_wanted: bool) {
    let Some(recorder) = &context.recorder else { return };
    let recordings = &context.services.recordings;
    recordings.remove(&context.id);
    let Some((recording, memories)) = recorder.finish().filter(|_| is_wanted) else { return };
    let most = context.settings.limits.recorded_turns;
    recordings.store((&context.session, &context.id), recording, memories, most).await;
}
