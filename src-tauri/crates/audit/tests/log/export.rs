//! Tests of exports and of both verifiers: `verify` and `verify.py` reach the same verdict on every
//! changed export.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use audit::verify;
use contract::{RecordType, VerifyReport};
use engine::ports::{AuditLog as _, Durability, RecordDraft};
use serde_json::{Value, json};

use crate::kit::{KEY, OTHER_KEY, World, closed, draft, export_log, export_session, ready, run};

/// Returns the report of `verify.py` about a folder.
fn script(folder: &Path) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("verify.py");
    let output = Command::new("python3")
        .arg(script)
        .arg(folder)
        .output()
        .expect("python3 is needed: apt-get install python3");
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(output.status.code(), Some(if document["ok"] == true { 0 } else { 5 }));
    document
}

/// Returns the report of both verifiers, after asserting that they agree.
pub(crate) fn both(folder: &Path) -> VerifyReport {
    let (ours, theirs) = (verify(folder, None), script(folder));
    let context = format!("{ours:?} against {theirs}");
    assert_eq!(theirs["ok"], ours.ok, "{context}");
    assert_eq!(theirs["unknown_outcomes"], json!(ours.unknown_outcomes), "{context}");
    assert_eq!(theirs["unchecked"], json!(ours.unchecked), "{context}");
    assert_eq!(theirs["unchecked_total"], ours.unchecked_total, "{context}");
    if ours.ok {
        assert_eq!(theirs["records"], ours.records, "{context}");
        assert_eq!(theirs["checkpoints"], ours.checkpoints, "{context}");
        assert_eq!(theirs["root"], ours.root, "{context}");
        // An export of a part of a log does not show where its key is stored.
        let is_part = theirs["whole"] == false;
        assert_eq!(is_part, folder.join("proofs.jsonl").exists(), "{context}");
        let anchored = if is_part { Value::Null } else { json!(ours.anchored) };
        assert_eq!(theirs["anchored"], anchored, "{context}");
    } else {
        assert_eq!(theirs["problems"][0]["seq"], json!(ours.problems[0].seq), "{context}");
    }
    ours
}

/// Fills a log with two sessions, text that is hard to escape, a key for one run only, a change of
/// the keyring's key, an erased value and an intent without outcome.
fn fill_log(world: &mut World) {
    closed(world, 12);
    (world.seed, world.anchored) = ([0x33; 32], false);
    closed(world, 16);
    (world.seed, world.anchored) = (OTHER_KEY, true);
    let mut options = world.options();
    options.previous = Some(audit::Signer::new(&KEY, true));
    run(async {
        let log = ready(audit::Log::open(options).unwrap());
        let odd = RecordDraft::new(RecordType::SettingChanged)
            .of(&"desktop:s2".into(), &"t9".into())
            .field("åäö €😀\u{fb33}\r", "\"\\\u{1}\u{7f}\u{2028}")
            .field(
                "list",
                json!([1, -5, 9_007_199_254_740_991u64, true, null, { "b": {}, "a": [] }]),
            )
            .commit("a/b~c", json!({ "float": 0.1, "text": "å" }));
        log.append(odd, Durability::Durable).await.unwrap();
        log.append(draft(101), Durability::Signed).await.unwrap();
        assert!(log.erase(5, "arguments").await.unwrap());
        log.close().await.unwrap();
    });
}

fn export_to(world: &World, name: &str) -> PathBuf {
    let folder = world.folder.path().join(name);
    let answer = export_log(world, &folder).unwrap();
    assert_eq!(
        answer.files,
        ["key.vkey", "checkpoint.txt", "records.jsonl", "reveals.jsonl", "tiles/", "README"]
    );
    folder
}

#[test]
fn a_whole_export_is_valid_for_both_verifiers() {
    let mut world = World::new();
    fill_log(&mut world);
    let report = both(&export_to(&world, "export"));
    assert!(report.ok && report.anchored, "{:?}", report.problems);
    let of_file = verify(&world.db(), Some(&world.mark()));
    assert_eq!(
        (of_file.root, of_file.records, of_file.unknown_outcomes),
        (report.root, report.records, report.unknown_outcomes.clone())
    );
    assert_eq!(report.unknown_outcomes.len(), 1);
    assert!(
        export_log(&world, &world.folder.path().join("export")).is_err(),
        "a folder with files is left alone"
    );
}

#[test]
fn an_export_of_one_session_proves_its_records_without_those_of_other_sessions() {
    let mut world = World::new();
    fill_log(&mut world);
    let folder = world.folder.path().join("session");
    export_session(&world, &folder, "desktop:s2").unwrap();
    let report = both(&folder);
    assert!(report.ok && report.records == 1, "{:?}", report.problems);
    assert!(!fs::read_to_string(folder.join("records.jsonl")).unwrap().contains("cart.add"));
    let records = fs::read_to_string(folder.join("records.jsonl")).unwrap();
    fs::write(folder.join("records.jsonl"), records.replace("true", "false")).unwrap();
    assert!(!both(&folder).ok);
}

#[test]
fn an_export_of_one_session_names_its_intents_without_an_outcome() {
    let mut world = World::new();
    fill_log(&mut world);
    let whole = both(&export_to(&world, "whole"));
    let folder = world.folder.path().join("session");
    export_session(&world, &folder, "desktop:s1").unwrap();
    let report = both(&folder);
    assert!(report.ok && report.unknown_outcomes.len() == 1, "{report:?}");
    assert_eq!(report.unknown_outcomes, whole.unknown_outcomes);
    // The third record is the outcome of the second record.
    let mut seqs = Vec::new();
    for name in ["records.jsonl", "proofs.jsonl"] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let line: Value = serde_json::from_str(text.lines().nth(2).unwrap()).unwrap();
        seqs.push(line["seq"].as_u64().unwrap());
        fs::write(folder.join(name), lines(&text, |lines| drop(lines.remove(2)))).unwrap();
    }
    let reveals = fs::read_to_string(folder.join("reveals.jsonl")).unwrap();
    let of_outcome = format!("\"seq\":{},", seqs[0]);
    let kept = lines(&reveals, |lines| lines.retain(|line| !line.contains(&of_outcome)));
    fs::write(folder.join("reveals.jsonl"), kept).unwrap();
    let cut = both(&folder);
    assert!(cut.ok && cut.records + 1 == report.records, "{cut:?}");
    assert_eq!(cut.unknown_outcomes, [vec![seqs[0] - 1], whole.unknown_outcomes].concat());
}

#[test]
fn an_export_of_one_session_without_a_record_is_refused() {
    let mut world = World::new();
    fill_log(&mut world);
    let folder = world.folder.path().join("session");
    export_session(&world, &folder, "desktop:s2").unwrap();
    for name in ["records.jsonl", "proofs.jsonl", "reveals.jsonl"] {
        fs::write(folder.join(name), "").unwrap();
    }
    let report = both(&folder);
    assert_eq!(report.problems.len(), 1, "{report:?}");
    assert_eq!(&*report.problems[0].message, "the export has no record");
}

#[test]
fn a_duplicated_value_in_an_export_of_one_session_is_reported() {
    let mut world = World::new();
    fill_log(&mut world);
    let folder = world.folder.path().join("session");
    export_session(&world, &folder, "desktop:s2").unwrap();
    let reveals = fs::read_to_string(folder.join("reveals.jsonl")).unwrap();
    fs::write(folder.join("reveals.jsonl"), format!("{reveals}{reveals}")).unwrap();
    assert!(!both(&folder).ok);
}

/// Applies `change` to a file of a new copy. Returns the report that both verifiers agree on.
fn change_and_verify(
    world: &World,
    name: &str,
    file: &str,
    change: impl Fn(String) -> String,
) -> VerifyReport {
    let folder = export_to(world, name);
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    let fresh = change(text.clone());
    assert_ne!(text, fresh, "{name} changes nothing");
    fs::write(&path, fresh).unwrap();
    both(&folder)
}

fn lines(text: &str, change: impl Fn(&mut Vec<String>)) -> String {
    let mut list: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut list);
    list.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn both_verifiers_name_the_same_first_bad_record() {
    let mut world = World::new();
    fill_log(&mut world);
    type Change = fn(String) -> String;
    let cases: [(&str, &str, Change, Option<u64>); 17] = [
        (
            "edit",
            "records.jsonl",
            |t| lines(&t, |l| l[6] = l[6].replace("cart.add", "cart.del")),
            Some(8),
        ),
        (
            "space",
            "records.jsonl",
            |t| lines(&t, |l| l[6] = l[6].replace("\"v\":1", "\"v\": 1")),
            Some(7),
        ),
        (
            "float",
            "records.jsonl",
            |t| lines(&t, |l| l[6] = l[6].replace("\"v\":1", "\"v\":1.0")),
            Some(7),
        ),
        (
            "twice",
            "records.jsonl",
            |t| lines(&t, |l| l[6] = l[6].replace("\"v\":1", "\"v\":1,\"v\":1")),
            Some(7),
        ),
        (
            "null",
            "records.jsonl",
            |t| lines(&t, |l| l[6] = l[6].replace("\"desktop:s1\"", "null")),
            Some(7),
        ),
        (
            "date",
            "records.jsonl",
            |t| lines(&t, |l| l[6] = l[6].replace("2026-02-0", "2026-02-3")),
            Some(7),
        ),
        (
            "unknown member",
            "records.jsonl",
            |t| lines(&t, |l| l[6] = l[6].replace("\"v\":1", "\"v\":1,\"w\":1")),
            Some(7),
        ),
        ("not text", "records.jsonl", |t| lines(&t, |l| l[6] = "\"\\ud800\"".to_owned()), Some(7)),
        ("swap", "records.jsonl", |t| lines(&t, |l| l.swap(8, 9)), Some(9)),
        ("double", "records.jsonl", |t| lines(&t, |l| l.insert(9, l[8].clone())), Some(10)),
        ("delete", "records.jsonl", |t| lines(&t, |l| drop(l.remove(3))), Some(4)),
        ("cut", "records.jsonl", |t| lines(&t, |l| l.truncate(15)), Some(16)),
        ("half a line", "records.jsonl", |t| t[..t.len() - 9].to_owned(), Some(21)),
        ("reveal", "reveals.jsonl", |t| t.replacen("12.5", "12.6", 1), Some(2)),
        ("reveal twice", "reveals.jsonl", |t| lines(&t, |l| l.insert(1, l[0].clone())), Some(2)),
        ("note", "checkpoint.txt", |t| t.replacen("\n12\n", "\n13\n", 1), None),
        ("key", "key.vkey", |t| t.replacen("+", "-", 1), Some(1)),
    ];
    for (name, file, change, first) in cases {
        let report = change_and_verify(&world, name, file, change);
        assert!(!report.ok, "{name}");
        if let Some(first) = first {
            assert_eq!(report.problems[0].seq, Some(first), "{name}: {:?}", report.problems);
        }
    }
}

/// Tests with large files run one after the other, because one of them measures memory.
static LARGE: Mutex<()> = Mutex::new(());

#[test]
fn the_longest_exported_line_can_be_read_and_a_longer_line_is_refused() {
    let _alone = LARGE.lock();
    let world = World::new();
    // Each character of the value's text needs an escape, including its quotes and the characters
    // that are already escaped.
    let quotes = "\"".repeat((32 << 20) / 2 - 1);
    run(async {
        let log = ready(audit::Log::open(world.options()).unwrap());
        let longest = RecordDraft::new(RecordType::SettingChanged).commit("value", json!(quotes));
        log.append(longest, Durability::Signed).await.unwrap();
        log.close().await.unwrap();
    });
    let folder = export_to(&world, "export");
    assert!(fs::metadata(folder.join("reveals.jsonl")).unwrap().len() > 64 << 20);
    let report = both(&folder);
    assert!(report.ok, "{:?}", report.problems);
    let whole = fs::read_to_string(folder.join("records.jsonl")).unwrap();
    fs::write(folder.join("reveals.jsonl"), "").unwrap();
    for (file, most) in [("records.jsonl", 1 << 20), ("reveals.jsonl", 66 << 20)] {
        fs::write(folder.join(file), "x".repeat(most + 1) + "\n").unwrap();
        let report = both(&folder);
        assert!(report.problems[0].message.contains("too long"), "{:?}", report.problems);
        fs::write(folder.join("records.jsonl"), &whole).unwrap();
    }
}

/// Returns a memory figure of this process, in bytes.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn reading_a_long_export_line_needs_bounded_memory() {
    let _alone = LARGE.lock();
    let mut world = World::new();
    fill_log(&mut world);
    let folder = export_to(&world, "export");
    let list = "0,".repeat(31 << 20);
    fs::write(folder.join("reveals.jsonl"), format!("{{\"member\":[{list}0]}}\n")).unwrap();
    drop(list);
    let before = memory("VmRSS");
    // This resets the peak memory figure.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    assert!(!verify(&folder, None).ok);
    let taken = memory("VmHWM").saturating_sub(before);
    assert!(taken < 700 << 20, "{} MiB", taken >> 20);
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 1000000 && exec python3 \"$0\" \"$1\""])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("verify.py"))
        .arg(&folder)
        .output()
        .unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{why}");
}

#[test]
fn both_verifiers_agree_on_randomly_damaged_exports() {
    let mut world = World::new();
    closed(&world, 6);
    let mut state = 0x5eed_u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    world.page_size = 4096;
    for round in 0..40 {
        let folder = export_to(&world, &format!("round-{round}"));
        let file = folder
            .join(["records.jsonl", "checkpoint.txt", "reveals.jsonl", "key.vkey"][round % 4]);
        let mut bytes = fs::read(&file).unwrap();
        let at = next(bytes.len());
        bytes[at] ^= 1 << next(8);
        fs::write(&file, bytes).unwrap();
        assert!(!both(&folder).ok, "round {round}, byte {at}");
    }
}
