//! The model server: chat completions from prepared bytes. A question about shoes is answered with
//! a search; everything else, and every result, with 400 deltas, each written by itself as models
//! do. Without `stream`, the same answer is one JSON object. The first delta contains its time, and
//! one question gets the rest of its answer only after a while.

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::wire::{Line, chunk, now};
use super::{DELTAS, HOLD, HOLD_FOR, QUERY, SEARCH};
use crate::Outcome;

/// The text before the time in the first delta, then the number of the time's digits.
pub(super) const SENT_AT: &str = "sent-at-";
pub(super) const DIGITS: usize = 20;

#[derive(Deserialize)]
struct ModelRequest {
    #[serde(default)]
    stream: bool,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
}

enum Answer {
    Search,
    Words,
    Held,
}

pub(crate) async fn serve() -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/v1", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            // A client that disconnects is not an error.
            if let Ok(line) = Line::new(stream) {
                let _ = talk(line).await;
            }
        });
    }
}

async fn talk(mut line: Line) -> Outcome {
    let deltas: Vec<Vec<u8>> =
        (1..DELTAS).map(|n| chunk(&delta(&json!({"content": format!("word{n} ")})))).collect();
    while let Some(head) = line.head().await? {
        let body = line.body(&head, |_| ()).await?;
        let asked: ModelRequest = serde_json::from_slice(&body)?;
        let answer = choose(&asked.messages);
        if !asked.stream {
            line.write(&whole(&answer)).await?;
            continue;
        }
        line.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n").await?;
        match answer {
            Answer::Search => {
                for (n, part) in arguments().iter().enumerate() {
                    let call = match n {
                        0 => {
                            json!({"index": 0, "id": "wire_0", "type": "function", "function": {"name": "product_search", "arguments": part}})
                        }
                        _ => json!({"index": 0, "function": {"arguments": part}}),
                    };
                    line.write(&chunk(&delta(&json!({"tool_calls": [call]})))).await?;
                }
                line.write(&ending("tool_calls")).await?;
            }
            Answer::Words | Answer::Held => {
                line.write(&chunk(&delta(&json!({"content": first_word()})))).await?;
                if matches!(answer, Answer::Held) {
                    tokio::time::sleep(HOLD_FOR).await;
                }
                for one in &deltas {
                    line.write(one).await?;
                }
                line.write(&ending("stop")).await?;
            }
        }
    }
    Ok(())
}

/// Chooses the answer by the newest message that is not an instruction.
fn choose(messages: &[Message]) -> Answer {
    let newest = messages.iter().rev().find(|message| message.role != "system");
    let asks = |what: &str| {
        newest.is_some_and(|message| {
            message.role == "user" && message.content.to_string().contains(what)
        })
    };
    match (asks(SEARCH), asks(HOLD)) {
        (true, _) => Answer::Search,
        (false, true) => Answer::Held,
        (false, false) => Answer::Words,
    }
}

fn first_word() -> String {
    format!("{SENT_AT}{:0width$} ", now(), width = DIGITS)
}

fn arguments() -> [String; 2] {
    let text = json!({"query": QUERY, "pageSize": 5}).to_string();
    let (a, b) = text.split_at(text.len() / 2);
    [a.to_owned(), b.to_owned()]
}

fn event(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

fn delta(delta: &Value) -> Vec<u8> {
    event(
        &json!({"id": "scripted", "object": "chat.completion.chunk", "model": "scripted", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}),
    )
}

fn ending(finish: &str) -> Vec<u8> {
    let last = event(
        &json!({"id": "scripted", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}),
    );
    let usage = event(&json!({"id": "scripted", "choices": [], "usage": usage()}));
    let mut all: Vec<u8> =
        [last, usage, b"data: [DONE]\n\n".to_vec()].iter().flat_map(|data| chunk(data)).collect();
    all.extend_from_slice(b"0\r\n\r\n");
    all
}

fn usage() -> Value {
    json!({"prompt_tokens": 1_200, "completion_tokens": DELTAS, "total_tokens": 1_200 + DELTAS})
}

/// Returns the same answer in one piece.
fn whole(answer: &Answer) -> Vec<u8> {
    let (message, finish) = match answer {
        Answer::Search => {
            let call = json!({"id": "wire_0", "type": "function", "function": {"name": "product_search", "arguments": arguments().concat()}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
        Answer::Words | Answer::Held => {
            let text: String = std::iter::once(first_word())
                .chain((1..DELTAS).map(|n| format!("word{n} ")))
                .collect();
            (json!({"role": "assistant", "content": text}), "stop")
        }
    };
    let body = json!({"id": "scripted", "object": "chat.completion", "model": "scripted", "usage": usage(),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}]})
    .to_string();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
