//! The bare loop: the same requests (the shop's tools, the conversation so far), a minimal reader
//! of the stream, and the tool called by JSON-RPC over stdio. As in a first simple version, the
//! loop stores and checks nothing and has no log.

use std::process::Stdio;
use std::time::Instant;

use futures::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use sseer::event_stream::EventStream;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{QUESTION, TURNS_PER_SESSION, folder, program};
use crate::Outcome;
use crate::measure::{Side, cpu, micros, peak_kib};

const WARM_UP: usize = 5;

pub(crate) async fn run(url: &str, turns: usize) -> Outcome {
    let http = reqwest::Client::builder().tcp_nodelay(true).build()?;
    let mut shop = Shop::start().await?;
    let tools = shop.tools().await?;
    let mut messages = Vec::new();
    for _ in 0..WARM_UP {
        turn(&http, url, &tools, &mut messages, &mut shop).await?;
    }
    let mut side = Side::default();
    let before = cpu();
    for n in 0..turns {
        if n % TURNS_PER_SESSION == 0 {
            messages.clear();
        }
        let start = Instant::now();
        turn(&http, url, &tools, &mut messages, &mut shop).await?;
        side.micros.push(micros(start.elapsed()));
    }
    side.cpu_micros = micros(cpu() - before);
    side.peak_kib = peak_kib();
    shop.child.kill().await?;
    println!("{}", serde_json::to_string(&side)?);
    Ok(())
}

async fn turn(
    http: &reqwest::Client,
    url: &str,
    tools: &Value,
    messages: &mut Vec<Value>,
    shop: &mut Shop,
) -> Outcome {
    messages.push(json!({"role": "user", "content": QUESTION}));
    let first = ask(http, url, messages, tools, |_| ()).await?;
    let result = shop.call("product.search", serde_json::from_str(&first.arguments)?).await?;
    let id = format!("call_{}", messages.len());
    let call = json!({"id": id, "type": "function", "function": {"name": first.name, "arguments": first.arguments}});
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    let second = ask(http, url, messages, tools, |_| ()).await?;
    if second.text.is_empty() {
        return Err("no answer".into());
    }
    messages.push(json!({"role": "assistant", "content": second.text}));
    Ok(())
}

/// The result of one request to the model.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

/// Makes one request and reads the stream. `said` is called with every piece of text.
pub(crate) async fn ask(
    http: &reqwest::Client,
    url: &str,
    messages: &[Value],
    tools: &Value,
    said: impl Fn(&str),
) -> Outcome<Answer> {
    let body = json!({"model": "scripted", "stream": true, "messages": messages, "tools": tools});
    let response = http
        .post(format!("{url}/chat/completions"))
        .json(&body)
        .send()
        .await?
        .error_for_status()?;
    let mut events = EventStream::new(response.bytes_stream());
    let mut answer = Answer::default();
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| error.to_string())?;
        let data: &str = &event.data;
        if data == "[DONE]" {
            continue;
        }
        let chunk: Chunk = serde_json::from_str(data)?;
        for choice in chunk.choices {
            if let Some(text) = &choice.delta.content {
                answer.text.push_str(text);
                said(text);
            }
            for call in choice.delta.tool_calls.into_iter().flatten() {
                answer.name.push_str(call.function.name.as_deref().unwrap_or_default());
                answer.arguments.push_str(call.function.arguments.as_deref().unwrap_or_default());
            }
        }
    }
    Ok(answer)
}

/// Converts a server's list of tools for a model: without unions at the top level, which endpoints
/// refuse.
pub(crate) fn model_tools(listed: &Value) -> Value {
    let of = |tool: &Value| {
        let name = tool["name"].as_str().unwrap_or_default().replace('.', "_");
        let mut parameters = tool["inputSchema"].clone();
        if let Some(members) = parameters.as_object_mut() {
            members.retain(|name, _| !["anyOf", "oneOf", "allOf"].contains(&name.as_str()));
        }
        json!({"type": "function", "function": {"name": name, "description": tool["description"], "parameters": parameters}})
    };
    listed["tools"].as_array().map(|tools| tools.iter().map(of).collect()).unwrap_or_default()
}

struct Shop {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    id: u64,
}

impl Shop {
    async fn start() -> Outcome<Self> {
        let mut child = Command::new(program("countersign-shop")?)
            .arg("--stdio")
            .env("COUNTERSIGN_PACK_DATA", folder()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let mut shop = Self { child, input, output, id: 0 };
        let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bare", "version": "0"}});
        shop.request("initialize", &client).await?;
        shop.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(shop)
    }

    /// Returns the server's tools in the model's format.
    async fn tools(&mut self) -> Outcome<Value> {
        Ok(model_tools(&self.request("tools/list", &json!({})).await?))
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Outcome<String> {
        let result =
            self.request("tools/call", &json!({"name": tool, "arguments": arguments})).await?;
        if result.get("isError").and_then(Value::as_bool) == Some(true) {
            return Err(format!("the tool failed: {result}").into());
        }
        Ok(result.pointer("/content/0/text").and_then(Value::as_str).ok_or("no text")?.to_owned())
    }

    async fn request(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        self.id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}))
            .await?;
        loop {
            let line = self.output.next_line().await?.ok_or("the shop's server ended")?;
            let mut message: Value = serde_json::from_str(&line)?;
            if message.get("id").and_then(Value::as_u64) == Some(self.id) {
                return message
                    .get_mut("result")
                    .map(Value::take)
                    .ok_or_else(|| format!("the shop's server refused: {message}").into());
            }
        }
    }

    async fn send(&mut self, message: &Value) -> Outcome {
        let mut line = message.to_string();
        line.push('\n');
        self.input.write_all(line.as_bytes()).await?;
        Ok(self.input.flush().await?)
    }
}
