//! A model that returns the events scripted by a test, and refuses requests that real providers
//! would refuse.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use contract::{CallId, ModelCapabilities, Usage};
use engine::ports::*;
use futures::{StreamExt, stream::BoxStream};
use serde_json::Value;

/// A scripted action of the model in response to a call.
pub enum Say {
    Text(&'static str),
    Call(&'static str, Value),
    /// A call with its arguments as text.
    Written(&'static str, String),
    Fail(ModelErrorKind),
    /// An event or failure that the test creates.
    Event(Box<Result<ModelEvent, ModelError>>),
    /// Another model takes over: from, to.
    FellBack(&'static str, &'static str),
    /// Another model takes over from a model that stopped answering.
    FellSilent(&'static str),
    /// The model that answers runs inside the program.
    Inside,
    Hang,
    /// Continues when notified.
    Until(Arc<tokio::sync::Notify>),
    /// The tokens reported by the provider: input and output.
    Uses(u64, u64),
    Ends(Finish),
}

/// Chooses the model's response when it reads a request.
pub type Chooser = Box<dyn FnMut(&ModelRequest) -> Vec<ModelEvent> + Send>;

#[derive(Default)]
pub struct ScriptModel {
    /// Answers instead of the script, if set. Its requests are not stored.
    pub chooser: Mutex<Option<Chooser>>,
    /// Whether the model is part of the program, like the offline model.
    pub inside: AtomicBool,
    /// Whether the model that answers now runs inside the program.
    pub answers_inside: AtomicBool,
    /// Whether the model runs on another machine.
    pub remote: AtomicBool,
    /// Whether the model reads results only as text.
    pub words_only: AtomicBool,
    /// The capabilities, if they differ from those of an unknown model.
    pub capabilities: Mutex<Option<ModelCapabilities>>,
    /// Whether the model has refused tools.
    pub refuses: AtomicBool,
    /// The time at which the server refused tools.
    pub refused_at: Mutex<chrono::DateTime<chrono::Utc>>,
    /// The most tools of a request, if there is a limit.
    pub most_tools: Mutex<Option<usize>>,
    /// The longest answer of this model, and of all models that may answer, if it differs from the
    /// capabilities.
    pub longest: Mutex<Option<(u32, u32)>>,
    /// Another model that may take over.
    pub second: Mutex<Option<String>>,
    /// The models for turns that request a model by name.
    pub named: Mutex<HashMap<String, Arc<ScriptModel>>>,
    pub script: Mutex<VecDeque<Vec<Say>>>,
    pub requests: Mutex<Vec<ModelRequest>>,
}

impl ScriptModel {
    pub fn then(&self, says: Vec<Say>) {
        self.script.lock().unwrap().push_back(says);
    }
}

/// Refuses requests that real endpoints refuse, in which calls and results do not match.
fn assert_paired(messages: &[Message]) {
    let mut open: Vec<CallId> = Vec::new();
    for message in messages {
        match message {
            Message::Tool { call, .. } => {
                let at = open
                    .iter()
                    .position(|c| c == call)
                    .unwrap_or_else(|| panic!("a result without its call: {call}"));
                open.remove(at);
            }
            Message::Assistant { calls, .. } => {
                assert!(open.is_empty(), "calls without results: {open:?}");
                open.extend(calls.iter().map(|c| c.id.clone()));
            }
            Message::System { .. } | Message::User { .. } => {
                assert!(open.is_empty(), "calls without results: {open:?}")
            }
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}

impl Model for ScriptModel {
    fn label(&self) -> String {
        "script".into()
    }
    fn possible_labels(&self) -> Vec<String> {
        let second = self.second.lock().unwrap().clone();
        second.into_iter().chain([self.label()]).collect()
    }
    fn is_local(&self) -> bool {
        !self.remote.load(Ordering::SeqCst)
    }
    fn capabilities(&self) -> ModelCapabilities {
        self.capabilities.lock().unwrap().unwrap_or_default()
    }
    fn tools_refused(&self) -> Option<ToolsRefused> {
        let said = Some("The server said: “sk-live-4f9a81c2b7e3d650 has no tools”".into());
        let refused = ToolsRefused { at: *self.refused_at.lock().unwrap(), said };
        self.refuses.load(Ordering::SeqCst).then_some(refused)
    }
    fn note_refused_tools(&self, at: chrono::DateTime<chrono::Utc>) {
        *self.refused_at.lock().unwrap() = at;
        self.refuses.store(true, Ordering::SeqCst);
    }
    fn most_tools(&self) -> usize {
        self.most_tools.lock().unwrap().unwrap_or(usize::MAX)
    }
    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        let own = longest_answer(wanted, self.capabilities().max_output_tokens);
        self.longest.lock().unwrap().map_or(own, |(_, all)| all)
    }
    fn longest_answer_now(&self, wanted: Option<u32>) -> u32 {
        let own = longest_answer(wanted, self.capabilities().max_output_tokens);
        self.longest.lock().unwrap().map_or(own, |(now, _)| now)
    }
    fn in_process(&self) -> bool {
        self.inside.load(Ordering::SeqCst)
    }
    fn answers_in_process(&self) -> bool {
        self.in_process() || self.answers_inside.load(Ordering::SeqCst)
    }
    fn reads_values(&self) -> bool {
        !self.words_only.load(Ordering::SeqCst)
    }
    fn stream(
        &self,
        mut request: ModelRequest,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        assert_paired(&request.messages);
        // The request as it would be sent.
        request.apply_own_limit(self.capabilities().max_output_tokens);
        request.max_output_tokens = request.answer_limit();
        if let Some(choose) = self.chooser.lock().unwrap().as_mut() {
            let usage = Usage { input_tokens: 10, output_tokens: 5, model_calls: 1 };
            let done = ModelEvent::Done { usage, finish: Finish::Stop };
            return futures::stream::iter(choose(&request).into_iter().chain([done]).map(Ok))
                .boxed();
        }
        self.requests.lock().unwrap().push(request);
        let says =
            self.script.lock().unwrap().pop_front().unwrap_or_else(|| vec![Say::Text("done")]);
        let mut out: Vec<BoxStream<'static, Result<ModelEvent, ModelError>>> = Vec::new();
        let (mut usage, mut finish) =
            (Usage { input_tokens: 10, output_tokens: 5, model_calls: 1 }, Finish::Stop);
        for say in says {
            out.push(match say {
                Say::Uses(input_tokens, output_tokens) => {
                    usage = Usage { input_tokens, output_tokens, model_calls: 1 };
                    continue;
                }
                Say::Ends(how) => {
                    finish = how;
                    continue;
                }
                Say::Text(text) => {
                    futures::stream::iter([Ok(ModelEvent::Text(text.into()))]).boxed()
                }
                Say::Call(name, arguments) => {
                    let call = AskedCall {
                        id: "same-id".into(),
                        name: name.into(),
                        arguments: arguments.to_string(),
                    };
                    futures::stream::iter([Ok(ModelEvent::Call(call))]).boxed()
                }
                Say::Written(name, arguments) => {
                    let call = AskedCall { id: "same-id".into(), name: name.into(), arguments };
                    futures::stream::iter([Ok(ModelEvent::Call(call))]).boxed()
                }
                Say::Event(event) => futures::stream::iter([*event]).boxed(),
                Say::Fail(kind) => {
                    let error = ModelError {
                        kind,
                        message: "The model is not reachable.".into(),
                        hint: Some("Check the address.".into()),
                        retry_after_ms: None,
                        said: None,
                    };
                    futures::stream::iter([Err(error)]).boxed()
                }
                Say::FellBack(from, to) => {
                    let told = ModelEvent::FellBack {
                        from: from.into(),
                        to: to.into(),
                        kind: ModelErrorKind::Unavailable,
                        why: "It is busy.".into(),
                    };
                    futures::stream::iter([Ok(told)]).boxed()
                }
                Say::Inside => {
                    self.answers_inside.store(true, Ordering::SeqCst);
                    continue;
                }
                Say::FellSilent(from) => {
                    let told = ModelEvent::FellBack {
                        from: from.into(),
                        to: self.label(),
                        kind: ModelErrorKind::Broken,
                        why: "It said nothing.".into(),
                    };
                    futures::stream::iter([Ok(told)]).boxed()
                }
                Say::Hang => futures::stream::pending().boxed(),
                Say::Until(told) => futures::stream::once(async move { told.notified().await })
                    .filter_map(|()| std::future::ready(None))
                    .boxed(),
            });
        }
        out.push(futures::stream::iter([Ok(ModelEvent::Done { usage, finish })]).boxed());
        futures::stream::iter(out).flatten().boxed()
    }
}

pub struct OneModel(pub Arc<ScriptModel>);
impl Models for OneModel {
    fn current(&self, name: Option<&str>) -> Arc<dyn Model> {
        let named = self.0.named.lock().unwrap();
        let model = name.and_then(|name| named.get(name)).unwrap_or(&self.0);
        Arc::clone(model) as _
    }
}
