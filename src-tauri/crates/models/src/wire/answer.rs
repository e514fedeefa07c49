//! The state of an arriving answer that all wires share, and how an answer ends: finish reasons are
//! unified. Each wire has its own form of events.

use std::collections::VecDeque;

use contract::{CallId, Usage};
use engine::ports::{Finish, ModelCall, ModelError, ModelEvent, Opaque};
use serde_json::Value;

use super::arguments::arguments_of_calls;
use crate::http::failure;

/// The part of an answer that has arrived.
pub(crate) struct Answer {
    pub(crate) usage: Usage,
    pub(crate) finish: Option<Finish>,
    /// Whether any part of the answer has arrived.
    pub(crate) begun: bool,
    /// Whether the answer contains a call.
    pub(crate) called: bool,
}

impl Answer {
    pub(crate) fn new() -> Self {
        Self {
            usage: Usage { model_calls: 1, ..Usage::default() },
            finish: None,
            begun: false,
            called: false,
        }
    }

    pub(crate) fn push_text(&mut self, text: &str, out: &mut VecDeque<ModelEvent>) {
        if !text.is_empty() {
            self.begun = true;
            out.push_back(ModelEvent::Text(text.to_owned()));
        }
    }

    pub(crate) fn push_reasoning(&mut self, text: &str, out: &mut VecDeque<ModelEvent>) {
        if !text.is_empty() {
            self.begun = true;
            out.push_back(ModelEvent::Reasoning(text.to_owned()));
        }
    }

    /// Pushes a whole call, or several calls whose arguments came as one text. Returns the number
    /// of calls.
    pub(crate) fn push_call(
        &mut self,
        name: String,
        arguments: String,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<usize, ModelError> {
        if name.is_empty() {
            return Err(failure::nameless_call());
        }
        let calls = arguments_of_calls(arguments);
        let count = calls.len();
        for arguments in calls {
            // The engine assigns ids to calls, because a provider's ids may repeat or be empty.
            let name = name.clone();
            out.push_back(ModelEvent::Call(ModelCall { id: CallId::new(""), name, arguments }));
        }
        self.called = true;
        Ok(count)
    }

    /// Returns an error if the answer was blocked before its first word.
    pub(crate) fn check_not_blocked(&self) -> Result<(), ModelError> {
        if self.finish == Some(Finish::ContentFilter) && !self.begun {
            Err(failure::model_declined())
        } else {
            Ok(())
        }
    }

    /// Pushes the end of the answer. Some servers say "stop" after calls, or the reverse, so the
    /// presence of calls decides.
    pub(crate) fn push_done(&self, out: &mut VecDeque<ModelEvent>) {
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

/// Returns the kept items of an answer in their original order, with the calls at the positions of
/// the items of type `mark`. Returns None if there are no items that this maker can read.
pub(crate) fn restore_order(
    opaque: Option<&Opaque>,
    maker: &str,
    mark: &str,
    calls: &[Value],
) -> Option<Vec<Value>> {
    let is_mark = |item: &&Value| item.get("type").and_then(Value::as_str) == Some(mark);
    let kept = super::own_data(opaque, maker)?.as_array()?;
    if kept.iter().filter(is_mark).count() != calls.len() {
        return None;
    }
    let mut asked = calls.iter();
    Some(
        kept.iter()
            .filter_map(
                |item| if is_mark(&item) { asked.next().cloned() } else { Some(item.clone()) },
            )
            .collect(),
    )
}
