//! Tests of servers that the user adds while the profile is open, with a real server program: a
//! server is tested, added with confirmed effects, called, disabled, and removed; a server that
//! does not start reports why.

use std::{fs, path::Path, sync::Arc, time::Duration};

use contract::{
    AcceptedTool, AgentError, Commands as _, Effect, Empty, NewServer, OwnServerParams,
    OwnServerView, ServerAddParams, ServerEnableParams, ServerLimitParams, ServerParams,
    ServerTestParams, ServersReadParams, TestedTool, ToolCallParams, ToolOutcome,
};
use host::{ChatWindow, Host, Options, Person, Terminal};
use serde_json::json;

/// A server with a tool that reads and a tool that writes. It requires a key and says so on its
/// error output.
const SERVER: &str = r#"
import json, os, sys
if not os.environ.get("NOTES_TOKEN"):
    sys.exit("NOTES_TOKEN is not set")
print("notes are ready", file=sys.stderr, flush=True)
for line in sys.stdin:
    request = json.loads(line)
    method, answer = request.get("method"), None
    if method == "initialize":
        answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {}}
        answer = {"tools": [{"name": "read", "description": "Reads.", "inputSchema": schema, "annotations": {"readOnlyHint": True}},
                            {"name": "write", "description": "Writes.", "inputSchema": schema}]}
    elif method == "tools/call":
        answer = {"content": [{"type": "text", "text": json.dumps({"mood": os.environ.get("NOTES_MOOD")})}]}
    if "id" in request:
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        reply.update({"result": answer} if answer else {"error": {"code": -32601, "message": "unknown"}})
        print(json.dumps(reply), flush=True)
"#;

pub(crate) async fn host(folder: &Path) -> Arc<Host> {
    crate::open(|| Options {
        data_dir: Some(folder.join("data")),
        pack_dirs: vec![folder.join("packs")],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await
}

pub(crate) fn server(folder: &Path, token: Option<&str>) -> NewServer {
    let program = folder.join("notes.py");
    fs::write(&program, SERVER).unwrap();
    let mood = ("NOTES_MOOD".to_owned(), "it's fine".to_owned());
    let token = token.map(|token| ("NOTES_TOKEN".to_owned(), token.to_owned()));
    NewServer {
        name: "notes".into(),
        command: "/usr/bin/python3".into(),
        args: vec!["-u".into(), program.display().to_string()],
        env: std::iter::once(mood).chain(token).collect(),
        ..NewServer::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_test_of_a_server_reuses_downloads_of_the_failed_test() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path()).await;
    let new = server(folder.path(), Some("token-of-the-notes"));
    // This server installs itself at its first start, which fails.
    let installs = r#"import os, sys
package = os.environ["XDG_CACHE_HOME"] + "/package"
if not os.path.exists(package):
    os.makedirs(os.path.dirname(package), exist_ok=True)
    open(package, "w").close()
    sys.exit("the network is gone")
"#;
    fs::write(folder.path().join("notes.py"), format!("{installs}{SERVER}")).unwrap();
    let test = || host.server_test(ServerTestParams { server: new.clone() });
    let first = test().await.unwrap();
    assert!(!first.ok && first.log == ["the network is gone"], "{first:?}");
    let again = test().await.unwrap();
    assert!(again.ok, "{again:?}");
}

/// Returns the parameters that add a server with the tools of a test, of which `read` only reads.
pub(crate) fn addition(server: NewServer, tools: &[TestedTool]) -> ServerAddParams {
    let accept = |tool: &TestedTool| {
        let effect = (tool.name == "read").then_some(Effect::ReadOnly);
        (tool.name.clone(), AcceptedTool { hash: tool.hash.clone(), effect })
    };
    let accepted = tools.iter().map(accept).collect();
    ServerAddParams {
        server,
        accepted,
        reads_may_run: false,
        this_run_only: true,
        numbers_may_change: false,
    }
}

/// Tests a server and adds it with the tools that the test showed.
pub(crate) async fn test_and_add(
    host: &Host,
    server: NewServer,
) -> Result<OwnServerView, AgentError> {
    let tested = host.server_test(ServerTestParams { server: server.clone() }).await?;
    assert!(tested.ok, "{tested:?}");
    host.server_add(addition(server, &tested.tools)).await
}

pub(crate) async fn offered(host: &Host) -> Vec<(String, Effect)> {
    let packs = host.packs_list(Empty {}).await.unwrap().packs;
    let tools = packs.iter().flat_map(|pack| &pack.tools);
    tools.map(|tool| (tool.id.0.clone(), tool.effect)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_added_server_works_without_a_restart_and_is_removed_completely() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path()).await;
    let new = server(folder.path(), Some("token-of-the-notes"));
    let tested = host.server_test(ServerTestParams { server: new.clone() }).await.unwrap();
    assert!(tested.ok, "{tested:?}");
    let tools: Vec<(&str, Option<Effect>, Effect)> =
        tested.tools.iter().map(|tool| (tool.name.as_str(), tool.says, tool.effect)).collect();
    let expected =
        [("read", Some(Effect::ReadOnly), Effect::Write), ("write", None, Effect::Write)];
    assert_eq!(tools, expected, "the most careful effect holds until a person confirms another");
    assert_eq!(tested.log, ["notes are ready"]);
    assert!(tested.runs.starts_with("/usr/bin/python3 -u /"), "{}", tested.runs);
    assert_eq!(offered(&host).await, [], "a test adds nothing");

    let added = host.server_add(addition(new.clone(), &tested.tools)).await.unwrap();
    assert_eq!((added.tools, added.keys), (2, vec!["NOTES_TOKEN".to_owned()]));
    let expected = [("notes.read", Effect::ReadOnly), ("notes.write", Effect::Write)];
    assert_eq!(offered(&host).await, expected.map(|(name, effect)| (name.to_owned(), effect)));
    let call = || ToolCallParams {
        tool: "notes.read".into(),
        arguments: json!({}),
        session: None,
        headless: true,
    };
    let done = host.tool_call(call()).await.unwrap();
    let told = contract::json_text::members_of(&done.data).into_owned();
    assert_eq!((done.outcome, told), (ToolOutcome::Ok, json!({"mood": "it's fine"})));
    assert!(done.data.is_string(), "a text stays the text that came: {}", done.data);
    let log = ServerParams { pack: "own-notes".into(), server: "notes".into() };
    assert_eq!(host.server_log(log).await.unwrap().lines, ["notes are ready"]);
    let again = host.server_add(addition(new, &tested.tools)).await.unwrap_err();
    assert_eq!(again.reason_text(), Some("exists"));
    let files = fs::read_dir(folder.path().join("data/servers/notes")).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["server.json"], "its manifest is in no file");
    let text = fs::read_to_string(folder.path().join("data/servers/notes/server.json")).unwrap();
    assert!(!text.contains("token-of-the-notes"), "{text}");

    let switched = |enabled| ServerEnableParams { name: "notes".into(), enabled };
    host.server_enable(switched(false)).await.unwrap();
    assert_eq!(offered(&host).await, []);
    assert!(!host.server_list(Empty {}).await.unwrap().servers[0].enabled);
    host.server_enable(switched(true)).await.unwrap();
    assert_eq!(offered(&host).await.len(), 2);

    let limit = |seconds| ServerLimitParams { name: "notes".into(), seconds };
    assert_eq!(host.server_list(Empty {}).await.unwrap().servers[0].call_s, 300);
    assert_eq!(host.server_limit_set(limit(70)).await.unwrap().call_s, 70);
    for seconds in [0, 3_601] {
        assert!(host.server_limit_set(limit(seconds)).await.is_err(), "{seconds}");
    }
    assert_eq!(offered(&host).await.len(), 2, "its tools stay accepted");

    host.server_remove(OwnServerParams { name: "notes".into() }).await.unwrap();
    assert_eq!(offered(&host).await, []);
    assert!(host.server_list(Empty {}).await.unwrap().servers.is_empty());
    assert!(!folder.path().join("data/servers/notes").exists());
    assert!(host.server_tools(Empty {}).await.unwrap().tools.is_empty());
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_start_says_why_and_is_not_added() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path()).await;
    let new = server(folder.path(), None);
    let tested = host.server_test(ServerTestParams { server: new.clone() }).await.unwrap();
    assert!(!tested.ok && tested.message.is_some(), "{tested:?}");
    assert_eq!(tested.log, ["NOTES_TOKEN is not set"]);
    let refused = host.server_add(addition(new.clone(), &[])).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("server_not_started"));
    assert_eq!(refused.details["log"], json!(["NOTES_TOKEN is not set"]));
    assert!(host.server_list(Empty {}).await.unwrap().servers.is_empty());
    let missing = NewServer { command: "no-such-program".into(), ..new };
    let refused = host.server_test(ServerTestParams { server: missing }).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("program_not_found"));
    host.stop().await;
}

/// Returns a server that starts another program and never answers. The server writes both process
/// ids to a file.
fn silent_server(folder: &Path) -> (NewServer, std::path::PathBuf) {
    let ids = folder.join("own/ids");
    fs::create_dir_all(folder.join("own")).unwrap();
    let script = format!("sleep 1000 & echo $$ $! > '{}'; exec sleep 1000", ids.display());
    let server = NewServer {
        name: "silent".into(),
        command: "/bin/sh".into(),
        args: vec!["-c".into(), script],
        ..NewServer::default()
    };
    (server, ids)
}

/// Waits until the server runs, stops it, and waits until its processes have ended.
async fn stop_when_started(host: &Host, ids: &Path) {
    let found = loop {
        match fs::read_to_string(ids) {
            Ok(text) if text.ends_with('\n') => break text,
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    host.server_test_stop(OwnServerParams { name: "silent".into() }).await.unwrap();
    for id in found.split_whitespace() {
        // An ended process that has not been reaped is still in the list.
        let runs = || {
            fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
        };
        while runs() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    fs::remove_file(ids).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_ends_the_program_of_a_test_or_a_first_start() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path()).await;
    let (server, ids) = silent_server(folder.path());
    let test = host.server_test(ServerTestParams { server: server.clone() });
    let (tested, ()) = tokio::join!(test, stop_when_started(&host, &ids));
    assert_eq!(tested.unwrap_err().reason_text(), Some("stopped"));
    let add = host.server_add(addition(server.clone(), &[]));
    let (added, ()) = tokio::join!(add, stop_when_started(&host, &ids));
    assert_eq!(added.unwrap_err().reason_text(), Some("stopped"));
    assert!(host.server_list(Empty {}).await.unwrap().servers.is_empty());
    for left in ["data/servers/silent", "data/packs/own-silent"] {
        assert!(!folder.path().join(left).exists(), "{left}");
    }

    // In the window, stopping also withdraws the question whether the program may run.
    let window = ChatWindow::new(Arc::clone(&host));
    let stop_when_asked = async {
        while host.confirmations(Empty {}).await.unwrap().confirmations.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        window.server_test_stop(OwnServerParams { name: "silent".into() }).await.unwrap();
    };
    let test = window.server_test(ServerTestParams { server });
    let (tested, ()) = tokio::join!(test, stop_when_asked);
    assert_eq!(tested.unwrap_err().reason_text(), Some("stopped"));
    assert!(host.confirmations(Empty {}).await.unwrap().confirmations.is_empty());
    assert!(!ids.exists(), "it never ran");
    drop(window);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_person_can_test_or_add_a_server_and_reading_settings_starts_none() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path()).await;
    let terminal = Terminal::local(Arc::clone(&host), Person::Absent);
    let new = server(folder.path(), Some("token-of-the-notes"));
    let refused = terminal.server_test(ServerTestParams { server: new.clone() }).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("no_terminal"));
    let refused = terminal.server_add(addition(new, &[])).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("no_terminal"));
    let text = r#"{"mcpServers": {"a": {"command": "sh", "args": ["-c", "exit"]}, "b": {"command": "no-such-program"}}}"#;
    let read = terminal
        .servers_read(ServersReadParams { text: text.into(), ..Default::default() })
        .await
        .unwrap();
    assert!(read.servers[0].runs.ends_with("/sh -c exit"), "{read:?}");
    assert_eq!(read.servers[0].problem, None);
    assert!(read.servers[1].problem.is_some());
    drop(terminal);
    host.stop().await;
}
