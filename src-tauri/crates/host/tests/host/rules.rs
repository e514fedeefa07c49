//! Tests of changed rules: the chat window proposes them, a person confirms exactly what is stored,
//! and calls are then decided as the test on the past said.

use std::{fs, path::Path, sync::Arc, time::Duration};

use contract::{
    AgentError, AuditFilter, AuditFindParams, AuditShowParams, CallerKind, Commands, Confirmation,
    ConfirmationDecideParams, Empty, PolicyBacktestParams, PolicyCheckParams, PolicyPreviewParams,
    PolicyRulesParams, PolicyVerdict, PolicyView, ToolCallParams, ToolOutcome,
};
use host::{ChatWindow, Host, Options, Person, Terminal};
use serde_json::{Value, json};

const RULES: &str = r#"{"rules": [{"id": "holds", "action": "ask", "tool": "ledger.list"}],
    "grants": [{"id": "november", "tool": "ledger.add", "arguments": {"account": "a"}, "expires_at": "2099-01-01T00:00:00Z"}]}"#;

async fn open(folder: &Path) -> Arc<Host> {
    let packs = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    crate::open(|| Options {
        data_dir: Some(folder.to_owned()),
        pack_dirs: vec![packs.join("tests/data/packs")],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await
}

fn stored(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join("policy.json")).ok()
}

async fn view(host: &Host) -> PolicyView {
    host.policy_get(Empty {}).await.unwrap()
}

/// Returns the present rules with a change, as the window proposes them.
async fn proposed(host: &Host, change: impl FnOnce(&mut Value)) -> PolicyRulesParams {
    let PolicyView { text, fingerprint, .. } = view(host).await;
    let mut file: Value = serde_json::from_str(&text).unwrap();
    change(&mut file);
    PolicyRulesParams { rules: file.to_string(), fingerprint }
}

fn add_rule(file: &mut Value, rule: Value) {
    file["rules"].as_array_mut().unwrap().push(rule);
}

/// Lets the chat window propose rules, and waits until they are shown in the approval window.
async fn propose(
    host: &Arc<Host>,
    params: PolicyRulesParams,
) -> (tokio::task::JoinHandle<Result<PolicyView, AgentError>>, Confirmation) {
    let window = ChatWindow::new(Arc::clone(host));
    let saving = tokio::spawn(async move { window.policy_rules_set(params).await });
    for _ in 0..1_000 {
        let mut found = host.confirmations(Empty {}).await.unwrap().confirmations;
        if let Some(found) = found.pop() {
            return (saving, found);
        }
        assert!(!saving.is_finished(), "{:?}", saving.await.unwrap().map(|view| view.text));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("nothing is shown");
}

async fn answer(host: &Host, found: &Confirmation, accept: bool) {
    let params = ConfirmationDecideParams { id: found.id.clone(), accept };
    host.confirmation_decide(params).await.unwrap();
}

async fn rule_records(host: &Host) -> Vec<contract::AuditRecordView> {
    let params = AuditFindParams { filter: AuditFilter::default(), before: None, limit: 500 };
    let mut records = host.audit_find(params).await.unwrap().records;
    records.retain(|record| record.fields.get("setting") == Some(&json!("policy_rules")));
    records
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_are_stored_only_as_a_person_confirmed_them() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let deny = json!({"id": "no-clearing", "action": "deny", "tool": "ledger.*", "callers": ["agent"],
        "expires_at": "2099-01-01T00:00:00Z", "arguments": {"n": 9_007_199_254_740_993_u64}});
    for accept in [false, true] {
        let params = proposed(&host, |file| add_rule(file, deny.clone())).await;
        let (saving, found) = propose(&host, params).await;
        let [rule, file] = found.changes.as_slice() else { panic!("{found:?}") };
        assert_eq!((rule.setting.as_str(), rule.before.as_str()), ("policy.rule", ""));
        assert_eq!(serde_json::from_str::<Value>(&rule.after).unwrap(), deny, "the exact rule");
        assert_eq!((file.setting.as_str(), file.before.as_str()), ("policy.file", ""));
        assert_eq!(stored(folder.path()), None, "nothing is stored before the answer");
        let shown = file.after.clone();
        answer(&host, &found, accept).await;
        let saved = saving.await.unwrap();
        if accept {
            let text = stored(folder.path()).unwrap();
            assert_eq!(engine::sha256_hex(text.as_bytes()), shown, "the file that was shown");
            assert_eq!(saved.unwrap().fingerprint, shown);
            assert!(
                text.contains("9007199254740993") && text.contains(r#""version": 2"#),
                "{text}"
            );
        } else {
            assert_eq!(saved.unwrap_err().reason_text(), Some("not_confirmed"));
            assert_eq!(stored(folder.path()), None);
            assert_eq!(rule_records(&host).await.len(), 0);
        }
    }
    let records = rule_records(&host).await;
    assert_eq!(records.len(), 1, "{records:?}");
    let shown = host.audit_show(AuditShowParams { seq: records[0].seq }).await.unwrap();
    assert_eq!(shown.revealed["after"], json!(stored(folder.path()).unwrap()));
    // A stricter rule is confirmed, too: it may replace another one.
    let params = proposed(&host, |file| file["rules"] = json!([])).await;
    let (saving, found) = propose(&host, params).await;
    assert_eq!((found.changes.len(), found.changes[0].after.as_str()), (2, ""));
    answer(&host, &found, false).await;
    saving.await.unwrap().unwrap_err();
    assert_eq!(view(&host).await.rules.len(), 1);
    // No terminal changes rules, because a person there edits the file.
    let terminal = Terminal::local(Arc::clone(&host), Person::Asked);
    let params = proposed(&host, |file| file["rules"] = json!([])).await;
    let refused = terminal.policy_rules_set(params).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("window_only"));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_that_changed_meanwhile_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy.json"), RULES).unwrap();
    let host = open(folder.path()).await;
    let ask = json!({"id": "b", "action": "ask", "tool": "*"});
    let old = proposed(&host, |file| add_rule(file, ask.clone())).await;
    let (saving, found) = propose(&host, old.clone()).await;
    let other = RULES.replace("\"ask\"", "\"deny\"");
    fs::write(folder.path().join("policy.json"), &other).unwrap();
    answer(&host, &found, true).await;
    assert_eq!(saving.await.unwrap().unwrap_err().reason_text(), Some("rules_changed"));
    let window = ChatWindow::new(Arc::clone(&host));
    let again = window.policy_rules_set(old).await.unwrap_err();
    assert_eq!(again.reason_text(), Some("rules_changed"), "nobody is asked");
    assert_eq!(stored(folder.path()).as_deref(), Some(other.as_str()));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rules_file_that_cannot_be_read_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let window = ChatWindow::new(Arc::clone(&host));
    let terminal = Terminal::local(Arc::clone(&host), Person::Asked);
    let file = folder.path().join("policy.json");
    let with_comma = RULES.replacen("}]", "},]", 1);
    let unreadable: [&[u8]; 4] =
        [with_comma.as_bytes(), b"[]", br#"{"rules": [], "rule": []}"#, b"{\xff}"];
    for bytes in unreadable {
        fs::write(&file, bytes).unwrap();
        let ask = json!({"id": "b", "action": "ask", "tool": "*"});
        let params = proposed(&host, |file| add_rule(file, ask)).await;
        let told = [
            window.policy_rules_set(params.clone()).await.unwrap_err(),
            host.policy_rules_set(params.clone()).await.unwrap_err(),
            terminal.policy_rules_set(params).await.unwrap_err(),
        ];
        let reasons = told.each_ref().map(|error| error.reason_text().unwrap_or_default());
        assert_eq!(reasons, ["rules_unreadable", "rules_unreadable", "window_only"]);
        assert_eq!(fs::read(&file).unwrap(), bytes, "every rule is still there");
        assert!(!folder.path().join("policy.json.unreadable").exists());
    }
    assert_eq!(rule_records(&host).await.len(), 0);
    // An empty file has no rules that could be lost.
    fs::write(&file, "\n").unwrap();
    let params = proposed(&host, |_| ()).await;
    let (saving, found) = propose(&host, params).await;
    answer(&host, &found, true).await;
    assert_eq!(saving.await.unwrap().unwrap().faults, []);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_revoked_grant_needs_no_confirmation() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy.json"), RULES).unwrap();
    let host = open(folder.path()).await;
    // A change beside the revocation is confirmed.
    let params = proposed(&host, |file| {
        file["grants"] = json!([]);
        file["rules"][0]["action"] = json!("allow");
    })
    .await;
    let (saving, found) = propose(&host, params).await;
    let settings: Vec<&str> = found.changes.iter().map(|one| one.setting.as_str()).collect();
    assert_eq!(settings, ["policy.rule", "policy.grant", "policy.file"]);
    answer(&host, &found, false).await;
    saving.await.unwrap().unwrap_err();
    let window = ChatWindow::new(Arc::clone(&host));
    let revoked = proposed(&host, |file| file["grants"] = json!([])).await;
    let left = window.policy_rules_set(revoked).await.unwrap();
    assert_eq!((left.grants.len(), left.rules.len()), (0, 1));
    assert_eq!(rule_records(&host).await.len(), 1);
    // A part that cannot be read makes everything ask, so removing it is no mere revocation.
    fs::write(folder.path().join("policy.json"), RULES.replace("\"holds\"", "7")).unwrap();
    let params = proposed(&host, |_| ()).await;
    let (saving, found) = propose(&host, params).await;
    assert!(found.changes.last().unwrap().note.is_some(), "{found:?}");
    answer(&host, &found, true).await;
    assert_eq!(saving.await.unwrap().unwrap().faults, []);
    assert!(folder.path().join("policy.json.unreadable").exists(), "a copy is kept");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_with_a_fault_a_key_or_too_many_changes_are_refused_without_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let window = ChatWindow::new(Arc::clone(&host));
    let rule = |id: &str, more: Value| {
        let mut rule = json!({"id": id, "action": "ask", "tool": "a"});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rule
    };
    let many: Vec<Value> = (0..51).map(|id| rule(&id.to_string(), json!({}))).collect();
    for (rules, reason) in [
        (json!([rule("", json!({}))]), "rules_faulty"),
        (json!([rule("a", json!({"callers": ["nobody"]}))]), "rules_faulty"),
        (json!(many), "too_many_changes"),
    ] {
        let params = proposed(&host, |file| file["rules"] = rules).await;
        let refused = window.policy_rules_set(params).await.unwrap_err();
        assert_eq!(refused.reason_text(), Some(reason));
    }
    let large = PolicyPreviewParams { rules: " ".repeat((256 << 10) + 1) };
    assert!(window.policy_preview(large).await.is_err());
    assert_eq!(stored(folder.path()), None);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_preview_names_idle_rules_and_words_that_mix_alphabets() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let rules = json!({"rules": [
        {"id": "a", "action": "deny", "tool": "ledger.*"},
        {"id": "b", "action": "ask", "tool": "ledger.add"},
        {"id": "c", "action": "ask", "tool": "l\u{435}dger.add", "expires_at": "2020-01-01T00:00:00Z"},
    ]});
    let found =
        host.policy_preview(PolicyPreviewParams { rules: rules.to_string() }).await.unwrap();
    let idle: Vec<_> = found.idle.iter().map(|one| (one.rule, one.decided_by)).collect();
    assert_eq!((found.faults, idle), (vec![], vec![(1, Some(0)), (2, None)]));
    assert_eq!(found.look_alikes[0].code, "U+0435");
    let params = proposed(&host, |file| file["rules"] = rules["rules"].clone()).await;
    let (saving, shown) = propose(&host, params).await;
    let notes: Vec<bool> = shown.changes.iter().map(|one| one.note.is_some()).collect();
    assert_eq!(notes, [false, false, true, false], "{shown:?}");
    answer(&host, &shown, false).await;
    saving.await.unwrap().unwrap_err();
    host.stop().await;
}

async fn check(host: &Host, tool: &str, arguments: &Value, caller: CallerKind) -> PolicyVerdict {
    let params = PolicyCheckParams {
        tool: tool.into(),
        arguments: arguments.clone(),
        session: None,
        caller: Some(caller),
        untrusted: false,
    };
    host.policy_check(params).await.unwrap().verdict
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_decided_as_the_test_on_the_past_said() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let window = ChatWindow::new(Arc::clone(&host));
    let terminal = Terminal::local(Arc::clone(&host), Person::Asked);
    let call = |tool: &str, arguments: Value| ToolCallParams {
        tool: tool.into(),
        arguments,
        session: Some("s".into()),
        headless: true,
    };
    let list = json!({});
    window.tool_call(call("ledger.list", list.clone())).await.unwrap();
    terminal.tool_call(call("ledger.list", list.clone())).await.unwrap();
    let add = |amount: u32| json!({"account": "a", "amount": amount});
    for amount in [1, 100] {
        window.tool_call(call("ledger.add", add(amount))).await.unwrap_err();
    }
    let rules = json!({"rules": [
        {"id": "terminals", "action": "deny", "tool": "ledger.list", "callers": ["terminal"]},
        {"id": "small", "action": "allow", "tool": "ledger.add", "arguments": {"account": "a", "amount": 1}},
        {"id": "over", "action": "deny", "tool": "*", "expires_at": "2020-01-01T00:00:00Z"},
    ]});
    let params = proposed(&host, |file| file["rules"] = rules["rules"].clone()).await;
    let test =
        PolicyBacktestParams { rules: params.rules.clone(), since: None, after: 0, limit: 9 };
    let past = host.policy_backtest(test).await.unwrap();
    assert_eq!((past.faults.len(), past.next), (0, None));
    let changed: Vec<_> =
        past.calls.iter().map(|call| (call.tool.as_str(), call.then, call.now)).collect();
    let (allow, ask, deny) = (PolicyVerdict::Allow, PolicyVerdict::Ask, PolicyVerdict::Deny);
    assert_eq!(
        changed,
        [("ledger.list", allow, Some(deny)), ("ledger.add", ask, Some(allow))],
        "the call of the window and the large amount stay as they were"
    );
    let (saving, found) = propose(&host, params).await;
    answer(&host, &found, true).await;
    saving.await.unwrap().unwrap();
    for (tool, arguments, caller, expected) in [
        ("ledger.list", &list, CallerKind::Terminal, deny),
        ("ledger.list", &list, CallerKind::Window, allow),
        ("ledger.add", &add(1), CallerKind::Window, allow),
        ("ledger.add", &add(100), CallerKind::Window, ask),
    ] {
        assert_eq!(check(&host, tool, arguments, caller).await, expected, "{tool} {arguments}");
    }
    let refused = terminal.tool_call(call("ledger.list", list)).await.unwrap();
    assert_eq!(refused.outcome, ToolOutcome::Denied);
    host.stop().await;
}
