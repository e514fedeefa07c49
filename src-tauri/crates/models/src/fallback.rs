//! Combines two models. If the first model fails before its answer begins, the second model is
//! used, and stays in use for the rest of the turn. Text that was already shown is never repeated
//! by the second model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};
use contract::ModelCapabilities;
use engine::ports::{Model, ModelError, ModelEvent, ModelRequest, ToolsRefused};
use futures::{
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};

/// A model with a fallback. Create a new instance for every turn.
pub struct WithFallback {
    first: Arc<dyn Model>,
    second: Arc<dyn Model>,
    fell_back: Arc<AtomicBool>,
}

impl WithFallback {
    pub fn new(first: Arc<dyn Model>, second: Arc<dyn Model>) -> Self {
        Self { first, second, fell_back: Arc::default() }
    }
}

impl Model for WithFallback {
    fn label(&self) -> String {
        if self.fell_back.load(Ordering::Acquire) {
            self.second.label()
        } else {
            self.first.label()
        }
    }

    fn possible_labels(&self) -> Vec<String> {
        let mut labels = self.second.possible_labels();
        if !self.fell_back.load(Ordering::Acquire) {
            labels.extend(self.first.possible_labels());
        }
        labels
    }

    /// The combination is local only if both models are local, because either may answer.
    fn is_local(&self) -> bool {
        self.first.is_local() && self.second.is_local()
    }

    fn reads_values(&self) -> bool {
        self.first.reads_values() || self.second.reads_values()
    }

    fn prepare_call(&self) -> BoxFuture<'static, ()> {
        let (first, second) = (self.first.prepare_call(), self.second.prepare_call());
        Box::pin(async move {
            first.await;
            second.await;
        })
    }

    /// Returns what both models can do, with the smaller limits, and reasoning if either can. The
    /// request is written before it is known which model answers.
    fn capabilities(&self) -> ModelCapabilities {
        let (a, b) = (self.first.capabilities(), self.second.capabilities());
        ModelCapabilities {
            tools: a.tools && b.tools,
            parallel_tools: a.parallel_tools && b.parallel_tools,
            streaming: a.streaming && b.streaming,
            structured_output: a.structured_output && b.structured_output,
            reasoning: a.reasoning || b.reasoning,
            context_tokens: a.context_tokens.min(b.context_tokens),
            max_output_tokens: a.max_output_tokens.zip(b.max_output_tokens).map(|(a, b)| a.min(b)),
        }
    }

    fn most_tools(&self) -> usize {
        self.first.most_tools().min(self.second.most_tools())
    }

    fn tools_refused(&self) -> Option<ToolsRefused> {
        if self.fell_back.load(Ordering::Acquire) {
            self.second.tools_refused()
        } else {
            self.first.tools_refused()
        }
    }

    fn note_refused_tools(&self, at: DateTime<Utc>) {
        self.first.note_refused_tools(at);
    }

    fn answers_in_process(&self) -> bool {
        self.fell_back.load(Ordering::Acquire) && self.second.answers_in_process()
    }

    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        let second = self.second.longest_answer(wanted);
        if self.fell_back.load(Ordering::Acquire) {
            second
        } else {
            self.first.longest_answer(wanted).max(second)
        }
    }

    fn longest_answer_now(&self, wanted: Option<u32>) -> u32 {
        if self.fell_back.load(Ordering::Acquire) {
            self.second.longest_answer_now(wanted)
        } else {
            self.first.longest_answer_now(wanted)
        }
    }

    /// Requests a stream even if a whole answer is wanted, so that silence is detected early and is
    /// not confused with a long answer.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let request = ModelRequest { whole: false, ..request };
        if self.fell_back.load(Ordering::Acquire) {
            return self.second.stream(request);
        }
        let call = Call {
            answer: self.first.stream(request.clone()),
            second: Some((Arc::clone(&self.second), request)),
            from: self.first.label(),
            fell_back: Arc::clone(&self.fell_back),
        };
        stream::unfold(call, |mut call| async move {
            let event = call.next().await?;
            Some((event, call))
        })
        .boxed()
    }
}

/// A call of the first model.
struct Call {
    answer: BoxStream<'static, Result<ModelEvent, ModelError>>,
    /// The second model and its request, until an answer begins.
    second: Option<(Arc<dyn Model>, ModelRequest)>,
    from: String,
    fell_back: Arc<AtomicBool>,
}

impl Call {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        let event = self.answer.next().await?;
        // A model that is still loading has not begun to answer, so the second model may still
        // answer.
        if matches!(event, Ok(ModelEvent::Loading)) {
            return Some(event);
        }
        match (event, self.second.take()) {
            (Err(error), Some((second, request))) if error.kind.is_retryable() => {
                self.fell_back.store(true, Ordering::Release);
                tracing::warn!(kind = ?error.kind, "another model answers in place of the one that was chosen");
                self.answer = second.stream(request);
                Some(Ok(ModelEvent::FellBack {
                    from: std::mem::take(&mut self.from),
                    to: second.label(),
                    kind: error.kind,
                    why: error.message,
                }))
            }
            (event, _) => Some(event),
        }
    }
}
