//! Tests of output that cannot be written: on a full disk every command fails, and a closed pipe
//! ends a command quietly.

use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::world::{World, packs};

/// Runs a command whose output goes to a full disk. Returns its exit code and error output. A
/// command that does not end is killed.
fn to_a_full_disk(mut command: Command) -> (Option<i32>, String) {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("there");
    let mut child = command.stdout(full).stderr(Stdio::piped()).spawn().expect("started");
    let latest = Instant::now() + Duration::from_secs(120);
    while child.try_wait().expect("a child").is_none() && Instant::now() < latest {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    (child.wait().expect("ended").code(), said)
}

#[test]
fn every_command_fails_if_its_output_cannot_be_written() {
    let world = World::new();
    world.pending();
    let request = world.path("request.json");
    fs::write(&request, r#"{"contract_version": "1.0", "request_id": "r1", "input": "hello"}"#)
        .expect("written");
    let (request, shop, export) = (
        request.display().to_string(),
        packs().join("shop").display().to_string(),
        world.path("export").display().to_string(),
    );
    let commands: [&[&str]; 35] = [
        &["--help"],
        &["--version"],
        &["ask", "--help"],
        &["ask", "hello"],
        &["--json", "ask", "hello"],
        &["run", "--request", &request],
        &["run", "--request", &request, "--stream"],
        &["approvals", "list"],
        &["--json", "approvals", "list"],
        &["tools", "list"],
        &["--json", "tools", "list"],
        &["tools", "show", "cart.get"],
        &["--json", "tools", "show", "cart.get"],
        &["tools", "call", "cart.get"],
        &["--json", "tools", "call", "cart.get"],
        &["policy", "show"],
        &["--json", "policy", "show"],
        &["policy", "check", "--tool", "cart.get"],
        &["audit", "list", "--all"],
        &["--json", "audit", "list"],
        &["audit", "show", "1"],
        &["audit", "verify"],
        &["--json", "audit", "verify"],
        &["audit", "export", &export],
        &["audit", "checkpoint"],
        &["packs", "list"],
        &["--json", "packs", "list"],
        &["packs", "check", &shop],
        &["packs", "new", "mine"],
        &["--json", "data", "list"],
        &["service-level"],
        &["doctor"],
        &["--json", "doctor"],
        &["serve", "--listen", "127.0.0.1:0"],
        &["--json", "serve", "--listen", "127.0.0.1:0"],
    ];
    let mut wrong = Vec::new();
    for args in commands {
        let (code, said) = to_a_full_disk(world.command(args));
        if code != Some(1)
            || !said.contains("error: The output could not be written: No space left on device")
            || said.contains("panicked")
        {
            wrong.push(format!("{args:?} ended with {code:?} and said: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The work of the command is still done.
    assert!(world.path("export").is_dir() && world.data().join("tools/mine/pack.json").is_file());
    // An error that should have been printed as JSON is printed on standard error instead.
    let (code, said) = to_a_full_disk(world.command(&["--json", "tools", "show", "no.such.tool"]));
    assert!(
        code == Some(1) && said.contains("no.such.tool") && said.contains("could not be written"),
        "{code:?}: {said}"
    );
}

#[test]
fn a_closed_output_pipe_ends_a_command_without_an_error_message() {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    for args in [
        &["--json", "tools", "list"][..],
        &["tools", "list"],
        &["--json", "ask", "What do you remember about account 17?"],
        &["ask", "hello"],
        &["--help"],
    ] {
        let mut child = world
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        drop(child.stdout.take());
        let ended = child.wait_with_output().expect("ended");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(
            ended.status.signal(),
            Some(libc::SIGPIPE),
            "{args:?} ends as other programs do: {} {said}",
            ended.status
        );
        assert!(!said.contains("error") && !said.contains("panicked"), "{args:?}: {said}");
    }
    world.run(&["audit", "verify"]).ends_with(0);
    assert_eq!(
        world.run(&["--json", "doctor"]).ends_with(0).json()["ok"],
        true,
        "everything was put down in order"
    );
}
