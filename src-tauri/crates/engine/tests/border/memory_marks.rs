//! Tests of the marks for data that must stay on this computer and for untrusted content, which are
//! inherited by answers, calls, notes and searches.

use std::sync::{Arc, Mutex, atomic::Ordering};

use contract::*;
use engine::ports::{ToolRequest, TurnContent};
use serde_json::json;

use crate::world::{Bench, Say, status_and_text, tool, tool_of_memories};

/// Sends a message in a session and returns how its turn ended.
async fn ask_in(bench: &Bench, session: &str, text: &str) -> TurnStatus {
    let params = TurnStartParams {
        session: Some(session.into()),
        text: text.into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    let turn = bench.engine.turns.start(contract::Caller::inside(), params).await.unwrap().turn;
    status_and_text(&bench.final_of(&turn).await).0
}

/// Stores a note of the profile with both marks.
async fn marked_note(bench: &Bench, text: &str) {
    let params = MemoryAddParams { text: "x y z".into(), session: None };
    let plain = bench.engine.memories.add(&params).await.unwrap();
    bench.engine.memories.forget(&plain.id).await.unwrap();
    let marked = MemoryEntry {
        id: "marked".into(),
        text: text.into(),
        local_only: true,
        untrusted: true,
        ..plain
    };
    bench.world.store.entry_add(&marked, None).await.unwrap();
}

fn allow_cloud(bench: &Bench) {
    bench.model.remote.store(true, Ordering::SeqCst);
    bench.profile.settings.lock().unwrap().egress.allowed = true;
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_local_only_data_is_marked_local_only_even_without_a_tool_call() {
    let bench = Bench::new(vec![tool_of_memories("r")]);
    let local = |_: &ToolRequest| Ok(json!({"local_only": true, "text": "the plan"}));
    bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(local));
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.model.then(vec![Say::Text("There is a plan.")]);
    bench.ask("what is planned?").await;
    bench.model.then(vec![Say::Text("As I said: the plan.")]);
    bench.ask("say it again").await;
    let marks: Vec<bool> = bench
        .items()
        .await
        .iter()
        .filter_map(|item| match &item.body {
            ItemBody::AssistantText { local_only, .. } => Some(*local_only),
            _ => None,
        })
        .collect();
    assert_eq!(marks, [true, true]);
}

#[tokio::test(start_paused = true)]
async fn a_note_made_in_a_turn_with_local_only_memories_is_local_only() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let look = move |request: &ToolRequest| {
        kept.lock().unwrap().push(request.content);
        Ok(json!({}))
    };
    bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(look));
    let call_after = async |session: &str| {
        bench.model.then(vec![Say::Call("r", json!({}))]);
        ask_in(&bench, session, "When does account 17 report?").await;
        seen.lock().unwrap().pop().expect("one call")
    };
    let content = call_after("plain").await;
    assert!(!content.is_local && !content.is_untrusted, "{content:?}");
    marked_note(&bench, "Account 17 reports in CET").await;
    let content = call_after("s").await;
    assert!(content.is_local && content.is_untrusted, "{content:?}");
    // No item of this session has the mark yet.
    let noted = bench.engine.memories.remember_note("x y z", &"new".into(), content).await.unwrap();
    assert!(noted.local_only && noted.untrusted);
}

#[tokio::test(start_paused = true)]
async fn local_only_data_in_a_call_of_a_failed_turn_is_not_sent_to_a_remote_model() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    marked_note(&bench, "Account 17 reports in CET").await;
    bench.model.then(vec![Say::Call("r", json!({"q": "Account 17 reports in CET"}))]);
    bench.model.then(vec![Say::Fail(engine::ports::ModelErrorKind::BadRequest)]);
    let status = ask_in(&bench, "s", "When does account 17 report?").await;
    assert_eq!(status, TurnStatus::Error, "the turn has no answer");
    allow_cloud(&bench);
    let before = bench.model.requests.lock().unwrap().len();
    assert_eq!(ask_in(&bench, "s", "Again?").await, TurnStatus::Error);
    assert_eq!(bench.model.requests.lock().unwrap().len(), before, "nothing was sent");
    // A note that is approved later also inherits the mark.
    let noted =
        bench.engine.memories.remember_note("x y z", &"s".into(), TurnContent::default()).await;
    assert!(noted.unwrap().local_only);
}

#[tokio::test(start_paused = true)]
async fn a_remote_model_gets_other_memories_even_if_local_only_ones_rank_higher() {
    let bench = Bench::new(vec![]);
    let text = |n: u32| format!("Account 17 reports in CET, says list {n}");
    for n in 0..8 {
        let params = MemoryAddParams { text: text(n), session: None };
        let plain = bench.engine.memories.add(&params).await.unwrap();
        if n < 7 {
            bench.engine.memories.forget(&plain.id).await.unwrap();
            let local = MemoryEntry { local_only: true, pinned: true, ..plain };
            bench.world.store.entry_add(&local, None).await.unwrap();
        } else {
            let pin = MemoryPinParams { id: plain.id, pinned: true };
            bench.engine.memories.pin(&pin).await.unwrap();
        }
    }
    let content = TurnContent::default();
    let found = bench.engine.memories.recall("account 17 reports", &"s".into(), content).await;
    assert_eq!(found.unwrap().len(), 1);
    allow_cloud(&bench);
    assert_eq!(ask_in(&bench, "s", "When does account 17 report?").await, TurnStatus::Ok);
    let prompt = bench.prompt(0);
    assert!(prompt.contains("says list 7") && !prompt.contains("says list 3"), "{prompt}");
}

#[tokio::test(start_paused = true)]
async fn a_note_made_late_in_a_long_turn_is_deleted_with_its_session() {
    let bench = Bench::new(vec![]);
    ask_in(&bench, "a", "hello").await;
    let last = bench.world.store.items_before(&"a".into(), None, 1).await.unwrap().remove(0);
    let notice = |n: usize| Item {
        id: format!("notice-{n}").as_str().into(),
        body: ItemBody::Notice {
            level: NoticeLevel::Info,
            code: "test".into(),
            text: "nothing of note".into(),
        },
        ..last.clone()
    };
    bench.world.store.items_append((0..60).map(notice).collect()).await.unwrap();
    let content = TurnContent::default();
    let noted = bench.engine.memories.remember_note("x y z", &"a".into(), content).await.unwrap();
    assert_eq!(noted.sources.len(), 1);
    let session = bench.world.store.entry_session(&noted.id).await.unwrap();
    assert_eq!(session, Some("a".into()));
}
