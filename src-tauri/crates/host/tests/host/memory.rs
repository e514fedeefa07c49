//! Tests of the pack that remembers notes, with the app's own service behind its tools: approval
//! first, the text unchanged, and the same memories for every session of the user.

use std::{path::Path, sync::Arc, time::Duration};

use contract::{
    ApprovalDecideParams, Commands, Decision, Empty, ErrorCode, MemoryListParams, MemoryParams,
    PolicyMode, PolicySetParams, RecordType, SessionParams, ToolCallParams,
};
use host::{Host, Options};
use serde_json::{Value, json};

const NOTE: &str = "Account 17 reports in CET, \"not\" in UTC";

async fn open(folder: &Path) -> Arc<Host> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools");
    crate::open(|| Options {
        data_dir: Some(folder.to_owned()),
        pack_dirs: vec![tools.clone()],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await
}

async fn call(host: &Host, tool: &str, arguments: Value) -> Result<Value, contract::AgentError> {
    call_in("s", host, tool, arguments).await
}

async fn call_in(
    session: &str,
    host: &Host,
    tool: &str,
    arguments: Value,
) -> Result<Value, contract::AgentError> {
    let (tool, session) = (tool.into(), Some(session.into()));
    let params = ToolCallParams { tool, arguments, session, headless: true };
    host.tool_call(params).await.map(|answer| answer.data)
}

async fn memories(host: &Host) -> Vec<contract::MemoryEntry> {
    let params = MemoryListParams { session: None, used_in: None, offset: 0, limit: 0 };
    host.memory_list(params).await.unwrap().memories
}

async fn decide(host: &Host, decision: Decision) {
    let pending = host.approval_pending(Empty {}).await.unwrap().approvals.remove(0);
    assert!(pending.arguments.contains("Account 17"), "the person sees the text: {pending:?}");
    let params = ApprovalDecideParams { id: pending.id, hash: pending.hash, decision };
    host.approval_decide(params).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_is_stored_only_after_approval_and_found_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    // No setting allows a note without a person's approval.
    host.policy_set(PolicySetParams { policy: PolicyMode::WritesAllowed }).await.unwrap();
    let waiting = call(&host, "remember", json!({"text": NOTE})).await.unwrap_err();
    assert_eq!(waiting.code, ErrorCode::ApprovalRequired, "{waiting:?}");
    assert_eq!(memories(&host).await, []);
    decide(&host, Decision::Reject { reason: None }).await;
    assert_eq!(memories(&host).await, [], "a rejected note is not remembered");

    call(&host, "remember", json!({"text": NOTE})).await.unwrap_err();
    decide(&host, Decision::ApproveOnce { confirm_word: None }).await;
    let mut stored = Vec::new();
    for _ in 0..500 {
        stored = memories(&host).await;
        if !stored.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(stored[0].text, NOTE, "word by word");
    assert_eq!(stored[0].session, None, "a note is for the whole profile");
    host.stop().await;
    drop(host);

    let host = open(folder.path()).await;
    let found = call(&host, "recall", json!({"about": "acount 17 reporting"})).await.unwrap();
    assert_eq!(found["memories"][0]["text"], NOTE, "{found}");
    host.memory_forget(MemoryParams { id: stored[0].id.clone() }).await.unwrap();
    let found = call(&host, "recall", json!({"about": "account 17"})).await.unwrap();
    assert_eq!(found["memories"], json!([]));
    let params = contract::AuditListParams {
        record_type: Some(RecordType::Memory),
        session: None,
        query: String::new(),
        before: None,
        limit: 9,
    };
    let records = host.audit_list(params).await.unwrap().records;
    let actions: Vec<&Value> =
        records.iter().rev().map(|record| &record.fields["action"]).collect();
    assert_eq!(actions, ["remembered", "deleted"]);
    assert!(host.audit_verify(Empty {}).await.unwrap().ok);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_lists_sessions_that_used_the_memory_until_their_values_are_erased() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    call(&host, "remember", json!({"text": NOTE})).await.unwrap_err();
    decide(&host, Decision::ApproveOnce { confirm_word: None }).await;
    while memories(&host).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // These sessions have records, but no conversation any more.
    for (session, about) in [("one", "account 17"), ("two", "account 17"), ("other", "zebra")] {
        call_in(session, &host, "recall", json!({"about": about})).await.unwrap();
    }
    let erase = |session: &str| host.session_erase(SessionParams { session: session.into() });
    let uses = erase("s").await.unwrap().used_in;
    let found: Vec<_> = uses.iter().map(|other| (other.session.as_str(), &other.title)).collect();
    assert_eq!(found, [("one", &None), ("two", &None)]);
    assert_eq!(erase("one").await.unwrap().used_in, [], "it has no memories of its own");
    let uses = erase("s").await.unwrap().used_in;
    assert_eq!(uses.len(), 1, "{uses:?}");
    erase("two").await.unwrap();
    assert_eq!(erase("s").await.unwrap().used_in, []);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_pack_cannot_use_the_memory_service() {
    let folder = tempfile::tempdir().unwrap();
    let packs = folder.path().join("packs");
    let copy = packs.join("diary");
    std::fs::create_dir_all(copy.join("answers")).unwrap();
    std::fs::create_dir_all(copy.join("messages")).unwrap();
    let own =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools/memory");
    for name in [
        "execution_instructions.md",
        "answers/recalled.jinja",
        "messages/en.json",
        "messages/sv.json",
    ] {
        std::fs::copy(own.join(name), copy.join(name)).unwrap();
    }
    let text = std::fs::read_to_string(own.join("pack.json")).unwrap();
    let mut pack: Value = serde_json::from_str(&text).unwrap();
    pack["id"] = json!("diary");
    pack.as_object_mut().unwrap().remove("security");
    for tool in pack["tools"]["tools"].as_array_mut().unwrap() {
        tool["side_effect_level"] = json!("read_only");
    }
    std::fs::write(copy.join("pack.json"), pack.to_string()).unwrap();
    let host = crate::open(|| Options {
        data_dir: Some(folder.path().join("data")),
        pack_dirs: vec![packs.clone()],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await;
    let arguments = json!({"text": NOTE});
    let (tool, session) = ("remember".into(), Some("s".into()));
    let params = ToolCallParams { tool, arguments, session, headless: true };
    let answer = host.tool_call(params).await.unwrap();
    let error = answer.error.expect("an error");
    assert_eq!(error.code, ErrorCode::ToolNotFound, "{error:?}");
    assert_eq!(memories(&host).await, []);
}

/// Writes the files of a small published model, with the required names.
fn write_small_model(folder: &Path) {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| repository.join("target"), std::path::PathBuf::from);
    let package = std::fs::read_dir(target.join("embedding-python/lib"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|python| python.path().join("site-packages/wordllama"))
        .find(|package| package.is_dir())
        .expect("the model is not installed; run `make setup-test`");
    for (from, to) in [
        ("weights/l2_supercat_256.safetensors", "model.safetensors"),
        ("tokenizers/l2_supercat_tokenizer_config.json", "tokenizer.json"),
    ] {
        std::fs::copy(package.join(from), folder.join(to)).unwrap();
    }
}

async fn choose_model(host: &Host, choice: contract::MemoryModel) {
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.memory.model = choice;
    host.settings_set(contract::SettingsSetParams { settings }).await.unwrap();
}

async fn search(host: &Host, text: &str) -> Vec<contract::MemoryHit> {
    let params = contract::MemorySearchParams { text: text.into(), session: None, limit: 0 };
    host.memory_search(params).await.unwrap().hits
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedding_model_in_a_folder_is_used_and_an_invalid_folder_is_explained() {
    use contract::{MemoryModel, MemoryModelSource};
    let (data, model) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let host = open(data.path()).await;
    let text = "The physician works in a clinic";
    let params = contract::MemoryAddParams { text: text.into(), session: None };
    host.memory_add(params).await.unwrap();
    let question = "doctor of a hospital";
    assert_eq!(search(&host, question).await, [], "the built-in model knows no meaning");
    let folder = model.path().display().to_string();
    let choice = MemoryModel { source: MemoryModelSource::Folder, folder, ..Default::default() };
    choose_model(&host, choice).await;
    let status = host.memory_status(Empty {}).await.unwrap();
    let problem = status.problem.expect("the folder is empty");
    assert!(problem.as_str().contains("tokenizer.json cannot be read"), "{problem:?}");
    assert_eq!(search(&host, "physician clinic").await.len(), 1, "words find it meanwhile");

    // The folder is read again when its files change.
    write_small_model(model.path());
    let status = host.memory_status(Empty {}).await.unwrap();
    assert_eq!((status.memories, status.indexed, status.dimension), (1, 1, 256), "{status:?}");
    assert_eq!(status.problem, None);
    assert_eq!(search(&host, question).await.len(), 1, "by its meaning");
    host.stop().await;
    drop(host);

    let host = open(data.path()).await;
    assert_eq!(search(&host, question).await.len(), 1, "the choice outlives a restart");
    choose_model(&host, MemoryModel::default()).await;
    let status = host.memory_status(Empty {}).await.unwrap();
    assert_eq!((status.indexed, status.dimension), (1, 1_024));
    choose_model(&host, MemoryModel { source: MemoryModelSource::Provider, ..Default::default() })
        .await;
    let status = host.memory_status(Empty {}).await.unwrap();
    assert!(status.problem.is_some(), "no model is named");
    host.stop().await;
}
