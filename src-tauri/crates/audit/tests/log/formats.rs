//! Tests of the formats of other programs in an export: tiles, proofs and statements. Programs of
//! others accept valid exports and refuse damaged exports, and so does this program's verification.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use audit::{Scope, Wanted, verify};
use contract::{RecordType, VerifyReport};
use engine::ports::{AuditLog as _, Durability, RecordDraft};
use messages::Language;
use serde_json::{Value, json};

use crate::export::both;
use crate::kit::{OTHER_KEY, World, closed, export, export_log, export_session, fill, run};

const SESSION: &str = "desktop:s7";

const PREVIEW: &str = r#"{"summary":"Add 1 × <script>alert(1)</script>","before":{"rows":[]},"after":{"rows":[{"label":"Lamp","quantity":"1","amount":"20.00 SEK"}],"total":"20.00 SEK"}}"#;

/// Passes an export to the other programs. Returns their answer.
fn check(arguments: &[&str]) -> Value {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| repository.join("target"), PathBuf::from);
    let python = target.join("audit-python/bin/python");
    assert!(python.is_file(), "the checkers are not installed; run `make setup-test`");
    let output = Command::new(python)
        .arg(repository.join("tests/audit/check.py"))
        .args(arguments)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn accepted(arguments: &[&str]) -> Value {
    let answer = check(arguments);
    assert_eq!(answer["ok"], true, "{arguments:?}: {answer}");
    answer
}

fn refused(arguments: &[&str]) {
    let answer = check(arguments);
    assert_eq!(answer["ok"], false, "{arguments:?}: {answer}");
}

/// Returns the records of an action that a person approved, with its arguments behind a commitment.
fn approved_action(n: u64) -> Vec<RecordDraft> {
    let approval = format!("approval-{n}");
    let of = |kind: RecordType| {
        RecordDraft::new(kind)
            .of(&SESSION.into(), &format!("t{n}").as_str().into())
            .field("approval", approval.as_str())
            .field("tool", "cart.add")
    };
    let call = format!("action-{n}");
    let arguments =
        json!({ "item": format!("secret item {n}"), "number": "12345678901234567890.10" });
    vec![
        RecordDraft::new(RecordType::RunStarted)
            .of(&SESSION.into(), &format!("t{n}").as_str().into())
            .field("agent", "assistant")
            .commit("input", format!("please add item {n}")),
        of(RecordType::ApprovalRequested)
            .field("call", call.as_str())
            .commit("arguments", arguments.clone())
            .commit("preview", PREVIEW)
            .commit("excerpts", "[]"),
        of(RecordType::ApprovalResolved)
            .field("status", "approved")
            .field("by", "window")
            .field("duration_ms", 12_340)
            .commit("person", "Ada <ada@example.com>"),
        of(RecordType::ToolIntent)
            .field("call", call.as_str())
            .field("status", "started")
            .commit("arguments", arguments),
        of(RecordType::ToolOutcome)
            .field("call", call.as_str())
            .field("status", "ok")
            .commit("result", "added"),
        of(RecordType::ApprovalResolved).field("status", "done").field("by", "host"),
    ]
}

/// Makes a log of at least 600 records with two approved actions. Returns the numbers of the
/// records in which a person approved.
fn log_with_actions(world: &World) -> Vec<u64> {
    add_actions(world, &[(1, 40), (2, 600)])
}

/// Adds approved actions to a log, each as soon as the log has at least the given number of
/// records.
fn add_actions(world: &World, actions: &[(u64, u64)]) -> Vec<u64> {
    run(async {
        let log = world.open();
        let mut approved = Vec::new();
        for &(n, before) in actions {
            fill(&log, before).await;
            for draft in approved_action(n) {
                let is_approval = draft.fields.get("status") == Some(&json!("approved"));
                let seq = log.append(draft, Durability::Durable).await.unwrap();
                approved.extend(is_approval.then_some(seq));
            }
        }
        log.close().await.unwrap();
        approved
    })
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = at % bytes.len();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Returns every file below a folder.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_of(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn one_problem(report: &VerifyReport) -> String {
    assert!(!report.ok && report.problems.len() == 1, "{:?}", report.problems);
    report.problems[0].message.to_string()
}

#[test]
fn an_independent_program_accepts_the_exported_tiles_and_detects_changed_ones() {
    let world = World::new();
    log_with_actions(&world);
    let folder = world.folder.path().join("export");
    export_log(&world, &folder).unwrap();
    let report = both(&folder);
    assert!(report.ok, "{:?}", report.problems);
    let name = folder.to_str().unwrap();
    let answer = accepted(&["tiles", name]);
    assert_eq!(answer["size"], report.records);
    // There are two full tiles and a partial tile of each kind, and a tile above them.
    assert_eq!((&answer["tiles"], &answer["bundles"]), (&json!(4), &json!(3)));
    let tiles = folder.join("tiles/tile");
    for file in files_of(&tiles) {
        flip(&file, 1777);
        let named = file.strip_prefix(&folder).unwrap().to_str().unwrap();
        assert!(one_problem(&both(&folder)).contains(named), "{named}");
        refused(&["tiles", name]);
        flip(&file, 1777);
    }
    fs::rename(tiles.join("entries/000"), tiles.join("entries/009")).unwrap();
    assert!(one_problem(&both(&folder)).contains("tiles/tile/entries/000"));
    refused(&["tiles", name]);
}

#[test]
fn the_checkpoint_of_the_tiles_is_the_newest_one() {
    let world = World::new();
    log_with_actions(&world);
    let folder = world.folder.path().join("export");
    export_log(&world, &folder).unwrap();
    let notes = fs::read_to_string(folder.join("checkpoint.txt")).unwrap();
    let first: Vec<&str> = notes.split("\n\n").take(2).collect();
    fs::write(folder.join("tiles/checkpoint"), first.join("\n\n") + "\n").unwrap();
    assert!(one_problem(&both(&folder)).contains("tiles/checkpoint"));
    fs::remove_file(folder.join("tiles/checkpoint")).unwrap();
    assert!(!both(&folder).ok);
}

#[test]
fn an_approved_action_has_a_proof_and_a_statement_that_foreign_programs_verify() {
    let world = World::new();
    let approved = log_with_actions(&world);
    let folder = world.folder.path().join("export");
    let written = export_log(&world, &folder).unwrap();
    assert_eq!((written.receipts, written.statements), (2, 2));
    let root = both(&folder).root;
    let name = folder.to_str().unwrap();
    for seq in &approved {
        let number = seq.to_string();
        accepted(&["proof", name, &number]);
        let statement = accepted(&["statement", name, &number]);
        assert_eq!(statement["root"], root, "the receipt is over the checkpoint's root");
        assert_eq!(statement["index"], seq - 1);
        assert_eq!(statement["subject"], format!("record/{seq}"));
        assert_eq!(statement["content_type"], "application/json");
    }
    let number = approved[0].to_string();
    for (ending, command) in [("tlog-proof", "receipt"), ("cose", "statement")] {
        let file = folder.join(format!("receipts/{number}.{ending}"));
        let length = fs::read(&file).unwrap().len();
        for at in (0..length).step_by(length / 12) {
            flip(&file, at);
            assert!(one_problem(&both(&folder)).contains(&number), "byte {at} of {ending}");
            // Some programs ignore the unsigned parts, such as the type of a header.
            if at > 60 && at < length - 1 {
                refused(&[command, name, &number]);
            }
            flip(&file, at);
        }
    }
    // A receipt of one record is not valid for another record.
    let other = approved[1].to_string();
    for ending in ["json", "tlog-proof", "cose"] {
        let at = |number: &str| folder.join(format!("receipts/{number}.{ending}"));
        fs::copy(at(&other), at(&number)).unwrap();
    }
    let report = both(&folder);
    assert_eq!(report.problems.len(), 3, "{:?}", report.problems);
}

#[test]
fn a_receipt_verifies_without_the_rest_of_the_log() {
    let world = World::new();
    let approved = log_with_actions(&world);
    let folder = world.folder.path().join("decision");
    let written = export(&world, &folder, Scope::Decision(approved[1])).unwrap();
    assert_eq!((written.records, written.receipts, written.statements), (6, 1, 1));
    let report = both(&folder);
    assert!(report.ok && report.records == 6, "{:?}", report.problems);
    let records = fs::read_to_string(folder.join("records.jsonl")).unwrap();
    assert!(records.contains("approval-2") && !records.contains("approval-1"), "{records}");
    assert!(!folder.join("tiles").exists(), "the other records stay at home");
    let (name, number) = (folder.to_str().unwrap(), approved[1].to_string());
    accepted(&["receipt", name, &number]);
    accepted(&["statement", name, &number]);
    // Any record of the decision can be named; a record that belongs to no decision is refused.
    for (place, seq) in [("a", approved[1] - 1), ("b", approved[1] + 2)] {
        let other = world.folder.path().join(place);
        assert_eq!(export(&world, &other, Scope::Decision(seq)).unwrap().records, 6);
    }
    for seq in [2, 100_000] {
        let none = world.folder.path().join("none");
        assert!(export(&world, &none, Scope::Decision(seq)).is_err() && !none.exists());
    }
}

/// Copies the receipts of a record into another export.
fn copy_receipts(from: &Path, to: &Path, seq: u64) {
    for ending in ["json", "tlog-proof", "cose"] {
        let name = format!("receipts/{seq}.{ending}");
        fs::copy(from.join(&name), to.join(&name)).unwrap();
    }
}

/// Copies a closed log and its mark to another place.
fn fork(world: &World) -> World {
    let other = World::new();
    for file in files_of(world.root()) {
        let place = other.root().join(file.strip_prefix(world.root()).unwrap());
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(&file, &place).unwrap();
    }
    other
}

fn faults(report: &VerifyReport) -> Vec<String> {
    report.problems.iter().map(|problem| problem.message.to_string()).collect()
}

#[test]
fn a_receipt_of_another_record_contradicts_a_whole_export() {
    let (world, other) = (World::new(), World::new());
    let seq = add_actions(&world, &[(1, 40)])[0];
    assert_eq!(add_actions(&other, &[(2, 40)]), [seq]);
    let (folder, theirs) = (world.folder.path().join("a"), other.folder.path().join("b"));
    export_log(&world, &folder).unwrap();
    export_log(&other, &theirs).unwrap();
    assert!(both(&folder).ok && both(&theirs).ok);
    copy_receipts(&theirs, &folder, seq);
    let faults = faults(&both(&folder));
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(faults.iter().all(|fault| fault.contains("another record")), "{faults:?}");
}

#[test]
fn a_receipt_of_a_record_that_a_whole_export_does_not_have_contradicts_it() {
    let world = World::new();
    add_actions(&world, &[(1, 40)]);
    let (early, late) = (world.folder.path().join("early"), world.folder.path().join("late"));
    export_log(&world, &early).unwrap();
    let seq = add_actions(&world, &[(2, 100)])[0];
    export_log(&world, &late).unwrap();
    copy_receipts(&late, &early, seq);
    let faults = faults(&both(&early));
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(faults.iter().all(|fault| fault.contains("no such record")), "{faults:?}");
}

#[test]
fn a_receipt_for_a_longer_log_contradicts_a_shorter_whole_export() {
    let world = World::new();
    let seq = add_actions(&world, &[(1, 40)])[0];
    let (early, late) = (world.folder.path().join("early"), world.folder.path().join("late"));
    export_log(&world, &early).unwrap();
    add_actions(&world, &[(2, 100)]);
    export_log(&world, &late).unwrap();
    copy_receipts(&late, &early, seq);
    let faults = faults(&both(&early));
    assert_eq!(faults.len(), 2, "the record itself is the same: {faults:?}");
    assert!(faults.iter().all(|fault| fault.contains("more records")), "{faults:?}");
}

#[test]
fn a_receipt_for_a_log_with_other_records_contradicts_a_whole_export() {
    let world = World::new();
    let seq = add_actions(&world, &[(1, 40)])[0];
    let other = fork(&world);
    add_actions(&world, &[(2, 80)]);
    add_actions(&other, &[(3, 60)]);
    let (folder, theirs) = (world.folder.path().join("a"), other.folder.path().join("b"));
    export_log(&world, &folder).unwrap();
    export_log(&other, &theirs).unwrap();
    copy_receipts(&theirs, &folder, seq);
    let faults = faults(&both(&folder));
    assert_eq!(faults.len(), 2, "the record itself is the same: {faults:?}");
    assert!(faults.iter().all(|fault| fault.contains("other records")), "{faults:?}");
}

#[test]
fn receipts_for_an_older_checkpoint_of_the_same_log_are_valid() {
    let world = World::new();
    let seq = add_actions(&world, &[(1, 40)])[0];
    let (early, late) = (world.folder.path().join("early"), world.folder.path().join("late"));
    export_log(&world, &early).unwrap();
    add_actions(&world, &[(2, 100)]);
    export_log(&world, &late).unwrap();
    copy_receipts(&early, &late, seq);
    let report = both(&late);
    assert!(report.ok, "{:?}", report.problems);
}

#[test]
fn receipts_contain_no_values_and_an_erased_value_is_in_no_exported_file() {
    let world = World::new();
    let approved = log_with_actions(&world);
    run(async {
        let log = world.open();
        assert!(log.erase_session(&SESSION.into()).await.unwrap() > 0);
        log.close().await.unwrap();
    });
    let (whole, part) = (world.folder.path().join("whole"), world.folder.path().join("part"));
    export_log(&world, &whole).unwrap();
    export_session(&world, &part, SESSION).unwrap();
    for folder in [&whole, &part] {
        assert!(both(folder).ok);
        accepted(&["statement", folder.to_str().unwrap(), &approved[0].to_string()]);
        for file in files_of(folder) {
            let bytes = fs::read(&file).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for value in ["secret item", "please add"] {
                assert!(!text.contains(value), "{value} is in {}", file.display());
            }
        }
    }
}

#[test]
fn an_export_without_the_logs_own_key_contains_no_signed_statements() {
    let world = World::new();
    log_with_actions(&world);
    let folder = world.folder.path().join("export");
    for (place, signer) in [("none", None), ("other", Some(audit::Signer::new(&OTHER_KEY, true)))] {
        let folder = folder.join(place);
        let wanted = Wanted::new(Scope::Whole).signed_by(signer);
        let written = audit::export_file(&world.db(), &folder, &wanted).unwrap();
        assert_eq!((written.receipts, written.statements), (2, 0));
        assert!(verify(&folder, None).ok);
    }
}

/// Returns the page without its tags.
fn text_of(page: &str) -> String {
    let body = page.split_once("<body>").expect("a body").1;
    let mut text = String::new();
    let mut is_tag = false;
    for character in body.chars() {
        match character {
            '<' => is_tag = true,
            '>' => (is_tag, _) = (false, text.push(' ')),
            other if !is_tag => text.push(other),
            _ => {}
        }
    }
    text
}

fn page(world: &World, place: &str, scope: Scope, language: Language) -> String {
    let folder = world.folder.path().join(place);
    let wanted = Wanted::new(scope.clone()).signed_by(Some(world.signer())).in_language(language);
    let written = audit::export_file(&world.db(), &folder, &wanted).unwrap();
    let name = if matches!(scope, Scope::Session(_)) { "report.html" } else { "receipt.html" };
    assert!(written.files.iter().any(|file| file == name), "{:?}", written.files);
    assert!(both(&folder).ok);
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_readable_receipt_shows_the_caller_the_approved_preview_and_the_executed_call() {
    let world = World::new();
    let approved = log_with_actions(&world);
    let decision = || Scope::Decision(approved[0]);
    let english = page(&world, "en", decision(), Language::ENGLISH);
    let text = text_of(&english);
    for part in [
        "Receipt of a decision",
        "please add item 1",
        "secret item 1",
        "12345678901234567890.10",
        "Add 1 × &lt;script&gt;alert(1)&lt;/script&gt;",
        "20.00 SEK",
        "Ada &lt;ada@example.com&gt;",
        "the window",
        "12.3 s",
        "The arguments were those that were shown.",
        "added",
        "csign audit verify FOLDER",
        "python3 verify.py FOLDER",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(!text.contains("secret item 2"), "another decision is not on the page");
    let swedish = page(&world, "sv", decision(), Language::of_tag("sv"));
    for part in ["lang=\"sv\"", "Kvitto på ett beslut", "12,3 s", "fönstret"] {
        assert!(swedish.contains(part), "{part} is missing in {swedish}");
    }
    for page in [english, swedish] {
        assert!(page.contains("default-src 'none'") && page.contains("@media print"));
        for forbidden in ["<script", "http:", "https:", "src=", "href=", "@import", "url("] {
            assert!(!page.contains(forbidden), "{forbidden} is on the page");
        }
    }
}

#[test]
fn a_session_report_lists_its_actions_in_order_and_names_erased_values() {
    let world = World::new();
    log_with_actions(&world);
    let session = || Scope::Session(SESSION.into());
    let text = text_of(&page(&world, "before", session(), Language::ENGLISH));
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is missing in {text}"));
    assert!(at("please add item 1") < at("secret item 1"));
    assert!(at("secret item 1") < at("please add item 2"));
    run(async {
        let log = world.open();
        assert!(log.erase(41, "input").await.unwrap());
        log.close().await.unwrap();
    });
    let text = text_of(&page(&world, "after", session(), Language::ENGLISH));
    assert_eq!(text.matches("This value was erased from the log.").count(), 1, "{text}");
    assert!(!text.contains("please add item 1") && text.contains("please add item 2"));
}

/// Returns the records of a call that ran without an approval.
fn unapproved_call(n: u64, effect: &str, why: &str) -> [RecordDraft; 2] {
    let of = |kind: RecordType, status: &str| {
        RecordDraft::new(kind)
            .of(&SESSION.into(), &"t9".into())
            .field("call", format!("call-{n}"))
            .field("tool", "cart.add")
            .field("status", status)
    };
    let intent = of(RecordType::ToolIntent, "started")
        .field("effect", effect)
        .field("why", why)
        .commit("arguments", json!({ "item": n }));
    [intent, of(RecordType::ToolOutcome, "ok").commit("result", "added")]
}

#[test]
fn a_report_does_not_call_a_change_without_an_approval_a_read() {
    let world = World::new();
    run(async {
        let log = world.open();
        let calls = [
            unapproved_call(1, "read_only", "The tool only reads."),
            unapproved_call(2, "write", "The person allowed it for this session."),
            unapproved_call(3, "destructive", "A rule of the profile allows it."),
        ];
        for draft in calls.into_iter().flatten() {
            log.append(draft, Durability::Durable).await.unwrap();
        }
        log.close().await.unwrap();
    });
    let session = || Scope::Session(SESSION.into());
    let english = text_of(&page(&world, "en", session(), Language::ENGLISH));
    let count = |part: &str| english.matches(part).count();
    assert_eq!(count("Read without an approval"), 1, "{english}");
    assert_eq!(count("Changed without an approval"), 2, "{english}");
    for part in [
        "reads only",
        "changes data",
        "deletes data or changes it for good",
        "The person allowed it for this session.",
        "A rule of the profile allows it.",
    ] {
        assert_eq!(count(part), 1, "{part}: {english}");
    }
    let swedish = text_of(&page(&world, "sv", session(), Language::of_tag("sv")));
    assert_eq!(swedish.matches("Läst utan godkännande").count(), 1, "{swedish}");
    assert_eq!(swedish.matches("Ändrat utan godkännande").count(), 2, "{swedish}");
}

#[test]
fn a_receipt_of_a_direct_tool_call_names_its_caller() {
    for asked_by in [RecordType::ApprovalRequested, RecordType::ToolIntent] {
        let world = World::new();
        let approved = run(async {
            let log = world.open();
            let mut approved = 0;
            // A direct call has no question.
            for mut draft in approved_action(1).into_iter().skip(1) {
                if draft.record_type == asked_by {
                    draft = draft.field("origin", "terminal").commit("person", "Grace");
                }
                let is_approval = draft.fields.get("status") == Some(&json!("approved"));
                let seq = log.append(draft, Durability::Durable).await.unwrap();
                approved = if is_approval { seq } else { approved };
            }
            log.close().await.unwrap();
            approved
        });
        for scope in [Scope::Decision(approved), Scope::Session(SESSION.into())] {
            let place = format!("{scope:?}").replace(|c: char| !c.is_alphanumeric(), "");
            let text = text_of(&page(&world, &place, scope, Language::ENGLISH));
            for part in ["The tool was called directly.", "Who asked", "Grace", "a terminal"] {
                assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
            }
        }
    }
}

/// Returns numbers that no record, size or list position can have, and texts that are not valid
/// numbers.
fn impossible_numbers() -> Vec<String> {
    let words = [
        "-1",
        "-0",
        "+1",
        "00",
        "007",
        "1.0",
        "1e2",
        "0x1",
        "1_0",
        " 1",
        "NaN",
        "Infinity",
        "true",
        "null",
        "\u{ff11}",
        "\u{b2}",
        "9007199254740992",
        "9007199254740993",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
    ];
    let digits = [20, 40, 200, 5_000].map(|length| "9".repeat(length));
    words.map(str::to_owned).into_iter().chain(digits).collect()
}

#[test]
fn both_verifiers_refuse_sizes_and_positions_with_an_invalid_number() {
    let world = World::new();
    let seq = log_with_actions(&world)[0];
    let folder = world.folder.path().join("export");
    export(&world, &folder, Scope::Decision(seq)).unwrap();
    let size = fs::read_to_string(folder.join("checkpoint.txt")).unwrap();
    let size = size.lines().nth(1).unwrap().to_owned();
    let reveals = fs::read_to_string(folder.join("reveals.jsonl")).unwrap();
    let reveal: Value = serde_json::from_str(reveals.lines().next().unwrap()).unwrap();
    let places = [
        (format!("receipts/{seq}.tlog-proof"), format!("\nindex {}\n", seq - 1), "\nindex @\n"),
        (format!("receipts/{seq}.tlog-proof"), format!("\n{size}\n"), "\n@\n"),
        (format!("receipts/{seq}.json"), format!("\"seq\":{seq},"), "\"seq\":@,"),
        (format!("receipts/{seq}.json"), "\"v\":1}".to_owned(), "\"v\":@}"),
        ("checkpoint.txt".to_owned(), format!("\n{size}\n"), "\n@\n"),
        ("proofs.jsonl".to_owned(), format!("\"seq\":{seq}}}"), "\"seq\":@}"),
        ("records.jsonl".to_owned(), format!("\"seq\":{seq},"), "\"seq\":@,"),
        ("reveals.jsonl".to_owned(), format!("\"seq\":{},", reveal["seq"]), "\"seq\":@,"),
    ];
    assert!(both(&folder).ok);
    // Starting both verifiers is slow, so each place is tested with only every third number.
    let some_numbers = |at: usize| impossible_numbers().into_iter().skip(at % 3).step_by(3);
    for (at, (name, found, form)) in places.into_iter().enumerate() {
        let file = folder.join(name);
        let whole = fs::read_to_string(&file).unwrap();
        assert!(whole.contains(&found), "{found:?} in {whole}");
        for number in some_numbers(at) {
            fs::write(&file, whole.replace(&found, &form.replace('@', &number))).unwrap();
            assert!(!both(&folder).ok, "{form:?} with {number} in {}", file.display());
        }
        fs::write(&file, whole).unwrap();
    }
    for (at, ending) in ["json", "tlog-proof", "cose"].into_iter().enumerate() {
        let file = folder.join(format!("receipts/{seq}.{ending}"));
        for number in some_numbers(at).filter(|number| number.len() <= 200) {
            let other = folder.join(format!("receipts/{number}.{ending}"));
            fs::copy(&file, &other).unwrap();
            let report = both(&folder);
            // A file whose name is not a number is not a receipt, and is listed like any other
            // file.
            let is_number = number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0');
            let is_told = report.unchecked.contains(&format!("receipts/{number}.{ending}"));
            assert_eq!((report.ok, is_told), (!is_number, !is_number), "{number}.{ending}");
            fs::remove_file(other).unwrap();
        }
    }
    // The bytes are heads of CBOR numbers, floats and other kinds, at each position in the
    // statement's beginning.
    let file = folder.join(format!("receipts/{seq}.cose"));
    let whole = fs::read(&file).unwrap();
    for (at, head) in (0..whole.len())
        .step_by(61)
        .zip([0x1b, 0x3b, 0x38, 0xf9, 0xfb, 0xf5, 0xf6, 0x9f].into_iter().cycle())
    {
        let mut changed = whole.clone();
        if std::mem::replace(&mut changed[at], head) != head {
            fs::write(&file, changed).unwrap();
            assert!(!both(&folder).ok, "byte {at}: {head:02x}");
        }
    }
}

#[test]
fn a_verification_names_the_files_that_it_did_not_check() {
    let world = World::new();
    let seq = log_with_actions(&world)[0];
    let (whole, one) = (world.folder.path().join("whole"), world.folder.path().join("one"));
    export_log(&world, &whole).unwrap();
    export(&world, &one, Scope::Decision(seq)).unwrap();
    assert_eq!(both(&whole).unchecked, ["README", "receipts/key.pem"]);
    assert_eq!(both(&one).unchecked, ["README", "receipt.html", "receipts/key.pem"]);
    // A tiled log in the export of one decision is not compared with any records.
    fs::create_dir_all(one.join("tiles/tile")).unwrap();
    fs::write(one.join("tiles/checkpoint"), "made up").unwrap();
    fs::write(whole.join("tiles/tile/9"), "made up").unwrap();
    fs::write(whole.join("re\u{202e}lmth"), "made up").unwrap();
    std::os::unix::fs::symlink("/", whole.join("receipts/link")).unwrap();
    assert!(both(&one).unchecked.contains(&"tiles/checkpoint".to_owned()));
    let expected =
        ["README", "receipts/key.pem", "receipts/link", "re\u{202e}lmth", "tiles/tile/9"];
    assert_eq!(both(&whole).unchecked, expected);
    for number in 0..200 {
        fs::write(whole.join(format!("z{number:03}")), "made up").unwrap();
    }
    let report = both(&whole);
    assert_eq!((report.ok, report.unchecked.len(), report.unchecked_total), (true, 100, 205));
}

#[test]
fn a_pipe_or_device_in_an_export_is_refused_without_blocking_the_verifier() {
    let world = World::new();
    let seq = log_with_actions(&world)[0];
    let folder = world.folder.path().join("export");
    export(&world, &folder, Scope::Decision(seq)).unwrap();
    for name in ["key.vkey", "checkpoint.txt", "records.jsonl", "proofs.jsonl", "reveals.jsonl"]
        .map(str::to_owned)
        .into_iter()
        .chain(["json", "tlog-proof", "cose"].map(|ending| format!("receipts/{seq}.{ending}")))
    {
        let (file, kept) = (folder.join(&name), world.folder.path().join("kept"));
        fs::rename(&file, &kept).unwrap();
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert!(!both(&folder).ok, "a pipe as {name}");
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        assert!(!both(&folder).ok, "a device as {name}");
        fs::remove_file(&file).unwrap();
        fs::rename(&kept, &file).unwrap();
    }
    assert!(both(&folder).ok);
    let pipe = world.folder.path().join("pipe.db");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let report = audit::verify(&pipe, None);
    assert!(report.problems[0].message.contains("a pipe"), "{:?}", report.problems);
}

#[test]
fn a_pipe_beside_a_log_is_reported_without_blocking_the_verification() {
    let world = World::new();
    closed(&world, 6);
    for ending in ["-wal", "-journal", "-shm"] {
        let beside = PathBuf::from(format!("{}{ending}", world.db().display()));
        let _ = fs::remove_file(&beside);
        assert!(Command::new("mkfifo").arg(&beside).status().unwrap().success());
        let report = verify(&world.db(), Some(&world.mark()));
        let told = &report.problems[0].message;
        assert!(told.contains(ending) && told.contains("is a pipe"), "{ending}: {told:?}");
        fs::remove_file(beside).unwrap();
    }
    let report = verify(&world.db(), Some(&world.mark()));
    assert!(report.ok, "{:?}", report.problems);
}
