//! Packs whose server cannot run, as the Tools view shows them.

use std::{fs, path::Path};

use contract::{Commands, Empty, ServerState, TurnStartParams};
use host::{Host, Options};

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
    // A program of the app that this installation lacks.
    manifest["servers"][0]["command"] = "csign".into();
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
        why.contains("csign is neither a path below the pack nor a program of the app"),
        "{why}"
    );
    let doctor = host.doctor(Empty {}).await.unwrap();
    assert!(doctor.checks.iter().any(|check| check.message.contains(&why)), "{doctor:?}");
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_without_packs_is_told_where_they_were_looked_for() {
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
    };
    let error = host.turn_start(params).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("no_packs"), "{error:?}");
    host.stop().await;
}
