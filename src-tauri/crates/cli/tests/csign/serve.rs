//! Tests of `csign serve`, which becomes the gateway's program. The gateway itself is tested in its
//! crate.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use kit::programs::program;
use serde_json::Value;

use crate::world::{self, Ran, World};

/// Starts a server. Returns the process and its first line of output.
fn start(mut command: Command) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("text");
    (child, line)
}

/// Sends a signal to a server. Returns its exit code and error output.
fn stop(mut child: Child, signal: i32) -> (Option<i32>, String) {
    // SAFETY: a signal to a child process that has not been waited for.
    unsafe { libc::kill(i32::try_from(child.id()).expect("a number"), signal) };
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    (child.wait().expect("ended").code(), said)
}

#[test]
fn serve_replaces_csign_with_the_gateway_and_exits_with_0_on_a_signal() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let world = World::new();
        let (child, line) =
            start(world.command(&["serve", "--listen", "127.0.0.1:0", "--no-token"]));
        assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}");
        let running = fs::read_link(format!("/proc/{}/exe", child.id())).expect("a process");
        assert_eq!(running, program("countersign-gateway").canonicalize().expect("a path"));
        let (code, said) = stop(child, signal);
        assert!(code == Some(0) && said.contains("Answers come from"), "{signal}: {code:?} {said}");
    }
}

#[test]
fn serve_passes_options_and_variables_to_the_gateway() {
    let world = World::new();
    let file = world.path("shop.env");
    fs::write(&file, "MAX_MESSAGE_CHARS=many\n").expect("written");
    let file = file.to_str().expect("a name");
    // The options common to all commands may stand before or after the name of the command.
    let before = world.run(&["--json", "serve", "--env-file", file]).ends_with(2);
    let after = world.run(&["serve", "--json", "--env-file", file]).ends_with(2);
    for ran in [before, after] {
        let error = ran.json()["error"].to_string();
        assert!(error.contains("MAX_MESSAGE_CHARS"), "{error}");
    }
    let ran = world.run_with("PORT", "none", &["serve"]).ends_with(2);
    assert!(ran.err.contains("PORT"), "{}", ran.err);
    let (child, line) =
        start(world.command(&["--json", "serve", "--listen", "127.0.0.1:0", "--no-token"]));
    let started: Value = serde_json::from_str(&line).expect("JSON");
    assert!(started["listening"].is_string(), "{started}");
    assert!(world.data().join("countersign.db").is_file(), "the data folder is the given one");
    stop(child, libc::SIGTERM);
}

#[test]
fn serve_without_the_gateway_program_is_an_error_with_a_hint() {
    let world = World::new();
    let bin = world.path("elsewhere");
    fs::create_dir(&bin).expect("made");
    fs::copy(world::program(), bin.join("csign")).expect("copied");
    let run = |args: &[&str]| {
        let mut command = world.bare(bin.join("csign"));
        // A program in the search path is not used.
        let path = program("countersign-gateway").with_file_name("");
        command.env("PATH", path).arg("--data-dir").arg(world.data()).args(args);
        Ran::of(command.output().expect("started")).ends_with(1)
    };
    let said = run(&["serve"]).err;
    let path = bin.join("countersign-gateway").display().to_string();
    assert!(said.contains(&format!("The program {path} does not exist.")), "{said}");
    assert!(said.contains("hint: Install Countersign again."), "{said}");
    let error = run(&["--json", "serve"]).json()["error"].clone();
    assert_eq!(error["details"]["reason"], "no_gateway", "{error}");
    assert!(!world.data().join("countersign.db").exists(), "no profile was made");
}

/// Returns the long options that a help text lists.
fn options(help: &str) -> BTreeSet<String> {
    let long = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("-h, ").or(line.strip_prefix("-V, ")).unwrap_or(line);
        line.strip_prefix("--")?.split_whitespace().next().map(str::to_owned)
    };
    help.lines().filter_map(long).collect()
}

#[test]
fn csign_serve_accepts_the_gateways_options_and_the_common_options() {
    let world = World::new();
    let ours = options(&world.run(&["serve", "--help"]).ends_with(0).out);
    let help = world.bare(program("countersign-gateway")).arg("--help").output().expect("started");
    let mut theirs = options(&String::from_utf8_lossy(&help.stdout));
    assert!(theirs.contains("env-file") && theirs.remove("version"), "{theirs:?}");
    theirs.insert("accept-new-log".to_owned());
    assert_eq!(ours, theirs);
}
