//! Tests of sessions: list, search, rename, delete; long sessions; values.

use contract::{ItemBody, NoticeLevel, SessionId};
use engine::ports::{
    Approvals as _, Items as _, MessageFilter, SessionFilter, Sessions as _, StoreError, TurnRow,
    Turns as _,
};
use serde_json::json;
use store::SqliteStore;

use crate::world::{World, instant, message, pending, with_session};

fn titled(query: &str) -> SessionFilter {
    SessionFilter { query: query.into(), ..SessionFilter::default() }
}

#[tokio::test]
async fn session_titles_are_found_by_any_part_in_any_case() {
    let world = World::new();
    let store = world.store();
    for (n, title) in
        ["100% of Budget", "Budget_2026", "ÅSA och Örjan", "Ångström", "plain"].iter().enumerate()
    {
        store
            .session_create(&format!("s{n}").into(), title, instant("2026-11-21T09:00:00Z"))
            .await
            .expect("created");
    }
    let found = async |query: &str| {
        let mut titles: Vec<String> = store
            .sessions(&titled(query), 0, 50)
            .await
            .expect("listed")
            .into_iter()
            .map(|s| s.title)
            .collect();
        titles.sort();
        titles
    };
    assert_eq!(found("0%").await, ["100% of Budget"], "% means itself");
    assert_eq!(found("_").await, ["Budget_2026"], "_ means itself");
    assert_eq!(found("budget").await, ["100% of Budget", "Budget_2026"]);
    assert_eq!(
        found("åsa").await,
        ["ÅSA och Örjan"],
        "capital letters beyond ASCII are found by small ones"
    );
    assert_eq!(found("ÖR").await, ["ÅSA och Örjan"], "and the other way round");
    assert_eq!(found("").await.len(), 5);
    assert_eq!(found("'; DROP").await, [""; 0]);
}

#[tokio::test]
async fn sessions_are_listed_newest_first_in_pages() {
    let world = World::new();
    let store = world.store();
    for n in 0..7 {
        store
            .session_create(
                &format!("s{n}").into(),
                "t",
                instant(&format!("2026-11-2{n}T09:00:00Z")),
            )
            .await
            .expect("created");
    }
    let page = async |offset, limit| {
        store
            .sessions(&SessionFilter::default(), offset, limit)
            .await
            .expect("listed")
            .into_iter()
            .map(|s| s.id.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(page(0, 3).await, ["s6", "s5", "s4"]);
    assert_eq!(page(6, 3).await, ["s0"]);
    let mut item = message(&"s0".into(), 1);
    item.created_at = instant("2026-12-01T00:00:00Z");
    store.items_append(vec![item]).await.expect("appended");
    assert_eq!(page(0, 1).await, ["s0"], "use moves a session to the top");
}

#[tokio::test]
async fn creating_a_session_twice_keeps_the_first_title_and_renaming_changes_it() {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "desktop:1").await;
    store
        .session_create(&id, "Another", instant("2026-11-22T09:00:00Z"))
        .await
        .expect("the same again is no fault");
    assert_eq!(store.session(&id).await.expect("read").expect("there").title, "A title");
    store.session_rename(&id, "Ny rubrik").await.expect("renamed");
    assert_eq!(store.sessions(&titled("RUBRIK"), 0, 9).await.expect("listed").len(), 1);
    let missing = SessionId::from("desktop:none");
    assert_eq!(
        store.session_rename(&missing, "x").await,
        Err(StoreError::NotFound("session desktop:none".into()))
    );
    assert_eq!(
        store.session_delete(&missing).await,
        Err(StoreError::NotFound("session desktop:none".into()))
    );
    assert_eq!(store.session(&missing).await, Ok(None));
}

#[tokio::test]
async fn a_session_of_ten_thousand_items_is_read_in_pages() {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "long").await;
    for start in (0..10_000).step_by(2_500) {
        store
            .items_append((start..start + 2_500).map(|n| message(&id, n)).collect())
            .await
            .expect("appended");
    }
    let newest = store.items_before(&id, None, 50).await.expect("read");
    assert_eq!(
        newest.iter().map(|i| i.seq).collect::<Vec<_>>(),
        (9_951..=10_000).collect::<Vec<_>>()
    );
    let (mut before, mut seen) = (None, 0);
    loop {
        let page = store.items_before(&id, before, 700).await.expect("read");
        let Some(first) = page.first() else { break };
        assert!(
            page.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq),
            "ascending without gaps"
        );
        before = Some(first.seq);
        seen += page.len();
    }
    assert_eq!(seen, 10_000, "every item comes exactly once");
    assert_eq!(store.items_of_turn(&"turn-3".into()).await.expect("read").len(), 10);
}

#[tokio::test]
async fn a_page_of_items_is_found_by_an_index() {
    let world = World::new();
    drop(world.store());
    let conn = rusqlite::Connection::open(world.db()).expect("opened");
    let plan: String = conn
        .query_row("EXPLAIN QUERY PLAN SELECT body FROM item WHERE session = 'x' AND seq < 9 ORDER BY seq DESC LIMIT 5", [], |row| row.get(3))
        .expect("explained");
    assert!(
        plan.contains("USING INDEX") && plan.contains("session=? AND seq<?"),
        "the plan is: {plan}"
    );
}

#[tokio::test]
async fn deleting_a_session_deletes_all_its_data_and_no_other() {
    let world = World::new();
    let store = world.store();
    let (gone, kept) = (with_session(&store, "gone").await, with_session(&store, "kept").await);
    for id in [&gone, &kept] {
        store.items_append(vec![message(id, 1), message(id, 2)]).await.expect("appended");
        store
            .approval_insert(&pending(&format!("a-{id}"), id, "2026-11-21T10:00:00Z"))
            .await
            .expect("inserted");
        store
            .session_values_put(id, vec![("customer".into(), Some(json!("c1")))])
            .await
            .expect("put");
        let turn = TurnRow {
            turn: format!("t-{id}").into(),
            session: id.clone(),
            started_at: instant("2026-11-21T10:00:00Z"),
            ended_at: None,
            status: "running".into(),
            model: "m".into(),
            usage: contract::Usage::default(),
        };
        store.turn_save(&turn, Vec::new(), None).await.expect("saved");
    }
    store.session_delete(&gone).await.expect("deleted");
    assert_eq!(store.items_before(&gone, None, 9).await, Ok(vec![]));
    assert_eq!(store.approval(&"a-gone".into()).await, Ok(None));
    assert!(store.session_values(&gone).await.expect("read").is_empty());
    assert_eq!(store.items_before(&kept, None, 9).await.expect("read").len(), 2);
    assert!(store.approval(&"a-kept".into()).await.expect("read").is_some());
    assert_eq!(
        store
            .turns_running()
            .await
            .expect("read")
            .iter()
            .map(|t| t.session.as_str())
            .collect::<Vec<_>>(),
        ["kept"]
    );
    let lost = store.items_append(vec![message(&kept, 3), message(&gone, 3)]).await;
    assert_eq!(lost, Err(StoreError::NotFound("session gone".into())));
    assert_eq!(
        store.items_before(&kept, None, 9).await.expect("read").len(),
        2,
        "all items of a request are stored, or none"
    );
}

#[tokio::test]
async fn an_unreadable_item_does_not_prevent_opening_its_session() {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "s").await;
    store.items_append((0..3).map(|n| message(&id, n)).collect()).await.expect("appended");
    drop(store);
    let conn = rusqlite::Connection::open(world.db()).expect("opened");
    conn.execute("UPDATE item SET body = '{\"kind\":\"from_the_future\"}' WHERE seq = 2", [])
        .expect("changed");
    drop(conn);
    let items = world.store().items_before(&id, None, 9).await.expect("read");
    assert_eq!(items.len(), 3);
    assert!(
        matches!(&items[1].body, ItemBody::Notice { level: NoticeLevel::Warning, code, .. } if code == "item_unreadable")
    );
}

#[tokio::test]
async fn the_text_of_an_erased_session_is_in_no_file() {
    use engine::ports::{Books as _, RunKey};

    const SECRET: &str = "quixotic lamp";
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "s").await;
    let mut item = message(&id, 0);
    item.body = ItemBody::UserMessage { text: SECRET.into() };
    store.items_append(vec![item]).await.expect("appended");
    let key = RunKey { caller: "c".into(), request: "r".into() };
    let now = instant("2026-11-22T09:00:00Z");
    store.run_claim(&key, now).await.expect("claimed");
    store.run_end(&key, Some(SECRET)).await.expect("ended");
    store.close();
    drop(store);
    // A damaged database that was set aside earlier, and an unfinished copy.
    let folder = world.folder.path();
    for name in
        ["countersign.damaged-20261101T000000Z.db", "countersign.damaged-20261101T000000Z.db-wal"]
    {
        std::fs::write(folder.join(name), SECRET).expect("written");
    }
    std::fs::write(folder.join("backups/countersign-20261101T000000Z.db.partial"), SECRET)
        .expect("written");
    let store = world.store();
    store.session_erase(&id).await.expect("erased");
    store.session_erase(&id).await.expect("an erasure can be repeated");
    drop(store);
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("read").flatten().collect();
    files.extend(std::fs::read_dir(folder.join("backups")).expect("read").flatten());
    for file in files.iter().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).expect("read");
        let has = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!has, "{}", file.path().display());
    }
    assert_eq!(world.backups().len(), 1, "{:?}", world.backups());
}

/// Returns the ids of the listed sessions.
async fn listed(store: &SqliteStore, archived: bool) -> Vec<String> {
    let filter = SessionFilter { archived, ..SessionFilter::default() };
    let found = store.sessions(&filter, 0, 9).await.expect("listed");
    found.into_iter().map(|session| session.id.0).collect()
}

#[tokio::test]
async fn pinned_sessions_are_listed_first_and_archived_ones_apart() {
    let world = World::new();
    let store = world.store();
    for n in 0..4 {
        let at = instant(&format!("2026-11-2{n}T09:00:00Z"));
        store.session_create(&format!("s{n}").into(), "t", at).await.expect("created");
    }
    store.session_mark(&"s0".into(), Some(true), None).await.expect("pinned");
    store.session_mark(&"s3".into(), None, Some(true)).await.expect("archived");
    assert_eq!(listed(&store, false).await, ["s0", "s2", "s1"]);
    assert_eq!(listed(&store, true).await, ["s3"]);
    store.session_mark(&"s0".into(), Some(false), None).await.expect("unpinned");
    store.session_mark(&"s3".into(), None, Some(false)).await.expect("brought back");
    assert_eq!(listed(&store, false).await, ["s3", "s2", "s1", "s0"]);
    let missing = store.session_mark(&"none".into(), Some(true), None).await;
    assert_eq!(missing, Err(StoreError::NotFound("session none".into())));
}

#[tokio::test]
async fn a_message_replaces_a_title_until_one_stays_and_never_that_of_a_person() {
    let world = World::new();
    let store = world.store();
    let (asked, named) = (with_session(&store, "asked").await, with_session(&store, "named").await);
    let title = async |id: &SessionId| store.session(id).await.expect("read").expect("there").title;
    store.session_suggest_title(&asked, "What is a CPM?", false).await.expect("suggested");
    assert_eq!(store.session_open_title(&asked).await, Ok(Some("What is a CPM?".into())));
    store.session_suggest_title(&asked, "Spend by week", true).await.expect("suggested");
    store.session_suggest_title(&asked, "Later", true).await.expect("suggested");
    assert_eq!(title(&asked).await, "Spend by week");
    store.session_rename(&named, "Mine").await.expect("renamed");
    store.session_suggest_title(&named, "Later", true).await.expect("suggested");
    assert_eq!(title(&named).await, "Mine");
    assert_eq!(store.session_open_title(&named).await, Ok(None));
}

#[tokio::test]
async fn a_hidden_session_is_found_nowhere_and_is_restored_as_a_whole() {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "s").await;
    store.items_append(vec![message(&id, 1)]).await.expect("appended");
    let words = ["message".to_owned()];
    let found = async || {
        let hits = store.messages_with_words(&words, &MessageFilter::default(), 0, 9).await;
        hits.expect("searched").len()
    };
    let before = found().await;
    store.session_hide(&id, instant("2026-11-21T10:00:00Z")).await.expect("hidden");
    assert_eq!(store.session(&id).await, Ok(None));
    assert!(listed(&store, false).await.is_empty() && found().await == 0);
    let none: Result<(), StoreError> = Err(StoreError::NotFound("session s".into()));
    assert_eq!(store.session_hide(&id, instant("2026-11-21T10:00:01Z")).await, none);
    assert_eq!(store.session_rename(&id, "x").await, none);
    drop(store);

    // A crash in between changes nothing: the deletion is still known.
    let store = world.store();
    assert_eq!(store.sessions_hidden().await, Ok(vec![id.clone()]));
    store.session_restore(&id).await.expect("restored");
    drop(store);
    let store = world.store();
    assert_eq!(store.sessions_hidden().await, Ok(vec![]));
    assert_eq!(listed(&store, false).await, ["s"]);
    let hits = store.messages_with_words(&words, &MessageFilter::default(), 0, 9).await;
    assert_eq!(hits.expect("searched").len(), before);
    assert_eq!(store.items_before(&id, None, 9).await.expect("read").len(), 1);
    assert_eq!(store.session_restore(&id).await, none);
    store.session_hide(&id, instant("2026-11-21T11:00:00Z")).await.expect("hidden");
    store.session_delete(&id).await.expect("deleted");
    assert_eq!(store.session_restore(&id).await, none, "nothing deleted returns");
}

#[tokio::test]
async fn a_search_is_limited_to_one_session() {
    let world = World::new();
    let store = world.store();
    let (one, two) = (with_session(&store, "one").await, with_session(&store, "two").await);
    for id in [&one, &two] {
        store.items_append(vec![message(id, 1)]).await.expect("appended");
    }
    let search = async |session: Option<SessionId>| {
        let filter = MessageFilter { session, ..MessageFilter::default() };
        let hits = store.messages_with_words(&["message".to_owned()], &filter, 0, 9).await;
        hits.expect("searched").into_iter().map(|hit| hit.session.0).collect::<Vec<_>>()
    };
    assert_eq!(search(None).await.len(), 2);
    assert_eq!(search(Some(two)).await, ["two"]);
}
