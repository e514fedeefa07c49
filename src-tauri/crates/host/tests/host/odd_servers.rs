//! Tests that the user is informed of unusual parts in a server's list of tools, when the server
//! is added and by `doctor`, and that the other parts work.

use std::fs;

use contract::{
    AcceptedTool, Commands as _, Effect, Empty, NewServer, ServerAddParams, ServerTestParams,
    TestedTool, ToolCallParams, ToolOutcome,
};
use serde_json::json;

use crate::imported_servers::host;

/// A server with one tool that cannot be read, and another tool with a pattern that only other
/// programs can evaluate. The server answers with the arguments that it received.
const SERVER: &str = r#"
import json, sys
schema = {"type": "object", "properties": {"day": {"type": "string", "pattern": "^(?<day>[0-9"}, "n": {"type": "integer"}}}
tools = [
    {"name": "list", "inputSchema": schema, "outputSchema": {"type": "object", "required": ["days"]}},
    {"name": "broken", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "yes"}},
]
for line in sys.stdin:
    request = json.loads(line)
    method, answer = request.get("method"), None
    if method == "initialize":
        answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": tools, "nextCursor": ""}
    elif method == "tools/call":
        answer = {"content": [{"type": "text", "text": json.dumps(request["params"]["arguments"])}]}
    if "id" in request:
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        reply.update({"result": answer} if answer else {"error": {"code": -32601, "message": "unknown"}})
        print(json.dumps(reply), flush=True)
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b04_b10_problems_in_a_servers_tool_list_are_shown_when_adding_and_by_doctor() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path()).await;
    let program = folder.path().join("server.py");
    fs::write(&program, SERVER).unwrap();
    let server = NewServer {
        name: "odd".into(),
        command: "/usr/bin/python3".into(),
        args: vec![program.display().to_string()],
        ..NewServer::default()
    };
    let tested = host.server_test(ServerTestParams { server: server.clone() }).await.unwrap();
    assert!(tested.ok, "{tested:?}");
    let names: Vec<&str> = tested.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["list"]);
    let told = [
        "The tool broken cannot be used. This part cannot be read: annotations.",
        "The tool list can be used, but a part of its schema cannot be checked here and is left to the server: /properties/day/pattern.",
    ];
    for note in told {
        assert!(tested.notes.iter().any(|said| said.as_str() == note), "{:?}", tested.notes);
    }
    let accept = |tool: &TestedTool| {
        let accepted = AcceptedTool { hash: tool.hash.clone(), effect: Some(Effect::ReadOnly) };
        (tool.name.clone(), accepted)
    };
    let addition = ServerAddParams {
        server,
        accepted: tested.tools.iter().map(accept).collect(),
        reads_may_run: true,
        this_run_only: true,
        numbers_may_change: false,
    };
    host.server_add(addition).await.unwrap();
    let call = |arguments| ToolCallParams {
        tool: "odd.list".into(),
        arguments,
        session: None,
        headless: true,
    };
    let done = host.tool_call(call(json!({"day": "x", "more": ["", 1]}))).await.unwrap();
    assert_eq!(done.outcome, ToolOutcome::Ok);
    assert_eq!(done.data["result"], r#"{"day": "x", "more": ["", 1]}"#);
    assert!(done.data["note"].as_str().is_some_and(|note| note.contains("shape")));
    let refused = host.tool_call(call(json!({"n": "many"}))).await.unwrap();
    assert_ne!(refused.outcome, ToolOutcome::Ok);
    let doctor = host.doctor(Empty {}).await.unwrap();
    let said: Vec<&str> = doctor.checks.iter().map(|check| check.message.as_str()).collect();
    for note in told {
        assert!(said.iter().any(|said| said.contains(&format!("odd: {note}"))), "{said:?}");
    }
    host.stop().await;
}
