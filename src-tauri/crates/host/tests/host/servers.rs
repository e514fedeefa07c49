//! Tests of tools that a server offers beyond its manifest, through a whole host: such a tool is a
//! write until the user sets another effect, it is disabled when its definition changes, and it is
//! accepted only as shown.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

use contract::{
    ApprovalsListParams, Change, Commands, DefinitionState, Effect, Empty, ErrorCode,
    SecretSetParams, ServerParams, ServerTool, ServerToolEffectParams, ServerToolsAcceptParams,
    ToolCallParams, ToolCallResponse, ToolOutcome,
};
use host::{Host, Options, Person, Terminal};
use serde_json::json;

/// A server whose tool descriptions are read from a file beside it. The server writes to its own
/// folder.
const SERVER: &str = r#"#!/usr/bin/python3 -u
import json, os, pathlib, sys
words = pathlib.Path("words.txt")
own = pathlib.Path(os.environ["COUNTERSIGN_PACK_DATA"])
(own / "token.txt").write_text(os.environ.get("FAR_TOKEN", "none"))
for line in sys.stdin:
    request = json.loads(line)
    method, answer = request.get("method"), None
    if method == "initialize":
        answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "post", "version": "1"}}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
        tools = [{"name": name, "description": about, "inputSchema": schema, "annotations": {"readOnlyHint": True, **({"openWorldHint": "anywhere" in about} if "where" in about else {})}}
                 for name, about in (row.split(": ", 1) for row in words.read_text().splitlines())]
        answer = {"tools": tools}
    elif method == "tools/call":
        with open(own / "calls.txt", "a") as calls:
            calls.write(json.dumps(request["params"]["arguments"]) + "\n")
        answer = {"content": [{"type": "text", "text": "{\"done\": true}"}]}
    if "id" in request:
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        reply.update({"result": answer} if answer else {"error": {"code": -32601, "message": "unknown"}})
        print(json.dumps(reply))
"#;

struct Bench {
    folder: tempfile::TempDir,
    host: Arc<Host>,
}

impl Bench {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pack = folder.path().join("packs/post");
        fs::create_dir_all(&pack).unwrap();
        fs::write(pack.join("server"), SERVER).unwrap();
        fs::set_permissions(pack.join("server"), fs::Permissions::from_mode(0o755)).unwrap();
        let manifest = json!({
            "manifest_version": 1, "id": "post", "version": "1.0.0", "title": "Post", "description": "Sends letters.",
            "servers": [{"name": "post", "command": "./server", "data_dir": true, "offer_all": true, "timeouts": {"start_ms": 60_000, "call_ms": 20_000}}],
            "schemas": {}, "tools": {"tools": []}
        });
        fs::write(pack.join("pack.json"), manifest.to_string()).unwrap();
        describe(folder.path(), "send: Sends a letter.\n");
        let host = host(folder.path()).await;
        Self { folder, host }
    }

    /// Restarts the app.
    async fn restart(self) -> Self {
        self.host.stop().await;
        drop(self.host);
        let host = host(self.folder.path()).await;
        Self { host, ..self }
    }

    async fn tools(&self) -> Vec<ServerTool> {
        self.host.server_tools(Empty {}).await.unwrap().tools
    }

    /// Returns the tools that are offered to models.
    async fn offered(&self) -> Vec<(String, Effect)> {
        let packs = self.host.packs_list(Empty {}).await.unwrap().packs;
        packs
            .iter()
            .flat_map(|pack| &pack.tools)
            .map(|tool| (tool.id.0.clone(), tool.effect))
            .collect()
    }

    async fn send(&self) -> ToolCallResponse {
        let params = ToolCallParams {
            tool: "post.send".into(),
            arguments: json!({"to": "Ada"}),
            session: None,
            headless: true,
        };
        self.host.tool_call(params).await.unwrap()
    }

    /// Makes a call that needs an approval while nobody can approve.
    async fn refused_call(&self) -> contract::AgentError {
        let params = ToolCallParams {
            tool: "post.send".into(),
            arguments: json!({"to": "Ada"}),
            session: None,
            headless: true,
        };
        self.host.tool_call(params).await.unwrap_err()
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.folder.path().join("data/packs/post/calls.txt"))
            .unwrap_or_default()
            .lines()
            .count()
    }

    async fn accept(&self, tool: &ServerTool) -> Result<Empty, contract::AgentError> {
        let ServerTool { pack, server, name, hash, .. } = tool.clone();
        let hashes = [(name, hash)].into();
        let params = ServerToolsAcceptParams { pack, server, hashes, numbers_may_change: None };
        self.host.server_tools_accept(params).await
    }
}

fn describe(folder: &Path, words: &str) {
    fs::write(folder.join("packs/post/words.txt"), words).unwrap();
}

async fn host(folder: &Path) -> Arc<Host> {
    crate::open(|| Options {
        data_dir: Some(folder.join("data")),
        pack_dirs: vec![folder.join("packs")],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_offered_tool_counts_as_a_write_until_the_user_classifies_it() {
    let bench = Bench::open().await;
    assert_eq!(
        bench.offered().await,
        [("post.send".to_owned(), Effect::Write)],
        "whatever the server says of it"
    );
    let tool = bench.tools().await.remove(0);
    assert_eq!(
        (tool.state, tool.says, tool.declared),
        (DefinitionState::Accepted, Some(Effect::ReadOnly), false)
    );
    assert_eq!(bench.refused_call().await.code, ErrorCode::ApprovalRequired);
    let params = ServerToolEffectParams {
        pack: "post".into(),
        server: "post".into(),
        name: "send".into(),
        effect: Effect::ReadOnly,
    };
    // A terminal may not widen access.
    let terminal = Terminal::local(Arc::clone(&bench.host), Person::Deciding);
    assert_eq!(
        terminal.server_tool_effect(params.clone()).await.unwrap_err().reason_text(),
        Some("window_only")
    );
    drop(terminal);
    bench.host.server_tool_effect(params).await.unwrap();
    assert_eq!(bench.offered().await, [("post.send".to_owned(), Effect::ReadOnly)]);
    let done = bench.send().await;
    assert_eq!((done.outcome, done.data), (ToolOutcome::Ok, json!({"done": true})));
    let bench = bench.restart().await;
    assert_eq!(
        bench.offered().await,
        [("post.send".to_owned(), Effect::ReadOnly)],
        "it is remembered"
    );
    bench.host.stop().await;
}

/// The server's statement is used only for a read, only if the manifest says nothing, and only to
/// require more approvals.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_servers_open_world_hint_applies_to_reads_if_the_pack_declares_none() {
    let bench = Bench::open().await;
    let tool = |id: &str, more: serde_json::Value| {
        let mut tool = json!({
            "id": format!("post.{id}"), "title": id, "kind": "mcp_server", "mcp": {"server": "post", "tool": id}, "side_effect_level": "read_only",
            "input_schema_ref": "#/schemas/Any", "output_schema_ref": "#/schemas/Any", "error_schema_ref": "#/schemas/Any",
            "timeouts": {"timeout_ms": 20_000}, "retry": {"max_attempts": 1, "backoff": "fixed"}, "idempotency": {"strategy": "none"},
            "audit": {"required": false}, "usage_guidelines": "Looks.", "use_when": ["The user wants it"]
        });
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tool
    };
    let tools = json!([
        tool("silent", json!({})),
        tool("closed", json!({"open_world": false})),
        tool("open", json!({"open_world": true})),
        tool("home", json!({})),
        tool("write", json!({"side_effect_level": "write"})),
    ]);
    let manifest = json!({
        "manifest_version": 1, "id": "post", "version": "1.0.0", "title": "Post", "description": "Sends letters.",
        "servers": [{"name": "post", "command": "./server", "data_dir": true, "offer_all": true, "timeouts": {"start_ms": 60_000, "call_ms": 20_000}}],
        "schemas": {"Any": {"type": "object"}}, "tools": {"tools": tools}
    });
    fs::write(bench.folder.path().join("packs/post/pack.json"), manifest.to_string()).unwrap();
    let words = "silent: Looks anywhere.\nclosed: Looks anywhere.\nopen: Looks where it is.\nhome: Looks where it is.\nwrite: Writes anywhere.\n";
    describe(bench.folder.path(), words);
    fs::remove_file(bench.folder.path().join("data/tool-definitions.json")).unwrap();
    let bench = bench.restart().await;
    let packs = bench.host.packs_list(Empty {}).await.unwrap().packs;
    assert!(packs.iter().all(|pack| pack.faults.is_empty()), "{packs:?}");
    let told: std::collections::BTreeMap<&str, bool> = packs
        .iter()
        .flat_map(|pack| &pack.tools)
        .map(|tool| (tool.id.as_str(), tool.open_world))
        .collect();
    let expected = [
        ("post.closed", false),
        ("post.home", false),
        ("post.open", true),
        ("post.silent", true),
        ("post.write", false),
    ];
    assert_eq!(told, expected.into());
    bench.host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_tool_is_not_called_until_a_person_accepts_the_change() {
    let bench = Bench::open().await;
    let params = ServerToolEffectParams {
        pack: "post".into(),
        server: "post".into(),
        name: "send".into(),
        effect: Effect::ReadOnly,
    };
    bench.host.server_tool_effect(params).await.unwrap();
    bench.send().await;
    assert_eq!(bench.calls(), 1);
    describe(
        bench.folder.path(),
        "send: Sends a letter, and a copy to us.\nburn: Burns a letter.\n",
    );
    let bench = bench.restart().await;
    // The change is detected when the server is started for the call, before the call is sent.
    let refused = bench.send().await;
    assert_eq!(
        (refused.outcome, refused.error.unwrap().reason_text()),
        (ToolOutcome::Error, Some("definition_changed"))
    );
    assert_eq!(bench.calls(), 1);
    assert_eq!(bench.offered().await, [], "neither the changed nor the new one");
    let tools = bench.tools().await;
    let states: Vec<(&str, DefinitionState)> =
        tools.iter().map(|tool| (tool.name.as_str(), tool.state)).collect();
    assert_eq!(states, [("burn", DefinitionState::New), ("send", DefinitionState::Changed)]);
    let added: Vec<&str> = tools[1]
        .diff
        .iter()
        .filter(|line| line.change == Change::Added)
        .map(|line| line.text.trim())
        .collect();
    assert_eq!(added, ["\"description\": \"Sends a letter, and a copy to us.\","]);
    let script = Terminal::local(Arc::clone(&bench.host), Person::Absent);
    let ServerTool { pack, server, name, hash, .. } = tools[1].clone();
    let hashes = [(name, hash)].into();
    let params = ServerToolsAcceptParams { pack, server, hashes, numbers_may_change: None };
    assert_eq!(
        script.server_tools_accept(params).await.unwrap_err().reason_text(),
        Some("no_terminal"),
        "a script accepts nothing"
    );
    let stale = ServerTool { hash: "0".repeat(64), ..tools[1].clone() };
    assert_eq!(bench.accept(&stale).await.unwrap_err().reason_text(), Some("changed"));
    bench.accept(&tools[1]).await.unwrap();
    assert_eq!(
        bench.offered().await,
        [("post.send".to_owned(), Effect::ReadOnly)],
        "what the user said of it still holds"
    );
    assert_eq!(bench.send().await.outcome, ToolOutcome::Ok);
    assert_eq!(bench.calls(), 2);
    bench.host.stop().await;
}

/// Creates a pack with one declared tool of a server. Returns its folder.
fn pack_declaring(
    folder: &Path,
    mut server: serde_json::Value,
    effect: &str,
) -> std::path::PathBuf {
    let pack = folder.join("packs/far");
    fs::create_dir_all(&pack).unwrap();
    server["name"] = json!("far");
    let manifest = json!({
        "manifest_version": 1, "id": "far", "version": "1.0.0", "title": "Far", "description": "Sends letters from afar.",
        "servers": [server],
        "schemas": {"Send": {"type": "object", "properties": {"to": {"type": "string"}}}, "Any": {"type": "object"}},
        "tools": {"tools": [{
            "id": "far.send", "title": "Send a letter", "kind": "mcp_server", "mcp": {"server": "far", "tool": "send"}, "side_effect_level": effect,
            "input_schema_ref": "#/schemas/Send", "output_schema_ref": "#/schemas/Any", "error_schema_ref": "#/schemas/Any",
            "timeouts": {"timeout_ms": 5_000}, "retry": {"max_attempts": 1, "backoff": "fixed"}, "idempotency": {"strategy": "none"},
            "audit": {"required": true}, "usage_guidelines": "Sends a letter.", "use_when": ["a letter is to be sent"]
        }]}
    });
    fs::write(pack.join("pack.json"), manifest.to_string()).unwrap();
    pack
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent_run_4_1_a_servers_missing_credential_is_reported_before_approval() {
    let folder = tempfile::tempdir().unwrap();
    let http = json!({
        "url": "https://mcp.invalid/mcp", "auth": {"kind": "bearer_token", "env_var": "FAR_TOKEN"}, "headers": {"X-Tenant": "FAR_TENANT"}
    });
    pack_declaring(folder.path(), json!({"http": http}), "write");
    let host = host(folder.path()).await;
    let send = || {
        let params = ToolCallParams {
            tool: "far.send".into(),
            arguments: json!({"to": "Ada"}),
            session: None,
            headless: true,
        };
        host.tool_call(params)
    };
    for variable in ["FAR_TENANT", "FAR_TOKEN"] {
        let refused = send().await.unwrap();
        assert_eq!(refused.outcome, ToolOutcome::Error);
        let error = refused.error.unwrap();
        assert_eq!(
            (error.code, error.reason_text()),
            (ErrorCode::InternalError, Some("tool_config_error")),
            "{error:?}"
        );
        assert!(error.message.contains("FAR_T"), "{error:?}");
        assert!(
            host.approvals_list(ApprovalsListParams { include_decided: false })
                .await
                .unwrap()
                .approvals
                .is_empty(),
            "nobody was asked"
        );
        let params = SecretSetParams {
            name: format!("far/{variable}"),
            value: "entered".into(),
            this_run_only: true,
        };
        host.secret_set(params).await.unwrap();
    }
    assert_eq!(send().await.unwrap_err().code, ErrorCode::ApprovalRequired, "with both it asks");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_servers_program_gets_the_settings_and_keys_entered_for_its_pack() {
    let folder = tempfile::tempdir().unwrap();
    let server = json!({"command": "./server", "data_dir": true, "env": ["FAR_TOKEN", "FAR_LANGUAGE"], "timeouts": {"start_ms": 60_000}});
    let pack = pack_declaring(folder.path(), server, "read_only");
    fs::write(pack.join("server"), SERVER).unwrap();
    fs::set_permissions(pack.join("server"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(pack.join("words.txt"), "send: Sends a letter.\n").unwrap();
    let host = host(folder.path()).await;
    let offered: Vec<String> = host
        .settings_get(Empty {})
        .await
        .unwrap()
        .credentials
        .into_iter()
        .map(|view| view.name)
        .collect();
    assert_eq!(offered, ["far/FAR_TOKEN"], "what its name says to be a credential");
    host.secret_set(SecretSetParams {
        name: "far/FAR_TOKEN".into(),
        value: "entered-1".into(),
        this_run_only: true,
    })
    .await
    .unwrap();
    let params = ToolCallParams {
        tool: "far.send".into(),
        arguments: json!({"to": "Ada"}),
        session: None,
        headless: true,
    };
    let sent = host.tool_call(params).await.unwrap();
    assert_eq!(sent.outcome, ToolOutcome::Ok, "{:?}", sent.error);
    assert_eq!(
        fs::read_to_string(folder.path().join("data/packs/far/token.txt")).unwrap(),
        "entered-1"
    );
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_with_similar_names_are_all_offered_under_unique_names() {
    let bench = Bench::open().await;
    let names = ["addNote", "add_note", "add.note", "add:note"];
    let words: Vec<String> = names.iter().map(|name| format!("{name}: Adds a note.\n")).collect();
    describe(bench.folder.path(), &words.concat());
    let bench = bench.restart().await;
    let (pack, server) = (contract::PackId::from("post"), "post".to_owned());
    let post = ServerParams { pack: pack.clone(), server: server.clone() };
    let mut tools = bench.host.server_start(post).await.unwrap().tools;
    tools.retain(|tool| tool.state != DefinitionState::Gone);
    let hashes = tools.into_iter().map(|tool| (tool.name, tool.hash)).collect();
    let params = ServerToolsAcceptParams { pack, server, hashes, numbers_may_change: None };
    bench.host.server_tools_accept(params).await.unwrap();
    let packs = bench.host.packs_list(Empty {}).await.unwrap().packs;
    let tools = &packs.iter().find(|pack| pack.id.as_str() == "post").unwrap().tools;
    let distinct = |name: fn(&contract::ToolSpec) -> &str| {
        tools.iter().map(name).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(tools.len(), names.len());
    assert_eq!((distinct(|tool| tool.id.0.as_str()), distinct(|tool| &tool.model_name)), (4, 4));
    for tool in tools {
        assert!(tool.model_name.len() <= 64, "{}", tool.model_name);
        let params = ToolCallParams {
            tool: tool.id.clone(),
            arguments: json!({"to": "Ada"}),
            session: None,
            headless: true,
        };
        // Each tool is found, but nobody approves its call.
        let refused = bench.host.tool_call(params).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ApprovalRequired, "{}", tool.id);
    }
    bench.host.stop().await;
}
