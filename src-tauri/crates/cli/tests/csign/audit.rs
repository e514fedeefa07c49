//! Tests of the log through `csign`: listing, verification, export, and the report about a changed
//! log.

use std::fs;
use std::path::Path;

use crate::world::{World, text};

fn replace(path: &Path, from: &str, to: &str) {
    assert_eq!(from.len(), to.len(), "the file keeps its length");
    let mut bytes = fs::read(path).expect("read");
    let at = bytes
        .windows(from.len())
        .position(|part| part == from.as_bytes())
        .unwrap_or_else(|| panic!("{from} is in {}", path.display()));
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    fs::write(path, bytes).expect("written");
}

#[test]
fn a_log_verifies_until_someone_changes_it() {
    let world = World::new();
    world.run(&["ask", "How is account 17 pacing?"]).ends_with(0);
    let report = world.run(&["--json", "audit", "verify"]).ends_with(0).json();
    assert_eq!(report["ok"], true);
    assert!(report["records"].as_u64().is_some_and(|n| n >= 5), "{report}");
    let ran = world.run(&["audit", "verify"]).ends_with(0);
    assert!(
        ran.out.starts_with("Log verified:") && ran.out.contains("not anchored"),
        "{}",
        ran.out
    );

    replace(&world.data().join("audit.db"), r#""duration_ms":"#, r#""duration_mz":"#);
    let ran = world.run(&["audit", "verify"]).ends_with(5);
    assert!(
        ran.out.starts_with("Verification failed:") && ran.out.contains("record "),
        "{}",
        ran.out
    );
    let report = world.run(&["--json", "audit", "verify"]).ends_with(5).json();
    assert_eq!(report["ok"], false);
}

#[test]
fn an_old_copy_of_the_log_is_found_out() {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    let log = world.data().join("audit.db");
    let old = fs::read(&log).expect("read");
    world.run(&["ask", "what can you do?"]).ends_with(0);
    fs::write(&log, old).expect("restored");
    world.run(&["audit", "verify"]).ends_with(5);
}

#[test]
fn an_export_verifies_anywhere_until_someone_changes_it() {
    let world = World::new();
    world.run(&["ask", "How is account 17 pacing?"]).ends_with(0);
    let folder = world.path("export");
    let name = folder.to_str().expect("a name");
    let written = world.run(&["--json", "audit", "export", name]).ends_with(0).json();
    assert!(written["records"].as_u64().is_some_and(|n| n >= 5), "{written}");
    world.run(&["audit", "verify", name]).ends_with(0);
    replace(&folder.join("records.jsonl"), "analyze_portfolio_pacing", "analyze_portfolio_racing");
    world.run(&["audit", "verify", name]).ends_with(5);
    world.run(&["audit", "export", name]).ends_with(1);
}

#[test]
fn records_are_listed_and_shown() {
    let world = World::new();
    world.run(&["ask", "--session", "s1", "How is account 17 pacing?"]).ends_with(0);
    let page =
        world.run(&["--json", "audit", "list", "--type", "tool_outcome"]).ends_with(0).json();
    let [record] = page["records"].as_array().expect("records").as_slice() else {
        panic!("one call: {page}")
    };
    assert_eq!((text(record, "tool"), text(record, "session")), ("analyze_portfolio_pacing", "s1"));
    let seq = record["seq"].to_string();
    let shown = world.run(&["audit", "show", &seq]).ends_with(0).out;
    assert!(shown.contains("tool_outcome") && shown.contains(text(record, "leaf")), "{shown}");
    let few = world.run(&["audit", "list", "--limit", "2"]).ends_with(0);
    assert!(few.out.lines().count() == 2 && few.err.contains("--before"), "{}{}", few.out, few.err);
    assert!(world.run(&["audit", "checkpoint"]).ends_with(0).out.starts_with("Signed: "));
    world.run(&["audit", "show", "999999"]).ends_with(1);
}

#[test]
fn a_folder_without_a_log_says_so() {
    let world = World::new();
    let ran = world.run(&["audit", "verify"]).ends_with(1);
    assert!(ran.err.contains("There is no log in"), "{}", ran.err);
    assert!(!world.data().join("audit.db").exists(), "reading makes nothing");
}
