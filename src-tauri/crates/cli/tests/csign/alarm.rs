//! Tests with an attacker who can write to a profile's files and replaces its log with an old log.
//! The change is detected whatever the state folder contains, and no call runs until a person has
//! accepted a new log.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::world::{World, text};

/// Creates a profile and an old copy of its log.
fn with_old_copy() -> (World, PathBuf) {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    let old = world.path("old.db");
    fs::copy(log(&world), &old).expect("copied");
    world.run(&["ask", "what can you do?"]).ends_with(0);
    (world, old)
}

fn log(world: &World) -> PathBuf {
    world.data().join("audit.db")
}

fn roll_back(world: &World, old: &PathBuf) {
    for side in ["audit.db-wal", "audit.db-shm"] {
        let _ = fs::remove_file(world.data().join(side));
    }
    fs::copy(old, log(world)).expect("copied");
}

/// Returns the path of the mark in the state folder.
fn mark(world: &World) -> PathBuf {
    let found = fs::read_dir(world.path("state/countersign"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    found.into_iter().find(|path| path.to_string_lossy().ends_with(".mark.json")).expect("a mark")
}

/// Forges a mark from the log's newest checkpoint, without a key.
fn by_hand(world: &World, old: &PathBuf) -> Value {
    let mut forged: Value =
        serde_json::from_slice(&fs::read(mark(world)).expect("read")).expect("JSON");
    let db = Connection::open(old).expect("opened");
    let (size, note): (i64, String) = db
        .query_row(
            "SELECT size, note FROM audit_checkpoint ORDER BY size DESC LIMIT 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .expect("a checkpoint");
    let body: Vec<u8> = db
        .query_row(
            "SELECT body FROM audit_record WHERE type='log_opened' ORDER BY seq DESC LIMIT 1",
            [],
            |row| row.get(0),
        )
        .expect("an opening");
    let opened: Value = serde_json::from_slice(&body).expect("JSON");
    let root = base64::Engine::decode(
        &base64::engine::general_purpose::STANDARD,
        note.lines().nth(2).expect("a root"),
    )
    .expect("base64");
    forged["size"] = json!(size);
    forged["root"] = json!(root.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    forged["key"] = opened["fields"]["key"].clone();
    forged["counter"] = json!(forged["counter"].as_u64().expect("a number") + 1_000);
    forged.as_object_mut().expect("an object").remove("seal");
    forged
}

#[test]
fn an_older_log_with_a_forged_mark_is_detected() {
    let (world, old) = with_old_copy();
    let forged = by_hand(&world, &old);
    roll_back(&world, &old);
    // Tries the mark with the signature of the earlier mark, and without a signature.
    let mut unsigned = forged.clone();
    unsigned.as_object_mut().expect("an object").remove("signature");
    for forged in [forged, unsigned] {
        fs::write(mark(&world), forged.to_string()).expect("written");
        world.run(&["audit", "verify"]).ends_with(5);
    }
    fs::remove_file(mark(&world)).expect("removed");
    world.run(&["audit", "verify"]).ends_with(5);
    world.run(&["ask", "hello"]).ends_with(5);
}

#[test]
fn a_log_of_another_profile_in_the_data_folder_is_detected() {
    let (world, old) = with_old_copy();
    let id = fs::read_to_string(world.data().join("installation")).expect("read");
    // Removes the link between the profile and its mark.
    roll_back(&world, &old);
    fs::remove_file(world.data().join("installation")).expect("removed");
    world.run(&["audit", "verify"]).ends_with(5);
    // The attacker puts another profile of this computer in its place, whose log is valid in
    // itself.
    let other = world.path("other");
    let mut command = world.bare(crate::world::program());
    assert!(
        command
            .arg("--data-dir")
            .arg(&other)
            .args(["ask", "hello"])
            .status()
            .expect("started")
            .success()
    );
    for name in ["audit.db", "installation"] {
        fs::copy(other.join(name), world.data().join(name)).expect("copied");
    }
    let ran = world.run(&["audit", "verify"]).ends_with(5);
    assert!(ran.out.contains("another installation"), "{}", ran.out);
    world.run(&["tools", "call", "cart.get"]).ends_with(5);
    assert_ne!(
        fs::read_to_string(world.data().join("installation")).expect("read"),
        id,
        "nothing is put right in silence"
    );
}

#[test]
fn a_deleted_log_is_detected() {
    let (world, _) = with_old_copy();
    fs::remove_file(log(&world)).expect("removed");
    let ran = world.run(&["audit", "verify"]).ends_with(5);
    assert!(ran.out.contains("missing"), "{}", ran.out);
    world.run(&["ask", "hello"]).ends_with(5);
    assert!(!log(&world).exists(), "no new log is begun in silence");
    // The alarm is also raised if the whole folder is removed.
    fs::remove_dir_all(world.data()).expect("removed");
    world.run(&["audit", "verify"]).ends_with(5);
    world.run(&["ask", "hello"]).ends_with(5);
}

#[test]
fn verifying_a_log_without_any_mark_says_so_and_has_its_own_exit_code() {
    let (world, _) = with_old_copy();
    let ran = world.run(&["audit", "verify"]).ends_with(0);
    assert!(
        ran.out
            .lines()
            .next()
            .is_some_and(|line| line.contains("compared with the state folder only")),
        "{}",
        ran.out
    );
    assert_eq!(
        world.run(&["--json", "audit", "verify"]).ends_with(0).json()["compared_with"],
        "state"
    );
    fs::remove_dir_all(world.path("state/countersign")).expect("removed");
    let ran = world.run(&["audit", "verify"]).ends_with(6);
    assert!(
        ran.out.lines().next().is_some_and(|line| line.contains("compared with NOTHING")),
        "{}",
        ran.out
    );
    assert_eq!(
        world.run(&["--json", "audit", "verify"]).ends_with(6).json()["compared_with"],
        "nothing"
    );
    // The next start stores a new mark.
    world.run(&["ask", "hello"]).ends_with(0);
    world.run(&["audit", "verify"]).ends_with(0);
}

#[test]
fn after_an_alarm_commands_are_refused_until_a_person_accepts_a_new_log() {
    let (world, old) = with_old_copy();
    let good = world.path("good.db");
    fs::copy(log(&world), &good).expect("copied");
    roll_back(&world, &old);
    world.run(&["audit", "verify"]).ends_with(5);
    let request = world.path("request.json");
    fs::write(&request, r#"{"contract_version":"1.0","request_id":"r1","input":"hello"}"#)
        .expect("written");
    let request = request.to_str().expect("a name").to_owned();
    let commands: [&[&str]; 8] = [
        &["ask", "hello"],
        &["tools", "call", "cart.get"],
        &["run", "--request", &request],
        &["serve", "--listen", "127.0.0.1:0", "--no-token"],
        &["approvals", "list"],
        &["audit", "list"],
        &["--json", "ask", "hello"],
        &["service-level"],
    ];
    for args in commands {
        let ran = world.run(args).ends_with(5);
        assert!(
            ran.err.contains("Audit log verification failed")
                && ran.err.contains("--accept-new-log"),
            "{args:?}: {}",
            ran.err
        );
    }
    let ran = world.run(&["doctor"]).ends_with(5);
    let line = ran.out.lines().find(|line| line.contains("audit log")).expect("a check of the log");
    assert!(
        line.starts_with("failed") && ran.err.contains("verification failed"),
        "{}\n{}",
        ran.out,
        ran.err
    );
    world.run(&["audit", "verify"]).ends_with(5);
    assert_eq!(
        fs::read_dir(world.data())
            .expect("read")
            .filter(|e| e
                .as_ref()
                .is_ok_and(|e| e.file_name().to_string_lossy().contains("set-aside")))
            .count(),
        0
    );

    // The alarm remains after the original file is restored, because a person must see that the
    // file was missing.
    fs::copy(&good, log(&world)).expect("copied");
    let ran = world.run(&["audit", "verify"]).ends_with(5);
    assert!(ran.out.contains("was not acknowledged"), "{}", ran.out);
    world.run(&["ask", "hello"]).ends_with(5);
    roll_back(&world, &old);

    let confirmed = world.data().join("attestations").join("witness");
    fs::create_dir_all(&confirmed).expect("made");
    fs::write(confirmed.join("2026-11-21.checkpoint"), "of the old log").expect("written");

    // Without a person, the option is refused.
    let ran = world.run(&["doctor", "--accept-new-log"]).ends_with(3);
    assert!(ran.err.contains("Only a person at a terminal"), "{}", ran.err);
    world.run(&["ask", "hello"]).ends_with(5);
    let ran = world.at_a_terminal(&["ask", "--accept-new-log", "hello"]).ends_with(0);
    assert!(ran.out.contains("are missing") && ran.out.contains("A new log begins"), "{}", ran.out);
    world.run(&["audit", "verify"]).ends_with(0);
    world.run(&["ask", "hello"]).ends_with(0);
    assert!(!world.run(&["doctor"]).out.to_lowercase().contains("verification failed"));
    let page =
        world.run(&["--json", "audit", "list", "--type", "alarm_acknowledged"]).ends_with(0).json();
    let [record] = page["records"].as_array().expect("records").as_slice() else {
        panic!("one acknowledgement: {page}")
    };
    assert_eq!(record["fields"]["accepted_by"], "terminal");
    // The old file can still be read, and is compared with its mark.
    let aside = world.data().join(text(&record["fields"], "set_aside"));
    let ran = world.run(&["audit", "verify", aside.to_str().expect("a name")]).ends_with(5);
    assert!(ran.out.contains("are missing"), "{}", ran.out);
    // The confirmations of the old log lie beside it, and do not count for the new log.
    assert!(aside.with_extension("attestations").join("witness").is_dir());
    assert!(!confirmed.exists());
    // There is no alarm left to accept.
    let ran = world.at_a_terminal(&["doctor", "--accept-new-log"]);
    assert!(ran.out.contains("There is no alarm"), "{}", ran.out);
}

#[test]
fn a_profile_of_version_0_1_is_continued_without_an_alarm() {
    let world = World::new();
    let old =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../audit/tests/log/version-0.1");
    let mark: Value =
        serde_json::from_slice(&fs::read(old.join("mark.json")).expect("read")).expect("JSON");
    let (data, state) = (world.data(), world.path("state/countersign"));
    fs::create_dir_all(&data).expect("made");
    fs::create_dir_all(&state).expect("made");
    fs::copy(old.join("audit.db"), log(&world)).expect("copied");
    fs::write(data.join("installation"), text(&mark, "installation")).expect("written");
    fs::copy(
        old.join("mark.json"),
        state.join(format!("{}.mark.json", text(&mark, "installation"))),
    )
    .expect("copied");
    world.run(&["audit", "verify"]).ends_with(0);
    world.run(&["ask", "hello"]).ends_with(0);
    let report = world.run(&["--json", "audit", "verify"]).ends_with(0).json();
    assert_eq!(
        (&report["compared_with"], report["records"].as_u64() > Some(4)),
        (&json!("state"), true),
        "{report}"
    );
}

#[test]
fn an_installation_id_with_a_path_writes_no_file_outside_the_profile() {
    let world = World::new();
    fs::create_dir_all(world.data()).expect("made");
    fs::write(world.data().join("installation"), "../../home/evil").expect("written");
    world.run(&["ask", "hello"]).ends_with(0);
    assert_eq!(
        fs::read_dir(world.path("home")).expect("read").count(),
        0,
        "nothing is written outside the profile's folders"
    );
    let id = fs::read_to_string(world.data().join("installation")).expect("read");
    assert!(id.len() == 36 && !id.contains('/'), "{id}");
    world.run(&["audit", "verify"]).ends_with(0);
}

#[test]
fn an_empty_log_file_left_by_a_kill_raises_no_alarm() {
    let world = World::new();
    fs::create_dir_all(world.data()).expect("made");
    fs::write(log(&world), "").expect("written");
    let ran = world.run(&["audit", "verify"]).ends_with(1);
    assert!(ran.err.contains("There is no log"), "{}", ran.err);
    world.run(&["ask", "hello"]).ends_with(0);
    world.run(&["audit", "verify"]).ends_with(0);
}

/// Changes a record that is not the last record and is not read when the log is opened.
fn change_record(world: &World) {
    let db = Connection::open(log(world)).expect("opened");
    let sql = r#"UPDATE audit_record SET body=CAST(replace(CAST(body AS TEXT), 'at":"2', 'at":"1') AS BLOB) WHERE seq=3"#;
    assert_eq!(db.execute(sql, []).expect("changed"), 1);
}

#[test]
fn a_changed_record_in_the_middle_of_the_log_stops_the_next_start() {
    let (world, _) = with_old_copy();
    change_record(&world);
    for args in [&["ask", "hello"][..], &["tools", "call", "cart.get"]] {
        let ran = world.run(args).ends_with(5);
        assert!(ran.err.contains("record 3"), "{}", ran.err);
    }
}

#[test]
fn a_changed_bit_of_a_closed_log_stops_the_next_start() {
    let (world, _) = with_old_copy();
    let (good, index) =
        (fs::read(log(&world)).expect("read"), world.path("state/countersign/logs"));
    let entry =
        fs::read_dir(&index).expect("a folder").next().expect("an entry").expect("read").path();
    let known = fs::read(&entry).expect("read");
    for part in 0..12 {
        let mut changed = good.clone();
        let at = good.len() / 12 * part + 97 * part;
        changed[at] ^= 1 << (part % 8);
        fs::write(log(&world), &changed).expect("written");
        fs::write(&entry, &known).expect("written");
        let ran = world.run(&["ask", "hello"]);
        assert_eq!(ran.code, 5, "byte {at}: {}", ran.err);
    }
    fs::write(log(&world), &good).expect("written");
    fs::write(&entry, &known).expect("written");
    world.run(&["ask", "hello"]).ends_with(0);
}

#[test]
fn a_folder_with_the_name_of_a_log_does_not_verify_as_an_export() {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    let folder = world.path("old.db");
    world.run(&["audit", "export", folder.to_str().expect("a name")]).ends_with(0);
    world.run(&["audit", "verify", folder.to_str().expect("a name")]).ends_with(5);
}

#[test]
fn an_unreadable_installation_file_is_an_error_and_raises_no_alarm() {
    let (world, _) = with_old_copy();
    let (file, kept) = (world.data().join("installation"), world.path("kept"));
    fs::rename(&file, &kept).expect("moved");
    fs::create_dir(&file).expect("made");
    for args in [&["audit", "verify"][..], &["ask", "hello"]] {
        let ran = world.run(args).ends_with(1);
        assert!(ran.err.contains("cannot be read"), "{}", ran.err);
    }
    fs::remove_dir(&file).expect("removed");
    fs::rename(&kept, &file).expect("moved back");
    world.run(&["ask", "hello"]).ends_with(0);
}

#[test]
fn a_problem_found_by_audit_verify_stops_later_commands() {
    let (world, _) = with_old_copy();
    let good = fs::read(log(&world)).expect("read");
    change_record(&world);
    world.run(&["audit", "verify"]).ends_with(5);
    // The alarm remains after the original file is restored.
    fs::write(log(&world), good).expect("written");
    let ran = world.run(&["ask", "hello"]).ends_with(5);
    assert!(ran.err.contains("record 3"), "{}", ran.err);
}

#[test]
fn a_log_of_an_unknown_format_fails_commands_but_raises_no_alarm() {
    let (world, _) = with_old_copy();
    let good = fs::read(log(&world)).expect("read");
    Connection::open(log(&world))
        .expect("opened")
        .pragma_update(None, "user_version", 2)
        .expect("changed");
    let ran = world.run(&["audit", "verify"]).ends_with(5);
    assert!(ran.out.contains("format 2"), "{}", ran.out);
    let ran = world.run(&["ask", "hello"]);
    assert!(
        ran.code != 0 && ran.err.contains("format 2") && !ran.err.contains("--accept-new-log"),
        "{}: {}",
        ran.code,
        ran.err
    );
    fs::write(log(&world), good).expect("written");
    world.run(&["ask", "hello"]).ends_with(0);
}

#[test]
fn exporting_a_log_with_an_alarm_reports_the_alarm_and_writes_the_records() {
    let (world, old) = with_old_copy();
    roll_back(&world, &old);
    world.run(&["ask", "hello"]).ends_with(5);
    let folder = world.path("export");
    let ran = world.run(&["audit", "export", folder.to_str().expect("a name")]).ends_with(5);
    assert!(ran.err.contains("Audit log verification failed"), "{}", ran.err);
    // The damaged log can still be exported as evidence.
    assert!(folder.join("records.jsonl").is_file());
}

#[test]
fn accepting_a_new_log_records_evidence_of_the_failed_one_without_an_installation_id() {
    let (world, old) = with_old_copy();
    roll_back(&world, &old);
    fs::remove_file(world.data().join("installation")).expect("removed");
    world.run(&["ask", "hello"]).ends_with(5);
    world.at_a_terminal(&["doctor", "--accept-new-log"]);
    let page =
        world.run(&["--json", "audit", "list", "--type", "db_recovered"]).ends_with(0).json();
    let fields = &page["records"][0]["fields"];
    assert!(
        fields["old_size"].as_u64() < fields["marked_size"].as_u64() && fields["old_size"].is_u64(),
        "{page}"
    );
    let aside = world.data().join(text(fields, "set_aside"));
    world.run(&["audit", "verify", aside.to_str().expect("a name")]).ends_with(5);
}

#[test]
fn a_data_folder_replaced_by_a_link_to_another_folder_is_detected() {
    let (world, _) = with_old_copy();
    let other = world.path("other");
    let of_other = |args: &[&str]| {
        let mut command = world.bare(crate::world::program());
        command.arg("--data-dir").arg(&other).args(args).status().expect("started").code()
    };
    assert_eq!(of_other(&["ask", "hello"]), Some(0));
    fs::rename(world.data(), world.path("away")).expect("moved");
    for folder in ["other", "empty"] {
        fs::create_dir_all(world.path(folder)).expect("made");
        std::os::unix::fs::symlink(world.path(folder), world.data()).expect("linked");
        world.run(&["audit", "verify"]).ends_with(5);
        world.run(&["ask", "hello"]).ends_with(5);
        fs::remove_file(world.data()).expect("removed");
    }
    assert_eq!(
        (of_other(&["ask", "hello"]), of_other(&["audit", "verify"])),
        (Some(0), Some(0)),
        "the other profile goes on"
    );
}

#[test]
fn a_data_folder_may_be_a_symbolic_link() {
    let world = World::new();
    fs::create_dir(world.path("real")).expect("made");
    std::os::unix::fs::symlink(world.path("real"), world.data()).expect("linked");
    world.run(&["ask", "hello"]).ends_with(0);
    world.run(&["audit", "verify"]).ends_with(0);
    // A profile under another path is still the same profile, even if its log is gone.
    let mut command = world.bare(crate::world::program());
    assert!(
        command
            .arg("--data-dir")
            .arg(world.path("real/"))
            .args(["ask", "hello"])
            .status()
            .expect("started")
            .success()
    );
    world.run(&["audit", "verify"]).ends_with(0);
    fs::remove_file(world.path("real/audit.db")).expect("removed");
    world.run(&["ask", "hello"]).ends_with(5);
}

#[test]
fn an_unreadable_state_entry_of_the_data_folder_fails_the_command() {
    let (world, _) = with_old_copy();
    let index = world.path("state/countersign/logs");
    let entry =
        fs::read_dir(&index).expect("a folder").next().expect("an entry").expect("read").path();
    fs::rename(&entry, world.path("kept")).expect("moved");
    fs::create_dir(&entry).expect("made");
    for args in [&["ask", "hello"][..], &["audit", "verify"]] {
        let ran = world.run(args).ends_with(1);
        assert!(ran.err.contains("cannot be read"), "{}", ran.err);
    }
    fs::remove_dir(&entry).expect("removed");
    fs::rename(world.path("kept"), &entry).expect("moved back");
    world.run(&["ask", "hello"]).ends_with(0);
}
