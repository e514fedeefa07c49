//! Tests of servers from the settings of other clients, with a real server program: where it runs,
//! which values it gets, where its keys are kept, and that a disabled server stays disabled.

use std::{fs, path::Path, sync::Arc};

use contract::{
    AcceptedTool, Commands as _, Effect, Empty, NewServer, ReadServer, ServerAddParams,
    ServerTestParams, ServersReadParams, ToolCallParams,
};
use host::{Host, Options};
use serde_json::{Value, json};

/// A server whose tool returns its working folder and its input values. The server marks that it
/// was started.
pub(crate) const SERVER: &str = r#"
import json, os, sys
open(os.environ["COUNTERSIGN_PACK_DATA"] + "/started", "w").close()
for line in sys.stdin:
    request = json.loads(line)
    method, answer = request.get("method"), None
    if method == "initialize":
        answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "tell", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [{"name": "tell", "description": "Tells.", "inputSchema": {"type": "object", "properties": {}}}]}
    elif method == "tools/call":
        told = {"cwd": os.getcwd(), "args": sys.argv[1:], "mood": os.environ.get("MOOD")}
        answer = {"content": [{"type": "text", "text": json.dumps(told)}]}
    if "id" in request:
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        reply.update({"result": answer} if answer else {"error": {"code": -32601, "message": "unknown"}})
        print(json.dumps(reply), flush=True)
"#;

pub(crate) async fn host(folder: &Path) -> Arc<Host> {
    crate::open(|| Options { data_dir: Some(folder.join("data")), ..Options::default() }).await
}

async fn read(host: &Host, text: &Value, values: &[(&str, &str)]) -> Vec<ReadServer> {
    let values = values.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let params = ServersReadParams { text: text.to_string(), values };
    host.servers_read(params).await.unwrap().servers
}

/// Tests and adds a server whose tools only read.
async fn add(host: &Host, server: NewServer) {
    let tested = host.server_test(ServerTestParams { server: server.clone() }).await.unwrap();
    assert!(tested.ok, "{tested:?}");
    let accepted = tested.tools.iter().map(|tool| {
        let effect = Some(Effect::ReadOnly);
        (tool.name.clone(), AcceptedTool { hash: tool.hash.clone(), effect })
    });
    let accepted = accepted.collect();
    let params = ServerAddParams {
        server,
        accepted,
        reads_may_run: true,
        this_run_only: true,
        numbers_may_change: false,
    };
    host.server_add(params).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b34_b35_working_folder_and_variables_of_imported_settings_reach_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    fs::create_dir_all(project.join("bin")).unwrap();
    fs::write(project.join("bin/server.py"), SERVER).unwrap();
    let host = host(folder.path()).await;
    let text = json!({"mcpServers": {"Tell": {
        "command": "python3", "cwd": "${workspaceFolder}", "autoApprove": ["tell"],
        "args": ["bin/server.py", "--auth", "${WORD}", 10, true, "${LEVEL:-high}"],
        "env": {"MOOD": "$MOOD_NOW"}
    }}});
    let open = read(&host, &text, &[]).await.remove(0);
    let asked: Vec<&str> = open.asks.iter().map(|asked| asked.name.as_str()).collect();
    assert_eq!(asked, ["WORD", "LEVEL", "MOOD_NOW", "workspaceFolder"]);
    assert!(open.problem.is_some());

    let place = project.display().to_string();
    let values = [("WORD", "letmein-now"), ("workspaceFolder", &place), ("MOOD_NOW", "fine")];
    let whole = read(&host, &text, &values).await.remove(0);
    assert_eq!(whole.problem, None);
    let notes: Vec<String> = whole.notes.iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.contains("autoApprove")), "{notes:?}");
    let shown = serde_json::to_string(&whole.shows).unwrap();
    assert!(shown.contains(&place) && !shown.contains("letmein-now"), "{shown}");

    add(&host, whole.server).await;
    let call = ToolCallParams {
        tool: "tell.tell".into(),
        arguments: json!({}),
        session: None,
        headless: true,
    };
    let done = host.tool_call(call).await.unwrap();
    let args = json!(["--auth", "letmein-now", "10", "true", "high"]);
    let told = contract::json_text::members_of(&done.data);
    assert_eq!(told["cwd"], json!(project.canonicalize().unwrap()));
    assert_eq!((&told["args"][2], &told["mood"]), (&args[2], &json!("fine")));
    let stored = fs::read_to_string(folder.path().join("data/servers/tell/server.json")).unwrap();
    assert!(stored.contains(&place) && !stored.contains("letmein-now"), "{stored}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_working_folder_is_refused_before_the_server_starts() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path()).await;
    for cwd in ["relative/folder", "/nowhere/at-all"] {
        let text = json!({"mcpServers": {"a": {"command": "/bin/sh", "cwd": cwd}}});
        let found = read(&host, &text, &[]).await.remove(0);
        assert!(found.problem.unwrap().contains(cwd), "{cwd}");
    }
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b33_a_disabled_server_is_added_switched_off_and_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server.py");
    fs::write(&program, SERVER).unwrap();
    let host = host(folder.path()).await;
    let text = json!({"mcpServers": {"tell": {
        "command": "python3", "args": [program], "env": {"TELL_TOKEN": "letmein"}, "disabled": true
    }}});
    let found = read(&host, &text, &[]).await.remove(0);
    let off = |change: &contract::SettingChange| change.setting.ends_with(".enabled");
    assert!(found.shows.iter().any(off), "{:?}", found.shows);
    let params = ServerAddParams {
        server: found.server,
        accepted: [].into(),
        reads_may_run: false,
        this_run_only: true,
        numbers_may_change: false,
    };
    let added = host.server_add(params).await.unwrap();
    assert_eq!((added.enabled, added.tools, added.keys), (false, 0, vec!["TELL_TOKEN".into()]));
    assert!(!folder.path().join("data/packs/own-tell/started").exists());
    assert!(host.server_tools(Empty {}).await.unwrap().tools.is_empty());
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_does_not_inherit_files_from_the_test_of_another_command() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("server.py");
    fs::write(&program, SERVER).unwrap();
    let host = host(folder.path()).await;
    let left = folder.path().join("data/packs/own-tell/started");
    let with = |mood: &str, enabled: bool| NewServer {
        name: "tell".into(),
        command: "/usr/bin/python3".into(),
        args: vec![program.display().to_string(), mood.into()],
        enabled,
        ..NewServer::default()
    };
    for (tested, keeps) in [("other", false), ("same", true)] {
        let tested = ServerTestParams { server: with(tested, true) };
        assert!(host.server_test(tested).await.unwrap().ok);
        assert!(left.exists());
        let params = ServerAddParams {
            server: with("same", false),
            accepted: [].into(),
            reads_may_run: false,
            this_run_only: true,
            numbers_may_change: false,
        };
        host.server_add(params).await.unwrap();
        assert_eq!(left.exists(), keeps);
        let name = "tell".into();
        host.server_remove(contract::OwnServerParams { name }).await.unwrap();
    }
    host.stop().await;
}
