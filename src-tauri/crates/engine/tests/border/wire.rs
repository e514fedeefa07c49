//! Tests that the log matches the sent requests: each sent request has a record with its arguments,
//! and an approved request equals the shown request.

use contract::*;
use serde_json::{Value, json};

use crate::world::{Bench, Say, tool};

const ONCE: Decision = Decision::ApproveOnce { confirm_word: None };

/// Returns a bench with a tool whose server takes its arguments in another format.
fn bench(effect: Effect) -> Bench {
    let bench = Bench::new(vec![tool("t", effect)]);
    bench.tools.adapts.lock().unwrap().push("t".into());
    bench.model.then(vec![Say::Call("t", json!({"q": "shoes", "n": 2}))]);
    bench
}

async fn recorded(bench: &Bench) -> Vec<Value> {
    bench.intents().await.into_iter().map(|(arguments, _)| arguments).collect()
}

#[tokio::test(start_paused = true)]
async fn a_read_is_recorded_with_the_arguments_that_are_sent() {
    let bench = bench(Effect::ReadOnly);
    bench.ask("go").await;
    assert_eq!(bench.sent(), [json!({"q": "shoes", "count": "2"})]);
    assert_eq!(recorded(&bench).await, bench.sent());
    let asked = &bench.intents().await[0].1.revealed["asked"];
    assert_eq!(
        serde_json::from_str::<Value>(asked.as_str().unwrap()).unwrap(),
        json!({"q": "shoes", "n": 2})
    );
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_is_shown_recorded_and_sent_with_the_same_arguments() {
    let bench = bench(Effect::Write);
    let turn = bench.start("go").await.turn;
    let first = bench.approval(0).await;
    assert_eq!(first.arguments, r#"{"count":"2","q":"shoes"}"#);
    bench
        .decide(&first, Decision::Edit { arguments: r#"{"q": "boots", "n": 3}"#.into() })
        .await
        .unwrap();
    let second = bench.approval(1).await;
    assert_eq!(second.arguments, r#"{"count":"3","q":"boots"}"#);
    bench.decide(&second, ONCE).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.sent(), [json!({"q": "boots", "count": "3"})]);
    assert_eq!(recorded(&bench).await, bench.sent());
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn an_action_approved_after_its_turn_is_sent_as_it_was_shown() {
    let bench = bench(Effect::Write);
    let turn = bench.start_with("go", true).await.turn;
    bench.final_of(&turn).await;
    let approval = bench.approval(0).await;
    bench.decide(&approval, ONCE).await.unwrap();
    assert_eq!(bench.sent(), [serde_json::from_str::<Value>(&approval.arguments).unwrap()]);
    assert_eq!(recorded(&bench).await, bench.sent());
}

// The clock is not paused, because the log is written within the tool's time limit, and a paused
// clock would jump past this limit.
#[tokio::test]
async fn a_second_request_made_by_a_read_has_its_own_record() {
    let bench = bench(Effect::ReadOnly);
    bench.tools.further.lock().unwrap().insert("t".into(), json!({"q": "shoe"}));
    bench.ask("go").await;
    assert_eq!(bench.sent(), [json!({"q": "shoes", "count": "2"}), json!({"q": "shoe"})]);
    assert_eq!(recorded(&bench).await, bench.sent());
    let marks: Vec<Option<Value>> = bench
        .intents()
        .await
        .iter()
        .map(|(_, record)| record.fields.get("again").cloned())
        .collect();
    assert_eq!(marks, [None, Some(json!(true))]);
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_makes_no_second_request_without_approval() {
    let bench = bench(Effect::Write);
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    bench.tools.further.lock().unwrap().insert("t".into(), json!({"q": "other"}));
    bench.ask("go").await;
    assert_eq!(bench.sent().len(), 1);
    assert_eq!(recorded(&bench).await, bench.sent());
}

// The clock is not paused, because the log is written within the tool's time limit, and a paused
// clock would jump past this limit.
#[tokio::test]
async fn a_read_resumed_with_answers_is_recorded_with_the_answers() {
    let bench = bench(Effect::ReadOnly);
    bench.tools.wants.lock().unwrap().insert("t".into(), json!({"which": {"action": "accept"}}));
    bench.ask("go").await;
    let recorded = recorded(&bench).await;
    assert_eq!(
        (recorded.len(), &recorded[1]["(inputResponses)"]),
        (2, &json!({"which": {"action": "accept"}}))
    );
    bench.verified().await;
}
