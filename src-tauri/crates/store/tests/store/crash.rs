//! SIGKILL at any moment: what was answered is there, and the file is sound.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use engine::ports::Store as _;
use rusqlite::Connection;

use crate::world::{World, again, message, with_session};

const FOLDER: &str = "STORE_TEST_CRASH_FOLDER";

/// Not a test by itself: the process that is killed. Tells the number of each item that the store has answered for.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let world = World { folder: tempfile::tempdir().expect("unused"), ..World::new() };
    let path = std::path::PathBuf::from(folder).join("countersign.db");
    let opened = crate::world::open_at(&path, world.clock);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let id = with_session(&opened.store, "s").await;
        let mut next = opened.store.items_before(&id, None, 1).await.expect("read").last().map_or(0, |item| item.seq);
        let mut out = std::io::stdout();
        loop {
            let stored = opened.store.items_append(vec![message(&id, next)]).await.expect("appended");
            next = stored[0].seq;
            writeln!(out, "stored {next}").expect("told");
            out.flush().expect("told");
        }
    });
}

#[tokio::test]
async fn what_was_answered_survives_a_kill() {
    let world = World::new();
    drop(world.store());
    let mut told = 0;
    for round in 0..8 {
        let mut child = again("crash::child", &[]).env(FOLDER, world.folder.path()).stdout(Stdio::piped()).spawn().expect("started");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut in_round = 0;
        for line in lines.map_while(Result::ok) {
            let Some(n) = line.split_once("stored ").and_then(|(_, n)| n.trim().parse::<u64>().ok()) else { continue };
            told = n;
            in_round += 1;
            if in_round == 1 + round * 7 {
                child.kill().expect("killed");
            }
        }
        child.wait().expect("reaped");
        let opened = world.open();
        assert!(opened.recovered.is_none(), "a kill damages nothing");
        let newest = opened.store.items_before(&"s".into(), None, 1).await.expect("read");
        assert!(newest.last().is_some_and(|item| item.seq >= told), "item {told} was promised");
        if round % 2 == 1 {
            drop(opened);
        } else {
            opened.store.close();
        }
        let verdict: String = Connection::open(world.db()).expect("opened").query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
        assert_eq!(verdict, "ok");
    }
    assert!(told > 100, "the children stored {told} items");
}
