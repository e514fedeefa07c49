//! Tests of conversations as a whole: titles, marks, and deletions that can be undone.

use std::time::Duration;

use contract::*;
use serde_json::json;

use crate::world::{Bench, Say, tool};

async fn until_idle(bench: &Bench) {
    while bench.engine.turns.running() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn listed(bench: &Bench) -> Vec<SessionSummary> {
    let params = SessionsListParams { query: String::new(), offset: 0, limit: 0, archived: false };
    bench.engine.sessions.list(&params).await.unwrap().sessions
}

async fn stored_items(bench: &Bench) -> usize {
    bench.world.store.items_before(&"s".into(), None, 9).await.unwrap().len()
}

/// Waits until the conversation has this title, which it gets after the end of a turn.
async fn until_titled(bench: &Bench, title: &str) {
    for _ in 0..1_000 {
        if listed(bench).await[0].title == title {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the title is {:?}, not {title:?}", listed(bench).await[0].title);
}

/// Gives a later change of a title the time to happen, because no event shows that there is none.
async fn settle() {
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_can_be_undone_until_its_time_is_over() {
    let bench = Bench::new(vec![]);
    bench.ask("hello").await;
    until_idle(&bench).await;
    let (sessions, id) = (&bench.engine.sessions, SessionId::from("s"));
    let message = || TurnStartParams {
        session: Some("s".into()),
        text: "hello again".into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    sessions.delete_undoably(&id).await.unwrap();
    assert!(listed(&bench).await.is_empty());
    sessions.open(&id).await.unwrap_err();
    let refused =
        bench.engine.turns.start(contract::Caller::inside(), message()).await.unwrap_err();
    assert!(refused.message.contains("being deleted"), "{refused:?}");

    bench.clock.forward(i64::from(engine::UNDO_SECONDS) - 1);
    sessions.finish_due_deletions().await;
    sessions.restore(&id).await.unwrap();
    assert_eq!(listed(&bench).await.len(), 1);
    assert_eq!(sessions.open(&id).await.unwrap().items.len(), 2);
    bench.ask("go on").await;
    until_idle(&bench).await;

    sessions.delete_undoably(&id).await.unwrap();
    bench.clock.forward(i64::from(engine::UNDO_SECONDS));
    sessions.finish_due_deletions().await;
    sessions.restore(&id).await.unwrap_err();
    assert_eq!(stored_items(&bench).await, 0, "nothing deleted returns");
    let turn = bench.engine.turns.start(contract::Caller::inside(), message()).await.unwrap().turn;
    bench.final_of(&turn).await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_finished_at_the_end_and_at_the_next_start() {
    for at_the_end in [true, false] {
        let bench = Bench::new(vec![]);
        bench.ask("hello").await;
        until_idle(&bench).await;
        let id = SessionId::from("s");
        if at_the_end {
            bench.engine.sessions.delete_undoably(&id).await.unwrap();
            bench.engine.sessions.finish_all_deletions().await;
        } else {
            // As an earlier process left it that was killed while the deletion could be undone.
            bench.world.store.session_hide(&id, bench.world.clock.now()).await.unwrap();
            bench.engine.sessions.finish_earlier_deletions().await.unwrap();
        }
        assert_eq!(bench.world.store.sessions_hidden().await.unwrap(), vec![]);
        assert_eq!(stored_items(&bench).await, 0);
        bench.engine.sessions.restore(&id).await.unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_recorded_and_repeated_unless_the_session_is_newer() {
    let bench = Bench::new(vec![]);
    bench.ask("hello").await;
    until_idle(&bench).await;
    let (sessions, id) = (&bench.engine.sessions, SessionId::from("s"));
    bench.log.refuses.store(true, std::sync::atomic::Ordering::SeqCst);
    let refused = sessions.delete_undoably(&id).await.unwrap_err();
    assert!(refused.has_reason(Reason::AuditUnavailable), "{refused:?}");
    bench.log.refuses.store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(listed(&bench).await.len(), 1, "what cannot be recorded is not deleted");
    sessions.delete_undoably(&id).await.unwrap();
    sessions.restore(&id).await.unwrap();
    let records = bench.records_of(RecordType::SessionChanged).await;
    let actions = records.iter().map(|record| record.fields["action"].as_str().unwrap());
    assert_eq!(actions.collect::<Vec<_>>(), ["deleted", "restored"]);

    let used = listed(&bench).await[0].updated_at;
    let before = [(id.clone(), used - chrono::TimeDelta::seconds(1))].into();
    sessions.repeat_session_deletions(&before).await.unwrap();
    assert_eq!(listed(&bench).await.len(), 1, "another session of this name was deleted then");
    sessions.repeat_session_deletions(&[(id, used)].into()).await.unwrap();
    assert_eq!((listed(&bench).await.len(), stored_items(&bench).await), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_direct_call_into_a_deleted_session_is_refused_like_a_message() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    bench.ask("hello").await;
    until_idle(&bench).await;
    let (sessions, id) = (&bench.engine.sessions, SessionId::from("s"));
    let call = || {
        let params = ToolCallParams {
            tool: "a".into(),
            arguments: json!({}),
            session: Some("s".into()),
            headless: true,
        };
        bench.engine.direct_calls.call(contract::Caller::inside(), params)
    };
    sessions.delete_undoably(&id).await.unwrap();
    let message = TurnStartParams {
        session: Some("s".into()),
        text: "hello again".into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    let closed = bench.engine.turns.start(contract::Caller::inside(), message).await.unwrap_err();
    assert!(closed.message.contains("being deleted"), "{closed:?}");
    assert_eq!(call().await.unwrap_err().message, closed.message);
    assert!(bench.runs().is_empty(), "the tool does not run");

    sessions.restore(&id).await.unwrap();
    assert_eq!(call().await.unwrap().outcome, ToolOutcome::Ok);
    assert_eq!(bench.runs().len(), 1);

    let erased = sessions.erase(&id).await.unwrap();
    assert_eq!(call().await.unwrap_err().message, closed.message, "until the log is erased, too");
    assert_eq!((bench.runs().len(), stored_items(&bench).await), (1, 0));
    drop(erased);
}

#[tokio::test(start_paused = true)]
async fn a_hidden_session_can_be_erased_at_once() {
    let bench = Bench::new(vec![]);
    bench.ask("hello").await;
    until_idle(&bench).await;
    let id = SessionId::from("s");
    bench.engine.sessions.delete_undoably(&id).await.unwrap();
    let closed = bench.engine.sessions.erase(&id).await.unwrap();
    bench.engine.sessions.restore(&id).await.unwrap_err();
    assert_eq!(stored_items(&bench).await, 0);
    drop(closed);
}

#[tokio::test(start_paused = true)]
async fn the_first_question_that_called_a_tool_gives_the_title_unless_a_person_did() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    bench.ask("hi").await;
    until_idle(&bench).await;
    until_titled(&bench, "hi").await;
    bench.model.then(vec![Say::Call("a", json!({}))]);
    bench.ask("Spend **by week** of Bluebell").await;
    until_idle(&bench).await;
    until_titled(&bench, "Spend by week of Bluebell").await;
    bench.model.then(vec![Say::Call("a", json!({}))]);
    bench.ask("And by month?").await;
    until_idle(&bench).await;
    settle().await;
    until_titled(&bench, "Spend by week of Bluebell").await;

    let named = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    named.ask("hi").await;
    until_idle(&named).await;
    named.engine.sessions.rename(&"s".into(), "Mine").await.unwrap();
    named.model.then(vec![Say::Call("a", json!({}))]);
    named.ask("Spend by week").await;
    until_idle(&named).await;
    settle().await;
    until_titled(&named, "Mine").await;
}

#[tokio::test(start_paused = true)]
async fn pinned_and_archived_sessions_are_marked_in_their_summary() {
    let bench = Bench::new(vec![]);
    bench.ask("hello").await;
    until_idle(&bench).await;
    let mark = |pinned, archived| SessionMarkParams { session: "s".into(), pinned, archived };
    bench.engine.sessions.mark(&mark(Some(true), None)).await.unwrap();
    assert!(listed(&bench).await[0].pinned);
    bench.engine.sessions.mark(&mark(None, Some(true))).await.unwrap();
    assert!(listed(&bench).await.is_empty());
    let summary = bench.engine.sessions.open(&"s".into()).await.unwrap().summary;
    assert!(summary.pinned && summary.archived);
}
