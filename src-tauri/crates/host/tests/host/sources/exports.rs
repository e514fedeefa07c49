//! Tests of exports with figures: the rows that they used are in the export of a session, and only as
//! long as they and the figures exist.

use std::{fs, path::PathBuf};

use contract::{
    AuditExportParams, AuditExportResponse, Commands as _, SessionParams, ToolCallParams,
    VerifyReport, params::AuditVerifyFolderParams,
};
use host::Options;
use serde_json::json;

use super::{CLIENT_ONE, World, named};
use crate::data_world::with_tools;

const SESSION: &str = "s1";

async fn ask(world: &World, tool: &str, arguments: serde_json::Value) {
    let params = ToolCallParams {
        tool: tool.into(),
        arguments,
        session: Some(SESSION.into()),
        headless: true,
    };
    let response = world.host.tool_call(params).await.unwrap();
    assert_eq!(response.error, None);
}

async fn export(world: &World, name: &str) -> (PathBuf, AuditExportResponse) {
    let folder = world.folder.path().join(name);
    let params = AuditExportParams {
        folder: folder.display().to_string(),
        session: Some(SESSION.into()),
        record: None,
    };
    let written = world.host.audit_export(params).await.unwrap();
    (folder, written)
}

async fn verify(world: &World, folder: &std::path::Path) -> VerifyReport {
    let folder = folder.display().to_string();
    world.host.audit_verify_folder(AuditVerifyFolderParams { folder }).await.unwrap()
}

async fn with_figures() -> World {
    let world = World::with_tools().await;
    world.import(&world.write("ads.csv", CLIENT_ONE)).await;
    world.import(&world.write("other.csv", "Name,Height\nOak,12\nElm,9\n")).await;
    let query = json!({"source": "ads", "measures": ["cost"], "by": ["campaign"]});
    ask(&world, "data.measure", json!({ "query": query })).await;
    ask(&world, "data.chart", json!({ "query": query })).await;
    ask(&world, "data.query", json!({"sql": "SELECT count(*) AS days FROM ads"})).await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_a_session_has_the_rows_of_its_figures() {
    let world = with_figures().await;
    let (folder, written) = export(&world, "out").await;
    assert_eq!((written.figures, written.left_out.len()), (3, 0), "{written:?}");
    let parts = fs::read_dir(folder.join("data/parts")).unwrap().count();
    assert_eq!(parts, 1, "rows of other sources are not exported");
    let list = fs::read_to_string(folder.join("data/figures.jsonl")).unwrap();
    assert_eq!(list.lines().count(), 3);
    for line in list.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let script = folder.join(format!("data/figures/{}.sql", line["record"]));
        let script = fs::read_to_string(script).unwrap();
        assert!(script.contains(line["sql"].as_str().unwrap()), "{script}");
        assert_eq!(line["sources"][0]["name"], "ads");
        assert!(line["sources"][0]["definitions"].is_object(), "{line}");
    }
    let report = verify(&world, &folder).await;
    assert!(report.ok, "{:?}", report.problems);
    assert!(report.unchecked.iter().all(|name| !name.ends_with(".parquet")), "{report:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_no_rows_of_a_removed_source_and_says_so() {
    let world = with_figures().await;
    world.host.source_remove(named(&"ads".into())).await.unwrap();
    let (folder, written) = export(&world, "out").await;
    assert_eq!((written.figures, written.left_out.len()), (0, 3), "{written:?}");
    for line in &written.left_out {
        assert!(line.contains("no longer stored"), "{line}");
    }
    assert!(!folder.join("data/parts").exists());
    assert!(verify(&world, &folder).await.ok);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_no_rows_of_erased_figures_and_says_so() {
    let world = with_figures().await;
    world.host.session_erase(SessionParams { session: SESSION.into() }).await.unwrap();
    let (folder, written) = export(&world, "out").await;
    assert_eq!((written.figures, written.left_out.len()), (0, 3), "{written:?}");
    assert!(written.left_out.iter().all(|line| line.contains("erased")), "{written:?}");
    assert!(!folder.join("data").exists());
    assert!(verify(&world, &folder).await.ok);
    assert_eq!(world.names().await, ["ads", "other"], "sources are not of a session");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_figure_is_left_out_if_the_rows_take_more_than_an_export_may_have() {
    let mut world = with_figures().await;
    let part = fs::read_dir(world.data("sources/ads/parts")).unwrap().next().unwrap().unwrap();
    let bytes = part.metadata().unwrap().len();
    for (limit, figures) in [(bytes, 3), (bytes - 1, 0)] {
        let limited = |options| Options { data_export_bytes: limit, ..with_tools(options) };
        world = world.open_again(limited).await;
        let (folder, written) = export(&world, &format!("out-{limit}")).await;
        assert_eq!((written.figures, written.left_out.len()), (figures, 3 - figures as usize));
        let is_told = |line: &contract::Text| line.contains("at most 1 MB of rows");
        assert!(written.left_out.iter().all(is_told), "{:?}", written.left_out);
        assert_eq!(folder.join("data/parts").exists(), figures > 0);
        assert!(verify(&world, &folder).await.ok);
    }
    world.host.stop().await;
}
