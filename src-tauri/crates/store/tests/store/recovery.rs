//! Damaged files: truncated, overwritten, or not a database at all. The damaged file is renamed and
//! replaced by the newest valid copy.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};

use chrono::TimeDelta;
use engine::ports::{Items as _, SessionFilter, Sessions as _};
use store::OpenedStore;

use crate::world::{World, instant, message, names, with_session};

/// Creates a closed store with a copy of 20 items, and with 20 items that are newer than the copy.
async fn with_history() -> World {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "s").await;
    store.items_append((0..20).map(|n| message(&id, n)).collect()).await.expect("appended");
    store.close();
    world.pass(TimeDelta::hours(1));
    let store = world.store();
    store.items_append((20..40).map(|n| message(&id, n)).collect()).await.expect("appended");
    store.close();
    world
}

async fn items(opened: &OpenedStore) -> usize {
    opened.store.items_before(&"s".into(), None, 100).await.expect("read").len()
}

fn overwrite(world: &World, from: u64, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(world.db()).expect("opened");
    file.seek(SeekFrom::Start(from)).expect("there");
    file.write_all(bytes).expect("written");
}

#[tokio::test]
async fn a_truncated_database_is_set_aside_and_replaced_by_the_backup() {
    let world = with_history().await;
    let whole = fs::metadata(world.db()).expect("there").len();
    fs::OpenOptions::new()
        .write(true)
        .open(world.db())
        .expect("opened")
        .set_len(whole / 2)
        .expect("cut");
    let opened = world.open();
    let recovered = opened.recovered.clone().expect("the damage is reported");
    assert_eq!(recovered.lost_after, Some(instant("2026-11-21T10:00:00Z")));
    assert!(recovered.backup.as_ref().is_some_and(|path| path.exists()));
    assert_eq!(
        fs::metadata(&recovered.old).expect("kept").len(),
        whole / 2,
        "the damaged file is kept as it was"
    );
    assert_eq!(items(&opened).await, 20);
    with_session(&opened.store, "new").await;
    drop(opened);
    assert!(world.open().recovered.is_none(), "it is reported once");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_set_aside_and_replaced_by_the_backup() {
    let world = with_history().await;
    overwrite(&world, 0, &[0x5A; 200]);
    let opened = world.open();
    assert!(opened.recovered.is_some());
    assert_eq!(items(&opened).await, 20);
}

#[tokio::test]
async fn overwritten_database_pages_are_found_by_the_daily_check() {
    let world = with_history().await;
    let pages = fs::metadata(world.db()).expect("there").len() / 4096;
    for page in 2..pages {
        overwrite(&world, page * 4096, &[0xFF; 64]);
    }
    world.pass(TimeDelta::days(2));
    let opened = world.open();
    assert!(opened.recovered.is_some());
    assert_eq!(items(&opened).await, 20);
}

/// Overwrites the first page of one table, but not the schema, which every start reads.
fn overwrite_items(world: &World) {
    let root: u32 = {
        let conn = rusqlite::Connection::open(world.db()).expect("opened");
        conn.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'item'", [], |row| {
            row.get(0)
        })
        .expect("a page")
    };
    overwrite(world, u64::from(root - 1) * 4096, &[0xFF; 64]);
}

#[tokio::test]
async fn damage_after_a_crash_is_found_by_both_checks() {
    let world = with_history().await;
    overwrite_items(&world);
    // A crash leaves a write-ahead log, which the first check removes.
    let mut left = world.db().into_os_string();
    left.push("-wal");
    fs::write(left, [0; 64]).expect("written");
    let opened = world.open();
    assert!(opened.recovered.is_some());
    assert_eq!(items(&opened).await, 20);
}

#[tokio::test]
async fn damage_found_while_running_is_repaired_at_the_next_start() {
    let world = with_history().await;
    overwrite_items(&world);
    let opened = world.open();
    assert!(opened.recovered.is_none(), "a check is not due: the start stays cheap");
    let error = opened.store.items_before(&"s".into(), None, 100).await.expect_err("damaged");
    assert!(error.to_string().contains("restart the app to restore it"), "{error}");
    drop(opened);
    let opened = world.open();
    assert!(opened.recovered.is_some());
    assert_eq!(items(&opened).await, 20);
}

#[tokio::test]
async fn a_damaged_backup_is_skipped() {
    let world = with_history().await;
    world.pass(TimeDelta::days(2));
    let store = world.store();
    with_session(&store, "later").await;
    store.close();
    assert_eq!(world.backups().len(), 2);
    fs::write(
        world.folder.path().join("backups/countersign-20261123T110000Z.db"),
        "not a database at all",
    )
    .expect("spoilt");
    overwrite(&world, 0, &[0; 100]);
    let opened = world.open();
    assert_eq!(
        opened.recovered.as_ref().and_then(|r| r.lost_after),
        Some(instant("2026-11-21T10:00:00Z"))
    );
    assert_eq!(items(&opened).await, 20);
}

#[tokio::test]
async fn without_a_backup_the_store_starts_empty_and_keeps_the_damaged_file() {
    let world = World::new();
    fs::write(world.db(), "this was never a database, but someone may want it".repeat(100))
        .expect("written");
    let opened = world.open();
    let recovered = opened.recovered.expect("reported");
    assert_eq!((recovered.backup, recovered.lost_after), (None, None));
    assert_eq!(
        names(world.folder.path(), ".db"),
        ["countersign.damaged-20261121T100000Z.db", "countersign.db"]
    );
    assert_eq!(opened.store.sessions(&SessionFilter::default(), 0, 9).await, Ok(vec![]));
}

#[test]
fn a_file_of_another_program_is_not_moved() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("index.db");
    fs::write(&file, [0x5a; 20_000]).expect("written");
    let now = instant("2026-11-21T10:00:00Z");
    assert_eq!(store::check_database(&file, now).expect("checked"), None);
    assert_eq!(fs::read(&file).expect("read"), [0x5a; 20_000]);
    // A file that has a copy was a database, so it is replaced.
    let db = folder.path().join("own.db");
    let conn = rusqlite::Connection::open(&db).expect("opened");
    conn.execute_batch("CREATE TABLE a (b); INSERT INTO a VALUES (1);").expect("filled");
    drop(conn);
    assert!(store::copy_database(&db, now).expect("copied").is_some());
    fs::write(&db, [0x5a; 20_000]).expect("written");
    let later = instant("2026-11-23T10:00:00Z");
    let recovered = store::check_database(&db, later).expect("checked").expect("replaced");
    assert!(recovered.backup.is_some());
}
