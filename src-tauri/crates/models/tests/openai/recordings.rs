//! What real servers sent, under every way of cutting it: always the same events, and the text that a plain reading gives.

use std::path::{Path, PathBuf};

use kit::model_server::{Chunking, ModelServer, Reply};
use serde_json::Value;

use crate::support::{Answer, collect, joined, provider};

const CHUNKINGS: [Chunking; 6] =
    [Chunking::PerEvent, Chunking::Whole, Chunking::EveryBytes(1), Chunking::EveryBytes(37), Chunking::InsideUtf8, Chunking::InsideCrlf];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/provider-streams")
}

fn recordings(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(recordings(&path));
        } else if name.ends_with(".txt") && !name.starts_with("LICENSE") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn reply(path: &Path) -> Reply {
    let whole = path.to_string_lossy().ends_with("_chat-response_000.txt");
    let reply = Reply::recording(path);
    if whole { reply.header("content-type", "application/json") } else { reply }
}

/// Reads a recording the slow and plain way.
fn plainly(path: &Path) -> Answer {
    let mut answer = Answer::default();
    let mut calls: Vec<(u64, String, String)> = Vec::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let Ok(chunk) = serde_json::from_str::<Value>(line.trim_start_matches("data:").trim()) else { continue };
        if let Some(usage) = chunk.get("usage").filter(|u| u.is_object()) {
            answer.usage = (usage["prompt_tokens"].as_u64().unwrap(), usage["completion_tokens"].as_u64().unwrap());
        }
        let delta = chunk.pointer("/choices/0/delta").or(chunk.pointer("/choices/0/message")).cloned().unwrap_or_default();
        match &delta["content"] {
            Value::String(text) => answer.text.push_str(text),
            Value::Array(parts) => {
                for part in parts {
                    answer.text.push_str(part["text"].as_str().unwrap_or_default());
                    answer.reasoning.push_str(part.pointer("/thinking/0/text").and_then(Value::as_str).unwrap_or_default());
                }
            }
            _ => {}
        }
        for member in ["reasoning_content", "reasoning"] {
            answer.reasoning.push_str(delta[member].as_str().unwrap_or_default());
        }
        for part in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = part["index"].as_u64().unwrap_or(0);
            if calls.iter().all(|(i, ..)| *i != index) {
                calls.push((index, String::new(), String::new()));
            }
            let call = calls.iter_mut().find(|(i, ..)| *i == index).unwrap();
            call.1.push_str(part.pointer("/function/name").and_then(Value::as_str).unwrap_or_default());
            call.2.push_str(part.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default());
        }
    }
    answer.calls = calls.into_iter().map(|(_, name, arguments)| (name, arguments)).collect();
    answer
}

#[tokio::test]
async fn every_recording_gives_the_same_events_however_it_is_cut() {
    let recordings = recordings(&folder());
    assert!(recordings.len() >= 17, "the recordings are there: {recordings:?}");
    for path in recordings {
        // A chunk for every single byte only where that is quick.
        let finest = if std::fs::metadata(&path).unwrap().len() < 30_000 { 1 } else { 13 };
        let chunkings = CHUNKINGS.map(|chunking| if chunking == Chunking::EveryBytes(1) { Chunking::EveryBytes(finest) } else { chunking });
        let server = ModelServer::start(chunkings.map(|chunking| reply(&path).chunked(chunking))).await;
        let provider = provider(&server);
        let mut first = None;
        for chunking in chunkings {
            let events = collect(&provider).await;
            let expected = first.get_or_insert_with(|| {
                let mut answer = joined(&events);
                assert!(answer.error.is_none() && answer.finish.take().is_some(), "{}: {answer:?}", path.display());
                assert_eq!(answer, plainly(&path), "{}", path.display());
                without_ids(&events)
            });
            assert_eq!(&without_ids(&events), expected, "{} under {chunking:?}", path.display());
        }
        server.assert_clean();
    }
}

/// Every call has an id of its own, so that only the rest can be equal.
fn without_ids(events: &[Result<engine::ports::ModelEvent, engine::ports::ModelError>]) -> Vec<String> {
    use engine::ports::ModelEvent;
    events
        .iter()
        .map(|event| match event {
            Ok(ModelEvent::Call(call)) => format!("call {} {}", call.name, call.arguments),
            other => format!("{other:?}"),
        })
        .collect()
}
