//! Tests of kills, a full disk, and a read-only disk: acknowledged records are kept, and other
//! records are refused. Other tests run the `inside_...` tests in a new process.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use audit::{Anchor as _, Log, verify};
use contract::RecordType;
use engine::ports::{AuditLog as _, Durability, RecordDraft};
use soak::{Plan, Random};

use crate::kit::{World, ready, run};

const FOLDER: &str = "AUDIT_TEST_FOLDER";

fn inside(test: &str) -> Vec<String> {
    vec![
        std::env::current_exe().unwrap().display().to_string(),
        "--exact".into(),
        format!("crash::{test}"),
        "--ignored".into(),
        "--nocapture".into(),
    ]
}

fn given_world() -> World {
    let mut world = World::new();
    world.place =
        Some(PathBuf::from(std::env::var_os(FOLDER).expect("started by its parent only")));
    world
}

fn numbered(n: u64) -> RecordDraft {
    RecordDraft::new(RecordType::RunStarted).field("n", n).commit("input", "x".repeat(200))
}

#[test]
#[ignore = "started by the test that kills it"]
fn inside_appends() {
    let world = given_world();
    run(async {
        let log = world.open();
        for n in 0.. {
            let how =
                [Durability::Durable, Durability::Grouped, Durability::Signed, Durability::Durable]
                    [n as usize % 4];
            let seq = log.append(numbered(n), how).await.unwrap();
            if how != Durability::Grouped {
                println!("ack {seq} {n}");
            }
        }
    });
}

/// Starts a process that appends to the log at `folder`, and kills it at a random instant: after an
/// acknowledgement, or after some time, possibly while the log opens. Returns the acknowledged
/// records.
pub(crate) fn killed(folder: &Path, random: &mut Random) -> Vec<(u64, u64)> {
    let command = inside("inside_appends");
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let after = random.chance(70).then(|| 1 + random.index(60));
    if after.is_none() {
        sleep(Duration::from_micros(random.below(30_000)));
        child.kill().unwrap();
    }
    let mut acked = Vec::new();
    for line in lines {
        let line = line.unwrap();
        let Some(rest) = line.split("ack ").nth(1) else { continue };
        let (seq, n) = rest.split_once(' ').unwrap();
        acked.push((seq.parse().unwrap(), n.parse().unwrap()));
        if after == Some(acked.len()) {
            sleep(Duration::from_micros(random.below(2_000)));
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(after.is_none_or(|after| acked.len() >= after), "the process ended by itself");
    acked
}

/// The number of kills of one log before the next log is used.
const KILLS: u64 = 10;

#[test]
fn acknowledged_records_survive_kill_9() {
    let plan = Plan::new("kills of a log's process", 500);
    for number in 0..plan.cases().div_ceil(KILLS) {
        let (world, mut random) = (World::new(), plan.random(number));
        let mut acked: Vec<(u64, u64)> = Vec::new();
        for kill in 0..KILLS {
            let case = format!("{}, kill {kill}", plan.case(number));
            acked.extend(killed(world.folder.path(), &mut random));
            // The log is checked as it was left, with the stored mark, before any write. A mark is
            // stored just after its checkpoint, so the first mark may not exist yet.
            let mark = world.anchor().load().unwrap();
            if mark.is_some() || !acked.is_empty() {
                let report = verify(&world.db(), mark.as_ref());
                assert!(report.ok, "{case}: {:?}", report.problems);
            }
            // Some logs are used again after a kill and are never closed.
            if random.chance(30) {
                continue;
            }
            run(async {
                let log = world.open();
                for (seq, n) in &acked {
                    assert_eq!(
                        log.show(*seq).await.unwrap().fields["n"],
                        *n,
                        "{case}: record {seq}"
                    );
                }
                log.close().await.unwrap();
            });
        }
        run(async { world.open().close().await.unwrap() });
        let report = verify(&world.db(), Some(&world.mark()));
        assert!(
            report.ok && report.records > acked.len() as u64,
            "{}: {:?}",
            plan.case(number),
            report.problems
        );
    }
}

/// Runs one of the `inside_` tests with a small disk mounted at `folder`.
fn on_a_small_disk(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !is_root {
        command.arg("--map-root-user");
    }
    let status = command
        .args(["sh", "-c", "mount -t tmpfs -o size=1200k tmpfs \"$0\" && exec \"$@\""])
        .arg(folder.path())
        .args(inside(test))
        .env(FOLDER, folder.path())
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_full_disk_refuses_records_and_takes_them_again_when_there_is_room() {
    on_a_small_disk("inside_full_disk");
}

#[test]
#[ignore = "needs the small disk that its parent makes"]
fn inside_full_disk() {
    let world = given_world();
    let ballast = world.root().join("ballast");
    std::fs::write(&ballast, vec![1u8; 500_000]).unwrap();
    run(async {
        let log = world.open();
        let mut acked = Vec::new();
        let refused = loop {
            let big = numbered(acked.len() as u64).commit("result", "y".repeat(20_000));
            match log.append(big, Durability::Durable).await {
                Ok(seq) => acked.push(seq),
                Err(refused) => break refused,
            }
            assert!(acked.len() < 200, "the disk never fills");
        };
        assert!(refused.0.contains("disk is full"), "{refused}");
        assert!(
            log.append(numbered(900), Durability::Signed).await.is_err()
                || log.total() > acked.len() as u64 + 1
        );
        std::fs::remove_file(&ballast).unwrap();
        let seq = log.append(numbered(901), Durability::Signed).await.unwrap();
        assert!(seq > *acked.last().unwrap());
        for seq in acked {
            log.show(seq).await.unwrap();
        }
        let report = log.verify().await.unwrap();
        assert!(report.ok, "{:?}", report.problems);
        log.close().await.unwrap();
    });
}

#[test]
fn a_disk_that_cannot_be_written_refuses_to_open_and_can_still_be_verified() {
    on_a_small_disk("inside_read_only");
}

#[test]
#[ignore = "needs the small disk that its parent makes"]
fn inside_read_only() {
    let world = given_world();
    run(async {
        let log = world.open();
        log.append(numbered(1), Durability::Durable).await.unwrap();
        log.close().await.unwrap();
    });
    remount(world.root(), "ro");
    let Err(refused) = Log::open(world.options()) else { panic!("opened") };
    assert!(
        refused.0.contains("not writable") || refused.0.contains("cannot be opened"),
        "{refused}"
    );
    let report = verify(&world.db(), Some(&world.mark()));
    assert!(report.ok && report.records == 2, "{:?}", report.problems);
    remount(world.root(), "rw");
    run(async {
        let log = ready(Log::open(world.options()).unwrap());
        log.close().await.unwrap();
    });
}

fn remount(folder: &Path, how: &str) {
    assert!(
        Command::new("mount")
            .args(["-o", &format!("remount,{how}")])
            .arg(folder)
            .status()
            .unwrap()
            .success()
    );
}
