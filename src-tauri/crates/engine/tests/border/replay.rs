//! Tests of recordings and replays: the same records come out of a recording, without a model, a
//! tool or a person, and a changed recording shows its first difference.

use std::sync::Arc;

use contract::*;
use engine::{Comparison, Recording, compare_runs, ports::*};
use serde_json::{Value, json};

use crate::world::{Bench, Say, tool};

fn once() -> Decision {
    Decision::ApproveOnce { confirm_word: None }
}

fn bench() -> Bench {
    let read = |id: &str| tool(id, Effect::ReadOnly);
    Bench::new(vec![read("r1"), read("r2"), tool("w", Effect::Write)])
}

/// Waits for the recording of a turn, which is stored after its last event.
async fn recording(bench: &Bench, turn: &TurnId) -> Recording {
    loop {
        if let Some(recording) = bench.engine.recording(turn).await.unwrap() {
            return recording;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

async fn records(bench: &Bench, turn: &TurnId) -> Vec<AuditRecordView> {
    bench.log.log.flush().await.unwrap();
    let params = AuditListParams {
        record_type: None,
        session: Some("s".into()),
        query: String::new(),
        before: None,
        limit: 500,
    };
    let mut records = bench.log.log.list(params).await.unwrap().records;
    records.reverse();
    records.retain(|record| record.turn.as_deref() == Some(turn.as_str()));
    records
}

/// Replays a recording over an empty store, and compares.
async fn replay(bench: &Bench, turn: &TurnId, recording: Recording) -> Comparison {
    let folder = tempfile::tempdir().unwrap();
    let store =
        store::SqliteStore::open(&folder.path().join("r.db"), Arc::clone(&bench.clock) as _)
            .unwrap()
            .store;
    let first = bench.world.store.items_of_turn(turn).await.unwrap().first().map(|item| item.seq);
    let session = SessionId::new("s");
    let earlier = bench.world.store.items_before(&session, first, 100).await.unwrap();
    let (runs, requests) = (bench.runs().len(), bench.model.requests.lock().unwrap().len());
    let replayed = bench.engine.replay(recording, earlier, Arc::new(store)).await.unwrap();
    assert_eq!(bench.runs().len(), runs, "no tool is called");
    assert_eq!(bench.model.requests.lock().unwrap().len(), requests, "no model is called");
    compare_runs(records(bench, turn).await, replayed)
}

#[tokio::test]
async fn a_run_with_reads_and_an_approved_change_replays_to_the_same_records() {
    let bench = bench();
    bench.ask("hello").await;
    bench.model.then(vec![
        Say::Text("I look. "),
        Say::Call("r1", json!({"q": "a"})),
        Say::Call("r2", json!({"q": "b"})),
    ]);
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 2})), Say::Uses(70, 9)]);
    bench.model.then(vec![Say::Text("added")]);
    let turn = bench.start("add shoes").await.turn;
    let approval = bench.approval(0).await;
    bench.clock.forward(40);
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&turn).await;

    let recorded = recording(&bench, &turn).await;
    assert_eq!((recorded.answers.len(), recorded.attempts.len()), (3, 3));
    let compared = replay(&bench, &turn, recorded).await;
    assert_eq!((compared.difference, compared.erased), (None, 0));
    assert_eq!(compared.records, records(&bench, &turn).await.len());
    assert!(compared.records >= 12, "{}", compared.records);
}

#[tokio::test]
async fn rejections_edits_failures_and_cancelled_answers_replay() {
    let bench = bench();
    let call = || Say::Call("w", json!({"q": "shoes", "n": 2}));
    bench.model.then(vec![call()]);
    bench.model.then(vec![Say::Text("as you like")]);
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    let no = Decision::Reject { reason: Some("too expensive".into()) };
    bench.decide(&approval, no).await.unwrap();
    bench.final_of(&turn).await;
    let recorded = recording(&bench, &turn).await;
    assert_eq!(replay(&bench, &turn, recorded).await.difference, None);

    let failing = |_: &ToolRequest| -> Result<Value, ToolFailure> {
        let error = AgentError::new(ErrorCode::ToolHttpError, "It is broken.");
        Err(ToolFailure { error, may_have_happened: false })
    };
    bench.tools.behaviours.lock().unwrap().insert("w".into(), Box::new(failing));
    bench.model.then(vec![Say::Call("w", json!({"q": "boots", "n": 1}))]);
    bench.model.then(vec![Say::Text("sorry")]);
    let turn = bench.start("add boots").await.turn;
    let approval = bench.approval(1).await;
    let edit = Decision::Edit { arguments: r#"{"q": "boots", "n": 3}"#.into() };
    bench.decide(&approval, edit).await.unwrap();
    let approval = bench.approval(2).await;
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&turn).await;
    let recorded = recording(&bench, &turn).await;
    assert_eq!(recorded.decisions.len(), 2);
    assert_eq!(replay(&bench, &turn, recorded).await.difference, None);

    bench.model.then(vec![Say::Text("a long story"), Say::Hang]);
    let turn = bench.start("tell").await.turn;
    bench
        .wait_for(|events| {
            events
                .iter()
                .any(|event| {
                    event.turn == turn
                        && matches!(event.event, EventBody::Status { stage: Stage::Thinking, .. })
                })
                .then_some(())
        })
        .await;
    let stop = TurnCancelParams { session: "s".into(), turn: turn.clone() };
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    bench.engine.turn_cancel(&stop).await.unwrap();
    bench.final_of(&turn).await;
    let recorded = recording(&bench, &turn).await;
    assert!(!recorded.answers[0].is_complete);
    assert_eq!(replay(&bench, &turn, recorded).await.difference, None);
}

#[tokio::test]
async fn a_changed_recording_shows_its_first_difference() {
    let bench = bench();
    bench.model.then(vec![Say::Call("r1", json!({"q": "a"}))]);
    bench.model.then(vec![Say::Call("r2", json!({"q": "b"}))]);
    bench.model.then(vec![Say::Text("done")]);
    let turn = bench.start("look").await.turn;
    bench.final_of(&turn).await;
    let recorded = recording(&bench, &turn).await;

    let mut other = recorded.clone();
    other.attempts[1].result = Some(Ok(json!({"ok": false, "echo": {"q": "b"}})));
    let difference = replay(&bench, &turn, other).await.difference.expect("a difference");
    let record = records(&bench, &turn).await;
    let record = record.iter().find(|record| Some(record.seq) == difference.seq).unwrap();
    assert_eq!(record.record_type, RecordType::ToolOutcome);
    assert_eq!(record.tool.as_deref(), Some("r2"));
    assert_eq!(
        (difference.path.as_str(), &difference.recorded, &difference.replayed),
        ("/values/result/ok", &json!(true), &json!(false))
    );

    let mut shorter = recorded;
    shorter.answers.truncate(1);
    let difference = replay(&bench, &turn, shorter).await.difference.expect("a difference");
    assert_eq!(difference.path, "/fields/calls", "the second model call has no answer");
}

#[tokio::test]
async fn only_the_newest_recordings_are_kept_and_none_of_a_deleted_session() {
    let bench = bench();
    bench.profile.settings.lock().unwrap().limits.recorded_turns = 2;
    let mut turns = Vec::new();
    for text in ["one", "two", "three"] {
        let turn = bench.start(text).await.turn;
        bench.final_of(&turn).await;
        recording(&bench, &turn).await;
        turns.push(turn);
    }
    assert!(bench.engine.recording(&turns[0]).await.unwrap().is_none());
    assert!(bench.engine.recording(&turns[1]).await.unwrap().is_some());
    bench.engine.wait_until_idle().await;
    bench.engine.session_delete(&"s".into()).await.unwrap();
    assert!(bench.engine.recording(&turns[2]).await.unwrap().is_none());
}
