//! Tests of packs as their manifests define them: a server that cannot run, as shown in the Tools
//! view, names of members, and files that the user imports.

use std::{fs, path::Path, time::Duration};

use contract::{
    ApprovalDecideParams, Commands, DataImportParams, Decision, Empty, ImportParams, ServerState,
    ToolCallParams, TurnStartParams,
};
use host::{Host, Options};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_program_is_shown_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(3)
        .unwrap()
        .join("tests/data/packs/ledger");
    let pack = folder.path().join("tools/ledger");
    fs::create_dir_all(&pack).unwrap();
    for entry in fs::read_dir(&source).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), pack.join(entry.file_name())).unwrap();
    }
    let manifest = fs::read_to_string(pack.join("pack.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    // This program of the app is missing in this installation.
    manifest["servers"][0]["command"] = "countersign-shop".into();
    fs::write(pack.join("pack.json"), manifest.to_string()).unwrap();
    let options = Options {
        data_dir: Some(folder.path().join("data")),
        pack_dirs: vec![folder.path().join("tools")],
        warm_up: true,
        pack_code: shipped_packs::all(),
        ..Options::default()
    };
    let host = Host::open(options).await.unwrap();
    let servers = host.packs_list(Empty {}).await.unwrap().servers;
    assert_eq!(servers.len(), 1, "{:?}", host.packs_list(Empty {}).await.unwrap());
    assert_eq!(servers[0].state, ServerState::Failed);
    let why = servers[0].message.clone().unwrap();
    assert!(
        why.contains("countersign-shop is neither a path below the pack nor a program of the app"),
        "{why}"
    );
    let doctor = host.doctor(Empty {}).await.unwrap();
    assert!(doctor.checks.iter().any(|check| check.message.contains(why.as_str())), "{doctor:?}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_without_packs_is_told_which_folders_were_searched() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("nothing");
    let host = Host::open(Options {
        data_dir: Some(folder.path().join("data")),
        pack_dirs: vec![empty.clone()],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await
    .unwrap();
    let notices = host.app_status(Empty {}).await.unwrap().notices;
    let told = &notices.iter().find(|notice| notice.code == "no_packs").unwrap().text;
    assert!(
        told.contains(&empty.display().to_string()) && told.contains("COUNTERSIGN_TOOLS_DIR"),
        "{told}"
    );
    let params = TurnStartParams {
        session: None,
        text: "hello".into(),
        model: None,
        agent: None,
        headless: true,
        replaces: None,
    };
    let error = host.turn_start(params).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("no_packs"), "{error:?}");
    host.stop().await;
}

/// Writes a copy of the ledger pack whose manifest uses other names than its server, and which
/// accepts files.
fn renamed_ledger(tools: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(3)
        .unwrap()
        .join("tests/data/packs/ledger");
    let pack = tools.join("ledger");
    fs::create_dir_all(&pack).unwrap();
    for entry in fs::read_dir(&source).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), pack.join(entry.file_name())).unwrap();
    }
    let manifest = fs::read_to_string(pack.join("pack.json")).unwrap();
    let mut manifest: Value = serde_json::from_str(&manifest).unwrap();
    manifest["schemas"]["Entry"] = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["account", "sum"],
        "properties": {"account": {"type": "string"}, "sum": {"type": "integer"}},
    });
    manifest["tools"]["tools"][0]["aliases"] =
        json!({"result": {"entries": "rows", "amount": "sum"}});
    manifest["tools"]["tools"][1]["aliases"] = json!({"arguments": {"sum": "amount"}});
    manifest["import"] = json!({"label": "Text", "extensions": ["txt"]});
    fs::write(pack.join("pack.json"), manifest.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_can_rename_members_and_declare_file_imports() {
    let folder = tempfile::tempdir().unwrap();
    renamed_ledger(&folder.path().join("tools"));
    let host = Host::open(Options {
        data_dir: Some(folder.path().join("data")),
        pack_dirs: vec![folder.path().join("tools")],
        ..Options::default()
    })
    .await
    .unwrap();
    let call = |tool: &str, arguments: Value| {
        let params = ToolCallParams {
            tool: tool.into(),
            arguments,
            session: Some("s".into()),
            headless: true,
        };
        host.tool_call(params)
    };
    let waiting = call("ledger.add", json!({"account": "a", "sum": 7})).await.unwrap_err();
    assert_eq!(waiting.code, contract::ErrorCode::ApprovalRequired, "{waiting:?}");
    let pending = host.approval_pending(Empty {}).await.unwrap().approvals;
    assert_eq!(pending[0].arguments, r#"{"account":"a","amount":7}"#, "what is sent is shown");
    host.approval_decide(ApprovalDecideParams {
        id: pending[0].id.clone(),
        hash: pending[0].hash.clone(),
        decision: Decision::ApproveOnce { confirm_word: None },
    })
    .await
    .unwrap();
    let mut rows = Value::Null;
    for _ in 0..500 {
        rows = call("ledger.list", json!({})).await.unwrap().data["rows"].clone();
        if rows[0]["sum"] == 7 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(rows[0]["sum"], 7, "{rows}");

    let notes = folder.path().join("notes.txt");
    fs::write(&notes, "one").unwrap();
    let known = &host.data_list(Empty {}).await.unwrap().packs[0];
    assert_eq!(known.files.as_ref().unwrap().extensions, ["txt"]);
    for (path, stored) in [(folder.path().join("none.txt"), 0), (notes, 1)] {
        let paths = vec![path.display().to_string()];
        let params = DataImportParams { pack: "ledger".into(), paths, options: None };
        let job = host.data_import(params).await.unwrap();
        let view = loop {
            let params = ImportParams { job: job.job.clone() };
            let view = host.data_import_status(params).await.unwrap();
            if view.finished {
                break view;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert_eq!((view.rows_stored, view.error_count), (stored, 1 - stored), "{view:?}");
    }
    let copy = folder.path().join("data/packs/ledger/imports/notes.txt");
    assert_eq!(fs::read_to_string(copy).unwrap(), "one");
    assert_eq!(host.data_list(Empty {}).await.unwrap().packs[0].imported.rows, 1);
    host.stop().await;
}
