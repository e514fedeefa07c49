//! Tests of numbers that JSON readers change and of answers that are too large: `csign` refuses or
//! shortens them, and its log contains the end of every call.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::world::{World, text};

/// A server that returns an answer of the requested length in MiB and records its requests.
const SERVER: &str = r#"#!/usr/bin/python3 -u
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    method, answer = request.get("method"), None
    if method == "initialize":
        answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "far", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [{"name": "fetch", "description": "Fetches.", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        arguments = request["params"]["arguments"]
        with open(os.environ["COUNTERSIGN_PACK_DATA"] + "/calls.txt", "a") as calls:
            calls.write(json.dumps(arguments) + "\n")
        words = "x" * (arguments.get("mib", 0) * 1024 * 1024)
        if arguments.get("fails"):
            answer = {"content": [{"type": "text", "text": words}], "isError": True}
        else:
            answer = {"content": [], "structuredContent": {"text": words}}
    if "id" in request:
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        reply.update({"result": answer} if answer else {"error": {"code": -32601, "message": "unknown"}})
        print(json.dumps(reply))
"#;

fn with_a_server() -> World {
    let world = World::new();
    let pack = world.data().join("tools/far");
    fs::create_dir_all(&pack).expect("made");
    fs::write(pack.join("server"), SERVER).expect("written");
    fs::set_permissions(pack.join("server"), fs::Permissions::from_mode(0o755)).expect("a program");
    let manifest = json!({
        "manifest_version": 1, "id": "far", "version": "1.0.0", "title": "Far", "description": "Fetches.",
        "servers": [{"name": "far", "command": "./server", "data_dir": true, "timeouts": {"start_ms": 60_000, "call_ms": 50_000}}],
        "schemas": {"Any": {"type": "object"}},
        "tools": {"tools": [{
            "id": "far.fetch", "title": "Fetch", "kind": "mcp_server", "mcp": {"server": "far", "tool": "fetch"}, "side_effect_level": "read_only",
            "input_schema_ref": "#/schemas/Any", "output_schema_ref": "#/schemas/Any", "error_schema_ref": "#/schemas/Any",
            "timeouts": {"timeout_ms": 50_000}, "retry": {"max_attempts": 1, "backoff": "fixed"}, "idempotency": {"strategy": "none"},
            "audit": {"required": true}, "usage_guidelines": "Fetches.", "use_when": ["Something is to be fetched."], "do_not_use_when": [],
            "latency": "fast", "open_world": false
        }]}
    });
    fs::write(pack.join("pack.json"), manifest.to_string()).expect("written");
    world
}

fn calls(world: &World) -> String {
    fs::read_to_string(world.data().join("packs/far/calls.txt")).unwrap_or_default()
}

/// Asserts that the log verifies and contains the end of every call.
#[track_caller]
fn complete(world: &World) {
    let report = world.run(&["--json", "audit", "verify"]).ends_with(0).json();
    assert_eq!(
        (&report["ok"], &report["unknown_outcomes"]),
        (&json!(true), &json!([])),
        "{report}"
    );
}

#[test]
fn arguments_with_a_number_that_would_lose_digits_are_refused() {
    let world = with_a_server();
    for number in ["9007199254740993", "18446744073709551616", "0.1234567890123456789"] {
        for command in [["tools", "call", "far.fetch"], ["policy", "check", "--tool=far.fetch"]] {
            let mut args = vec!["--json"];
            args.extend(command);
            let given = format!(r#"{{"list": [{{"id": {number}}}]}}"#);
            args.extend(["--args", &given]);
            let refused = world.run(&args).ends_with(2).json();
            let error = &refused["error"];
            assert!(
                text(error, "message").contains(number)
                    && text(&error["details"], "hint").contains("as text"),
                "{refused}"
            );
        }
    }
    assert_eq!(calls(&world), "", "nothing was sent");
    world
        .run(&[
            "tools",
            "call",
            "far.fetch",
            "--args",
            r#"{"id": "9007199254740993", "n": 9007199254740991, "whole": 2.0}"#,
        ])
        .ends_with(0);
    assert_eq!(
        calls(&world),
        "{\"id\": \"9007199254740993\", \"n\": 9007199254740991, \"whole\": 2}\n"
    );
}

#[test]
fn a_run_request_with_a_number_that_would_lose_digits_is_refused() {
    let world = World::new();
    let request = r#"{"contract_version": "1.0", "request_id": "r1", "input": "hello", "context": {"customerId": 9007199254740993}}"#;
    let file = world.path("request.json");
    fs::write(&file, request).expect("written");
    let refused = world.run(&["--json", "run", "--request", file.to_str().expect("a name")]);
    assert!(
        refused.code != 0
            && refused.out.contains("9007199254740993")
            && refused.out.contains("invalid_request"),
        "{}",
        refused.out
    );
}

#[test]
fn a_tool_result_of_40_mib_is_truncated_and_the_log_stays_complete() {
    let world = with_a_server();
    let cut = world
        .run(&["--json", "tools", "call", "far.fetch", "--args", r#"{"mib": 40}"#])
        .ends_with(0)
        .json();
    assert_eq!(
        (&cut["data"]["cut"], &cut["data"]["bytes"]),
        (&json!(true), &json!(40 * 1024 * 1024 + 11)),
        "it says that it was cut"
    );
    let failed = world
        .run(&["--json", "tools", "call", "far.fetch", "--args", r#"{"mib": 40, "fails": true}"#])
        .ends_with(1)
        .json();
    assert!(failed.to_string().len() < 20_000);
    complete(&world);
    let outcomes =
        world.run(&["--json", "audit", "list", "--type", "tool_outcome"]).ends_with(0).json();
    let first = outcomes["records"].as_array().and_then(|all| all.last()).expect("a record");
    assert_eq!(
        (&first["fields"]["result_bytes"], &first["fields"]["result_sha256"]),
        (&cut["data"]["bytes"], &cut["data"]["sha256"])
    );
}

#[test]
fn the_log_records_the_arguments_that_a_bundled_tool_received() {
    let world = World::new();
    let given = json!({"query": "tent", "filters": {"maxPrice": 1_000.5}});
    world
        .run(&["--json", "tools", "call", "product.search", "--args", &given.to_string()])
        .ends_with(0);
    let intents =
        world.run(&["--json", "audit", "list", "--type", "tool_intent"]).ends_with(0).json();
    let seq = intents["records"][0]["seq"].to_string();
    let record = world.run(&["--json", "audit", "show", &seq]).ends_with(0).json();
    assert_eq!(
        serde_json::from_str::<Value>(text(&record["revealed"], "arguments")).expect("JSON"),
        given
    );
}
