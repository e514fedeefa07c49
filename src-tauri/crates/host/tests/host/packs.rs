//! Tests of packs as their manifests define them: a server that cannot run, as shown in the Tools
//! view, names of members, and settings.

use std::{fs, path::Path, time::Duration};

use contract::{
    AgentError, ApprovalDecideParams, Commands, Decision, Empty, PromptPreviewParams, ServerState,
    SettingsSetParams, ToolCallParams, TurnStartParams,
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

/// Writes a copy of the ledger pack whose manifest uses other names than its server.
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
    fs::write(pack.join("pack.json"), manifest.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_can_rename_members() {
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
    host.stop().await;
}

/// The pack whose settings are tested.
const PARCELS: &str = "web-api-example";

async fn open_shipped(folder: &Path) -> std::sync::Arc<Host> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools");
    crate::open(|| Options {
        data_dir: Some(folder.to_owned()),
        pack_dirs: vec![tools.clone()],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await
}

async fn set(host: &Host, values: Value) -> Result<(), AgentError> {
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.packs = serde_json::from_value(json!({PARCELS: {"settings": values}})).unwrap();
    host.settings_set(SettingsSetParams { settings }).await.map(drop)
}

/// Returns why a parcel cannot be tracked: its address is one of this computer.
async fn refusal(host: &Host) -> String {
    let params = ToolCallParams {
        tool: "parcel.track".into(),
        arguments: json!({"number": 1001}),
        session: Some("s".into()),
        headless: true,
    };
    host.tool_call(params).await.unwrap().error.unwrap().message.as_str().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_packs_settings_are_checked_and_apply_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let host = open_shipped(folder.path()).await;
    let packs = host.packs_list(Empty {}).await.unwrap().packs;
    let defaults = &packs.iter().find(|pack| pack.id.as_str() == PARCELS).unwrap().settings;
    assert_eq!(defaults["base_url"], "http://127.0.0.1:8787");
    assert!(refusal(&host).await.starts_with("127.0.0.1 "));
    set(&host, json!({"base_url": "http://127.0.0.9:8787"})).await.unwrap();
    for (wrong, name) in [(json!({"base_url": 7}), "base_url"), (json!({"colour": 1}), "colour")] {
        let error = set(&host, wrong).await.unwrap_err();
        assert_eq!(error.details["field"], format!("packs.{PARCELS}.settings.{name}"), "{error}");
    }
    host.stop().await;
    drop(host);
    let file = folder.path().join("countersign.toml");
    let header = format!("[packs.{PARCELS}.settings]");
    assert!(fs::read_to_string(&file).unwrap().contains(&header));
    let host = open_shipped(folder.path()).await;
    assert!(refusal(&host).await.starts_with("127.0.0.9 "), "what was refused changed nothing");
    host.stop().await;
    drop(host);

    fs::write(&file, format!("{header}\ncolour = 1\n[packs.away.settings]\nx = 1\n")).unwrap();
    let host = open_shipped(folder.path()).await;
    let told = format!("The pack {PARCELS} has no setting colour. It has no effect.");
    let notices = host.app_status(Empty {}).await.unwrap().notices;
    assert!(notices.iter().any(|notice| notice.text.contains(&told)), "{notices:?}");
    let doctor = host.doctor(Empty {}).await.unwrap();
    assert!(doctor.checks.iter().any(|check| check.message.contains(&told)), "{doctor:?}");
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.language = "sv".into();
    host.settings_set(SettingsSetParams { settings })
        .await
        .expect("other settings can still be saved");
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept.contains("[packs.away.settings]"), "a missing pack keeps its settings: {kept}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_specialist_explains_results_of_another_packs_tool_by_its_own_instructions() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools");
    let host = Host::open(Options {
        data_dir: Some(folder.path().join("data")),
        pack_dirs: vec![tools],
        pack_code: shipped_packs::all(),
        ..Options::default()
    })
    .await
    .unwrap();
    let told = async |agent: &str| {
        let question = "Is it behind?".to_owned();
        let params = PromptPreviewParams { agent: Some(agent.into()), question };
        let given = host.prompt_preview(params).await.unwrap().instructions;
        let of_tool = given.into_iter().find(|one| one.view.tool.as_str() == "data.measure");
        of_tool.unwrap().text
    };
    assert!(told("guardian").await.contains("`behind`: more than 20 percent below the plan."));
    assert!(!told("data").await.contains("below the plan"));
    host.stop().await;
}
