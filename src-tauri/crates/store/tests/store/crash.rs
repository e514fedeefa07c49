//! Kills the process with SIGKILL at any moment: acknowledged data is kept, and the file is valid.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use engine::ports::Items as _;
use rusqlite::Connection;
use soak::{Plan, Random};

use crate::world::{World, message, run_again, with_session};

const FOLDER: &str = "STORE_TEST_CRASH_FOLDER";

/// This is not a test by itself, but the process that is killed. Prints the number of each item
/// that the store has acknowledged.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let world = World { folder: tempfile::tempdir().expect("unused"), ..World::new() };
    let path = std::path::PathBuf::from(folder).join("countersign.db");
    let opened = crate::world::open_at(&path, world.clock);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let id = with_session(&opened.store, "s").await;
        let mut next = opened
            .store
            .items_before(&id, None, 1)
            .await
            .expect("read")
            .last()
            .map_or(0, |item| item.seq);
        let mut out = std::io::stdout();
        loop {
            let stored =
                opened.store.items_append(vec![message(&id, next)]).await.expect("appended");
            next = stored[0].seq;
            writeln!(out, "stored {next}").expect("told");
            out.flush().expect("told");
        }
    });
}

/// Starts a process that stores items, and kills it at a random instant: after an acknowledgement,
/// or after some time, possibly while the store opens. Returns the number of the last acknowledged
/// item.
fn killed(world: &World, random: &mut Random) -> Option<u64> {
    let mut child = run_again("crash::child", &[])
        .env(FOLDER, world.folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let after = random.chance(70).then(|| 1 + random.below(60));
    if after.is_none() {
        sleep(Duration::from_micros(random.below(30_000)));
        child.kill().expect("killed");
    }
    let (mut told, mut count) = (None, 0);
    for line in lines.map_while(Result::ok) {
        let Some(n) = line.split_once("stored ").and_then(|(_, n)| n.trim().parse::<u64>().ok())
        else {
            continue;
        };
        told = Some(n);
        count += 1;
        if after == Some(count) {
            sleep(Duration::from_micros(random.below(2_000)));
            child.kill().expect("killed");
        }
    }
    child.wait().expect("reaped");
    assert!(after.is_none_or(|after| count >= after), "the process ended by itself");
    told
}

/// The number of kills of one store before the next store is used.
const KILLS: u64 = 10;

#[tokio::test]
async fn acknowledged_writes_survive_a_kill() {
    let plan = Plan::new("kills of a store's process", 300);
    let mut sum = 0;
    for number in 0..plan.cases().div_ceil(KILLS) {
        let (world, mut random) = (World::new(), plan.random(number));
        let mut told = 0;
        for kill in 0..KILLS {
            let case = format!("{}, kill {kill}", plan.case(number));
            told = killed(&world, &mut random).unwrap_or(told);
            // Some stores are used again after a kill and are never closed.
            if random.chance(30) {
                continue;
            }
            let opened = world.open();
            assert!(opened.recovered.is_none(), "{case}: a kill damages nothing");
            let newest = opened.store.items_before(&"s".into(), None, 1).await.expect("read");
            assert!(
                told == 0 || newest.last().is_some_and(|item| item.seq >= told),
                "{case}: item {told} was promised"
            );
            if random.chance(50) {
                drop(opened);
            } else {
                opened.store.close();
            }
            let verdict: String = Connection::open(world.db())
                .expect("opened")
                .query_row("PRAGMA integrity_check", [], |row| row.get(0))
                .expect("checked");
            assert_eq!(verdict, "ok", "{case}");
        }
        sum += told;
    }
    assert!(sum > 100, "the children stored {sum} items");
}
