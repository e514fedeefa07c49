//! Tests of the approval gate: every change needs an approval of exactly that change, and an
//! approval is used only once.

use contract::*;
use engine::ports::*;
use policy::{Action, Rule};
use serde_json::{Value, json};

use crate::world::{Bench, Say, status_and_text, tool};

fn once() -> Decision {
    Decision::ApproveOnce { confirm_word: None }
}

fn write_bench() -> Bench {
    let bench = Bench::new(vec![tool("w", Effect::Write), tool("r", Effect::ReadOnly)]);
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 2}))]);
    bench
}

#[tokio::test(start_paused = true)]
async fn an_approved_write_runs_once_after_its_intent_is_recorded() {
    let bench = write_bench();
    bench.model.then(vec![Say::Text("added")]);
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    assert_eq!(approval.arguments, r#"{"n":2,"q":"shoes"}"#);
    assert!(bench.runs().is_empty(), "nothing runs before the signature");
    assert_eq!(bench.decide(&approval, once()).await.unwrap().tool, "w".into());
    assert_eq!(status_and_text(&bench.final_of(&turn).await), (TurnStatus::Ok, "added".into()));
    assert_eq!(bench.runs(), ["w"]);
    let refused = bench.decide(&approval, once()).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("not_pending"));
    assert_eq!(bench.runs(), ["w"], "a second yes changes nothing");
    let types: Vec<RecordType> = bench.records().await.into_iter().map(|(t, _)| t).collect();
    let at = |wanted| types.iter().position(|t| *t == wanted).unwrap();
    assert!(at(RecordType::ApprovalRequested) < at(RecordType::ApprovalResolved));
    assert!(at(RecordType::ApprovalResolved) < at(RecordType::ToolIntent));
    assert!(at(RecordType::ToolIntent) < at(RecordType::ToolOutcome));
    assert_eq!(
        bench.world.store.approval(&approval.id).await.unwrap().unwrap().status,
        ApprovalStatus::Done
    );
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_decision_for_another_hash_is_refused() {
    let bench = write_bench();
    bench.start("add").await;
    let approval = bench.approval(0).await;
    let forged = Approval { hash: "0".repeat(64), ..approval.clone() };
    assert_eq!(
        bench.decide(&forged, once()).await.unwrap_err().reason_text(),
        Some("hash_mismatch")
    );
    assert_eq!(
        bench.world.store.approval(&approval.id).await.unwrap().unwrap().status,
        ApprovalStatus::Pending
    );
}

#[tokio::test(start_paused = true)]
async fn a_rejection_reaches_the_model_with_its_reason() {
    let bench = write_bench();
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    bench
        .decide(&approval, Decision::Reject { reason: Some("too expensive".into()) })
        .await
        .unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Rejected]);
    assert!(bench.runs().is_empty());
    let requests = bench.model.requests.lock().unwrap();
    let told = requests[1]
        .messages
        .iter()
        .any(|m| matches!(m, Message::Tool { content, .. } if content.contains("too expensive")));
    assert!(told);
}

#[tokio::test(start_paused = true)]
async fn an_undecided_action_expires_at_its_expiry_time() {
    let bench = write_bench();
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    bench.clock.forward(601);
    bench.final_of(&turn).await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Expired]);
    assert_eq!(
        bench.decide(&approval, once()).await.unwrap_err().reason_text(),
        Some("not_pending")
    );
    assert!(bench.runs().is_empty());
    assert_eq!(*bench.pushed.expired.lock().unwrap(), [approval.id]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_after_the_expiry_time_is_refused_even_before_the_timer_runs() {
    let bench = write_bench();
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    bench.clock.forward(601);
    assert!(bench.decide(&approval, once()).await.is_err());
    bench.final_of(&turn).await;
    assert!(bench.runs().is_empty());
    assert_eq!(bench.outcomes().await, [ToolOutcome::Expired]);
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_turn_cancels_its_pending_action() {
    let bench = write_bench();
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    bench
        .engine
        .turns
        .cancel(&TurnCancelParams { session: "s".into(), turn: turn.clone() })
        .await
        .unwrap();
    assert_eq!(status_and_text(&bench.final_of(&turn).await).0, TurnStatus::Cancelled);
    assert_eq!(
        bench.world.store.approval(&approval.id).await.unwrap().unwrap().status,
        ApprovalStatus::Cancelled
    );
    assert_eq!(bench.outcomes().await, [ToolOutcome::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn a_headless_turn_ends_and_its_action_can_be_approved_later() {
    let bench = write_bench();
    let turn = bench.start_with("add", true).await.turn;
    let EventBody::Final { status, error: Some(error), .. } = bench.final_of(&turn).await else {
        panic!("a final with an error")
    };
    assert_eq!((status, error.code), (TurnStatus::ApprovalRequired, ErrorCode::ApprovalRequired));
    let approval = bench.approval(0).await;
    assert_eq!(error.details["approval_id"], json!(approval.id));
    assert!(bench.runs().is_empty());
    bench.decide(&approval, once()).await.unwrap();
    assert_eq!(bench.runs(), ["w"]);
    assert_eq!(bench.outcomes().await, [ToolOutcome::Ok], "the result is kept in the session");
    bench.ask("and now?").await;
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn editing_the_arguments_creates_a_new_proposal_with_its_own_hash() {
    let bench = write_bench();
    let turn = bench.start("add").await.turn;
    let first = bench.approval(0).await;
    let bad = bench
        .decide(&first, Decision::Edit { arguments: json!({"n": "lots"}).to_string() })
        .await
        .unwrap_err();
    assert_eq!(bad.code, ErrorCode::InvalidInput);
    bench
        .decide(&first, Decision::Edit { arguments: json!({"q": "shoes", "n": 1}).to_string() })
        .await
        .unwrap();
    let second = bench.approval(1).await;
    assert_ne!(first.hash, second.hash);
    assert_eq!(second.replaces, Some(first.id.clone()));
    assert!(bench.runs().is_empty());
    bench.decide(&second, once()).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.tools.runs.lock().unwrap()[0].1, json!({"q": "shoes", "n": 1}));
    assert_eq!(
        bench.world.store.approval(&first.id).await.unwrap().unwrap().status,
        ApprovalStatus::Superseded
    );
}

#[tokio::test(start_paused = true)]
async fn approve_for_this_session_covers_later_calls_and_is_listed_as_a_grant() {
    let bench = write_bench();
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    assert!(approval.grantable);
    bench.decide(&approval, Decision::ApproveForSession).await.unwrap();
    bench.final_of(&turn).await;
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 5}))]);
    bench.ask("more").await;
    assert_eq!(bench.runs(), ["w", "w"], "covered: another number of the same");
    let grant = bench.engine.grants.list().await.unwrap().remove(0);
    assert!(grant.last_used_at.is_some());
    bench.engine.grants.revoke(&grant.id).await.unwrap();
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 5}))]);
    bench.start("again").await;
    bench.approval(1).await;
    assert_eq!(bench.runs().len(), 2, "revoked: it asks again");
}

#[tokio::test(start_paused = true)]
async fn a_session_grant_that_could_not_be_stored_is_reported() {
    let bench = write_bench();
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    bench.log.refuses.store(true, std::sync::atomic::Ordering::SeqCst);
    bench.decide(&approval, Decision::ApproveForSession).await.unwrap();
    bench.final_of(&turn).await;
    assert!(bench.engine.grants.list().await.unwrap().is_empty());
    let told = bench.items().await.into_iter().filter(|item| matches!(&item.body, ItemBody::Notice { code, .. } if code == "permission_not_stored"));
    assert_eq!(told.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn untrusted_content_suspends_grants_for_the_turn() {
    let mut reader = tool("r", Effect::ReadOnly);
    reader.output_trust = manifest::OutputTrust::Untrusted;
    let bench = Bench::new(vec![tool("w", Effect::Write), reader]);
    bench.model.then(vec![Say::Call("w", json!({"q": "x", "n": 1}))]);
    let turn = bench.start("add").await.turn;
    bench.decide(&bench.approval(0).await, Decision::ApproveForSession).await.unwrap();
    bench.final_of(&turn).await;
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.model.then(vec![Say::Call("w", json!({"q": "x", "n": 2}))]);
    bench.start("read and add").await;
    bench.approval(1).await;
    assert_eq!(bench.runs(), ["w", "r"]);
}

#[tokio::test(start_paused = true)]
async fn a_destructive_tool_needs_its_confirmation_word_and_cannot_be_granted() {
    let bench = Bench::new(vec![tool("d", Effect::Destructive)]);
    bench.model.then(vec![Say::Call("d", json!({}))]);
    let turn = bench.start("delete").await.turn;
    let approval = bench.approval(0).await;
    let word = approval.confirm_word.clone().expect("a word to type");
    assert!(!approval.grantable);
    assert_eq!(
        bench.decide(&approval, once()).await.unwrap_err().reason_text(),
        Some("confirm_word")
    );
    assert!(bench.decide(&approval, Decision::ApproveForSession).await.is_err());
    assert!(bench.runs().is_empty());
    bench.decide(&approval, Decision::ApproveOnce { confirm_word: Some(word) }).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.runs(), ["d"]);
}

#[tokio::test(start_paused = true)]
async fn two_actions_proposed_at_once_are_decided_separately() {
    let bench = Bench::new(vec![tool("w", Effect::Write), tool("x", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({"n": 1})), Say::Call("x", json!({"n": 2}))]);
    let turn = bench.start("both").await.turn;
    // The calls of a round create their proposals at the same time.
    let mut both = [bench.approval(0).await, bench.approval(1).await];
    both.sort_by(|a, b| a.tool.cmp(&b.tool));
    let [first, second] = both;
    bench.decide(&second, Decision::Reject { reason: None }).await.unwrap();
    assert_eq!(
        bench.world.store.approval(&first.id).await.unwrap().unwrap().status,
        ApprovalStatus::Pending,
        "a rejection does not cascade"
    );
    bench.decide(&first, once()).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.runs(), ["w"]);
}

#[tokio::test(start_paused = true)]
async fn a_deny_rule_added_after_the_proposal_stops_the_approved_action() {
    let bench = write_bench();
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    bench.profile.rules.lock().unwrap().rules.push(Rule {
        id: "stop".into(),
        action: Action::Deny,
        tool: "*".into(),
        effect: None,
        arguments: Default::default(),
        callers: vec![],
        expires_at: None,
        reason: None,
    });
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Denied]);
    assert!(bench.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_approved_action_does_not_run_if_its_tool_definition_has_changed() {
    let bench = write_bench();
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    let mut changed = tool("w", Effect::Write);
    changed.definition_hash = "another".into();
    *bench.tools.specs.lock().unwrap() = std::sync::Arc::new(vec![changed]);
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&turn).await;
    assert!(bench.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn approving_an_action_whose_preview_has_changed_creates_a_new_proposal() {
    let (bench, price) = priced();
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let turn = bench.start("add").await.turn;
    let first = bench.approval(0).await;
    assert_eq!(first.preview.as_ref().unwrap().before.total, "100");
    price.store(120, std::sync::atomic::Ordering::SeqCst);
    bench.decide(&first, once()).await.unwrap();
    let second = bench.approval(1).await;
    assert_eq!(second.preview.as_ref().unwrap().before.total, "120");
    assert!(!bench.runs().contains(&"w".to_owned()), "nothing ran under the old price");
    bench.decide(&second, once()).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.runs().iter().filter(|r| *r == "w").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_is_reported_as_approved_before_it_runs() {
    let bench = write_bench();
    bench.model.then(vec![Say::Text("added")]);
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&turn).await;
    let steps: Vec<String> = bench
        .pushed
        .events
        .lock()
        .unwrap()
        .iter()
        .filter_map(|e| match &e.event {
            EventBody::ApprovalResolved { status, .. } => Some(format!("{status:?}")),
            EventBody::Status {
                stage: stage @ (Stage::WaitingForApproval | Stage::Tools), ..
            } => Some(format!("{stage:?}")),
            EventBody::ToolEnd { outcome, .. } => Some(format!("{outcome:?}")),
            _ => None,
        })
        .collect();
    assert_eq!(steps, ["Tools", "WaitingForApproval", "Approved", "Tools", "Done", "Ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_pending_action_of_an_ended_turn_survives_a_restart() {
    let (bench, price) = priced();
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let params = TurnStartParams {
        session: Some("s".into()),
        text: "add".into(),
        model: None,
        agent: None,
        headless: true,
        replaces: None,
    };
    let turn = bench.engine.turns.start(contract::Caller::inside(), params).await.unwrap().turn;
    bench.final_of(&turn).await;
    price.store(120, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(
        bench.decide(&bench.approval(0).await, once()).await.unwrap_err().code,
        ErrorCode::ApprovalRequired
    );
    let fresh = bench.approval(1).await;
    engine::Engine::new(bench.world.clone()).recover().await.unwrap();
    assert_eq!(
        bench.world.store.approval(&fresh.id).await.unwrap().unwrap().status,
        ApprovalStatus::Pending,
        "it waits for the caller's next message"
    );
}

/// Returns a write whose preview shows a price.
pub fn priced() -> (Bench, std::sync::Arc<std::sync::atomic::AtomicI64>) {
    let mut writer = tool("w", Effect::Write);
    writer.preview = Some(manifest::Preview {
        reads: vec![manifest::PreviewRead { name: "cart".into(), tool: "r".into(), arguments: Default::default(), optional: false }],
        template: r#"{"summary": "add", "before": {"rows": [], "total": {{ cart.total | tojson }}}, "after": {"rows": []}}"#.into(),
    });
    let bench = Bench::new(vec![writer, tool("r", Effect::ReadOnly)]);
    let price = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(100));
    let seen = std::sync::Arc::clone(&price);
    let behaviour = move |_: &ToolRequest| {
        Ok::<Value, ToolFailure>(
            json!({"total": seen.load(std::sync::atomic::Ordering::SeqCst).to_string()}),
        )
    };
    bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(behaviour));
    (bench, price)
}

/// Returns a write whose preview refuses as long as the product has sizes to choose from.
pub fn sized(now: bool) -> (Bench, std::sync::Arc<std::sync::atomic::AtomicBool>) {
    let mut writer = tool("w", Effect::Write);
    writer.preview = Some(manifest::Preview {
        reads: vec![manifest::PreviewRead { name: "product".into(), tool: "r".into(), arguments: Default::default(), optional: false }],
        template: r#"{% if product.sizes %}{"refuse": "Which size?"}{% else %}{"summary": "add", "before": {"rows": []}, "after": {"rows": []}}{% endif %}"#
            .into(),
    });
    let bench = Bench::new(vec![writer, tool("r", Effect::ReadOnly)]);
    let sizes = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(now));
    let seen = std::sync::Arc::clone(&sizes);
    let behaviour = move |_: &ToolRequest| {
        Ok::<Value, ToolFailure>(json!({"sizes": seen.load(std::sync::atomic::Ordering::SeqCst)}))
    };
    bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(behaviour));
    (bench, sizes)
}

#[tokio::test(start_paused = true)]
async fn a_call_that_its_preview_refuses_is_not_proposed_for_approval() {
    let (bench, sizes) = sized(true);
    bench.model.then(vec![Say::Call("w", json!({}))]);
    bench.model.then(vec![Say::Text("Which size do you want?")]);
    let turn = bench.start("add").await.turn;
    let EventBody::Final { text, .. } = bench.final_of(&turn).await else { panic!("a final") };
    assert_eq!(text, "Which size do you want?");
    let told = format!("{:?}", bench.model.requests.lock().unwrap().last().unwrap());
    assert!(told.contains("Which size?"), "the model is told why: {told}");
    assert!(!bench.runs().contains(&"w".to_owned()));

    // The change became impossible while it waited, so it does not run even with an approval.
    sizes.store(false, std::sync::atomic::Ordering::SeqCst);
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let turn = bench.start("add 42").await.turn;
    let approval = bench.approval(0).await;
    sizes.store(true, std::sync::atomic::Ordering::SeqCst);
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&turn).await;
    assert!(!bench.runs().contains(&"w".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_pending_call_that_became_impossible_fails_with_a_result() {
    let (bench, sizes) = sized(false);
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let params = TurnStartParams {
        session: Some("s".into()),
        text: "add".into(),
        model: None,
        agent: None,
        headless: true,
        replaces: None,
    };
    let turn = bench.engine.turns.start(contract::Caller::inside(), params).await.unwrap().turn;
    bench.final_of(&turn).await;
    let approval = bench.approval(0).await;
    sizes.store(true, std::sync::atomic::Ordering::SeqCst);
    let refused = bench.decide(&approval, once()).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("foreseen_refusal"));
    assert!(!bench.runs().contains(&"w".to_owned()));
    let items = bench.world.store.items_before(&"s".into(), None, 100).await.unwrap();
    let ends = items.iter().filter(|item| matches!(&item.body, ItemBody::ToolResult { call, .. } if *call == approval.call)).count();
    assert_eq!(ends, 1, "the call has its one end");
}

#[tokio::test(start_paused = true)]
async fn an_approved_proposal_does_not_run_if_its_preview_refused_it() {
    // The caller withdraws such a proposal, but a crash may come first.
    let (bench, _) = sized(true);
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let approval = bench.caller_approval("en").await;
    assert!(approval.preview.is_none());
    bench.decide(&approval, once()).await.unwrap();
    assert!(!bench.runs().contains(&"w".to_owned()));
    assert_eq!(
        bench.world.store.approval(&approval.id).await.unwrap().unwrap().status,
        ApprovalStatus::Failed
    );
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_does_not_run_if_its_preview_cannot_be_computed_again() {
    let (bench, _) = sized(false);
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    assert!(approval.preview.is_some());
    let away = || ToolFailure {
        error: AgentError::new(ErrorCode::ToolHttpError, "Nobody is there."),
        may_have_happened: false,
    };
    bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(move |_| Err(away())));
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&turn).await;
    assert!(!bench.runs().contains(&"w".to_owned()));
    assert_eq!(
        bench.world.store.approval(&approval.id).await.unwrap().unwrap().status,
        ApprovalStatus::Failed,
        "nothing new is asked that nobody could look at"
    );
    let told = format!("{:?}", bench.model.requests.lock().unwrap().last().unwrap());
    assert!(told.contains("could not be checked again"), "the model is told why: {told}");

    // An action that was approved without a preview needs no preview to run.
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let turn = bench.start("add 42").await.turn;
    let approval = bench.approval(1).await;
    assert!(approval.preview.is_none());
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&turn).await;
    assert!(bench.runs().contains(&"w".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_decides_later_has_one_pending_change_at_a_time() {
    let bench = Bench::new(vec![tool("w", Effect::Write), tool("r", Effect::ReadOnly)]);
    let log = std::sync::Arc::clone(&bench.log);
    let mend = move |_: &ToolRequest| {
        log.refuses.store(false, std::sync::atomic::Ordering::SeqCst);
        Ok::<Value, ToolFailure>(json!({}))
    };
    bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(mend));
    bench.log.refuses.store(true, std::sync::atomic::Ordering::SeqCst);
    // A failed proposal does not block the next proposal.
    bench.model.then(vec![Say::Call("w", json!({"n": 1}))]);
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.model.then(vec![Say::Call("w", json!({"n": 2})), Say::Call("w", json!({"n": 3}))]);
    let params = TurnStartParams {
        session: Some("s".into()),
        text: "add".into(),
        model: None,
        agent: None,
        headless: true,
        replaces: None,
    };
    let turn = bench.engine.turns.start(contract::Caller::inside(), params).await.unwrap().turn;
    let EventBody::Final { status, .. } = bench.final_of(&turn).await else { panic!("a final") };
    assert_eq!(status, TurnStatus::ApprovalRequired);
    let waiting = bench.engine.approvals.list(true).await.unwrap();
    assert_eq!(
        waiting.iter().map(|approval| approval.arguments.as_str()).collect::<Vec<_>>(),
        [r#"{"n":2}"#]
    );
    assert_eq!(bench.outcomes().await, [ToolOutcome::Error, ToolOutcome::Ok, ToolOutcome::Limit]);
}

#[tokio::test(start_paused = true)]
async fn approving_while_the_agent_is_disabled_leaves_the_action_pending() {
    let bench = write_bench();
    bench.start("add").await;
    let approval = bench.approval(0).await;
    bench.profile.settings.lock().unwrap().agent_enabled = false;
    assert_eq!(bench.decide(&approval, once()).await.unwrap_err().code, ErrorCode::AgentDisabled);
    assert_eq!(
        bench.world.store.approval(&approval.id).await.unwrap().unwrap().status,
        ApprovalStatus::Pending
    );
}

#[tokio::test(start_paused = true)]
async fn a_read_only_policy_refuses_writes_without_a_proposal() {
    let bench = write_bench();
    bench.profile.settings.lock().unwrap().policy = PolicyMode::ReadOnlyOnly;
    bench.ask("add").await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Denied]);
    assert!(bench.engine.approvals.list(true).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_host_appends_writes_that_ran_by_policy_to_the_answer() {
    let bench = write_bench();
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    bench.model.then(vec![Say::Text("fine")]);
    let (_, text) = status_and_text(&bench.ask("add").await);
    assert!(text.starts_with("fine") && text.contains("Tool w"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_grant_covers_changed_numbers_but_no_other_lists_or_texts() {
    let mut open = tool("w", Effect::Write);
    open.input_schema = json!({"type": "object", "properties": {"to": {"type": "array"}, "cc": {"type": "string"}, "n": {"type": "integer"}}});
    let bench = Bench::new(vec![open]);
    bench.model.then(vec![Say::Call("w", json!({"to": ["a"], "n": 1}))]);
    let turn = bench.start("send").await.turn;
    bench.decide(&bench.approval(0).await, Decision::ApproveForSession).await.unwrap();
    bench.final_of(&turn).await;
    bench.model.then(vec![Say::Call("w", json!({"to": ["a"], "n": 9}))]);
    bench.ask("again").await;
    assert_eq!(bench.runs().len(), 2, "another number is covered");
    for (index, arguments) in
        [json!({"to": ["b"], "n": 1}), json!({"to": ["a"], "cc": "b", "n": 1})]
            .into_iter()
            .enumerate()
    {
        bench.model.then(vec![Say::Call("w", arguments)]);
        let turn = bench.start("other").await.turn;
        let asked = bench.approval(1 + index).await;
        bench.decide(&asked, Decision::Reject { reason: None }).await.unwrap();
        bench.final_of(&turn).await;
    }
    assert_eq!(bench.runs().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_action_can_be_rejected_while_the_agent_is_disabled() {
    let bench = write_bench();
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    bench.profile.settings.lock().unwrap().agent_enabled = false;
    bench.decide(&approval, Decision::Reject { reason: None }).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Rejected]);
}

#[tokio::test(start_paused = true)]
async fn an_expired_action_can_be_proposed_again_once_and_needs_a_new_decision() {
    let bench = write_bench();
    let turn = bench.start("add two shoes").await.turn;
    let first = bench.approval(0).await;
    let early = bench.engine.approvals.ask_again(&first.id, &contract::Caller::window()).await;
    assert_eq!(early.unwrap_err().reason_text(), Some("not_expired"));
    bench.clock.forward(601);
    bench.final_of(&turn).await;
    let open = bench.engine.approvals.expired().await.unwrap();
    assert_eq!(open.iter().map(|a| &a.id).collect::<Vec<_>>(), [&first.id]);

    let again = bench.engine.approvals.ask_again(&first.id, &contract::Caller::window()).await;
    let again = again.unwrap();
    assert_eq!((&again.arguments, &again.replaces), (&first.arguments, &Some(first.id.clone())));
    assert_eq!((again.status, again.hash.as_str()), (ApprovalStatus::Pending, first.hash.as_str()));
    assert_ne!(again.call, first.call, "the expired call has its result");
    assert_eq!(again.details.words, "add two shoes");
    assert!(again.expires_at > bench.world.clock.now() && bench.runs().is_empty());
    let twice = bench.engine.approvals.ask_again(&first.id, &contract::Caller::window()).await;
    assert_eq!(twice.unwrap_err().reason_text(), Some("not_expired"));
    assert_eq!(bench.engine.approvals.expired().await.unwrap(), []);
    let asked = bench.records_of(RecordType::RunStarted).await.pop().unwrap();
    assert_eq!(asked.fields["asks_again"], json!(first.id));
    assert_eq!(asked.fields["by"], json!("window"));

    bench.decide(&first, once()).await.unwrap_err();
    bench.decide(&again, once()).await.unwrap();
    assert_eq!(bench.runs(), ["w"]);
    assert_eq!(bench.outcomes().await, [ToolOutcome::Expired, ToolOutcome::Ok]);
    bench.ask("and now?").await;
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn concurrent_requests_to_propose_again_create_one_new_proposal() {
    let bench = write_bench();
    let turn = bench.start("add two shoes").await.turn;
    let first = bench.approval(0).await;
    bench.clock.forward(601);
    bench.final_of(&turn).await;
    let by = contract::Caller::window();
    let ask = || bench.engine.approvals.ask_again(&first.id, &by);
    let both = <[_; 2]>::from(tokio::join!(ask(), ask()));
    let refused: Vec<_> = both.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0].reason_text(), Some("not_expired"));
    let all = bench.engine.approvals.list(true).await.unwrap();
    assert_eq!(all.iter().filter(|a| a.replaces.as_ref() == Some(&first.id)).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn proposing_an_expired_action_again_repeats_all_checks() {
    let bench = write_bench();
    let turn = bench.start("add two shoes").await.turn;
    let first = bench.approval(0).await;
    bench.clock.forward(601);
    bench.final_of(&turn).await;
    let deny = r#"{"rules": [{"id": "no", "action": "deny", "tool": "w"}]}"#;
    *bench.profile.rules.lock().unwrap() = policy::Rules::parse(deny);
    let refused = bench.engine.approvals.ask_again(&first.id, &contract::Caller::window()).await;
    assert_eq!(refused.unwrap_err().reason_text(), Some("side_effect_disallowed"));
    *bench.profile.rules.lock().unwrap() = policy::Rules::default();
    *bench.tools.specs.lock().unwrap() = std::sync::Arc::new(vec![tool("r", Effect::ReadOnly)]);
    let refused = bench.engine.approvals.ask_again(&first.id, &contract::Caller::window()).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::ToolNotFound);
    assert!(bench.runs().is_empty());
}
