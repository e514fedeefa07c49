//! Collects the recording of a running turn.

use std::{collections::HashMap, sync::Arc};

use contract::{AgentError, Approval, Decision, MemoryHit, ToolId, TurnId, TurnStartParams};
use parking_lot::Mutex;

use crate::{
    ports::{HeldMemory, Model, ModelError, ModelEvent},
    turn::{
        lanes::Accepted,
        recording::{
            RecordedAnswer, RecordedAttempt, RecordedDecision, RecordedEnd, RecordedModel,
            Recording, StartState,
        },
    },
};

/// The recorders of running turns, by turn.
#[derive(Default)]
pub(crate) struct Recorders(Mutex<HashMap<TurnId, Arc<Recorder>>>);

impl Recorders {
    pub(crate) fn add(&self, turn: &TurnId, recorder: &Arc<Recorder>) {
        self.0.lock().insert(turn.clone(), Arc::clone(recorder));
    }

    pub(crate) fn remove(&self, turn: &TurnId) {
        self.0.lock().remove(turn);
    }

    /// Records a person's decision about an action for which a running turn waits.
    pub(crate) fn note_decision(&self, approval: &Approval, decision: &Decision, by: &str) {
        let running = self.0.lock();
        let Some(recorder) = running.get(&approval.turn).filter(|_| !approval.headless) else {
            return;
        };
        let end = RecordedEnd::Decided { decision: decision.clone(), by: by.to_owned() };
        recorder.add_decision(RecordedDecision::of(approval, end));
    }
}

/// The recording of a running turn.
pub(crate) struct Recorder(Mutex<Collected>);

/// The parts recorded so far.
#[derive(Clone)]
struct Collected {
    recording: Recording,
    /// Whether the state at the start is recorded. A recording without this state cannot be
    /// replayed.
    is_started: bool,
    /// The long-term memories whose texts the recording contains.
    held: Vec<HeldMemory>,
}

impl Recorder {
    /// Creates an empty recording of a message.
    pub(crate) fn new(
        session: &contract::SessionId,
        accepted: &Accepted,
        model: &dyn Model,
        started_at: chrono::DateTime<chrono::Utc>,
    ) -> Self {
        let recording = Recording {
            turn: accepted.turn.clone(),
            message: TurnStartParams {
                session: Some(session.clone()),
                text: accepted.text.clone(),
                model: accepted.model.clone(),
                agent: accepted.agent.clone(),
                headless: !accepted.caller.may_wait,
                replaces: accepted.replaces.clone(),
            },
            started_at,
            start: StartState::default(),
            model: describe_model(model),
            answers: Vec::new(),
            attempts: Vec::new(),
            refusals: Vec::new(),
            decisions: Vec::new(),
            memories: Vec::new(),
        };
        Self(Mutex::new(Collected { recording, is_started: false, held: Vec::new() }))
    }

    /// Begins the answer of a model call. Returns its position.
    pub(crate) fn begin_answer(&self) -> usize {
        let answers = &mut self.0.lock().recording.answers;
        answers.push(RecordedAnswer::default());
        answers.len() - 1
    }

    /// Adds an event to an answer. Data that only the provider reads is omitted.
    pub(crate) fn add_event(&self, at: usize, event: &Result<ModelEvent, ModelError>) {
        let mut collected = self.0.lock();
        let Some(answer) = collected.recording.answers.get_mut(at) else { return };
        match (answer.events.last_mut(), event) {
            (_, Ok(ModelEvent::Opaque(_) | ModelEvent::Loading)) => {}
            (Some(Ok(ModelEvent::Text(said))), Ok(ModelEvent::Text(more)))
            | (Some(Ok(ModelEvent::Reasoning(said))), Ok(ModelEvent::Reasoning(more))) => {
                said.push_str(more);
            }
            _ => answer.events.push(event.clone()),
        }
    }

    /// Records that an answer was read to its end.
    pub(crate) fn complete_answer(&self, at: usize) {
        if let Some(answer) = self.0.lock().recording.answers.get_mut(at) {
            answer.is_complete = true;
        }
    }

    pub(crate) fn add_attempt(&self, attempt: RecordedAttempt) {
        self.0.lock().recording.attempts.push(attempt);
    }

    pub(crate) fn add_refusal(&self, tool: &ToolId, error: &AgentError) {
        self.0.lock().recording.refusals.push((tool.clone(), error.clone()));
    }

    pub(crate) fn add_decision(&self, decision: RecordedDecision) {
        self.0.lock().recording.decisions.push(decision);
    }

    pub(crate) fn set_memories(&self, hits: &[MemoryHit]) {
        let mut collected = self.0.lock();
        collected.recording.memories = hits.to_vec();
        let held = |hit: &MemoryHit| HeldMemory {
            id: hit.memory.id.clone(),
            text: hit.memory.text.clone(),
        };
        collected.held.extend(hits.iter().map(held));
    }

    /// Records the memories whose texts a tool returned.
    pub(crate) fn add_held(&self, held: impl Iterator<Item = HeldMemory>) {
        self.0.lock().held.extend(held);
    }

    pub(crate) fn set_start(&self, start: StartState) {
        let mut collected = self.0.lock();
        collected.recording.start = start;
        collected.is_started = true;
    }

    /// Returns the recording, and the memories whose texts it contains. Returns none if the state
    /// at the start is unknown.
    pub(crate) fn finish(&self) -> Option<(Recording, Vec<HeldMemory>)> {
        let Collected { recording, is_started, held } = self.0.lock().clone();
        is_started.then_some((recording, held))
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
        refuses_tools: model.refuses_tools(),
    }
}
