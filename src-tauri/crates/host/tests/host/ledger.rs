//! Tests of grants, confirmations of destructive actions and edits through a whole host, with a
//! pack and a server process made for the test.

use std::{path::Path, sync::Arc, time::Duration};

use contract::{
    Approval, ApprovalDecideParams, ApprovalsListParams, Commands, Decision, Empty, ErrorCode,
    GrantParams, PolicyMode, PolicySetParams, SettingsSetParams, ToolCallParams, ToolCallResponse,
    ToolOutcome,
};
use host::{Host, Options};
use serde_json::{Value, json};

struct Bench {
    host: Arc<Host>,
    _folder: tempfile::TempDir,
}

impl Bench {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let packs = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(3)
            .unwrap()
            .join("tests/data/packs");
        let options = Options {
            data_dir: Some(folder.path().to_owned()),
            pack_dirs: vec![packs],
            pack_code: shipped_packs::all(),
            ..Options::default()
        };
        Self { host: Host::open(options).await.unwrap(), _folder: folder }
    }

    async fn call(&self, tool: &str, arguments: Value) -> ToolCallResponse {
        let params = ToolCallParams {
            tool: tool.into(),
            arguments,
            session: Some("s".into()),
            headless: false,
        };
        self.host.tool_call(params).await.unwrap()
    }

    /// Calls a tool that needs an approval. Returns the waiting call and its pending action.
    async fn ask(
        &self,
        tool: &'static str,
        arguments: Value,
    ) -> (tokio::task::JoinHandle<ToolCallResponse>, Approval) {
        let before = self.pending().await.len();
        let host = Arc::clone(&self.host);
        let params = ToolCallParams {
            tool: tool.into(),
            arguments,
            session: Some("s".into()),
            headless: false,
        };
        let waiting = tokio::spawn(async move { host.tool_call(params).await.unwrap() });
        (waiting, self.newest(before).await)
    }

    async fn newest(&self, before: usize) -> Approval {
        for _ in 0..500 {
            let mut pending = self.pending().await;
            if pending.len() > before {
                return pending.pop().unwrap();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("nothing was asked");
    }

    async fn pending(&self) -> Vec<Approval> {
        self.host.approval_pending(Empty {}).await.unwrap().approvals
    }

    async fn decide(
        &self,
        approval: &Approval,
        decision: Decision,
    ) -> Result<Approval, contract::AgentError> {
        let params =
            ApprovalDecideParams { id: approval.id.clone(), hash: approval.hash.clone(), decision };
        self.host.approval_decide(params).await.map(|answer| answer.approval)
    }

    async fn entries(&self) -> usize {
        self.call("ledger.list", json!({})).await.data["entries"].as_array().unwrap().len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_grant_covers_similar_calls_and_can_be_listed_and_revoked() {
    let bench = Bench::open().await;
    let (waiting, approval) = bench.ask("ledger.add", json!({"account": "a", "amount": 1})).await;
    assert!(approval.grantable);
    bench.decide(&approval, Decision::ApproveForSession).await.unwrap();
    assert_eq!(waiting.await.unwrap().outcome, ToolOutcome::Ok);
    assert_eq!(
        bench.call("ledger.add", json!({"account": "a", "amount": 2})).await.outcome,
        ToolOutcome::Ok,
        "another number of the same"
    );
    assert_eq!(bench.entries().await, 2);
    let (waiting, other) = bench.ask("ledger.add", json!({"account": "b", "amount": 1})).await;
    bench.decide(&other, Decision::Reject { reason: None }).await.unwrap();
    assert_eq!(waiting.await.unwrap().outcome, ToolOutcome::Rejected, "another account asks");
    let grants = bench.host.grants_list(Empty {}).await.unwrap().grants;
    assert_eq!(grants.len(), 1);
    assert!(grants[0].last_used_at.is_some());
    bench.host.grant_revoke(GrantParams { id: grants[0].id.clone() }).await.unwrap();
    let (waiting, again) = bench.ask("ledger.add", json!({"account": "a", "amount": 3})).await;
    bench.decide(&again, Decision::Reject { reason: Some("no more".into()) }).await.unwrap();
    assert_eq!(waiting.await.unwrap().outcome, ToolOutcome::Rejected);
    assert_eq!(bench.entries().await, 2);
    bench.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destructive_tool_needs_its_confirmation_word_each_time() {
    let bench = Bench::open().await;
    let (waiting, approval) = bench.ask("ledger.clear", json!({})).await;
    let word = approval.confirm_word.clone().expect("a word to type");
    assert!(!approval.grantable);
    assert!(bench.decide(&approval, Decision::ApproveOnce { confirm_word: None }).await.is_err());
    assert!(bench.decide(&approval, Decision::ApproveForSession).await.is_err());
    assert_eq!(bench.pending().await.len(), 1, "it still waits");
    bench.decide(&approval, Decision::ApproveOnce { confirm_word: Some(word) }).await.unwrap();
    assert_eq!(waiting.await.unwrap().outcome, ToolOutcome::Ok);
    let mut settings = bench.host.settings_get(Empty {}).await.unwrap().settings;
    settings.policy = PolicyMode::WritesAllowed;
    let refused = bench.host.settings_set(SettingsSetParams { settings }).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("window_only"), "the chat window cannot allow more");
    bench.host.policy_set(PolicySetParams { policy: PolicyMode::WritesAllowed }).await.unwrap();
    let (waiting, again) = bench.ask("ledger.clear", json!({})).await;
    bench.decide(&again, Decision::Reject { reason: None }).await.unwrap();
    assert_eq!(waiting.await.unwrap().outcome, ToolOutcome::Rejected, "asks under every policy");
    bench.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn editing_an_action_creates_a_new_proposal_and_keeps_both() {
    let bench = Bench::open().await;
    let (waiting, first) = bench.ask("ledger.add", json!({"account": "a", "amount": 100})).await;
    let refused = bench
        .decide(&first, Decision::Edit { arguments: json!({"account": "a"}).to_string() })
        .await
        .unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidInput);
    bench
        .decide(
            &first,
            Decision::Edit { arguments: json!({"account": "a", "amount": 10}).to_string() },
        )
        .await
        .unwrap();
    let second = bench.newest(0).await;
    assert_ne!(second.hash, first.hash);
    assert_eq!(second.replaces, Some(first.id.clone()));
    bench.decide(&second, Decision::ApproveOnce { confirm_word: None }).await.unwrap();
    waiting.await.unwrap();
    let entries = bench.call("ledger.list", json!({})).await.data;
    assert_eq!(entries["entries"], json!([{"account": "a", "amount": 10}]));
    let all = bench
        .host
        .approvals_list(ApprovalsListParams { include_decided: true })
        .await
        .unwrap()
        .approvals;
    assert!(all.iter().any(|a| a.id == first.id) && all.iter().any(|a| a.id == second.id));
    assert!(bench.host.audit_verify(Empty {}).await.unwrap().ok);
    bench.host.stop().await;
}
