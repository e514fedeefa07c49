//! Tests of calls whose server first asks for answers: with the answers they are new calls with
//! their own approval and intent record.

use contract::*;
use serde_json::{Value, json};

use crate::world::{Bench, Say, status_and_text, tool};

fn once() -> Decision {
    Decision::ApproveOnce { confirm_word: None }
}

fn bench(effect: Effect) -> Bench {
    let bench = Bench::new(vec![tool("w", effect)]);
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes"}))]);
    bench.model.then(vec![Say::Text("done")]);
    bench
        .tools
        .wants
        .lock()
        .unwrap()
        .insert("w".into(), json!({"which": {"action": "accept", "content": {"account": "17"}}}));
    bench
}

async fn status(bench: &Bench, approval: &Approval) -> ApprovalStatus {
    bench.world.store.approval(&approval.id).await.unwrap().unwrap().status
}

#[tokio::test(start_paused = true)]
async fn a_call_resumed_with_answers_needs_approval_of_arguments_and_answers() {
    let bench = bench(Effect::Write);
    let turn = bench.start("go").await.turn;
    let first = bench.approval(0).await;
    bench.decide(&first, once()).await.unwrap();
    let second = bench.approval(1).await;
    let shown: Value = serde_json::from_str(&second.arguments).unwrap();
    assert_eq!(
        (&shown["q"], &shown["(inputResponses)"]["which"]["content"]),
        (&json!("shoes"), &json!({"account": "17"}))
    );
    assert!(second.hash != first.hash && second.id != first.id);
    assert_eq!(bench.runs(), ["w"], "it is not called again before the second signature");
    bench.decide(&second, once()).await.unwrap();
    assert_eq!(status_and_text(&bench.final_of(&turn).await).0, TurnStatus::Ok);
    assert_eq!(bench.runs(), ["w", "w"]);
    assert_eq!(
        (status(&bench, &first).await, status(&bench, &second).await),
        (ApprovalStatus::Done, ApprovalStatus::Done)
    );
    let intents =
        bench.records().await.iter().filter(|(kind, _)| *kind == RecordType::ToolIntent).count();
    assert_eq!(intents, 2);
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_answers_are_rejected_is_not_resumed() {
    let bench = bench(Effect::Write);
    let turn = bench.start("go").await.turn;
    let first = bench.approval(0).await;
    bench.decide(&first, once()).await.unwrap();
    let second = bench.approval(1).await;
    bench
        .decide(&second, Decision::Reject { reason: Some("not that account".into()) })
        .await
        .unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.runs(), ["w"]);
    assert_eq!(
        (status(&bench, &first).await, status(&bench, &second).await),
        (ApprovalStatus::Failed, ApprovalStatus::Rejected)
    );
    assert_eq!(bench.outcomes().await, [ToolOutcome::Error]);
}

#[tokio::test(start_paused = true)]
async fn a_read_is_resumed_with_answers_without_approval() {
    let bench = bench(Effect::ReadOnly);
    assert_eq!(status_and_text(&bench.ask("go").await).0, TurnStatus::Ok);
    assert_eq!(bench.runs(), ["w", "w"]);
}
