//! Stored rows are equal when they are read again, even after the store was closed and opened:
//! items of every kind, turns, grants, values, notes.

use contract::{
    AgentError, Allowance, Block, Choice, Destination, DestinationKind, Effect, Grant, Item,
    ItemBody, NoticeLevel, ResultView, ToolOutcome, Usage,
};
use engine::ports::{
    Books as _, Destinations as _, Grants as _, Items as _, SentBytes, Served, Sessions as _,
    StoreError, TurnRow, Turns as _,
};
use serde_json::json;

use crate::world::{World, instant, message, with_session};

/// Data that a model's server must receive back, with digits that must not change.
fn kept() -> Option<Box<contract::Kept>> {
    Some(Box::new(contract::Kept {
        maker: "Chat here m".into(),
        message: json!({"reasoning_content": "a\u{0}\n<é>", "n": 1.5}),
        call: json!({"extra_content": {"google": {"thought_signature": "Eo=="}}}),
    }))
}

fn every_kind() -> Vec<ItemBody> {
    vec![
        ItemBody::UserMessage { text: "How is account 17 pacing?".into() },
        ItemBody::ToolCall {
            call: "c1".into(),
            tool: "pacing.analyze".into(),
            title: "Analyse pacing".into(),
            effect: Effect::ReadOnly,
            arguments: json!({"account_id": 17, "ratio": 0.1, "none": null}),
            local_only: true,
            untrusted: true,
            kept: kept(),
        },
        ItemBody::ToolResult {
            call: "c1".into(),
            tool: "pacing.analyze".into(),
            outcome: ToolOutcome::Error,
            summary: "failed".into(),
            data: json!([1, "två", {"a": []}]),
            error: Some(AgentError::invalid("No.").hint("Try again.")),
            local_only: Some(true),
            view: pacing_view(),
            parsed: None,
            untrusted: true,
            duration_ms: 12,
        },
        ItemBody::Approval {
            approval: "a1".into(),
            call: "c1".into(),
            tool: "cart.add".into(),
            status: contract::ApprovalStatus::Rejected,
            reason: Some("no".into()),
        },
        ItemBody::Notice {
            level: NoticeLevel::Info,
            code: "turn_interrupted".into(),
            text: "Stopped.".into(),
        },
        ItemBody::AssistantText {
            text: "# Answer".into(),
            blocks: vec![],
            model: Some("Offline model".into()),
            agent: Some("Guardian".into()),
            choices: vec![Choice::new("Yes", "yes")],
            remembered: vec!["memory-1".into()],
            local_only: false,
            untrusted: false,
            partial: true,
            kept: kept(),
        },
    ]
}

#[tokio::test]
async fn every_kind_of_item_is_read_back_after_reopening() {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "s").await;
    let items: Vec<Item> = every_kind()
        .into_iter()
        .enumerate()
        .map(|(n, body)| Item { body, ..message(&id, n as u64) })
        .collect();
    let stored = store.items_append(items).await.expect("appended");
    assert_eq!(stored.iter().map(|i| i.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    store.close();
    assert_eq!(
        store.turns_running().await,
        Err(StoreError::Failed("the database is closed".into()))
    );
    assert_eq!(
        store.items_append(vec![]).await,
        Err(StoreError::Failed("the database is closed".into()))
    );
    assert_eq!(world.store().items_before(&id, None, 10).await.expect("read"), stored);
}

#[tokio::test]
async fn rendered_blocks_are_not_stored() {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "s").await;
    let text = |blocks| ItemBody::AssistantText {
        text: "x".into(),
        blocks,
        model: None,
        agent: None,
        choices: vec![],
        remembered: vec![],
        local_only: false,
        untrusted: false,
        partial: false,
        kept: None,
    };
    let block = Block { index: 0, html: "<p>x</p>".into() };
    store
        .items_append(vec![Item { body: text(vec![block]), ..message(&id, 1) }])
        .await
        .expect("appended");
    assert_eq!(store.items_before(&id, None, 1).await.expect("read")[0].body, text(vec![]));
}

#[tokio::test]
async fn a_turn_is_stored_with_its_new_items_and_again_when_it_ends() {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "s").await;
    let running = TurnRow {
        turn: "t1".into(),
        session: id.clone(),
        started_at: instant("2026-11-21T10:00:00.123456789Z"),
        ended_at: None,
        status: "running".into(),
        model: "Offline model".into(),
        usage: Usage::default(),
    };
    let asked = store.turn_save(&running, vec![message(&id, 1)], None).await.expect("saved");
    assert_eq!(asked, vec![Item { seq: 1, ..message(&id, 1) }]);
    assert_eq!(store.turns_running().await, Ok(vec![running.clone()]));
    let usage = Usage { input_tokens: 5, output_tokens: 6, model_calls: 2 };
    let ended = TurnRow {
        status: "ok".into(),
        ended_at: Some(instant("2026-11-21T10:00:01Z")),
        usage,
        ..running
    };
    let answered =
        store.turn_save(&ended, vec![message(&id, 2)], Some(&served("t1"))).await.expect("saved");
    assert_eq!(answered, vec![Item { seq: 2, ..message(&id, 2) }]);
    assert_eq!(store.turns_running().await, Ok(vec![]));
    assert_eq!(store.items_before(&id, None, 9).await, Ok([asked, answered].concat()));
    assert_eq!(store.served(9).await, Ok(vec![served("t1")]));
    let orphan = TurnRow { session: "none".into(), turn: "t2".into(), ..ended.clone() };
    assert_eq!(
        store.turn_save(&orphan, Vec::new(), None).await,
        Err(StoreError::NotFound("session none".into()))
    );
    let torn = TurnRow { turn: "t3".into(), ..ended };
    let of_another =
        store.turn_save(&torn, vec![message(&"none".into(), 3)], Some(&served("t3"))).await;
    assert_eq!(of_another, Err(StoreError::NotFound("session none".into())));
    assert_eq!(store.served(9).await, Ok(vec![served("t1")]), "all of it is kept, or nothing");
}

#[tokio::test]
async fn counting_the_same_turn_twice_removes_no_other_turn() {
    let world = World::new();
    let store = world.store();
    let id = with_session(&store, "s").await;
    let started_at = instant("2026-11-21T10:00:00Z");
    let ended = |turn: &str| TurnRow {
        turn: turn.into(),
        session: id.clone(),
        started_at,
        ended_at: Some(started_at),
        status: "ok".into(),
        model: "m".into(),
        usage: Usage::default(),
    };
    for turn in ["t1", "t2"] {
        store.turn_save(&ended(turn), Vec::new(), Some(&served(turn))).await.expect("saved");
    }
    // These rows give the other tables higher row numbers.
    store.items_append((0..1_100).map(|n| message(&id, n)).collect()).await.expect("appended");
    store.turn_save(&ended("t2"), Vec::new(), Some(&served("t2"))).await.expect("saved");
    assert_eq!(store.served(9).await, Ok(vec![served("t2"), served("t1")]));
}

fn served(turn: &str) -> Served {
    Served {
        turn: turn.into(),
        ended_at: instant("2026-11-21T10:00:01Z"),
        duration_ms: 5,
        tools: 1,
        status: "ok".into(),
        code: None,
    }
}

#[tokio::test]
async fn a_grant_survives_a_restart_and_can_be_revoked() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    let grant = Grant {
        id: "g1".into(),
        session,
        tool: "notes.write".into(),
        server: "notes".into(),
        definition_hash: "d".into(),
        pattern: json!({"folder": "a", "n": 1}).as_object().expect("an object").clone(),
        granted_by: Some("window".into()),
        created_at: instant("2026-11-21T10:00:00Z"),
        expires_at: instant("2026-11-21T12:00:00Z"),
        last_used_at: None,
        revoked_at: None,
    };
    store.grant_insert(&grant).await.expect("inserted");
    drop(store);
    let store = world.store();
    assert_eq!(store.grants().await, Ok(vec![grant.clone()]));
    let (used, revoked) = (instant("2026-11-21T10:05:00Z"), instant("2026-11-21T10:06:00Z"));
    store.record_grant_use(&grant.id, used).await.expect("used");
    store.grant_revoke(&grant.id, revoked).await.expect("revoked");
    store.grant_revoke(&grant.id, instant("2026-11-21T11:00:00Z")).await.expect("again");
    assert_eq!(
        store.grants().await,
        Ok(vec![Grant { last_used_at: Some(used), revoked_at: Some(revoked), ..grant }])
    );
    assert_eq!(
        store.record_grant_use(&"none".into(), used).await,
        Err(StoreError::NotFound("permission none".into()))
    );
}

#[tokio::test]
async fn the_last_read_that_a_permission_covered_is_noted() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    let given_at = instant("2026-11-21T10:00:00Z");
    let allowance = |name: &str, of: Option<&contract::SessionId>| Allowance {
        destination: Destination::new(DestinationKind::Host, name),
        session: of.cloned(),
        by: "window".into(),
        given_at,
        last_used_at: None,
    };
    let given = [
        allowance("a.example", None),
        allowance("a.example", Some(&session)),
        allowance("a.example", Some(&"other".into())),
        allowance("b.example", None),
    ];
    store.allowances_put(given.to_vec()).await.expect("stored");
    let to = [given[0].destination.clone()];
    let at = |time: &str, anew: bool| SentBytes { bytes: 5, anew, at: instant(time) };
    store.sent_add(&session, &to, at("2026-11-21T10:05:00Z", false)).await.expect("added");
    // A person approved this read alone, so no permission covered it.
    store.sent_add(&session, &to, at("2026-11-21T10:06:00Z", true)).await.expect("added");
    drop(store);
    let store = world.store();
    let used = |allowance: &Allowance| {
        let covers = allowance.destination == to[0]
            && allowance.session.as_ref().is_none_or(|of| *of == session);
        covers.then(|| instant("2026-11-21T10:05:00Z"))
    };
    for allowance in store.allowances().await.expect("listed") {
        assert_eq!(allowance.last_used_at, used(&allowance), "{allowance:?}");
    }
    // The permission keeps its origin, and its last use.
    store.allowances_put(given.to_vec()).await.expect("stored");
    let listed = store.allowances().await.expect("listed");
    assert_eq!(listed.iter().filter(|one| one.last_used_at.is_some()).count(), 2, "{listed:?}");
}

#[tokio::test]
async fn session_values_and_notes_can_be_replaced_and_deleted() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    let values = |json: serde_json::Value| json.as_object().expect("an object").clone();
    let put = async |changes: &[(&str, Option<serde_json::Value>)]| {
        let changes =
            changes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        store.session_values_put(&session, changes).await.expect("put");
    };
    assert!(store.session_values(&session).await.expect("read").is_empty());
    put(&[
        ("customer", Some(json!("c1"))),
        ("basket", Some(json!(7))),
        ("$of \"us\"", Some(json!({"a": [null]}))),
    ])
    .await;
    put(&[
        ("customer", Some(json!("c2"))),
        ("basket", None),
        ("nobody", None),
        ("null", Some(json!(null))),
    ])
    .await;
    assert_eq!(
        store.session_values(&session).await,
        Ok(values(json!({"customer": "c2", "$of \"us\"": {"a": [null]}, "null": null})))
    );
    assert_eq!(
        store.session_values_of(&session, &["customer", "basket"]).await,
        Ok(values(json!({"customer": "c2"})))
    );
    assert_eq!(store.sessions_with_value("$of \"us\"").await, Ok(vec![session.clone()]));
    assert_eq!(store.sessions_with_value("basket").await, Ok(vec![]));

    store.note_set("seen", Some("1")).await.expect("set");
    store.note_set("seen", Some("2")).await.expect("set");
    assert_eq!(store.note("seen").await, Ok(Some("2".into())));
    store.note_set("seen", None).await.expect("forgotten");
    assert_eq!(store.note("seen").await, Ok(None));
}

fn pacing_view() -> ResultView {
    let declared = json!({"shape": "named", "pack": "pacing", "view": "pacing"});
    serde_json::from_value(declared).expect("a view")
}

/// Returns a tool result that is too large for the row of its item.
fn large_result(session: &contract::SessionId, turn: &str, call: &str) -> Item {
    let rows: Vec<_> = (0..200).map(|n| json!({"campaign": n, "spend": 0.1})).collect();
    let body = ItemBody::ToolResult {
        call: call.into(),
        tool: "pacing.analyze".into(),
        outcome: ToolOutcome::Ok,
        summary: "ok".into(),
        data: json!({ "rows": rows }),
        error: None,
        local_only: None,
        view: pacing_view(),
        parsed: None,
        untrusted: true,
        duration_ms: 12,
    };
    Item { id: format!("item-{call}").into(), turn: turn.into(), body, ..message(session, 0) }
}

#[tokio::test]
async fn a_repeated_result_is_stored_once() {
    let world = World::new();
    let store = world.store();
    let (one, other) = (with_session(&store, "one").await, with_session(&store, "other").await);
    let shown: Vec<Item> = vec![
        large_result(&one, "t1", "c1"),
        large_result(&one, "t2", "c2"),
        large_result(&other, "t3", "c3"),
    ];
    store.items_append(shown.clone()).await.expect("appended");
    let count = || {
        let conn = rusqlite::Connection::open(world.db()).expect("opened");
        let sql = "SELECT count(*), sum(length(data)) FROM result";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?));
        conn.query_row::<(i64, _), _, _>(sql, [], read).expect("counted")
    };
    assert_eq!(count().0, 2, "one for each session");
    let bodies = |items: Vec<Item>| items.into_iter().map(|item| item.body).collect::<Vec<_>>();
    let read = store.items_before(&one, None, 9).await.expect("read");
    assert_eq!(bodies(read), [shown[0].body.clone(), shown[1].body.clone()]);
    let (tool, old) =
        ("pacing.analyze".into(), serde_json::from_value(json!("pacing")).expect("a view"));
    let newest = store.newest_shown(&one, &tool, &old, 9).await.expect("read");
    assert_eq!(newest.expect("found").body, shown[1].body);
    // The result is kept as long as an item shows it.
    store.items_erase(&"t1".into()).await.expect("erased");
    assert_eq!(count().0, 2);
    let read = store.items_before(&one, None, 9).await.expect("read");
    assert_eq!(bodies(read), [shown[1].body.clone()]);
    store.items_erase(&"t2".into()).await.expect("erased");
    assert_eq!(count().0, 1, "the result that no item shows is gone");
    store.session_delete(&other).await.expect("deleted");
    assert_eq!(count(), (0, None));
}
