//! The offline model: a deterministic planner over the packs that implements the engine's `Model`
//! port without a network or key. The planner matches messages with the phrases of the manifests, and
//! reads questions about sources with the crate `questions`. It calls tools, and answers with the packs'
//! templates, or from the results of metric queries. No tool is treated specially by its name, and the
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
mod data;
mod dialogue;
mod doubts;
mod explain;
mod facts;
mod field;
mod fill;
mod goal;
mod guesses;
mod handbook;
mod history;
mod look;
mod look_inside;
mod more;
mod names;
mod pack_texts;
mod parts;
mod pattern;
mod places;
mod plan;
mod product;
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
pub use data::{KnownSources, SourceDirectory};

use book::Book;
use dialogue::Move;
use reader::Talk;
use social::Social;

/// The planner, built once from the packs.
#[derive(Clone, Debug)]
pub struct OfflineModel {
    book: Arc<Book>,
    sources: Option<Arc<dyn SourceDirectory>>,
}

impl OfflineModel {
    /// Creates a model for these packs. It also answers questions about the product.
    pub fn new(packs: Vec<OfflinePack>) -> Self {
        let book = Book { has_handbook: true, ..Book::new(packs) };
        Self { book: Arc::new(book), sources: None }
    }

    /// Creates a model for callers such as visitors of a shop, who do not use the app.
    pub fn for_callers(packs: Vec<OfflinePack>) -> Self {
        Self { book: Arc::new(Book::new(packs)), sources: None }
    }

    /// Also answers questions about the sources of a directory.
    #[must_use]
    pub fn with_sources(self, sources: Arc<dyn SourceDirectory>) -> Self {
        Self { sources: Some(sources), ..self }
    }

    /// Explains how the first message of a conversation is understood at an instant, in a time zone
    /// such as `Europe/Stockholm`. `known` are the sources that it may be about.
    pub fn explain(
        &self,
        text: &str,
        now: DateTime<Utc>,
        time_zone: &str,
        known: Option<&KnownSources>,
    ) -> MessageExplainResponse {
        let (today, as_of) = (dialogue::local_day(now, time_zone), data::moment(now, time_zone));
        explain::explain(&self.book, known, text, today, &as_of)
    }

    /// Whether a request may need the sources: it offers the tool that answers metric queries, or an
    /// earlier call of it is to be answered.
    fn may_ask_sources(&self, request: &ModelRequest) -> bool {
        let Some(tools) = self.book.data else { return false };
        let name = |tool: usize| self.book.tools[tool].spec.model_name.as_str();
        let is_one = |other: &str| tools.all().any(|tool| name(tool) == other);
        let is_ours = |names: &[String]| names.iter().any(|other| is_one(other));
        let of_agents =
            |agents: &[(AgentId, Vec<String>)]| agents.iter().any(|(_, names)| is_ours(names));
        let by_purpose = match &request.purpose {
            Purpose::Answer | Purpose::Synthesis { .. } => false,
            Purpose::Assist { agents, .. } | Purpose::Route { agents, .. } => of_agents(agents),
            Purpose::Part { tools } => is_ours(tools),
        };
        let may_ask = by_purpose
            || request.tools.iter().any(|tool| is_one(&tool.name))
            || history::any_call(&request.messages, is_one);
        may_ask && !self.begins_with_greeting(request)
    }

    /// Whether a conversation is only a greeting so far. It does not wait until the sources are read.
    fn begins_with_greeting(&self, request: &ModelRequest) -> bool {
        let turns = history::read_turns(&request.messages, &self.book);
        let [turn] = turns.as_slice() else { return false };
        let tokens = self.book.read_words(&turn.user);
        let words = pattern::word_indices(&tokens);
        let used = social::matched_tokens(&tokens, &words);
        let is_greeting = |talk: &Social| {
            matches!(talk, Social::Greeting | Social::HowAreYou | Social::Thanks | Social::Bye)
        };
        social::recognise(&tokens, &words).iter().all(is_greeting)
            && words.iter().all(|at| used.contains(at))
    }

    fn events(&self, request: &ModelRequest, known: Option<&KnownSources>) -> Vec<ModelEvent> {
        let mut events = Vec::new();
        if let Purpose::Assist { route, agents } = &request.purpose {
            return self.assist(request, known, route, agents);
        }
        let written = match &request.purpose {
            Purpose::Answer | Purpose::Assist { .. } | Purpose::Part { .. } => None,
            Purpose::Route { agents, answered } => {
                Some(routing::decide_route(&self.book, known, request, agents, answered))
            }
            Purpose::Synthesis { answers } => {
                Some(routing::join_answers(&self.book, known, request, answers))
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
        let finish = match dialogue::plan_next_move(&self.book, known, request) {
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
                events.extend(said.is_local.then_some(ModelEvent::LocalData));
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
                        | Talk::Handbook(_)
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
        known: Option<&KnownSources>,
        route: &str,
        agents: &[(AgentId, Vec<String>)],
    ) -> Vec<ModelEvent> {
        let decisions = routing::decide_routes(&self.book, known, request, agents);
        if decisions.is_empty() {
            let purpose = Purpose::Part { tools: Vec::new() };
            return self.events(&ModelRequest { purpose, ..request.clone() }, known);
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
        let sources = self.sources.clone().filter(|_| self.may_ask_sources(&request));
        let Some(sources) = sources else {
            return stream::iter(self.events(&request, None).into_iter().map(Ok)).boxed();
        };
        let model = self.clone();
        let events = async move {
            let known = sources.known().await;
            let events = model.events(&request, known.as_deref());
            stream::iter(events.into_iter().map(Ok::<ModelEvent, ModelError>))
        };
        stream::once(events).flatten().boxed()
    }
}

#[cfg(test)]
mod tests;
