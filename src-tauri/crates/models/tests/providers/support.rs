//! A provider for a scripted server, with a fixed clock and fixed randomness.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use engine::ports::{
    AskedCall, Clock, Finish, Message, Model, ModelCall, ModelError, ModelEvent, ModelRequest,
    Outbound, OutboundValue, Random, ToolDef,
};
use futures::StreamExt;
use kit::model_server::ModelServer;
use models::{Api, Config, HttpClient, Provider, ProviderDeps, ServerKey, http_client, origin_of};
use secrecy::SecretString;

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
    }
}

impl Random for Fixed {
    fn random_fraction(&self) -> f64 {
        0.0
    }
}

struct ClockAt(DateTime<Utc>);

impl Clock for ClockAt {
    fn now(&self) -> DateTime<Utc> {
        self.0
    }
}

/// Returns the same dependencies some minutes later.
pub fn world_after(minutes: i64) -> ProviderDeps {
    ProviderDeps { clock: Arc::new(ClockAt(Fixed.now() + TimeDelta::minutes(minutes))), ..world() }
}

pub fn world() -> ProviderDeps {
    // The client is shared, because reading the system's certificates is slow.
    static HTTP: LazyLock<HttpClient> = LazyLock::new(|| http_client().unwrap());
    let fixed = Arc::new(Fixed);
    ProviderDeps { http: HTTP.clone(), random: fixed.clone(), clock: fixed }
}

pub fn config(base_url: &str) -> Config {
    Config {
        api: Api::Chat,
        base_url: base_url.into(),
        api_key: origin_of(base_url)
            .filter(|server| server.may_carry_key())
            .map(|server| ServerKey { server, key: SecretString::from("sk-test-SECRET") }),
        model: "scripted".into(),
        reasoning: false,
        idle_timeout: Duration::from_secs(60),
        before_another: false,
        max_retries: 2,
        label: None,
    }
}

pub fn provider(server: &ModelServer) -> Provider {
    Provider::new(config(&server.base_url()), world()).unwrap()
}

/// Returns a model over any wire. The model's name decides its capabilities.
pub fn on(api: Api, server: &ModelServer, model: &str) -> Provider {
    let base_url = if api == Api::Gemini { server.google_url() } else { server.base_url() };
    Provider::new(
        Config { api, model: model.into(), reasoning: true, ..config(&base_url) },
        world(),
    )
    .unwrap()
}

pub fn question() -> ModelRequest {
    ModelRequest {
        messages: vec![Message::User { text: "Hello?".into() }],
        ..ModelRequest::default()
    }
}

pub async fn collect(provider: &dyn Model) -> Vec<Result<ModelEvent, ModelError>> {
    provider.stream(question()).collect().await
}

/// An answer with its pieces joined.
#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<(String, String)>,
    pub usage: (u64, u64),
    pub finish: Option<Finish>,
    pub error: Option<ModelError>,
}

pub fn join_answer(events: &[Result<ModelEvent, ModelError>]) -> Answer {
    let mut answer = Answer::default();
    for event in events {
        assert!(answer.finish.is_none() && answer.error.is_none(), "nothing follows the end");
        match event {
            Ok(ModelEvent::Text(text)) => answer.text.push_str(text),
            Ok(ModelEvent::Reasoning(text)) => answer.reasoning.push_str(text),
            Ok(ModelEvent::Call(ModelCall { name, arguments, .. })) => {
                answer.calls.push((name.clone(), arguments.clone()))
            }
            Ok(ModelEvent::WasThought) => {
                answer.reasoning.push_str(&std::mem::take(&mut answer.text));
            }
            Ok(ModelEvent::Loading) => {}
            Ok(
                ModelEvent::Choices(_)
                | ModelEvent::FellBack { .. }
                | ModelEvent::LocalData
                | ModelEvent::SecretRemoved,
            ) => {
                panic!("a server never sends these")
            }
            Ok(ModelEvent::Opaque(_)) => {}
            Ok(ModelEvent::Done { usage, finish }) => {
                answer.usage = (usage.input_tokens, usage.output_tokens);
                answer.finish = Some(*finish);
            }
            Err(error) => answer.error = Some(error.clone()),
        }
    }
    answer
}

pub async fn answer(provider: &dyn Model) -> Answer {
    join_answer(&collect(provider).await)
}

/// Marks a text as containing no private data.
pub fn plain(text: &str) -> Outbound {
    redaction::Redactor::new(redaction::Level::None, Arc::default()).redact_composed_text(text)
}

/// Returns a call in the form that is sent back.
pub fn as_sent(call: &AskedCall) -> ModelCall {
    ModelCall { id: call.id.clone(), name: plain(&call.name), arguments: plain(&call.arguments) }
}

/// A conversation as the engine would run it: calls get the host's ids and results, until there is
/// an answer.
#[derive(Default)]
pub struct Conversation {
    pub messages: Vec<Message>,
    calls: u32,
}

impl Conversation {
    pub fn asking(text: &'static str) -> Self {
        Self {
            messages: vec![
                Message::System { text: "Be brief.".into() },
                Message::User { text: text.into() },
            ],
            calls: 0,
        }
    }

    /// Makes one request, and answers the calls in its answer, so that any model can continue.
    pub async fn round(&mut self, model: &dyn Model) -> Answer {
        let mut names: Vec<&str> = Vec::new();
        for message in &self.messages {
            if let Message::Assistant { calls, .. } = message {
                names.extend(calls.iter().map(|call| call.name.as_str()));
            }
        }
        names.push("pace");
        names.sort_unstable();
        names.dedup();
        let tools = names.iter().map(|name| ToolDef {
            name: plain(name),
            description: "A tool.".into(),
            parameters: OutboundValue::fixed(r#"{"type": "object"}"#),
        });
        let request = ModelRequest {
            messages: self.messages.clone(),
            tools: tools.collect(),
            ..ModelRequest::default()
        };
        let events: Vec<_> = model.stream(request).collect().await;
        let answer = join_answer(&events);
        let mut opaque = None;
        let mut calls = Vec::new();
        for event in events.into_iter().flatten() {
            match event {
                ModelEvent::Opaque(kept) => opaque = Some(kept),
                ModelEvent::Call(call) => {
                    self.calls += 1;
                    calls.push(as_sent(&AskedCall {
                        id: format!("host_{}", self.calls).into(),
                        ..call
                    }));
                }
                _ => {}
            }
        }
        let results: Vec<_> = calls
            .iter()
            .map(|call| Message::Tool {
                call: call.id.clone(),
                name: call.name.clone(),
                content: "{\"pace\":110}".into(),
                data: OutboundValue::default(),
            })
            .collect();
        self.messages.push(Message::Assistant { text: plain(&answer.text), calls, opaque });
        self.messages.extend(results);
        answer
    }

    /// Makes requests until there are no more calls.
    pub async fn until_answered(&mut self, model: &dyn Model) -> Answer {
        for _ in 0..8 {
            let answer = self.round(model).await;
            if answer.calls.is_empty() {
                return answer;
            }
        }
        panic!("there is an answer within eight rounds")
    }
}
