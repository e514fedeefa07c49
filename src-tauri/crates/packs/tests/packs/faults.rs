//! Tests a faulty pack for each check: the fault and its location, and that all other faults are
//! reported as well.

use std::fs;

use contract::PackFault;
use serde_json::{Value, json};

use crate::{ledger, write_pack};

/// Returns the faults of the ledger pack after a change.
fn faults(change: impl FnOnce(&mut Value)) -> Vec<PackFault> {
    let folder = tempfile::tempdir().unwrap();
    let mut manifest = ledger();
    change(&mut manifest);
    write_pack(folder.path(), &manifest);
    let loaded = packs::check_folder(folder.path());
    assert_eq!(
        loaded.pack.is_some(),
        loaded.view.faults.is_empty(),
        "a pack with any fault is not used"
    );
    assert!(loaded.pack.is_some() || loaded.view.tools.is_empty());
    loaded.view.faults
}

/// Sets or adds a member.
fn set(manifest: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match manifest.pointer_mut(parent).unwrap() {
        Value::Object(members) => drop(members.insert(name.to_owned(), value)),
        Value::Array(items) => match name.parse::<usize>().unwrap() {
            at if at < items.len() => items[at] = value,
            _ => items.push(value),
        },
        other => panic!("{parent} is {other}"),
    }
}

#[test]
fn argument_aliases_are_unique_and_allowed_only_for_server_tools() {
    let aliases = |value: Value| {
        let found = faults(|m| set(m, &read("aliases"), value));
        found.into_iter().map(|fault| (fault.field, fault.problem)).collect::<Vec<_>>()
    };
    let parameter = {
        let manifest = ledger();
        let name = manifest.pointer(&read("input_schema_ref")).unwrap().as_str().unwrap();
        let schema = &manifest["schemas"][name.trim_start_matches("#/schemas/")];
        schema["properties"].as_object().unwrap().keys().next().unwrap().clone()
    };
    assert!(aliases(json!({"arguments": {&parameter: "sku"}, "result": {"sku": "id"}})).is_empty());
    let unknown = aliases(json!({"arguments": {"colour": "sku"}}));
    assert_eq!(unknown[0].0, read("aliases/arguments/colour"), "{unknown:?}");
    let elsewhere = faults(|m| {
        m["tools"]["tools"][0].as_object_mut().unwrap().remove("mcp");
        set(m, &read("kind"), json!("other"));
        set(m, &read("program"), json!({"command": "./greet.sh"}));
        set(m, &read("aliases"), json!({"arguments": {&parameter: "sku"}}));
    });
    assert!(
        elsewhere.iter().any(|fault| fault.field == read("aliases/arguments")),
        "{elsewhere:?}"
    );
}

fn remove(manifest: &mut Value, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    manifest.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name).unwrap();
}

const READ: &str = "/tools/tools/0";
const BOOK: &str = "/tools/tools/1";

/// A member of the manifest, a wrong value for it, the location of the fault, and a part of the
/// fault's message.
type Case = (String, Value, String, &'static str);

fn read(member: &str) -> String {
    format!("{READ}/{member}")
}

fn book(member: &str) -> String {
    format!("{BOOK}/{member}")
}

#[expect(clippy::too_many_lines, reason = "a table with one entry per fault")]
fn wrong_shapes() -> Vec<Case> {
    vec![
        // shape
        ("/manifest_version".into(), json!(2), "/manifest_version".into(), "above 1"),
        ("/id".into(), json!("Big Name"), "/id".into(), "does not have the form"),
        ("/title".into(), json!(7), "/title".into(), "must be text in quotes"),
        ("/colour".into(), json!("red"), "/colour".into(), "not a member of the format"),
        (
            "/agent".into(),
            json!({"id": "x", "name": "x", "summary": "x"}),
            "/agent/prompt".into(),
            "`prompt` is missing",
        ),
        (
            "/agent/conversation".into(),
            json!({"mode": "everything"}),
            "/agent/conversation/mode".into(),
            "must be one of `no-need`",
        ),
        (
            "/agent/conversation".into(),
            json!({"max_messages": 0}),
            "/agent/conversation/max_messages".into(),
            "below 1",
        ),
        (
            "/agent/conversation".into(),
            json!({"summary": {"max_messages_since_update": 0, "max_tokens_since_update": 0}}),
            "/agent/conversation/summary/max_messages_since_update".into(),
            "a threshold needs one of them",
        ),
        ("/tools/max_steps".into(), json!(21), "/tools/max_steps".into(), "above 20"),
        ("/tools/max_steps".into(), json!(0), "/tools/max_steps".into(), "below 1"),
        (read("kind"), json!("magic"), read("kind"), "must be one of `http_api`"),
        (
            read("timeouts"),
            json!({"timeout_ms": 300_001}),
            read("timeouts/timeout_ms"),
            "above 300000",
        ),
        (
            read("input_schema_ref"),
            json!("Read"),
            read("input_schema_ref"),
            "does not have the form",
        ),
        (
            read("offline/slots/0"),
            json!({"parameter": "account", "kind": "entity"}),
            read("offline/slots/0/entity"),
            "is missing",
        ),
        (read("offline/slots/0/word"), json!("x"), read("offline/slots/0/word"), "not a member"),
        // servers
        (
            "/servers/0/http".into(),
            json!({"url": "https://mcp.example.com/mcp"}),
            "/servers/0/http".into(),
            "a program or an address",
        ),
        (
            "/servers/0".into(),
            json!({"name": "ledger"}),
            "/servers/0".into(),
            "how the server is reached",
        ),
        (
            "/servers/0/elsewhere".into(),
            json!({"url": "gone", "token_url": "t", "client_id": "c", "scope": "s", "client_secret": "LEDGER_SECRET"}),
            "/servers/0/elsewhere/url".into(),
            "no setting of the pack",
        ),
        (
            "/servers/0/elsewhere".into(),
            json!({"url": "u", "token_url": "t", "client_id": "c", "scope": "s", "client_secret": "s3cret value"}),
            "/servers/0/elsewhere/client_secret".into(),
            "not the name of a variable",
        ),
        (
            "/servers/0".into(),
            json!({"name": "ledger", "http": {"url": "mcp.example.com"}}),
            "/servers/0/http/url".into(),
            "not a web address",
        ),
        (
            "/servers/0".into(),
            json!({"name": "ledger", "http": {"url": "http://mcp.example.com/"}}),
            "/servers/0/http/url".into(),
            "without encryption",
        ),
        (
            "/servers/0".into(),
            json!({"name": "ledger", "data_dir": true, "http": {"url": "https://mcp.example.com/"}}),
            "/servers/0/data_dir".into(),
            "for programs",
        ),
        (
            "/servers/0".into(),
            json!({"name": "ledger", "http": {"url": "https://mcp.example.com/", "headers": {"X-Key": "s3cret value"}}}),
            "/servers/0/http/headers/X-Key".into(),
            "not the name of a credential",
        ),
        (
            "/servers/0".into(),
            json!({"name": "ledger", "http": {"url": "https://mcp.example.com/", "auth": {"kind": "bearer_token"}}}),
            "/servers/0/http/auth/env_var".into(),
            "where the credential comes from",
        ),
        (
            "/servers/0".into(),
            json!({"name": "ledger", "http": {"url": "hTTp:mcp.example.com/mcp"}}),
            "/servers/0/http/url".into(),
            "without encryption",
        ),
        (
            "/servers/0".into(),
            json!({"name": "ledger", "http": {"url": "https://mcp.example.com/", "auth": {"kind": "oauth2"}}}),
            "/servers/0/http/oauth".into(),
            "how tokens are got",
        ),
        (
            "/servers/0".into(),
            json!({"name": "ledger", "http": {"url": "https://mcp.example.com/", "auth": {"kind": "oauth2"}, "oauth": {"grant": "client_credentials"}}}),
            "/servers/0/http/oauth".into(),
            "an id and a secret",
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table with one entry per fault")]
fn wrong_references() -> Vec<Case> {
    let double = ledger().pointer(READ).unwrap().clone();
    let mut alike = double.clone();
    alike["id"] = json!("ledger_read");
    vec![
        // references and schemas
        (
            read("output_schema_ref"),
            json!("#/schemas/Gone"),
            read("output_schema_ref"),
            "`schemas` has no `Gone`",
        ),
        (
            "/schemas/Book/properties/account/$ref".into(),
            json!("#/schemas/Gone"),
            "/schemas/Book/properties/account/$ref".into(),
            "has no `Gone`",
        ),
        (
            "/schemas/Error/$ref".into(),
            json!("https://example.org/x"),
            "/schemas/Error/$ref".into(),
            "is not of the form",
        ),
        (
            "/schemas/Error/$ref".into(),
            json!("file:///etc/passwd"),
            "/schemas/Error/$ref".into(),
            "is not of the form",
        ),
        (
            "/schemas/Account/type".into(),
            json!("word"),
            "/schemas/Account/type".into(),
            "not a valid JSON Schema",
        ),
        (
            "/schemas/Account/pattern".into(),
            json!("("),
            "/schemas/Account".into(),
            "cannot be used",
        ),
        (
            "/schemas/Error".into(),
            json!({"$ref": "#/schemas/Error"}),
            "/schemas/Error".into(),
            "only refers to itself",
        ),
        ("/schemas/a-b".into(), json!({}), "/schemas/a-b".into(), "cannot be referred to"),
        (
            read("input_schema_ref"),
            json!("#/schemas/Account"),
            read("input_schema_ref"),
            "must be an object",
        ),
        // tools
        ("/tools/tools/2".into(), double, "/tools/tools/2/id".into(), "`ledger.read` occurs twice"),
        ("/tools/tools/2".into(), alike, "/tools/tools/2/id".into(), "both become `ledger_read`"),
        (
            book("idempotency"),
            json!({"strategy": "none"}),
            book("retry/max_attempts"),
            "repeated without a way",
        ),
        (read("kind"), json!("database"), read("kind"), "not supported"),
        (read("kind"), json!("queue"), read("kind"), "not supported"),
        (read("kind"), json!("filesystem"), read("kind"), "not supported"),
        (read("kind"), json!("http_api"), read("http"), "needs `http`"),
        (read("kind"), json!("other"), read("program"), "needs `program`"),
        (read("kind"), json!("internal_service"), read("service"), "needs `service`"),
        (read("service"), json!("x"), read("service"), "does not belong"),
        (read("mcp/server"), json!("gone"), read("mcp/server"), "`servers` has no `gone`"),
        (read("do_not_use_when"), json!([" "]), read("do_not_use_when"), "slow tool"),
        (read("grantable"), json!(true), read("grantable"), "only a tool with effect `write`"),
        (
            book("auth"),
            json!({"kind": "api_key"}),
            book("auth/env_var"),
            "where the credential comes from",
        ),
        (
            book("auth"),
            json!({"kind": "bearer_token", "env_var": "LEDGER_TOKEN"}),
            book("auth"),
            "not shown a credential of its own",
        ),
        (
            book("idempotency"),
            json!({"strategy": "header"}),
            book("idempotency/strategy"),
            "does not reach an MCP server",
        ),
        (
            read("idempotency"),
            json!({"strategy": "hash_payload"}),
            read("idempotency/strategy"),
            "does not reach an MCP server",
        ),
        (
            book("idempotency"),
            json!({"strategy": "payload_field"}),
            book("idempotency/strategy"),
            "does not reach an MCP server",
        ),
        (
            book("session_values/0/pointer"),
            json!("clerk"),
            book("session_values/0/pointer"),
            "not a JSON pointer",
        ),
        // parameters
        (
            book("parameters/clerkId/exempt_from_hash"),
            json!(true),
            book("parameters/clerkId/exempt_from_hash"),
            "not be bound",
        ),
        (
            book("parameters/gone"),
            json!({"owner": "caller"}),
            book("parameters/gone"),
            "no parameter `gone`",
        ),
        (
            book("parameters/amount"),
            json!({"owner": "default"}),
            book("parameters/amount/owner"),
            "filled by default",
        ),
        (
            book("parameters/amount"),
            json!({"owner": "model", "from": "x"}),
            book("parameters/amount/from"),
            "only means something",
        ),
        (
            read("offline/slots/0/parameter"),
            json!("gone"),
            read("offline/slots/0/parameter"),
            "no parameter `gone`",
        ),
        (
            "/offline".into(),
            json!({"metric_queries": "gone"}),
            "/offline/metric_queries".into(),
            "no tool `gone`",
        ),
        ("/offline".into(), json!({"charts": "ledger.read"}), "/offline".into(), "only beside"),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table with one entry per fault")]
fn wrong_contents() -> Vec<Case> {
    let demand = |applies: Value| json!({"approvals": [{"id": "a", "mode": "human_required", "applies_to": applies}]});
    let applies = "/security/approvals/0/applies_to";
    vec![
        // approvals that the pack requires
        ("/security".into(), json!({"approvals": []}), "/security/approvals".into(), "too short"),
        (
            "/security".into(),
            json!({"approvals": [{"id": "a", "mode": "none", "applies_to": {}}]}),
            "/security/approvals/0/mode".into(),
            "must be",
        ),
        ("/security".into(), demand(json!({})), applies.into(), "no tool"),
        (
            "/security".into(),
            demand(json!({"tool_ids": ["ledger.read", "gone"]})),
            format!("{applies}/tool_ids/1"),
            "no tool `gone`",
        ),
        (
            "/security".into(),
            demand(json!({"tool_ids": ["ledger.bookEntry"]})),
            book("grantable"),
            "cannot be allowed for a session",
        ),
        (
            "/security".into(),
            demand(json!({"side_effect_level": "write"})),
            book("grantable"),
            "cannot be allowed for a session",
        ),
        // previews and templates
        (
            book("preview/reads/0/tool"),
            json!("ledger.bookEntry"),
            book("preview/reads/0/tool"),
            "not read-only",
        ),
        (
            book("preview/reads/0/tool"),
            json!("gone"),
            book("preview/reads/0/tool"),
            "no tool `gone`",
        ),
        (
            book("preview/reads/0/name"),
            json!("args"),
            book("preview/reads/0/name"),
            "already has a variable",
        ),
        (
            book("preview/reads/0/arguments"),
            json!({"gone": 1}),
            book("preview/reads/0/arguments/gone"),
            "no parameter `gone`",
        ),
        (book("preview/template"), json!("{{ args."), book("preview/template"), "does not parse"),
        (
            book("preview/template"),
            json!("../book.jinja"),
            book("preview/template"),
            "leads out of the pack",
        ),
        (
            book("preview/template"),
            json!("/etc/book.jinja"),
            book("preview/template"),
            "leads out of the pack",
        ),
        (book("preview/template"), json!("gone.jinja"), book("preview/template"), "does not exist"),
        (
            read("offline/intents/0/answer/en"),
            json!("{% if %}"),
            read("offline/intents/0/answer/en"),
            "does not parse",
        ),
        (
            read("offline/intents/0/answer/eng"),
            json!("x"),
            read("offline/intents/0/answer/eng"),
            "not a language",
        ),
        // servers
        (
            "/servers/0/command".into(),
            json!("../server"),
            "/servers/0/command".into(),
            "leads out of the pack",
        ),
        (
            "/servers/0/command".into(),
            json!("/bin/sh"),
            "/servers/0/command".into(),
            "leads out of the pack",
        ),
        (
            "/servers/0/command".into(),
            json!("./gone"),
            "/servers/0/command".into(),
            "does not exist",
        ),
        (
            "/servers/0/command".into(),
            json!("sh -c ls"),
            "/servers/0/command".into(),
            "not the name of a program",
        ),
        (
            "/servers/0/command".into(),
            json!("server"),
            "/servers/0/command".into(),
            "does not begin with `./`",
        ),
        (
            "/servers/0/command".into(),
            json!("./book.jinja"),
            "/servers/0/command".into(),
            "may not be executed",
        ),
        ("/servers/0/command".into(), json!("./"), "/servers/0/command".into(), "is not a file"),
        (
            "/servers/0/command".into(),
            json!("npx"),
            "/servers/0/command".into(),
            "the search path is not used",
        ),
        (
            "/servers/0/command".into(),
            json!("uvx"),
            "/servers/0/command".into(),
            "the search path is not used",
        ),
        (
            "/servers/0/command".into(),
            json!("sh"),
            "/servers/0/command".into(),
            "the search path is not used",
        ),
        (
            "/servers/0/env/0".into(),
            json!("DBUS_SESSION_BUS_ADDRESS"),
            "/servers/0/env/0".into(),
            "session bus",
        ),
        (
            "/servers/0/env/0".into(),
            json!("A=b"),
            "/servers/0/env/0".into(),
            "not the name of a variable",
        ),
        (
            "/servers/1".into(),
            json!({"name": "ledger", "command": "countersign-shop"}),
            "/servers/1/name".into(),
            "occurs twice",
        ),
        // entities
        (
            "/entities/1/aliases".into(),
            json!(["TILL"]),
            "/entities/1/aliases/0".into(),
            "already means another account",
        ),
        ("/entities/1/id".into(), json!("1"), "/entities/1/id".into(), "occurs twice"),
    ]
}

#[test]
fn every_manifest_check_reports_field_and_problem() {
    for (pointer, value, field, words) in
        wrong_shapes().into_iter().chain(wrong_references()).chain(wrong_contents())
    {
        let found = faults(|manifest| set(manifest, &pointer, value.clone()));
        let told = found.iter().any(|f| {
            f.file == "pack.json"
                && f.field == field
                && f.problem.contains(words)
                && !f.fix.is_empty()
        });
        assert!(told, "{pointer} = {value}: no fault at {field} with {words:?} in {found:#?}");
    }
}

#[test]
fn a_command_that_cannot_exist_is_reported_with_a_hint() {
    for (command, words) in [
        ("npx", "#!/usr/bin/env node"),
        ("node", "npm install --prefix"),
        ("uvx", "virtual environment"),
        ("python3", "virtual environment"),
        ("sh", "#!/bin/sh"),
        ("docker", "`http` instead of `command`"),
        ("my-server", "chmod +x"),
        ("server", "write `./server`"),
        ("./book.jinja", "chmod +x ./book.jinja"),
    ] {
        let found = faults(|manifest| set(manifest, "/servers/0/command", json!(command)));
        assert!(
            found.len() == 1
                && found[0].field == "/servers/0/command"
                && found[0].fix.contains(words),
            "{command}: {found:#?}"
        );
    }
}

#[test]
fn a_missing_manifest_member_is_reported_at_its_field() {
    for pointer in [
        "/id",
        "/schemas",
        "/tools/tools/0/use_when",
        "/tools/tools/1/retry/backoff",
        "/tools/tools/0/mcp",
    ] {
        let found = faults(|manifest| remove(manifest, pointer));
        assert!(found.iter().any(|f| f.field == pointer), "{pointer}: {found:#?}");
    }
}

#[test]
fn all_problems_of_a_manifest_are_listed_at_once() {
    let found = faults(|manifest| {
        set(manifest, "/version", json!(3));
        set(manifest, "/servers/0/command", json!("../x"));
        set(manifest, &format!("{BOOK}/idempotency/strategy"), json!("none"));
        set(manifest, &format!("{READ}/latency"), json!("sluggish"));
        set(manifest, "/entities/1/name", json!("cash"));
        set(manifest, "/schemas/Account/type", json!("word"));
    });
    let mut fields: Vec<&str> = found.iter().map(|f| f.field.as_str()).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "/entities/1/name",
            "/schemas/Account/type",
            "/servers/0/command",
            "/tools/tools/0/latency",
            "/tools/tools/1/retry/max_attempts",
            "/version"
        ]
    );
}

#[test]
fn a_manifest_that_is_not_json_is_reported_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pack.json"), "{\n  \"id\": \"x\",\n  oops\n}").unwrap();
    let loaded = packs::check_folder(folder.path());
    assert!(loaded.pack.is_none());
    let fault = &loaded.view.faults[0];
    assert_eq!((fault.file.as_str(), fault.field.as_str()), ("pack.json", "line 3"));
    assert!(fault.problem.contains("not valid JSON") && fault.fix.contains("line 3"), "{fault:?}");
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(loaded.view.id.as_str(), name, "it is shown under its folder's name");
}

#[test]
fn unreadable_text_and_duplicate_members_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let told = |bytes: &[u8], words: &str| {
        fs::write(folder.path().join("pack.json"), bytes).unwrap();
        let found = packs::check_folder(folder.path()).view.faults;
        assert!(found.iter().any(|f| f.problem.contains(words)), "{words}: {found:?}");
    };
    told(b"{\"id\": \"\xff\"}", "not UTF-8");
    told(&vec![b' '; 2 * 1024 * 1024], "larger than");
    told(b"[]", "must be an object");
    told(b"{\"id\": \"a\", \"id\": \"b\"}", "given twice");
}

#[test]
fn an_error_in_a_template_file_is_reported_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    write_pack(folder.path(), &ledger());
    fs::write(folder.path().join("book.jinja"), "{\n{{ args. }}\n}").unwrap();
    let found = packs::check_folder(folder.path()).view.faults;
    assert_eq!(
        (found.len(), found[0].file.as_str(), found[0].field.as_str()),
        (1, "book.jinja", "line 2"),
        "{found:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_outside_the_pack_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_pack(folder.path(), &ledger());
    fs::remove_file(folder.path().join("server")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", folder.path().join("server")).unwrap();
    let found = packs::check_folder(folder.path()).view.faults;
    assert_eq!(found[0].field, "/servers/0/command");
    assert!(found[0].problem.contains("link that leads out"), "{found:?}");
}
