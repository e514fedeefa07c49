//! Tests of `csign replay`: a real conversation with an approval replays to the records of the log,
//! and a changed recording shows where it differs.

use rusqlite::Connection;
use serde_json::Value;

use crate::terminal::Terminal;
use crate::world::{World, text};

/// Returns the turn of the newest run of a session.
fn newest_run(world: &World, session: &str) -> String {
    let args = ["--json", "audit", "list", "--type", "run_ended", "--session", session];
    let page = world.run(&args).ends_with(0).json();
    text(&page["records"][0], "turn").to_owned()
}

fn replay(world: &World, run: &str, code: i32) -> Value {
    world.run(&["--json", "replay", run]).ends_with(code).json()
}

#[test]
fn a_conversation_with_an_approval_replays_to_the_same_records() {
    let world = World::new();
    world.run(&["ask", "--session", "s1", "What do you remember about account 17?"]).ends_with(0);
    let run = newest_run(&world, "s1");
    let answer = replay(&world, &run, 0);
    assert_eq!(answer.get("difference"), None, "{answer}");
    assert!(answer["records"].as_u64().is_some_and(|n| n >= 5), "{answer}");

    let note = "Remember that account 17 reports in CET";
    let mut terminal = Terminal::start(&world, &["ask", "--session", "s1", note]);
    terminal.wait_for("Approve? [y/N]");
    terminal.type_in("y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    let run = newest_run(&world, "s1");
    let memories = || world.run(&["--json", "memory", "list"]).ends_with(0).json();
    let before = memories();
    let answer = replay(&world, &run, 0);
    assert_eq!((answer.get("difference"), &answer["erased"]), (None, &0.into()), "{answer}");
    assert_eq!(memories(), before, "a replay changes nothing");
    let printed = world.run(&["replay", &run]).ends_with(0).out;
    assert!(printed.starts_with("The replay wrote the same:"), "{printed}");
}

#[test]
fn the_folder_of_a_killed_replay_is_deleted_at_the_next_start() {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    let installation = std::fs::read_to_string(world.data().join("installation")).expect("read");
    let left = world.path("run").join(format!("countersign-replay-{}-x", installation.trim()));
    let other = world.path("run").join("countersign-replay-other-x");
    for folder in [&left, &other] {
        std::fs::create_dir(folder).expect("made");
        std::fs::write(folder.join("replay.db"), "text").expect("written");
    }
    world.run(&["ask", "hello"]).ends_with(0);
    assert!(!left.exists() && other.exists());
}

#[test]
fn replaying_a_changed_recording_shows_the_differing_record_path_and_values() {
    let world = World::new();
    world.run(&["ask", "--session", "s1", "What do you remember about account 17?"]).ends_with(0);
    let run = newest_run(&world, "s1");
    let database = Connection::open(world.data().join("countersign.db")).expect("opened");
    let body: String = database
        .query_row("SELECT body FROM recording WHERE turn = ?1", [&run], |row| row.get(0))
        .expect("recorded");
    let mut recording: Value = serde_json::from_str(&body).expect("JSON");
    let attempt = &mut recording["attempts"][0];
    attempt["result"]["Ok"]["note"] = "changed".into();
    database
        .execute("UPDATE recording SET body = ?1 WHERE turn = ?2", (recording.to_string(), &run))
        .expect("changed");
    drop(database);

    let answer = replay(&world, &run, 1);
    let difference = &answer["difference"];
    assert_eq!(text(difference, "path"), "/values/result/note", "{answer}");
    assert_eq!(text(difference, "replayed"), "changed", "{answer}");
    let seq = difference["seq"].as_u64().expect("a record").to_string();
    let record = world.run(&["--json", "audit", "show", &seq]).ends_with(0).json();
    assert_eq!(text(&record, "record_type"), "tool_outcome", "{record}");
    let printed = world.run(&["replay", &run]).ends_with(1).out;
    assert!(printed.contains("replay: \"changed\""), "{printed}");

    let missing = world.run(&["--json", "replay", "turn-x"]).ends_with(1).json();
    assert_eq!(missing["error"]["details"]["reason"], "not_found", "{missing}");
}

#[test]
fn switching_recordings_off_deletes_stored_recordings() {
    let world = World::new();
    for _ in 0..3 {
        world.run(&["ask", "--session", "s1", "hello"]).ends_with(0);
    }
    let count = || -> i64 {
        let database = Connection::open(world.data().join("countersign.db")).expect("opened");
        database.query_row("SELECT count(*) FROM recording", [], |row| row.get(0)).expect("read")
    };
    assert_eq!(count(), 3);
    let settings = world.data().join("countersign.toml");
    for (most, left) in [(2, 2), (0, 0)] {
        std::fs::write(&settings, format!("[limits]\nrecorded_turns = {most}\n")).expect("written");
        world.run(&["memory", "list"]).ends_with(0);
        assert_eq!(count(), left);
    }
}

#[test]
fn replaying_a_run_made_by_csign_run_says_that_it_has_no_recording() {
    let world = World::new();
    let request = world.path("request.json");
    let body = r#"{"contract_version":"1.0","request_id":"r-1","input":"What do you remember about account 17?"}"#;
    std::fs::write(&request, body).expect("written");
    world.run(&["run", "--request", request.to_str().expect("a name")]).ends_with(0);
    let page = world.run(&["--json", "audit", "list", "--type", "run_ended"]).ends_with(0).json();
    let run = text(&page["records"][0], "turn");
    let told = world.run(&["replay", run]).ends_with(1).err;
    assert!(told.contains("Such runs are not recorded."), "{told}");
}
