//! Tests of `csign memory`: only a person at a terminal can add and forget memories, and everybody
//! can list them.

use serde_json::{Value, json};

use crate::world::World;

/// Runs a command with `--json` and returns its document.
fn json_of(world: &World, args: &[&str]) -> Value {
    world.run(&[&["--json", "memory"], args].concat()).ends_with(0).json()
}

#[test]
fn a_memory_is_added_found_shown_exported_and_forgotten() {
    let world = World::new();
    let added = world.at_a_terminal(&["memory", "add", "'Account 17 reports in CET'"]).ends_with(0);
    assert!(added.out.contains("Remembered as memory"), "{}", added.out);
    world.at_a_terminal(&["memory", "add", "'Fakturor skickas den tredje'"]).ends_with(0);

    let list = json_of(&world, &["list"]);
    assert_eq!(list["memories"].as_array().map(Vec::len), Some(2), "{list:#}");
    let status = json_of(&world, &["status"]);
    assert_eq!((&status["memories"], &status["indexed"]), (&json!(2), &json!(2)), "{status:#}");
    let id = list["memories"][1]["id"].as_str().expect("an id").to_owned();
    let found = json_of(&world, &["search", "which zone for acount 17 reporting"]);
    assert_eq!(found["hits"][0]["memory"]["text"], "Account 17 reports in CET", "{found:#}");
    insta::assert_snapshot!(world.transcript(&[
        &["memory", "list"],
        &["memory", "status"],
        &["memory", "search", "när skickas fakturan"],
        &["memory", "search", "a joke please"],
        &["memory", "show", &id],
    ]));
    let export = world.run(&["memory", "export"]).ends_with(0).json();
    assert_eq!(export["memories"], list["memories"]);

    world.at_a_terminal(&["memory", "forget", &id]).ends_with(0);
    assert_eq!(json_of(&world, &["search", "account 17"])["hits"], json!([]));
    let gone = world.run(&["memory", "show", &id]).ends_with(1);
    assert!(gone.err.contains("There is no such memory."), "{}", gone.err);
    let reads =
        world.run(&["--json", "audit", "list", "--type", "memory_read"]).ends_with(0).json();
    assert!(reads["records"].as_array().is_some_and(|all| all.len() >= 5), "{reads:#}");
    world.run(&["audit", "verify"]).ends_with(0);
}

#[test]
fn only_a_person_at_a_terminal_changes_memories() {
    let world = World::new();
    for args in [
        ["add", "x y z"],
        ["forget", "memory_1"],
        ["pin", "memory_1"],
        ["unpin", "memory_1"],
        ["off", "s"],
        ["on", "s"],
    ] {
        let ran = world.run(&[&["memory"], &args[..]].concat()).ends_with(3);
        assert!(ran.err.contains("Only a person at a terminal"), "{}", ran.err);
    }
    assert_eq!(json_of(&world, &["list"])["memories"], json!([]));
}

#[test]
fn a_memory_requested_in_a_message_is_stored_only_after_approval() {
    let world = World::new();
    let ran = world.run(&["ask", "Remember that account 17 reports in CET"]).ends_with(3);
    assert!(ran.err.contains("approval"), "{}", ran.err);
    assert_eq!(json_of(&world, &["list"])["memories"], json!([]));
    let waiting = world.run(&["--json", "approvals", "list"]).ends_with(0).json();
    assert_eq!(waiting[0]["arguments"], r#"{"text":"account 17 reports in CET"}"#, "{waiting:#}");
    let answer = world.run(&["ask", "Vad minns du om konto 17?"]).ends_with(0).out;
    assert!(answer.contains("Jag minns inget om"), "{answer}");
}

#[test]
fn a_memory_is_pinned_edited_and_switched_off_for_a_session() {
    let world = World::new();
    world.at_a_terminal(&["memory", "add", "'Account 17 reports in CET'"]).ends_with(0);
    world.at_a_terminal(&["memory", "add", "'Invoices are due on the third'"]).ends_with(0);
    let id = json_of(&world, &["list"])["memories"][1]["id"].as_str().expect("an id").to_owned();
    let pinned = world.at_a_terminal(&["memory", "pin", &id]).ends_with(0).out;
    assert!(pinned.contains("pinned"), "{pinned}");
    assert_eq!(json_of(&world, &["list"])["memories"][0]["id"], json!(id), "pinned ones are first");
    world
        .at_a_terminal(&["memory", "edit", &id, "'Account 17 reports in Helsinki time'"])
        .ends_with(0);
    assert_eq!(json_of(&world, &["search", "which zone is CET"])["hits"], json!([]));
    let found = json_of(&world, &["search", "Helsinki time of account 17"]);
    assert_eq!(found["hits"][0]["memory"]["text"], "Account 17 reports in Helsinki time");
    assert!(found["hits"][0]["memory"]["edited_at"].is_string(), "{found:#}");
    world.at_a_terminal(&["memory", "unpin", &id]).ends_with(0);
    assert_eq!(json_of(&world, &["list"])["memories"][1]["id"], json!(id));

    world.run(&["ask", "--session", "s", "hello"]).ends_with(0);
    world.at_a_terminal(&["memory", "off", "s"]).ends_with(0);
    let refused = world.at_a_terminal(&["memory", "add", "--session", "s", "'x y z'"]).ends_with(1);
    assert!(refused.out.contains("Long-term memory is off"), "{}", refused.out);
    let answer = world.run(&["ask", "--session", "s", "What do you remember about account 17?"]);
    assert!(!answer.out.contains("Helsinki"), "{}", answer.out);
    world.at_a_terminal(&["memory", "on", "s"]).ends_with(0);
    let answer = world.run(&["ask", "--session", "s", "What do you remember about account 17?"]);
    assert!(answer.out.contains("Helsinki"), "{}", answer.out);
    let unknown = world.at_a_terminal(&["memory", "off", "nothing"]).ends_with(1);
    assert!(unknown.out.contains("does not exist"), "{}", unknown.out);

    let records = world.run(&["--json", "audit", "list", "--type", "memory"]).ends_with(0).json();
    let actions: Vec<_> = records["records"]
        .as_array()
        .expect("records")
        .iter()
        .filter_map(|record| record["fields"]["action"].as_str())
        .collect();
    let expected =
        ["switched_on", "switched_off", "unpinned", "edited", "pinned", "remembered", "remembered"];
    assert_eq!(actions, expected);
    world.run(&["audit", "verify"]).ends_with(0);
}

#[test]
fn json_printed_to_a_terminal_escapes_hidden_characters_and_keeps_its_meaning() {
    let world = World::new();
    let text = "Account 17\u{202e}pays\u{2800}\u{1d173}\u{7f} in CET";
    let quoted = format!("'{text}'");
    let added = world.at_a_terminal(&["--json", "memory", "add", &quoted]).ends_with(0);
    let hidden = |out: &str| {
        out.chars().any(|c| !matches!(c, '\n' | '\r') && contract::hidden::is_hidden(c))
    };
    assert!(!hidden(&added.out) && added.out.contains("\\u202epays\\u2800"), "{}", added.out);
    assert_eq!(added.json()["text"], text);
    let there = world.at_a_terminal(&["memory", "export"]).ends_with(0);
    let piped = world.run(&["memory", "export"]).ends_with(0);
    assert!(!hidden(&there.out), "{}", there.out);
    assert!(piped.out.contains(text), "a pipe gets the characters");
    // The terminal shows the note about the export below the document.
    let document = there.out.rsplit_once('}').expect("a document").0.to_owned() + "}";
    let there: serde_json::Value = serde_json::from_str(&document).expect("one JSON document");
    assert_eq!(there["memories"], piped.json()["memories"]);
}
