//! Tests with the settings of other clients, as their documentation shows them.

use serde_json::json;

use super::*;

fn all(text: &str) -> Vec<Found> {
    assert!(is_settings(text), "{text}");
    read_settings(text, &BTreeMap::new()).unwrap()
}

fn one(text: &str) -> Found {
    let mut found = all(text);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn notes(found: &Found) -> String {
    found.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn problem(found: &Found) -> String {
    found.problem.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn settings_files_of_four_mcp_clients_are_read() {
    let claude = r#"{"mcpServers": {"Brave Search": {"command": "npx", "args": ["-y", "brave"], "env": {"BRAVE_API_KEY": "abc"}}}}"#;
    let Found { server, problem: none, notes, .. } = one(claude);
    assert_eq!((server.name.as_str(), server.command.as_str()), ("brave-search", "npx"));
    assert_eq!((server.env["BRAVE_API_KEY"].as_str(), none), ("abc", None));
    assert!(notes.is_empty(), "{notes:?}");

    let vs_code = r#"{
        // Asked for once
        "inputs": [{"type": "promptString", "id": "key", "description": "The key", "password": true}],
        "servers": { "gh": { "type": "http", "url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer ${input:key}"}, }, },
    }"#;
    let found = one(vs_code);
    assert_eq!(found.server.url, "https://api.example.com/mcp");
    assert_eq!(problem(&found), "Replace ${input:key} by its value.");
    assert_eq!((found.asks[0].about.as_str(), found.asks[0].is_key), ("The key", true));
    let given = [("input:key".to_owned(), "k1".to_owned())].into();
    let found = read_settings(vs_code, &given).unwrap().remove(0);
    assert_eq!(
        (found.server.headers["Authorization"].as_str(), found.problem),
        ("Bearer k1", None)
    );

    let zed = r#"{"context_servers": {"time": {"command": {"path": "uvx", "args": ["mcp-server-time"], "env": {"A": "b"}}}}}"#;
    let Found { server, .. } = one(zed);
    assert_eq!((server.command.as_str(), server.args.len()), ("uvx", 1));
    assert_eq!(server.env["A"], "b");

    let settings =
        r#"{"mcp": {"servers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}}"#;
    assert_eq!(one(settings).server.name, "time");
    let cursor_entry = r#"{"command": "npx", "args": ["-y", "@scope/server-files"] /* one */}"#;
    assert_eq!(one(cursor_entry).server.name, "files");
}

#[test]
fn settings_in_the_notations_of_further_mcp_clients_are_read() {
    let of = |text: &str| one(text).server;
    let gemini = r#"{"mcpServers": {"a": {"httpUrl": "https://a.example/mcp", "timeout": 5000, "trust": true}}}"#;
    assert_eq!(of(gemini).url, "https://a.example/mcp");
    assert_eq!(notes(&one(gemini)), "Not used of its settings: timeout, trust.");
    let windsurf = r#"{"mcpServers": {"a": {"serverUrl": "https://b.example/mcp"}}}"#;
    assert_eq!(of(windsurf).url, "https://b.example/mcp");
    let goose = r#"{"extensions": 1, "mcpServers": {"a": {"cmd": "uvx", "args": ["x"], "envs": {"A": "b"}}}}"#;
    assert_eq!((of(goose).command.as_str(), of(goose).env["A"].as_str()), ("uvx", "b"));
    let open_code = r#"{"mcp": {"a": {"type": "local", "command": ["bun", "x", "y"], "environment": {"A": "b"}, "enabled": false}}}"#;
    let server = of(open_code);
    assert_eq!(
        (server.command.as_str(), server.args, server.enabled),
        ("bun", vec!["x".into(), "y".into()], false)
    );
    let list = r#"{"mcpServers": [{"name": "My notes", "command": "npx -y notes"}]}"#;
    let server = of(list);
    assert_eq!((server.name.as_str(), server.command.as_str()), ("my-notes", "npx"));
    assert_eq!(server.args, ["-y", "notes"]);
    let codex = r#"
model = "x"
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]
env_vars = ["DOCS_TOKEN"]
cwd = "/tmp"
enabled = false
startup_timeout_sec = 20
[mcp_servers.docs.env]
A = "b"
[mcp_servers.far]
url = "https://c.example/mcp"
bearer_token_env_var = "FAR_TOKEN"
"#;
    let found = all(codex);
    let (docs, far) = (&found[0], &found[1]);
    assert_eq!((docs.server.cwd.as_str(), docs.server.enabled), ("/tmp", false));
    assert_eq!((docs.server.env["A"].as_str(), docs.asks[0].name.as_str()), ("b", "DOCS_TOKEN"));
    assert!(notes(docs).contains("startup_timeout_sec"), "{}", notes(docs));
    assert_eq!(far.server.headers["Authorization"], "Bearer ${FAR_TOKEN}");
    assert!(far.asks[0].is_key);
}

/// Tests texts of instructions and of further clients, with the program or address that each text
/// means.
#[test]
fn settings_pasted_from_installation_instructions_are_read() {
    let npx = ["npx", "-y", "notes"];
    for (text, runs) in [
        (r#""mcpServers": {"notes": {"command": "npx", "args": ["-y", "notes"]}}"#, &npx[..]),
        (r#""notes": {"command": "npx", "args": ["-y", "notes"]},"#, &npx),
        ("```json\n{\"mcpServers\": {\"notes\": {\"command\": \"npx -y notes\"}}}\n```\n", &npx),
        (r#"{"notes": {"command": "npx", "args": "-y notes", "url": null}}"#, &npx),
        (r#"{"notes": {"command": "cmd", "args": ["/c", "npx", "-y", "notes"]}}"#, &npx),
        (
            r#"{"augment.advanced": {"mcpServers": [{"name": "notes", "command": "npx", "args": ["-y", "notes"]}]}}"#,
            &npx,
        ),
        (
            r#"{"experimental": {"modelContextProtocolServers": [{"name": "notes", "transport": {"type": "stdio", "command": "npx", "args": ["-y", "notes"]}}]}}"#,
            &npx,
        ),
        (
            r#"{"cody.mcpServers": {"notes": {"command": "npx", "args": ["-y", "notes"]}}, "ssh": {"servers": {"a": {"host": "b"}}}}"#,
            &npx,
        ),
        (
            r#"{"mcpServers": {"notes": {"command": null, "args": null, "url": "https://a.example/mcp", "transport": "streamable_http"}}}"#,
            &["https://a.example/mcp"],
        ),
        (
            r#"{"mcpServers": {"notes": {"type": "streamableHttp", "baseUrl": "https://a.example/mcp", "isActive": true}}}"#,
            &["https://a.example/mcp"],
        ),
    ] {
        let found = one(text);
        let Found { server, .. } = &found;
        let program = if server.command.is_empty() { &server.url } else { &server.command };
        let all: Vec<_> = std::iter::once(program).chain(&server.args).collect();
        assert_eq!(
            (all, problem(&found).as_str()),
            (runs.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>().iter().collect(), ""),
            "{text}"
        );
        assert_eq!(server.name, "notes", "{text}");
    }
    let listed = one(r#"{"command": "npx", "env": ["A=b=c", {"name": "D", "value": "{env:E}"}]}"#);
    assert_eq!((listed.server.env["A"].as_str(), listed.asks[0].name.as_str()), ("b=c", "E"));
    assert!(!is_settings(r#""/opt/my notes" --json '{"a": 1}'"#));
}

#[test]
fn a_server_switched_off_in_the_settings_stays_off() {
    for off in [
        r#""disabled": true"#,
        r#""enabled": false"#,
        r#""disabled": "true""#,
        r#""isActive": false"#,
        r#""options": {"enabled": false}"#,
    ] {
        let found = one(&format!(r#"{{"mcpServers": {{"a": {{"command": "npx", {off}}}}}}}"#));
        assert!(!found.server.enabled, "{off}");
        assert!(notes(&found).contains("switched off"), "{off}");
    }
    let on = r#"{"mcpServers": {"a": {"command": "npx", "disabled": null, "enabled": true}}}"#;
    assert!(one(on).server.enabled && notes(&one(on)).is_empty());
}

#[test]
fn numbers_and_booleans_in_arguments_become_text_with_their_original_digits() {
    let text = r#"{"command": "npx", "args": ["--port", 8080, 1.10, true, -3e5], "env": {"A": 1, "B": false, "C": 123456789012345678901234567890, "D": null}}"#;
    let found = one(text);
    assert_eq!(found.server.args, ["--port", "8080", "1.10", "true", "-3e5"]);
    let env: Vec<_> = found.server.env.values().map(String::as_str).collect();
    assert_eq!(env, ["1", "false", "123456789012345678901234567890"]);
    assert_eq!(notes(&found), "D has no value in these settings, so it is left out.");
    for wrong in [r#""args": [["a"]]"#, r#""env": {"A": {"b": 1}}"#] {
        let found = one(&format!(r#"{{"command": "npx", {wrong}}}"#));
        assert!(problem(&found).contains("Write it as text"), "{wrong}");
    }
}

#[test]
fn placeholder_variables_are_filled_and_keys_among_them_are_marked() {
    let text = r#"{"command": "npx", "args": ["${ROOT:-/srv}", "${env:API_KEY}"], "env": {"A": "$API_KEY"}, "cwd": "${workspaceFolder}"}"#;
    let found = one(text);
    assert_eq!(found.server.args, ["/srv", "${env:API_KEY}"]);
    let asked: Vec<_> = found.asks.iter().map(|asked| asked.name.as_str()).collect();
    assert_eq!(asked, ["ROOT", "API_KEY", "workspaceFolder"]);
    let given = [("API_KEY", "letmein"), ("workspaceFolder", "/tmp"), ("ROOT", "/data")];
    let given = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let found = read_settings(text, &given).unwrap().remove(0);
    assert_eq!(
        (found.server.args.as_slice(), found.problem),
        (["/data".to_owned(), "letmein".into()].as_slice(), None)
    );
    assert_eq!((found.server.cwd.as_str(), found.server.env["A"].as_str()), ("/tmp", "letmein"));
    assert!(found.server.keys.iter().all(|key| key == "letmein") && found.asks.is_empty());
}

#[test]
fn every_server_of_a_settings_file_is_kept_under_a_unique_name() {
    let text = r#"{"mcpServers": {"Git Hub": {"command": "a"}, "git-hub": {"command": "b"}},
        "servers": {"GIT HUB": {"command": "c"}},
        "projects": {"/home/me": {"mcpServers": {"other": {"command": "d"}}}, "/x": {}}}"#;
    let found = all(text);
    let names: Vec<_> = found.iter().map(|found| found.server.name.as_str()).collect();
    assert_eq!(names, ["git-hub", "git-hub-2", "git-hub-3", "other"]);
    assert!(notes(&found[1]).contains("git-hub-2") && notes(&found[0]).is_empty());
}

#[test]
fn settings_that_do_not_apply_to_an_address_or_a_program_are_listed() {
    let far = r#"{"url": "https://a.example/mcp", "env": {"A": "b"}, "args": [], "oauth": {}}"#;
    assert_eq!(notes(&one(far)), "Not used of its settings: env, oauth.");
    let near = r#"{"command": "npx", "headers": {"A": "b"}, "envFile": ".env"}"#;
    assert_eq!(notes(&one(near)), "Not used of its settings: envFile, headers.");
}

#[test]
fn settings_without_a_server_are_refused_with_a_hint() {
    for text in ["{}", "[1]", r#"{"mcpServers": {}}"#, "{"] {
        let refused = read_settings(text, &BTreeMap::new()).unwrap_err();
        assert!(refused.hint_text().is_some(), "{text}");
    }
    for (member, says) in
        [(r#""type": "sse""#, "SSE"), (r#""transport": "websocket""#, "websocket")]
    {
        let text =
            format!(r#"{{"mcpServers": {{"old": {{{member}, "url": "https://a.example/x"}}}}}}"#);
        assert!(problem(&one(&text)).contains(says), "{text}");
    }
    assert!(!is_settings("npx -y mcp_servers") && !is_settings("https://mcp_servers.example"));
}

#[test]
fn many_servers_with_the_same_long_name_get_unique_names() {
    let name = "a".repeat(LONGEST_NAME);
    let mut found = vec![Found::default(); 20];
    found.iter_mut().for_each(|found| found.server.name.clone_from(&name));
    separate_names(&mut found);
    let names: BTreeSet<&str> = found.iter().map(|found| found.server.name.as_str()).collect();
    assert_eq!(names.len(), found.len());
    for number in [9, 10, 999, 1000, 100_000] {
        let one = with_number(&name, number);
        assert!(one.ends_with(&format!("-{number}")) && one.len() == LONGEST_NAME, "{one}");
    }
}

#[test]
fn a_settings_file_with_too_many_servers_is_refused() {
    let servers = |count: usize| {
        let all: Vec<String> =
            (0..count).map(|at| format!(r#""s{at}": {{"command": "npx"}}"#)).collect();
        read_settings(&format!(r#"{{"mcpServers": {{{}}}}}"#, all.join(",")), &BTreeMap::new())
    };
    assert_eq!(servers(MOST).unwrap().len(), MOST);
    assert!(servers(MOST + 1).unwrap_err().message.contains("201 MCP servers"));
}

#[test]
fn placeholders_nested_too_deeply_are_refused() {
    let nested = |depth: usize| {
        let value = format!("{}x{}", "${A:-".repeat(depth), "}".repeat(depth));
        one(&json!({"mcpServers": {"a": {"command": "npx", "env": {"B": value}}}}).to_string())
    };
    assert_eq!((nested(8).server.env["B"].as_str(), nested(8).problem), ("x", None));
    for depth in [9, 20_000] {
        assert!(problem(&nested(depth)).contains("are nested"), "{depth}");
    }
}
