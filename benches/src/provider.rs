//! Measures the processor time of reading a long answer: the app's provider, the crate `genai`, and
//! a loop that only counts bytes. The server and each side are processes of their own, so that only
//! the reading counts. The crate is measured only in builds with the feature `genai`, because its
//! features of the HTTP client must not reach the shipped program.

use std::process::Stdio;
use std::time::{Duration, Instant};

use engine::ports::{Message, Model, ModelEvent, ModelRequest};
use futures::StreamExt;
use kit::model_server::{Chunking, ModelServer, Reply};
use serde_json::json;
use tokio::process::Command;

use crate::measure::{Side, cpu, micros, peak_kib};
use crate::turn::first_line;
use crate::{Outcome, stream, table};

const DELTAS: u32 = 20_000;
const RUNS: usize = 5;
const PASSES: usize = 2;
/// How the answer arrives: in packets, as on a busy connection, or one delta at a time, as models
/// write it.
const WAYS: [&str; 2] = ["packets", "events"];
#[cfg(feature = "genai")]
const SIDES: [&str; 3] = ["bytes", "ours", "crate"];
#[cfg(not(feature = "genai"))]
const SIDES: [&str; 2] = ["bytes", "ours"];

/// Runs the model server, which sends deltas in OpenAI's format.
pub(crate) async fn serve() -> Outcome {
    let delta = |delta: serde_json::Value, finish: Option<&str>| {
        json!({"id": "chatcmpl-C1mnKMGLkSA9GVR0ARlhDzkGG4Plp", "object": "chat.completion.chunk", "created": 1_754_500_000_u64,
            "model": "gpt-4o-mini-2024-07-18", "service_tier": "default", "system_fingerprint": "fp_34a54ae93c",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}], "usage": null, "obfuscation": "x8a"})
        .to_string()
    };
    let mut reply = Reply::raw("");
    for n in 0..DELTAS {
        reply = reply.data(&delta(json!({"content": format!(" word{n}")}), None));
    }
    let reply = reply.data(&delta(json!({}), Some("stop"))).data("[DONE]").repeated();
    let server = ModelServer::start([
        reply.clone().chunked(Chunking::EveryBytes(1400)).when(WAYS[0]),
        reply.when(WAYS[1]),
    ])
    .await;
    println!("{}", server.base_url());
    std::future::pending().await
}

pub(crate) async fn report() -> Outcome {
    let mut server = Command::new(std::env::current_exe()?)
        .arg("provider-serve")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let url = first_line(&mut server).await?;
    for way in WAYS {
        let mut sides = SIDES.map(|_| Side::default());
        for _ in 0..PASSES {
            // The sides alternate, so that changes of the machine's load affect all of them.
            for (name, side) in SIDES.iter().zip(&mut sides) {
                side.add(measure_side(name, &url, way).await?);
            }
        }
        let least = sides[0].cpu_each();
        let rows: Vec<_> =
            SIDES.iter().zip(&sides).map(|(name, side)| row(name, side, least)).collect();
        let title = format!(
            "Processor time of an answer of {DELTAS} deltas that comes in {way}, {} answers a side",
            RUNS * PASSES
        );
        table::print(
            &title,
            &["", "CPU an answer", "CPU a delta", "ratio", "median", "peak memory"],
            &rows,
        );
    }
    server.kill().await?;
    Ok(())
}

fn row(name: &str, side: &Side, least: Duration) -> Vec<String> {
    let name = match name {
        "bytes" => "bytes counted, nothing read",
        "ours" => "our provider",
        _ => "genai",
    };
    let each = side.cpu_each();
    vec![
        name.to_owned(),
        table::time(each),
        table::time(each / DELTAS),
        table::ratio(each, least),
        table::time(side.median()),
        table::mib(side.peak_kib),
    ]
}

async fn measure_side(side: &str, url: &str, way: &str) -> Outcome<Side> {
    let output = Command::new(std::env::current_exe()?)
        .args(["provider-side", side, url, way])
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await?;
    if !output.status.success() {
        return Err(format!("the side `{side}` failed: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Runs one side in its own process.
pub(crate) async fn side(name: &str, url: &str, way: &str) -> Outcome {
    let mut side = Side::default();
    let mut reader = Reader::new(name, url)?;
    reader.read(way).await?;
    let before = cpu();
    for _ in 0..RUNS {
        let start = Instant::now();
        reader.read(way).await?;
        side.micros.push(micros(start.elapsed()));
    }
    side.cpu_micros = micros(cpu() - before);
    side.peak_kib = peak_kib();
    println!("{}", serde_json::to_string(&side)?);
    Ok(())
}

enum Reader {
    Bytes(reqwest::Client, String),
    Ours(models::Provider),
    #[cfg(feature = "genai")]
    Crate(Box<genai::Client>, genai::ServiceTarget),
}

impl Reader {
    fn new(name: &str, url: &str) -> Outcome<Self> {
        match name {
            "bytes" => Ok(Self::Bytes(
                reqwest::Client::builder().tcp_nodelay(true).build()?,
                url.to_owned(),
            )),
            "ours" => Ok(Self::Ours(stream::provider(url)?)),
            #[cfg(feature = "genai")]
            "crate" => {
                use genai::resolver::{AuthData, Endpoint};
                let http = reqwest::Client::builder().tcp_nodelay(true).build()?;
                let target = genai::ServiceTarget {
                    endpoint: Endpoint::from_owned(format!("{url}/")),
                    auth: AuthData::from_single("none"),
                    model: genai::ModelIden::new(genai::adapter::AdapterKind::OpenAI, "scripted"),
                };
                Ok(Self::Crate(
                    Box::new(genai::Client::builder().with_reqwest(http).build()?),
                    target,
                ))
            }
            other => Err(format!("there is no side `{other}`").into()),
        }
    }

    async fn read(&mut self, way: &str) -> Outcome {
        let whole = match self {
            Self::Bytes(http, url) => {
                let body = json!({"model": "scripted", "messages": [{"role": "user", "content": way}], "stream": true}).to_string();
                let mut bytes = http
                    .post(format!("{url}/chat/completions"))
                    .body(body)
                    .send()
                    .await?
                    .bytes_stream();
                let mut count = 0;
                while let Some(chunk) = bytes.next().await {
                    count += chunk?.len();
                }
                count > DELTAS as usize
            }
            Self::Ours(provider) => {
                let way =
                    WAYS.into_iter().find(|known| *known == way).ok_or("there is no such way")?;
                let request = ModelRequest {
                    messages: vec![Message::User { text: way.into() }],
                    ..ModelRequest::default()
                };
                let mut events = provider.stream(request);
                let mut count = 0;
                while let Some(event) = events.next().await {
                    count += u32::from(matches!(
                        event.map_err(|error| error.message.to_string())?,
                        ModelEvent::Text(_)
                    ));
                }
                count == DELTAS
            }
            #[cfg(feature = "genai")]
            Self::Crate(client, target) => {
                use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent};
                let options = ChatOptions::default().with_capture_usage(true);
                let request = ChatRequest::new(vec![ChatMessage::user(way)]);
                let mut events =
                    client.exec_chat_stream(target.clone(), request, Some(&options)).await?.stream;
                let mut count = 0;
                while let Some(event) = events.next().await {
                    count += u32::from(matches!(event?, ChatStreamEvent::Chunk(_)));
                }
                count == DELTAS
            }
        };
        if whole { Ok(()) } else { Err("the stream was cut".into()) }
    }
}
