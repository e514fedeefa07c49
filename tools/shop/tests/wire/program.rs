//! Tests of the program's command line: help, wrong usage, and output that cannot be written.

use std::{
    ffi::OsStr,
    fs::OpenOptions,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use crate::PROGRAM;

/// Runs the program with its output to a full disk. Kills the program if it does not end.
fn run_to_a_full_disk(args: &[&str]) -> Output {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(args).stdin(Stdio::null()).stdout(full).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let latest = Instant::now() + Duration::from_secs(120);
    while child.try_wait().unwrap().is_none() && Instant::now() < latest {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    child.wait_with_output().unwrap()
}

#[test]
fn help_and_a_server_fail_if_their_output_cannot_be_written() {
    for args in [&["--help"][..], &["--http", "127.0.0.1:0"]] {
        let ran = run_to_a_full_disk(args);
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{args:?}: {told}");
        assert!(
            told.contains("could not be written") && !told.contains("panicked"),
            "{args:?}: {told}"
        );
    }
}

#[test]
fn help_succeeds_and_an_argument_that_is_not_utf_8_is_wrong_usage() {
    let help = Command::new(PROGRAM).arg("--help").output().unwrap();
    let shown = String::from_utf8_lossy(&help.stdout);
    assert!(help.status.success() && shown.contains("Usage: countersign-shop"), "{shown}");
    let wrong =
        Command::new(PROGRAM).arg("--http").arg(OsStr::from_bytes(b"\xff")).output().unwrap();
    let told = String::from_utf8_lossy(&wrong.stderr);
    assert!(wrong.status.code() == Some(2) && !told.contains("panicked"), "{told}");
}

#[test]
fn only_the_user_can_read_the_shops_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    // A person's shell lets other users read new files, so the program must prevent that.
    command.args(["-c", "umask 022; exec \"$0\" --stdio --data-dir \"$1\" </dev/null", PROGRAM]);
    command.arg(folder.path().join("shop")).output().unwrap();
    let files: Vec<_> = std::fs::read_dir(folder.path().join("shop"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!files.is_empty(), "the shop has files");
    for file in files {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", file.display());
    }
}
