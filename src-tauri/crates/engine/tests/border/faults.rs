//! Tests with failing models, tools and logs, and with crashed processes.

use std::{sync::atomic::Ordering, time::Duration};

use contract::*;
use engine::{Engine, ports::*};
use serde_json::json;

use crate::world::{Bench, Say, status_and_text, tool};

#[tokio::test(start_paused = true)]
async fn a_model_failure_keeps_the_partial_answer_and_gives_a_hint() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Text("Half an ans"), Say::Fail(ModelErrorKind::Unavailable)]);
    let turn = bench.start("go").await.turn;
    let EventBody::Final { status, text, error: Some(error), .. } = bench.final_of(&turn).await
    else {
        panic!("an error")
    };
    assert_eq!(
        (status, text.as_str(), error.code),
        (TurnStatus::Error, "Half an ans", ErrorCode::LlmError)
    );
    assert!(error.hint_text().is_some());
    let items = bench.items().await;
    assert!(matches!(&items[1].body, ItemBody::AssistantText { partial: true, .. }));
    assert!(matches!(&items[2].body, ItemBody::Notice { level: NoticeLevel::Error, .. }));
    let finals = bench.event_names(&turn).iter().filter(|n| *n == "final").count();
    assert_eq!(finals, 1);
}

#[tokio::test(start_paused = true)]
async fn failed_reads_are_retried_and_writes_are_not() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly), tool("w", Effect::Write)]);
    for id in ["r", "w"] {
        let behaviour = |_: &ToolRequest| {
            Err(ToolFailure {
                error: AgentError::new(ErrorCode::ToolHttpError, "503").retryable(true),
                may_have_happened: true,
            })
        };
        bench.tools.behaviours.lock().unwrap().insert(id.into(), Box::new(behaviour));
    }
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    bench.model.then(vec![Say::Call("r", json!({})), Say::Call("w", json!({}))]);
    bench.ask("go").await;
    let count = |id: &str| bench.runs().iter().filter(|r| *r == id).count();
    assert_eq!((count("r"), count("w")), (3, 1));
    let mut outcomes = bench.outcomes().await;
    outcomes.sort_by_key(|o| format!("{o:?}"));
    assert_eq!(
        outcomes,
        [ToolOutcome::Error, ToolOutcome::Unknown],
        "it is not known whether the write happened"
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_tool_call_ends_at_its_own_time_limit() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.tools.slow.lock().unwrap().insert("r".into(), Duration::from_secs(3_600));
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.ask("go").await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Error]);
    // Measures the duration of the call instead of the whole turn, because the paused clock also
    // advances while the turn waits for the disk.
    let took = bench.items().await.into_iter().find_map(|i| {
        if let ItemBody::ToolResult { duration_ms, .. } = i.body { Some(duration_ms) } else { None }
    });
    assert!(took.unwrap() < 60_000, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn cancelling_while_a_tool_runs_leaves_a_consistent_session() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.tools.slow.lock().unwrap().insert("r".into(), Duration::from_secs(1));
    bench.model.then(vec![Say::Call("r", json!({}))]);
    let turn = bench.start("go").await.turn;
    bench
        .wait_for(|events| {
            events.iter().any(|e| matches!(e.event, EventBody::ToolStart { .. })).then_some(())
        })
        .await;
    bench
        .engine
        .turns
        .cancel(&TurnCancelParams { session: "s".into(), turn: turn.clone() })
        .await
        .unwrap();
    assert_eq!(status_and_text(&bench.final_of(&turn).await).0, TurnStatus::Cancelled);
    assert_eq!(bench.outcomes().await, [ToolOutcome::Cancelled]);
    bench.ask("next").await;
}

#[tokio::test(start_paused = true)]
async fn output_that_does_not_fit_its_schema_is_not_shown_to_the_model() {
    let mut odd = tool("r", Effect::ReadOnly);
    odd.output_schema = json!({"type": "object", "required": ["items"]});
    let bench = Bench::new(vec![odd]);
    bench.model.then(vec![Say::Call("r", json!({"q": "secret-ish"}))]);
    bench.ask("go").await;
    let requests = bench.model.requests.lock().unwrap();
    let leaked = requests[1]
        .messages
        .iter()
        .any(|m| matches!(m, Message::Tool { content, .. } if content.contains("echo")));
    assert!(!leaked);
}

#[tokio::test(start_paused = true)]
async fn a_write_does_not_run_if_its_intent_cannot_be_recorded() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    bench.log.refuses.store(true, Ordering::SeqCst);
    bench.model.then(vec![Say::Call("w", json!({}))]);
    bench.ask("go").await;
    assert!(bench.runs().is_empty());
    assert_eq!(bench.outcomes().await, [ToolOutcome::Error]);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_leaves_this_computer_runs_only_if_its_intent_is_recorded() {
    for (reach, runs) in [(contract::Reach::Here, vec!["r"]), (contract::Reach::Configured, vec![])]
    {
        let bench = Bench::new(vec![ToolSpec { reach, ..tool("r", Effect::ReadOnly) }]);
        bench.log.refuses.store(true, Ordering::SeqCst);
        bench.model.then(vec![Say::Call("r", json!({}))]);
        bench.ask("go").await;
        assert_eq!(bench.runs(), runs);
    }
}

#[tokio::test(start_paused = true)]
async fn an_approved_write_does_not_run_if_its_intent_cannot_be_recorded() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let turn = bench.start("go").await.turn;
    let approval = bench.approval(0).await;
    bench.log.refuses.store(true, Ordering::SeqCst);
    bench.decide(&approval, Decision::ApproveOnce { confirm_word: None }).await.unwrap();
    bench.final_of(&turn).await;
    assert!(bench.runs().is_empty());
}

/// Creates the state that a crashed process leaves: the rows of a turn that never ended.
async fn died(bench: &Bench, call: ItemBody, approval: Option<Approval>) {
    let store = &bench.world.store;
    let now = bench.world.clock.now();
    store.session_create(&"s".into(), "t", now).await.unwrap();
    let item = |id: &str, body| Item {
        id: id.into(),
        session: "s".into(),
        turn: "dead".into(),
        seq: 0,
        created_at: now,
        body,
    };
    store
        .items_append(vec![
            item("i1", ItemBody::UserMessage { text: "go".into() }),
            item("i2", call),
        ])
        .await
        .unwrap();
    let row = TurnRow {
        turn: "dead".into(),
        session: "s".into(),
        started_at: now,
        ended_at: None,
        status: "running".into(),
        model: "m".into(),
        usage: Usage::default(),
    };
    store.turn_save(&row, Vec::new(), None).await.unwrap();
    if let Some(approval) = approval {
        store.approval_insert(&approval).await.unwrap();
    }
}

fn call_of(effect: Effect) -> ItemBody {
    ItemBody::ToolCall {
        call: "c".into(),
        tool: "w".into(),
        title: "Tool w".into(),
        effect,
        arguments: json!({}),
        local_only: false,
        untrusted: false,
        kept: None,
    }
}

fn pending(bench: &Bench) -> Approval {
    let now = bench.world.clock.now();
    Approval {
        id: "a".into(),
        session: "s".into(),
        turn: "dead".into(),
        call: "c".into(),
        tool: "w".into(),
        tool_title: "Tool w".into(),
        server: "test".into(),
        agent: String::new(),
        effect: Effect::Write,
        view: ResultView::default(),
        arguments: "{}".into(),
        hash: "h".into(),
        why: "w".into(),
        preview: None,
        created_at: now,
        expires_at: now + chrono::TimeDelta::hours(1),
        status: ApprovalStatus::Pending,
        grantable: false,
        confirm_word: None,
        locale: None,
        headless: false,
        caller: Default::default(),
        follows: vec![],
        destinations: vec![],
        sends_bytes: 0,
        look_alikes: vec![],
        definition: None,
        details: Default::default(),
        replaces: None,
        reason: None,
        decided_at: None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_expires_pending_actions_of_interrupted_turns_and_runs_none() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    died(&bench, call_of(Effect::Write), Some(pending(&bench))).await;
    let found = bench.engine.recover().await.unwrap();
    assert_eq!((found.turns, found.expired, found.unknown), (1, 1, 0));
    assert!(bench.runs().is_empty());
    assert_eq!(bench.outcomes().await, [ToolOutcome::Expired]);
    let last = bench.items().await.pop().unwrap();
    assert!(matches!(&last.body, ItemBody::Notice { code, .. } if code == "turn_interrupted"));
    let again = Engine::new(bench.world.clone()).recover().await.unwrap();
    assert_eq!(again.turns, 0, "put in order once");
    bench.ask("still usable?").await;
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_write_interrupted_by_a_crash_has_an_unknown_outcome_and_is_not_repeated() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    died(
        &bench,
        call_of(Effect::Write),
        Some(Approval { status: ApprovalStatus::Executing, ..pending(&bench) }),
    )
    .await;
    let found = bench.engine.recover().await.unwrap();
    assert_eq!((found.turns, found.unknown), (1, 1));
    assert_eq!(bench.outcomes().await, [ToolOutcome::Unknown]);
    assert!(bench.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_read_interrupted_by_a_crash_is_cancelled() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    died(&bench, call_of(Effect::ReadOnly), None).await;
    bench.engine.recover().await.unwrap();
    assert_eq!(bench.outcomes().await, [ToolOutcome::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn queued_messages_are_kept_after_a_crash_and_marked_as_unanswered() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Text("first"), Say::Hang]);
    bench.start("one").await;
    bench
        .wait_for(|events| {
            events.iter().any(|e| matches!(e.event, EventBody::Delta { .. })).then_some(())
        })
        .await;
    bench.start("two").await;
    let next = Engine::new(bench.world.clone());
    next.recover().await.unwrap();
    let items = bench.items().await;
    assert!(
        items.iter().any(|i| matches!(&i.body, ItemBody::UserMessage { text } if text == "two"))
    );
    assert!(items.iter().any(
        |i| matches!(&i.body, ItemBody::Notice { code, .. } if code == "message_not_answered")
    ));
    let again = items.len();
    Engine::new(bench.world.clone()).recover().await.unwrap();
    assert_eq!(bench.items().await.len(), again, "told once");
}

#[tokio::test(start_paused = true)]
async fn queued_writes_do_not_run_after_a_turn_is_stopped() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    bench.tools.slow.lock().unwrap().insert("w".into(), Duration::from_secs(1));
    bench.model.then((0..3).map(|n| Say::Call("w", json!({"n": n}))).collect());
    let turn = bench.start("go").await.turn;
    while bench.runs().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    bench
        .engine
        .turns
        .cancel(&TurnCancelParams { session: "s".into(), turn: turn.clone() })
        .await
        .unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.runs().len(), 1, "the two that waited were not run");
    assert_eq!(bench.outcomes().await.iter().filter(|o| **o == ToolOutcome::Cancelled).count(), 2);
    assert!(
        bench.outcomes().await.contains(&ToolOutcome::Ok),
        "the one under way said how it ended"
    );
}

#[tokio::test(start_paused = true)]
async fn a_read_repeated_after_a_write_runs_again() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly), tool("w", Effect::Write)]);
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    for call in ["r", "w", "r"] {
        bench.model.then(vec![Say::Call(call, json!({}))]);
    }
    bench.ask("go").await;
    assert_eq!(bench.runs(), ["r", "w", "r"]);
}
