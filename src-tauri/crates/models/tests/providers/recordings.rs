//! Tests with recordings of real servers, split in every way: the events are always the same, and
//! the text equals the text of the simple reader.

use std::path::{Path, PathBuf};

use engine::ports::{ModelError, ModelErrorKind, ModelEvent};
use kit::model_server::{Chunking, ModelServer, Reply};
use models::Api;
use serde_json::Value;

use crate::plainly;
use crate::support::{collect, join_answer, on};

const CHUNKINGS: [Chunking; 6] = [
    Chunking::PerEvent,
    Chunking::Whole,
    Chunking::EveryBytes(1),
    Chunking::EveryBytes(37),
    Chunking::InsideUtf8,
    Chunking::InsideCrlf,
];

pub fn folder() -> PathBuf {
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

/// Returns the answers of a recording, each with its events.
fn replies(path: &Path) -> Vec<(Reply, Vec<Value>)> {
    let whole = path.to_string_lossy().ends_with("_chat-response_000.txt");
    let events = plainly::events(&std::fs::read_to_string(path).unwrap());
    let answers = events
        .split_inclusive(|event| {
            event["type"] == "message_stop" || event["type"] == "response.completed"
        })
        .map(<[Value]>::to_vec);
    let replies = Reply::recordings(path).into_iter();
    let replies = replies
        .map(|reply| if whole { reply.header("content-type", "application/json") } else { reply });
    replies.zip(answers).collect()
}

async fn all_of(api: Api, at_least: usize) {
    let found: Vec<PathBuf> =
        recordings(&folder()).into_iter().filter(|path| plainly::api_of(path) == api).collect();
    assert!(found.len() >= at_least, "the recordings are there: {found:?}");
    for path in found {
        for (reply, events) in replies(&path) {
            under_every_cut(api, &path, &reply, &events).await;
        }
    }
}

async fn under_every_cut(api: Api, path: &Path, reply: &Reply, recorded: &[Value]) {
    let name = path.display();
    // Chunks of one byte are used only for short recordings.
    let size = recorded.iter().map(|event| event.to_string().len()).sum::<usize>();
    let finest = Chunking::EveryBytes(if size < 30_000 { 1 } else { 13 });
    let chunkings = CHUNKINGS
        .map(|chunking| if chunking == Chunking::EveryBytes(1) { finest } else { chunking });
    let server =
        ModelServer::start(chunkings.map(|chunking| reply.clone().chunked(chunking))).await;
    let provider = on(api, &server, "scripted");
    let mut first = None;
    for chunking in chunkings {
        let events = collect(&provider).await;
        let expected = first.get_or_insert_with(|| {
            check(&name.to_string(), api, &events, recorded);
            without_ids(&events)
        });
        assert_eq!(&without_ids(&events), expected, "{name} under {chunking:?}");
    }
    server.assert_clean();
}

fn check(name: &str, api: Api, events: &[Result<ModelEvent, ModelError>], recorded: &[Value]) {
    let mut answer = join_answer(events);
    if name.contains("openai-error") {
        assert_eq!(
            answer.error.unwrap().kind,
            ModelErrorKind::RateLimited,
            "no credit is told as such"
        );
        return;
    }
    if name.contains("refusal") {
        assert!(answer.error.unwrap().message.contains("safety rules"), "{name}");
        return;
    }
    assert!(answer.error.is_none() && answer.finish.take().is_some(), "{name}: {answer:?}");
    let mut plain = plainly::answer(api, recorded);
    if recorded.iter().any(|event| event.to_string().contains("partialArgs")) {
        // The simple reader joins the pieces by their paths. Other tests check the meaning of the
        // paths.
        assert!(
            answer.calls.iter().all(|(_, arguments)| serde_json::from_str::<Value>(arguments)
                .unwrap()
                .is_object()),
            "{name}: {answer:?}"
        );
        plain.calls.clone_from(&answer.calls);
    }
    assert_eq!(answer, plain, "{name}");
}

#[tokio::test]
async fn recorded_chat_completions_are_read_equally_with_any_chunk_sizes() {
    all_of(Api::Chat, 17).await;
}

#[tokio::test]
async fn recorded_anthropic_messages_are_read_equally_with_any_chunk_sizes() {
    all_of(Api::Anthropic, 30).await;
}

#[tokio::test]
async fn recorded_gemini_contents_are_read_equally_with_any_chunk_sizes() {
    all_of(Api::Gemini, 12).await;
}

#[tokio::test]
async fn recorded_openai_responses_are_read_equally_with_any_chunk_sizes() {
    all_of(Api::Responses, 30).await;
}

/// Removes the call ids, which differ in every run.
fn without_ids(events: &[Result<ModelEvent, ModelError>]) -> Vec<String> {
    events
        .iter()
        .map(|event| match event {
            Ok(ModelEvent::Call(call)) => format!("call {} {}", call.name, call.arguments),
            // The maker contains the port.
            Ok(ModelEvent::Opaque(opaque)) => format!("opaque {}", opaque.data),
            other => format!("{other:?}"),
        })
        .collect()
}
