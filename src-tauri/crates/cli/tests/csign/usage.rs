//! Tests of help, wrong usage, the state of the installation, packs, and failures whose messages a
//! person must understand.

use std::fs;

use serde_json::json;

use crate::world::{World, packs};

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let world = World::new();
    insta::assert_snapshot!(world.transcript(&[
        &["--help"],
        &["ask", "--help"],
        &["run", "--help"],
        &["approvals", "--help"],
        &["approvals", "approve", "--help"],
        &["tools", "--help"],
        &["policy", "check", "--help"],
        &["audit", "--help"],
        &["packs", "check", "--help"],
    ]));
    assert!(!world.data().exists(), "help opens nothing");
}

#[test]
fn an_argument_that_is_not_utf_8_is_wrong_usage() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
    let world = World::new();
    let output = world
        .bare(crate::world::program())
        .arg("ask")
        .arg(OsStr::from_bytes(b"\xff"))
        .output()
        .expect("started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && !said.contains("panicked"), "{said}");
}

#[test]
fn wrong_usage_exits_with_2_and_changes_no_file() {
    let world = World::new();
    let wrong: [&[&str]; 8] = [
        &[],
        &["ask"],
        &["ask", "  "],
        &["nonsense"],
        &["ask", "--colour", "hello"],
        &["approvals", "approve", "a1"],
        &["audit", "show"],
        &["audit", "verify", "/nowhere/at/all"],
    ];
    insta::assert_snapshot!(world.transcript(&wrong));
    for args in wrong.iter().filter(|args| !args.is_empty()) {
        let ran = world.run(&[&["--json"], *args].concat()).ends_with(2).json();
        assert_eq!(
            (&ran["error"]["code"], &ran["error"]["details"]["reason"]),
            (&json!("invalid_input"), &json!("wrong_usage")),
            "{args:?}: {ran}"
        );
        assert!(
            ran["error"]["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty() && !text.starts_with("error:")),
            "{args:?}: {ran}"
        );
    }
    assert!(!world.data().exists());
    let ran = world.run(&["tools", "call", "cart.get", "--args", "[1]"]).ends_with(2);
    assert!(ran.err.contains("hint: Write them like this"), "{}", ran.err);
}

#[test]
fn failures_are_reported_in_one_sentence_with_a_hint() {
    let world = World::new();
    fs::write(world.path("file"), "in the way").expect("written");
    let blocked = world.path("file").join("data");
    let ran = world
        .bare(crate::world::program())
        .arg("--data-dir")
        .arg(&blocked)
        .args(["ask", "hello"])
        .output()
        .expect("started");
    let err = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{err}");
    assert!(
        err.starts_with("error: ") && err.contains("\nhint: ") && err.lines().count() == 2,
        "{err}"
    );
    for word in ["panicked", "stack", "src/", "RUST_BACKTRACE"] {
        assert!(!err.contains(word), "{err}");
    }

    let error = world.run(&["--json", "tools", "show", "no.such.tool"]).ends_with(1).json();
    assert_eq!(error["error"]["code"], "tool_not_found");
    let error = world.run(&["--json", "approvals", "show", "none"]).ends_with(1).json();
    assert_eq!(error["error"]["details"]["reason"], "not_found");
}

/// Runs `csign` in its own mount namespace, after `script` has mounted a file system on the data
/// folder (`$1`). Returns None if mounting is not possible.
fn on_a_mount(world: &World, script: &str, args: &[&str]) -> Option<std::process::Output> {
    let can = world.bare("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !can.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this account cannot mount in a namespace of its own");
        return None;
    }
    let mut command = world.bare("unshare");
    let script = format!("set -e; data=\"$1\"; shift; {script}; exec \"$@\"");
    command
        .args(["-m", "sh", "-c", &script, "sh"])
        .arg(world.data())
        .arg(crate::world::program())
        .arg("--data-dir")
        .arg(world.data())
        .args(args);
    Some(command.output().expect("started"))
}

#[test]
fn a_data_folder_that_cannot_be_written_is_reported_with_a_hint() {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    let read_only = "mount --bind \"$data\" \"$data\"; mount -o remount,bind,ro \"$data\"";
    let full = "mkdir /mnt/old; cp -a \"$data\"/. /mnt/old/; mount -t tmpfs -o size=16m tmpfs \"$data\"; cp -a /mnt/old/. \"$data\"/; cat /dev/zero > \"$data\"/filler || true";
    for script in [read_only, &format!("mount -t tmpfs tmpfs /mnt; {full}")] {
        for args in [&["ask", "hello"][..], &["doctor"], &["approvals", "list"]] {
            let Some(ran) = on_a_mount(&world, script, args) else { return };
            let err = String::from_utf8_lossy(&ran.stderr)
                .replace("cat: write error: No space left on device\n", "");
            assert_eq!(ran.status.code(), Some(1), "{script} {args:?}: {err}");
            assert!(
                err.starts_with("error: ")
                    && err.contains("cannot be written")
                    && err.contains("\nhint: "),
                "{script} {args:?}: {err}"
            );
            assert!(err.lines().count() == 2 && !err.contains("panicked"), "{err}");
            let out = String::from_utf8_lossy(&ran.stdout);
            let told = ["failed   data folder: ", "ok       settings: ", "failed   profile: "];
            let answers = told.iter().all(|check| out.contains(check));
            assert_eq!(answers, args[0] == "doctor", "{script} {args:?}: {out}");
        }
    }
    world.run(&["ask", "hello"]).ends_with(0);
}

#[test]
fn agent_enabled_false_refuses_every_run() {
    let world = World::new();
    let ran = world.run_with("AGENT_ENABLED", "false", &["ask", "hello"]).ends_with(1);
    assert!(ran.err.contains("switched off") && ran.err.contains("hint: "), "{}", ran.err);
    let error = world
        .run_with("AGENT_ENABLED", "false", &["--json", "tools", "call", "cart.get"])
        .ends_with(1)
        .json();
    assert_eq!(error["error"]["code"], "agent_disabled");
}

#[test]
fn doctor_reports_checks_that_pass_and_warnings() {
    let world = World::new();
    let ran = world.run(&["doctor"]).ends_with(0);
    assert!(
        ran.out.contains("ok       data folder") && ran.out.contains("warning  keyring"),
        "{}",
        ran.out
    );
    let report = world.run(&["--json", "doctor"]).ends_with(0).json();
    assert_eq!(report["ok"], true);
}

#[test]
fn packs_check_reports_each_problem_of_a_manifest() {
    let world = World::new();
    let shop = packs().join("shop");
    let ran = world.run(&["packs", "check", shop.to_str().expect("a name")]).ends_with(0);
    assert!(ran.out.contains("no faults"), "{}", ran.out);

    let broken = world.path("broken");
    fs::create_dir(&broken).expect("made");
    fs::write(broken.join("pack.json"), r#"{"manifest_version": 7, "id": "Bad Id"}"#)
        .expect("written");
    let view = world
        .run(&["--json", "packs", "check", broken.to_str().expect("a name")])
        .ends_with(1)
        .json();
    assert!(view["faults"].as_array().is_some_and(|faults| faults.len() > 1), "{view}");
    let ran = world.run(&["packs", "check", broken.to_str().expect("a name")]).ends_with(1);
    assert!(ran.out.contains("fault pack.json"), "{}", ran.out);
    world.run(&["packs", "check", "/nowhere/at/all"]).ends_with(2);
}

#[test]
fn tools_are_listed_shown_and_called() {
    let world = World::new();
    insta::assert_snapshot!(world.transcript(&[
        &["tools", "list"],
        &["tools", "show", "product.search"],
        &["tools", "show", "no.such.tool"],
    ]));
    let found = world
        .run(&[
            "--json",
            "tools",
            "call",
            "product.search",
            "--args",
            r#"{"query":"ridge runner"}"#,
        ])
        .ends_with(0)
        .json();
    assert_eq!(found["outcome"], "ok");
    assert!(found["data"]["items"].as_array().is_some_and(|items| !items.is_empty()), "{found}");
    let refused =
        world.run(&["--json", "tools", "call", "product.get", "--args", r#"{"productId":"x"}"#]);
    assert_eq!(refused.code, 1, "{}", refused.out);
}
