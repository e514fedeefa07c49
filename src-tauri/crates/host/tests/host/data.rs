//! Tests of the pacing pack's data: imports, the active data set, and settings that take effect at
//! once.

use std::{fs, path::Path, sync::Arc, time::Duration};

use contract::{
    Commands, DataImportParams, DataUseParams, Dataset, Empty, ImportNote, ImportParams,
    ImportView, SettingsSetParams, ToolCallParams,
};
use host::{Host, Options};
use serde_json::{Value, json};

const PACK: &str = "campaign-portfolio-pacing";
const HEADER: &str = "account_id,account_name,advertiser,campaign_id,campaign_name,line_item_id,line_item_name,date,hour,spend,impressions\n";

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

async fn import(host: &Host, file: &Path) -> ImportView {
    let job = host
        .data_import(DataImportParams {
            pack: PACK.into(),
            paths: vec![file.display().to_string()],
            options: None,
        })
        .await
        .unwrap()
        .job;
    loop {
        let view = host.data_import_status(ImportParams { job: job.clone() }).await.unwrap();
        if view.finished {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn pacing(host: &Host, arguments: Value) -> Value {
    let params = ToolCallParams {
        tool: "analyze_portfolio_pacing".into(),
        arguments,
        session: Some("s".into()),
        headless: true,
    };
    host.tool_call(params).await.unwrap().data
}

async fn set(host: &Host, values: Value) -> Result<(), contract::AgentError> {
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.packs =
        serde_json::from_value(json!({"campaign-portfolio-pacing": {"settings": values}})).unwrap();
    host.settings_set(SettingsSetParams { settings }).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn imported_rows_and_the_sample_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let nothing = host
        .data_use(DataUseParams { pack: PACK.into(), dataset: Dataset::Imported })
        .await
        .unwrap_err();
    assert_eq!(nothing.reason_text(), Some("nothing_imported"));
    let file = folder.path().join("rows.csv");
    fs::write(
        &file,
        format!("{HEADER}7,Test,Adv,A,C,1,L,2026-11-09,,12.34,100\n7,Test,Adv,A,C,1,L,soon,,1,1\n"),
    )
    .unwrap();
    let view = import(&host, &file).await;
    assert_eq!((view.rows_stored, view.error_count, view.errors[0].line), (0, 1, 3));
    assert_eq!(
        host.data_list(Empty {}).await.unwrap().packs[0].active,
        Dataset::Sample,
        "nothing of a bad file is stored"
    );
    fs::write(&file, format!("{HEADER}7,Test,Adv,A,C,1,L,2026-11-09,,12.34,100\n")).unwrap();
    let view = import(&host, &file).await;
    assert_eq!((view.rows_stored, view.notes), (1, vec![ImportNote::SampleReplaced]));
    let days = json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"});
    assert_eq!(pacing(&host, days.clone()).await["account_id"], "7");
    let sets =
        host.data_use(DataUseParams { pack: PACK.into(), dataset: Dataset::Sample }).await.unwrap();
    assert_eq!((sets.active, sets.imported.rows), (Dataset::Sample, 1));
    assert_eq!(pacing(&host, json!({"account_id": "17"})).await["account_id"], "17");
    host.stop().await;
    drop(host);
    let host = open(folder.path()).await;
    assert_eq!(
        host.data_use(DataUseParams { pack: PACK.into(), dataset: Dataset::Imported })
            .await
            .unwrap()
            .active,
        Dataset::Imported
    );
    assert!(host.audit_verify(Empty {}).await.unwrap().ok);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_packs_settings_hold_at_once_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let packs = host.packs_list(Empty {}).await.unwrap().packs;
    let defaults = &packs
        .iter()
        .find(|pack| pack.id.as_str() == "campaign-portfolio-pacing")
        .unwrap()
        .settings;
    assert_eq!(defaults["on_track_percent"], 5);
    let label = async |host: &Host| {
        pacing(host, json!({"account_id": "17"})).await["insights"]["daily_pacing"]["pacing_status"]
            .clone()
    };
    set(&host, json!({"on_track_percent": 100, "behind_percent": 100})).await.unwrap();
    assert_eq!(label(&host).await, "ON_TRACK", "everything within a hundred percent");
    for (wrong, field) in [
        (
            json!({"on_track_percent": "much"}),
            "packs.campaign-portfolio-pacing.settings.on_track_percent",
        ),
        (
            json!({"on_track_percent": 101}),
            "packs.campaign-portfolio-pacing.settings.on_track_percent",
        ),
        (json!({"behind_percent": 1}), "packs.campaign-portfolio-pacing.settings.behind_percent"),
        (json!({"colour": 1}), "packs.campaign-portfolio-pacing.settings.colour"),
    ] {
        let error = set(&host, wrong).await.unwrap_err();
        assert_eq!(error.details["field"], field, "{error}");
    }
    assert_eq!(label(&host).await, "ON_TRACK", "what was refused changed nothing");
    host.stop().await;
    drop(host);
    let file = folder.path().join("countersign.toml");
    assert!(
        fs::read_to_string(&file).unwrap().contains("[packs.campaign-portfolio-pacing.settings]")
    );
    let host = open(folder.path()).await;
    assert_eq!(label(&host).await, "ON_TRACK");
    host.stop().await;
    drop(host);

    fs::write(&file, "[packs.campaign-portfolio-pacing.settings]\non_track_percent = -3\n[packs.away.settings]\nx = 1\n").unwrap();
    let host = open(folder.path()).await;
    let notices = host.app_status(Empty {}).await.unwrap().notices;
    assert!(
        notices.iter().any(|n| n.text.contains("on_track_percent must be a number from 0 to 100")),
        "{notices:?}"
    );
    let doctor = host.doctor(Empty {}).await.unwrap();
    assert!(
        doctor.checks.iter().any(|check| check.message.contains("on_track_percent")),
        "{doctor:?}"
    );
    let mut settings = host.settings_get(Empty {}).await.unwrap().settings;
    settings.language = "sv".into();
    host.settings_set(SettingsSetParams { settings })
        .await
        .expect("other settings can still be saved");
    assert!(
        fs::read_to_string(&file).unwrap().contains("[packs.away.settings]"),
        "a pack that is away keeps its settings"
    );
    host.stop().await;
}
