//! Tests of recordings and replays: replaying a recording writes the same records without a model,
//! a tool or a person, and a changed recording shows its first difference.

use std::sync::Arc;

use contract::*;
use engine::{Comparison, Recording, compare_runs, ports::*};
use serde_json::{Value, json};

use crate::world::{Bench, Say, agent, tool};

fn once() -> Decision {
    Decision::ApproveOnce { confirm_word: None }
}

fn bench() -> Bench {
    let read = |id: &str| tool(id, Effect::ReadOnly);
    Bench::new(vec![read("r1"), read("r2"), tool("w", Effect::Write)])
}

/// Waits for the recording of a turn, which is stored after its last event.
pub async fn recording(bench: &Bench, turn: &TurnId) -> Recording {
    loop {
        if let Some(recording) = bench.engine.recordings.read(turn).await.unwrap() {
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

/// Replays a recording with an empty store, and compares the records.
pub async fn replay(bench: &Bench, turn: &TurnId, recording: Recording) -> Comparison {
    let folder = tempfile::tempdir().unwrap();
    let store =
        store::SqliteStore::open(&folder.path().join("r.db"), Arc::clone(&bench.clock) as _)
            .unwrap()
            .store;
    let earlier = bench.world.store.items_seen_by(&"s".into(), turn, 100).await.unwrap();
    let (runs, requests) = (bench.runs().len(), bench.model.requests.lock().unwrap().len());
    let replayed = bench.engine.replays.run(recording, earlier, Arc::new(store)).await.unwrap();
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
async fn an_answer_from_which_a_key_was_removed_replays_to_the_same_records() {
    const KEY: &str = "Xk29fLm3QpZr81TbVw6Y";
    let bench = bench();
    bench.secrets.0.lock().unwrap().push(KEY.into());
    bench.model.then(vec![
        Say::Text("I use Xk29fLm3Q"),
        Say::Text("pZr81TbVw6Y. "),
        Say::Call("r1", json!({"q": KEY})),
    ]);
    bench.model.then(vec![Say::Text("Xk29fLm3QpZr81"), Say::Text("TbVw6Y it was")]);
    let turn = bench.start("go").await.turn;
    bench.final_of(&turn).await;
    let recorded = recording(&bench, &turn).await;
    assert!(!json!(recorded).to_string().contains("Xk29fLm3Q"), "{recorded:?}");
    assert_eq!(replay(&bench, &turn, recorded).await.difference, None);
}

#[tokio::test]
async fn rejections_edits_failures_and_cancelled_answers_replay_without_differences() {
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
    bench.engine.turns.cancel(&stop).await.unwrap();
    bench.final_of(&turn).await;
    let recorded = recording(&bench, &turn).await;
    assert!(!recorded.answers[0].is_complete);
    assert_eq!(replay(&bench, &turn, recorded).await.difference, None);
}

#[tokio::test]
async fn replaying_a_changed_recording_reports_its_first_difference() {
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
    assert!(bench.engine.recordings.read(&turns[0]).await.unwrap().is_none());
    assert!(bench.engine.recordings.read(&turns[1]).await.unwrap().is_some());
    bench.engine.turns.wait_until_idle().await;
    bench.engine.sessions.delete(&"s".into()).await.unwrap();
    assert!(bench.engine.recordings.read(&turns[2]).await.unwrap().is_none());
}

#[tokio::test]
async fn a_replay_applies_each_decision_of_a_round_to_its_own_action() {
    let bench = Bench::new(vec![tool("w", Effect::Write), tool("x", Effect::Destructive)]);
    bench
        .model
        .then(vec![Say::Call("w", json!({"q": "shoes"})), Say::Call("x", json!({"q": "boots"}))]);
    bench.model.then(vec![Say::Text("done")]);
    let turn = bench.start("change both").await.turn;
    let mut both = [bench.approval(0).await, bench.approval(1).await];
    both.sort_by(|one, other| one.tool.cmp(&other.tool));
    let word = |word: &str| Decision::ApproveOnce { confirm_word: Some(word.into()) };
    // These attempts are not decisions.
    bench.decide(&both[1], word("NO")).await.unwrap_err();
    bench.decide(&both[0], Decision::Edit { arguments: "{".into() }).await.unwrap_err();
    bench.decide(&both[1], word("TOOL")).await.unwrap();
    bench.decide(&both[0], Decision::Reject { reason: None }).await.unwrap();
    bench.final_of(&turn).await;

    let recorded = recording(&bench, &turn).await;
    let tools: Vec<&str> = recorded.decisions.iter().map(|one| one.tool.as_str()).collect();
    assert_eq!(tools, ["x", "w"]);
    assert_eq!(replay(&bench, &turn, recorded.clone()).await.difference, None);

    // An action without a recorded decision ends the turn.
    let mut shorter = recorded;
    shorter.decisions.truncate(1);
    assert!(replay(&bench, &turn, shorter).await.difference.is_some());
}

#[tokio::test]
async fn all_prompts_of_a_turn_state_the_time_at_which_it_started() {
    let bench = bench();
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 2}))]);
    bench.model.then(vec![Say::Text("added")]);
    let turn = bench.start("add shoes").await.turn;
    let approval = bench.approval(0).await;
    bench.clock.forward(180);
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.prompt(0), bench.prompt(1));
    let recorded = recording(&bench, &turn).await;
    assert_eq!(replay(&bench, &turn, recorded).await.difference, None);
}

/// Lets a turn read a memory, makes a change before it ends, and returns whether the turn is
/// recorded.
async fn is_recorded_after(by_tool: bool, change: impl AsyncFnOnce(&Bench, &MemoryId)) -> bool {
    let bench =
        Bench::new(vec![ToolSpec { pack: "memory".into(), ..tool("recall", Effect::ReadOnly) }]);
    bench.profile.settings.lock().unwrap().memory.recall = !by_tool;
    let note = MemoryAddParams { text: "Account 17 reports in CET".into(), session: None };
    let memory = bench.engine.memories.add(&note).await.unwrap();
    let found = json!({"about": "17", "memories": [{"id": memory.id, "text": memory.text}]});
    let recall = move |_: &ToolRequest| -> Result<Value, ToolFailure> { Ok(found.clone()) };
    bench.tools.behaviours.lock().unwrap().insert("recall".into(), Box::new(recall));
    if by_tool {
        bench.model.then(vec![Say::Call("recall", json!({"q": "17"}))]);
    }
    let go_on = Arc::new(tokio::sync::Notify::new());
    bench.model.then(vec![Say::Until(Arc::clone(&go_on)), Say::Text("In CET.")]);
    let turn = bench.start("In which time zone does account 17 report?").await.turn;
    while bench.model.requests.lock().unwrap().len() < 1 + usize::from(by_tool) {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    change(&bench, &memory.id).await;
    go_on.notify_one();
    bench.final_of(&turn).await;
    bench.engine.turns.wait_until_idle().await;
    let body = bench.world.store.recording(&turn).await.unwrap();
    assert!(body.as_ref().is_none_or(|body| body.contains("reports in CET")));
    body.is_some()
}

#[tokio::test]
async fn the_recording_of_a_turn_is_deleted_if_a_memory_it_read_is_forgotten_or_edited() {
    for by_tool in [false, true] {
        assert!(is_recorded_after(by_tool, async |_, _| ()).await, "{by_tool}");
        let forget = async |bench: &Bench, id: &MemoryId| {
            bench.engine.memories.forget(id).await.unwrap();
        };
        assert!(!is_recorded_after(by_tool, forget).await, "{by_tool}");
        let edit = async |bench: &Bench, id: &MemoryId| {
            let params = MemoryEditParams { id: id.clone(), text: "It reports in EET".into() };
            bench.engine.memories.edit(&params).await.unwrap();
        };
        assert!(!is_recorded_after(by_tool, edit).await, "{by_tool}");
    }
}

#[tokio::test]
async fn a_turn_that_ends_before_its_question_is_stored_has_no_recording() {
    let bench = bench().with(vec![agent("clerk", &[])]);
    for mode in [ConversationMode::NoNeed, ConversationMode::BufferWindow] {
        let mut settings = bench.profile.settings.lock().unwrap().clone();
        settings.conversation.mode = mode;
        settings.switches.agents_off.insert("clerk".into());
        *bench.profile.settings.lock().unwrap() = settings;
        let turn = bench.start("@Clerk the code is zanzibar").await.turn;
        bench.final_of(&turn).await;
        assert!(bench.engine.recordings.read(&turn).await.unwrap().is_none(), "{mode:?}");
    }
}

#[tokio::test]
async fn a_turn_with_a_very_long_result_has_no_recording() {
    let bench = bench();
    let long = |_: &ToolRequest| -> Result<Value, ToolFailure> {
        Ok(json!({"text": "x".repeat(5 << 20)}))
    };
    bench.tools.behaviours.lock().unwrap().insert("r1".into(), Box::new(long));
    for (tool, is_stored) in [("r1", false), ("r2", true)] {
        bench.model.then(vec![Say::Call(tool, json!({"q": "a"}))]);
        let turn = bench.start("look").await.turn;
        bench.final_of(&turn).await;
        assert_eq!(
            bench.engine.recordings.read(&turn).await.unwrap().is_some(),
            is_stored,
            "{tool}"
        );
    }
}

#[tokio::test]
async fn a_turn_that_reads_messages_of_other_sessions_has_no_recording() {
    let bench = bench();
    for (scope, is_stored) in
        [(ConversationScope::PerConversation, true), (ConversationScope::PerUser, false)]
    {
        bench.profile.settings.lock().unwrap().conversation.scope = scope;
        let turn = bench.start("hello").await.turn;
        bench.final_of(&turn).await;
        assert_eq!(
            bench.engine.recordings.read(&turn).await.unwrap().is_some(),
            is_stored,
            "{scope:?}"
        );
    }
}
