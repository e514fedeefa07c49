//! A test conversation with the offline model, the demo shop, and the sources of the sample.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, LazyLock},
};

use chrono::{DateTime, TimeZone, Utc};
use contract::{CallId, Choice};
use engine::ports::{
    AskedCall, Message, ModelCall, ModelEvent, ModelRequest, Outbound, OutboundValue, ToolDef,
};
use serde_json::{Map, Value, json};
use shop::Shop;

use super::sample::known_at;
use crate::{
    KnownSources, OfflineModel, OfflinePack,
    dialogue::{self, Move, Said},
};

/// The offline model gets texts without redaction.
fn original() -> redaction::Redactor {
    redaction::Redactor::new(redaction::Level::None, Arc::default())
}

fn said_here(text: &str) -> Outbound {
    original().redact_composed_text(text)
}

fn sent_here(call: &AskedCall) -> ModelCall {
    ModelCall {
        id: call.id.clone(),
        name: said_here(&call.name),
        arguments: said_here(&call.arguments),
    }
}

/// The sources of the sample.
pub(super) static SAMPLE: LazyLock<Arc<KnownSources>> = LazyLock::new(|| Arc::new(known_at(now())));

/// The time of every test conversation.
pub(super) fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 20, 12, 0, 0).single().expect("a moment")
}

pub(super) fn tools_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tools")
}

static PACKS: LazyLock<Vec<OfflinePack>> = LazyLock::new(|| {
    packs::load(&[tools_folder()])
        .into_iter()
        .map(|loaded| {
            let pack =
                loaded.pack.unwrap_or_else(|| panic!("{:?}: {:#?}", loaded.folder, loaded.view));
            OfflinePack::new(pack.manifest, pack.tools)
        })
        .collect()
});

/// Returns the shipped packs.
pub(super) fn packs() -> Vec<OfflinePack> {
    PACKS.clone()
}

static MODEL: LazyLock<OfflineModel> = LazyLock::new(|| OfflineModel::new(PACKS.clone()));

pub(super) fn model() -> OfflineModel {
    MODEL.clone()
}

/// All tests share a catalogue, and every conversation has its own basket.
static SHOP: LazyLock<Shop> = LazyLock::new(|| {
    let today = now().date_naive();
    Shop::open(shop::Options { today: Box::new(move || today), ..shop::Options::default() })
        .expect("a shop")
});

/// A call that was made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) writes: bool,
}

/// The result of a turn.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) calls: Vec<Call>,
    pub(super) text: String,
    pub(super) choices: Vec<Choice>,
    pub(super) said: Said,
    pub(super) rounds: usize,
}

/// A session of the test.
pub(super) struct World {
    model: OfflineModel,
    messages: Vec<Message>,
    basket: Option<Value>,
    /// The notes that were saved.
    notes: Vec<String>,
    pub(super) locale: String,
    pub(super) offered: Option<Vec<String>>,
    /// The results of the next writes, which are not executed.
    pub(super) decisions: VecDeque<Value>,
    /// The sources that questions may be about.
    pub(super) known: Option<Arc<KnownSources>>,
    /// The results of the next metric queries.
    pub(super) figures: VecDeque<Value>,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            model: model(),
            messages: Vec::new(),
            basket: None,
            notes: Vec::new(),
            locale: "en".into(),
            offered: None,
            decisions: VecDeque::new(),
            known: None,
            figures: VecDeque::new(),
        }
    }

    /// Returns a conversation about the sources of the sample.
    pub(super) fn with_sample() -> Self {
        Self { known: Some(Arc::clone(&SAMPLE)), ..Self::new() }
    }

    /// Returns the conversation of a caller such as a visitor of a shop.
    pub(super) fn for_callers() -> Self {
        Self { model: OfflineModel::for_callers(PACKS.clone()), ..Self::new() }
    }

    /// Sends a message and runs the turn to its end.
    pub(super) fn say(&mut self, text: &str) -> Turn {
        self.messages.push(Message::User { text: said_here(text) });
        let mut calls = Vec::new();
        for round in 1..=6 {
            let request = self.request(round < 6);
            let book = &self.model.book;
            match dialogue::plan_next_move(book, self.known.as_deref(), &request) {
                Move::Say(said) => {
                    self.messages.push(Message::Assistant {
                        text: said_here(&said.reply.text),
                        calls: Vec::new(),
                        opaque: None,
                    });
                    return Turn {
                        calls,
                        text: said.reply.text.clone(),
                        choices: said.reply.choices.clone(),
                        said,
                        rounds: round,
                    };
                }
                Move::Calls(planned) => {
                    assert!(planned.len() <= 3, "more than three calls in a round");
                    let made: Vec<(AskedCall, usize)> = planned
                        .iter()
                        .enumerate()
                        .map(|(i, call)| {
                            let id = CallId::new(format!("c{}-{round}-{i}", self.messages.len()));
                            let name = book.tools[call.tool].spec.model_name.clone();
                            (
                                AskedCall {
                                    id,
                                    name,
                                    arguments: Value::Object(call.args.clone()).to_string(),
                                },
                                call.tool,
                            )
                        })
                        .collect();
                    self.messages.push(Message::Assistant {
                        text: "".into(),
                        calls: made.iter().map(|(call, _)| sent_here(call)).collect(),
                        opaque: None,
                    });
                    for (call, tool) in made {
                        let tool = &self.model.book.tools[tool];
                        let (id, writes) = (tool.spec.id.as_str().to_owned(), tool.is_write());
                        let arguments: Value =
                            serde_json::from_str(&call.arguments).expect("arguments");
                        calls.push(Call { tool: id.clone(), arguments: arguments.clone(), writes });
                        let data = self.run(&id, arguments, writes);
                        self.messages.push(Message::Tool {
                            call: call.id,
                            name: said_here(&call.name),
                            content: "".into(),
                            data: original().redact_definition(&data),
                        });
                    }
                }
            }
        }
        panic!("no answer after six rounds to {text:?}: {calls:#?}");
    }

    /// Returns the events of the model for the messages so far and a further message.
    pub(super) fn events(&mut self, text: &str) -> Vec<ModelEvent> {
        self.messages.push(Message::User { text: said_here(text) });
        self.model.events(&self.request(true), self.known.as_deref())
    }

    /// Returns the events of the model for a further message with this purpose.
    pub(super) fn events_for(
        &mut self,
        text: &str,
        purpose: engine::ports::Purpose,
    ) -> Vec<ModelEvent> {
        self.messages.push(Message::User { text: said_here(text) });
        self.model.events(&ModelRequest { purpose, ..self.request(true) }, self.known.as_deref())
    }

    /// Returns the text that the model writes for a message with this purpose.
    pub(super) fn asked_for(&mut self, text: &str, purpose: engine::ports::Purpose) -> String {
        let texts = self
            .events_for(text, purpose)
            .into_iter()
            .filter_map(|event| if let ModelEvent::Text(text) = event { Some(text) } else { None });
        texts.collect()
    }

    pub(super) fn request(&self, with_tools: bool) -> ModelRequest {
        let tools = if with_tools {
            self.model
                .book
                .tools
                .iter()
                .filter(|tool| {
                    self.offered.as_ref().is_none_or(|names| names.contains(&tool.spec.model_name))
                })
                .map(|tool| ToolDef {
                    name: said_here(&tool.spec.model_name),
                    description: "".into(),
                    parameters: OutboundValue::default(),
                })
                .collect()
        } else {
            Vec::new()
        };
        ModelRequest {
            messages: self.messages.clone(),
            passing: engine::ports::Outbound::default(),
            tools,
            structured: None,
            purpose: engine::ports::Purpose::Answer,
            max_output_tokens: None,
            left_output_tokens: None,
            whole: false,
            locale: self.locale.clone(),
            now: Some(now()),
            time_zone: "Europe/Stockholm".into(),
        }
    }

    fn run(&mut self, tool: &str, arguments: Value, writes: bool) -> Value {
        if writes && let Some(decision) = self.decisions.pop_front() {
            return decision;
        }
        if tool.starts_with("data.") {
            let none = json!({"columns": [], "rows": [], "row_count": 0, "query": "", "sql": ""});
            return self.figures.pop_front().unwrap_or(none);
        }
        match tool {
            "remember" => {
                self.notes.push(arguments["text"].as_str().unwrap_or_default().to_owned());
                return json!({"id": "memory-1", "text": arguments["text"]});
            }
            "recall" => {
                let memory = |text: &String| json!({"id": "memory-1", "kind": "note", "text": text, "stored_on": "2026-11-20"});
                let memories: Vec<Value> = self.notes.iter().map(memory).collect();
                return json!({"about": arguments["about"], "memories": memories});
            }
            _ => {}
        }
        let mut arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        arguments.insert("clientIp".into(), json!("127.0.0.1"));
        if let Some(basket) = &self.basket {
            arguments.insert("basketId".into(), basket.clone());
        }
        match SHOP.call(tool, &arguments) {
            Ok(value) => {
                if let Some(basket) = value.get("basketId").filter(|basket| !basket.is_null()) {
                    self.basket = Some(basket.clone());
                }
                value
            }
            Err((error, locale)) => {
                json!({"outcome": "error", "error": {"code": "tool_http_error", "message": error.sentence(locale)}})
            }
        }
    }
}
