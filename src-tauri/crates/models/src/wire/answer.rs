//! What every wire keeps of an answer while it arrives, and how one ends: what is sealed goes back, the
//! reason for the end is made one. The shape of the events is each wire's own.

use std::collections::VecDeque;
use std::sync::Arc;

use contract::{CallId, Usage};
use engine::ports::{Finish, ModelCall, ModelError, ModelEvent, Opaque};
use serde_json::Value;

use crate::http::failure;

/// An answer as far as it has arrived.
pub(crate) struct Answer {
    pub(crate) usage: Usage,
    pub(crate) finish: Option<Finish>,
    /// Something of it has been seen.
    pub(crate) begun: bool,
    called: bool,
}

impl Answer {
    pub(crate) fn new() -> Self {
        Self { usage: Usage { model_calls: 1, ..Usage::default() }, finish: None, begun: false, called: false }
    }

    pub(crate) fn say(&mut self, text: &str, out: &mut VecDeque<ModelEvent>) {
        if !text.is_empty() {
            self.begun = true;
            out.push_back(ModelEvent::Text(text.to_owned()));
        }
    }

    pub(crate) fn think(&mut self, text: &str, out: &mut VecDeque<ModelEvent>) {
        if !text.is_empty() {
            self.begun = true;
            out.push_back(ModelEvent::Reasoning(text.to_owned()));
        }
    }

    /// A whole call. Arguments that were never written are an empty object.
    pub(crate) fn call(&mut self, name: String, arguments: String, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        if name.is_empty() {
            return Err(failure::nameless_call());
        }
        let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
        // The engine names calls: what a provider calls them may repeat or be empty.
        out.push_back(ModelEvent::Call(ModelCall { id: CallId::new(""), name, arguments }));
        self.called = true;
        Ok(())
    }

    /// What the server wants back with the calls. Without a call no round follows, and nothing goes back.
    pub(crate) fn seal(&self, maker: &str, kept: Vec<Value>, out: &mut VecDeque<ModelEvent>) {
        if self.called {
            out.push_back(ModelEvent::Opaque(Opaque { maker: maker.to_owned(), data: Arc::new(Value::Array(kept)) }));
        }
    }

    /// An answer that was blocked before its first word is a failure.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        if self.finish == Some(Finish::ContentFilter) && !self.begun { Err(failure::model_declined()) } else { Ok(()) }
    }

    /// The end. Servers say "stop" after calls and the other way round: what was called decides.
    pub(crate) fn done(&self, out: &mut VecDeque<ModelEvent>) {
        let finish = match self.finish {
            Some(Finish::Stop | Finish::ToolCalls) | None => {
                if self.called {
                    Finish::ToolCalls
                } else {
                    Finish::Stop
                }
            }
            Some(finish) => finish,
        };
        out.push_back(ModelEvent::Done { usage: self.usage, finish });
    }
}

/// What was kept of an answer, in the order in which it came, with the calls where their marks (items of the type `mark`) stand.
/// `None`: nothing was kept that this maker could read.
pub(crate) fn in_order(opaque: Option<&Opaque>, maker: &str, mark: &str, calls: &[Value]) -> Option<Vec<Value>> {
    let is_mark = |item: &&Value| item.get("type").and_then(Value::as_str) == Some(mark);
    let kept = super::own(opaque, maker)?.as_array()?;
    if kept.iter().filter(is_mark).count() != calls.len() {
        return None;
    }
    let mut asked = calls.iter();
    Some(kept.iter().filter_map(|item| if is_mark(&item) { asked.next().cloned() } else { Some(item.clone()) }).collect())
}
