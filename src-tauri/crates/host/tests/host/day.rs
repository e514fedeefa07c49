//! A long day with every kind of event that is recorded. The test counts the events at their
//! sources: requests at the model's server, results, actions and memories in the store, answers of
//! commands. The log must contain exactly these records.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{
    ApprovalDecideParams, ApprovalStatus, ApprovalsListParams, AuditExportParams, AuditFilter,
    AuditFindParams, Commands, Decision, Empty, ErrorCode, ItemBody, MemoryListParams,
    MemoryParams, SessionId, SessionParams, SettingsSetParams, SourceAddParams, SwitchSetParams,
    SwitchTarget, ToolCallParams, TurnStartParams, sources::ImportDecisions,
};
use engine::ports::Clock;
use host::{Host, Options};
use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

/// A clock that the test sets forward by seconds.
#[derive(Default)]
pub(crate) struct Later(pub(crate) AtomicI64);

impl Clock for Later {
    fn now(&self) -> DateTime<Utc> {
        Utc::now() + TimeDelta::seconds(self.0.load(Ordering::SeqCst))
    }
}

/// The expected number of records, by type.
#[derive(Default)]
struct Expected(BTreeMap<&'static str, usize>);

impl Expected {
    fn add(&mut self, name: &'static str, count: usize) {
        *self.0.entry(name).or_default() += count;
    }
}

async fn open(folder: &Path, clock: &Arc<Later>) -> Arc<Host> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools");
    let program = kit::programs::program("csign-data");
    crate::open(|| Options {
        data_dir: Some(folder.to_owned()),
        program_dir: program.parent().unwrap().to_owned(),
        pack_dirs: vec![tools.clone()],
        pack_code: shipped_packs::all(),
        clock: Arc::clone(clock) as _,
        ..Options::default()
    })
    .await
}

async fn ask(host: &Host, session: &str, text: &str) {
    let session = SessionId::new(session);
    let params = TurnStartParams {
        session: Some(session.clone()),
        text: text.into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    host.turn_start(params).await.unwrap();
    for _ in 0..1_000 {
        if host.app_status(Empty {}).await.unwrap().running == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the turn does not end");
}

async fn call(host: &Host, tool: &str, arguments: Value) -> Result<Value, contract::AgentError> {
    let (tool, session) = (tool.into(), Some("notes".into()));
    let params = ToolCallParams { tool, arguments, session, headless: true };
    host.tool_call(params).await.map(|answer| answer.data)
}

/// Proposes a note and decides about it, or lets it expire.
async fn propose(host: &Host, text: &str, decision: Option<Decision>) {
    let waiting = call(host, "remember", json!({ "text": text })).await.unwrap_err();
    assert_eq!(waiting.code, ErrorCode::ApprovalRequired, "{waiting:?}");
    let Some(decision) = decision else { return };
    let pending = host.approval_pending(Empty {}).await.unwrap().approvals.remove(0);
    let params = ApprovalDecideParams { id: pending.id, hash: pending.hash, decision };
    host.approval_decide(params).await.unwrap();
}

async fn import(host: &Host, file: &Path) {
    let params = SourceAddParams {
        place: file.display().to_string(),
        name: None,
        decisions: ImportDecisions::default(),
        unattended: false,
        forget_remembered: false,
    };
    let job = host.source_add(params).await.unwrap();
    loop {
        let view = host.source_job(job.clone()).await.unwrap();
        assert_eq!(view.failure, None);
        if let Some(results) = view.results {
            assert!(results[0].is_stored, "{results:?}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn approvals(host: &Host) -> Vec<contract::Approval> {
    host.approvals_list(ApprovalsListParams { include_decided: true }).await.unwrap().approvals
}

/// Returns the number of records in the log, by type.
async fn recorded(host: &Host) -> BTreeMap<String, usize> {
    let (mut counts, mut before) = (BTreeMap::new(), None);
    loop {
        let params = AuditFindParams { filter: AuditFilter::default(), before, limit: 500 };
        let page = host.audit_find(params).await.unwrap();
        for record in &page.records {
            let name = json!(record.record_type).as_str().unwrap().to_owned();
            *counts.entry(name).or_default() += 1;
        }
        before = page.records.last().map(|record| record.seq);
        if !page.has_more {
            return counts;
        }
    }
}

/// Makes a denied call, changes settings, and runs an import and an export.
async fn use_at_noon(host: &Arc<Host>, folder: &std::path::Path, expected: &mut Expected) {
    let target = SwitchTarget::Tool("recall".into());
    host.switch_set(SwitchSetParams { target: target.clone(), on: false }).await.unwrap();
    expected.add("kill_switch", 1);
    let denied = call(host, "recall", json!({ "about": "account 17" })).await.unwrap();
    assert_eq!(denied, Value::Null, "it is switched off");
    expected.add("policy_decision", 1);
    host.switch_set(SwitchSetParams { target, on: true }).await.unwrap();
    expected.add("kill_switch", 1);
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.language = "sv".into();
    // Sizes in the window leave no record.
    settings.zoom = 125;
    settings.column_widths.insert("ads".into(), BTreeMap::from([("Cost".into(), 30)]));
    host.settings_set(SettingsSetParams { settings }).await.unwrap();
    expected.add("setting_changed", 1);
    let file = folder.join("rows.csv");
    fs::write(&file, "Day,Campaign,Cost\n2025-11-09,Oak,12.34\n").unwrap();
    import(host, &file).await;
    expected.add("data_imported", 1);
    let export = folder.join("export").display().to_string();
    host.audit_export(AuditExportParams { folder: export, session: None, record: None })
        .await
        .unwrap();
    expected.add("log_exported", 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_of_mixed_activity_leaves_exactly_the_expected_records() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir_all(&data).unwrap();
    let server = ModelServer::start([Reply::text(["Good ", "morning."]).repeated()]).await;
    let model = format!(
        "[model]\nprovider = \"openai_compatible\"\nbase_url = \"{}\"\nmodel = \"scripted\"\n",
        server.base_url()
    );
    fs::write(data.join("countersign.toml"), model).unwrap();
    let clock = Arc::new(Later::default());
    let mut expected = Expected::default();

    // In the morning, there are two conversations with the model, and reads.
    let host = open(&data, &clock).await;
    expected.add("log_opened", 1);
    let packs = host.packs_list(Empty {}).await.unwrap().packs;
    expected.add("pack_loaded", packs.iter().filter(|pack| pack.faults.is_empty()).count());
    for (session, text) in [("one", "Good morning"), ("two", "Hello there"), ("one", "And now?")] {
        ask(&host, session, text).await;
        expected.add("run_started", 1);
        expected.add("run_ended", 1);
    }
    let mut reads = 0;
    for about in ["nothing", "still nothing"] {
        let found = call(&host, "recall", json!({ "about": about })).await.unwrap();
        // A search without results has read no memory.
        assert_eq!(found["memories"], json!([]));
        reads += 1;
    }

    // At noon, one note is rejected, one is approved, and one is left undecided.
    propose(&host, "Account 17 reports late", Some(Decision::Reject { reason: None })).await;
    let yes = Decision::ApproveOnce { confirm_word: None };
    propose(&host, "Account 17 reports in CET", Some(yes)).await;
    propose(&host, "Account 17 is large", None).await;

    use_at_noon(&host, folder.path(), &mut expected).await;
    host.stop().await;
    drop(host);
    expected.add("app_stopped", 1);

    // Two commands only read, so each leaves only the record of its start.
    for _ in 0..2 {
        let host = open(&data, &clock).await;
        host.policy_get(Empty {}).await.unwrap();
        host.stop().await;
        drop(host);
        expected.add("log_opened", 1);
        // Without a keyring, each start has its own key.
        expected.add("key_rotated", 1);
    }

    // On the next day, undecided actions have expired, a memory is deleted, and a conversation is
    // erased.
    clock.0.store(86_400, Ordering::SeqCst);
    let host = open(&data, &clock).await;
    expected.add("log_opened", 1);
    expected.add("key_rotated", 1);
    let stored = host
        .memory_list(MemoryListParams { session: None, used_in: None, offset: 0, limit: 0 })
        .await
        .unwrap()
        .memories;
    expected.add("memory", stored.len());
    // A person read the list, and the tool found the note.
    expected.add("memory_read", 1);
    let found = call(&host, "recall", json!({ "about": "account 17 CET" })).await.unwrap();
    assert_eq!(found["memories"].as_array().map(Vec::len), Some(1), "{found}");
    expected.add("memory_read", 1);
    reads += 1;
    let all = approvals(&host).await;
    let mut changes = 0;
    for approval in &all {
        expected.add("approval_requested", 1);
        match approval.status {
            ApprovalStatus::Done => {
                // There is one record for the decision and one for the action's outcome.
                expected.add("approval_resolved", 2);
                changes += 1;
            }
            ApprovalStatus::Rejected | ApprovalStatus::Expired => {
                expected.add("approval_resolved", 1)
            }
            other => panic!("{other:?}: {approval:?}"),
        }
        // A decision about an action that no turn waits for is a separate run.
        if approval.status != ApprovalStatus::Expired {
            expected.add("run_started", 1);
            expected.add("run_ended", 1);
        }
    }
    assert_eq!((all.len(), changes, stored.len()), (3, 1, 1));
    expected.add("tool_intent", reads + changes);
    expected.add("tool_outcome", reads + changes);
    host.memory_forget(MemoryParams { id: stored[0].id.clone() }).await.unwrap();
    expected.add("memory", 1);
    let view = host.session_open(SessionParams { session: "two".into() }).await.unwrap();
    assert!(view.items.iter().any(|item| matches!(item.body, ItemBody::AssistantText { .. })));
    let erased = host.session_erase(SessionParams { session: "two".into() }).await.unwrap();
    expected.add("value_erased", usize::try_from(erased.values).unwrap());
    expected.add("session_erased", 1);
    expected.add("model_call", server.requests().len());

    let found = recorded(&host).await;
    let wanted: BTreeMap<String, usize> =
        expected.0.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    assert_eq!(found, wanted);
    assert!(host.audit_verify(Empty {}).await.unwrap().ok);
    host.stop().await;
}
