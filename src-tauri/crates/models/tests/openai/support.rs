//! A provider pointed at a scripted server, with fixed clock, ids and randomness.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use chrono::{DateTime, TimeZone, Utc};
use engine::ports::{Clock, Finish, Ids, Message, Model, ModelCall, ModelError, ModelEvent, ModelRequest, Random};
use futures::StreamExt;
use kit::model_server::ModelServer;
use models::openai::{Config, OpenAi, World, http_client};
use secrecy::SecretString;

struct Fixed(AtomicU64);

impl Clock for Fixed {
    fn now(&self) -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
    }
}

impl Ids for Fixed {
    fn next(&self, prefix: &str) -> String {
        format!("{prefix}_{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

impl Random for Fixed {
    fn unit(&self) -> f64 {
        0.0
    }
}

pub fn world() -> World {
    // Reading the system's certificates takes long enough to share the client.
    static HTTP: LazyLock<reqwest::Client> = LazyLock::new(|| http_client().unwrap());
    let fixed = Arc::new(Fixed(AtomicU64::new(0)));
    World { http: HTTP.clone(), random: fixed.clone(), clock: fixed.clone(), ids: fixed }
}

pub fn config(base_url: &str) -> Config {
    Config {
        base_url: base_url.into(),
        api_key: Some(SecretString::from("sk-test-SECRET")),
        model: "scripted".into(),
        idle_timeout: Duration::from_secs(60),
        max_retries: 2,
        label: None,
    }
}

pub fn provider(server: &ModelServer) -> OpenAi {
    OpenAi::new(config(&server.base_url()), world()).unwrap()
}

pub fn question() -> ModelRequest {
    ModelRequest { messages: vec![Message::User { text: "Hello?".into() }], ..ModelRequest::default() }
}

pub async fn collect(provider: &OpenAi) -> Vec<Result<ModelEvent, ModelError>> {
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

pub fn joined(events: &[Result<ModelEvent, ModelError>]) -> Answer {
    let mut answer = Answer::default();
    for event in events {
        assert!(answer.finish.is_none() && answer.error.is_none(), "nothing follows the end");
        match event {
            Ok(ModelEvent::Text(text)) => answer.text.push_str(text),
            Ok(ModelEvent::Reasoning(text)) => answer.reasoning.push_str(text),
            Ok(ModelEvent::Call(ModelCall { name, arguments, .. })) => answer.calls.push((name.clone(), arguments.clone())),
            Ok(ModelEvent::Choices(_)) => panic!("a server never sends choices"),
            Ok(ModelEvent::Done { usage, finish }) => {
                answer.usage = (usage.input_tokens, usage.output_tokens);
                answer.finish = Some(*finish);
            }
            Err(error) => answer.error = Some(error.clone()),
        }
    }
    answer
}

pub async fn answer(provider: &OpenAi) -> Answer {
    joined(&collect(provider).await)
}
