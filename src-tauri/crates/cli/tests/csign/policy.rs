//! Tests of which calls may run, with `policy check` and with real calls: the rules file, grants,
//! the kill switches.

use std::fs;

use serde_json::Value;

use crate::terminal::Terminal;
use crate::world::{Ran, SHOE, World, text};

fn rules(world: &World, json: &str) {
    fs::create_dir_all(world.data()).expect("made");
    fs::write(world.data().join("policy.json"), json).expect("written");
}

fn settings(world: &World, toml: &str) {
    fs::create_dir_all(world.data()).expect("made");
    fs::write(world.data().join("countersign.toml"), toml).expect("written");
}

fn add() -> String {
    format!(r#"{{"partNo":"{SHOE}","quantity":2}}"#)
}

fn check(world: &World, code: i32) -> Value {
    world
        .run(&["--json", "policy", "check", "--tool", "cart.addItem", "--args", &add()])
        .ends_with(code)
        .json()
}

fn call(world: &World, code: i32) -> Value {
    world.run(&["--json", "tools", "call", "cart.addItem", "--args", &add()]).ends_with(code).json()
}

#[test]
fn policy_check_gives_the_same_verdict_as_the_call_itself() {
    let world = World::new();
    assert_eq!(text(&check(&world, 3), "verdict"), "ask");
    call(&world, 3);

    rules(
        &world,
        r#"{"rules": [{"id": "no-carts", "action": "deny", "tool": "cart.*", "reason": "Not this week."}]}"#,
    );
    let denied = check(&world, 4);
    assert_eq!(
        (text(&denied, "verdict"), text(&denied, "why")),
        ("deny", "Rule no-carts denies cart.*: Not this week.")
    );
    let refused = call(&world, 4);
    assert!(
        text(&refused["error"], "message").contains("Rule no-carts denies cart.*: Not this week."),
        "{refused}"
    );
    assert_eq!(refused["error"]["details"]["approvable"], false);

    // The shop requires an approval of every cart change, even if the profile allows it.
    rules(&world, r#"{"rules": [{"id": "fine", "action": "allow", "tool": "cart.*"}]}"#);
    settings(&world, "policy = \"writes_allowed\"\n");
    let asked = check(&world, 3);
    assert_eq!(
        (text(&asked, "verdict"), text(&asked, "why")),
        ("ask", "This pack requires your approval for every call of cart.addItem.")
    );
    call(&world, 3);
    let coerced = world
        .run(&[
            "--json",
            "policy",
            "check",
            "--tool",
            "cart.addItem",
            "--args",
            &add().replace("\"quantity\":2", "\"quantity\":\"2\""),
        ])
        .ends_with(3)
        .json();
    assert_eq!(coerced["arguments"]["quantity"], 2, "judged is what the tool would get");
    world
        .run(&[
            "--json",
            "policy",
            "check",
            "--tool",
            "cart.addItem",
            "--args",
            r#"{"quantity": 2}"#,
        ])
        .ends_with(1);
    world.run(&["--json", "policy", "check", "--tool", "no.such"]).ends_with(1);

    settings(&world, "policy = \"read_only_only\"\n");
    assert_eq!(text(&check(&world, 4), "why"), "The policy allows reading only.");
    let refused = call(&world, 4);
    assert_eq!(
        (text(&refused["error"], "code"), &refused["error"]["details"]["approvable"]),
        ("approval_required", &false.into())
    );
}

#[test]
fn an_unreadable_rule_requires_approval_and_its_line_is_shown() {
    let world = World::new();
    rules(
        &world,
        "{\"rules\": [\n  {\"id\": \"a\", \"action\": \"allow\", \"tool\": \"*\"},\n  {\"id\": \"b\", \"action\": \"permit\", \"tool\": \"*\"}\n]}",
    );
    let asked = check(&world, 3);
    assert!(text(&asked, "why").contains("rules[1], line 3"), "{asked}");
    call(&world, 3);
    insta::assert_snapshot!(world.transcript(&[&["policy", "show"]]));
    assert!(world.run(&["doctor"]).out.contains("rules[1], line 3"));

    rules(&world, "{");
    assert!(text(&check(&world, 3), "why").contains("line 1"));
    fs::remove_file(world.data().join("policy.json")).expect("removed");
    fs::create_dir(world.data().join("policy.json")).expect("made");
    let asked = world.run(&["--json", "policy", "check", "--tool", "cart.get"]).ends_with(3).json();
    assert!(
        text(&asked, "why").contains("policy.json"),
        "what cannot be read asks, reads too: {asked}"
    );
}

#[test]
fn a_switch_disables_one_tool_or_one_agent() {
    let world = World::new();
    settings(&world, "[switches]\ntools_off = [\"cart.get\"]\n");
    for args in [
        &["--json", "tools", "call", "cart.get"][..],
        &["--json", "policy", "check", "--tool", "cart.get"],
    ] {
        let ran = world.run(args).json();
        let error = &ran["error"];
        assert_eq!(
            (text(error, "code"), &error["details"]["reason"], &error["details"]["tool_id"]),
            ("agent_disabled", &"tool_off".into(), &"cart.get".into()),
            "{ran}"
        );
    }
    world
        .run(&["--json", "tools", "call", "product.search", "--args", r#"{"query":"ridge"}"#])
        .ends_with(0);

    let packs = world.run(&["--json", "tools", "list"]).ends_with(0).json();
    assert!(packs.to_string().contains("cart.get"), "what is off is still listed");
    settings(&world, "[switches]\nagents_off = [\"shopper\"]\n");
    let ran = world
        .run(&["--json", "tools", "call", "product.search", "--args", r#"{"query":"ridge"}"#])
        .json();
    assert_eq!(ran["error"]["details"]["reason"], "agent_off", "{ran}");
    world
        .run(&["--json", "tools", "call", "recall", "--args", r#"{"about": "account 17"}"#])
        .ends_with(0);
}

#[test]
fn a_pending_action_of_a_switched_off_tool_stays_pending() {
    let world = World::new();
    let waiting = world.pending();
    settings(&world, "decide_from_terminal = true\n[switches]\ntools_off = [\"cart.addItem\"]\n");
    let list = world.run(&["--json", "approvals", "list"]).ends_with(0).json();
    assert_eq!(list[0]["id"], waiting["id"], "it stays pending");
    assert_eq!(list[0]["status"], "pending");
}

/// Installs a pack with the id of one of the shop's tools, whose program records that it ran.
fn install_untrusted_pack(world: &World) -> std::path::PathBuf {
    world.run(&["packs", "new", "stranger", "--kind", "program"]).ends_with(0);
    let folder = world.data().join("tools/stranger");
    let manifest = fs::read_to_string(folder.join("pack.json")).expect("made");
    let mut manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    manifest["tools"]["tools"][0]["id"] = "cart.addItem".into();
    manifest["tools"]["tools"][0]["side_effect_level"] = "write".into();
    manifest.as_object_mut().expect("an object").remove("acceptance");
    fs::write(folder.join("pack.json"), manifest.to_string()).expect("written");
    folder
}

#[test]
fn rules_still_apply_to_both_tools_if_another_pack_has_a_tool_of_the_same_id() {
    let world = World::new();
    install_untrusted_pack(&world);
    let listed = world.run(&["--json", "tools", "list"]).ends_with(0).json().to_string();
    assert!(
        listed.contains("shop:cart.addItem") && listed.contains("stranger:cart.addItem"),
        "{listed}"
    );
    let calls =
        [("shop:cart.addItem", add()), ("stranger:cart.addItem", r#"{"who": "Ada"}"#.to_owned())];
    let each = |code: i32| {
        calls
            .iter()
            .map(|(tool, args)| {
                world.run(&["--json", "tools", "call", tool, "--args", args]).ends_with(code).json()
            })
            .collect::<Vec<_>>()
    };

    let ask = "policy = \"writes_allowed\"\n";
    settings(&world, ask);
    rules(&world, r#"{"rules": [{"id": "no", "action": "deny", "tool": "cart.addItem"}]}"#);
    for refused in each(4) {
        assert!(
            text(&refused["error"], "message").contains("Rule no denies cart.addItem."),
            "{refused}"
        );
    }
    rules(&world, "{}");
    settings(&world, &format!("{ask}[switches]\ntools_off = [\"cart.addItem\"]\n"));
    for (tool, args) in &calls {
        let refused = world.run(&["--json", "tools", "call", tool, "--args", args]).json();
        assert_eq!(refused["error"]["details"]["reason"], "tool_off", "{refused}");
    }
    settings(&world, "policy = \"writes_require_approval\"\n");
    rules(
        &world,
        r#"{"rules": [{"id": "yes", "action": "allow", "tool": "cart.addItem"}], "grants": [{"id": "g", "tool": "cart.addItem", "expires_at": "2099-01-01T00:00:00Z"}]}"#,
    );
    each(3);
    let kept =
        world.run(&["--json", "audit", "list", "--type", "policy_decision"]).ends_with(0).json();
    assert_eq!(
        kept["records"].as_array().map(Vec::len),
        Some(4),
        "each refusal has a record: {kept}"
    );
    let intents =
        world.run(&["--json", "audit", "list", "--type", "tool_intent"]).ends_with(0).json();
    let ran = intents["records"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|record| text(record, "tool").ends_with("cart.addItem"))
        .count();
    assert_eq!(ran, 0, "only previews were read: {intents}");
}

#[test]
fn a_pipe_in_place_of_a_configuration_file_is_reported() {
    let world = World::new();
    world.run(&["policy", "show"]).ends_with(0);
    let pack = world.data().join("tools/odd");
    fs::create_dir_all(&pack).expect("made");
    let places = ["countersign.toml", "policy.json", "prices.toml", "tools/odd/pack.json"]
        .map(|name| world.data().join(name));
    for place in &places {
        assert!(std::process::Command::new("mkfifo").arg(place).status().expect("runs").success());
    }
    let request = world.path("request").display().to_string();
    std::os::unix::fs::symlink("/dev/zero", &request).expect("linked");
    let refused = "it is a pipe, a socket or a device, not a file";
    let told = |args: &[&str]| {
        let ran = world.run(args);
        format!("{}{}", ran.out, ran.err)
    };
    let doctor = told(&["doctor"]);
    let is_told =
        |name: &str| doctor.lines().any(|line| line.contains(name) && line.contains(refused));
    assert!(is_told("countersign.toml") && is_told("policy.json"), "{doctor}");
    assert!(told(&["packs", "check", &pack.display().to_string()]).contains(refused));
    assert!(told(&["run", "--request", &request]).contains(refused));
    // No message contains a key from a file that cannot be parsed.
    for (place, text) in places.iter().zip([
        "policy = \"sk-secret-1\"\n",
        "{\"rules\": [{\"id\": \"a\", \"action\": \"sk-secret-1\", \"tool\": \"*\"}]}",
        "[[price]]\nmodel = \"x\"\ninput_usd = \"sk-secret-1\"\noutput_usd = 1\n",
        "{\"id\": \"odd\", \"tools\": \"sk-secret-1\" x",
    ]) {
        fs::remove_file(place).expect("removed");
        fs::write(place, text).expect("written");
    }
    let check = told(&["packs", "check", &pack.display().to_string()]);
    let all = [told(&["doctor"]), told(&["policy", "show"]), told(&["ask", "hello"]), check];
    assert!(all[0].contains("line 1, column"), "{}", all[0]);
    assert!(all[1].contains("the field `action`"), "{}", all[1]);
    for said in all {
        assert!(!said.contains("secret"), "{said}");
    }
}

/// Runs a command while a pipe replaces a file.
fn run_with_a_pipe(world: &World, place: &std::path::Path) -> Ran {
    let kept = world.path("kept");
    let was_there = fs::rename(place, &kept).is_ok();
    fs::create_dir_all(place.parent().expect("a folder")).expect("made");
    assert!(std::process::Command::new("mkfifo").arg(place).status().expect("runs").success());
    let ran = world.run(&["ask", "hello"]);
    // The app may have created its own file there.
    fs::remove_file(place).expect("removed");
    if was_there {
        fs::rename(&kept, place).expect("put back");
    }
    ran
}

#[test]
fn a_pipe_in_place_of_a_data_file_does_not_block_a_command() {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    for name in [
        "installation",
        "lock",
        "countersign.db",
        "countersign.db-wal",
        "countersign.db-journal",
        "audit.db-wal",
        "audit.db-journal",
    ] {
        let ran = run_with_a_pipe(&world, &world.data().join(name));
        let said = format!("{}{}", ran.out, ran.err);
        assert_ne!(ran.code, 0, "{name}: {said}");
        assert!(said.contains("is a pipe") && said.contains(name), "{name}: {said}");
    }
    // Without these files, the command continues.
    for name in [
        "tool-definitions.json",
        "tool-definitions.new",
        "servers/one/server.json",
        "backups/countersign.checked",
        "logs/csign.log",
        "audit.index.db",
    ] {
        run_with_a_pipe(&world, &world.data().join(name)).ends_with(0);
    }
    // The log contains no key from such a file.
    for (name, text) in [
        ("tool-definitions.json", "{\"version\": \"sk-secret-1\"}"),
        ("servers/one/server.json", "{\"name\": \"one\", \"args\": \"sk-secret-1\"}"),
    ] {
        fs::write(world.data().join(name), text).expect("written");
    }
    world.run(&["ask", "hello"]).ends_with(0);
    let log = fs::read_to_string(world.data().join("logs/csign.log")).expect("a log");
    for (name, why) in [
        ("tool-definitions.json", "it is a pipe"),
        ("server.json", "it is a pipe"),
        ("tool-definitions.json", "invalid type: string …"),
        ("server.json", "invalid type: string …"),
    ] {
        let is_told = |line: &str| line.contains(name) && line.contains(why);
        assert!(log.lines().any(is_told), "{name}: {log}");
    }
    assert!(!log.contains("sk-secret-1"), "{log}");
    // A pipe in place of a copy of the checkpoint must have been created by somebody else, so it
    // raises an alarm.
    let states = fs::read_dir(world.path("state/countersign")).expect("a folder");
    let mark = states
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.to_string_lossy().ends_with(".mark.json"))
        .expect("a mark");
    let ran = run_with_a_pipe(&world, &mark).ends_with(5);
    assert!(format!("{}{}", ran.out, ran.err).contains("mark.json: it is a pipe"), "{}", ran.err);
}

#[test]
fn a_destination_is_allowed_at_a_terminal_and_revoked_anywhere() {
    let world = World::new();
    let list = || world.run(&["--json", "policy", "destinations"]).ends_with(0).json();
    let allow = ["policy", "destinations", "--allow", "host:https://Docs.example/a"];
    let refused = world.run(&[&["--json"], allow.as_slice()].concat()).ends_with(3).json();
    assert_eq!(refused["error"]["details"]["reason"], "no_terminal", "{refused}");
    assert_eq!(list()["allowances"], serde_json::json!([]));

    let (seen, code) = Terminal::start(&world, &allow).end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("Allowed: host https://Docs.example/a, always."), "{seen}");
    let listed = list();
    assert_eq!(listed["allowances"][0]["destination"]["name"], "docs.example", "{listed}");
    assert_eq!(listed["allowances"][0]["by"], "terminal");

    let revoke = ["policy", "destinations", "--revoke", "host:docs.example"];
    world.run(&revoke).ends_with(0);
    assert_eq!(list()["allowances"], serde_json::json!([]));
    world.run(&revoke).ends_with(1);
    world.run(&["policy", "destinations", "--allow", "nowhere"]).ends_with(2);
    world.run(&["audit", "verify"]).ends_with(0);
}
