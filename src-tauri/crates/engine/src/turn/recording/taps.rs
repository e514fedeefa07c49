//! Wraps models and tools to record their answers and results, without changing them.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use contract::{AgentError, ModelCapabilities, PackId, ToolSpec};
use futures::{StreamExt as _, future::BoxFuture, stream::BoxStream};
use parking_lot::Mutex;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    ports::{
        HeldMemory, MEMORY_PACK, Model, ModelError, ModelEvent, ModelRequest, Resume, ToolFailure,
        ToolRequest, Tools, ToolsRefused,
    },
    turn::recording::{RecordedAttempt, RecordedFailure, RecordedFurther, recorder::Recorder},
};

/// A model whose answers are recorded.
pub(crate) struct RecordedCalls {
    inner: Arc<dyn Model>,
    recorder: Arc<Recorder>,
}

impl RecordedCalls {
    pub(crate) fn wrap(inner: Arc<dyn Model>, recorder: &Arc<Recorder>) -> Arc<dyn Model> {
        Arc::new(Self { inner, recorder: Arc::clone(recorder) })
    }
}

impl Model for RecordedCalls {
    fn label(&self) -> String {
        self.inner.label()
    }
    fn possible_labels(&self) -> Vec<String> {
        self.inner.possible_labels()
    }
    fn is_local(&self) -> bool {
        self.inner.is_local()
    }
    fn capabilities(&self) -> ModelCapabilities {
        self.inner.capabilities()
    }
    fn tools_refused(&self) -> Option<ToolsRefused> {
        self.inner.tools_refused()
    }
    fn note_refused_tools(&self, at: DateTime<Utc>) {
        self.inner.note_refused_tools(at);
    }
    fn most_tools(&self) -> usize {
        self.inner.most_tools()
    }
    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        self.inner.longest_answer(wanted)
    }
    fn longest_answer_now(&self, wanted: Option<u32>) -> u32 {
        self.inner.longest_answer_now(wanted)
    }
    fn in_process(&self) -> bool {
        self.inner.in_process()
    }
    fn answers_in_process(&self) -> bool {
        self.inner.answers_in_process()
    }
    fn reads_values(&self) -> bool {
        self.inner.reads_values()
    }
    fn prepare_call(&self) -> BoxFuture<'static, ()> {
        self.inner.prepare_call()
    }
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let (recorder, at) = (Arc::clone(&self.recorder), self.recorder.begin_answer());
        let stream = self.inner.stream(request).inspect(move |event| {
            recorder.add_event(at, event);
            if matches!(event, Ok(ModelEvent::Done { .. }) | Err(_)) {
                recorder.complete_answer(at);
            }
        });
        stream.boxed()
    }
}

/// Returns the memories in the result of a tool of the memory pack: the result itself, or the
/// memories that it lists.
fn held_memories(result: &Value) -> impl Iterator<Item = HeldMemory> {
    let listed = result["memories"].as_array().into_iter().flatten();
    std::iter::once(result).chain(listed).filter_map(|one| {
        let (id, text) = (one["id"].as_str()?, one["text"].as_str()?);
        Some(HeldMemory { id: id.into(), text: text.to_owned() })
    })
}

/// Tools whose results are recorded.
pub(crate) struct RecordedTools<'a> {
    pub(crate) inner: &'a dyn Tools,
    pub(crate) recorder: &'a Recorder,
}

/// Records an attempt when it ends, even if it is dropped without a result.
struct Attempt<'a> {
    recorder: &'a Recorder,
    recorded: Option<RecordedAttempt>,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some(recorded) = self.recorded.take() {
            self.recorder.add_attempt(recorded);
        }
    }
}

/// Records the further requests of a call.
struct RecordedResume<'a> {
    inner: &'a dyn Resume,
    further: &'a Mutex<Vec<RecordedFurther>>,
}

#[async_trait]
impl Resume for RecordedResume<'_> {
    async fn resume(&self, answers: &Value) -> Result<(), AgentError> {
        // Recorded before the request, because a call that is stopped while waiting has also made
        // the request.
        self.further.lock().push(RecordedFurther::Answers(answers.clone()));
        self.inner.resume(answers).await
    }
    async fn again(&self, arguments: &Value) -> Result<(), AgentError> {
        self.further.lock().push(RecordedFurther::Arguments(arguments.clone()));
        self.inner.again(arguments).await
    }
}

#[async_trait]
impl Tools for RecordedTools<'_> {
    fn specs(&self) -> Arc<Vec<ToolSpec>> {
        self.inner.specs()
    }
    fn reads_files(&self, pack: &PackId) -> bool {
        self.inner.reads_files(pack)
    }
    fn keeps_time(&self, spec: &ToolSpec) -> bool {
        self.inner.keeps_time(spec)
    }

    fn waits_for_person(&self, spec: &ToolSpec) -> bool {
        self.inner.waits_for_person(spec)
    }
    async fn run(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
    ) -> Result<Value, ToolFailure> {
        self.inner.run(request, cancel).await
    }
    async fn run_resumable(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
        resume: &dyn Resume,
    ) -> Result<Value, ToolFailure> {
        let has_memories = request.spec.pack.as_str() == MEMORY_PACK;
        let mut attempt = Attempt {
            recorder: self.recorder,
            recorded: Some(RecordedAttempt {
                tool: request.spec.id.clone(),
                arguments: request.arguments.clone(),
                further: Vec::new(),
                result: None,
            }),
        };
        let further = Mutex::new(Vec::new());
        let resume = RecordedResume { inner: resume, further: &further };
        let result = self.inner.run_resumable(request, cancel, &resume).await;
        if let (Ok(result), true) = (&result, has_memories) {
            self.recorder.add_held(held_memories(result));
        }
        if let Some(recorded) = &mut attempt.recorded {
            recorded.further = further.into_inner();
            recorded.result = Some(result.clone().map_err(|failure| RecordedFailure {
                error: failure.error,
                may_have_happened: failure.may_have_happened,
            }));
        }
        result
    }
}
