//! Checkpoints that others confirm: a real witness from a registry and a time stamp authority of
//! `openssl`, both on this computer. Invalid confirmations are refused and recorded.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::keyring::Keyring;
use crate::world::{Ran, World, text};

const TODAY: &str = "2026-11-21";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn foreign(program: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| repository().join("target"), PathBuf::from);
    let program = target.join("audit-python/bin").join(program);
    assert!(program.is_file(), "the checkers are not installed; run `make setup-test`");
    program
}

/// A service that runs until it is dropped.
struct Service {
    child: Child,
    address: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the service prints where it listens.
fn listening(mut child: Child, says: impl Read + Send + 'static) -> Service {
    let mut lines = BufReader::new(says);
    loop {
        let mut line = String::new();
        assert!(lines.read_line(&mut line).expect("read") > 0, "the service ended");
        let Some((_, rest)) = line.split_once("listening on ") else { continue };
        let address = rest.split_whitespace().next().expect("an address").to_owned();
        assert!(child.try_wait().expect("known").is_none());
        // The remaining output is read, so that the service never blocks on it.
        std::thread::spawn(move || std::io::copy(&mut lines.into_inner(), &mut std::io::sink()));
        return Service { child, address };
    }
}

fn authority(arguments: &[&str]) -> Service {
    let mut child = Command::new("python3")
        .arg(repository().join("tests/audit/authority.py"))
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let says = child.stdout.take().expect("piped");
    listening(child, says)
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// Creates a witness that trusts the log's key. Returns the witness's configuration and its own
/// key.
fn make_witness(world: &World, name: &str, log_key: &str) -> (PathBuf, String) {
    let folder = world.path(name.rsplit('/').next().expect("a name"));
    fs::create_dir_all(&folder).expect("made");
    let config = folder.join("witness.json");
    let own = |command: &str| {
        let mut run = Command::new(foreign("aics-witness"));
        run.arg(command).arg("--config").arg(&config);
        run
    };
    let key = output(own("init").args(["--name", name]));
    let (origin, _) = log_key.split_once('+').expect("a vkey");
    output(own("add-log").args(["--origin", origin, "--vkey", log_key]));
    (config, key)
}

fn serve_witness(config: &Path) -> Service {
    let mut child = Command::new(foreign("aics-witness"))
        .args(["serve", "--listen", "127.0.0.1:0", "--config"])
        .arg(config)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the witness starts");
    let says = child.stderr.take().expect("piped");
    listening(child, says)
}

fn settings(world: &World, lines: &str) {
    fs::write(world.data().join("countersign.toml"), format!("[audit]\n{lines}\n"))
        .expect("written");
}

/// Returns the reasons for refused confirmations in the log.
fn refusals(csign: &dyn Fn(&[&str]) -> Ran) -> Vec<String> {
    let args = ["--json", "audit", "list", "--type", "attestation_refused"];
    let page = csign(&args).ends_with(0).json();
    let records = page["records"].as_array().expect("records");
    records.iter().map(|record| text(record, "status").to_owned()).collect()
}

#[test]
fn a_witness_cosigns_checkpoints_and_its_invalid_answers_are_refused() {
    let world = World::new();
    let keyring = Keyring::start(&world);
    let csign = |args: &[&str]| Ran::of(keyring.csign(&world, args).output().expect("csign runs"));
    csign(&["ask", "What do you remember about account 17?"]).ends_with(0);
    let export = |name: &str| -> PathBuf {
        let folder = world.path(name);
        csign(&["audit", "export", folder.to_str().expect("a name")]).ends_with(0);
        folder
    };
    let log_key = fs::read_to_string(export("first").join("key.vkey")).expect("read");
    let log_key = log_key.trim();
    let (config, key) = make_witness(&world, "witness.example/w1", log_key);
    let witness = serve_witness(&config);
    let with = |url: &str, key: &str| {
        settings(&world, &format!("witness_url = \"{url}\"\nwitness_key = \"{key}\""));
    };
    with(&witness.address, &key);
    for _ in 0..2 {
        // The second time, the witness receives a proof that the log only grew.
        csign(&["ask", "What do you remember about account 23?"]).ends_with(0);
        let made = csign(&["--json", "audit", "checkpoint"]).ends_with(0).json();
        let note = world.path("note");
        fs::write(&note, text(&made, "note")).expect("written");
        let verdict: Value =
            serde_json::from_str(&output(
                Command::new(foreign("python"))
                    .arg(repository().join("tests/audit/check.py"))
                    .args(["cosigned", note.to_str().expect("a name"), log_key, &key]),
            ))
            .expect("JSON");
        assert_eq!((&verdict["ok"], &verdict["size"]), (&Value::Bool(true), &made["size"]));
    }
    let folder = export("second");
    let cosigned = fs::read_to_string(folder.join(format!("witness/{TODAY}.checkpoint")));
    assert!(cosigned.expect("read").contains("\u{2014} witness.example/w1 "));
    csign(&["audit", "verify", folder.to_str().expect("a name")]).ends_with(0);
    assert_eq!(refusals(&csign), Vec::<String>::new());

    // With the key of another witness, the cosignature is missing.
    let (_, other) = make_witness(&world, "witness.example/w2", log_key);
    with(&witness.address, &other);
    csign(&["ask", "hello"]).ends_with(0);
    csign(&["audit", "checkpoint"]).ends_with(1);
    // One witness knows a longer log than this log, and another has forgotten this log.
    for (status, body) in [("409", "1000000\n"), ("409", "1\n"), ("422", "no\n")] {
        let liar = authority(&["answers", status, body]);
        with(&liar.address, &key);
        csign(&["audit", "checkpoint"]).ends_with(1);
    }
    let expected = ["inconsistent", "witness_forgot", "log_is_shorter", "no_cosignature"];
    assert_eq!(refusals(&csign), expected);
    // An unreachable service is not evidence against anyone.
    with("http://127.0.0.1:9", &key);
    csign(&["audit", "checkpoint"]).ends_with(1);
    assert_eq!(refusals(&csign).len(), expected.len());
    settings(&world, "");
    csign(&["audit", "checkpoint"]).ends_with(0);
    csign(&["audit", "verify"]).ends_with(0);
}

#[test]
fn a_timestamp_authority_stamps_one_checkpoint_a_day_that_openssl_verifies() {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    let keys = world.path("authority");
    let other = authority(&["other", keys.to_str().expect("a name")]);
    settings(&world, &format!("timestamp_url = \"{}\"", other.address));
    let refused = world.run(&["audit", "checkpoint"]).ends_with(1);
    assert!(refused.err.contains("is not about this log's checkpoint"), "{}", refused.err);
    drop(other);
    let run = |args: &[&str]| world.run(args);
    assert_eq!(refusals(&run), ["bad_time_stamp"]);

    let honest = authority(&["stamps", keys.to_str().expect("a name")]);
    settings(&world, &format!("timestamp_url = \"{}\"", honest.address));
    world.run(&["audit", "checkpoint"]).ends_with(0);
    let folder = world.path("export");
    world.run(&["audit", "export", folder.to_str().expect("a name")]).ends_with(0);
    let checkpoint = folder.join(format!("timestamps/{TODAY}.checkpoint"));
    let verify = || {
        Command::new("openssl")
            .args(["ts", "-verify", "-data"])
            .arg(&checkpoint)
            .arg("-in")
            .arg(folder.join(format!("timestamps/{TODAY}.tsr")))
            .arg("-CAfile")
            .arg(keys.join("ca.pem"))
            .output()
            .expect("openssl runs")
            .status
            .success()
    };
    assert!(verify());
    let notes = fs::read_to_string(folder.join("checkpoint.txt")).expect("read");
    let stamped = fs::read_to_string(&checkpoint).expect("read");
    assert!(notes.contains(&stamped), "what is stamped is a checkpoint of the log");
    fs::write(&checkpoint, stamped.replace("audit/", "audit-")).expect("written");
    assert!(!verify(), "a changed checkpoint is not what was stamped");
    // The next checkpoint on the same day is not stamped again.
    drop(honest);
    world.run(&["ask", "hello"]).ends_with(0);
    world.run(&["audit", "checkpoint"]).ends_with(0);
}
