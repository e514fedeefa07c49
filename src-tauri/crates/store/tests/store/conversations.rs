//! Tests of conversation memories: rows, items at their positions, and deletion with a session.

use contract::{SessionId, SummaryMethod, TurnId};
use engine::ports::{Conversations as _, Items as _, Memory, MemoryOf, Sessions as _, Side};
use store::SqliteStore;

use crate::world::{World, instant, message, with_session};

fn memory(key: &str, session: Option<&SessionId>, at: &str) -> Memory {
    Memory {
        key: key.into(),
        session: session.cloned(),
        agent: None,
        live: true,
        updated_at: instant(at),
        since: 1,
        through: 3,
        summary: "They met.".into(),
        messages: 2,
        method: SummaryMethod::Llm,
        untrusted: true,
        local_only: false,
        shown: false,
        told: true,
        failures: 1,
        failure: Some("busy".into()),
        tried_at: Some(instant(at)),
        summarised_at: None,
    }
}

async fn positions(
    store: &SqliteStore,
    of: &MemoryOf,
    after: u64,
    side: Side,
    limit: u32,
) -> Vec<u64> {
    store
        .memory_items(of, after, side, limit)
        .await
        .expect("read")
        .into_iter()
        .map(|one| one.position)
        .collect()
}

#[tokio::test]
async fn a_conversation_memory_is_read_back_unchanged() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "one").await;
    let row = memory("desktop:one", Some(&session), "2026-11-21T10:00:00Z");
    store.memory_put(&row, 0).await.expect("put");
    drop(store);
    assert_eq!(world.store().memory("desktop:one").await, Ok(Some(row)));
    assert_eq!(world.store().memory("desktop:two").await, Ok(None));
}

#[tokio::test]
async fn of_too_many_conversation_memories_the_least_recently_used_is_dropped() {
    let world = World::new();
    let store = world.store();
    for (key, at) in [
        ("a", "2026-11-21T10:00:00Z"),
        ("b", "2026-11-21T09:00:00Z"),
        ("c", "2026-11-21T11:00:00Z"),
    ] {
        store.memory_put(&memory(key, None, at), 2).await.expect("put");
    }
    let gone = store.memory("b").await.expect("read").expect("its row stays");
    assert!(!gone.live && gone.summary.is_empty(), "{gone:?}");
    assert!(store.memory("a").await.expect("read").expect("kept").live);
}

#[tokio::test]
async fn items_after_a_position_are_read_from_either_end() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "one").await;
    store.items_append((0..6).map(|n| message(&session, n)).collect()).await.expect("stored");
    let of = MemoryOf::Session(session);
    assert_eq!(positions(&store, &of, 0, Side::Newest, 2).await, [5, 6]);
    assert_eq!(positions(&store, &of, 2, Side::Oldest, 2).await, [3, 4]);
    assert_eq!(positions(&store, &of, 6, Side::Newest, 2).await, [0; 0]);
}

#[tokio::test]
async fn a_shared_memory_reads_the_items_of_its_sessions_in_order_of_time() {
    let world = World::new();
    let store = world.store();
    let (one, two) = (with_session(&store, "one").await, with_session(&store, "two").await);
    let said = async |session: &SessionId, n: u64, turn: &str| {
        let mut item = message(session, n);
        item.turn = TurnId::from(turn);
        store.items_append(vec![item]).await.expect("stored");
        store.memory_join("app/user/ann", &TurnId::from(turn)).await.expect("joined");
        store.memory_join("app/user/ann", &TurnId::from(turn)).await.expect("joined once");
    };
    said(&one, 0, "t1").await;
    said(&two, 0, "t2").await;
    said(&one, 1, "t3").await;
    store.memory_put(&memory("app/user/ann", None, "2026-11-21T10:00:00Z"), 0).await.expect("put");
    let of = MemoryOf::Shared("app/user/ann".into());
    let sessions = async || {
        store
            .memory_items(&of, 0, Side::Newest, 10)
            .await
            .expect("read")
            .into_iter()
            .map(|one| one.item.session.0.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(sessions().await, ["one", "two", "one"]);

    store.session_delete(&one).await.expect("deleted");
    assert_eq!(sessions().await, ["two"]);
    let shared = store.memory("app/user/ann").await.expect("read").expect("there");
    assert!(
        !shared.live && shared.summary.is_empty(),
        "a summary that may speak of a deleted session is forgotten"
    );
}
