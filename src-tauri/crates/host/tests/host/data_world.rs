//! A profile with sources of data and the real data program, for the tests of files and of databases.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use contract::{
    AgentError, Commands as _, Empty, SourceJob, SourceJobView, SourceName, SourceParams,
    SourceQueryParams,
    metric_query::DataResult,
    params::{AuditListParams, SourceAddParams},
    sources::{ImportDecisions, ImportResult},
};
use host::{Host, Options};
use kit::model_server::ModelServer;
use serde_json::json;

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) host: Arc<Host>,
}

impl World {
    /// Opens a profile without packs.
    pub(crate) async fn new() -> Self {
        Self::with(|options| options).await
    }

    /// Opens a profile with other options.
    pub(crate) async fn with(change: impl Fn(Options) -> Options) -> Self {
        Self::open(tempfile::tempdir().unwrap(), change).await
    }

    /// Opens a profile with these settings.
    pub(crate) async fn with_settings(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("profile");
        fs::create_dir(&profile).unwrap();
        fs::write(profile.join("countersign.toml"), settings).unwrap();
        Self::open(folder, |options| options).await
    }

    /// Opens a profile with the pack `data` alone, whose model is a server.
    pub(crate) async fn with_model(server: &ModelServer) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (profile, packs) = (folder.path().join("profile"), folder.path().join("packs"));
        fs::create_dir(&profile).unwrap();
        crate::data_tools::copy_pack(&packs.join("data"));
        let settings = crate::data_tools::settings(server, true);
        fs::write(profile.join("countersign.toml"), settings).unwrap();
        Self::open(folder, |options| Options { pack_dirs: vec![packs.clone()], ..options }).await
    }

    /// Opens the profile in a folder, which may exist.
    pub(crate) async fn open(
        folder: tempfile::TempDir,
        change: impl Fn(Options) -> Options,
    ) -> Self {
        let host = open_host(&folder.path().join("profile"), change).await;
        Self { folder, host }
    }

    /// Opens a profile with the packs that ship.
    pub(crate) async fn with_tools() -> Self {
        Self::with(with_tools).await
    }

    /// Stops the host and opens the profile again.
    pub(crate) async fn open_again(self, change: impl Fn(Options) -> Options) -> Self {
        let Self { folder, host } = self;
        host.stop().await;
        drop(host);
        Self::open(folder, change).await
    }

    /// Returns a folder of the profile's data.
    pub(crate) fn data(&self, folder: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("profile/data").join(folder)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn params(&self, file: &Path, decisions: ImportDecisions) -> SourceAddParams {
        SourceAddParams {
            place: file.display().to_string(),
            name: None,
            decisions,
            unattended: false,
            forget_remembered: false,
        }
    }

    pub(crate) async fn import(&self, file: &Path) -> ImportResult {
        self.import_with(file, ImportDecisions::default()).await
    }

    pub(crate) async fn import_with(
        &self,
        file: &Path,
        decisions: ImportDecisions,
    ) -> ImportResult {
        only(self.run(self.params(file, decisions)).await)
    }

    /// Imports a file into a source.
    pub(crate) async fn import_into(
        &self,
        source: &SourceName,
        file: &Path,
        decisions: ImportDecisions,
    ) -> ImportResult {
        let name = Some(source.clone());
        only(self.run(SourceAddParams { name, ..self.params(file, decisions) }).await)
    }

    pub(crate) async fn refresh(&self, source: &SourceName) -> SourceJobView {
        let params = SourceParams { name: source.clone() };
        let job = self.host.source_refresh(params).await.unwrap();
        self.end_of(job).await
    }

    /// Imports or connects, and waits for the end.
    pub(crate) async fn run(&self, params: SourceAddParams) -> SourceJobView {
        let job = self.host.source_add(params).await.unwrap();
        self.end_of(job).await
    }

    pub(crate) async fn end_of(&self, job: SourceJob) -> SourceJobView {
        loop {
            let view = self.host.source_job(job.clone()).await.unwrap();
            if view.results.is_some() || view.failure.is_some() || view.is_stopped {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub(crate) async fn query(&self, sql: &str) -> Result<DataResult, AgentError> {
        let params = SourceQueryParams { sql: sql.to_owned(), cursor: None, limit: 0 };
        self.host.source_query(params).await
    }

    pub(crate) async fn total(&self, source: &SourceName, column: &str) -> String {
        let sql = format!("SELECT CAST(sum(\"{column}\") AS VARCHAR) AS total FROM {source}");
        self.query(&sql).await.unwrap().rows[0][0].as_str().unwrap().to_owned()
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let sources = self.host.sources_list(Empty {}).await.unwrap().sources;
        sources.into_iter().map(|source| source.name.0).collect()
    }
}

async fn open_host(data: &Path, change: impl Fn(Options) -> Options) -> Arc<Host> {
    let program = kit::programs::program("csign-data");
    crate::open(|| {
        change(Options {
            data_dir: Some(data.to_owned()),
            program_dir: program.parent().unwrap().to_owned(),
            pack_dirs: vec![data.join("no-packs")],
            ..Options::default()
        })
    })
    .await
}

/// Adds the packs that ship.
pub(crate) fn with_tools(options: Options) -> Options {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools");
    Options { pack_dirs: vec![tools], pack_code: shipped_packs::all(), ..options }
}

/// Returns the only result of a job.
#[track_caller]
pub(crate) fn only(view: SourceJobView) -> ImportResult {
    assert_eq!(view.failure, None);
    view.results.unwrap().remove(0)
}

pub(crate) fn questions(result: &ImportResult) -> Vec<&str> {
    result.questions.iter().map(|question| question.id.as_str()).collect()
}

pub(crate) fn answers(answers: &[(&str, &str)]) -> ImportDecisions {
    let answers = answers.iter().map(|(id, value)| ((*id).to_owned(), (*value).to_owned()));
    ImportDecisions { answers: answers.collect(), ..ImportDecisions::default() }
}

pub(crate) fn all_records() -> AuditListParams {
    serde_json::from_value(json!({})).unwrap()
}
