//! Imports of delivery files as jobs: one at a time, with progress, and nothing kept of one that fails or is stopped.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use audit::Log;
use campaign_portfolio_pacing::{ImportProgress, Pacing};
use contract::{AgentError, Dataset, DatasetsResponse, ImportStartResponse, ImportView, Push, RecordType};
use engine::{
    Engine,
    ports::{AuditLog, Durability, Events, RecordDraft},
};
use parking_lot::Mutex;

use crate::{models::HostModels, pushes::Hub, startup::offline_packs, tools::HostTools};

/// Between two reports of progress.
const TELL_EVERY: Duration = Duration::from_millis(50);

/// A job as its watchers see it, and the flag that stops it.
struct Job {
    view: ImportView,
    stop: Arc<AtomicBool>,
}

/// All jobs of this run, and what they need.
#[derive(Clone)]
pub(crate) struct Imports {
    engine: Arc<Engine>,
    pub(crate) tools: Arc<HostTools>,
    pub(crate) models: Arc<HostModels>,
    pub(crate) log: Arc<Log>,
    pub(crate) hub: Arc<Hub>,
    jobs: Arc<Mutex<HashMap<String, Job>>>,
}

impl Imports {
    pub(crate) fn new(engine: Arc<Engine>, tools: Arc<HostTools>, models: Arc<HostModels>, log: Arc<Log>, hub: Arc<Hub>) -> Self {
        Self { engine, tools, models, log, hub, jobs: Arc::default() }
    }

    /// Begins a job in the background.
    pub(crate) fn start(&self, job: String, paths: Vec<PathBuf>) -> Result<ImportStartResponse, AgentError> {
        let pacing = self.pacing()?;
        if paths.is_empty() {
            return Err(AgentError::invalid("No file was chosen.").reason("no_file"));
        }
        let (view, stop) = self.begin(&job, &paths)?;
        let (imports, runtime) = (self.clone(), tokio::runtime::Handle::current());
        tokio::task::spawn_blocking(move || {
            let view = imports.read(&pacing, &paths, view, &stop);
            runtime.block_on(imports.end(&view));
        });
        Ok(ImportStartResponse { job })
    }

    fn begin(&self, job: &str, paths: &[PathBuf]) -> Result<(ImportView, Arc<AtomicBool>), AgentError> {
        let mut jobs = self.jobs.lock();
        if jobs.values().any(|job| !job.view.finished) {
            return Err(AgentError::invalid("Another import is running.").reason("import_running").hint("Wait for it or stop it first."));
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

    /// Reads the files; the finished view comes back.
    fn read(&self, pacing: &Pacing, paths: &[PathBuf], mut view: ImportView, stop: &AtomicBool) -> ImportView {
        let mut told = Instant::now();
        let mut on_progress = |progress: &ImportProgress| {
            view.file.clone_from(&progress.file);
            view.done_bytes = progress.done_bytes;
            view.total_bytes = progress.total_bytes;
            view.rows_read = progress.rows_read;
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                self.tell(&view);
            }
        };
        match pacing.import(paths, &mut on_progress, stop) {
            Ok(report) => {
                view.notes = report.notes();
                view.rows_read = report.rows_read;
                view.rows_stored = report.rows_stored;
                view.rows_replaced = report.rows_replaced;
                view.stopped = report.cancelled;
                view.errors = report.errors;
                view.error_count = report.error_count;
            }
            Err(error) => view.failure = Some(error),
        }
        view.finished = true;
        view.done_bytes = view.total_bytes;
        view
    }

    async fn end(&self, view: &ImportView) {
        if view.rows_stored > 0 {
            self.renew();
        }
        let draft = RecordDraft::new(RecordType::DataImported)
            .field("rows_stored", view.rows_stored)
            .field("errors", view.error_count)
            .commit("file", view.file.clone());
        if let Err(error) = self.log.append(draft, Durability::Durable).await {
            tracing::warn!(%error, "an import could not be recorded");
        }
        self.tell(view);
    }

    fn tell(&self, view: &ImportView) {
        if let Some(job) = self.jobs.lock().get_mut(&view.job) {
            job.view = view.clone();
        }
        self.hub.push(Push::Import { import: view.clone() });
    }

    fn pacing(&self) -> Result<Arc<Pacing>, AgentError> {
        self.tools.pacing.clone().ok_or_else(|| {
            AgentError::invalid("The pacing pack is not in use, so there is no delivery data.")
                .reason("pack_not_used")
                .hint("Look at the pack's faults in Tools.")
        })
    }

    /// Which data there is, and which of it answers.
    pub(crate) async fn datasets(&self) -> Result<DatasetsResponse, AgentError> {
        let pacing = self.pacing()?;
        tokio::task::spawn_blocking(move || pacing.datasets()).await.map_err(|_| broken())?
    }

    /// Other data answers from now on: names are read anew, and no earlier analysis counts.
    fn renew(&self) {
        self.tools.renew_names();
        self.models.renew_offline(offline_packs(&self.tools));
        self.engine.forget_analyses();
    }

    /// Lets the sample or the imported data answer, and the offline model know its names.
    pub(crate) async fn use_dataset(&self, dataset: Dataset) -> Result<(), AgentError> {
        let (pacing, imports) = (self.pacing()?, self.clone());
        let done = tokio::task::spawn_blocking(move || {
            pacing.use_dataset(dataset)?;
            imports.renew();
            Ok(())
        });
        done.await.map_err(|_| broken())?
    }

    pub(crate) fn view(&self, job: &str) -> Result<ImportView, AgentError> {
        let jobs = self.jobs.lock();
        jobs.get(job).map(|job| job.view.clone()).ok_or_else(unknown)
    }

    pub(crate) fn stop(&self, job: &str) -> Result<(), AgentError> {
        let jobs = self.jobs.lock();
        jobs.get(job).map(|job| job.stop.store(true, Ordering::Release)).ok_or_else(unknown)
    }
}

fn unknown() -> AgentError {
    AgentError::invalid("There is no such import.").reason("not_found")
}

fn broken() -> AgentError {
    AgentError::internal("service_failed", "The pacing service failed.")
}
