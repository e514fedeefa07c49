//! Tests of the texts that remain of messages which are not shown: shown summaries, titles and
//! questions; and of actions that come late.

use contract::{Approval, Item, ItemBody, SessionId, SummaryMethod, TurnId};
use engine::ports::{
    Approvals as _, Conversations as _, Items as _, MemoryOf, Recordings as _, Sessions as _,
    StoredRecording, Turns as _, VersionChange, Versions as _,
};
use rusqlite::Connection;
use store::SqliteStore;

use crate::versions::{change, item, line, question, replace, row, turn};
use crate::world::{World, instant, pending, with_session};

/// Returns an item that shows a summary in a turn.
fn summary(session: &SessionId, turn: &str, name: &str, at: &str) -> Item {
    let text = format!("summary {name}");
    let body = ItemBody::Summary { text, messages: 2, method: SummaryMethod::Heuristic };
    Item { created_at: instant(at), ..item(session, turn, name, body) }
}

async fn summaries(store: &SqliteStore, session: &SessionId) -> Vec<String> {
    let items = store.items_before(session, None, 99).await.expect("read");
    let texts = items.into_iter().filter_map(|item| match item.body {
        ItemBody::Summary { text, .. } => Some(text),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn a_shown_summary_is_hidden_and_deleted_with_an_earlier_message() {
    let world = World::new();
    let (store, session) = line(&world).await;
    // The messages are deleted at 11:00.
    let made = [
        summary(&session, "b", "of a", "2026-11-21T10:30:00Z"),
        summary(&session, "c", "of a and b", "2026-11-21T10:40:00Z"),
        summary(&session, "c", "after the deletion", "2026-11-21T12:00:00Z"),
    ];
    store.items_append(made.to_vec()).await.expect("appended");
    let all = ["summary of a", "summary of a and b", "summary after the deletion"];
    change(&store, &session, VersionChange::Delete("b".into())).await;
    assert_eq!(summaries(&store, &session).await, all[2..], "its own turn is hidden, too");
    change(&store, &session, VersionChange::Restore("b".into())).await;
    assert_eq!(summaries(&store, &session).await, all);
    change(&store, &session, VersionChange::Delete("a".into())).await;
    assert_eq!(summaries(&store, &session).await, all[2..]);
    // A switch back and forth does not show them.
    replace(&store, &session, "c", "x").await;
    change(&store, &session, VersionChange::Show("c".into())).await;
    assert_eq!(summaries(&store, &session).await, all[2..]);
    store.turn_delete(&session, &"a".into()).await.expect("deleted");
    assert_eq!(summaries(&store, &session).await, all[2..]);
    for turn in ["b", "c"] {
        let kept = store.items_of_turn(&turn.into()).await.expect("read");
        let tells = |body: &ItemBody| match body {
            ItemBody::Summary { text, .. } => text.contains("of a"),
            _ => false,
        };
        assert!(!kept.iter().any(|item| tells(&item.body)), "{turn}: {kept:?}");
    }
}

#[tokio::test]
async fn a_summary_that_another_session_shows_is_deleted_with_a_message_of_a_shared_memory() {
    let world = World::new();
    let (store, session) = line(&world).await;
    let (other, apart) = (with_session(&store, "other").await, with_session(&store, "apart").await);
    for (of, name) in [(&other, "o"), (&apart, "p")] {
        turn(&store, of, name).await;
        let shown = [
            summary(of, name, &format!("{name} before"), "2026-11-21T09:00:00Z"),
            summary(of, name, &format!("{name} meanwhile"), "2026-11-21T10:30:00Z"),
        ];
        store.items_append(shown.to_vec()).await.expect("appended");
    }
    for turn in ["a", "b", "o"] {
        store.memory_join("user:anna", &turn.into()).await.expect("joined");
    }
    store.memory_join("user:bo", &"p".into()).await.expect("joined");
    change(&store, &session, VersionChange::Delete("b".into())).await;
    store.turn_delete(&session, &"b".into()).await.expect("deleted");
    assert_eq!(summaries(&store, &other).await, ["summary o before"]);
    assert_eq!(summaries(&store, &apart).await, ["summary p before", "summary p meanwhile"]);
}

#[tokio::test]
async fn an_action_of_a_hidden_turn_cannot_become_pending() {
    let world = World::new();
    let (store, session) = line(&world).await;
    replace(&store, &session, "c", "x").await;
    let of = |id: &str, turn: &str| Approval {
        turn: turn.into(),
        ..pending(id, &session, "2026-11-21T10:00:00Z")
    };
    store.approval_insert(&of("late", "c")).await.expect_err("its turn is hidden");
    assert_eq!(store.approval(&"late".into()).await, Ok(None));
    store.approval_insert(&of("shown", "x")).await.expect("stored");
    store.approval_insert(&of("direct", "no-turn")).await.expect("a direct call has no turn");
}

#[tokio::test]
async fn hidden_questions_are_listed_and_a_title_is_replaced_if_it_is_still_the_same() {
    let world = World::new();
    let (store, session) = line(&world).await;
    assert_eq!(store.questions_hidden(&session, 9).await, Ok(vec![]));
    replace(&store, &session, "b", "x").await;
    let hidden = store.questions_hidden(&session, 9).await.expect("read");
    let turns: Vec<TurnId> = hidden.into_iter().map(|item| item.turn).collect();
    assert_eq!(turns, [TurnId::from("b"), "c".into()]);
    assert_eq!(store.questions_hidden(&session, 1).await.expect("read").len(), 1);

    store.session_rename(&session, "Mine").await.expect("renamed");
    store.session_retitle(&session, "A title", "Another", true).await.expect("not written");
    assert_eq!(store.session(&session).await.expect("read").expect("there").title, "Mine");
    store.session_retitle(&session, "Mine", "Another", false).await.expect("written");
    assert_eq!(store.session_open_title(&session).await, Ok(Some("Another".into())));
    store.session_retitle(&session, "Another", "The last", true).await.expect("written");
    assert_eq!(store.session_open_title(&session).await, Ok(None));
    assert_eq!(store.session(&session).await.expect("read").expect("there").title, "The last");
}

#[tokio::test]
async fn the_end_of_a_memory_includes_items_that_are_not_shown() {
    let world = World::new();
    let (store, session) = line(&world).await;
    let own = MemoryOf::Session(session.clone());
    let shared = MemoryOf::Shared("user:anna".into());
    for of in [&MemoryOf::Session("none".into()), &shared] {
        assert_eq!(store.memory_end(of).await, Ok(0));
    }
    for turn in ["a", "c"] {
        store.memory_join("user:anna", &turn.into()).await.expect("joined");
    }
    replace(&store, &session, "b", "x").await;
    change(&store, &session, VersionChange::Show("b".into())).await;
    assert_eq!(store.memory_end(&own).await, Ok(4), "the hidden x has number 4");
    assert_eq!(store.memory_end(&shared).await, Ok(2));
}

#[tokio::test]
async fn a_recording_is_deleted_with_an_earlier_message_whose_turn_got_its_row_later() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    turn(&store, &session, "a").await;
    store.items_append(vec![question(&session, "lost")]).await.expect("appended");
    turn(&store, &session, "b").await;
    store.turn_save(&row(&session, "lost"), Vec::new(), None).await.expect("saved");
    for turn in ["a", "b"] {
        let recording = StoredRecording {
            session: session.clone(),
            turn: turn.into(),
            body: "{}".into(),
            memories: Vec::new(),
        };
        store.recording_put(recording, 9).await.expect("put");
    }
    change(&store, &session, VersionChange::Delete("lost".into())).await;
    store.turn_delete(&session, &"lost".into()).await.expect("deleted");
    assert_eq!(store.recording(&"b".into()).await, Ok(None), "its summaries may have the message");
    assert!(store.recording(&"a".into()).await.expect("read").is_some());
}

#[tokio::test]
async fn an_undo_is_stored_although_the_turn_is_hidden_with_another_version() {
    let world = World::new();
    let (store, session) = line(&world).await;
    change(&store, &session, VersionChange::Delete("b".into())).await;
    replace(&store, &session, "a", "x").await;
    let restore = VersionChange::Restore("b".into());
    let planned = store.version_check(&session, &restore).await.expect("read").expect("possible");
    assert!(planned.is_changed);
    change(&store, &session, restore).await;
    assert_eq!(store.turns_deleted(None).await, Ok(vec![]));
    store.close();
    let conn = Connection::open(world.db()).expect("opened");
    let hidden: i64 = conn
        .query_row("SELECT hidden FROM turn WHERE id = 'b'", [], |row| row.get(0))
        .expect("read");
    assert_eq!(hidden, 1);
}
