//! Removes known secrets from a model's answers, before they are recorded, stored, shown or
//! returned. Every model of the engine is wrapped here.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use contract::{CallId, Choice, ModelCapabilities, Text};
use futures::{
    StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use redaction::{Exact, Scrubbing};

use crate::{
    ports::{AskedCall, Model, ModelError, ModelEvent, ModelRequest, ToolsRefused},
    turn::secrets::KnownSecrets,
};

type Answered = Result<ModelEvent, ModelError>;

/// A model whose answers contain no known secrets.
pub(crate) struct ScrubbedModel {
    inner: Arc<dyn Model>,
    secrets: Arc<KnownSecrets>,
}

impl ScrubbedModel {
    pub(crate) fn new(inner: Arc<dyn Model>, secrets: &Arc<KnownSecrets>) -> Self {
        Self { inner, secrets: Arc::clone(secrets) }
    }
}

impl Model for ScrubbedModel {
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
        let refused = self.inner.tools_refused()?;
        let exact = self.secrets.matcher();
        let said = refused.said.map(|said| AnswerScrubber::default().sentence(&exact, said));
        Some(ToolsRefused { at: refused.at, said })
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
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Answered> {
        let (secrets, mut scrubber) = (Arc::clone(&self.secrets), AnswerScrubber::default());
        let events = self.inner.stream(request).map(Some).chain(stream::iter([None]));
        events
            // A key that becomes known during the answer is removed from then on.
            .flat_map(move |event| stream::iter(scrubber.scrub(&secrets.matcher(), event)))
            .boxed()
    }
}

/// Removes secrets from the events of an answer.
#[derive(Default)]
struct AnswerScrubber {
    text: Scrubbing,
    thoughts: Scrubbing,
    /// Whether a secret was found outside of the two streamed texts.
    has_removed: bool,
    is_told: bool,
}

impl AnswerScrubber {
    /// Returns the events to forward. `None` means the end of the answer. Every kind of event is
    /// listed here, so that a new kind does not compile without a decision about its texts.
    fn scrub(&mut self, exact: &Exact, event: Option<Answered>) -> Vec<Answered> {
        let mut out = Vec::new();
        match event {
            None => self.end_texts(exact, &mut out),
            Some(Err(error)) => {
                self.end_texts(exact, &mut out);
                out.push(Err(self.scrub_error(exact, error)));
            }
            Some(Ok(ModelEvent::Text(text))) => {
                out.push(Ok(ModelEvent::Text(self.text.push(exact, &text))));
            }
            Some(Ok(ModelEvent::Reasoning(text))) => {
                out.push(Ok(ModelEvent::Reasoning(self.thoughts.push(exact, &text))));
            }
            Some(Ok(ModelEvent::WasThought)) => {
                out.push(Ok(ModelEvent::Text(self.text.end(exact))));
                out.push(Ok(ModelEvent::WasThought));
            }
            Some(Ok(ModelEvent::Loading)) => out.push(Ok(ModelEvent::Loading)),
            Some(Ok(ModelEvent::LocalData)) => out.push(Ok(ModelEvent::LocalData)),
            Some(Ok(ModelEvent::Call(call))) => {
                out.push(Ok(ModelEvent::Call(self.scrub_call(exact, call))));
            }
            Some(Ok(ModelEvent::Choices(choices))) => {
                out.push(Ok(ModelEvent::Choices(self.scrub_choices(exact, choices))));
            }
            // The provider would refuse changed data. Without the data, the answer is returned as
            // text.
            Some(Ok(ModelEvent::Opaque(opaque))) => {
                if exact.value_contains_secret(&opaque.data) {
                    self.has_removed = true;
                } else {
                    out.push(Ok(ModelEvent::Opaque(opaque)));
                }
            }
            Some(Ok(ModelEvent::FellBack { from, to, kind, why })) => {
                out.push(Ok(ModelEvent::FellBack {
                    from: self.words(exact, from),
                    to: self.words(exact, to),
                    kind,
                    why: self.sentence(exact, why),
                }));
            }
            Some(Ok(ModelEvent::SecretRemoved)) => self.has_removed = true,
            Some(Ok(ModelEvent::Done { usage, finish })) => {
                self.end_texts(exact, &mut out);
                out.push(Ok(ModelEvent::Done { usage, finish }));
            }
        }
        self.tell(&mut out);
        out.retain(|event| !is_empty_text(event));
        out
    }

    /// Adds the texts that were held back.
    fn end_texts(&mut self, exact: &Exact, out: &mut Vec<Answered>) {
        out.push(Ok(ModelEvent::Reasoning(self.thoughts.end(exact))));
        out.push(Ok(ModelEvent::Text(self.text.end(exact))));
    }

    /// Adds the notification of the first removal before the changed events.
    fn tell(&mut self, out: &mut Vec<Answered>) {
        let has_removed =
            self.has_removed || self.text.has_removed() || self.thoughts.has_removed();
        if has_removed && !self.is_told {
            self.is_told = true;
            out.insert(0, Ok(ModelEvent::SecretRemoved));
        }
    }

    fn words(&mut self, exact: &Exact, text: String) -> String {
        let scrubbed = exact.redact_secrets(&text).into_owned();
        self.has_removed |= scrubbed != text;
        scrubbed
    }

    /// Returns a sentence without secrets. If a secret was removed, the sentence loses its
    /// translation.
    fn sentence(&mut self, exact: &Exact, text: Text) -> Text {
        let scrubbed = exact.redact_secrets(&text).into_owned();
        if scrubbed == text.as_str() {
            return text;
        }
        self.has_removed = true;
        scrubbed.as_str().into()
    }

    fn scrub_call(&mut self, exact: &Exact, call: AskedCall) -> AskedCall {
        let arguments = exact.scrub_json(call.arguments.clone());
        self.has_removed |= arguments != call.arguments;
        AskedCall {
            id: CallId(self.words(exact, call.id.0)),
            name: self.words(exact, call.name),
            arguments,
        }
    }

    /// Returns the suggestions without secrets, including a secret that is split over several
    /// suggestions.
    fn scrub_choices(&mut self, exact: &Exact, choices: Vec<Choice>) -> Vec<Choice> {
        let Ok(mut value) = serde_json::to_value(&choices) else { return Vec::new() };
        if !exact.value_contains_secret(&value) {
            return choices;
        }
        self.has_removed = true;
        exact.scrub_value(&mut value);
        serde_json::from_value(value).unwrap_or_default()
    }

    fn scrub_error(&mut self, exact: &Exact, error: ModelError) -> ModelError {
        ModelError {
            message: self.sentence(exact, error.message),
            hint: error.hint.map(|hint| self.sentence(exact, hint)),
            said: error.said.map(|said| Box::new(self.sentence(exact, *said))),
            ..error
        }
    }
}

fn is_empty_text(event: &Answered) -> bool {
    matches!(event, Ok(ModelEvent::Text(text) | ModelEvent::Reasoning(text)) if text.is_empty())
}

/// Returns an error of a model's server without secrets.
pub(crate) fn scrub_error(exact: &Exact, error: ModelError) -> ModelError {
    AnswerScrubber::default().scrub_error(exact, error)
}
