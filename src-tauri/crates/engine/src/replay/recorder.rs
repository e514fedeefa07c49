//! Collects the recording of a running turn, and stores it when the turn has ended. A turn of which
//! nothing may be stored has no recording, and neither has one of a remote caller.

use std::{collections::HashMap, sync::Arc};

use contract::{AgentError, Decision, MemoryHit, ToolId, TurnId, TurnStartParams};
use parking_lot::Mutex;

use crate::{
    Engine,
    ports::{Model, ModelError, ModelEvent, StoreError},
    replay::recording::{
        RecordedAnswer, RecordedAttempt, RecordedDecision, RecordedModel, Recording, StartState,
    },
    sessions::lanes::Accepted,
    turn::context::TurnContext,
};

/// The recorders of the turns that run, by turn.
#[derive(Default)]
pub(crate) struct Recorders(Mutex<HashMap<TurnId, Arc<Recorder>>>);

impl Recorders {
    pub(crate) fn add(&self, turn: &TurnId, recorder: &Arc<Recorder>) {
        self.0.lock().insert(turn.clone(), Arc::clone(recorder));
    }

    pub(crate) fn remove(&self, turn: &TurnId) {
        self.0.lock().remove(turn);
    }

    /// Notes the decision of a person about an action of a running turn.
    pub(crate) fn note_decision(&self, turn: &TurnId, decision: &Decision, by: &str) {
        if let Some(recorder) = self.0.lock().get(turn) {
            recorder.add_decision(RecordedDecision::Decided {
                decision: decision.clone(),
                by: by.to_owned(),
            });
        }
    }
}

/// The recording of a running turn.
pub(crate) struct Recorder(Mutex<Recording>);

impl Recorder {
    /// Makes an empty recording of a message.
    pub(crate) fn new(
        session: &contract::SessionId,
        accepted: &Accepted,
        model: &dyn Model,
        started_at: chrono::DateTime<chrono::Utc>,
    ) -> Self {
        Self(Mutex::new(Recording {
            turn: accepted.turn.clone(),
            message: TurnStartParams {
                session: Some(session.clone()),
                text: accepted.text.clone(),
                model: accepted.model.clone(),
                agent: accepted.agent.clone(),
                headless: accepted.headless,
            },
            started_at,
            start: StartState::default(),
            model: describe_model(model),
            answers: Vec::new(),
            attempts: Vec::new(),
            refusals: Vec::new(),
            decisions: Vec::new(),
            memories: Vec::new(),
        }))
    }

    /// Begins the answer of a model call. Returns its position.
    pub(crate) fn begin_answer(&self) -> usize {
        let answers = &mut self.0.lock().answers;
        answers.push(RecordedAnswer::default());
        answers.len() - 1
    }

    /// Adds an event to an answer. Data that only the provider reads is left out.
    pub(crate) fn add_event(&self, at: usize, event: &Result<ModelEvent, ModelError>) {
        let mut recording = self.0.lock();
        let Some(answer) = recording.answers.get_mut(at) else { return };
        match (answer.events.last_mut(), event) {
            (_, Ok(ModelEvent::Opaque(_))) => {}
            (Some(Ok(ModelEvent::Text(said))), Ok(ModelEvent::Text(more)))
            | (Some(Ok(ModelEvent::Reasoning(said))), Ok(ModelEvent::Reasoning(more))) => {
                said.push_str(more);
            }
            _ => answer.events.push(event.clone()),
        }
    }

    /// Notes that an answer was read to its end.
    pub(crate) fn complete_answer(&self, at: usize) {
        if let Some(answer) = self.0.lock().answers.get_mut(at) {
            answer.is_complete = true;
        }
    }

    pub(crate) fn add_attempt(&self, attempt: RecordedAttempt) {
        self.0.lock().attempts.push(attempt);
    }

    pub(crate) fn add_refusal(&self, tool: &ToolId, error: &AgentError) {
        self.0.lock().refusals.push((tool.clone(), error.clone()));
    }

    pub(crate) fn add_decision(&self, decision: RecordedDecision) {
        self.0.lock().decisions.push(decision);
    }

    pub(crate) fn set_memories(&self, hits: &[MemoryHit]) {
        self.0.lock().memories = hits.to_vec();
    }

    fn set_start(&self, start: StartState) {
        self.0.lock().start = start;
    }

    fn take(&self) -> Recording {
        self.0.lock().clone()
    }
}

fn describe_model(model: &dyn Model) -> RecordedModel {
    RecordedModel {
        label: model.label(),
        possible_labels: model.possible_labels(),
        capabilities: model.capabilities(),
        longest_answer: model.longest_answer(None),
        is_local: model.is_local(),
        in_process: model.in_process(),
        reads_values: model.reads_values(),
    }
}

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
