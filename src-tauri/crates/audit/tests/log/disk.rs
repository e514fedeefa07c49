//! Tests of erasures and copies on a full disk, which is a real mount in a private mount namespace.
//! If mounting is not possible, the tests print that and pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use audit::{Log, verify};
use engine::ports::{AuditLog as _, Durability};

use crate::kept::{COPY, Moving, files_with, numbered, value};
use crate::kit::{World, ready, run};

const FOLDER: &str = "LOG_TEST_MOUNT_FOLDER";
/// The numbers of bytes that are left free on the disk. With each number, an erasure fails at a
/// different step.
const LEFT: [u64; 6] = [0, 1 << 12, 1 << 14, 1 << 15, 1 << 16, 1 << 17];
/// The number of records in one log.
const RECORDS: u64 = 60;

/// Runs a child test with a small disk mounted on `$LOG_TEST_MOUNT_FOLDER`.
fn on_a_small_disk(test: &str) {
    let can =
        Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !can.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this account cannot mount in a namespace of its own");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = format!("set -e; mount -t tmpfs -o size=4m tmpfs \"${FOLDER}\"; exec \"$@\"");
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", &script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "the child ran its test");
}

fn mounted_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Fills the disk until `left` bytes are free.
fn fill_disk(folder: &Path, left: u64) {
    let path = folder.join("filler");
    fs::write(&path, vec![0; 8 << 20]).unwrap_err();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let len = file.metadata().unwrap().len();
    file.set_len(len.saturating_sub(left)).unwrap();
}

/// The steps that run on the full disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    EraseValue,
    EraseSession,
    Expire,
    UpdateCopy,
}

impl Action {
    /// Runs the step. The error is the sentence for a person.
    async fn run(self, log: &Log, folder: &Path) -> Result<(), String> {
        let failed = |error: engine::ports::AuditUnavailable| error.to_string();
        match self {
            Self::EraseValue => log.erase(20, "input").await.map(drop).map_err(failed),
            Self::EraseSession => {
                log.erase_session(&"desktop:s1".into()).await.map(drop).map_err(failed)
            }
            Self::Expire => {
                let at = log.show(30).await.unwrap().at;
                log.erase_before(at).await.map(drop).map_err(failed)
            }
            Self::UpdateCopy => {
                log.update_copy(&folder.join(COPY)).map_err(|error| error.message.to_string())
            }
        }
    }

    /// Whether the step erases the value of this record. The first record has no value.
    fn erases(self, seq: u64) -> bool {
        match self {
            Self::EraseValue => seq == 20,
            Self::EraseSession => seq % 3 == 1,
            Self::Expire => seq < 30,
            Self::UpdateCopy => false,
        }
    }
}

#[test]
fn erasing_and_copying_on_a_full_disk_lose_no_record_and_succeed_later() {
    on_a_small_disk("disk::child_full");
}

#[test]
fn child_full() {
    let Some(folder) = mounted_folder() else { return };
    let mut failed = Vec::new();
    for action in [Action::EraseValue, Action::EraseSession, Action::Expire, Action::UpdateCopy] {
        for left in LEFT {
            let place = folder.join(format!("{action:?}-{left}"));
            fs::create_dir(&place).unwrap();
            if run(one_action(&place, action, left)) {
                failed.push(action);
            }
            fs::remove_dir_all(place).unwrap();
        }
        assert!(failed.contains(&action), "{action:?} never found the disk full");
    }
}

/// Returns whether the action failed while the disk was full.
async fn one_action(folder: &Path, action: Action, left: u64) -> bool {
    let case = format!("{action:?} with {left} bytes left");
    // The marks are on another disk.
    let world = World::new();
    let options = || {
        let mut options = world.options();
        options.path = folder.join("audit.db");
        options.clock = Moving::new();
        options
    };
    let log = ready(Log::open(options()).unwrap());
    for seq in 2..=RECORDS {
        log.append(numbered(seq, seq % 3), Durability::Durable).await.unwrap();
        if seq == RECORDS / 2 {
            log.update_copy(&folder.join(COPY)).unwrap();
        }
    }
    log.checkpoint().await.unwrap();
    log.choices().await.unwrap();
    fill_disk(folder, left);
    let refused = action.run(&log, folder).await.err();
    if let Some(sentence) = &refused {
        assert!(sentence.contains("full"), "{case}: {sentence}");
        check_values(&log, |_| true, &case).await;
        let report = log.verify().await.unwrap();
        assert!(report.ok, "{case}: {:?}", report.problems);
    }
    fs::remove_file(folder.join("filler")).unwrap();
    action.run(&log, folder).await.unwrap_or_else(|error| panic!("{case}: again: {error}"));
    log.append(numbered(RECORDS + 1, 0), Durability::Signed).await.unwrap();
    log.update_copy(&folder.join(COPY)).unwrap();
    let erased: Vec<u64> = (2..=RECORDS).filter(|seq| action.erases(*seq)).collect();
    let found = files_with(folder, &erased, |_| true);
    assert!(found.is_empty(), "{case}: erased values are left: {found:?}");
    log.close().await.unwrap();
    for path in [folder.join("audit.db"), folder.join(COPY)] {
        let report = verify(&path, None);
        assert!(report.ok, "{case}: {}: {:?}", path.display(), report.problems);
    }
    let log = ready(Log::open(options()).unwrap());
    check_values(&log, |seq| !action.erases(seq), &case).await;
    log.close().await.unwrap();
    refused.is_some()
}

/// Checks that each record is there, and that its value is there if it was kept.
async fn check_values(log: &Log, is_kept: impl Fn(u64) -> bool, case: &str) {
    for seq in 2..=RECORDS {
        let revealed = &log.show(seq).await.unwrap().revealed["input"];
        let expected = if is_kept(seq) { value(seq).into() } else { serde_json::Value::Null };
        assert_eq!(*revealed, expected, "{case}: record {seq}");
    }
}
