//! Tests of pending actions whose turns have ended: a later decision runs the action, and no action
//! stays partially decided.

use std::sync::{Arc, atomic::Ordering};

use chrono::TimeDelta;
use contract::*;
use serde_json::json;

use crate::{
    approvals::{priced, sized},
    world::{Bench, Say, ScriptTools, status_and_text, tool},
};

fn once() -> Decision {
    Decision::ApproveOnce { confirm_word: None }
}

/// Returns a write that is pending after its turn has ended.
async fn left() -> (Bench, Approval) {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 2}))]);
    let turn = bench.start_with("add", true).await.turn;
    bench.final_of(&turn).await;
    let approval = bench.approval(0).await;
    (bench, approval)
}

async fn status(bench: &Bench, approval: &Approval) -> ApprovalStatus {
    bench.world.store.approval(&approval.id).await.unwrap().unwrap().status
}

#[tokio::test(start_paused = true)]
async fn editing_an_action_after_its_turn_creates_a_new_proposal_and_keeps_the_old_one() {
    let (bench, first) = left().await;
    bench.log.refuses.store(true, Ordering::SeqCst);
    bench
        .decide(&first, Decision::Edit { arguments: json!({"q": "shoes", "n": 1}).to_string() })
        .await
        .unwrap_err();
    assert_eq!(
        status(&bench, &first).await,
        ApprovalStatus::Pending,
        "what could not be proposed replaces nothing"
    );
    bench.log.refuses.store(false, Ordering::SeqCst);
    let edited = bench
        .decide(&first, Decision::Edit { arguments: json!({"q": "shoes", "n": 1}).to_string() })
        .await
        .unwrap();
    assert_eq!(edited.status, ApprovalStatus::Superseded);
    let second =
        bench.engine.approvals.waiting_in(&"s".into()).await.unwrap().expect("the new one waits");
    assert_eq!(
        (second.replaces.as_ref(), second.arguments.as_str()),
        (Some(&first.id), r#"{"n":1,"q":"shoes"}"#)
    );
    assert!(bench.runs().is_empty());
    bench.decide(&second, once()).await.unwrap();
    assert_eq!(bench.tools.runs.lock().unwrap()[0].1, json!({"q": "shoes", "n": 1}));
    assert_eq!(bench.outcomes().await, [ToolOutcome::Ok], "the call has its one end");
}

#[tokio::test(start_paused = true)]
async fn approving_an_action_whose_tool_was_removed_fails_it_with_the_reason() {
    let (bench, approval) = left().await;
    *bench.tools.specs.lock().unwrap() = Arc::new(vec![]);
    assert_eq!(bench.decide(&approval, once()).await.unwrap_err().code, ErrorCode::ToolNotFound);
    let row = bench.world.store.approval(&approval.id).await.unwrap().unwrap();
    assert_eq!(
        (row.status, row.reason.as_deref()),
        (ApprovalStatus::Failed, Some("Tool w is not available any more."))
    );
    assert_eq!(bench.outcomes().await, [ToolOutcome::Denied]);
}

#[tokio::test(start_paused = true)]
async fn the_log_records_the_end_of_a_pending_action_of_a_deleted_session() {
    let (bench, approval) = left().await;
    bench.engine.sessions.delete(&"s".into()).await.unwrap();
    assert!(bench.world.store.approval(&approval.id).await.unwrap().is_none());
    let ends = bench
        .records()
        .await
        .into_iter()
        .filter(|(kind, _)| *kind == RecordType::ApprovalResolved)
        .map(|(_, status)| status);
    assert_eq!(ends.collect::<Vec<_>>(), [Some("cancelled".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn an_undone_deletion_restores_the_conversation_but_not_its_pending_action() {
    let (bench, approval) = left().await;
    let items = bench.items().await.len();
    bench.engine.sessions.delete_undoably(&"s".into()).await.unwrap();
    assert_eq!(status(&bench, &approval).await, ApprovalStatus::Cancelled);
    bench.engine.sessions.restore(&"s".into()).await.unwrap();
    assert!(bench.items().await.len() >= items, "all messages are there again");
    assert_eq!(status(&bench, &approval).await, ApprovalStatus::Cancelled);
    bench.decide(&approval, once()).await.unwrap_err();
    assert!(bench.runs().is_empty(), "no action runs by an undo");
    let ends = bench.records().await;
    let ends = ends.into_iter().filter(|(kind, _)| *kind == RecordType::ApprovalResolved);
    assert_eq!(ends.map(|(_, end)| end).collect::<Vec<_>>(), [Some("cancelled".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn an_action_that_a_copy_has_open_again_never_runs_again() {
    for (logged, ends, outcome) in [
        (Some(ApprovalStatus::Done), ApprovalStatus::Done, ToolOutcome::Ok),
        (Some(ApprovalStatus::Approved), ApprovalStatus::Failed, ToolOutcome::Unknown),
        (Some(ApprovalStatus::Rejected), ApprovalStatus::Rejected, ToolOutcome::Rejected),
        (None, ApprovalStatus::Failed, ToolOutcome::Unknown),
    ] {
        let (bench, approval) = left().await;
        let logged = logged.map(|status| (approval.id.clone(), status)).into_iter().collect();
        bench.engine.approvals.settle_copied(&logged).await.unwrap();
        assert_eq!(status(&bench, &approval).await, ends);
        assert_eq!(bench.outcomes().await, [outcome], "{ends:?}");
        bench.decide(&approval, once()).await.unwrap_err();
        assert!(bench.runs().is_empty(), "{ends:?}");
    }
    let (bench, approval) = left().await;
    let waits = [(approval.id.clone(), ApprovalStatus::Pending)].into();
    bench.engine.approvals.settle_copied(&waits).await.unwrap();
    bench.decide(&approval, once()).await.unwrap();
    assert_eq!(bench.runs(), ["w"], "an action that still waits is decided as before");
}

#[tokio::test(start_paused = true)]
async fn the_log_records_the_expiry_of_a_pending_action_of_an_expired_session() {
    let (bench, _) = left().await;
    bench.engine.sessions.expire(&"s".into(), None).await.unwrap();
    let ends = bench
        .records()
        .await
        .into_iter()
        .filter(|(kind, _)| *kind == RecordType::ApprovalResolved)
        .map(|(_, status)| status);
    assert_eq!(ends.collect::<Vec<_>>(), [Some("expired".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn the_log_records_the_end_of_an_unfinished_action_when_its_session_is_deleted() {
    for (stuck, ends) in
        [(ApprovalStatus::Approved, "expired"), (ApprovalStatus::Executing, "failed")]
    {
        let (bench, approval) = left().await;
        let (store, now) = (&bench.world.store, bench.world.clock.now());
        assert!(store.approval_move(&approval.id, Transition::APPROVE, None, now).await.unwrap());
        if stuck == ApprovalStatus::Executing {
            assert!(store.approval_move(&approval.id, Transition::BEGIN, None, now).await.unwrap());
        }
        bench.engine.sessions.delete(&"s".into()).await.unwrap_err();
        bench.engine.sessions.expire(&"s".into(), None).await.unwrap();
        let told = bench
            .records()
            .await
            .into_iter()
            .filter(|(kind, _)| *kind == RecordType::ApprovalResolved)
            .map(|(_, status)| status);
        assert_eq!(told.collect::<Vec<_>>(), [Some(ends.to_owned())]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_session_is_kept_while_one_of_its_actions_runs() {
    let (bench, approval) = left().await;
    bench.tools.slow.lock().unwrap().insert("w".into(), std::time::Duration::from_secs(1));
    let (decided, ()) = tokio::join!(bench.decide(&approval, once()), async {
        while status(&bench, &approval).await != ApprovalStatus::Executing {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        bench.engine.sessions.expire(&"s".into(), None).await.unwrap_err();
    });
    assert_eq!(decided.unwrap().status, ApprovalStatus::Done);
    assert_eq!(bench.outcomes().await, [ToolOutcome::Ok]);
    bench.engine.sessions.expire(&"s".into(), None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_approval_by_a_person_for_a_caller_renders_the_preview_in_the_callers_language() {
    let (bench, price) = priced();
    let mut writer = tool("w", Effect::Write);
    let reads = vec![manifest::PreviewRead {
        name: "cart".into(),
        tool: "r".into(),
        arguments: Default::default(),
        optional: false,
    }];
    let template = r#"{"summary": "{{ locale }}", "before": {"rows": [], "total": {{ cart.total | tojson }}}, "after": {"rows": []}}"#.into();
    writer.preview = Some(manifest::Preview { reads, template });
    *bench.tools.specs.lock().unwrap() = Arc::new(vec![writer, tool("r", Effect::ReadOnly)]);
    let ran = || bench.runs().iter().filter(|run| *run == "w").count();
    let summary = |approval: &Approval| approval.preview.as_ref().unwrap().summary.clone();

    bench.model.then(vec![Say::Call("w", json!({}))]);
    let asked = bench.caller_approval("sv").await;
    assert_eq!(summary(&asked), "sv");
    bench.decide(&asked, once()).await.unwrap();
    assert_eq!(
        (status(&bench, &asked).await, ran()),
        (ApprovalStatus::Done, 1),
        "other words are no change"
    );

    bench.model.then(vec![Say::Call("w", json!({}))]);
    let asked = bench.caller_approval("sv").await;
    price.store(120, Ordering::SeqCst);
    assert_eq!(bench.decide(&asked, once()).await.unwrap_err().code, ErrorCode::ApprovalRequired);
    let fresh =
        bench.engine.approvals.waiting_in(&"s".into()).await.unwrap().expect("the new price waits");
    assert_eq!(
        (summary(&fresh).as_str(), fresh.expires_at - fresh.created_at),
        ("sv", TimeDelta::days(1))
    );
    assert_eq!(ran(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_headless_call_that_its_preview_refuses_is_not_proposed_for_approval() {
    let (bench, _) = sized(true);
    bench.model.then(vec![Say::Call("w", json!({}))]);
    bench.model.then(vec![Say::Text("Which size do you want?")]);
    let turn = bench.start_with("add", true).await.turn;
    assert_eq!(
        status_and_text(&bench.final_of(&turn).await),
        (TurnStatus::Ok, "Which size do you want?".into())
    );
    assert!(bench.engine.approvals.list(true).await.unwrap().is_empty());

    // The same for a caller whose host does not check this tool itself.
    bench.model.then(vec![Say::Call("w", json!({}))]);
    bench.model.then(vec![Say::Text("Which size do you want?")]);
    assert!(bench.waiting_after_caller_turn("en", &["other"]).await.is_none());
    let told = format!("{:?}", bench.model.requests.lock().unwrap().last().unwrap());
    assert!(told.contains("Which size?"), "the model is told why: {told}");
}

#[tokio::test(start_paused = true)]
async fn a_session_grant_is_stored_only_once_the_current_preview_is_approved() {
    let (bench, price) = priced();
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let turn = bench.start("add").await.turn;
    let first = bench.approval(0).await;
    price.store(120, Ordering::SeqCst);
    bench.decide(&first, Decision::ApproveForSession).await.unwrap();
    let second = bench.approval(1).await;
    assert!(bench.engine.grants.list().await.unwrap().is_empty(), "nobody signed the new price");
    bench.decide(&second, Decision::ApproveForSession).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.engine.grants.list().await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_always_needs_a_person_cannot_be_granted_for_a_session() {
    let bench = Bench::new(vec![ToolSpec { human_required: true, ..tool("w", Effect::Write) }]);
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    assert!(!approval.grantable && bench.runs().is_empty());
    assert_eq!(
        bench.decide(&approval, Decision::ApproveForSession).await.unwrap_err().reason_text(),
        Some("not_grantable")
    );
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.runs(), ["w"]);
}

/// Returns a bench with two packs that both have a tool `w`, and a customer who can use one of
/// them.
async fn shared_id() -> (Bench, Approval) {
    let of_pack = |pack: &str| ToolSpec {
        pack: pack.into(),
        id: ToolId::qualified(&pack.into(), &"w".into()),
        ..tool("w", Effect::Write)
    };
    let bench = Bench::new(vec![of_pack("test"), of_pack("other")]);
    let own = ScriptTools::default();
    *own.specs.lock().unwrap() = Arc::new(vec![tool("w", Effect::Write)]);
    *bench.limited.tools.lock().unwrap() = Arc::new(own);
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes"}))]);
    let approval = bench.caller_approval("en").await;
    (bench, approval)
}

/// Decides as the customer who sent the message.
async fn decide_as_caller(bench: &Bench, approval: &Approval) -> Result<Approval, AgentError> {
    let options = engine::TurnOptions {
        locale: "en".into(),
        caller: Caller::chat_api([].into(), Limits::default()),
        request_id: "yes".into(),
        correlation_id: None,
        hints: Vec::new(),
        whole: true,
        preflight_tools: &[],
    };
    let (id, hash) = (approval.id.clone(), approval.hash.clone());
    let params = ApprovalDecideParams { id, hash, decision: once() };
    bench.engine.caller_turns.decide(approval, params, options).await.0
}

#[tokio::test(start_paused = true)]
async fn switching_off_another_packs_tool_of_the_same_id_does_not_stop_a_pending_action() {
    let (bench, approval) = shared_id().await;
    let off = |id: &str| {
        bench.profile.settings.lock().unwrap().switches.tools_off = [ToolId::new(id)].into();
    };
    off("test:w");
    let refused = decide_as_caller(&bench, &approval).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("tool_off"));
    assert_eq!(status(&bench, &approval).await, ApprovalStatus::Pending);
    off("other:w");
    decide_as_caller(&bench, &approval).await.unwrap();
    let own = Arc::clone(&bench.limited.tools.lock().unwrap());
    let (runs, callers) = (own.runs.lock().unwrap().len(), own.callers.lock().unwrap().clone());
    assert_eq!((runs, callers.as_slice()), (1, &[CallerKind::ChatApi][..]));
    assert!(bench.runs().is_empty(), "the owner's tools are not called");
}

#[tokio::test(start_paused = true)]
async fn an_action_approved_after_its_turn_runs_with_the_identity_of_its_caller() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes"}))]);
    let approval = bench.caller_approval("en").await;
    bench.decide(&approval, once()).await.unwrap();
    assert_eq!(*bench.tools.callers.lock().unwrap(), [CallerKind::ChatApi]);
    let resolved = bench.records_of(RecordType::ApprovalResolved).await;
    assert!(resolved.iter().any(|record| record.fields["by"] == "window"), "{resolved:?}");
}
