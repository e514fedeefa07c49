//! Imports of user data into packs, and the choice between sample and imported data. Imports run
//! one at a time as jobs with progress. A failed or stopped import keeps no data.

use std::{
    collections::HashMap,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use audit::Log;
use contract::{
    AgentError, DataEntries, DataEntriesParams, DataEntryParams, DataEntryResponse,
    DataImportResponse, DataLayoutParams, DataSurveyParams, Dataset, Datasets, FileSurvey,
    ImportProgress, ImportView, PackDatasets, PackId, Push, Reason, RecordType,
    data::ImportOptions, pack_code::PackData, sources::ImportDecisions,
};
use engine::{
    Engine,
    ports::{AuditLog, Durability, Events, Ids, RecordDraft},
};
use parking_lot::Mutex;

use super::{services::OpenData, tools::HostTools};
use crate::models::HostModels;

/// The time between two progress reports.
const TELL_EVERY: Duration = Duration::from_millis(50);

/// A job's state for its watchers, and the flag that stops the job.
struct Job {
    view: ImportView,
    stop: Arc<AtomicBool>,
}

/// All import jobs of this process, with their dependencies.
#[derive(Clone)]
pub(crate) struct Imports {
    engine: Arc<Engine>,
    pub(crate) tools: Arc<HostTools>,
    pub(crate) models: Arc<HostModels>,
    pub(crate) log: Arc<Log>,
    pub(crate) events: Arc<dyn Events>,
    jobs: Arc<Mutex<HashMap<String, Job>>>,
    /// The flag that stops the newest survey of a file.
    survey: Arc<Mutex<Arc<AtomicBool>>>,
}

impl Imports {
    pub(crate) fn new(
        engine: Arc<Engine>,
        tools: Arc<HostTools>,
        models: Arc<HostModels>,
        log: Arc<Log>,
        events: Arc<dyn Events>,
    ) -> Self {
        Self { engine, tools, models, log, events, jobs: Arc::default(), survey: Arc::default() }
    }

    /// Starts an import job in the background.
    pub(crate) fn start(
        &self,
        job: String,
        pack: &PackId,
        paths: Vec<PathBuf>,
        options: ImportOptions,
    ) -> Result<DataImportResponse, AgentError> {
        let data = self.tools.services.open_data(pack.as_str())?.data;
        if paths.is_empty() {
            return Err(AgentError::invalid("No file was chosen.").reason("no_file"));
        }
        let (view, stop) = self.add_job(&job, &paths)?;
        let (imports, runtime) = (self.clone(), tokio::runtime::Handle::current());
        tokio::task::spawn_blocking(move || {
            let begun = view.clone();
            let read = || imports.read_file(data.as_ref(), &paths, &options, view, &stop);
            // A panic in the code that reads a file ends only this job.
            let view = panic::catch_unwind(AssertUnwindSafe(read))
                .unwrap_or_else(|_| ImportView { failure: Some(import_broke()), ..begun });
            runtime.block_on(imports.finish_import(view));
        });
        Ok(DataImportResponse { job })
    }

    /// Reads a file as an import would, without storing its data. Stops an earlier survey that is
    /// still running, because the user has changed the mapping since then.
    pub(crate) async fn survey_file(
        &self,
        params: DataSurveyParams,
    ) -> Result<FileSurvey, AgentError> {
        let open = self.tools.services.open_data(params.pack.as_str())?;
        let (path, options) = (PathBuf::from(params.path), params.options.unwrap_or_default());
        let stop = Arc::new(AtomicBool::new(false));
        std::mem::replace(&mut *self.survey.lock(), Arc::clone(&stop))
            .store(true, Ordering::Release);
        open.run_blocking(move |data| data.survey(&path, &options, &stop)).await
    }

    /// Returns the records of a pack whose values a person can enter.
    pub(crate) async fn list_entries(
        &self,
        params: DataEntriesParams,
    ) -> Result<DataEntries, AgentError> {
        let open = self.tools.services.open_data(params.pack.as_str())?;
        open.run_blocking(move |data| data.entries(&params.query)).await
    }

    /// Stores the values of a record, and marks earlier analyses as outdated.
    pub(crate) async fn set_entry(
        &self,
        params: DataEntryParams,
    ) -> Result<DataEntryResponse, AgentError> {
        let open = self.tools.services.open_data(params.pack.as_str())?;
        let problems =
            open.run_blocking(move |data| data.set_entry(&params.id, &params.values)).await?;
        if problems.is_empty() {
            self.engine.analyses.forget();
        }
        Ok(DataEntryResponse { problems })
    }

    /// Forgets how a person mapped files with these columns.
    pub(crate) async fn forget_layout(&self, params: DataLayoutParams) -> Result<(), AgentError> {
        let open = self.tools.services.open_data(params.pack.as_str())?;
        open.run_blocking(move |data| data.forget_layout(&params.shape)).await
    }

    /// Imports files also into the packs that know their columns, by themselves or by the names that
    /// a person gave them. A file that no pack knows, or that has a fault for a pack, is left as it
    /// is. Waits for the end.
    pub(crate) async fn take_known_files(
        &self,
        files: Vec<PathBuf>,
        decisions: &ImportDecisions,
        ids: &dyn Ids,
    ) {
        for name in self.tools.services.packs_with_data().unwrap_or_default() {
            let Ok(open) = self.tools.services.open_data(&name) else { continue };
            if !open.data.maps_columns() {
                continue;
            }
            for file in &files {
                let Some(options) = find_options(&open, file, decisions).await else { continue };
                let (job, pack) = (ids.next("import"), PackId::new(&name));
                match self.start(job.clone(), &pack, vec![file.clone()], options) {
                    Ok(_) => self.wait_for(&job).await,
                    Err(error) => {
                        tracing::info!(%error.message, name, "a pack did not take a file of a source");
                    }
                }
            }
        }
    }

    async fn wait_for(&self, job: &str) {
        while self.find_view(job).is_ok_and(|view| !view.finished) {
            tokio::time::sleep(TELL_EVERY).await;
        }
    }

    /// Whether an import runs that would be lost if the program ended now.
    pub(crate) fn is_running(&self) -> bool {
        self.jobs.lock().values().any(|job| !job.view.finished)
    }

    fn add_job(
        &self,
        job: &str,
        paths: &[PathBuf],
    ) -> Result<(ImportView, Arc<AtomicBool>), AgentError> {
        let mut jobs = self.jobs.lock();
        if jobs.values().any(|job| !job.view.finished) {
            return Err(AgentError::invalid("Another import is running.")
                .reason("import_running")
                .hint("Wait for it or stop it first."));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let file = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        let view = ImportView {
            job: job.to_owned(),
            file,
            done_bytes: 0,
            total_bytes: 0,
            rows_read: 0,
            rows_stored: 0,
            rows_replaced: 0,
            finished: false,
            stopped: false,
            errors: Vec::new(),
            error_count: 0,
            notes: Vec::new(),
            failure: None,
        };
        jobs.insert(job.to_owned(), Job { view: view.clone(), stop: Arc::clone(&stop) });
        Ok((view, stop))
    }

    /// Reads the files and returns the final state of the job.
    fn read_file(
        &self,
        data: &dyn PackData,
        paths: &[PathBuf],
        options: &ImportOptions,
        mut view: ImportView,
        stop: &AtomicBool,
    ) -> ImportView {
        let mut told = Instant::now();
        let mut on_progress = |progress: &ImportProgress| {
            view.file.clone_from(&progress.file);
            view.done_bytes = progress.done_bytes;
            view.total_bytes = progress.total_bytes;
            view.rows_read = progress.rows_read;
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                self.publish_view(&view);
            }
        };
        match data.import(paths, options, &mut on_progress, stop) {
            Ok(outcome) => {
                view.notes = outcome.notes;
                view.rows_read = outcome.rows_read;
                view.rows_stored = outcome.rows_stored;
                view.rows_replaced = outcome.rows_replaced;
                view.stopped = outcome.is_stopped;
                view.errors = outcome.errors;
                view.error_count = outcome.error_count;
            }
            Err(error) => view.failure = Some(error),
        }
        view.done_bytes = view.total_bytes;
        view
    }

    async fn finish_import(&self, mut view: ImportView) {
        view.finished = true;
        // The state is published at the end, even after a panic, because an unfinished job would
        // make all other jobs wait.
        let ending = Ending { imports: self, view };
        let view = &ending.view;
        if view.rows_stored > 0 {
            self.refresh_names();
        }
        let draft = RecordDraft::new(RecordType::DataImported)
            .field("rows_stored", view.rows_stored)
            .field("errors", view.error_count)
            .commit("file", view.file.clone());
        if let Err(error) = self.log.append(draft, Durability::Durable).await {
            tracing::warn!(%error, "an import could not be recorded");
        }
    }

    fn publish_view(&self, view: &ImportView) {
        if let Some(job) = self.jobs.lock().get_mut(&view.job) {
            job.view = view.clone();
        }
        self.events.push(Push::Import { import: view.clone() });
    }

    /// Returns the data sets of each pack, and which one is active.
    pub(crate) async fn list_datasets(&self) -> Result<Vec<PackDatasets>, AgentError> {
        let mut found = Vec::new();
        for name in self.tools.services.packs_with_data()? {
            found.push(self.datasets_of(&name.as_str().into()).await?);
        }
        Ok(found)
    }

    /// Returns the data sets of a pack, and which one is active.
    pub(crate) async fn datasets_of(&self, pack: &PackId) -> Result<PackDatasets, AgentError> {
        let open = self.tools.services.open_data(pack.as_str())?;
        let maps_columns = open.data.maps_columns();
        let Datasets { active, sample, imported } =
            open.run_blocking(|data| data.datasets()).await?;
        let files = self.tools.manifest_of(pack).and_then(|manifest| manifest.import.clone());
        Ok(PackDatasets { pack: pack.clone(), active, sample, imported, files, maps_columns })
    }

    /// Reads names from the data again and marks earlier analyses as outdated, after another data
    /// set became active.
    fn refresh_names(&self) {
        self.tools.reload_names();
        self.models.set_offline_packs(self.tools.offline_packs());
        self.engine.analyses.forget();
    }

    /// Makes the sample or the imported data of a pack active, and gives its names to the offline
    /// model.
    pub(crate) async fn use_dataset(
        &self,
        pack: &PackId,
        dataset: Dataset,
    ) -> Result<(), AgentError> {
        let (open, imports) = (self.tools.services.open_data(pack.as_str())?, self.clone());
        let change = move |data: &dyn PackData| {
            data.use_dataset(dataset)?;
            imports.refresh_names();
            Ok(())
        };
        open.run_blocking(change).await
    }

    pub(crate) fn find_view(&self, job: &str) -> Result<ImportView, AgentError> {
        let jobs = self.jobs.lock();
        jobs.get(job).map(|job| job.view.clone()).ok_or_else(unknown_import)
    }

    pub(crate) fn stop_job(&self, job: &str) -> Result<(), AgentError> {
        let jobs = self.jobs.lock();
        jobs.get(job).map(|job| job.stop.store(true, Ordering::Release)).ok_or_else(unknown_import)
    }
}

/// The final state of a job, published when it is dropped.
struct Ending<'a> {
    imports: &'a Imports,
    view: ImportView,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.imports.publish_view(&self.view);
    }
}

/// Returns how a pack reads a file of a source. None if the pack does not know its columns.
async fn find_options(
    open: &OpenData,
    file: &Path,
    decisions: &ImportDecisions,
) -> Option<ImportOptions> {
    let survey_with = async |options: ImportOptions| {
        let path = file.to_owned();
        open.run_blocking(move |data| data.survey_head(&path, &options)).await.ok()
    };
    let fields = survey_with(ImportOptions::default()).await?.fields;
    let options = read_options(decisions, |name| fields.iter().any(|field| field.name == name));
    let survey = survey_with(options.clone()).await?;
    let is_known = survey.is_fixed || survey.layout.is_some() || survey.is_remembered;
    let is_mapped = !options.columns.is_empty();
    let is_read = survey.problem.is_none() && survey.missing.is_empty();
    (is_read && (is_known || is_mapped)).then_some(options)
}

/// Returns the options of a pack's import that say the same as decisions about a source. A column
/// with the name of a field is the column of the field.
fn read_options(decisions: &ImportDecisions, is_field: impl Fn(&str) -> bool) -> ImportOptions {
    let named = decisions.columns.iter().filter_map(|(heading, choice)| {
        let name = choice.name.clone().filter(|name| is_field(name))?;
        Some((name, heading.clone()))
    });
    let account = &decisions.account;
    let constants = [
        ("account", account.clone()),
        ("account_id", account.clone()),
        ("advertiser", decisions.answers.get("advertiser").cloned()),
        ("currency", decisions.currency.clone()),
    ];
    let answered = decisions
        .answers
        .get("date_order")
        .and_then(|order| serde_json::from_value(serde_json::Value::String(order.clone())).ok());
    ImportOptions {
        columns: named.collect(),
        constants: constants
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect(),
        date_order: decisions.date_order.or(answered),
        skip_rejected: decisions.skip_rejected,
    }
}

fn import_broke() -> AgentError {
    AgentError::internal("import_broke", "The import stopped because of an internal error.").hint(
        "Nothing was stored. Export the file again or save it as CSV; other imports still work.",
    )
}

fn unknown_import() -> AgentError {
    AgentError::invalid("There is no such import.").reason(Reason::NotFound)
}
