//! Tests of the versions of messages: which items are shown, what a change resets, and what a
//! deletion leaves.

use contract::{
    Approval, ApprovalStatus, Effect, Item, ItemBody, MemoryEntry, MemoryKind, ResultView,
    SessionId, SummaryMethod, ToolOutcome, TurnId, TurnVersions, Usage,
};
use engine::ports::{
    Approvals as _, Conversations as _, HeldMemory, Items as _, LongTermMemories as _, Memory,
    MemoryOf, MemoryReach, MessageFilter, Recordings as _, Side, StoredRecording, TurnRow,
    Turns as _, VersionChange, VersionCounts, VersionRefusal, Versions as _,
};
use rusqlite::Connection;
use serde_json::json;
use store::SqliteStore;

use crate::world::{World, instant, pending, with_session};

pub(crate) fn row(session: &SessionId, turn: &str) -> TurnRow {
    TurnRow {
        turn: turn.into(),
        session: session.clone(),
        started_at: instant("2026-11-21T10:00:00Z"),
        ended_at: Some(instant("2026-11-21T10:00:05Z")),
        status: "ok".into(),
        model: "offline".into(),
        usage: Usage::default(),
    }
}

pub(crate) fn item(session: &SessionId, turn: &str, name: &str, body: ItemBody) -> Item {
    Item {
        id: format!("{turn}-{name}").into(),
        session: session.clone(),
        turn: turn.into(),
        seq: 0,
        created_at: instant("2026-11-21T10:00:01Z"),
        body,
    }
}

/// Returns the question of a turn. Its text has the name of the turn.
pub(crate) fn question(session: &SessionId, turn: &str) -> Item {
    let text = format!("question {turn} of the test");
    item(session, turn, "question", ItemBody::UserMessage { text })
}

/// Returns the call of a tool and its result.
fn action(session: &SessionId, turn: &str, outcome: ToolOutcome) -> Vec<Item> {
    let call = format!("{turn}-call");
    let asked = ItemBody::ToolCall {
        call: call.as_str().into(),
        tool: "cart.add".into(),
        title: "Add to cart".into(),
        effect: Effect::Write,
        arguments: json!({"quantity": 2}),
        local_only: false,
        untrusted: false,
        kept: None,
    };
    let done = ItemBody::ToolResult {
        call: call.as_str().into(),
        tool: "cart.add".into(),
        outcome,
        summary: String::new(),
        // A long result is stored in another table.
        data: json!({"text": format!("{turn} {}", "x".repeat(2_000))}),
        error: None,
        local_only: None,
        view: ResultView::default(),
        parsed: None,
        untrusted: false,
        duration_ms: 1,
    };
    vec![item(session, turn, "call", asked), item(session, turn, "result", done)]
}

/// Stores a turn at the end of the shown path.
pub(crate) async fn turn(store: &SqliteStore, session: &SessionId, turn: &str) {
    let items = vec![question(session, turn)];
    store.turn_save(&row(session, turn), items, None).await.expect("saved");
}

pub(crate) async fn replace(store: &SqliteStore, session: &SessionId, replaced: &str, by: &str) {
    let items = vec![question(session, by)];
    let replaced = store.turn_replace(&row(session, by), items, &replaced.into()).await;
    replaced.expect("written").expect("replaced");
}

pub(crate) async fn change(store: &SqliteStore, session: &SessionId, change: VersionChange) {
    let at = instant("2026-11-21T11:00:00Z");
    store.version_change(session, &change, at).await.expect("written").expect("changed");
}

async fn refusal(
    store: &SqliteStore,
    session: &SessionId,
    change: VersionChange,
) -> VersionRefusal {
    let at = instant("2026-11-21T11:00:00Z");
    let checked = store.version_check(session, &change).await.expect("read");
    let changed = store.version_change(session, &change, at).await.expect("not written");
    assert_eq!(checked, changed, "the check gives the same answer");
    changed.expect_err("refused")
}

/// Returns the turns of the shown questions, in order, as every reader of items returns them.
async fn shown(store: &SqliteStore, session: &SessionId) -> Vec<String> {
    let items = store.items_before(session, None, 99).await.expect("read");
    let of = MemoryOf::Session(session.clone());
    for side in [Side::Newest, Side::Oldest] {
        let seen = store.memory_items(&of, 0, side, 99).await.expect("read");
        let seen: Vec<_> = seen.iter().map(|one| one.item.id.clone()).collect();
        assert_eq!(seen, items.iter().map(|item| item.id.clone()).collect::<Vec<_>>());
    }
    let filter = MessageFilter::default();
    let words = ["question".to_owned()];
    let hits = store.messages_with_words(&words, &filter, 0, 99).await.expect("searched");
    let mut found: Vec<_> = hits.into_iter().map(|hit| hit.item).collect();
    let is_question = |item: &&Item| matches!(item.body, ItemBody::UserMessage { .. });
    let questions: Vec<Item> = items.iter().filter(is_question).cloned().collect();
    let mut ids: Vec<_> = questions.iter().map(|item| item.id.clone()).collect();
    found.sort();
    ids.sort();
    assert_eq!(found, ids, "a search finds shown messages only");
    questions.into_iter().map(|item| item.turn.0).collect()
}

pub(crate) async fn line(world: &World) -> (SqliteStore, SessionId) {
    let store = world.store();
    let session = with_session(&store, "s").await;
    for name in ["a", "b", "c"] {
        turn(&store, &session, name).await;
    }
    (store, session)
}

fn versions(turn: &str, siblings: &[&str], chosen: u32) -> TurnVersions {
    let siblings = siblings.iter().map(|one| (*one).into()).collect();
    TurnVersions { turn: turn.into(), siblings, chosen }
}

#[tokio::test]
async fn a_replaced_turn_is_shown_by_no_reader_until_it_is_chosen_again() {
    let world = World::new();
    let (store, session) = line(&world).await;
    replace(&store, &session, "b", "x").await;
    assert_eq!(shown(&store, &session).await, ["a", "x"]);
    turn(&store, &session, "y").await;
    assert_eq!(shown(&store, &session).await, ["a", "x", "y"]);
    let of = [TurnId::from("a"), "x".into(), "y".into()];
    assert_eq!(store.versions_of(&session, &of).await, Ok(vec![versions("x", &["b", "x"], 1)]));
    change(&store, &session, VersionChange::Show("b".into())).await;
    assert_eq!(shown(&store, &session).await, ["a", "b", "c"]);
    let of = [TurnId::from("a"), "b".into(), "c".into()];
    assert_eq!(store.versions_of(&session, &of).await, Ok(vec![versions("b", &["b", "x"], 0)]));
    drop(store);
    let store = world.store();
    assert_eq!(shown(&store, &session).await, ["a", "b", "c"], "after a restart, too");
    turn(&store, &session, "d").await;
    change(&store, &session, VersionChange::Show("y".into())).await;
    assert_eq!(shown(&store, &session).await, ["a", "x", "y"]);
    change(&store, &session, VersionChange::Show("d".into())).await;
    assert_eq!(shown(&store, &session).await, ["a", "b", "c", "d"], "a turn follows its own path");
    let counts = VersionCounts { other_versions: 2, deleted: 0 };
    assert_eq!(store.version_counts(&session).await, Ok(counts));
}

#[tokio::test]
async fn items_that_come_late_have_the_visibility_of_their_turn() {
    let world = World::new();
    let (store, session) = line(&world).await;
    replace(&store, &session, "b", "x").await;
    let late = |turn: &str| item(&session, turn, "late", question(&session, turn).body);
    store.items_append(vec![late("b"), late("x")]).await.expect("appended");
    assert_eq!(shown(&store, &session).await, ["a", "x", "x"]);
    assert_eq!(store.items_of_turn(&"b".into()).await.expect("read").len(), 2);
    change(&store, &session, VersionChange::Show("b".into())).await;
    assert_eq!(shown(&store, &session).await, ["a", "b", "c", "b"]);
}

#[tokio::test]
async fn a_deleted_turn_leaves_the_turns_after_it_and_is_restored_or_gone_for_good() {
    let world = World::new();
    let (store, session) = line(&world).await;
    store.items_append(action(&session, "b", ToolOutcome::Ok)).await.expect("appended");
    change(&store, &session, VersionChange::Delete("b".into())).await;
    assert_eq!(shown(&store, &session).await, ["a", "c"]);
    let deleted = vec![(session.clone(), TurnId::from("b"))];
    assert_eq!(store.turns_deleted(None).await, Ok(deleted.clone()));
    let before = instant("2026-11-21T10:59:59Z");
    assert_eq!(store.turns_deleted(Some(before)).await, Ok(vec![]));
    assert_eq!(store.turns_deleted(Some(instant("2026-11-21T11:00:00Z"))).await, Ok(deleted));
    change(&store, &session, VersionChange::Restore("b".into())).await;
    assert_eq!(shown(&store, &session).await, ["a", "b", "c"]);

    change(&store, &session, VersionChange::Delete("b".into())).await;
    store.turn_delete(&session, &"b".into()).await.expect("deleted");
    store.turn_delete(&session, &"b".into()).await.expect("again, without effect");
    let refused = refusal(&store, &session, VersionChange::Restore("b".into())).await;
    assert_eq!(refused, VersionRefusal::Unknown);
    assert_eq!(shown(&store, &session).await, ["a", "c"]);
    let counts = VersionCounts { other_versions: 0, deleted: 1 };
    assert_eq!(store.version_counts(&session).await, Ok(counts));
    turn(&store, &session, "d").await;
    replace(&store, &session, "c", "x").await;
    assert_eq!(shown(&store, &session).await, ["a", "x"], "the turns after it follow the others");
    store.close();
    let conn = Connection::open(world.db()).expect("opened");
    let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("counted");
    assert_eq!(count("SELECT count(*) FROM turn WHERE id = 'b'"), 0);
    assert_eq!(count("SELECT count(*) FROM item WHERE turn = 'b'"), 0);
    assert_eq!(count("SELECT count(*) FROM result"), 0, "its long result is gone, too");
    conn.execute_batch(
        "INSERT INTO message_words (message_words, rank) VALUES ('integrity-check', 1)",
    )
    .expect("the words are those of the texts");
}

#[tokio::test]
async fn the_first_and_the_last_turn_can_be_deleted_for_good() {
    let world = World::new();
    let (store, session) = line(&world).await;
    for name in ["a", "c"] {
        change(&store, &session, VersionChange::Delete(name.into())).await;
        store.turn_delete(&session, &name.into()).await.expect("deleted");
    }
    assert_eq!(shown(&store, &session).await, ["b"]);
    turn(&store, &session, "d").await;
    replace(&store, &session, "b", "x").await;
    assert_eq!(shown(&store, &session).await, ["x"]);
    change(&store, &session, VersionChange::Show("d".into())).await;
    assert_eq!(shown(&store, &session).await, ["b", "d"]);
}

#[tokio::test]
async fn a_deletion_takes_the_other_versions_along_with_all_that_followed_them() {
    let world = World::new();
    let (store, session) = line(&world).await;
    replace(&store, &session, "b", "x").await;
    turn(&store, &session, "y").await;
    let outcome = store
        .version_check(&session, &VersionChange::Delete("x".into()))
        .await
        .expect("read")
        .expect("possible");
    assert_eq!((outcome.other_versions, outcome.is_changed), (1, true));
    change(&store, &session, VersionChange::Delete("x".into())).await;
    assert_eq!(shown(&store, &session).await, ["a", "y"]);
    store.turn_delete(&session, &"x".into()).await.expect("deleted");
    for gone in ["b", "c", "x"] {
        assert_eq!(store.items_of_turn(&gone.into()).await, Ok(vec![]), "{gone}");
    }
    assert_eq!(shown(&store, &session).await, ["a", "y"]);
    assert_eq!(store.turns_deleted(None).await, Ok(vec![]));
}

#[tokio::test]
async fn a_change_that_would_hide_a_pending_action_is_refused_and_changes_no_row() {
    let world = World::new();
    let (store, session) = line(&world).await;
    let waiting = Approval { turn: "c".into(), ..pending("p", &session, "2026-11-21T10:00:00Z") };
    store.approval_insert(&waiting).await.expect("inserted");
    let of_b = VersionChange::Replace { turn: "b".into(), by: "x".into() };
    assert_eq!(refusal(&store, &session, of_b).await, VersionRefusal::ActionPending);
    let replaced = store.turn_replace(&row(&session, "x"), vec![], &"b".into()).await;
    assert_eq!(replaced, Ok(Err(VersionRefusal::ActionPending)));
    let delete = VersionChange::Delete("c".into());
    assert_eq!(refusal(&store, &session, delete).await, VersionRefusal::ActionPending);
    assert_eq!(shown(&store, &session).await, ["a", "b", "c"]);
    change(&store, &session, VersionChange::Delete("b".into())).await;
    assert_eq!(shown(&store, &session).await, ["a", "c"], "its own turn stays");
    for (missing, turn) in [(VersionRefusal::Unknown, "none"), (VersionRefusal::Deleted, "b")] {
        let change = VersionChange::Show(turn.into());
        assert_eq!(refusal(&store, &session, change).await, missing, "{turn}");
    }
}

/// Returns a summary of the items up to a position.
fn summary(key: &str, session: Option<&SessionId>, through: u64) -> Memory {
    Memory {
        key: key.into(),
        session: session.cloned(),
        agent: None,
        live: true,
        updated_at: instant("2026-11-21T10:00:00Z"),
        since: 0,
        through,
        summary: "They met.".into(),
        messages: 2,
        method: SummaryMethod::Llm,
        untrusted: true,
        local_only: false,
        shown: true,
        told: true,
        failures: 0,
        failure: None,
        tried_at: None,
        summarised_at: None,
    }
}

#[tokio::test]
async fn a_summary_that_covers_changed_messages_is_reset_and_others_stay() {
    let world = World::new();
    let (store, session) = line(&world).await;
    let other = with_session(&store, "other").await;
    turn(&store, &other, "o").await;
    for turn in ["o", "a", "b", "c"] {
        store.memory_join("user:anna", &turn.into()).await.expect("joined");
    }
    // The positions of the shared memory are 1 to 4, those of the session 1 to 3.
    for (change, covers, stays) in [
        (VersionChange::Delete("b".into()), 2, 1),
        (VersionChange::Restore("b".into()), 2, 1),
        (VersionChange::Delete("c".into()), 3, 2),
        (VersionChange::Restore("c".into()), 3, 2),
    ] {
        for (through, is_reset) in [(covers, true), (stays, false)] {
            store.memory_put(&summary("one", Some(&session), through), 0).await.expect("put");
            store.memory_put(&summary("user:anna", None, through + 1), 0).await.expect("put");
            store.memory_put(&summary("other", Some(&other), 9), 0).await.expect("put");
            let at = instant("2026-11-21T11:00:00Z");
            let changed = store.version_change(&session, &change, at).await.expect("written");
            changed.expect("changed");
            for key in ["one", "user:anna"] {
                let now = store.memory(key).await.expect("read").expect("kept");
                assert_eq!(now.summary.is_empty(), is_reset, "{key} {change:?} {through}");
                assert_eq!(now.through == 0 && now.messages == 0, is_reset, "{key} {change:?}");
                assert!(now.untrusted && now.live, "its marks stay");
            }
            let untouched = store.memory("other").await.expect("read").expect("kept");
            assert_eq!(untouched.through, 9);
            // The state before, for the second summary.
            let back = match &change {
                VersionChange::Delete(turn) => VersionChange::Restore(turn.clone()),
                VersionChange::Restore(turn) => VersionChange::Delete(turn.clone()),
                other => panic!("{other:?}"),
            };
            store.version_change(&session, &back, at).await.expect("written").expect("changed");
        }
        let at = instant("2026-11-21T11:00:00Z");
        store.version_change(&session, &change, at).await.expect("written").expect("changed");
    }
    replace(&store, &session, "b", "x").await;
    let items = store
        .memory_items(&MemoryOf::Shared("user:anna".into()), 0, Side::Oldest, 9)
        .await
        .expect("read");
    let turns: Vec<_> = items.iter().map(|one| one.item.turn.as_str().to_owned()).collect();
    assert_eq!(turns, ["o", "a"], "a shared memory has shown items only");
}

#[tokio::test]
async fn a_long_term_summary_is_hidden_and_deleted_with_its_messages_and_a_note_stays() {
    let world = World::new();
    let (store, session) = line(&world).await;
    let memory = |id: &str, kind: MemoryKind, turn: &str| MemoryEntry {
        id: id.into(),
        session: Some(session.clone()),
        kind,
        text: format!("text of {id}"),
        sources: vec![format!("{turn}-question").into()],
        pinned: false,
        untrusted: false,
        local_only: false,
        created_at: instant("2026-11-21T10:00:00Z"),
        edited_at: None,
    };
    let made = memory("made", MemoryKind::Summary, "b");
    assert_eq!(store.batch_add(&made, None, 3).await, Ok(true));
    store.entry_add(&memory("note", MemoryKind::Note, "b"), None).await.expect("stored");
    let held = HeldMemory { id: "made".into(), text: "text of made".into() };
    let recording = |turn: &str, memories: Vec<HeldMemory>| StoredRecording {
        session: session.clone(),
        turn: turn.into(),
        body: "{}".into(),
        memories,
    };
    for (turn, memories) in [("a", vec![]), ("b", vec![]), ("c", vec![held])] {
        store.recording_put(recording(turn, memories), 9).await.expect("put");
    }
    let listed = async || {
        let reach = MemoryReach::Session(session.clone());
        let all = store.entries(&reach, 0, 9).await.expect("listed");
        let words = ["text".to_owned()];
        let found = store.entries_by_words(&words, &reach, 9).await.expect("searched");
        assert_eq!(all.len(), found.len(), "a search finds listed memories");
        all.into_iter().map(|memory| memory.id.0).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, ["note", "made"]);
    replace(&store, &session, "b", "x").await;
    assert_eq!(listed().await, ["note"]);
    let late = memory("late", MemoryKind::Summary, "b");
    assert_eq!(store.batch_add(&late, None, 9).await, Ok(false), "its message is hidden now");
    assert_eq!(store.memorised_through(&session).await, Ok(3));
    change(&store, &session, VersionChange::Show("b".into())).await;
    assert_eq!(listed().await, ["note", "made"]);
    change(&store, &session, VersionChange::Delete("b".into())).await;
    store.turn_delete(&session, &"b".into()).await.expect("deleted");
    assert_eq!(listed().await, ["note"]);
    assert_eq!(store.entry(&"made".into()).await, Ok(None));
    assert!(store.recording(&"a".into()).await.expect("read").is_some(), "it began before");
    assert_eq!(store.recording(&"b".into()).await, Ok(None));
    assert_eq!(store.recording(&"c".into()).await, Ok(None), "it may contain a summary");
}

#[tokio::test]
async fn actions_of_hidden_turns_are_found_with_the_arguments_that_a_person_approved() {
    let world = World::new();
    let (store, session) = line(&world).await;
    for (turn, outcome) in
        [("a", ToolOutcome::Ok), ("b", ToolOutcome::Unknown), ("c", ToolOutcome::Rejected)]
    {
        store.items_append(action(&session, turn, outcome)).await.expect("appended");
    }
    let approved = Approval {
        turn: "b".into(),
        call: "b-call".into(),
        status: ApprovalStatus::Done,
        ..pending("p", &session, "2026-11-21T10:00:00Z")
    };
    store.approval_insert(&approved).await.expect("inserted");
    assert_eq!(store.hidden_actions(&session).await, Ok(vec![]));
    replace(&store, &session, "b", "x").await;
    let found = store.hidden_actions(&session).await.expect("read");
    let hashes: Vec<_> = found.iter().map(|one| one.hash.is_some()).collect();
    assert_eq!(hashes, [false, true], "the action of b, as asked and as approved");
    assert!(found.iter().all(|one| one.arguments == json!({"quantity": 2})));
    assert!(found.iter().all(|one| one.at == instant("2026-11-21T10:00:01Z")));
    assert_eq!(store.turn_is_hidden(&"b".into()).await, Ok(true));
    assert_eq!(store.turn_is_hidden(&"x".into()).await, Ok(false));
    assert_eq!(store.turn_is_hidden(&"none".into()).await, Ok(false));
}

#[tokio::test]
async fn the_items_that_a_turn_saw_are_those_of_its_own_path() {
    let world = World::new();
    let (store, session) = line(&world).await;
    replace(&store, &session, "b", "x").await;
    turn(&store, &session, "y").await;
    let late = item(&session, "a", "late", question(&session, "a").body);
    store.items_append(vec![late]).await.expect("appended");
    let seen = async |turn: &str| {
        let items = store.items_seen_by(&session, &turn.into(), 9).await.expect("read");
        items.into_iter().map(|item| item.id.0).collect::<Vec<_>>()
    };
    assert_eq!(seen("c").await, ["a-question", "b-question"]);
    assert_eq!(seen("y").await, ["a-question", "x-question"]);
    assert_eq!(seen("a").await, [""; 0]);
    assert_eq!(seen("none").await, [""; 0]);
}

#[tokio::test]
async fn a_turn_whose_items_are_not_kept_shows_the_version_that_it_replaced() {
    let world = World::new();
    let (store, session) = line(&world).await;
    store.items_erase(&"c".into()).await.expect("erased");
    assert_eq!(shown(&store, &session).await, ["a", "b"]);
    replace(&store, &session, "b", "x").await;
    store.items_erase(&"x".into()).await.expect("erased");
    assert_eq!(shown(&store, &session).await, ["a", "b"]);
    assert_eq!(store.versions_of(&session, &["b".into()]).await, Ok(vec![]));
    turn(&store, &session, "d").await;
    assert_eq!(shown(&store, &session).await, ["a", "b", "d"]);
}
