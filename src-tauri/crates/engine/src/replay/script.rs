//! Implements the ports of a replay. Each port returns the recorded data and reports when there is
//! no more. No port sends any data.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{
    AgentError, AgentId, ModelCapabilities, PackId, Push, Settings, ToolId, ToolSpec,
    manifest::DataFlow, text,
};
use futures::{StreamExt as _, stream, stream::BoxStream};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    canonical::canonical,
    ports::{
        Adapted, AuditLog, AuditUnavailable, Clock, Durability, Events, Ids, Model, ModelError,
        ModelErrorKind, ModelEvent, ModelRequest, Models, Profile, Random, RecordDraft, Resume,
        SessionValues, Supervision, ToolFailure, ToolRequest, Tools, ToolsRefused, longest_answer,
    },
    turn::recording::{
        RecordedAnswer, RecordedAttempt, RecordedFurther, RecordedModel, StartState,
    },
};

/// An event that a turn sends to the driver of its replay.
pub(crate) enum DriverEvent {
    /// An event of the turn.
    Push(Box<Push>),
    /// The recorded answer ends here, because the turn was cancelled.
    CutOff,
}

/// The recorded model.
#[derive(Clone)]
pub(crate) struct ScriptedModel {
    pub(crate) described: RecordedModel,
    pub(crate) answers: Arc<Mutex<VecDeque<RecordedAnswer>>>,
    pub(crate) driver: mpsc::UnboundedSender<DriverEvent>,
}

impl Models for ScriptedModel {
    fn current(&self, _: Option<&str>) -> Arc<dyn Model> {
        Arc::new(self.clone())
    }
}

impl Model for ScriptedModel {
    fn label(&self) -> String {
        self.described.label.clone()
    }
    fn possible_labels(&self) -> Vec<String> {
        self.described.possible_labels.clone()
    }
    fn is_local(&self) -> bool {
        self.described.is_local
    }
    fn capabilities(&self) -> ModelCapabilities {
        self.described.capabilities
    }
    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        longest_answer(wanted, Some(self.described.longest_answer))
    }
    fn tools_refused(&self) -> Option<ToolsRefused> {
        let refused = ToolsRefused { at: DateTime::UNIX_EPOCH, said: None };
        self.described.refuses_tools.then_some(refused)
    }
    fn in_process(&self) -> bool {
        self.described.in_process
    }
    fn reads_values(&self) -> bool {
        self.described.reads_values
    }
    fn stream(&self, _: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let Some(answer) = self.answers.lock().pop_front() else {
            let error = ModelError {
                kind: ModelErrorKind::Protocol,
                message: "The recording has no further answer of the model.".into(),
                hint: None,
                retry_after_ms: None,
                said: None,
            };
            return stream::iter([Err(error)]).boxed();
        };
        let events = stream::iter(answer.events);
        if answer.is_complete {
            return events.boxed();
        }
        let driver = self.driver.clone();
        let cut_off = stream::once(async move {
            let _ = driver.send(DriverEvent::CutOff);
            std::future::pending().await
        });
        events.chain(cut_off).boxed()
    }
}

/// The recorded results, with the definitions of the installed tools.
pub(crate) struct ScriptedTools {
    pub(crate) installed: Arc<dyn Tools>,
    pub(crate) attempts: Mutex<Vec<RecordedAttempt>>,
    pub(crate) refusals: Mutex<Vec<(ToolId, AgentError)>>,
}

impl ScriptedTools {
    /// Takes the first recorded attempt of this call.
    fn take_attempt(&self, request: &ToolRequest) -> Option<RecordedAttempt> {
        let mut attempts = self.attempts.lock();
        let wanted = canonical(&request.arguments);
        let at = attempts.iter().position(|attempt| {
            attempt.tool == request.spec.id && canonical(&attempt.arguments) == wanted
        })?;
        Some(attempts.remove(at))
    }
}

#[async_trait]
impl Tools for ScriptedTools {
    fn specs(&self) -> Arc<Vec<ToolSpec>> {
        self.installed.specs()
    }
    fn agent_of(&self, tool: &ToolId) -> Option<AgentId> {
        self.installed.agent_of(tool)
    }
    async fn check(&self, spec: &ToolSpec) -> Result<(), AgentError> {
        let mut refusals = self.refusals.lock();
        match refusals.iter().position(|(tool, _)| *tool == spec.id) {
            Some(at) => Err(refusals.remove(at).1),
            None => Ok(()),
        }
    }
    fn adapt(&self, caller: &contract::CallerKind, spec: &ToolSpec, arguments: Value) -> Adapted {
        self.installed.adapt(caller, spec, arguments)
    }
    fn data_flow(&self, pack: &PackId) -> Option<DataFlow> {
        self.installed.data_flow(pack)
    }
    fn reads_files(&self, pack: &PackId) -> bool {
        self.installed.reads_files(pack)
    }
    async fn run(&self, request: ToolRequest, _: CancellationToken) -> Result<Value, ToolFailure> {
        let error = AgentError::internal(
            "not_recorded",
            text!("The recording has no such call of {tool}.", tool = request.spec.id),
        );
        Err(ToolFailure { error, may_have_happened: false })
    }
    async fn run_resumable(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
        resume: &dyn Resume,
    ) -> Result<Value, ToolFailure> {
        let Some(attempt) = self.take_attempt(&request) else {
            return self.run(request, cancel).await;
        };
        for further in &attempt.further {
            let allowed = match further {
                RecordedFurther::Answers(answers) => resume.resume(answers).await,
                RecordedFurther::Arguments(arguments) => resume.again(arguments).await,
            };
            if allowed.is_err() {
                break;
            }
        }
        match attempt.result {
            Some(result) => result.map_err(|failure| ToolFailure {
                error: failure.error,
                may_have_happened: failure.may_have_happened,
            }),
            // The recorded call did not end, because its turn was cancelled. The driver cancels
            // this call, too.
            None => std::future::pending().await,
        }
    }
}

/// The recorded profile, with the current prices and language rules.
pub(crate) struct ScriptedProfile {
    pub(crate) start: StartState,
    pub(crate) settings: Arc<Settings>,
    pub(crate) real: Arc<dyn Profile>,
}

impl Profile for ScriptedProfile {
    fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings)
    }
    fn rules(&self) -> Arc<policy::Rules> {
        Arc::new(policy::Rules {
            rules: self.start.rules.clone(),
            grants: self.start.standing_grants.clone(),
            faults: self.start.faults.clone(),
        })
    }
    fn prices(&self) -> Arc<contract::PriceTable> {
        self.real.prices()
    }
    fn person(&self) -> Option<String> {
        self.start.person.clone()
    }
    fn locale(&self) -> String {
        self.start.locale.clone()
    }
    fn locale_of(&self, text: &str) -> Option<String> {
        self.real.locale_of(text)
    }
    fn supervision(&self) -> Supervision {
        if self.start.is_generalist { Supervision::Assistant } else { Supervision::Contract }
    }
    fn time_zone(&self) -> String {
        self.start.time_zone.clone()
    }
    fn caller_values(&self, _: &str) -> SessionValues {
        self.start.caller_values.clone()
    }
}

/// A clock that only the driver advances.
pub(crate) struct SetClock {
    pub(crate) began: DateTime<Utc>,
    pub(crate) moved_ms: AtomicI64,
}

impl SetClock {
    /// Advances the clock to a later time.
    pub(crate) fn move_to(&self, at: DateTime<Utc>) {
        // A millisecond is added, because the difference is rounded down.
        self.moved_ms.store((at - self.began).num_milliseconds() + 1, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> DateTime<Utc> {
        self.began + chrono::TimeDelta::milliseconds(self.moved_ms.load(Ordering::SeqCst))
    }
}

/// Generates ids by counting.
#[derive(Default)]
pub(crate) struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn next(&self, prefix: &str) -> String {
        format!("replay-{prefix}-{}", self.0.fetch_add(1, Ordering::SeqCst))
    }
}

impl Random for CountedIds {
    fn random_fraction(&self) -> f64 {
        0.0
    }
}

/// A log in memory.
#[derive(Default)]
pub(crate) struct Collected(Mutex<Vec<RecordDraft>>);

impl Collected {
    pub(crate) fn take(&self) -> Vec<RecordDraft> {
        std::mem::take(&mut self.0.lock())
    }
}

#[async_trait]
impl AuditLog for Collected {
    async fn append(&self, record: RecordDraft, _: Durability) -> Result<u64, AuditUnavailable> {
        let mut records = self.0.lock();
        records.push(record);
        Ok(records.len() as u64)
    }
    async fn flush(&self) -> Result<(), AuditUnavailable> {
        Ok(())
    }
}

/// Passes the turn's events to the driver.
pub(crate) struct ToDriver(pub(crate) mpsc::UnboundedSender<DriverEvent>);

impl Events for ToDriver {
    fn push(&self, push: Push) {
        let _ = self.0.send(DriverEvent::Push(Box::new(push)));
    }
}
