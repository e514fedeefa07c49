//! Imports of delivery files as jobs: one at a time, with progress, and nothing kept of one that fails or is stopped.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use contract::{AgentError, ImportView};

/// A job as its watchers see it, and the flag that stops it.
pub(crate) struct Job {
    pub(crate) view: ImportView,
    pub(crate) stop: Arc<AtomicBool>,
}

/// All jobs of this run.
#[derive(Default)]
pub(crate) struct Imports {
    jobs: Mutex<HashMap<String, Job>>,
}

impl Imports {
    /// Begins a job unless another one is running.
    pub(crate) fn begin(&self, job: &str, paths: &[PathBuf]) -> Result<(ImportView, Arc<AtomicBool>), AgentError> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.values().any(|job| !job.view.finished) {
            return Err(AgentError::invalid("Another import is running.").hint("Wait for it or stop it first."));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let view = ImportView {
            job: job.to_owned(),
            file: paths.first().map(|path| path.display().to_string()).unwrap_or_default(),
            done_bytes: 0,
            total_bytes: 0,
            rows_read: 0,
            rows_stored: 0,
            finished: false,
            errors: Vec::new(),
            error_count: 0,
            message: None,
        };
        jobs.insert(job.to_owned(), Job { view: view.clone(), stop: Arc::clone(&stop) });
        Ok((view, stop))
    }

    pub(crate) fn update(&self, view: &ImportView) {
        if let Some(job) = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&view.job) {
            job.view = view.clone();
        }
    }

    pub(crate) fn view(&self, job: &str) -> Result<ImportView, AgentError> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.get(job).map(|job| job.view.clone()).ok_or_else(unknown)
    }

    pub(crate) fn stop(&self, job: &str) -> Result<(), AgentError> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.get(job).map(|job| job.stop.store(true, Ordering::Release)).ok_or_else(unknown)
    }
}

fn unknown() -> AgentError {
    AgentError::invalid("There is no such import.").reason("not_found")
}
