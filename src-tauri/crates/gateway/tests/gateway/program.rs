//! Tests of the program's command line: help, version, and wrong usage.

use serde_json::Value;

use crate::world::Gateway;

#[test]
fn help_lists_the_exit_codes_and_creates_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let ran = Gateway::command(&folder).arg("--help").output().unwrap();
    let help = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success());
    for part in
        ["Usage: countersign-gateway", "--listen", "--data-dir", "5 the log does not verify"]
    {
        assert!(help.contains(part), "{part} is missing in\n{help}");
    }
    let ran = Gateway::command(&folder).arg("--version").output().unwrap();
    let version = format!("countersign-gateway {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), version);
    assert!(!folder.path().join("data").exists(), "no profile was made");
}

#[test]
fn wrong_usage_exits_with_2_and_refers_to_help() {
    let folder = tempfile::tempdir().unwrap();
    for wrong in [&["--colour"][..], &["--listen", "nowhere"], &["serve"]] {
        let ran = Gateway::command(&folder).arg("--json").args(wrong).output().unwrap();
        let error: Value = serde_json::from_slice::<Value>(&ran.stdout).unwrap()["error"].take();
        assert_eq!(ran.status.code(), Some(2), "{wrong:?}: {error}");
        let hint = error["details"]["hint"].as_str().unwrap();
        assert_eq!(hint, "`countersign-gateway --help` shows all options.", "{wrong:?}");
    }
    assert!(!folder.path().join("data").exists(), "no profile was made");
}
