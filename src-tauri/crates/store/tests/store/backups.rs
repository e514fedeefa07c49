//! Tests of daily copies: a copy is made at a clean end if the database changed, is complete, and
//! only three copies are kept.

use chrono::TimeDelta;
use engine::ports::Items as _;
use rusqlite::Connection;

use crate::world::{World, message, with_session};

#[tokio::test]
async fn a_backup_is_made_once_a_day_if_something_changed() {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "s").await;
    store.close();
    assert_eq!(world.backups(), ["countersign-20261121T100000Z.db"]);

    world.pass(TimeDelta::hours(5));
    let store = world.store();
    store.items_append(vec![message(&id, 1)]).await.expect("appended");
    store.close();
    assert_eq!(world.backups().len(), 1, "the last one is not a day old");

    world.pass(TimeDelta::hours(20));
    let store = world.store();
    store.items_append(vec![message(&id, 2)]).await.expect("appended");
    store.close();
    assert_eq!(
        world.backups(),
        ["countersign-20261121T100000Z.db", "countersign-20261122T110000Z.db"]
    );

    world.pass(TimeDelta::days(3));
    world.store().close();
    assert_eq!(world.backups().len(), 2, "nothing changed since");

    let copy =
        Connection::open(world.folder.path().join("backups/countersign-20261122T110000Z.db"))
            .expect("opened");
    assert_eq!(copy.query_row("SELECT count(*) FROM item", [], |row| row.get::<_, i64>(0)), Ok(2));
}

#[tokio::test]
async fn three_daily_backups_are_kept() {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "s").await;
    store.close();
    for n in 1..=5 {
        world.pass(TimeDelta::days(2));
        let store = world.store();
        store.items_append(vec![message(&id, n)]).await.expect("appended");
        store.close();
    }
    assert_eq!(
        world.backups(),
        [
            "countersign-20261127T100000Z.db",
            "countersign-20261129T100000Z.db",
            "countersign-20261201T100000Z.db"
        ]
    );
}

#[tokio::test]
async fn closing_the_store_leaves_no_write_ahead_log() {
    let world = World::new();
    let store = world.store();
    with_session(&store, "s").await;
    store.close();
    assert!(!world.folder.path().join("countersign.db-wal").exists());
    store.close();
}

#[tokio::test]
async fn a_copy_is_known_as_a_copy_until_it_is_complete() {
    let world = World::new();
    let store = world.store();
    with_session(&store, "s").await;
    assert_eq!(store.is_copy().await, Ok(false));
    store.close();
    let backup = world.folder.path().join("backups").join(&world.backups()[0]);

    // A person puts the copy in the place of the database.
    std::fs::copy(&backup, world.db()).expect("copied");
    let store = world.store();
    assert_eq!(store.is_copy().await, Ok(true));
    store.close();
    let store = world.store();
    assert_eq!(store.is_copy().await, Ok(true), "the next start tries again");
    store.unmark_copy().await.expect("written");
    assert_eq!(store.is_copy().await, Ok(false));
    store.close();
    assert_eq!(world.store().is_copy().await, Ok(false));
}

#[tokio::test]
async fn a_copy_of_an_earlier_version_is_marked_when_it_replaces_a_damaged_database() {
    let world = World::new();
    let store = world.store();
    with_session(&store, "s").await;
    store.close();
    let copy = world.folder.path().join("backups").join(&world.backups()[0]);
    let copy = Connection::open(copy).expect("opened");
    copy.execute_batch("PRAGMA application_id = 0;").expect("written");
    drop(copy);
    std::fs::write(world.db(), [0x5A; 8192]).expect("written");
    let opened = world.open();
    assert!(opened.recovered.is_some());
    assert_eq!(opened.store.is_copy().await, Ok(true));
}
