//! Measures the provider's cost per delta, compared with a minimal reader of the same stream.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::ports::{Clock, Message, Model, ModelEvent, ModelRequest, Random};
use futures::StreamExt;
use kit::model_server::{Chunking, ModelServer, Reply};
use models::{Api, Config, Provider, ProviderDeps, http_client};
use sseer::event_stream::EventStream;

use crate::{Outcome, table};

const DELTAS: u32 = 20_000;
const RUNS: usize = 5;

pub(crate) async fn report() -> Outcome {
    let reply = Reply::text((0..DELTAS).map(|n| format!("word{n} ")))
        .chunked(Chunking::EveryBytes(1400))
        .repeated();
    let server = ModelServer::start([reply]).await;
    let (mut plain, mut ours) = (Duration::MAX, Duration::MAX);
    let provider = provider(&server.base_url())?;
    for _ in 0..RUNS {
        plain = plain.min(read_plainly(&server).await?);
        ours = ours.min(read_with(&provider).await?);
    }
    let each = |total: Duration| table::time(total / DELTAS);
    let rows = [
        vec![
            "bytes framed as events, nothing read".to_owned(),
            table::time(plain),
            each(plain),
            "1.00".to_owned(),
        ],
        vec![
            "provider: events, text, idle timer".to_owned(),
            table::time(ours),
            each(ours),
            table::ratio(ours, plain),
        ],
    ];
    table::print(
        &format!(
            "Reading a stream of {DELTAS} deltas (server in the same process, best of {RUNS})"
        ),
        &["", "whole", "a delta", "ratio"],
        &rows,
    );
    Ok(())
}

async fn read_plainly(server: &ModelServer) -> Outcome<Duration> {
    let start = Instant::now();
    let body = r#"{"model":"scripted","messages":[{"role":"user","content":"x"}]}"#;
    let response = reqwest::Client::new()
        .post(format!("{}/chat/completions", server.base_url()))
        .body(body)
        .send()
        .await?;
    let mut events = EventStream::new(response.bytes_stream());
    let mut count = 0_u32;
    while let Some(event) = events.next().await {
        count += u32::from(!event.map_err(|error| error.to_string())?.data.is_empty());
    }
    if count < DELTAS { Err("the stream was cut".into()) } else { Ok(start.elapsed()) }
}

async fn read_with(provider: &Provider) -> Outcome<Duration> {
    let start = Instant::now();
    let request = ModelRequest {
        messages: vec![Message::User { text: "x".into() }],
        ..ModelRequest::default()
    };
    let mut events = provider.stream(request);
    let mut count = 0_u32;
    while let Some(event) = events.next().await {
        count += u32::from(matches!(
            event.map_err(|error| error.message.to_string())?,
            ModelEvent::Text(_)
        ));
    }
    if count < DELTAS { Err("the stream was cut".into()) } else { Ok(start.elapsed()) }
}

struct Plain;

impl Clock for Plain {
    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        chrono::Utc::now()
    }
}

impl Random for Plain {
    fn random_fraction(&self) -> f64 {
        0.5
    }
}

pub(crate) fn provider(base_url: &str) -> Outcome<Provider> {
    let world = ProviderDeps {
        http: http_client().map_err(|error| error.message.to_string())?,
        random: Arc::new(Plain),
        clock: Arc::new(Plain),
    };
    let config = Config {
        api: Api::Chat,
        base_url: base_url.to_owned(),
        api_key: None,
        model: "scripted".to_owned(),
        reasoning: false,
        idle_timeout: Duration::from_secs(60),
        before_another: false,
        max_retries: 0,
        label: None,
    };
    Ok(Provider::new(config, world).map_err(|error| error.message.to_string())?)
}
