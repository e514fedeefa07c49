//! Collects the recording of a running turn. Does not know where it is stored.

use std::{collections::HashMap, sync::Arc};

use contract::{AgentError, Decision, MemoryHit, ToolId, TurnId, TurnStartParams};
use parking_lot::Mutex;

use crate::{
    ports::{Model, ModelError, ModelEvent},
    replay::recording::{
        RecordedAnswer, RecordedAttempt, RecordedDecision, RecordedModel, Recording, StartState,
    },
    sessions::lanes::Accepted,
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

    pub(crate) fn set_start(&self, start: StartState) {
        self.0.lock().start = start;
    }

    pub(crate) fn take(&self) -> Recording {
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
