//! Tests failures of requests and programs, and the scaffold.

use std::fs;

use packs::{NewPack, scaffold};
use serde_json::{Value, json};

use crate::running::{manifest, spec};

fn faults(tool: Value) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pack.json"), manifest(tool).to_string()).unwrap();
    fs::write(folder.path().join("plain"), "no program").unwrap();
    packs::check_folder(folder.path())
        .view
        .faults
        .into_iter()
        .map(|fault| (fault.field, fault.problem.into()))
        .collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table with one entry per fault")]
fn every_invalid_part_of_a_call_declaration_is_reported_at_its_field() {
    let http = |call: Value| json!({"http": call});
    let cases = [
        (http(json!({"url": "ftp://x.example/"})), "/http/url", "not a web address"),
        (http(json!({"url": "https://{id}.example.com/"})), "/http/url", "not a web address"),
        (http(json!({"url": "https://user:pw@x.example/"})), "/http/url", "not a web address"),
        (http(json!({"url": "https://x.example/a?q={q}"})), "/http/url", "query does not belong"),
        (http(json!({"url": "http://x.example/"})), "/http/url", "without encryption"),
        (http(json!({"url": "HTTP://x.example/"})), "/http/url", "without encryption"),
        (http(json!({"url": "http:x.example"})), "/http/url", "without encryption"),
        (http(json!({"url": "https://x.example/{gone}"})), "/http/url", "no parameter `gone`"),
        (http(json!({"url": "https://x.example/{q}"})), "/http/url", "does not require it"),
        (http(json!({"url": "https://x.example/{"})), "/http/url", "brace stands alone"),
        (http(json!({"url": "{settings.gone}/x"})), "/http/url", "`settings` has no `gone`"),
        (
            http(json!({"url": "https://x.example/", "query": {"a": "{gone}"}})),
            "/http/query/a",
            "no parameter",
        ),
        (
            http(json!({"url": "https://x.example/", "headers": {"Host": "x"}})),
            "/http/headers/Host",
            "set by the host",
        ),
        (
            http(json!({"url": "https://x.example/", "headers": {"Authorization": "x"}})),
            "/http/headers/Authorization",
            "set by the host",
        ),
        (
            http(json!({"url": "https://x.example/", "headers": {"A B": "x"}})),
            "/http/headers/A B",
            "not the name of a header",
        ),
        (http(json!({"url": "https://x.example/", "body": {"a": "{q}"}})), "/http/body", "no body"),
        (
            http(json!({"method": "POST", "url": "https://x.example/", "body": {"a": ["{gone}"]}})),
            "/http/body/a/0",
            "no parameter",
        ),
        (
            http(json!({"url": "https://x.example/", "hosts": ["https://y.example"]})),
            "/http/hosts/0",
            "not the name of a host",
        ),
        (
            json!({"http": {"url": "https://x.example/"}, "auth": {"kind": "oauth2", "env_var": "T"}}),
            "/auth/kind",
            "not supported",
        ),
        (
            json!({"http": {"url": "https://x.example/"}, "auth": {"kind": "api_key", "env_var": "A=b"}}),
            "/auth/env_var",
            "not the name of a variable",
        ),
        (
            json!({"http": {"url": "https://x.example/"}, "auth": {"kind": "bearer_token", "env_var": "A", "query": "k"}}),
            "/auth/query",
            "stands instead",
        ),
        (
            json!({"http": {"url": "https://x.example/"}, "idempotency": {"strategy": "external_key"}}),
            "/idempotency/key_ref",
            "which argument",
        ),
        (
            json!({"http": {"url": "https://x.example/"}, "idempotency": {"strategy": "payload_field"}}),
            "/idempotency/strategy",
            "no body",
        ),
        (
            json!({"kind": "other", "program": {"command": "../x"}}),
            "/program/command",
            "leads out of the pack",
        ),
        (
            json!({"kind": "other", "program": {"command": "/bin/sh"}}),
            "/program/command",
            "leads out of the pack",
        ),
        (
            json!({"kind": "other", "program": {"command": "sh -c x"}}),
            "/program/command",
            "not the name of a program",
        ),
        (
            json!({"kind": "other", "program": {"command": "./plain"}}),
            "/program/command",
            "may not be executed",
        ),
        (
            json!({"kind": "other", "program": {"command": "plain"}}),
            "/program/command",
            "does not begin with `./`",
        ),
        (
            json!({"kind": "other", "program": {"command": "npx"}}),
            "/program/command",
            "the search path is not used",
        ),
        (
            json!({"kind": "other", "program": {"command": "countersign-shop", "env": ["DBUS_SESSION_BUS_ADDRESS"]}}),
            "/program/env/0",
            "session bus",
        ),
        (
            json!({"kind": "other", "program": {"command": "countersign-shop", "args": ["{gone}"]}}),
            "/program/args/0",
            "no parameter",
        ),
        (
            json!({"kind": "other", "program": {"command": "countersign-shop", "env": ["A=b"]}}),
            "/program/env/0",
            "not the name of a variable",
        ),
        (
            json!({"kind": "other", "http": {"url": "https://x.example/"}, "program": {"command": "countersign-shop"}}),
            "/http",
            "does not belong",
        ),
    ];
    for (tool, field, words) in cases {
        let found = faults(tool.clone());
        let wanted = format!("/tools/tools/0{field}");
        assert!(
            found.iter().any(|(at, problem)| *at == wanted && problem.contains(words)),
            "{tool}: {wanted} {words:?} in {found:#?}"
        );
    }
}

#[test]
fn a_setting_in_an_address_is_filled_in_and_changes_the_definition_hash() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("one")).unwrap();
    let tool = json!({"http": {"url": "{settings.base_url}/things/{id}"}});
    fs::write(folder.path().join("one/pack.json"), manifest(tool).to_string()).unwrap();
    let with = |value: &str| {
        let settings =
            [("one".to_owned(), [("base_url".to_owned(), value.into())].into_iter().collect())]
                .into();
        packs::load_with(&[folder.path().to_owned()], &settings).remove(0)
    };
    let usual = packs::load(&[folder.path().to_owned()]).remove(0);
    let own = with("https://jira.corp.example:8443/api/");
    assert_eq!(usual.view.tools[0].target.server(), "api.example.com");
    assert_eq!(own.view.tools[0].target.server(), "jira.corp.example:8443");
    assert_ne!(
        usual.view.tools[0].definition_hash, own.view.tools[0].definition_hash,
        "an approval is bound to the server"
    );
    let broken = with("https://x.example/?q=");
    assert!(broken.pack.is_none() && !broken.view.faults.is_empty());
}

#[test]
fn an_example_of_each_kind_of_tool_resolves() {
    assert_eq!(
        spec(json!({"http": {"url": "https://api.example.com/{id}"}})).target.server(),
        "api.example.com"
    );
    let secret =
        spec(json!({"http": {"url": "https://api.example.com/"}, "auth": {"kind": "none"}}));
    assert!(secret.auth.is_none());
}

#[test]
fn a_scaffolded_pack_is_valid_and_never_overwrites_another() {
    let folder = tempfile::tempdir().unwrap();
    for (name, kind) in
        [("hello", NewPack::Program), ("my-api", NewPack::Http), ("my-server", NewPack::Mcp)]
    {
        let made = scaffold(folder.path(), name, kind).unwrap();
        let loaded = packs::check_folder(&made);
        assert_eq!(loaded.view.faults, []);
        assert_eq!(loaded.view.id.as_str(), name);
        assert!(scaffold(folder.path(), name, kind).is_err(), "it is there already");
    }
    for name in ["", "Big", "../x", "a/b", "-a", "å"] {
        assert!(scaffold(folder.path(), name, NewPack::Program).is_err(), "{name:?}");
    }
}
