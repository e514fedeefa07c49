//! Tests of specialists with their own memory settings, and of turns whose items are not stored.
//! The names refer to section 7 of the agent contract.

use contract::*;
use engine::{Engine, ports::*};
use serde_json::json;

use crate::world::{Bench, Say, agent, status_and_text, tool};

fn own(id: &str, mode: ConversationMode, change: impl FnOnce(&mut Conversation)) -> Agent {
    let mut policy = Conversation { mode, ..Conversation::default() };
    policy.summary.update_timing = UpdateTiming::AfterTurn;
    policy.summary.update_method = SummaryMethod::Heuristic;
    policy.summary.max_messages_since_update = 2;
    policy.summary.cooldown_seconds = 0;
    change(&mut policy);
    Agent { conversation: Some(policy), ..agent(id, &[]) }
}

fn decide(next: &'static str) -> Vec<Say> {
    let text =
        json!({"next": next, "instruction": "Answer.", "reason_code": "in_field", "entities": []})
            .to_string();
    vec![Say::Text(Box::leak(text.into_boxed_str()))]
}

/// Returns the messages of users and assistants in the n-th request from the end.
fn said(bench: &Bench, from_end: usize) -> Vec<String> {
    let requests = bench.model.requests.lock().unwrap();
    let text = |message: &Message| match message {
        Message::User { text } | Message::Assistant { text, .. } => Some(text.to_string()),
        Message::System { .. } | Message::Tool { .. } => None,
    };
    requests[requests.len() - 1 - from_end].messages.iter().filter_map(text).collect()
}

async fn settled(bench: &Bench) {
    while bench.engine.turns.running() > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

async fn title(bench: &Bench) -> String {
    bench.engine.sessions.open(&"s".into()).await.unwrap().summary.title
}

/// Sends a message that a specialist answers and the supervisor finishes.
async fn routed(bench: &Bench, to: &'static str, question: &str, answer: &'static str) {
    bench.model.then(decide(to));
    bench.model.then(vec![Say::Text(answer)]);
    bench.model.then(decide("FINISH"));
    bench.ask(question).await;
    settled(bench).await;
}

fn nothing_kept(bench: &Bench) {
    bench.profile.settings.lock().unwrap().conversation.mode = ConversationMode::NoNeed;
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_a_single_specialist_uses_its_own_memory_settings() {
    let bench =
        Bench::new(vec![]).with(vec![own("clerk", ConversationMode::BufferWindow, |policy| {
            policy.window_messages = 2
        })]);
    for (question, answer) in [("q1", "a1"), ("q2", "a2"), ("q3", "a3")] {
        bench.model.then(vec![Say::Text(answer)]);
        bench.ask(question).await;
        settled(&bench).await;
    }
    assert_eq!(said(&bench, 0), ["q2", "a2", "q3"], "the profile's window is wider");
    assert_eq!(bench.items().await.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_specialists_use_their_own_memory_settings_and_the_supervisor_the_profiles() {
    let narrow = own("narrow", ConversationMode::Buffer, |policy| policy.max_messages = 2);
    let bench = Bench::new(vec![]).with(vec![narrow, agent("wide", &[])]);
    routed(&bench, "wide", "q1", "a1").await;
    routed(&bench, "narrow", "q2", "a2").await;
    routed(&bench, "narrow", "q3", "a3").await;
    assert_eq!(
        said(&bench, 1),
        ["q2", "a2", "q3"],
        "the specialist's own bound, without what this turn has said"
    );
    assert_eq!(said(&bench, 2), ["q1", "a1", "q2", "a2", "q3"], "the supervisor");
    routed(&bench, "wide", "q4", "a4").await;
    assert_eq!(said(&bench, 1), ["q1", "a1", "q2", "a2", "q3", "a3", "q4"]);
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_a_specialist_with_own_settings_has_its_own_summary() {
    let bench = Bench::new(vec![])
        .with(vec![own("short", ConversationMode::Summary, |_| ()), agent("wide", &[])]);
    routed(&bench, "short", "q1", "a1").await;
    let memory = |key: &'static str| async { bench.world.store.memory(key).await.unwrap() };
    let kept = memory("desktop:s@short").await.unwrap();
    assert!(kept.summary.contains("q1") && kept.agent == Some("short".into()), "{kept:?}");
    assert_eq!(memory("desktop:s").await, None, "the profile's settings make none");
    routed(&bench, "short", "q2", "a2").await;
    assert_eq!(said(&bench, 1), ["q2"]);
    let at = bench.model.requests.lock().unwrap().len() - 2;
    assert!(
        bench.prompt(at).contains("- user: q1") && !bench.prompt(at + 1).contains("- user: q1"),
        "notes are for the one whose they are"
    );
    assert_eq!(said(&bench, 0), ["q1", "a1", "q2"]);
    let shown = bench
        .items()
        .await
        .iter()
        .filter(|item| matches!(item.body, ItemBody::Summary { .. }))
        .count();
    assert_eq!(shown, 1, "shown once, when it is first used");
    bench.engine.sessions.delete(&"s".into()).await.unwrap();
    assert_eq!(memory("desktop:s@short").await, None);
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_a_maximum_of_memories_applies_to_the_specialist_that_declares_it() {
    let bench = Bench::new(vec![]).with(vec![
        own("short", ConversationMode::Summary, |policy| policy.max_items = 1),
        agent("wide", &[]),
    ]);
    bench.profile.settings.lock().unwrap().conversation.ttl_seconds = 60_000;
    routed(&bench, "short", "q1", "a1").await;
    for key in ["desktop:s", "desktop:s@short"] {
        assert!(bench.world.store.memory(key).await.unwrap().unwrap().live, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_a_turn_without_memory_is_stored_only_in_the_log() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    nothing_kept(&bench);
    bench.model.then(vec![Say::Call("r", json!({"q": "my secret plan"}))]);
    bench.model.then(vec![Say::Text("a plan indeed")]);
    let turn = bench.start("my secret plan").await.turn;
    assert_eq!(status_and_text(&bench.final_of(&turn).await).1, "a plan indeed");
    settled(&bench).await;
    let shown = bench.event_names(&turn).iter().filter(|name| *name == "item").count();
    assert_eq!(
        shown, 4,
        "whoever has the conversation open sees question, call, result and answer"
    );
    assert_eq!(bench.items().await, []);
    assert_eq!(title(&bench).await, "Not kept");
    assert!(bench.world.store.session_values(&"s".into()).await.unwrap().get("$passing").is_none());
    let records: Vec<RecordType> =
        bench.records().await.into_iter().map(|(kind, _)| kind).collect();
    assert!(
        records.contains(&RecordType::ToolOutcome) && records.contains(&RecordType::RunEnded),
        "{records:?}"
    );
    bench.verified().await;
    // The request is not sent to the model again either.
    bench.ask("and now?").await;
    assert_eq!(said(&bench, 0), ["and now?"]);
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_queued_messages_without_memory_are_not_stored() {
    let bench = Bench::new(vec![]);
    nothing_kept(&bench);
    bench.model.then(vec![Say::Text("first"), Say::Hang]);
    let first = bench.start("one").await.turn;
    bench
        .wait_for(|events| {
            events.iter().any(|e| matches!(e.event, EventBody::Delta { .. })).then_some(())
        })
        .await;
    bench.start("two").await;
    let values = bench.world.store.session_values(&"s".into()).await.unwrap();
    assert!(!json!(values).to_string().contains("two"), "{values:?}");
    bench
        .engine
        .turns
        .cancel(&TurnCancelParams { session: "s".into(), turn: first })
        .await
        .unwrap();
    settled(&bench).await;
    assert_eq!(bench.items().await, []);
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_turns_with_a_specialist_without_memory_are_not_stored() {
    let bench = Bench::new(vec![])
        .with(vec![own("deaf", ConversationMode::NoNeed, |_| ()), agent("wide", &[])]);
    routed(&bench, "wide", "q1", "a1").await;
    routed(&bench, "deaf", "q2", "a2").await;
    assert_eq!(said(&bench, 1), ["q2"]);
    routed(&bench, "wide", "q3", "a3").await;
    assert_eq!(said(&bench, 1), ["q1", "a1", "q3"]);
    assert_eq!(title(&bench).await, "q1", "the conversation is still what it was");
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_data_of_a_turn_without_memory_is_deleted_after_a_crash() {
    let bench = Bench::new(vec![]);
    nothing_kept(&bench);
    bench.model.then(vec![Say::Text("half"), Say::Hang]);
    bench.start("one").await;
    bench
        .wait_for(|events| {
            events.iter().any(|e| matches!(e.event, EventBody::Delta { .. })).then_some(())
        })
        .await;
    assert_eq!(bench.items().await.len(), 1, "a crash must find what was under way");
    Engine::new(bench.world.clone()).recover().await.unwrap();
    assert_eq!(bench.items().await, []);
    assert_eq!(title(&bench).await, "Not kept");
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_an_action_of_a_turn_without_memory_runs_when_approved_and_is_deleted() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    nothing_kept(&bench);
    bench.model.then(vec![Say::Call("w", json!({"q": "x"}))]);
    let turn = bench.start_with("write it", true).await.turn;
    bench.final_of(&turn).await;
    settled(&bench).await;
    assert_eq!(bench.items().await, []);
    let approval = bench.approval(0).await;
    bench.decide(&approval, Decision::ApproveOnce { confirm_word: None }).await.unwrap();
    assert_eq!(bench.runs(), ["w"]);
    assert_eq!(bench.outcomes().await, [ToolOutcome::Ok], "whoever decided sees what came of it");
    bench.engine.expire_overdue_actions().await;
    assert_eq!(bench.items().await, []);
    bench.verified().await;
}
