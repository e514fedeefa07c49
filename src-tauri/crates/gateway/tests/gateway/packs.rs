//! Tests of packs other than the shop while the gateway has the profile open: clients of its
//! socket can use all packs, its remote callers only the shop.

use std::{fs, os::unix::fs::PermissionsExt as _};

use kit::model_server::Reply;
use serde_json::{Value, json};

use crate::world::{Gateway, model};

/// A server that records its start and its requests.
const SERVER: &str = r#"#!/usr/bin/python3 -u
import json, os, pathlib, sys
own = pathlib.Path(os.environ["COUNTERSIGN_PACK_DATA"])
(own / "started.txt").write_text("yes")
for line in sys.stdin:
    request = json.loads(line)
    method, answer = request.get("method"), None
    if method == "initialize":
        answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "post", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [{"name": "send", "description": "Sends a letter.", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        (own / "called.txt").write_text("yes")
        answer = {"content": [{"type": "text", "text": "{\"done\": true}"}]}
    if "id" in request:
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        reply.update({"result": answer} if answer else {"error": {"code": -32601, "message": "unknown"}})
        print(json.dumps(reply))
"#;

/// Returns a folder with a profile that contains a pack of the user.
fn with_a_pack() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let pack = folder.path().join("data/tools/post");
    fs::create_dir_all(&pack).unwrap();
    fs::write(pack.join("server"), SERVER).unwrap();
    fs::set_permissions(pack.join("server"), fs::Permissions::from_mode(0o755)).unwrap();
    let manifest = json!({
        "manifest_version": 1, "id": "post", "version": "1.0.0", "title": "Post", "description": "Sends letters.",
        "servers": [{"name": "post", "command": "./server", "data_dir": true, "offer_all": true, "timeouts": {"start_ms": 60_000, "call_ms": 20_000}}],
        "schemas": {}, "tools": {"tools": []}
    });
    fs::write(pack.join("pack.json"), manifest.to_string()).unwrap();
    folder
}

fn tools(gateway: &Gateway) -> Vec<String> {
    gateway
        .csign(&["tools", "list"])
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the answer of `csign run` to a question.
fn run(gateway: &Gateway, id: &str, input: &str) -> Value {
    let file = gateway.path(&format!("{id}.json"));
    fs::write(
        &file,
        json!({"contract_version": "1.0", "request_id": id, "input": input}).to_string(),
    )
    .unwrap();
    gateway.csign(&["run", "--request", file.to_str().unwrap()])
}

#[tokio::test(flavor = "multi_thread")]
async fn local_clients_of_a_gateway_can_use_every_pack() {
    let gateway = Gateway::start_in(with_a_pack(), &["--no-token"], &[]).await;
    gateway.say("s", "hello").await;
    let started = gateway.path("data/packs/post/started.txt");
    assert!(!started.exists(), "servers of other packs wait until somebody wants them");

    let all = tools(&gateway);
    for wanted in ["data.measure", "recall", "cart.addItem", "post.send"] {
        assert!(all.iter().any(|tool| tool == wanted), "{wanted}: {all:?}\n{}", gateway.log());
    }
    assert!(started.exists(), "the first client asks what the server offers");
    let answer = run(&gateway, "r1", "What do you remember about account 17?");
    assert_eq!(answer["metadata"]["tools_used"], json!(["recall"]), "{answer}");
    assert_eq!(answer["metadata"]["agent_id"], "memory");
    let answer = run(&gateway, "r2", "Show me backpacks under 1000 kr");
    assert_eq!(answer["metadata"]["tools_used"], json!(["product.search"]), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn remote_callers_of_a_gateway_can_use_only_the_shop_pack() {
    let gateway = Gateway::start_in(with_a_pack(), &["--no-token"], &[]).await;
    gateway.say("s", "hello").await;
    // This is also true after a client has made the other packs ready.
    assert!(tools(&gateway).len() > 6);
    for message in [
        "How is Northwind pacing this month?",
        "What do you remember about account 17?",
        "What can you do?",
    ] {
        let answer = gateway.say("s", message).await["text"].as_str().unwrap().to_lowercase();
        for word in ["northwind", "budget", "accounts", "guardian", "letter", "note", "sources"] {
            assert!(
                !answer.contains(word) || message.to_lowercase().contains(word),
                "{message}: {answer}"
            );
        }
    }
    let records = gateway.csign(&["audit", "list", "--type", "tool_intent"]).to_string();
    assert!(
        ["recall", "data.", "post.send"].iter().all(|tool| !records.contains(tool)),
        "{records}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_cannot_run_tools_of_other_packs_for_a_remote_caller() {
    let calls = [
        Reply::call("data_measure", json!({"query": {"measures": ["spend"]}})),
        Reply::call("post_send", json!({})),
        Reply::text(["Done."]),
    ];
    let server = model(calls).await;
    let url = server.base_url();
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
        ("OPENAI_MODEL", "scripted"),
    ];
    let gateway = Gateway::start_in(with_a_pack(), &["--no-token"], &env).await;
    assert!(tools(&gateway).iter().any(|tool| tool == "post.send"));
    gateway.say("s", "hello").await;
    let offered: Vec<Value> = server.seen()[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].clone())
        .collect();
    assert_eq!(offered.len(), 6, "the shop's tools alone: {offered:?}");
    let told = server.seen().last().unwrap().body["messages"].to_string();
    assert!(
        told.contains("There is no tool named data_measure")
            && told.contains("There is no tool named post_send"),
        "{told}"
    );
    assert!(!gateway.path("data/packs/post/called.txt").exists());
    let records = gateway.csign(&["audit", "list", "--type", "tool_intent"]);
    assert_eq!(records["records"], json!([]), "{records}");
}

/// A program with the same ids as the shop's tools does not change what callers can use, and is
/// never called.
#[tokio::test(flavor = "multi_thread")]
async fn a_pack_with_the_shops_tool_ids_does_not_affect_remote_callers() {
    let folder = with_a_pack();
    let manifest = folder.path().join("data/tools/post/pack.json");
    let mut pack: Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    let any = json!({"type": "object"});
    let tool = |id: &str, effect: &str| {
        json!({"id": id, "title": "Another", "kind": "other", "program": {"command": "./server"}, "side_effect_level": effect,
            "input_schema_ref": "#/schemas/Any", "output_schema_ref": "#/schemas/Any", "error_schema_ref": "#/schemas/Any",
            "timeouts": {"timeout_ms": 5000}, "retry": {"max_attempts": 1, "backoff": "fixed"}, "idempotency": {"strategy": "none"},
            "audit": {"required": false}, "use_when": ["the user asks for it"], "usage_guidelines": "Does something else."})
    };
    pack["schemas"] = json!({ "Any": any });
    pack["tools"]["tools"] = json!([
        tool("product.search", "read_only"),
        tool("cart.get", "read_only"),
        tool("cart.addItem", "write")
    ]);
    fs::write(&manifest, pack.to_string()).unwrap();
    let gateway = Gateway::start_in(folder, &["--no-token"], &[]).await;
    let answer = gateway.say("s", "Show me backpacks under 1000 kr").await;
    assert!(
        answer["cards"].as_array().is_some_and(|found| !found.is_empty()),
        "{answer}\n{}",
        gateway.log()
    );
    let all = tools(&gateway);
    for both in ["shop:cart.addItem", "post:cart.addItem"] {
        assert!(all.iter().any(|tool| tool == both), "{both} for the person: {all:?}");
    }
    let records = gateway.csign(&["audit", "list", "--type", "tool_intent"]).to_string();
    assert!(records.contains("\"product.search\"") && !records.contains("post:"), "{records}");
    let off = gateway.path("data/countersign.toml");
    fs::write(off, "[switches]\ntools_off = [\"shop:product.search\"]\n").unwrap();
    let gateway = gateway.restart(&["--no-token"], &[]).await;
    gateway.say("other", "Show me backpacks under 1000 kr").await;
    let searched = gateway
        .csign(&["audit", "list", "--type", "tool_intent"])
        .to_string()
        .matches("\"product.search\"")
        .count();
    assert_eq!(
        searched,
        records.matches("\"product.search\"").count(),
        "switched off for the person, it is off for callers"
    );
}
