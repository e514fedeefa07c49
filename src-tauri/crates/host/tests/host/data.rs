//! Tests of the pacing pack's data: imports, the active data set, and settings that take effect at
//! once.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use contract::{
    AgentError, Commands, DataEntriesParams, DataEntryParams, DataImportParams, DataLayoutParams,
    DataSurveyParams, DataUseParams, Dataset, Datasets, Empty, FileSurvey, ImportNote,
    ImportOptions, ImportParams, ImportView, SettingsSetParams, ToolCallParams,
    data::{ImportOutcome, ImportProgress},
    manifest::PackManifest,
    pack_code::{LinkedService, Now, PackCode, PackData, PackService},
};
use host::{Host, Options};
use serde_json::{Map, Value, json};

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
    import_as(host, file, None).await
}

async fn survey(host: &Host, file: &Path, options: Option<ImportOptions>) -> FileSurvey {
    let path = file.display().to_string();
    host.data_survey(DataSurveyParams { pack: PACK.into(), path, options }).await.unwrap()
}

async fn import_as(host: &Host, file: &Path, options: Option<ImportOptions>) -> ImportView {
    let job = host
        .data_import(DataImportParams {
            pack: PACK.into(),
            paths: vec![file.display().to_string()],
            options,
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
async fn imported_rows_and_the_sample_data_can_be_switched() {
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
async fn a_packs_settings_apply_at_once_and_after_a_restart() {
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
        "a missing pack keeps its settings"
    );
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_surveyed_file_is_mapped_and_imported_and_its_mapping_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    assert!(host.data_list(Empty {}).await.unwrap().packs[0].maps_columns);
    let file = folder.path().join("export.csv");
    fs::write(&file, "Report\nWhen;Campaign;How much\n2.11.2026;Alpha;1.234,50\n").unwrap();

    let found = survey(&host, &file, None).await;
    assert_eq!((found.header_line, found.title_lines, found.layout), (2, 1, None));
    assert_eq!((found.missing, found.check), (vec!["spend".to_owned()], None));
    let (columns, constants) = (
        json!({"day": "When", "campaign": "Campaign", "spend": "How much"}),
        json!({"account": "Shop"}),
    );
    let options: ImportOptions =
        serde_json::from_value(json!({"columns": columns, "constants": constants})).unwrap();
    let check = survey(&host, &file, Some(options.clone())).await.check.unwrap();
    assert_eq!((check.accepted, check.rows[0]["spend"].as_str()), (1, "1234.50"));
    let imported = host.data_list(Empty {}).await.unwrap().packs[0].imported.rows;
    assert_eq!(imported, 0, "a survey stores nothing");

    assert_eq!(import_as(&host, &file, Some(options)).await.rows_stored, 1);
    host.stop().await;
    drop(host);
    let host = open(folder.path()).await;
    let found = survey(&host, &file, None).await;
    assert!(found.is_remembered && found.check.is_some());
    let view = import(&host, &file).await;
    assert_eq!((view.rows_stored, view.notes), (1, vec![ImportNote::LayoutRemembered]));
    let forgotten = DataLayoutParams { pack: PACK.into(), shape: found.shape };
    host.data_layout_forget(forgotten).await.unwrap();
    assert_eq!(import(&host, &file).await.rows_stored, 0);
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entered_budget_is_used_in_answers_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let host = open(folder.path()).await;
    let file = folder.path().join("rows.csv");
    fs::write(&file, format!("{HEADER}7,Test,Adv,A,C,1,L,2026-11-09,,12.34,100\n")).unwrap();
    import(&host, &file).await;
    let listing = DataEntriesParams { pack: PACK.into(), query: String::new() };
    let found = host.data_entries(listing.clone()).await.unwrap();
    assert_eq!((found.total, found.entries[0].title.as_str()), (1, "C"));
    let set = async |budget: &str| {
        let values = [("budget".to_owned(), budget.to_owned())].into();
        let id = found.entries[0].id.clone();
        host.data_entry_set(DataEntryParams { pack: PACK.into(), id, values })
            .await
            .unwrap()
            .problems
    };
    assert_eq!(set("much").await.len(), 1);
    assert!(set("500").await.is_empty());
    let entries = host.data_entries(listing).await.unwrap().entries;
    assert_eq!(entries[0].values["budget"], "500.00");
    let days = json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"});
    let result = pacing(&host, days).await;
    assert_eq!(result["insights"]["budget_status"]["portfolio_budget"], 500.0);
    assert!(host.audit_verify(Empty {}).await.unwrap().ok);
    host.stop().await;
}

/// The shipped code of the pacing pack, with an injected bug: it panics when it reads a file named
/// `broken.csv`.
struct Faulty<T: ?Sized>(Arc<T>);

impl LinkedService for Faulty<dyn LinkedService> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn check_settings(&self, settings: &Map<String, Value>) -> Result<(), AgentError> {
        self.0.check_settings(settings)
    }

    fn open(&self, data_dir: &Path, now: Now) -> Result<Arc<dyn PackService>, AgentError> {
        Ok(Arc::new(Faulty(self.0.open(data_dir, now)?)))
    }

    fn broken_error(&self) -> AgentError {
        self.0.broken_error()
    }
}

impl PackService for Faulty<dyn PackService> {
    fn check(&self) -> Result<(), AgentError> {
        self.0.check()
    }

    fn configure(&self, settings: &Map<String, Value>) -> Result<(), AgentError> {
        self.0.configure(settings)
    }

    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, AgentError> {
        self.0.call(tool, arguments)
    }

    fn replace_names_from_data(&self, manifest: &mut PackManifest) {
        self.0.replace_names_from_data(manifest);
    }

    fn data(self: Arc<Self>) -> Option<Arc<dyn PackData>> {
        Some(Arc::new(Faulty(Arc::clone(&self.0).data()?)))
    }
}

impl PackData for Faulty<dyn PackData> {
    fn datasets(&self) -> Result<Datasets, AgentError> {
        self.0.datasets()
    }

    fn use_dataset(&self, dataset: Dataset) -> Result<(), AgentError> {
        self.0.use_dataset(dataset)
    }

    fn import(
        &self,
        paths: &[PathBuf],
        options: &ImportOptions,
        on_progress: &mut dyn FnMut(&ImportProgress),
        stop: &AtomicBool,
    ) -> Result<ImportOutcome, AgentError> {
        // The panic happens in the importer's own loop, while it holds its database.
        let is_broken = paths.iter().any(|path| path.ends_with("broken.csv"));
        let mut panicking = |progress: &ImportProgress| {
            assert!(!is_broken || progress.rows_read == 0, "a fault while rows are stored");
            on_progress(progress);
        };
        self.0.import(paths, options, &mut panicking, stop)
    }

    fn survey(
        &self,
        path: &Path,
        options: &ImportOptions,
        stop: &AtomicBool,
    ) -> Result<FileSurvey, AgentError> {
        assert!(!path.ends_with("broken.csv"), "a fault while a file is looked at");
        self.0.survey(path, options, stop)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_during_an_import_does_not_prevent_later_imports() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools");
    let host = crate::open(|| {
        let shipped = shipped_packs::all();
        let services = shipped.services.into_iter();
        Options {
            data_dir: Some(folder.path().join("data")),
            pack_dirs: vec![tools.clone()],
            pack_code: PackCode {
                services: services.map(|s| Arc::new(Faulty(s)) as Arc<dyn LinkedService>).collect(),
                ..shipped
            },
            ..Options::default()
        }
    })
    .await;
    let row = "1,Shop,A,1,Alpha,1,Line,2026-11-01,,5,10\n";
    for name in ["broken.csv", "good.csv"] {
        fs::write(folder.path().join(name), format!("{HEADER}{row}")).unwrap();
    }
    let (broken, good) = (folder.path().join("broken.csv"), folder.path().join("good.csv"));
    for _ in 0..2 {
        let view = import(&host, &broken).await;
        let failure = view.failure.expect("the failure is told");
        assert_eq!(failure.details["reason"], "import_broke", "{failure:?}");
        assert_eq!(view.rows_stored, 0);
        let path = broken.display().to_string();
        let survey = DataSurveyParams { pack: PACK.into(), path, options: None };
        assert!(host.data_survey(survey).await.is_err());
    }
    let view = import(&host, &good).await;
    assert_eq!((view.failure, view.rows_stored), (None, 1));
    assert!(survey(&host, &good, None).await.problem.is_none());
}
