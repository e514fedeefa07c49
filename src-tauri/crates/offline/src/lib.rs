//! The offline model: a deterministic planner over the packs that implements the engine's `Model`
//! port without a network or key. The planner matches messages with the phrases of the manifests,
//! calls tools, and answers with the packs' templates. No tool is treated specially, and the
//! answers never claim to come from a language model.
#![forbid(unsafe_code)]

use std::sync::Arc;

use chrono::{DateTime, Utc};
use contract::{AgentId, CallId, MessageExplainResponse, Usage};
use engine::ports::{Finish, Model, ModelCall, ModelError, ModelEvent, ModelRequest, Purpose};
use futures::{StreamExt, stream, stream::BoxStream};
use serde_json::Value;

mod book;
mod candidates;
mod clauses;
mod counts;
mod coverage;
mod dialogue;
mod doubts;
mod explain;
mod facts;
mod field;
mod fill;
mod goal;
mod history;
mod look;
mod look_inside;
mod more;
mod names;
mod overall;
mod pack_texts;
mod parts;
mod pattern;
mod places;
mod plan;
mod ranking;
mod reader;
mod reply;
mod resume;
mod routing;
mod score;
mod search_words;
mod slots;
mod social;
mod state;
mod talk;
mod template;
mod texts;
mod things;
mod understand;
mod values;
mod words;

pub use book::OfflinePack;

use book::Book;
use dialogue::Move;
use reader::Talk;
use social::Social;

/// The planner, built once from the packs.
#[derive(Clone, Debug)]
pub struct OfflineModel {
    book: Arc<Book>,
}

impl OfflineModel {
    /// Creates a model for these packs.
    pub fn new(packs: Vec<OfflinePack>) -> Self {
        Self { book: Arc::new(Book::new(packs)) }
    }

    /// Explains how the first message of a conversation is understood at an instant, in a time zone
    /// such as `Europe/Stockholm`.
    pub fn explain(
        &self,
        text: &str,
        now: DateTime<Utc>,
        time_zone: &str,
    ) -> MessageExplainResponse {
        explain::explain(&self.book, text, dialogue::local_day(now, time_zone))
    }

    fn events(&self, request: &ModelRequest) -> Vec<ModelEvent> {
        let mut events = Vec::new();
        if let Purpose::Assist { route, agents } = &request.purpose {
            return self.assist(request, route, agents);
        }
        let written = match &request.purpose {
            Purpose::Answer | Purpose::Assist { .. } | Purpose::Part { .. } => None,
            Purpose::Route { agents, answered } => {
                Some(routing::decide_route(&self.book, request, agents, answered))
            }
            Purpose::Synthesis { answers } => {
                Some(routing::join_answers(&self.book, request, answers))
            }
        };
        if let Some(text) = written {
            events.extend(split_words(&text).map(ModelEvent::Text));
            events.push(ModelEvent::Done {
                usage: Usage { model_calls: 1, ..Usage::default() },
                finish: Finish::Stop,
            });
            return events;
        }
        let finish = match dialogue::plan_next_move(&self.book, request) {
            Move::Calls(calls) => {
                let made = history::count_calls(&request.messages);
                events.extend(calls.into_iter().enumerate().map(|(index, call)| {
                    ModelEvent::Call(ModelCall {
                        id: CallId::new(format!("offline-{}", made + index + 1)),
                        name: self.book.tools[call.tool].spec.model_name.clone(),
                        arguments: Value::Object(call.args).to_string(),
                    })
                }));
                Finish::ToolCalls
            }
            Move::Say(said) => {
                events.extend(split_words(&said.reply.text).map(ModelEvent::Text));
                if !said.reply.choices.is_empty() {
                    events.push(ModelEvent::Choices(said.reply.choices));
                }
                match said.talk {
                    Some(Talk::Cannot { .. } | Talk::Social(Social::OffTopic)) => {
                        Finish::OutOfScope
                    }
                    Some(
                        Talk::Social(_)
                        | Talk::Dropped
                        | Talk::AskAgain
                        | Talk::More
                        | Talk::NotUnderstood(_),
                    )
                    | None => Finish::Stop,
                }
            }
        };
        events
            .push(ModelEvent::Done { usage: Usage { model_calls: 1, ..Usage::default() }, finish });
        events
    }

    /// Routes the message to the specialists whose tools it needs. If it needs no tools, the model
    /// answers directly.
    fn assist(
        &self,
        request: &ModelRequest,
        route: &str,
        agents: &[(AgentId, Vec<String>)],
    ) -> Vec<ModelEvent> {
        let decisions = routing::decide_routes(&self.book, request, agents);
        if decisions.is_empty() {
            let purpose = Purpose::Part { tools: Vec::new() };
            return self.events(&ModelRequest { purpose, ..request.clone() });
        }
        let call = |(index, arguments): (usize, String)| {
            let id = CallId::new(format!("offline-route-{}", index + 1));
            ModelEvent::Call(ModelCall { id, name: route.to_owned(), arguments })
        };
        let mut events: Vec<ModelEvent> = decisions.into_iter().enumerate().map(call).collect();
        let usage = Usage { model_calls: 1, ..Usage::default() };
        events.push(ModelEvent::Done { usage, finish: Finish::ToolCalls });
        events
    }
}

/// Splits a text into words, each with the following white space.
fn split_words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_inclusive([' ', '\n']).map(str::to_owned)
}

impl Model for OfflineModel {
    fn label(&self) -> String {
        "Offline model".to_owned()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn in_process(&self) -> bool {
        true
    }

    /// The list is empty, because calls of the offline model are free.
    fn possible_labels(&self) -> Vec<String> {
        Vec::new()
    }

    fn longest_answer(&self, _: Option<u32>) -> u32 {
        0
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        stream::iter(self.events(&request).into_iter().map(Ok)).boxed()
    }
}

#[cfg(test)]
mod tests;
