//! Tests of conversations with the model servers that people use, each with the peculiarities of
//! its wire: a tool call, a kill in the middle of an answer, a restart, and a second message. The
//! scripted server refuses everything that strict templates refuse.

use std::{fs, path::Path, sync::Arc, time::Duration};

use contract::{Commands, Empty, Item, ItemBody, SessionParams, ToolOutcome, TurnStartParams};
use host::{Host, Options};
use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// A kind of server: the replies up to the first answer, and the members that must be sent back
/// with its call.
struct Kind {
    name: &'static str,
    replies: Vec<Reply>,
    /// The members of the message with the call, and the members of the call.
    back: (Value, Value),
}

fn call() -> Value {
    json!({"index": 0, "id": "call_a", "type": "function",
        "function": {"name": "recall", "arguments": "{\"about\":\"account 17\"}"}})
}

fn call_with(members: &Value) -> Value {
    let mut call = call();
    call.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    json!({ "tool_calls": [call] })
}

fn answer() -> Reply {
    Reply::text(["On ", "track."])
}

fn kinds() -> Vec<Kind> {
    let none = || json!({});
    let thoughts = json!({"reasoning_content": "I look\nit up."});
    let signature = json!({"extra_content": {"google": {"thought_signature": "Et8C\u{2028}=="}}});
    let details = json!({"reasoning": "Hm.", "reasoning_details": [
        {"type": "reasoning.text", "text": "Hm.", "signature": "s1", "format": "anthropic-claude-v1", "index": 0}]});
    let parts = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]);
    vec![
        Kind {
            name: "DeepSeek",
            replies: vec![
                Reply::new()
                    .delta(&json!({"role": "assistant", "content": null, "reasoning_content": "I look"}))
                    .delta(&json!({"reasoning_content": "\nit up."}))
                    .delta(&call_with(&none())),
                answer(),
            ],
            back: (thoughts, none()),
        },
        Kind {
            name: "Gemini-compatible",
            replies: vec![Reply::new().delta(&call_with(&signature)), answer()],
            back: (none(), signature),
        },
        Kind {
            name: "OpenRouter",
            replies: vec![
                Reply::new()
                    .bytes(": OPENROUTER PROCESSING\n\n")
                    .delta(&json!({"content": "", "reasoning": "Hm.", "reasoning_details": [
                        {"type": "reasoning.text", "text": "Hm.", "format": "anthropic-claude-v1", "index": 0}]}))
                    .delta(&json!({"reasoning_details": [{"type": "reasoning.text", "signature": "s1", "index": 0}]}))
                    .delta(&call_with(&none())),
                answer(),
            ],
            back: (details, none()),
        },
        Kind {
            name: "Mistral",
            replies: vec![
                Reply::new().delta(&json!({"content": parts})).delta(&call_with(&none())),
                answer(),
            ],
            back: (json!({"content": parts}), none()),
        },
        Kind {
            name: "vLLM",
            replies: vec![
                Reply::refusal(400, &json!({"message": "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options')}]", "code": 400})),
                Reply::new().delta(&json!({"reasoning": "Hm.", "reasoning_content": null})).delta(&call_with(&none())),
                answer(),
            ],
            back: (json!({"reasoning": "Hm."}), none()),
        },
        Kind {
            name: "llama.cpp",
            replies: vec![
                Reply::refusal(503, &json!({"code": 503, "message": "Loading model", "type": "unavailable_error"})),
                Reply::new()
                    .data(r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}],"timings":{"cache_n":5}}"#)
                    .delta(&call_with(&none())),
                answer(),
            ],
            back: (none(), none()),
        },
        Kind {
            name: "LM Studio",
            replies: vec![
                Reply::text([
                    "<think>\nI look it up.\n</think>\n\n",
                    "<tool_call>\n{\"name\": \"recall\", \"arguments\": {\"about\": \"account 17\"}}\n</tool_call>",
                ]),
                answer(),
            ],
            back: (none(), none()),
        },
    ]
}

async fn open(data: &Path) -> Arc<Host> {
    crate::open(|| Options { data_dir: Some(data.to_owned()), ..Options::default() }).await
}

async fn start(host: &Host, text: &str) {
    let params = TurnStartParams {
        session: Some("s".into()),
        text: text.into(),
        model: None,
        agent: Some("memory".into()),
        headless: false,
        replaces: None,
    };
    host.turn_start(params).await.unwrap();
}

async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..3_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it does not come");
}

async fn ask(host: &Host, text: &str) {
    start(host, text).await;
    until(async || host.app_status(Empty {}).await.unwrap().running == 0).await;
}

async fn items(host: &Host) -> Vec<Item> {
    host.session_open(SessionParams { session: "s".into() }).await.unwrap().items
}

fn texts(items: &[Item]) -> Vec<String> {
    let text = |item: &Item| match &item.body {
        ItemBody::AssistantText { text, .. } => Some(text.clone()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

fn talk(kind: Kind) {
    let Kind { name, replies, back } = kind;
    let folder = tempfile::tempdir().unwrap();
    let (world, first) = (Runtime::new().unwrap(), Runtime::new().unwrap());
    let before = replies.len();
    let rest = [Reply::text(["Half of "]).hang(), Reply::text(["Back again."])];
    let server = world.block_on(ModelServer::start(replies.into_iter().chain(rest)));
    let settings = format!(
        "[model]\nprovider = \"openai_compatible\"\nbase_url = \"{}\"\nmodel = \"scripted\"\n",
        server.base_url()
    );
    fs::write(folder.path().join("countersign.toml"), settings).unwrap();
    first.block_on(async {
        let host = open(folder.path()).await;
        ask(&host, "How is account 17?").await;
        let items = items(&host).await;
        assert_eq!(texts(&items), ["On track."], "{name}: {items:?}");
        let ran = items.iter().any(|item| {
            matches!(&item.body, ItemBody::ToolResult { outcome: ToolOutcome::Ok, .. })
        });
        assert!(ran, "{name}: {items:?}");
        start(&host, "Tell me more.").await;
        until(async || server.requests().len() == before + 1).await;
    });
    // The whole process ends at once, in the middle of the answer.
    first.shutdown_background();
    world.block_on(async {
        let host = open(folder.path()).await;
        ask(&host, "And now?").await;
        assert_eq!(texts(&items(&host).await).last().unwrap(), "Back again.", "{name}");
        host.stop().await;
    });
    assert_eq!(server.violations(), Vec::<String>::new(), "{name}");
    // These are the requests with the results, in the following turn, and after the restart.
    for request in &server.requests()[before - 1..] {
        let messages = request["messages"].as_array().unwrap();
        let called = messages.iter().find(|message| message.get("tool_calls").is_some());
        let called = called.unwrap_or_else(|| panic!("{name}: {request}"));
        for (members, sent) in [(&back.0, called), (&back.1, &called["tool_calls"][0])] {
            for (member, value) in members.as_object().unwrap() {
                assert_eq!(&sent[member], value, "{name}: {called}");
            }
        }
        assert!(!request.to_string().contains("<think>"), "{name}");
    }
}

#[test]
fn conversations_with_common_model_servers_survive_tool_calls_a_kill_and_a_restart() {
    std::thread::scope(|scope| {
        for kind in kinds() {
            scope.spawn(move || talk(kind));
        }
    });
}
