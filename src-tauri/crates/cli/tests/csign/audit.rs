//! Tests of the log through `csign`: listing, verification, export, and the report about a changed
//! log.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::keyring::Keyring;
use crate::terminal::Terminal;
use crate::world::{Ran, World, text};

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
fn a_log_verifies_until_it_is_changed() {
    let world = World::new();
    world.run(&["ask", "What do you remember about account 17?"]).ends_with(0);
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
fn an_older_copy_of_the_log_is_detected() {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    let log = world.data().join("audit.db");
    let old = fs::read(&log).expect("read");
    world.run(&["ask", "what can you do?"]).ends_with(0);
    fs::write(&log, old).expect("restored");
    world.run(&["audit", "verify"]).ends_with(5);
}

#[test]
fn an_export_verifies_in_any_folder_until_it_is_changed() {
    let world = World::new();
    world.run(&["ask", "What do you remember about account 17?"]).ends_with(0);
    let folder = world.path("export");
    let name = folder.to_str().expect("a name");
    let written = world.run(&["--json", "audit", "export", name]).ends_with(0).json();
    assert!(written["records"].as_u64().is_some_and(|n| n >= 5), "{written}");
    let page =
        world.run(&["--json", "audit", "list", "--type", "log_exported"]).ends_with(0).json();
    assert_eq!(page["records"][0]["fields"]["origin"], "terminal", "{page}");
    assert_eq!(page["records"][0]["fields"]["records"], written["records"], "{page}");
    world.run(&["audit", "verify", name]).ends_with(0);
    replace(&folder.join("records.jsonl"), "\"recall\"", "\"recalm\"");
    world.run(&["audit", "verify", name]).ends_with(5);
    world.run(&["audit", "export", name]).ends_with(1);
}

#[test]
fn records_are_listed_and_shown() {
    let world = World::new();
    world.run(&["ask", "--session", "s1", "What do you remember about account 17?"]).ends_with(0);
    let page =
        world.run(&["--json", "audit", "list", "--type", "tool_outcome"]).ends_with(0).json();
    let [record] = page["records"].as_array().expect("records").as_slice() else {
        panic!("one call: {page}")
    };
    assert_eq!((text(record, "tool"), text(record, "session")), ("recall", "s1"));
    let seq = record["seq"].to_string();
    let shown = world.run(&["audit", "show", &seq]).ends_with(0).out;
    assert!(shown.contains("tool_outcome") && shown.contains(text(record, "leaf")), "{shown}");
    insta::assert_snapshot!(
        world.transcript(&[
            &["audit", "list", "--all", "--limit", "2"],
            &["audit", "show", "999999"],
        ])
    );
    assert!(world.run(&["audit", "checkpoint"]).ends_with(0).out.starts_with("Signed: "));
}

#[test]
fn audit_list_shows_questions_whose_ids_audit_show_and_replay_accept() {
    let world = World::new();
    world.run(&["ask", "--session", "s1", "What do you remember about account 17?"]).ends_with(0);
    world.run(&["ask", "--session", "s2", "hello\nyou"]).ends_with(0);
    // Listing the memories is recorded, too, but is not a question.
    world.run(&["memory", "list"]).ends_with(0);
    let page = world.run(&["--json", "audit", "list"]).ends_with(0).json();
    let entries = page["entries"].as_array().expect("entries");
    let asked: Vec<&str> = entries.iter().map(|entry| text(entry, "question")).collect();
    assert_eq!(asked, ["hello\nyou", "What do you remember about account 17?"], "{page}");
    let turn = text(&entries[1], "turn");
    let lines = world.run(&["audit", "list"]).ends_with(0).out;
    let lines: Vec<&str> = lines.lines().collect();
    assert!(lines.len() == 2 && lines[0].ends_with("hello you"), "{lines:?}");
    let printed = lines[1].split_whitespace().next().expect("a name");
    assert_eq!(printed, turn);

    insta::assert_snapshot!(world.transcript(&[
        &["audit", "list"],
        &["audit", "show", printed],
        &["audit", "show", "no-such-question"],
    ]));
    let whole = world.run(&["--json", "audit", "show", printed]).ends_with(0).json();
    assert_eq!(whole["entry"], entries[1]);
    let records = whole["records"].as_array().map_or(0, Vec::len);
    assert_eq!(entries[1]["records"], records, "{whole}");

    world.run(&["replay", printed]).ends_with(0);
    let first = entries[1]["first"].to_string();
    world.run(&["replay", &first]).ends_with(0);
    let refused = world.run(&["replay", "1"]).ends_with(2);
    assert!(refused.err.contains("belongs to no question"), "{}", refused.err);
    let all = world.run(&["--json", "audit", "list", "--all"]).ends_with(0).json();
    assert!(all["records"].as_array().is_some_and(|all| all.len() > 10), "{all}");
}

#[test]
fn records_are_found_by_agent_tool_decision_time_and_words() {
    let world = World::new();
    world.run(&["ask", "--session", "s1", "What do you remember about account 17?"]).ends_with(0);
    world.run(&["ask", "--session", "s2", "add 2 ridge runner black size 42"]).ends_with(3);
    let pending = world.run(&["--json", "approvals", "list"]).ends_with(0).json();
    world.run(&["approvals", "reject", text(&pending[0], "id")]).ends_with(0);
    let list = |args: &[&str]| {
        let args = [&["--json", "audit", "list", "--all"], args].concat();
        let page = world.run(&args).ends_with(0).json();
        page["records"].as_array().expect("records").clone()
    };
    let rejected = list(&["--decision", "rejected"]);
    assert_eq!(rejected.len(), 1, "{rejected:?}");
    assert_eq!(text(&rejected[0], "tool"), "cart.addItem");
    assert!(list(&["--decision", "rejected", "--session", "s1"]).is_empty());
    let called = list(&["--tool", "recall", "--event", "tool_outcome"]);
    assert_eq!(called.len(), 1, "{called:?}");
    let asked = list(&["--search", "account remem", "--event", "run_started"]);
    let [asked] = asked.as_slice() else { panic!("one question: {asked:?}") };
    assert_eq!(asked["revealed"]["input"], "What do you remember about account 17?");
    assert_eq!(asked["fields"]["origin"], "terminal");
    assert!(asked["revealed"]["person"].as_str().is_some_and(|name| !name.is_empty()), "{asked}");
    assert!(list(&["--until", "2026-11-20"]).is_empty());
    assert!(!list(&["--since", "2026-11-21", "--until", "2026-11-22"]).is_empty());
    assert!(list(&["--agent", "nobody"]).is_empty());
}

#[test]
fn a_command_that_only_reads_leaves_one_record() {
    let world = World::new();
    world.run(&["policy", "show"]).ends_with(0);
    let count = || {
        let report = world.run(&["--json", "audit", "verify"]).ends_with(0).json();
        report["records"].as_u64().expect("a number")
    };
    let before = count();
    world.run(&["policy", "show"]).ends_with(0);
    // Without a keyring, each start also records a new key.
    assert_eq!(count(), before + 2, "that the log was opened, and with which key");
}

#[test]
fn verifying_a_folder_without_a_log_is_an_error() {
    let world = World::new();
    let ran = world.run(&["audit", "verify"]).ends_with(1);
    assert!(ran.err.contains("There is no log in"), "{}", ran.err);
    assert!(!world.data().join("audit.db").exists(), "reading makes nothing");
}

/// Returns the files below a folder that contain the text.
fn files_with(folder: &Path, text: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(text.len()).any(|part| part == text.as_bytes())
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn an_erased_conversation_is_in_no_file_and_the_log_still_verifies() {
    let world = World::new();
    // No product has this name, so that the text is found only in messages, arguments and results.
    let secret = "quixotelamp";
    let ask = format!("show me {secret} tents under 731 kr");
    world.run(&["ask", "--session", "s1", &ask]).ends_with(0);
    let note = format!("Remember that {secret} is a secret");
    let mut terminal = Terminal::start(&world, &["ask", "--session", "s1", &note]);
    terminal.wait_for("Approve? [y/N]");
    terminal.type_in("y\n");
    terminal.end();
    let notes = world.run(&["--json", "memory", "list"]).ends_with(0).json();
    assert_eq!(notes["memories"].as_array().map(Vec::len), Some(1), "{notes}");
    world.run(&["ask", "--session", "s2", "show me boots"]).ends_with(0);
    // A day later, there is also a copy of the database.
    world.run_at("2026-11-23T10:00:00Z", &["ask", "--session", "s2", "hello"]).ends_with(0);
    let names = |paths: Vec<std::path::PathBuf>| -> Vec<String> {
        paths.iter().map(|path| path.display().to_string()).collect()
    };
    let before = names(files_with(&world.data(), secret));
    assert!(before.iter().any(|path| path.contains("countersign.db")), "{before:?}");
    assert!(before.iter().any(|path| path.contains("audit.db")), "{before:?}");
    assert!(before.iter().any(|path| path.contains("backups")), "{before:?}");

    // A search creates an index, which also contains the text.
    let later = "2026-11-23T11:00:00Z";
    let search = ["--json", "audit", "list", "--all", "--search", secret];
    let found = world.run_at(later, &search).ends_with(0).json();
    assert!(found["records"].as_array().is_some_and(|all| all.len() >= 3), "{found}");
    assert!(names(files_with(&world.data(), secret)).iter().any(|path| path.contains("index.db")));
    let refused = world.run_at(later, &["audit", "erase", "--session", "s1"]).ends_with(3);
    assert!(refused.err.contains("Only a person at a terminal"), "{}", refused.err);
    let mut terminal = Terminal::start(&world, &["audit", "erase", "--session", "s1"]);
    terminal.wait_for("Type the id of the conversation to erase it:");
    terminal.type_in("s2\n");
    let (seen, code) = terminal.end();
    assert_eq!((code, seen.contains("Nothing was erased.")), (Some(1), true), "{seen}");
    assert!(!files_with(&world.data(), secret).is_empty());

    let seen = erase(&world, "s1");
    assert!(seen.contains("the log still verifies"), "{seen}");
    assert_eq!(names(files_with(&world.data(), secret)), Vec::<String>::new());

    let found = world.run(&search).ends_with(0).json();
    assert_eq!(found["records"], serde_json::json!([]), "{found}");
    let report = world.run(&["--json", "audit", "verify"]).ends_with(0).json();
    assert_eq!(report["ok"], true, "{report}");
    let page = world.run(&["--json", "audit", "list", "--type", "session_erased"]).ends_with(0);
    let page = page.json();
    assert_eq!(page["records"][0]["session"], "s1", "{page}");
    assert!(page["records"][0]["fields"]["values"].as_u64().is_some_and(|n| n > 0), "{page}");
    // The other conversation is unchanged.
    let args = ["--json", "audit", "list", "--all", "--session", "s2"];
    let other = world.run(&args).ends_with(0).json();
    let outcome = |record: &&serde_json::Value| record["record_type"] == "tool_outcome";
    let records = other["records"].as_array().expect("records");
    let revealed = &records.iter().find(outcome).expect("a call")["revealed"];
    assert!(revealed.as_object().is_some_and(|values| values.values().any(|v| !v.is_null())));
    let folder = world.path("export");
    world.run(&["audit", "export", folder.to_str().expect("a name")]).ends_with(0);
    assert_eq!(names(files_with(&folder, secret)), Vec::<String>::new());
    world.run(&["audit", "verify", folder.to_str().expect("a name")]).ends_with(0);
}

/// Erases a session at a terminal. Returns the output.
fn erase(world: &World, session: &str) -> String {
    let mut terminal = Terminal::start(world, &["audit", "erase", "--session", session]);
    terminal.wait_for("Type the id of the conversation to erase it:");
    terminal.type_in(&format!("{session}\n"));
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    seen
}

#[test]
fn an_erasure_lists_other_conversations_that_used_the_erased_memories() {
    let world = World::new();
    let secret = "quixotelamp";
    let note = format!("Remember that {secret} reports in CET");
    let mut terminal = Terminal::start(&world, &["ask", "--session", "s1", &note]);
    terminal.wait_for("Approve? [y/N]");
    terminal.type_in("y\n");
    terminal.end();
    let recall = format!("What do you remember about {secret}?");
    let answer = world.run(&["ask", "--session", "s2", &recall]).ends_with(0);
    assert!(answer.out.contains("reports in CET"), "{}", answer.out);
    world.run(&["ask", "--session", "s3", "show me boots"]).ends_with(0);

    let seen = erase(&world, "s1");
    assert!(seen.contains("csign audit erase --session s2"), "{seen}");
    assert!(!seen.contains("--session s3"), "{seen}");
    assert!(!files_with(&world.data(), secret).is_empty(), "the other one repeats it");
    let seen = erase(&world, "s2");
    assert!(!seen.contains("csign audit erase"), "nobody got memories of s2: {seen}");
    assert_eq!(files_with(&world.data(), secret), Vec::<std::path::PathBuf>::new());
    let seen = erase(&world, "s1");
    assert!(!seen.contains("csign audit erase"), "nothing is left to erase: {seen}");
    world.run(&["audit", "verify"]).ends_with(0);
}

#[test]
fn an_erasure_also_removes_values_from_logs_that_were_set_aside() {
    let world = World::new();
    let secret = "quixotelamp";
    world.run(&["ask", "--session", "s1", &format!("show me {secret} tents")]).ends_with(0);
    replace(&world.data().join("audit.db"), r#""duration_ms":"#, r#""duration_mz":"#);
    world.run(&["ask", "hello"]).ends_with(5);
    world.at_a_terminal(&["doctor", "--accept-new-log"]).ends_with(0);
    world.run(&["ask", "--session", "s2", "hello"]).ends_with(0);
    let names = |found: Vec<std::path::PathBuf>| -> Vec<String> {
        found.iter().map(|path| path.display().to_string()).collect()
    };
    let before = names(files_with(&world.data(), secret));
    assert!(before.iter().any(|path| path.contains("set-aside")), "{before:?}");
    erase(&world, "s1");
    assert_eq!(names(files_with(&world.data(), secret)), Vec::<String>::new());
    world.run(&["audit", "verify"]).ends_with(0);
}

#[test]
fn recorded_values_are_kept_for_the_configured_number_of_days() {
    let world = World::new();
    let secret = "quixotelamp";
    let ask = format!("show me {secret} tents under 731 kr");
    world.run(&["ask", "--session", "s1", &ask]).ends_with(0);
    fs::write(world.data().join("countersign.toml"), "[audit]\nkeep_values_days = 30\n")
        .expect("written");
    world.run_at("2026-12-20T10:00:00Z", &["ask", "--session", "s2", "hello"]).ends_with(0);
    assert!(values_at(&world, "2026-12-20T11:00:00Z") > 0, "29 days later, the values are there");
    world.run_at("2026-12-22T10:00:00Z", &["ask", "--session", "s2", "hello"]).ends_with(0);
    assert_eq!(values_at(&world, "2026-12-22T11:00:00Z"), 0);
    let found = files_with(&world.data(), secret);
    assert!(found.iter().all(|path| !path.display().to_string().contains("audit")), "{found:?}");
    let page = world.run(&["--json", "audit", "list", "--type", "values_expired"]).ends_with(0);
    assert_eq!(page.json()["records"].as_array().map(Vec::len), Some(1));
    let report = world.run(&["--json", "audit", "verify"]).ends_with(0).json();
    assert_eq!(report["ok"], true, "{report}");
}

/// Returns how many values the session's records still have.
fn values_at(world: &World, now: &str) -> usize {
    let args = ["--json", "audit", "list", "--all", "--session", "s1"];
    let page = world.run_at(now, &args).ends_with(0).json();
    let records = page["records"].as_array().expect("records").clone();
    let values = records.iter().filter_map(|record| record["revealed"].as_object());
    values.flat_map(|values| values.values()).filter(|value| !value.is_null()).count()
}

#[test]
fn a_clock_far_ahead_expires_no_values_until_two_runs_a_day_apart_agree() {
    let world = World::new();
    world.run(&["ask", "--session", "s1", "show me quixotelamp tents"]).ends_with(0);
    fs::write(world.data().join("countersign.toml"), "[audit]\nkeep_values_days = 30\n")
        .expect("written");
    let hello = ["ask", "--session", "s2", "hello"];
    let postponed = |now: &str| {
        let args = ["--json", "audit", "list", "--type", "expiry_postponed"];
        let page = world.run_at(now, &args).ends_with(0).json();
        page["records"].as_array().expect("records").len()
    };
    for minute in ["10:00", "10:05", "15:30"] {
        let now = format!("2028-01-01T{minute}:00Z");
        world.run_at(&now, &hello).ends_with(0);
        assert!(values_at(&world, &now) > 0, "one day of a clock far ahead: {minute}");
        assert_eq!(postponed(&now), 1, "it is recorded once");
    }
    let told = world.run_at("2028-01-01T16:00:00Z", &["doctor"]);
    assert!(told.out.contains("Old values are kept, because the clock"), "{}", told.out);
    // If the clock is corrected, no values are lost.
    assert!(values_at(&world, "2026-11-26T10:00:00Z") > 0);
    let report = world.run(&["--json", "audit", "verify"]).ends_with(0).json();
    assert_eq!(report["ok"], true, "{report}");
    // If the time has really passed, the values expire.
    world.run_at("2028-02-01T10:00:00Z", &hello).ends_with(0);
    assert!(values_at(&world, "2028-02-01T10:01:00Z") > 0);
    world.run_at("2028-02-02T10:30:00Z", &hello).ends_with(0);
    assert_eq!(values_at(&world, "2028-02-02T10:31:00Z"), 0);
    let told = world.run_at("2028-02-02T10:32:00Z", &["doctor"]);
    assert!(!told.out.contains("Old values are kept"), "{}", told.out);
}

#[test]
fn one_session_is_exported_with_proofs() {
    let world = World::new();
    world.run(&["ask", "--session", "s1", "What do you remember about account 17?"]).ends_with(0);
    world.run(&["ask", "--session", "s2", "What do you remember about account 23?"]).ends_with(0);
    let folder = world.path("one");
    let name = folder.to_str().expect("a name");
    let args = ["--json", "audit", "export", name, "--session", "s1"];
    let written = world.run(&args).ends_with(0).json();
    assert!(written["records"].as_u64().is_some_and(|n| n > 0), "{written}");
    let records = fs::read_to_string(folder.join("records.jsonl")).expect("read");
    assert!(records.lines().all(|line| line.contains("\"s1\"")), "{records}");
    assert!(folder.join("proofs.jsonl").is_file());
    world.run(&["audit", "verify", name]).ends_with(0);
    replace(&folder.join("records.jsonl"), "\"recall\"", "\"recalm\"");
    world.run(&["audit", "verify", name]).ends_with(5);
    let none = world.path("none");
    let args = ["audit", "export", none.to_str().expect("a name"), "--session", "unknown"];
    let refused = world.run(&args).ends_with(1);
    assert!(refused.err.contains("no signed record of the session unknown"), "{}", refused.err);
}

const LIST: [&str; 5] = ["--json", "audit", "list", "--type", "approval_resolved"];

/// Approves a change of the cart at a terminal. Returns the number of the record of the approval.
fn approve_at_terminal(world: &World, script: Command, mut list: Command) -> String {
    let question = ["ask", "--session", "s1", "add 2 ridge runner black size 42 to my cart"];
    let mut terminal = Terminal::start_with(script, "", world, &question);
    terminal.wait_for("Approve? [y/N]");
    terminal.type_in("y\n");
    assert_eq!(terminal.end().1, Some(0));
    let page = Ran::of(list.output().expect("csign runs")).ends_with(0).json();
    let records = page["records"].as_array().expect("records");
    let approved = records.iter().find(|record| record["status"] == "approved");
    approved.expect("approved")["seq"].to_string()
}

#[test]
fn a_decision_is_exported_as_a_receipt() {
    let world = World::new();
    let seq = approve_at_terminal(&world, world.bare("script"), world.command(&LIST));
    let folder = world.path("receipt");
    let name = folder.to_str().expect("a name");
    let written = world.run(&["audit", "export", name, "--record", &seq]).ends_with(0);
    // The export itself is recorded, so the exporting process has signed the log and signs the
    // statement.
    assert!(written.out.contains("1 receipt, with signed statements"), "{}", written.out);
    let page = fs::read_to_string(folder.join("receipt.html")).expect("read");
    for part in ["add 2 ridge runner black size 42 to my cart", "a terminal", "Ridge Runner", &seq]
    {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    world.run(&["audit", "verify", name]).ends_with(0);
    replace(&folder.join(format!("receipts/{seq}.tlog-proof")), "\nindex ", "\nInDex ");
    let damaged = world.run(&["audit", "verify", name]).ends_with(5);
    assert!(damaged.out.contains(&format!("receipts/{seq}.tlog-proof")), "{}", damaged.out);
    let none = world.path("none");
    let none = none.to_str().expect("a name");
    let refused = world.run(&["audit", "export", none, "--record", "1"]).ends_with(1);
    assert!(refused.err.contains("Record 1 belongs to no decision."), "{}", refused.err);
    world.run(&["audit", "export", none, "--record", "1", "--session", "s1"]).ends_with(2);
}

#[test]
fn the_keyrings_key_signs_the_statements_of_an_export() {
    let world = World::new();
    let keyring = Keyring::start(&world);
    let list = keyring.csign(&world, &LIST);
    let seq = approve_at_terminal(&world, keyring.command(&world, "script"), list);
    let folder = world.path("export");
    let name = folder.to_str().expect("a name");
    let export = keyring.csign(&world, &["audit", "export", name]).output().expect("csign runs");
    let written = Ran::of(export).ends_with(0);
    assert!(written.out.contains("1 receipt, with signed statements."), "{}", written.out);
    assert!(folder.join(format!("receipts/{seq}.cose")).is_file());
    assert!(folder.join("tiles/tile/entries").is_dir());
    Ran::of(keyring.csign(&world, &["audit", "verify", name]).output().expect("csign runs"))
        .ends_with(0);
}

/// Returns the process ids of running `csign` processes that erase in this world.
fn find_erasing(world: &World) -> Vec<String> {
    let data = world.data().display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("read").flatten() {
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let parts: Vec<&str> = line.split('\0').collect();
        let is_csign = parts.first().is_some_and(|program| program.ends_with("/csign"));
        if is_csign && parts.contains(&data.as_str()) && parts.contains(&"erase") {
            found.push(entry.file_name().display().to_string());
        }
    }
    found
}

#[test]
fn an_erasure_that_is_killed_raises_no_alarm_and_can_be_repeated() {
    let secret = "quixotelamp";
    let ask = format!("show me {secret} tents under 731 kr");
    let erase = ["audit", "erase", "--session", "s1"];
    for moment in 0..10 {
        let world = World::new();
        world.run(&["ask", "--session", "s1", &ask]).ends_with(0);
        world.run(&["ask", "--session", "s2", "show me boots"]).ends_with(0);
        let mut terminal = Terminal::start(&world, &erase);
        terminal.wait_for("Type the id of the conversation to erase it:");
        terminal.type_in("s1\n");
        std::thread::sleep(std::time::Duration::from_millis(moment * 3));
        for process in find_erasing(&world) {
            std::process::Command::new("kill").args(["-KILL", &process]).status().expect("killed");
        }
        terminal.end();
        world.run(&["audit", "verify"]).ends_with(0);
        let mut terminal = Terminal::start(&world, &erase);
        terminal.wait_for("Type the id of the conversation to erase it:");
        terminal.type_in("s1\n");
        let (seen, code) = terminal.end();
        assert_eq!(code, Some(0), "moment {moment}: {seen}");
        assert_eq!(files_with(&world.data(), secret), Vec::<std::path::PathBuf>::new());
        world.run(&["audit", "verify"]).ends_with(0);
        let other = world.run(&["--json", "search", "boots"]).ends_with(0).json();
        assert!(other.to_string().contains("s2"), "the other conversation is there: {other}");
    }
}
