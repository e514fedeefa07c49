//! Tests of the kill switches at their named points, for everything, a tool and an agent, and of
//! the report of writes that ran without approval.

use std::sync::atomic::Ordering;

use contract::{AgentId, ApprovalStatus, Decision, Effect, EventBody, PolicyMode, TurnStatus};
use engine::ports::ModelErrorKind;
use serde_json::json;

use crate::world::{Bench, Say, agent, status_and_text, tool};

#[tokio::test(start_paused = true)]
async fn a_switched_off_tool_is_neither_offered_nor_run() {
    let bench =
        Bench::new(vec![tool("a.read", Effect::ReadOnly), tool("b.read", Effect::ReadOnly)]);
    bench.profile.settings.lock().unwrap().switches.tools_off.insert("a.read".into());
    bench.model.then(vec![Say::Call("a_read", json!({}))]);
    bench.ask("go").await;
    let requests = bench.model.requests.lock().unwrap();
    let offered: Vec<&str> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(offered, ["b_read"]);
    let told = format!("{:?}", requests[1].messages);
    assert!(told.contains("agent_disabled") && told.contains("tool_off"), "{told}");
    drop(requests);
    assert!(bench.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn switching_off_a_specialist_switches_off_its_tools() {
    let bench = Bench::new(vec![tool("a.read", Effect::ReadOnly)]);
    *bench.tools.agent.lock().unwrap() = Some(AgentId::new("guardian"));
    bench.profile.settings.lock().unwrap().switches.agents_off.insert("guardian".into());
    bench.model.then(vec![Say::Call("a_read", json!({}))]);
    bench.ask("go").await;
    assert!(bench.runs().is_empty());
    assert!(bench.model.requests.lock().unwrap()[0].tools.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_pending_action_of_a_switched_off_tool_cannot_be_approved_and_stays_pending() {
    let bench = Bench::new(vec![tool("cart.add", Effect::Write)]);
    bench.model.then(vec![Say::Call("cart_add", json!({"q": "x"}))]);
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    bench.profile.settings.lock().unwrap().switches.tools_off.insert("cart.add".into());
    let refused =
        bench.decide(&approval, Decision::ApproveOnce { confirm_word: None }).await.unwrap_err();
    assert_eq!(
        (refused.code, refused.reason_text()),
        (contract::ErrorCode::AgentDisabled, Some("tool_off"))
    );
    assert_eq!(
        bench.engine.approvals.list(false).await.unwrap()[0].status,
        ApprovalStatus::Pending
    );
    bench.profile.settings.lock().unwrap().switches.tools_off.clear();
    bench.decide(&approval, Decision::ApproveOnce { confirm_word: None }).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.runs(), ["cart.add"]);
}

#[tokio::test(start_paused = true)]
async fn switching_everything_off_ends_a_turn_before_its_next_model_call() {
    let bench = Bench::new(vec![tool("a.read", Effect::ReadOnly)]);
    let profile = std::sync::Arc::clone(&bench.profile);
    bench.tools.behaviours.lock().unwrap().insert(
        "a.read".into(),
        Box::new(move |_| {
            profile.settings.lock().unwrap().agent_enabled = false;
            Ok(json!({}))
        }),
    );
    bench.model.then(vec![Say::Call("a_read", json!({}))]);
    let end = bench.ask("go").await;
    let EventBody::Final { status, error, .. } = end else { panic!("not a final") };
    assert_eq!(
        (status, error.unwrap().code),
        (TurnStatus::Error, contract::ErrorCode::AgentDisabled)
    );
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn switching_a_specialist_off_ends_its_turn_before_its_next_model_call() {
    let bench = Bench::new(vec![tool("a.read", Effect::ReadOnly)])
        .with(vec![agent("guardian", &["a.read"])]);
    let profile = std::sync::Arc::clone(&bench.profile);
    bench.tools.behaviours.lock().unwrap().insert(
        "a.read".into(),
        Box::new(move |_| {
            profile.settings.lock().unwrap().switches.agents_off.insert("guardian".into());
            Ok(json!({}))
        }),
    );
    bench.model.then(vec![Say::Call("a_read", json!({}))]);
    let end = bench.ask("go").await;
    let EventBody::Final { status, error, .. } = end else { panic!("not a final") };
    let error = error.unwrap();
    assert_eq!(
        (status, error.code, error.reason_text()),
        (TurnStatus::Error, contract::ErrorCode::AgentDisabled, Some("agent_off"))
    );
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_ran_without_approval_is_reported_however_the_turn_ends() {
    let bench =
        Bench::new(vec![tool("cart.add", Effect::Write), tool("cart.drop", Effect::Destructive)]);
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    let line = "Done without asking, as the policy allows: Tool cart.add {\"q\":\"x\"}";

    bench.model.then(vec![Say::Call("cart_add", json!({"q": "x"}))]);
    bench.model.then(vec![Say::Text("Nothing was changed.")]);
    assert_eq!(
        status_and_text(&bench.ask("add").await),
        (TurnStatus::Ok, format!("Nothing was changed.\n\n{line}"))
    );

    bench.model.then(vec![Say::Call("cart_add", json!({"q": "x"}))]);
    bench.model.then(vec![Say::Fail(ModelErrorKind::Unauthorized)]);
    assert_eq!(status_and_text(&bench.ask("add").await), (TurnStatus::Error, line.to_owned()));

    bench.model.then(vec![
        Say::Call("cart_add", json!({"q": "x"})),
        Say::Call("cart_drop", json!({"q": "x"})),
    ]);
    let turn = bench.start_with("add and drop", true).await.turn;
    let (status, text) = status_and_text(&bench.final_of(&turn).await);
    assert!(
        status == TurnStatus::ApprovalRequired && text.ends_with(line),
        "destructive asks all the same: {text}"
    );
    assert_eq!(bench.runs(), ["cart.add"; 3]);
    assert_eq!(bench.tools.at_once.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_preview_does_not_call_tools_that_are_switched_off_or_denied() {
    let denied = r#"{"rules": [{"id": "no", "action": "deny", "tool": "r"}]}"#;
    for off in [true, false] {
        let (bench, _) = crate::approvals::priced();
        if off {
            bench.profile.settings.lock().unwrap().switches.tools_off.insert("r".into());
        } else {
            *bench.profile.rules.lock().unwrap() = policy::Rules::parse(denied);
        }
        bench.model.then(vec![Say::Call("w", json!({}))]);
        let turn = bench.start("add").await.turn;
        let approval = bench.approval(0).await;
        assert_eq!(approval.preview, None);
        bench.decide(&approval, Decision::ApproveOnce { confirm_word: None }).await.unwrap();
        bench.final_of(&turn).await;
        assert_eq!(bench.runs(), ["w"]);
    }
}
