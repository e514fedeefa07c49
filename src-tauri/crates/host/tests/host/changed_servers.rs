//! Tests of files of added servers that change outside the app, with a real server program: the
//! server's tools are disabled until a person accepts the file, and the record of the acceptance
//! contains the change.

use std::{fs, path::Path};

use contract::{
    AuditListParams, CheckState, Commands as _, DefinitionState, Effect, Empty, RecordType,
    ServerEnableParams, ServerReadsParams, ServerToolsAcceptParams,
};
use host::Host;
use serde_json::{Value, json};

use crate::own_servers::{host, offered, server, test_and_add};

fn file(folder: &Path) -> std::path::PathBuf {
    folder.join("data/servers/notes/server.json")
}

fn change(folder: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file(folder)).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(file(folder), text.replace(from, to)).unwrap();
}

async fn settings_records(host: &Host) -> Vec<Value> {
    let params = AuditListParams {
        record_type: Some(RecordType::SettingChanged),
        session: None,
        query: String::new(),
        before: None,
        limit: 50,
    };
    let page = host.audit_list(params).await.unwrap();
    page.records.iter().map(|record| json!(record.fields)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_file_changed_outside_the_app_needs_acceptance() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let first = host(&root).await;
    let added = test_and_add(&first, server(&root, Some("token"))).await.unwrap();
    let both = || {
        vec![("notes.read".to_owned(), Effect::ReadOnly), ("notes.write".to_owned(), Effect::Write)]
    };
    assert_eq!(offered(&first).await, both());
    // A change by the app itself needs no acceptance, even after a restart.
    let reads = |may_run| ServerReadsParams { name: "notes".into(), may_run };
    let changed = first.server_reads_set(reads(true)).await.unwrap();
    assert_ne!(changed.manifest_hash, added.manifest_hash, "the hash is that of the whole file");
    first.server_reads_set(reads(false)).await.unwrap();
    first.stop().await;
    drop(first);
    let second = host(&root).await;
    assert_eq!(offered(&second).await, both());
    second.stop().await;
    drop(second);

    change(&root, "\"reads_may_run\": false", "\"reads_may_run\": true");
    let third = host(&root).await;
    assert_eq!(offered(&third).await, [], "its reads would run without a question");
    let waiting = third.server_tools(Empty {}).await.unwrap().tools;
    let waiting = waiting.iter().find(|tool| tool.state == DefinitionState::Changed).unwrap();
    assert_eq!((waiting.name.as_str(), waiting.server.as_str()), ("server.json", ""));
    let shown = third.server_list(Empty {}).await.unwrap().servers[0].manifest_hash.clone();
    assert_eq!(waiting.hash, shown, "what is shown is what is pinned");
    let found = third.doctor(Empty {}).await.unwrap().checks;
    let found = found.iter().find(|check| check.name == "servers").unwrap();
    assert_eq!(found.state, CheckState::Warning);
    assert!(found.message.as_str().contains("server.json (own-notes)"), "{:?}", found.message);
    // Another change by the app does not accept the file.
    let switched = |enabled| ServerEnableParams { name: "notes".into(), enabled };
    third.server_enable(switched(false)).await.unwrap();
    third.server_enable(switched(true)).await.unwrap();
    assert_eq!(offered(&third).await, []);
    let accept = ServerToolsAcceptParams {
        pack: waiting.pack.clone(),
        server: String::new(),
        hashes: [(waiting.name.clone(), waiting.hash.clone())].into(),
        numbers_may_change: None,
    };
    third.server_tools_accept(accept).await.unwrap();
    assert_eq!(offered(&third).await, both());
    third.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_record_of_an_acceptance_contains_tool_hashes_effects_and_the_file_hash() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let host = host(&root).await;
    let added = test_and_add(&host, server(&root, Some("token"))).await.unwrap();
    let tools = host.server_tools(Empty {}).await.unwrap().tools;
    let hash = |name: &str| tools.iter().find(|tool| tool.name == name).unwrap().hash.clone();
    let records = settings_records(&host).await;
    let record = records.iter().find(|record| record["action"] == "added").unwrap();
    assert_eq!(record["manifest"], json!(added.manifest_hash));
    assert_eq!(record["reads_may_run"], false);
    assert_eq!(
        record["tools"],
        json!({"read": {"hash": hash("read"), "effect": "read_only"}, "write": {"hash": hash("write")}})
    );
    host.stop().await;
}
